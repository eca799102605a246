//! L6: bootstrapping methods, one folder each. No method knows another.

pub mod ckks_ship;
