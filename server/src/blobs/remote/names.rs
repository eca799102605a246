//! Names of objects.

use object_store::path::Path;

use super::super::{Blob, Owner};
use crate::id::{hex, unhex};
use crate::store::folder::MARKER;

/// The names below a prefix.
pub struct Names {
    prefix: Path,
}

impl Names {
    pub fn new(prefix: Path) -> Self {
        Self { prefix }
    }

    /// The prefix of all objects; `None` if that is the whole bucket.
    pub fn prefix(&self) -> Option<&Path> {
        (!self.prefix.is_root()).then_some(&self.prefix)
    }

    pub fn marker(&self) -> Path {
        self.prefix.clone().join(MARKER)
    }

    /// The prefix of all objects of an owner.
    pub fn folder(&self, owner: Owner) -> Path {
        let (kind, id) = match owner {
            Owner::Key(id) => ("keys", id),
            Owner::Job(id) => ("jobs", id),
        };
        self.prefix.clone().join(kind).join(id.to_string())
    }

    /// The prefix of all objects that have the name of a blob, or had it before.
    pub fn below(&self, blob: Blob) -> Path {
        let folder = self.folder(blob.owner());
        match blob {
            Blob::KeyPart(_, index) => folder.join(index.to_string()),
            Blob::Input(_) | Blob::Result(_) => folder,
        }
    }

    /// The object of a blob; `None` for a piece of a key set whose digest is not known.
    pub fn of(&self, blob: Blob, digest: Option<[u8; 32]>) -> Option<Path> {
        let below = self.below(blob);
        match blob {
            Blob::KeyPart(..) => digest.map(|digest| below.join(hex(&digest))),
            Blob::Input(_) => Some(below.join("input")),
            Blob::Result(_) => Some(below.join("result")),
        }
    }

    /// The blob and the digest that an object's name stands for; `None` for names that the server does not give.
    pub fn parse(&self, location: &Path) -> Option<(Blob, Option<[u8; 32]>)> {
        let parts: Vec<_> = location.prefix_match(&self.prefix)?.collect();
        let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
        let (blob, digest) = match *parts.as_slice() {
            ["keys", id, index, name] => {
                let mut digest = [0; 32];
                unhex(name, &mut digest)?;
                (Blob::KeyPart(id.parse().ok()?, index.parse().ok()?), Some(digest))
            }
            ["jobs", id, "input"] => (Blob::Input(id.parse().ok()?), None),
            ["jobs", id, "result"] => (Blob::Result(id.parse().ok()?), None),
            _ => return None,
        };
        // Refuses "007" and "+7", which the server does not write.
        (self.of(blob, digest).as_ref() == Some(location)).then_some((blob, digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    #[test]
    fn names_read_back_and_others_are_nobodys() {
        for prefix in ["", "a", "a/b c"] {
            let names = Names::new(Path::from(prefix));
            let id = Id([0xab; 16]);
            for (blob, digest) in
                [(Blob::KeyPart(id, 7), Some([3; 32])), (Blob::Input(id), None), (Blob::Result(id), None)]
            {
                let location = names.of(blob, digest).unwrap();
                assert!(location.prefix_matches(&names.below(blob)));
                assert!(names.below(blob).prefix_matches(&names.folder(blob.owner())));
                assert_eq!(names.parse(&location), Some((blob, digest)));
                assert_eq!(Names::new(Path::from("other")).parse(&location), None);
            }
            assert_eq!(names.of(Blob::KeyPart(id, 7), None), None);
            let digest = hex(&[3; 32]);
            for other in [
                format!("keys/{id}/007/{digest}"),
                format!("keys/{id}/+7/{digest}"),
                format!("keys/{id}/7/{}", &digest[1..]),
                format!("keys/{id}/7/{digest}/more"),
                format!("keys/{id}/7"),
                format!("keys/id/7/{digest}"),
                format!("jobs/{id}/output"),
                format!("jobs/{}/input", id.to_string().to_uppercase()),
                MARKER.to_owned(),
                "holiday.jpg".to_owned(),
            ] {
                let location = Path::from(format!("{prefix}/{other}"));
                assert_eq!(names.parse(&location), None, "{location}");
            }
        }
    }
}
