//! How a plaintext polynomial divides into slots.

mod split;

pub use split::SplitSlots;
