//! Lists of named sets, and the sets of earlier versions whose keys are still read.
//!
//! When the numbers of a set change, its name goes to the new numbers. The old ones stay for one minor version as a
//! [`Retired`] set, under the old name with the year and a letter (`bool-128-2026a`): its fingerprint is the one that old
//! keys, ciphertexts and evaluation keys carry, so all of them are found by it, decrypt and compute. A retired set is not
//! found by name, which is how sets for new keys are chosen: that is refused with the name of the set to take.

use alloc::{format, vec::Vec};

use crate::{error::Error, schemes::ckks::hex};

/// A set of an earlier version: its keys are read and used, and no new ones made.
#[derive(Debug, Clone, Copy)]
pub struct Retired<P: 'static> {
    /// The set, under its name of today: the old one with the year and a letter.
    pub preset: P,
    /// The set to take now, which has the name that this one had.
    pub now: &'static str,
}

/// What a list of sets is searched by.
pub(super) trait Named: 'static {
    /// What the sets are, for messages: "DM/CGGI set".
    const WHAT: &'static str;

    /// Name, as users write it.
    fn name(&self) -> &'static str;

    /// What keys and ciphertexts of the set carry.
    fn fingerprint(&self) -> [u8; 16];
}

/// The sets of one kind.
pub(super) struct Catalogue<P: Named> {
    /// Those that keys are made of.
    pub current: &'static [P],
    /// Those of earlier versions.
    pub retired: &'static [Retired<P>],
}

impl<P: Named> Catalogue<P> {
    /// A set to make keys of.
    pub fn named(&self, name: &str) -> Result<&'static P, Error> {
        if let Some(preset) = self.current.iter().find(|preset| preset.name() == name) {
            return Ok(preset);
        }
        let what = P::WHAT;
        if let Some(Retired { now, .. }) = self.retired.iter().find(|old| old.preset.name() == name) {
            return Err(Error::InvalidArgument(format!(
                "{name} is the {now} of an earlier version: its keys and ciphertexts are read, and no new keys made of it; \
                 take {now}"
            )));
        }
        let names: Vec<&str> = self.current.iter().map(Named::name).collect();
        Err(Error::InvalidArgument(format!("no {what} is called {name:?}; there are {}", names.join(", "))))
    }

    /// The set that keys or ciphertexts belong to, retired or not.
    pub fn by_fingerprint(&self, fingerprint: &[u8; 16]) -> Result<&'static P, Error> {
        self.readable().find(|preset| preset.fingerprint() == *fingerprint).ok_or_else(|| {
            Error::ParamsMismatch(format!(
                "no {} of this version has fingerprint {}; use the version that made it",
                P::WHAT,
                hex(fingerprint)
            ))
        })
    }

    /// Every set whose keys are read.
    pub fn readable(&self) -> impl Iterator<Item = &'static P> {
        self.current.iter().chain(self.retired.iter().map(|old| &old.preset))
    }

    /// The set to take instead of a retired one; `None` for one of today.
    pub fn successor(&self, name: &str) -> Option<&'static str> {
        self.retired.iter().find(|old| old.preset.name() == name).map(|old| old.now)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    struct Set(&'static str, u8);

    impl Named for Set {
        const WHAT: &'static str = "test set";

        fn name(&self) -> &'static str {
            self.0
        }

        fn fingerprint(&self) -> [u8; 16] {
            [self.1; 16]
        }
    }

    static SETS: Catalogue<Set> = Catalogue {
        current: &[Set("main", 2), Set("other", 3)],
        retired: &[Retired { preset: Set("main-2026a", 1), now: "main" }],
    };

    #[test]
    fn old_sets_are_read_and_not_chosen() {
        assert_eq!(SETS.named("main").map(Set::fingerprint).unwrap(), [2; 16]);
        assert_eq!(SETS.by_fingerprint(&[1; 16]).map(Named::name).unwrap(), "main-2026a");
        assert_eq!(SETS.by_fingerprint(&[3; 16]).map(Named::name).unwrap(), "other");
        assert_eq!((SETS.successor("main-2026a"), SETS.successor("main")), (Some("main"), None));
        assert_eq!(SETS.readable().count(), 3);
        let refused = |name: &str| SETS.named(name).err().unwrap().to_string();
        assert!(refused("main-2026a").ends_with("take main"), "{}", refused("main-2026a"));
        let unknown = refused("man");
        assert!(unknown.contains("test set") && unknown.ends_with("there are main, other"), "{unknown}");
        let error = SETS.by_fingerprint(&[9; 16]).err().unwrap();
        assert!(error.code() == "PARAMS_MISMATCH" && error.to_string().contains("0909"), "{error}");
    }
}
