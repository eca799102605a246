//! Levels to encrypt at: by number, or by name.

use crate::{ffi::Result, status::Failure};

/// `RF_LEVEL_FRESH` of the header.
pub const FRESH: i32 = -1;

/// `RF_LEVEL_EXHAUSTED` of the header.
pub const EXHAUSTED: i32 = -2;

/// The level that a number of the header stands for, in a set with these fresh and exhausted levels.
pub fn level_of(level: i32, fresh: usize, exhausted: usize) -> Result<usize> {
    match level {
        FRESH => Ok(fresh),
        EXHAUSTED => Ok(exhausted),
        _ => usize::try_from(level).map_err(|_| {
            Failure::invalid(format!(
                "{level} is not a level; pass one from 0, RF_LEVEL_FRESH or RF_LEVEL_EXHAUSTED"
            ))
        }),
    }
}
