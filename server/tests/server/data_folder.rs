//! Data folders: nothing that the server did not write is ever removed, and only its own folders are used.

use super::support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use redb::{ReadableDatabase, TableDefinition, TableHandle};
use refloat_server::store::Store;
use refloat_server::store::folder::{self, data_folder_above};
use support::TestServer;
use support::engine::{KEY, PARTS};
use support::process::{Process, refloat};

const MARKER: &str = "refloat-data.json";
const DATABASE: &str = "refloat.redb";

/// All files below a folder with their contents, and links with their targets. For the database, which may be repaired when it is
/// opened, only the name counts.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        if path.is_symlink() {
            files.insert(name, fs::read_link(&path).unwrap().display().to_string().into_bytes());
        } else if path.is_dir() {
            files.insert(format!("{name}/"), Vec::new());
            files.extend(content(&path));
        } else if path.ends_with(DATABASE) {
            files.insert(name, Vec::new());
        } else {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    files
}

/// Asserts that a folder is refused and left as it is. Returns the message.
#[track_caller]
fn refused(folder: &Path) -> String {
    let before = content(folder);
    let message = Store::open(folder).err().expect("refused").to_string();
    assert!(content(folder) == before, "something changed: {message}");
    assert!(message.contains(&folder.display().to_string()) && message.contains("--data"), "{message}");
    message
}

/// A data folder with a sealed key set and the result of a job.
fn filled(folder: &Path) -> String {
    let server = TestServer::start(folder, |_| {});
    support::upload(&server.client);
    let job = server.client.submit(KEY, &support::ciphertext(1)).expect(202).json();
    let job = job["id"].as_str().unwrap().to_owned();
    server.client.wait_state(&job, "done");
    server.stop();
    job
}

/// Changes a data folder into that of a version without markers.
fn of_an_older_version(folder: &Path) {
    fs::remove_file(folder.join(MARKER)).unwrap();
    for name in ["incoming", "removed"] {
        fs::remove_dir(folder.join(name)).unwrap();
    }
    let database = redb::Database::open(folder.join(DATABASE)).unwrap();
    let table: TableDefinition<'_, &str, [u8; 16]> = TableDefinition::new("folder");
    let txn = database.begin_write().unwrap();
    assert!(txn.delete_table(table).unwrap());
    txn.commit().unwrap();
}

#[test]
fn folders_of_others_are_refused_and_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("thesis.txt"), "years of work").unwrap();
    assert!(refused(root).contains("thesis.txt"));
    // As after `refloat keygen --out keys; refloat serve --data .`.
    fs::create_dir(root.join("keys")).unwrap();
    fs::write(root.join("keys/secret.key"), "secret").unwrap();
    assert!(refused(root).contains("keys/secret.key"));
    let run = Command::new(env!("CARGO_BIN_EXE_refloat"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data", "."])
        .current_dir(root)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!run.status.success());
    assert!(String::from_utf8_lossy(&run.stderr).contains("secret key"), "{run:?}");
    assert_eq!(fs::read(root.join("keys/secret.key")).unwrap(), b"secret");
    // Folders with the right names do not make it a data folder.
    fs::remove_dir_all(root.join("keys")).unwrap();
    fs::remove_file(root.join("thesis.txt")).unwrap();
    fs::create_dir_all(root.join("jobs").join(KEY)).unwrap();
    fs::write(root.join("jobs").join(KEY).join("input"), "a ciphertext").unwrap();
    refused(root);
    // Another program's file under the name of our table.
    fs::write(root.join(DATABASE), "not a table").unwrap();
    refused(root);
}

#[test]
fn a_database_that_does_not_read_back_is_named_with_its_repair() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    filled(root);
    let whole = fs::read(root.join(DATABASE)).unwrap();
    let mut headless = whole.clone();
    headless[..4096].fill(0x5a);
    let cut = [0, 1, 100, 4096, 5000, whole.len() / 2, whole.len() - 4096].map(|length| &whole[..length]);
    for damaged in cut.into_iter().chain([b"another program's".as_slice(), &headless]) {
        fs::write(root.join(DATABASE), damaged).unwrap();
        let message = refused(root);
        assert!(message.contains("put it back from a backup"), "{message}");
        assert!(fs::read(root.join(DATABASE)).unwrap() == damaged, "it may be what somebody can repair");
    }
    fs::write(root.join(DATABASE), whole).unwrap();
    drop(Store::open(root).unwrap());
    // A path that is not a folder.
    let file = folder.path().join("refloat-data.json");
    let message = Store::open(&file).err().expect("refused").to_string();
    assert!(message.contains("--data") && fs::read(file).is_ok(), "{message}");
}

