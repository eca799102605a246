//! How a plaintext polynomial divides into slots.

mod galois_ring;
mod hypercube;
mod split;

pub use galois_ring::GaloisRing;
pub use hypercube::Hypercube;
pub(super) use hypercube::HypercubeSlots;
pub use split::SplitSlots;
