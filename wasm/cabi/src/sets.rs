//! The named sets of a method.

use std::sync::{Arc, Mutex, PoisonError};

use refloat::{Error, bootstrapping::method::Preset, wire::frame};

use crate::{ffi::Result, method::Keyed};

/// A set with its checked parameters.
pub struct Set<P> {
    /// Its name.
    pub name: &'static str,
    /// Whether it claims to be secure.
    pub secure: bool,
    /// The parameters.
    pub params: P,
}

/// The sets asked for so far, kept because checking takes a moment; their tables are made once.
pub struct Kept<P>(Mutex<Vec<Arc<Set<P>>>>);

impl<P> Kept<P> {
    /// None yet.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

/// Names of the sets that keys can be made for, the default first, insecure ones last.
pub fn names<P: Keyed>() -> String {
    let offered = Preset::<P::Spec>::all().iter().filter(|preset| P::includes(preset));
    offered.map(|preset| preset.name).collect::<Vec<_>>().join("\n")
}

/// A current set by name, which must be secure unless `allow_insecure` is set.
pub fn allowed<P: Keyed>(name: &str, allow_insecure: bool) -> Result<Arc<Set<P>>> {
    let preset = Preset::<P::Spec>::named(name)?;
    refuse_insecure::<P>(name, preset.secure() || allow_insecure)?;
    found(preset)
}

/// Refuses a toy unless `allowed` is set.
pub fn refuse_insecure<P: Keyed>(name: &str, allowed: bool) -> Result<()> {
    if allowed {
        return Ok(());
    }
    Err(Error::Insecure(format!(
        "{name} is a toy that protects nothing; take a secure set such as {}, or pass true for allow_insecure to play with it",
        P::SECURE
    ))
    .into())
}

/// A set by name, current or of an earlier version.
pub fn readable<P: Keyed>(name: &str) -> Result<Arc<Set<P>>> {
    found(Preset::<P::Spec>::readable_named(name)?)
}

/// The set that an object in wire form belongs to, current or of an earlier version.
pub fn of_bytes<P: Keyed>(bytes: &[u8]) -> Result<Arc<Set<P>>> {
    found(Preset::<P::Spec>::by_fingerprint(&frame::peek(bytes)?.fingerprint)?)
}

fn found<P: Keyed>(preset: &'static Preset<P::Spec>) -> Result<Arc<Set<P>>> {
    let kept = || P::kept().0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(set) = kept().iter().find(|set| set.name == preset.name) {
        return Ok(Arc::clone(set));
    }
    // Without the lock: another thread may make the same set, and either will do.
    let set = Arc::new(Set { name: preset.name, secure: preset.secure(), params: preset.checked()? });
    kept().push(Arc::clone(&set));
    Ok(set)
}