#[test]
fn a_table_that_fails_when_jobs_are_taken_up_is_named_with_its_repair() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data");
    let job = filled(&root);
    let database = redb::Database::open(root.join(DATABASE)).unwrap();
    let txn = database.begin_write().unwrap();
    let (jobs, queue) = (TableDefinition::<[u8; 16], &[u8]>::new("jobs"), "queue");
    {
        // As after a crash.
        let mut jobs = txn.open_table(jobs).unwrap();
        let mut id = [0; 16];
        refloat_server::id::unhex(&job, &mut id).unwrap();
        let record = redb::ReadableTable::get(&jobs, id).unwrap().unwrap().value().to_owned();
        let record = String::from_utf8(record).unwrap().replace(r#""state":"done""#, r#""state":"running""#);
        jobs.insert(id, record.lines().next().unwrap().as_bytes()).unwrap();
    }
    assert!(txn.delete_table(TableDefinition::<u64, [u8; 16]>::new(queue)).unwrap());
    txn.open_table(TableDefinition::<&str, u64>::new(queue)).unwrap();
    txn.commit().unwrap();
    drop(database);
    let run = refloat("serve --listen 127.0.0.1:0 --data @data", folder.path());
    let message = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success(), "{message}");
    assert!(message.contains(&root.display().to_string()), "{message}");
    assert!(message.contains("put it back from a backup"), "{message}");
}

#[test]
fn a_job_that_the_version_before_was_at_is_run_whatever_it_left() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let job = filled(root);
    let database = redb::Database::open(root.join(DATABASE)).unwrap();
    let txn = database.begin_write().unwrap();
    {
        let mut jobs = txn.open_table(TableDefinition::<[u8; 16], &[u8]>::new("jobs")).unwrap();
        let mut id = [0; 16];
        refloat_server::id::unhex(&job, &mut id).unwrap();
        let record = redb::ReadableTable::get(&jobs, id).unwrap().unwrap().value().to_owned();
        let mut record: serde_json::Value =
            serde_json::from_slice(record.split(|&byte| byte == b'\n').next().unwrap()).unwrap();
        let members = record.as_object_mut().unwrap();
        let content = members.remove("content").expect("this version's own");
        assert_eq!(content.as_str().unwrap().len(), 64);
        members.insert("state".into(), "running".into());
        for name in ["result", "finished", "seconds"] {
            members.insert(name.into(), serde_json::Value::Null);
        }
        let json = serde_json::to_string(&record).unwrap();
        let line = format!("{json}\n{}", blake3::hash(json.as_bytes()).to_hex());
        jobs.insert(id, line.as_bytes()).unwrap();
    }
    txn.commit().unwrap();
    drop(database);
    let files = root.join("jobs").join(&job);
    fs::write(files.join("input"), support::ciphertext(1)).unwrap();
    // Stored, not recorded, and with other bits.
    fs::write(files.join("result"), "what the version before made of it").unwrap();
    let server = TestServer::start(root, |_| {});
    let done = server.client.wait_state(&job, "done");
    let result = server.client.get(&format!("/v1/jobs/{job}/result")).expect(200).body;
    let reversed: Vec<u8> = support::ciphertext(1).into_iter().rev().collect();
    assert_eq!(result, reversed, "{done:?}");
    server.stop();
}

#[test]
fn a_new_folder_is_made_and_marked() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("a/b");
    drop(Store::open(&root).unwrap());
    let marker: serde_json::Value = serde_json::from_slice(&fs::read(root.join(MARKER)).unwrap()).unwrap();
    assert_eq!((&marker["format"], &marker["version"]), (&"refloat-data".into(), &1.into()));
    let store = Store::open(&root).unwrap();
    assert!(Store::open(&root).err().unwrap().to_string().contains("in use"));
    drop(store);
    // A volume has such a folder from the start.
    let volume = folder.path().join("volume");
    fs::create_dir_all(volume.join("lost+found")).unwrap();
    drop(Store::open(&volume).unwrap());
}

