//! Evaluation key sets: opened, filled piece by piece in any order, sealed, deleted.

mod course;
mod page;
mod quota;
mod verify;

pub use course::{Deleted, Opened, Piece, Sealed, Stored, delete, open, put_part, seal};
pub use page::{Page, page};
pub(crate) use quota::Room;
pub use quota::{Bounds, Over};
pub use verify::{Look, verify};

use redb::{ReadableTable, WriteTransaction};
use serde::{Deserialize, Serialize};

use super::holder::{Holder, Opener};
use super::{KEYS, PARTS, Store, StoreError, decode, encode, now};
use crate::id::Id;

/// Whether a key set still takes pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyState {
    /// Pieces are being uploaded.
    Open,
    /// Complete and immutable.
    Sealed,
}

/// What is known of a key set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyRecord {
    /// Chosen by the client: the identifier of its secret key.
    pub id: Id,
    /// Name of the parameter set.
    pub params: String,
    /// Fingerprint of the parameter set, in hexadecimal.
    pub fingerprint: String,
    /// Number of pieces.
    pub parts: u32,
    /// Open or sealed.
    pub state: KeyState,
    /// Milliseconds since 1970 of the last change.
    pub touched: u64,
    /// Digest of the pieces' digests in order, once sealed.
    pub digest: Option<String>,
    /// Bytes of the stored pieces.
    pub bytes: u64,
    /// Whether it was sealed and is open again because pieces were damaged on disk.
    #[serde(default)]
    pub damaged: bool,
    /// Whom it belongs to.
    #[serde(default)]
    pub holder: Holder,
    /// Who opened it, until it is sealed.
    #[serde(default)]
    pub opener: Option<Opener>,
}

impl KeyRecord {
    /// The record of a key set that is opened now and belongs to nobody.
    pub fn new(id: Id, params: &str, fingerprint: &str, parts: usize) -> Self {
        Self {
            id,
            params: params.to_owned(),
            fingerprint: fingerprint.to_owned(),
            parts: parts as u32,
            state: KeyState::Open,
            touched: now(),
            digest: None,
            bytes: 0,
            damaged: false,
            holder: Holder::default(),
            opener: None,
        }
    }
}

/// Index, digest and length of a stored piece.
pub type Part = (u32, [u8; 32], u64);

/// The record of a key set.
///
/// # Errors
/// The store fails.
pub fn get(store: &Store, id: Id) -> Result<Option<KeyRecord>, StoreError> {
    store.read(|txn| find(&txn.open_table(KEYS)?, id))
}

/// All key sets; those whose records are damaged are left out.
///
/// # Errors
/// The store fails.
pub fn list(store: &Store) -> Result<Vec<KeyRecord>, StoreError> {
    store.read(|txn| {
        let mut records = Vec::new();
        store.each_record("key", &txn.open_table(KEYS)?, |record| records.push(record))?;
        Ok(records)
    })
}

/// Each stored piece, by index.
///
/// # Errors
/// The store fails.
pub fn parts(store: &Store, id: Id) -> Result<Vec<Part>, StoreError> {
    store.read(|txn| {
        txn.open_table(PARTS)?
            .range((id.0, 0)..=(id.0, u32::MAX))?
            .map(|entry| {
                let (key, value) = entry?;
                let (digest, length) = value.value();
                Ok((key.value().1, digest, length))
            })
            .collect()
    })
}

/// Digest of piece `index`, if it is stored.
///
/// # Errors
/// The store fails.
pub fn part_digest(store: &Store, id: Id, index: u32) -> Result<Option<[u8; 32]>, StoreError> {
    store.read(|txn| Ok(txn.open_table(PARTS)?.get((id.0, index))?.map(|value| value.value().0)))
}

fn find(
    table: &impl ReadableTable<[u8; 16], &'static [u8]>,
    id: Id,
) -> Result<Option<KeyRecord>, StoreError> {
    table.get(id.0)?.map(|bytes| decode(&format!("key {id}"), bytes.value())).transpose()
}

/// The records of key sets in a transaction, with what they take.
struct Records<'txn> {
    table: redb::Table<'txn, [u8; 16], &'static [u8]>,
    room: Room,
}

impl Records<'_> {
    fn get(&self, id: Id) -> Result<Option<KeyRecord>, StoreError> {
        find(&self.table, id)
    }

    fn put(&mut self, record: &KeyRecord) -> Result<(), StoreError> {
        self.table.insert(record.id.0, encode(record)?.as_slice())?;
        self.room.put(record);
        Ok(())
    }

    fn remove(&mut self, id: Id) -> Result<(), StoreError> {
        self.table.remove(id.0)?;
        self.room.remove(id);
        Ok(())
    }
}

