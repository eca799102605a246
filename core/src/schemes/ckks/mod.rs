//! CKKS over residue number systems: approximate arithmetic on N/2 complex slots.
//!
//! Cheon, Kim, Kim, Song (ASIACRYPT 2017); RNS form Cheon, Han, Kim, Kim, Song (SAC 2018). A
//! ciphertext (b, a) at level l satisfies b + a s = scale · m + e modulo Q_l; slot k holds
//! m(zeta^(5^k)), zeta = exp(i pi / N). Scales are tracked exactly, never assumed powers of two.

pub(crate) mod ciphertext;
mod constants;
mod context;
mod encoder;
mod encrypt;
mod evaluator;
pub(crate) mod flooding;
mod leveled;
mod main_secret;
mod scale;
mod secret_key;
mod spec;

pub use ciphertext::{Ciphertext, Plaintext};
pub use context::CkksContext;
pub use encoder::Encoder;
pub use encrypt::{PublicKey, decrypt_slots, encrypt, public_key_b};
pub use evaluator::CkksEvaluator;
pub use flooding::{ErrorBound, Release, ReleaseBudget};
pub use main_secret::MainSecret;
pub use scale::Scale;
pub use secret_key::CkksSecretKey;
pub use spec::CkksSpec;

pub use crate::{
    arith::{complex::Complex, round_ties_even},
    schemes::{
        identity::{key_set_id, key_set_seed},
        private::Private,
    },
};