#[test]
#[cfg(unix)]
fn what_is_made_in_a_data_folder_is_for_the_server_alone() {
    use std::os::unix::fs::PermissionsExt;
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("data");
    filled(&folder);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let names = content(&folder);
    assert!(names.keys().any(|name| name.contains("/keys/") && !name.ends_with('/')), "{names:?}");
    for name in names.keys() {
        assert_eq!(mode(Path::new(name)), if name.ends_with('/') { 0o700 } else { 0o600 }, "{name}");
    }
    // A folder that was opened to others stays open: that was done on purpose.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o750)).unwrap();
    drop(Store::open(&folder).unwrap());
    assert_eq!(mode(&folder), 0o750);
}

#[test]
fn a_server_killed_while_it_made_its_folder_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join(MARKER);
    fs::write(&marker, "").unwrap();
    drop(Store::open(folder.path()).unwrap());
    for name in ["keys", "jobs", "incoming", "removed"] {
        fs::remove_dir(folder.path().join(name)).unwrap();
    }
    fs::rename(folder.path().join(DATABASE), folder.path().join("refloat.redb.partial")).unwrap();
    let before = fs::read(&marker).unwrap();
    drop(Store::open(folder.path()).unwrap());
    assert_eq!(fs::read(&marker).unwrap(), before);
}

#[test]
fn a_marker_without_its_database_is_refused_with_the_repair() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data");
    let job = filled(&root);
    let files = content(&root).len();
    assert!(files > 8);
    let backup = folder.path().join("backup.redb");
    fs::rename(root.join(DATABASE), &backup).unwrap();
    let message = refused(&root);
    assert!(message.contains("missing") && message.contains("backup"), "{message}");
    // An empty database, as earlier servers made it, and then the database of another folder.
    redb::Database::create(root.join(DATABASE)).unwrap();
    assert!(refused(&root).contains("identifier"));
    let other = folder.path().join("other");
    drop(Store::open(&other).unwrap());
    fs::copy(other.join(DATABASE), root.join(DATABASE)).unwrap();
    assert!(refused(&root).contains("identifier"));
    fs::write(root.join(MARKER), "{}").unwrap();
    assert!(refused(&root).contains("does not read back"));
    fs::write(root.join(MARKER), format!(r#"{{"format":"refloat-data","version":2,"id":"{KEY}"}}"#)).unwrap();
    assert!(refused(&root).contains("newer"));
    // Even without the marker, an empty database does not make the files count as rubbish.
    fs::remove_file(root.join(MARKER)).unwrap();
    fs::remove_file(root.join(DATABASE)).unwrap();
    redb::Database::create(root.join(DATABASE)).unwrap();
    assert!(refused(&root).contains("no tables"));
    fs::remove_file(root.join(DATABASE)).unwrap();
    refused(&root);
    fs::copy(&backup, root.join(DATABASE)).unwrap();
    let server = TestServer::start(&root, |_| {});
    server.client.get(&format!("/v1/jobs/{job}/result")).expect(200);
    server.stop();
    assert!(content(&root).len() >= files - 1);
}

#[test]
fn files_of_a_removal_that_failed_come_back_to_a_folder_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data");
    let job = filled(&root);
    let keys = root.join("keys").join(KEY);
    // The removal failed in its transaction after the folder was renamed, and a piece was uploaded before the name could be restored.
    let retired = root.join("removed").join(format!("keys-{KEY}.0011223344556677"));
    fs::rename(&keys, &retired).unwrap();
    fs::create_dir(&keys).unwrap();
    fs::copy(retired.join("1"), keys.join("1")).unwrap();
    fs::write(retired.join("7"), "of no record").unwrap();
    let server = TestServer::start(&root, |_| {});
    assert_eq!(fs::read_dir(&keys).unwrap().count(), support::engine::PARTS);
    server.client.head(&format!("/v1/keys/{KEY}")).expect(200);
    server.client.get(&format!("/v1/jobs/{job}/result")).expect(200);
    let again = server.client.submit(KEY, &support::ciphertext(3)).expect(202).json()["id"].clone();
    server.client.wait_state(again.as_str().unwrap(), "done");
    server.stop();
    assert!(!retired.exists());
}

