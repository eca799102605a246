//! Wiping the stack, for programs that hold secret keys.
//!
//! Values that wipe themselves when dropped do so where they are. They cannot reach the copies that moves left in the frames of functions
//! that have returned. A stack is not given back while its thread lives, and the memory of WebAssembly never is, so these copies would stay
//! readable until something else is written over them.

use core::hint::black_box;

/// Bytes wiped: more than the deepest call of this crate uses, and a quarter of the smallest stack it is run on, 1 MiB.
const DEPTH: usize = 256 << 10;

/// Runs `work`, which handles secrets, in frames of its own, and wipes these. If `work` panics they are not wiped: catch the panic inside.
/// Threads that `work` gives something to do have stacks of their own, which are left alone.
pub fn scrubbed<T>(work: impl FnOnce() -> T) -> T {
    let result = apart(work);
    wipe();
    result
}

#[inline(never)]
fn apart<T>(work: impl FnOnce() -> T) -> T {
    work()
}

#[inline(never)]
#[expect(clippy::large_stack_arrays, reason = "the stack is what is to be wiped")]
fn wipe() {
    // Written in one piece: as far as the compiler knows, somebody reads it.
    let frames = [0u8; DEPTH];
    black_box(&frames);
}
