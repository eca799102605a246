//! Oracles for the tests of refloat: slow, direct, and written without a line of the library.
//!
//! - [`ring`]: the negacyclic product, residues and exact rounding over big integers;
//! - [`embedding`]: slots of a polynomial by evaluating it;
//! - [`ship`]: SHIP bootstrapping on plaintexts, identity by identity;
//! - [`ship_noise`]: the noise each stage should leave, from the parameters alone;
//! - [`precision`]: what is lost, in bits;
//! - [`source`]: the repository's own files, for tests about them.

pub mod embedding;
pub mod precision;
pub mod ring;
pub mod ship;
pub mod ship_noise;
pub mod source;
