//! Arithmetic in the page.

crate::ckks_arithmetic::ckks_arithmetic!(u64);
