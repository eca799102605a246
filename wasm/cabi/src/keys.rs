//! Evaluation keys of every method, part by part.

use std::sync::Arc;

use refloat::{
    Error,
    trace::{StageEvent, emit},
    wire::SeededSecret,
};

use crate::{
    ffi::{Opaque, PartReader, Progress, Result, User},
    method::Method,
    progress::Listener,
    secret::Secret,
    sets::{self, Set},
};

/// Name of the stage in which keys are made, for progress.
const STAGE: &str = "keys";

/// Evaluation keys, and the evaluator that computes with them.
pub struct Keys<P: Method> {
    set: Arc<Set<P>>,
    /// The keys.
    pub ready: P::Keys,
}

impl<P: Method> Opaque for Keys<P> {
    const NAME: &'static str = P::KEYS;
}

impl<P: Method> Keys<P> {
    /// Makes the evaluation keys of a secret key.
    pub fn generate(secret: &Secret<P>, progress: Progress, user: User) -> Result<Self> {
        let ready = P::generate(&secret.key, &mut Listener::new(progress, user))?;
        Ok(Self { set: Arc::clone(&secret.set), ready })
    }

    /// Collects the parts that a function of the caller's gives.
    pub fn collect(set: &str, key_id: [u8; 16], read: PartReader, user: User) -> Result<Self> {
        let set = sets::readable::<P>(set)?;
        let mut builder = set.params.builder(key_id);
        for index in 0..set.params.part_lengths().len() {
            let taken = read.with_part(user, index, |part| Ok(P::add(&mut builder, index, part)?))?;
            if taken.is_none() {
                return Err(Error::Cancelled(format!("part {index} of the keys was not given")).into());
            }
        }
        Ok(Self { set, ready: P::finish(builder)? })
    }

    /// The set they belong to.
    pub fn set(&self) -> &Arc<Set<P>> {
        &self.set
    }
}

/// Evaluation keys from parts that the secret key makes, told one by one: large keys take a while.
pub fn from_own_parts<P: Method>(
    secret: &P::Secret,
    listener: &mut Listener,
) -> core::result::Result<P::Keys, Error> {
    let params = secret.set();
    let (mut builder, total) = (params.builder(secret.key_id()), params.part_lengths().len());
    for index in 0..total {
        P::add(&mut builder, index, &secret.key_part(index)?)?;
        told(listener, index + 1, total)?;
    }
    P::finish(builder)
}

/// Reports how far the making of keys is.
///
/// # Errors
/// [`Error::Cancelled`] if the listener says so.
pub fn told(listener: &mut Listener, done: usize, total: usize) -> core::result::Result<(), Error> {
    emit(listener, &StageEvent::Progress { stage: STAGE, done, total })
}
