//! Backends: the row operations per instruction set, and the choice among them.

pub mod dispatch;
mod scalar;
