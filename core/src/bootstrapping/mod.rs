//! Bootstrapping methods, one folder each. No method imports from another's folder, except `scheme_switching`, which is built from three
//! of them: conventional CKKS, modular reduction and DM/CGGI. What methods share is in the other modules here, above all [`method`] and
//! [`raising`]. Named sets of all methods are listed in [`crate::params`], and the methods that the server runs in its registry
//! (`server/src/registry.rs`).
//!
//! Every folder has the same plan, as far as its method needs it: `spec` holds the numbers of a set, `presets` the named sets, `params`
//! what is derived and checked, `secret` and `keys` the keys, `stages` the names of the stages, `bootstrapper` or `evaluator` the stages
//! as functions, `run` a bootstrap step by step, `noise` the noise model, `describe` what lists of sets show, `inspect` what the owner
//! of the key may see of a run, `programs` how programs run on a set, and `split` the tasks of a run that others may compute.

pub mod bgv;
pub mod cggi;
pub mod ckks_conventional;
pub mod ckks_msb;
pub mod ckks_ship;
mod messages;
mod meta;
pub mod method;
mod overflow;
pub mod program;
pub mod raising;
pub mod scheme_switching;
pub(crate) mod switching_keys;
mod view;
mod wire_sizes;

pub use messages::{NamedMessage, bit_messages, complex_messages, real_messages};
pub use meta::{META_CORRECT, MetaBootstrapper, MetaRun, Rounds};
pub use method::{Method, MethodInfo};
pub use overflow::log2_quotient_exceeds;
pub use switching_keys::{KeyLayout, SwitchingKeyId, SwitchingKeyPart};
pub use view::{StageView, ViewKind};
