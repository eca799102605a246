//! Gates and look-ups: DM/CGGI.

mod circuits;
mod full_size;
mod gates;
mod integers;
mod look_up;
mod noise;
mod tree;
mod wire;
