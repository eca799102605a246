//! Renames stored sets whose name now stands for other parameters.

use super::jobs::JobRecord;
use super::keys::KeyRecord;
use super::{JOBS, KEYS, Store, StoreError, encode};

/// Gives key sets, and the jobs on them, the name that `name_of` has for the fingerprint of their parameters; those of
/// unknown fingerprints keep theirs.
///
/// # Errors
/// The store fails.
pub fn update(store: &Store, name_of: impl Fn(&str) -> Option<String>) -> Result<(), StoreError> {
    store.write(|txn| {
        let mut keys = txn.open_table(KEYS)?;
        let mut records: Vec<KeyRecord> = Vec::new();
        store.each_record("key", &keys, |record| records.push(record))?;
        for mut record in records {
            let Some(name) = name_of(&record.fingerprint).filter(|name| *name != record.params) else { continue };
            tracing::info!(key = %record.id, was = record.params, params = name, "parameter set has another name now");
            let mut jobs = txn.open_table(JOBS)?;
            let mut own: Vec<JobRecord> = Vec::new();
            store.each_record("job", &jobs, |job: JobRecord| {
                if job.key == record.id {
                    own.push(job);
                }
            })?;
            for mut job in own {
                job.params.clone_from(&name);
                jobs.insert(job.id.0, encode(&job)?.as_slice())?;
            }
            record.params = name;
            keys.insert(record.id.0, encode(&record)?.as_slice())?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;
    use crate::store::keys;

    #[test]
    fn key_sets_are_given_the_name_of_their_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let records = [([1; 16], "old"), ([2; 16], "new"), ([3; 16], "unknown")].map(|(id, fingerprint)| {
            let record = KeyRecord::new(Id(id), "set", fingerprint, 1);
            keys::open(&store, &record, 0, &keys::Bounds::NONE).unwrap();
            record
        });
        let name_of = |fingerprint: &str| match fingerprint {
            "old" => Some("set-2026a".to_owned()),
            "new" => Some("set".to_owned()),
            _ => None,
        };
        for _ in 0..2 {
            update(&store, name_of).unwrap();
            let names =
                records.each_ref().map(|record| keys::get(&store, record.id).unwrap().unwrap().params);
            assert_eq!(names, ["set-2026a", "set", "set"]);
        }
    }
}
