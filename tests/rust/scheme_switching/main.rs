//! From CKKS to DM/CGGI and back.

mod rankings;
mod wire;
