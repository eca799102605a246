//! DM/CGGI (FHEW/TFHE): bits and small integers, one to a ciphertext, on LWE samples.
//!
//! Ducas, Micciancio (EUROCRYPT 2015); Chillotti, Gama, Georgieva, Izabachène (ASIACRYPT 2016).
//! A ciphertext is an LWE sample (a, b) of the ring's dimension N modulo its prime p, under the
//! coefficients of the ring key z: phase b + <a, z> = message + noise. Between two operations it stays in
//! this form; the bootstrap goes **key switch, modulus switch, blind rotation, extraction**, so that
//! sums are taken before the noise of the small key enters.
//!
//! Here: parameters and their noise model, keys, encryption, encodings and the truth tables of gates.
//! Evaluation is [`bootstrapping::cggi`](../../bootstrapping/cggi/index.html).

mod ciphertext;
mod encoding;
mod gate;
mod method;
mod noise;
mod params;
mod secret;
mod spec;
mod tables;

pub use ciphertext::CggiCiphertext;
pub(crate) use ciphertext::MAX_WEIGHT;
pub use encoding::Encoding;
pub use gate::{Gate, LinearForm};
pub use method::RotationMethod;
pub use noise::{NoiseModel, log2_erfc};
pub use params::CggiParams;
pub use secret::{CggiSecretKey, cggi_key_id};
pub use spec::CggiSpec;

pub(crate) use tables::{Automorphisms, Roots, RotationTables};