#[test]
fn a_folder_of_an_older_version_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data");
    let job = filled(&root);
    of_an_older_version(&root);
    fs::write(root.join("notes.txt"), "of the operator").unwrap();
    let misplaced = root.join("keys/secret.key");
    fs::write(&misplaced, "secret").unwrap();
    assert!(refused(&root).contains("keys/secret.key"));
    fs::rename(&misplaced, root.join("secret.key")).unwrap();
    assert!(refused(&root).contains("secret.key"));
    fs::rename(root.join("secret.key"), root.join("jobs/thesis.txt")).unwrap();
    assert!(refused(&root).contains("thesis.txt"));
    fs::rename(root.join("jobs/thesis.txt"), root.join("keys").join(KEY).join("thesis.txt")).unwrap();
    assert!(refused(&root).contains("thesis.txt"));
    fs::remove_file(root.join("keys").join(KEY).join("thesis.txt")).unwrap();
    let server = TestServer::start(&root, |_| {});
    server.client.head(&format!("/v1/keys/{KEY}")).expect(200);
    server.client.get(&format!("/v1/jobs/{job}/result")).expect(200);
    server.stop();
    assert!(root.join(MARKER).is_file());
    assert_eq!(fs::read(root.join("notes.txt")).unwrap(), b"of the operator");
    let database = redb::Database::open(root.join(DATABASE)).unwrap();
    let txn = database.begin_read().unwrap();
    assert!(txn.list_tables().unwrap().any(|table| table.name() == "folder"));
}

#[cfg(unix)]
#[test]
fn folders_that_lead_elsewhere_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir_all(elsewhere.join(KEY)).unwrap();
    fs::write(elsewhere.join(KEY).join("0"), "of somebody").unwrap();
    let root = folder.path().join("data");
    filled(&root);
    for old in [false, true] {
        if old {
            of_an_older_version(&root);
        }
        for name in ["keys", "jobs"] {
            fs::rename(root.join(name), folder.path().join(name)).unwrap();
            std::os::unix::fs::symlink(&elsewhere, root.join(name)).unwrap();
            assert!(refused(&root).contains("symbolic link"));
            fs::remove_file(root.join(name)).unwrap();
            fs::rename(folder.path().join(name), root.join(name)).unwrap();
        }
    }
    assert_eq!(fs::read(elsewhere.join(KEY).join("0")).unwrap(), b"of somebody");
}

#[test]
fn what_has_no_record_is_moved_aside_and_what_is_not_ours_stays() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let job = filled(root);
    let stray = KEY.replace('0', "9");
    for (place, file) in [("keys", "0"), ("jobs", "result")] {
        let folder = root.join(place).join(&stray);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(file), "bytes").unwrap();
        fs::write(folder.join("3.partial"), "half").unwrap();
    }
    fs::create_dir(root.join("jobs").join(stray.replace('9', "8"))).unwrap();
    let mine = ["keys/secret.key", "jobs/thesis.txt", "notes.txt", "removed/notes.txt", "incoming/x.partial"];
    for name in mine {
        fs::write(root.join(name), "mine").unwrap();
    }
    fs::create_dir(root.join("jobs/pictures")).unwrap();
    fs::write(root.join("jobs/pictures/1.partial"), "mine").unwrap();
    fs::write(root.join("keys").join(KEY).join("1.partial"), "half").unwrap();
    // A key set whose removal was on disk, with a stranger's file in it, and a job whose removal was not.
    let removed = root.join(format!("removed/keys-{stray}.00"));
    fs::create_dir(&removed).unwrap();
    fs::write(removed.join("0"), "piece").unwrap();
    fs::write(removed.join("diary"), "mine").unwrap();
    fs::rename(root.join("jobs").join(&job), root.join(format!("removed/jobs-{job}.00"))).unwrap();

    for _ in 0..2 {
        let server = TestServer::start(root, |_| {});
        server.client.head(&format!("/v1/keys/{KEY}")).expect(200);
        server.client.get(&format!("/v1/jobs/{job}/result")).expect(200);
        server.stop();
    }
    for name in mine.iter().chain(&["jobs/pictures/1.partial"]) {
        assert_eq!(fs::read(root.join(name)).unwrap(), b"mine", "{name}");
    }
    assert_eq!(fs::read_dir(root.join("keys").join(KEY)).unwrap().count(), PARTS);
    let dates: Vec<_> = fs::read_dir(root.join("lost+found")).unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(dates.len(), 1, "one day, unless this ran at midnight");
    let date = dates[0].path();
    assert!(date.file_name().unwrap().len() == 10, "{date:?}");
    assert_eq!(fs::read(date.join(format!("keys-{stray}/0"))).unwrap(), b"bytes");
    assert_eq!(fs::read(date.join(format!("jobs-{stray}/result"))).unwrap(), b"bytes");
    assert_eq!(fs::read(date.join(format!("keys-{stray}.00/diary"))).unwrap(), b"mine");
    assert_eq!(fs::read_dir(&date).unwrap().count(), 3, "empty and half-written ones have gone");
    assert!(!removed.exists());
}

