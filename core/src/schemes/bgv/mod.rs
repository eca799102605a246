//! BGV over residue number systems: exact arithmetic modulo p^k on N slots.
//!
//! Brakerski, Gentry, Vaikuntanathan (ITCS 2012). A textbook ciphertext of a plaintext m decrypts to x = f m + P e modulo Q,
//! P = p^k, with a public *factor* f, a unit modulo P that products and rescalings change. Here ciphertexts are stored **in
//! scaled form**, as the words of c/P modulo Q: their phase is x/P, and P and the factor are metadata. So the ring-LWE layer can be
//! used unchanged: centred rescaling and division by the special primes (which the textbook has to make divisible by P), keys with
//! plain errors, one key for every P. And some operations touch no words at all:
//!
//! | operation | words | metadata |
//! | --- | --- | --- |
//! | rescale by q | round(c / q) | f / q |
//! | multiply | P times the tensor product | f f' |
//! | add | add | equal f required |
//! | times a unit u | none | f / u |
//! | plaintext times p | none | P p |
//! | plaintext over p, where p divides it | none | P / p |
//!
//! p is an odd prime that is 1 modulo 2N: X^N + 1 has N roots modulo p^k, and a plaintext is the vector of its values there, two
//! rows of N/2 slots that [`GaloisElement::rotation`](crate::ring::GaloisElement::rotation) turns and
//! [`GaloisElement::conjugation`](crate::ring::GaloisElement::conjugation) swaps.
//!
//! In a ring of two axes ([`Cyclotomic`](crate::ring::Cyclotomic)), Y^n' = -1 and Phi_m'(Z) = 0, p is 1 modulo 2n' and generates the units
//! modulo m'. The n' slots are the values at the roots of the first axis. Each is an element of the Galois ring Z/p^k\[Z\]/Phi_m' (modulo
//! p, the field of p^(m'-1) elements), that is, m' - 1 integers. Rotations leave Z as it is, and Z -> Z^p is the Frobenius automorphism of
//! every slot ([`BgvEvaluator::frobenius`]).
//!
//! In a ring of odd index m = `m_1` `m_2` ([`OddIndex`](crate::ring::OddIndex)) p is any prime, including 2, whose order d > 1 modulo `m_2`
//! is also its order modulo m. Slots are a rectangle ([`Hypercube`](slots::Hypercube)) of elements of the Galois ring of degree d
//! ([`GaloisRing`](slots::GaloisRing)), whose dimensions are rotated one by one ([`BgvEvaluator::rotate_dimension`]).
//!
//! A ciphertext of BFV is one of these, with another factor: see [`BgvContext::from_bfv`] and [`BgvEvaluator::to_bfv`].
//!
//! Every ciphertext carries an estimate of its noise, which follows from the operations that made it, never from a secret: `noise.rs`
//! ([`NoiseModel`]) says how it grows. An operation whose result might not fit the modulus is refused, by `BgvShape::check_room` in
//! `shape.rs`.

mod bfv;
mod ciphertext;
mod context;
mod encoder;
mod encrypt;
mod evaluator;
mod factor;
mod leveled;
mod leveled_secret_key;
mod leveled_spec;
mod noise;
mod plaintexts;
mod public_key;
mod shape;
pub mod slots;
mod spec;

pub use ciphertext::BgvCiphertext;
pub use context::{BgvContext, PlaintextModulus};
pub use encoder::BgvEncoder;
pub(crate) use encrypt::decrypt_coefficients;
pub use encrypt::{decrypt, encrypt};
pub use evaluator::BgvEvaluator;
pub use factor::Factor;
pub use leveled_secret_key::LeveledSecretKey;
pub use leveled_spec::LeveledSpec;
pub(crate) use noise::Terms;
pub use noise::{LinearGain, NoiseModel};
pub use public_key::BgvPublicKey;
pub use shape::BgvShape;
pub(crate) use shape::Rehearsal;
pub use spec::PlaintextSpec;

pub use crate::{
    arith::PrimePower,
    schemes::{
        identity::{key_set_id, key_set_seed},
        private::Private,
    },
};
