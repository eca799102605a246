//! Untrusted bytes, by a program that counts what it allocates.

mod fuzz;
mod memory;

use std::alloc::System;
use std::sync::{Mutex, PoisonError};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Runs `test` while no other test of this program runs: counts are of the whole process.
fn alone(test: impl FnOnce()) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    test();
}

/// Bytes that `work` allocates, freed again or not.
fn allocated<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let region = Region::new(ALLOCATOR);
    let result = work();
    (region.change().bytes_allocated, result)
}
