//! Key sets in pages, for operators.

use std::ops::Bound;

use super::KeyRecord;
use crate::id::Id;
use crate::store::{KEYS, Store, StoreError, decode};

/// Some of the key sets, in the order of their identifiers.
pub struct Page {
    /// Their records; damaged ones are left out, and the log names them.
    pub records: Vec<KeyRecord>,
    /// The last identifier that was looked at, if others follow.
    pub last: Option<Id>,
}

/// Up to `most` key sets (at least 1), those with identifiers greater than `after`.
///
/// # Errors
/// The store fails.
pub fn page(store: &Store, after: Option<Id>, most: usize) -> Result<Page, StoreError> {
    store.read(|txn| {
        let table = txn.open_table(KEYS)?;
        let from = after.map_or(Bound::Unbounded, |id| Bound::Excluded(id.0));
        let mut rows = table.range::<[u8; 16]>((from, Bound::Unbounded))?;
        let mut page = Page { records: Vec::new(), last: None };
        for row in rows.by_ref().take(most) {
            let (id, record) = row?;
            let id = Id(id.value());
            page.last = Some(id);
            match decode(&format!("key {id}"), record.value()) {
                Ok(record) => page.records.push(record),
                Err(error) => store.note(&error),
            }
        }
        if rows.next().transpose()?.is_none() {
            page.last = None;
        }
        Ok(page)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Bounds, open};
    use super::*;

    #[test]
    fn pages_have_every_set_once_and_pass_over_damage() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert!(page(&store, None, 2).unwrap().records.is_empty());
        let ids = [5, 1, 3, 2, 4].map(|byte| Id([byte; 16]));
        for id in ids {
            open(&store, &KeyRecord::new(id, "p", "f", 1), 0, &Bounds::NONE).unwrap();
        }
        store
            .write(|txn| {
                txn.open_table(KEYS)?.insert([3; 16], &b"no record"[..])?;
                Ok(())
            })
            .unwrap();
        for most in 1..7 {
            let (mut after, mut seen, mut pages) = (None, Vec::new(), 0);
            loop {
                let page = page(&store, after, most).unwrap();
                assert!(page.records.len() <= most);
                seen.extend(page.records.iter().map(|record| record.id.0[0]));
                (after, pages) = (page.last, pages + 1);
                if after.is_none() {
                    break;
                }
            }
            assert_eq!((seen, pages), (vec![1, 2, 4, 5], 5_usize.div_ceil(most)), "{most}");
        }
    }
}
