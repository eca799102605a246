//! Runs whose work is shared: tasks that others compute, such as the workers of a browser tab.
//!
//! A run that is a [`Split`] says which tasks its stage has, and takes in their results in any order. A [`Helper`] on the other side
//! is told once what it must know of the stage (the *brief*), and then computes one task after the other. No helper has to be
//! waited for: a task whose result does not come can be given to another one, or left to the step that takes it, which
//! computes what is missing on the threads it has. The bits are the same wherever a task was computed.
//!
//! In a browser the driver of a split is the page's pool of Web Workers, which have no memory in common. Within a process no split is needed:
//! threads share memory, so rayon divides the work inside each step, and nothing is turned into bytes. Several machines do not share a run
//! either: each takes whole jobs.
//!
//! What passes between the two sides is bytes, for a moment and between equal versions of this library: no objects of the wire
//! format. Readers validate them all the same, but whoever supplies a result is responsible for its correctness.

use alloc::{format, vec::Vec};

use crate::{
    arith::Word,
    error::Error,
    trace::{Counters, Observer},
};

/// The tasks of the stage that a run is at: numbers from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tasks {
    /// The first task that no step has taken yet.
    pub next: usize,
    /// How many the next step takes.
    pub per_step: usize,
    /// Tasks of the stage, those included that were taken.
    pub total: usize,
    /// Whether helpers need the secret key, with which the evaluation keys of a task are made where it is computed.
    pub secret: bool,
}

/// A run in steps whose tasks may be computed elsewhere, or ahead of the step that takes them. `Keys` are its evaluation keys.
pub trait Split<Keys: ?Sized> {
    /// Does one step and reports it; true when the run is finished. Tasks of the step that have no result yet are computed.
    ///
    /// # Errors
    /// Those of the run; [`Error::Cancelled`] if the observer says so.
    fn step(&mut self, keys: &Keys, observer: &mut dyn Observer) -> Result<bool, Error>;

    /// The tasks that may be computed now; `None` at a stage that has none.
    fn tasks(&self) -> Option<Tasks>;

    /// What a [`Helper`] must know of the stage. If making the brief takes a part of the next step, that step is entered.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] at a stage without tasks; [`Error::ParamsMismatch`] for other keys than the run's;
    /// [`Error::Cancelled`] if the observer says so.
    fn brief(&mut self, keys: &Keys, observer: &mut dyn Observer) -> Result<Vec<u8>, Error>;

    /// The tasks whose results a task needs.
    fn needs(&self, _task: usize) -> Vec<usize> {
        Vec::new()
    }

    /// The result of a task that others need, as [`Helper::compute`] gives it; `None` if there is none, or not yet.
    fn result(&self, _task: usize) -> Option<Vec<u8>> {
        None
    }

    /// Computes a task here, ahead of the step that takes it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a task that does not exist or was taken, or before the results it needs are there;
    /// [`Error::ParamsMismatch`] for other keys than the run's; errors of the keys.
    fn ahead(&mut self, keys: &Keys, task: usize) -> Result<(), Error>;

    /// Takes in the untrusted result of a task.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a task that does not exist or was taken; [`Error::BadBytes`] or [`Error::ParamsMismatch`] for
    /// bytes that are not the result of a task.
    fn supply(&mut self, task: usize, result: &[u8]) -> Result<(), Error>;
}

/// Computes tasks of a stage of a run elsewhere.
pub trait Helper {
    /// The result of a task. `needed` are the results of the tasks in [`Split::needs`], in that order, one after the other.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a task that does not exist; [`Error::BadBytes`] or [`Error::ParamsMismatch`] for results that
    /// are not those it needs.
    fn compute(&mut self, task: usize, needed: &[u8]) -> Result<Vec<u8>, Error>;
}

/// Appends words, their lowest bytes first.
pub(in crate::bootstrapping) fn put_words<W: Word>(words: &[W], out: &mut Vec<u8>) {
    let size = W::BITS as usize / 8;
    out.reserve(words.len() * size);
    for x in words {
        out.extend_from_slice(&x.to_u64().to_le_bytes()[..size]);
    }
}

/// Appends counters.
pub(in crate::bootstrapping) fn put_counters(
    Counters { ntt, limb_mac, key_switch }: Counters,
    out: &mut Vec<u8>,
) {
    put_words(&[ntt, limb_mac, key_switch], out);
}

/// Untrusted bytes from the other side.
pub(in crate::bootstrapping) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(|| bad("bytes are missing"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// The next words.
    pub fn words<W: Word>(&mut self, count: usize) -> Result<Vec<W>, Error> {
        let size = W::BITS as usize / 8;
        let word = |bytes: &[u8]| {
            let mut wide = [0; 8];
            wide[..size].copy_from_slice(bytes);
            W::from_u64(u64::from_le_bytes(wide))
        };
        Ok(self.bytes(count.saturating_mul(size))?.chunks_exact(size).map(word).collect())
    }

    /// The next words, each below a modulus.
    pub fn residues<W: Word>(&mut self, modulus: u64, count: usize) -> Result<Vec<W>, Error> {
        let words = self.words(count)?;
        if words.iter().any(|x: &W| x.to_u64() >= modulus) {
            return Err(bad("a residue is not below its modulus"));
        }
        Ok(words)
    }

    /// What [`put_counters`] wrote.
    pub fn counters(&mut self) -> Result<Counters, Error> {
        let counts = self.words::<u64>(3)?;
        Ok(Counters { ntt: counts[0], limb_mac: counts[1], key_switch: counts[2] })
    }

    /// Refuses bytes that were left unread.
    pub fn end(self) -> Result<(), Error> {
        if self.0.is_empty() { Ok(()) } else { Err(bad("bytes are left over")) }
    }
}

/// An error of a [`Reader`].
#[cold]
pub(in crate::bootstrapping) fn bad(what: &str) -> Error {
    Error::BadBytes(format!(
        "the brief or result of a shared task does not fit ({what}); use one version of this library on both sides"
    ))
}
