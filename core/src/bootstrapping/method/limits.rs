//! What ciphertexts a bootstrap takes, and where messages are encrypted.

use alloc::format;

use crate::error::Error;

/// Whether a run of the set `name` can begin with a ciphertext at `level`: at level `lowest` or above, and of two components.
///
/// # Errors
/// [`Error::LevelMismatch`], [`Error::InvalidArgument`].
pub(in crate::bootstrapping) fn check_input(
    name: &str,
    lowest: usize,
    level: usize,
    components: usize,
) -> Result<(), Error> {
    if level < lowest {
        return Err(Error::LevelMismatch(format!(
            "a bootstrap of {name} begins at level {lowest}, the ciphertext is at {level}; bootstrap earlier"
        )));
    }
    if components != 2 {
        return Err(Error::InvalidArgument(format!(
            "a bootstrap takes ciphertexts of two components, and this has {components} components; relinearise it first"
        )));
    }
    Ok(())
}

/// Whether messages are encrypted at a level: up to `highest`, that of the output of a bootstrap.
///
/// # Errors
/// [`Error::LevelMismatch`].
pub(in crate::bootstrapping) fn check_encryption_level(level: usize, highest: usize) -> Result<(), Error> {
    if level <= highest {
        return Ok(());
    }
    Err(Error::LevelMismatch(format!(
        "level {level} is above {highest}, where messages end and the stages of the bootstrap begin; \
         encrypt at most there"
    )))
}
