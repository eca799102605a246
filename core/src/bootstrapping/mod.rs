//! L6: bootstrapping methods, one folder each. No method knows another, except through
//! [`Method`].

pub mod bgv;
pub mod cggi;
pub mod ckks_conventional;
pub mod ckks_msb;
pub mod ckks_ship;
mod messages;
mod meta;
pub mod method;
mod overflow;
mod parts;
pub mod program;
pub mod raising;
pub mod scheme_switching;
pub(crate) mod switching_keys;
mod view;

pub use messages::{NamedMessage, bit_messages, complex_messages, real_messages};
pub use meta::{META_CORRECT, MetaBootstrapper, MetaRun, Rounds};
pub use method::{Method, MethodInfo};
pub use overflow::log2_quotient_exceeds;
pub use switching_keys::{KeyLayout, SwitchingKeyId, SwitchingKeyPart};
pub use view::{StageView, ViewKind};
