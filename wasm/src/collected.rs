//! Bootstrapping keys that come part by part.

use refloat::Error;

use crate::failure::{Failure, Result};

/// Complete keys, or the builder that collects their parts.
pub enum Collected<Builder, Keys> {
    /// Still collecting parts.
    Collecting(Builder),
    /// All parts are there.
    Whole(Keys),
    /// Parts were missing.
    Failed,
}

impl<Builder, Keys> Collected<Builder, Keys> {
    /// The builder that takes parts.
    pub fn collecting(&mut self) -> Result<&mut Builder> {
        match self {
            Self::Collecting(builder) => Ok(builder),
            Self::Whole(_) | Self::Failed => {
                Err(Failure::invalid("the set takes no more parts: begin another one"))
            }
        }
    }

    /// Makes keys from the parts; does nothing if the keys are already complete.
    pub fn finish(&mut self, whole: impl FnOnce(Builder) -> core::result::Result<Keys, Error>) -> Result<()> {
        match core::mem::replace(self, Self::Failed) {
            Self::Collecting(builder) => *self = Self::Whole(whole(builder)?),
            other => *self = other,
        }
        Ok(())
    }

    /// The keys.
    pub fn keys(&self) -> Result<&Keys> {
        match self {
            Self::Whole(keys) => Ok(keys),
            Self::Collecting(_) | Self::Failed => Err(Error::MissingKey(
                "the bootstrapping keys are not complete; wait for bootstrapKeys() to finish".into(),
            )
            .into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_whole_or_nothing() {
        let empty = || Collected::<Vec<u8>, usize>::Collecting(Vec::new());
        let mut keys = empty();
        assert!(keys.keys().is_err());
        keys.collecting().ok().unwrap().push(1);
        for _ in 0..2 {
            assert!(keys.finish(|parts| Ok(parts.len())).is_ok());
            assert!(keys.keys().is_ok_and(|count| *count == 1) && keys.collecting().is_err());
        }
        let mut missing = empty();
        assert!(missing.finish(|_| Err(Error::MissingKey("a part".into()))).is_err());
        assert!(missing.keys().is_err() && missing.collecting().is_err());
    }
}
