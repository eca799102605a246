//! The trait of machine words, through which the rest of the crate gets their kernels.

use super::{dispatch, gates};
use crate::arith::MachineWord;
use crate::arith::kernels::{Kernels, gates::GateKernels};
use alloc::vec::Vec;

/// A machine word holding one residue.
///
/// The word is a choice of implementation: a parameter set whose primes are all below 2³¹ works
/// with either. The trait is implemented for `u32` and `u64` and is not meant for other types.
pub trait Word: MachineWord {
    /// The row operations for this CPU, chosen once.
    fn kernels() -> &'static dyn Kernels<Self>;
    /// The row operations of DM/CGGI for this CPU, by the same backend.
    fn gate_kernels() -> &'static dyn GateKernels<Self>;
    /// Every set of row operations usable on this CPU, the scalar one first.
    fn all_kernels() -> Vec<&'static dyn Kernels<Self>>;
}

/// Name of the backend in use for words `W`.
pub fn backend_name<W: Word>() -> &'static str {
    W::kernels().name()
}

/// Every backend usable on this CPU, the scalar one first and the best one last.
pub fn all_backends<W: Word>() -> Vec<&'static dyn Kernels<W>> {
    W::all_kernels()
}

impl Word for u32 {
    fn kernels() -> &'static dyn Kernels<Self> {
        dispatch::select_u32()
    }
    fn gate_kernels() -> &'static dyn GateKernels<Self> {
        gates::select_u32()
    }
    fn all_kernels() -> Vec<&'static dyn Kernels<Self>> {
        dispatch::all_u32()
    }
}

impl Word for u64 {
    fn kernels() -> &'static dyn Kernels<Self> {
        dispatch::select_u64()
    }
    fn gate_kernels() -> &'static dyn GateKernels<Self> {
        gates::select_u64()
    }
    fn all_kernels() -> Vec<&'static dyn Kernels<Self>> {
        dispatch::all_u64()
    }
}
