//! L3: ring learning with errors: keys, samples, key switching. Nothing here knows what a
//! plaintext means.
//!
//! A pair (b, a) decrypts to b + a s. Switching keys are hybrid: the modulus Q is
//! cut into digits (products of disjoint sets of its primes) and extended by special primes P;
//! each key is a block of samples modulo Q P whose second components are expanded from a seed.
//!
//! [`lwe`], [`rgsw`] and [`NtruSecret`] are what DM/CGGI uses: one prime, and digits made of bits instead of primes.
//!
//! A [`GaloisElement`], such as that of a rotation, is computed in `ring/automorphism.rs`; [`GaloisKeys`] finds the key for it.

mod context;
mod encapsulation;
mod gadget;
mod galois_keys;
mod key_source;
mod keyswitch;
mod link;
pub mod lwe;
mod ntru;
mod product;
mod raise;
pub mod rgsw;
mod sample;
mod secret;

pub use context::{RlweContext, RlweSpec};
pub use encapsulation::{EncapsulationContext, EncapsulationDigits, SparseSecret};
pub use gadget::{GadgetTarget, switching_sample};
pub use galois_keys::GaloisKeys;
pub use key_source::{GaloisSource, HeldKey, RelinearizationSource};
pub use keyswitch::{Digits, Pair};
pub use link::{LinkSecret, PaddedSecret, link_samples};
pub use ntru::NtruSecret;
pub(crate) use product::tensor;
pub use raise::{EphemeralPair, ModRaise};
pub use sample::{KeySeeds, SampleBlock, expand_a};
pub use secret::SecretKey;

// What a [`GaloisSource`] is asked by.
pub use crate::ring::{Automorphism, GaloisElement};

pub(crate) use encapsulation::{raise_block, scatter_constant_time};
pub(crate) use gadget::{galois_block, relinearization_block};
pub(crate) use sample::mask_stream;