/// Bytes that all key sets take on disk.
///
/// # Errors
/// The database does not answer.
pub fn stored_bytes(store: &Store) -> Result<u64, StoreError> {
    let mut kept = store.room();
    let room = match kept.take() {
        Some(room) => room,
        None => store.read(|txn| Room::count(store, &txn.open_table(KEYS)?))?,
    };
    Ok(kept.insert(room).bytes())
}

/// Runs `work` in a transaction that is on disk when this returns. Only one runs at a time, so room that `work` finds free stays free until
/// it has taken it.
fn write<T>(
    store: &Store,
    work: impl FnOnce(&WriteTransaction, &mut Records<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut kept = store.room();
    let known = kept.take();
    let mut changed = None;
    let outcome = store.write(|txn| {
        let table = txn.open_table(KEYS)?;
        let room = match known {
            Some(room) => room,
            None => Room::count(store, &table)?,
        };
        let mut records = Records { table, room };
        let value = work(txn, &mut records)?;
        changed = Some(records.room);
        Ok(value)
    });
    // After a failure nobody knows what is on disk, so it is counted anew.
    *kept = changed.filter(|_| outcome.is_ok());
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blobs::Blob;
    use crate::id::hex;
    use crate::store::files::Expected;

    fn put(store: &Store, id: Id, index: u32, bytes: &[u8]) -> Stored {
        let piece = Piece { index, bytes, digest: *blake3::hash(bytes).as_bytes() };
        put_part(store, id, &piece, &Bounds::NONE).unwrap()
    }

    fn record(id: Id) -> KeyRecord {
        KeyRecord::new(id, "p", "f", 2)
    }

    #[test]
    fn a_set_is_filled_sealed_and_survives() {
        let folder = tempfile::tempdir().unwrap();
        let id = Id([1; 16]);
        let expected = {
            let mut hasher = blake3::Hasher::new();
            hasher.update(blake3::hash(b"zero").as_bytes()).update(blake3::hash(b"one").as_bytes());
            hex(hasher.finalize().as_bytes())
        };
        {
            let store = Store::open(folder.path()).unwrap();
            assert!(matches!(open(&store, &record(id), 0, &Bounds::NONE).unwrap(), Opened::New));
            assert_eq!(put(&store, id, 1, b"one"), Stored::New);
            assert_eq!(put(&store, id, 1, b"one"), Stored::Same);
            assert_eq!(put(&store, id, 1, b"two"), Stored::New);
            assert_eq!(put(&store, id, 1, b"one"), Stored::New);
            assert!(matches!(seal(&store, id, None).unwrap(), Sealed::Missing(missing) if missing == [0]));
        }
        // What a process that died while writing would leave.
        std::fs::write(folder.path().join(format!("keys/{id}/7.partial")), b"half").unwrap();
        std::fs::write(folder.path().join("incoming/8.partial"), b"half").unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert!(!folder.path().join(format!("keys/{id}/7.partial")).exists());
        assert!(!folder.path().join("incoming/8.partial").exists());
        assert_eq!(parts(&store, id).unwrap().iter().map(|part| part.0).collect::<Vec<_>>(), [1]);
        assert_eq!(put(&store, id, 0, b"zero"), Stored::New);
        assert!(
            matches!(seal(&store, id, Some("00")).unwrap(), Sealed::Differs(digest) if digest == expected)
        );
        let Sealed::Done(sealed) = seal(&store, id, Some(&expected)).unwrap() else { panic!("not sealed") };
        assert_eq!(
            (sealed.state, sealed.bytes, sealed.digest.as_deref()),
            (KeyState::Sealed, 7, Some(expected.as_str()))
        );
        let rows = parts(&store, id).unwrap();
        let blobs = store.blobs();
        let (index, digest, length) = rows[1];
        let read = || blobs.get(Blob::KeyPart(id, index), Expected { length, digest: Some(digest) });
        assert_eq!(read().unwrap(), b"one");
        std::fs::write(folder.path().join(format!("keys/{id}/1")), b"eno").unwrap();
        assert!(read().is_err());
        assert_eq!(delete(&store, id, |_| false).unwrap(), Deleted::Gone);
        assert_eq!(delete(&store, id, |_| true).unwrap(), Deleted::Done);
        assert!(get(&store, id).unwrap().is_none() && parts(&store, id).unwrap().is_empty());
        assert_eq!(put(&store, id, 0, b"zero"), Stored::Gone);
        assert!(!folder.path().join(format!("keys/{id}")).exists());
    }

    #[test]
    fn other_parameters_under_the_same_identifier_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let id = Id([2; 16]);
        open(&store, &record(id), 0, &Bounds::NONE).unwrap();
        assert!(matches!(open(&store, &record(id), 0, &Bounds::NONE).unwrap(), Opened::Known(_)));
        let other = KeyRecord { fingerprint: "g".into(), ..record(id) };
        assert!(matches!(open(&store, &other, 0, &Bounds::NONE).unwrap(), Opened::Differs(_)));
        assert!(matches!(Store::open(folder.path()), Err(StoreError::InUse(_))));
    }
}
