//! Homomorphic encryption schemes, each of which knows what its plaintexts mean. No scheme knows another. [`evaluator`] is what circuits
//! may ask of any scheme with levels; [`identity`], [`private`], `components`, `leveled_chain`, `leveled_keys` and `public_key_parts` are
//! shared by the schemes over ring-LWE, `probability` by all schemes that can fail, `secret_key_identity` by all secret keys, and
//! `set_names` by all code that refuses objects of another set.

pub mod bgv;
pub mod cggi;
pub mod ckks;
mod components;
pub mod evaluator;
pub mod identity;
mod leveled_chain;
mod leveled_keys;
pub mod private;
mod probability;
mod public_key_parts;
mod secret_key_identity;
pub(crate) mod set_names;

pub(crate) use probability::log2_sum;
use public_key_parts::public_key_parts;
pub(crate) use secret_key_identity::secret_key_identity;
