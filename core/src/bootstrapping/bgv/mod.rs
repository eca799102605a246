//! BGV bootstrapping by removing low digits.
//!
//! Halevi, Shoup (J. Cryptology 2021), in the thin variant: slots stay slots. The digit that is removed is bounded, so the polynomial that
//! reads it has a low degree: Ma, Huang, Wang, Wang (EUROCRYPT 2024, ePrint 2024/115); see [`crate::circuits::digit_removal`]. The secret
//! is exchanged for a sparse one at the lowest modulus, as Bossuat, Troncoso-Pastoriza, Hubaux (ACNS 2022) do in CKKS.
//!
//! # What happens
//!
//! Messages are modulo p^r. [`SLOTS_TO_COEFFS`] moves the slots into coefficients and the ciphertext to level 0, modulo q0.
//! [`PREPARE`] switches to the sparse secret and multiplies by p^e, e = r + t: over the integers, the phase is then
//! p^t m' + q0 I, with a small I in every coefficient, where m' is the message times its factor, modulo p^r. [`MOD_RAISE`] reads that
//! modulo Q, which makes it the scaled form of a ciphertext of I + p^t m'/q0 modulo p^e. [`COEFFS_TO_SLOTS`] moves these coefficients into
//! slots, where [`DIGIT_REMOVAL`] evaluates x - D(x) with D(I + p^t y) = I for all |I| <= B, and reads the multiple of p^t that is left
//! modulo p^r, which divides it by p^t without touching a word. For a small p, including 2, I consists of t digits, which are read and
//! removed one after the other ([`AllDigits`](crate::circuits::digit_removal::AllDigits)).
//!
//! In a ring of two axes, whose slots are elements of Galois rings of degree d, bootstrapping is general: all d coordinates of a
//! slot are refreshed. The message is raised without first moving slots into coefficients, and [`COEFFS_TO_SLOTS`] acts on the
//! rows of coefficients. [`UNPACK`] takes each coordinate into a ciphertext of integers, without a level, the digit is removed from
//! each, and slots of the sums of Z^k times coordinate k go through [`SLOTS_TO_COEFFS`] last, modulo p^r.
//!
//! Digits can also be read from the multiples of q0 that the product with p^t removed, and then subtracted from the raised message
//! ([`TAKE_OFF`]), as in Ma, Huang, Wang, Wang. Their sets of type B work this way too, with the message multiplied by a number prime to
//! p, so that it stays modulo p^r. See [`Approach`].
//!
//! A bootstrap is correct unless some |I| exceeds B, with the probability that
//! [`BgvParams::log2_failure`](crate::bootstrapping::bgv::BgvParams::log2_failure) gives, or the noise exceeds the estimate that the
//! ciphertext carries.
//!
//! Circular security is assumed, as in CKKS bootstrapping: the evaluation keys encrypt s^2 and the images of s under s itself, the
//! ephemeral secret under s, and s under the ephemeral secret.
//!
//! # Use
//!
//! ```no_run
//! use refloat::{
//!     bootstrapping::bgv::{BgvBootstrapper, BgvKeys, BgvSecretKey, PlaintextStorage},
//!     params::bgv_preset,
//!     random::Seed,
//! };
//!
//! // A demonstration set, modulo 65537; `bgv15` has 128 bits of security.
//! let params = bgv_preset("toy-bgv10")?.params()?;
//! let secret = BgvSecretKey::generate(&params, &Seed::random()?); // with the feature `getrandom`
//! let keys = BgvKeys::generate(&secret)?;
//! let x = secret.encrypt(&[3, 1000], params.levels().output, &Seed::random()?)?;
//!
//! // Whoever computes has the evaluation keys: x^2 + x, with x at the factor of the product.
//! let evaluator = BgvBootstrapper::new(&params, PlaintextStorage::Evaluated)?;
//! let square = evaluator.multiply(&x, &x, &keys)?;
//! let (square, x) = evaluator.bgv().at_one_factor(&square, &x)?;
//! let sum = evaluator.bgv().add(&square, &x)?;
//! let refreshed = evaluator.bootstrap(&sum, &keys, &mut ())?;
//!
//! assert_eq!(secret.decrypt(&refreshed)?.reveal_to_key_owner()[..2], [12, 1_001_000 % 65537]);
//! # Ok::<(), refloat::Error>(())
//! ```

mod approach;
mod arithmetic;
mod bootstrapper;
mod describe;
mod inspect;
mod keys;
mod maps;
mod multiples_of_q0;
mod noise;
mod params;
mod presets;
mod programs;
mod published;
mod removal;
mod rounding;
mod run;
mod secret;
mod small;
mod spec;
mod stages;
mod unpack;

pub use approach::Approach;
pub use arithmetic::{BgvArithmeticKeys, IntegerArithmetic};
pub use bootstrapper::{BgvBootstrapper, METHOD};
pub use inspect::BgvDigits;
pub use noise::LARGEST_DEVIATION;
pub use params::{BgvLevels, BgvParams};
pub use presets::BgvPreset;
pub use published::published_sets;
pub use removal::Removal;
pub use run::{BgvRun, BgvState};
pub use secret::BgvSecretKey;
pub use spec::BgvSpec;
pub use stages::{COEFFS_TO_SLOTS, DIGIT_REMOVAL, MOD_RAISE, PREPARE, SLOTS_TO_COEFFS, TAKE_OFF, UNPACK};

pub use crate::{
    bootstrapping::{
        raising::{Direction, EphemeralSpec, KeySource, RaisingKeys as BgvKeys},
        switching_keys::{SwitchingKeyId, SwitchingKeyPart as BgvKeyPart},
    },
    circuits::linear_transform::PlaintextStorage,
};
