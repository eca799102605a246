//! Ring learning with errors: keys, samples, key switching. Nothing here knows what a
//! plaintext means.
//!
//! A pair (b, a) decrypts to b + a s. Switching keys are hybrid: the modulus Q is
//! cut into digits (products of disjoint sets of its primes) and extended by special primes P;
//! each key is a block of samples modulo Q P whose second components are expanded from a seed.
//!
//! [`lwe`], [`rgsw`] and [`NtruSecret`] are what DM/CGGI uses: one prime, and digits made of bits instead of primes.
//!
//! # For maintainers: how rows lie in memory
//!
//! Key switching reads every word of a key once and multiplies it by a word of a digit, so its time is set by memory. `N` words of a row
//! are a power of two, and rows of samples one after the other would lie powers of two apart: their words would compete for the same few
//! places of a cache, and no prefetcher follows so many streams. So rows are cut and interleaved where many are read together:
//!
//! | what | layout | where |
//! | --- | --- | --- |
//! | polynomials, in both domains | `[prime][N]` | [`Poly`](crate::ring::Poly) |
//! | the digits of what is switched | `[prime][line][digit][words]`, a line being a cache line of 64 bytes | [`Digits`], [`LeftRows`](crate::arith::LeftRows) |
//! | keys at rest | `[prime][tile][sample][2][words]`, a tile being [`key_tile`](crate::arith::key_tile) words of a row, four cache lines | [`SampleBlock`], [`KeyRows`](crate::arith::KeyRows) |
//! | keys on the wire | sample by sample, the first component alone, residues packed to the bits of their prime | [`wire`](crate::wire) |
//!
//! A product then reads a key from end to end, both components of a sample side by side; a product with some of the samples of a block
//! skips whole tiles. It prefetches words some kilobytes ahead, and near its end those of the key of the next product, which
//! [`followed_by`](crate::arith::KeyRows::followed_by) names. Products of several left sides with the same key are computed together
//! ([`Kernels::key_products`](crate::arith::Kernels::key_products)), so that the key is read once for all of them.
//!
//! Only [`SampleBlock`] and [`Digits`] know these layouts, with the functions beside [`KeyRows`](crate::arith::KeyRows): others get and set
//! samples ([`SampleBlock::get`], [`SampleBlock::set_run`]) or ask for rows. In rings with fewer words than a tile or a line, a row is a
//! single one. The layout changes no result, and does not appear on the wire or in files, except where a program writes
//! [`SampleBlock::words`] for itself. Keys of DM/CGGI have a layout of their own, chosen by the backend (`prepare_key` in
//! `arith/kernels/gates.rs`).
//!
//! A [`GaloisElement`], such as that of a rotation, is computed in `ring/automorphism.rs`; [`GaloisKeys`] finds the key for it.

mod context;
mod encapsulation;
mod gadget;
mod galois_keys;
mod identifier;
mod key_source;
mod keyswitch;
mod link;
pub mod lwe;
mod ntru;
mod product;
mod public_sample;
mod raise;
pub mod rgsw;
mod sample;
mod secret;

pub use context::{RlweContext, RlweSpec};
pub use encapsulation::{EncapsulationContext, EncapsulationDigits, SparseSecret};
pub use gadget::{GadgetTarget, switching_sample};
pub use galois_keys::GaloisKeys;
pub(crate) use identifier::identifier;
pub use key_source::{GaloisSource, HeldKey, RelinearizationSource};
pub use keyswitch::{Digits, Pair};
pub use link::{LinkSecret, PaddedSecret, link_samples};
pub use ntru::NtruSecret;
pub(crate) use product::tensor;
pub(crate) use public_sample::PublicSample;
pub use raise::{EphemeralPair, ModRaise};
pub use sample::{KeySeeds, SampleBlock, expand_a};
pub use secret::SecretKey;

// Types in the methods of [`GaloisSource`].
pub use crate::ring::{Automorphism, GaloisElement};

pub(crate) use encapsulation::{raise_block, scatter_constant_time};
pub(crate) use gadget::{galois_block, relinearization_block};
pub(crate) use sample::mask_stream;