#[test]
fn keygen_writes_nothing_into_a_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data");
    assert_eq!(data_folder_above(&root), None);
    drop(Store::open(&root).unwrap());
    let owner = root.canonicalize().unwrap();
    // The evaluation keys of "above" would be inside a data folder.
    let above = folder.path().join("above");
    fs::create_dir(&above).unwrap();
    drop(Store::open(&above.join("evaluation")).unwrap());
    let run = refloat("keygen --preset toy10 --allow-insecure --out @above", folder.path());
    assert!(String::from_utf8_lossy(&run.stderr).contains("data folder of a server"), "{run:?}");
    assert!(!above.join("secret.key").exists() && !above.join("evaluation/keys.json").exists());
    for path in ["data", "data/keys", "data/keys/new/deep", "data/../data"] {
        assert_eq!(data_folder_above(&folder.path().join(path)), Some(owner.clone()), "{path}");
        let run = refloat(&format!("keygen --preset toy10 --allow-insecure --out @{path}"), folder.path());
        assert!(!run.status.success());
        assert!(String::from_utf8_lossy(&run.stderr).contains("data folder of a server"), "{run:?}");
    }
    // Evaluation keys have a folder of their own inside "mine".
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::rename(&root, folder.path().join("mine/evaluation")).unwrap();
    let run = refloat("keygen --preset toy10 --allow-insecure --out @mine", folder.path());
    assert!(String::from_utf8_lossy(&run.stderr).contains("data folder of a server"), "{run:?}");
    assert!(!folder.path().join("mine/secret.key").exists());
    fs::rename(folder.path().join("mine/evaluation"), &root).unwrap();
    for path in ["", "data2", "data/../keys"] {
        assert_eq!(data_folder_above(&folder.path().join(path)), None, "{path}");
    }
    fs::remove_file(root.join(MARKER)).unwrap();
    assert_eq!(data_folder_above(&root.join("keys")), Some(owner), "of an older version");
}

#[cfg(unix)]
#[test]
fn a_secret_key_in_a_data_folder_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data");
    drop(Store::open(&root).unwrap());
    let log = folder.path().join("log");
    let start = || {
        Process::start_by(&root, &format!("exec \"$@\" 2> '{}'", log.display())).kill();
        fs::read_to_string(&log).unwrap()
    };
    assert_eq!(start(), "");
    fs::write(root.join("secret.key"), "a secret").unwrap();
    let said = start();
    assert!(said.contains("secret.key") && said.contains("move it away"), "{said}");
    assert_eq!(said.lines().count(), 1, "it is said once: {said}");
    assert_eq!(fs::read(root.join("secret.key")).unwrap(), b"a secret");
}

#[cfg(unix)]
#[test]
fn a_data_folder_that_is_open_to_everybody_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (root, log) = (folder.path().join("data"), folder.path().join("log"));
    fs::create_dir(&root).unwrap();
    let start = |mode: u32| {
        fs::set_permissions(&root, fs::Permissions::from_mode(mode)).unwrap();
        Process::start_by(&root, &format!("exec \"$@\" 2> '{}'", log.display())).kill();
        fs::read_to_string(&log).unwrap()
    };
    let said = start(0o755);
    assert!(said.contains("chmod -R go=") && said.contains(&root.display().to_string()), "{said}");
    assert_eq!(said.lines().count(), 1, "it is said once: {said}");
    assert_eq!(start(0o750), "");
}

#[test]
fn who_shares_the_files_of_a_folder_knows_it_by_its_marker() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |path: &Path| folder::check(path).err().map(|error| error.to_string());
    let empty = refusal(folder.path()).unwrap();
    assert!(empty.contains("no server has made it") && empty.contains(MARKER), "{empty}");
    for name in ["keys", "jobs", "incoming"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    assert!(refusal(folder.path()).is_some(), "folders of these names are anybody's");
    let data = tempfile::tempdir().unwrap();
    let store = Store::open(data.path()).unwrap();
    assert_eq!(refusal(data.path()), None, "while its server runs");
    drop(store);
    assert_eq!(refusal(data.path()), None);
    let marker = fs::read_to_string(data.path().join(MARKER)).unwrap();
    let newer = marker.replace("\"version\": 1", "\"version\": 2");
    for (text, word) in [(newer.as_str(), "newer"), ("{}", "read back"), ("", "read back")] {
        fs::write(data.path().join(MARKER), text).unwrap();
        assert!(refusal(data.path()).unwrap().contains(word));
    }
}
