//! Oracles for the tests of refloat: slow and direct, written without the library's arithmetic.
//!
//! - [`backends`]: a test once more with each arithmetic of the machine;
//! - [`bgv`]: textbook BGV, a small set with its keys, and small sets for bootstrapping;
//! - [`cyclotomic`]: rings of two axes in powers of X, over big integers;
//! - [`bgv_noise`]: the noise that each stage of a BGV bootstrap should leave;
//! - [`ring`]: the negacyclic product, residues and exact rounding over big integers;
//! - [`embedding`]: slots of a polynomial by evaluating it;
//! - [`events`]: the events of a run, collected;
//! - [`ship`]: SHIP bootstrapping on plaintexts, identity by identity;
//! - [`ship_noise`]: the noise each stage should leave, from the parameters alone;
//! - [`fuzz`]: readers of untrusted bytes as fuzz targets, and what makes inputs for them;
//! - [`hostile`]: what every reader of untrusted bytes must refuse;
//! - [`keyed_bgv`]: a set for BGV bootstrapping with its keys, and what bootstraps in a chain have to leave;
//! - [`measure`]: messages, and what the holder of the key sees of a run;
//! - [`portable`]: digests of objects and of bootstraps, for the vectors;
//! - [`toy`]: keys of demonstration size;
//! - [`precision`]: what is lost, in bits;
//! - [`refusals`]: what an error has to say;
//! - [`rns`]: polynomials of the library as big integers, the one place that reads its types;
//! - [`split`]: a driver of runs whose work is shared;
//! - [`source`]: the repository's own files, for tests about them.

pub mod backends;
pub mod bgv;
pub mod bgv_noise;
pub mod chain;
pub mod cyclotomic;
pub mod embedding;
pub mod events;
pub mod fuzz;
pub mod hostile;
pub mod keyed_bgv;
pub mod measure;
pub mod portable;
pub mod precision;
pub mod refusals;
pub mod ring;
pub mod rns;
pub mod ship;
pub mod ship_noise;
pub mod source;
pub mod split;
pub mod toy;
