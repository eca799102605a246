//! What all keys of a set share while any are loaded: the tables that an evaluator precomputes can take gigabytes.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use refloat::Error;

/// A value that all its users share, and that is dropped as soon as there are none: it is made again for the next.
pub struct Shared<T>(Mutex<Weak<T>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Shared<T> {
    /// The value that others use, or a new one.
    ///
    /// # Errors
    /// That of `make`.
    pub fn get(&self, make: impl FnOnce() -> Result<T, Error>) -> Result<Arc<T>, Error> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let upgraded = known().upgrade();
        if let Some(value) = upgraded {
            return Ok(value);
        }
        // Not under the lock: a thread that waits for others of its pool may meanwhile be given work that asks for the same value.
        let made = Arc::new(make()?);
        let mut known = known();
        let value = known.upgrade().unwrap_or(made);
        *known = Arc::downgrade(&value);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shared_as_long_as_there_is_a_user() {
        let shared = Shared::default();
        let first = shared.get(|| Ok(1)).unwrap();
        assert!(Arc::ptr_eq(&first, &shared.get(|| Ok(2)).unwrap()));
        drop(first);
        assert_eq!(*shared.get(|| Ok(3)).unwrap(), 3);
        assert!(shared.get(|| Err(Error::Limit("none".into()))).is_err());
    }
}
