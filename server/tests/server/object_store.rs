//! Keys, inputs and results in an object store, here a local server that speaks S3.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

use futures_util::TryStreamExt;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use refloat_server::blobs::{Blob, Blobs, FileBlobs, Keeper, Owner, Put, RemoteBlobs, Source, Standing};
use refloat_server::id::{Id, hex};
use refloat_server::store::files::{Expected, ReadError};
use refloat_server::store::keys::{self, Bounds, KeyRecord, Look, Opened, Piece, Sealed, Stored};
use refloat_server::store::{Store, StoreError};

use super::support::bucket::Bucket;
use super::support::process::{Process, ok, refloat};
use super::support::{TOKEN, until};

const NO_BOUNDS: Bounds = Bounds { bytes: u64::MAX, own_bytes: None, open: usize::MAX };

fn expected(bytes: &[u8]) -> Expected {
    Expected { length: bytes.len() as u64, digest: Some(*blake3::hash(bytes).as_bytes()) }
}

fn is_damaged<T>(outcome: &Result<T, ReadError>) -> bool {
    matches!(outcome, Err(ReadError::Damaged(_)))
}

/// What every keeper for one data folder must do.
fn contract(keeper: &dyn Keeper) {
    let id = Id([1; 16]);
    for blob in [Blob::KeyPart(id, 7), Blob::Input(id), Blob::Result(id)] {
        assert!(
            is_damaged(&keeper.get(blob, expected(b"one")))
                && is_damaged(&keeper.look(blob, expected(b"one")))
        );
        keeper.remove(blob).unwrap();
        // Bytes are there once they are staged and published, and the next ones replace them.
        for bytes in [b"one".as_slice(), b"two", b"", &[7; 10_000]] {
            keeper.stage(blob, bytes).unwrap().publish().unwrap();
            keeper.suspect(blob);
            assert_eq!(keeper.get(blob, expected(bytes)).unwrap(), bytes);
            assert_eq!(keeper.open(blob, expected(bytes)).unwrap().read().unwrap(), bytes);
            keeper.look(blob, expected(bytes)).unwrap();
            assert!(is_damaged(&keeper.get(blob, expected(b"others"))));
            assert!(is_damaged(&keeper.look(blob, expected(b"others"))));
        }
        keeper.remove(blob).unwrap();
        keeper.remove(blob).unwrap();
        assert!(is_damaged(&keeper.look(blob, expected(b"two"))));
    }
    // A result is put once.
    let result = Blob::Result(id);
    assert_eq!(keeper.put(result, b"one").unwrap(), Put::New);
    assert_eq!(keeper.put(result, b"one").unwrap(), Put::Same);
    for other in [b"two".as_slice(), b"", b"longer"] {
        assert_eq!(keeper.put(result, other).unwrap(), Put::Differs);
    }
    assert_eq!(keeper.get(result, expected(b"one")).unwrap(), b"one");
    keeper.stage(Blob::Input(id), b"input").unwrap().publish().unwrap();
    keeper.forget(id).unwrap();
    keeper.forget(id).unwrap();
    assert!(is_damaged(&keeper.look(result, expected(b"one"))));
    assert!(is_damaged(&keeper.look(Blob::Input(id), expected(b"input"))));
    // The pieces of a key set go when the set is retired for good.
    let pieces = [0, 1, 300].map(|index| Blob::KeyPart(id, index));
    for blob in pieces {
        keeper.stage(blob, b"piece").unwrap().publish().unwrap();
    }
    if let Some(retired) = keeper.retire(Owner::Key(id)).unwrap() {
        retired.settle(false, &|_, _| Ok(Standing::Recorded));
    }
    assert!(pieces.iter().all(|blob| keeper.look(*blob, expected(b"piece")).is_ok()));
    let [zero, one, last] = pieces;
    let wanted = [
        (zero, expected(b"piece")),
        (one, expected(b"longer than that")),
        (Blob::KeyPart(id, 2), expected(b"piece")),
        (last, expected(b"piece")),
    ];
    assert_eq!(keeper.missing(&wanted).unwrap(), [1, 2]);
    assert_eq!(keeper.missing(&[]).unwrap(), Vec::<usize>::new());
    if let Some(retired) = keeper.retire(Owner::Key(id)).unwrap() {
        retired.settle(true, &|_, _| Ok(Standing::Ownerless));
    }
    assert!(pieces.iter().all(|blob| is_damaged(&keeper.look(*blob, expected(b"piece")))));
    keeper.check().unwrap();
}

#[test]
fn files_and_objects_do_what_is_asked_of_every_keeper() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    contract(&FileBlobs::new(folder.path()));
    drop(store);
    let bucket = Bucket::start();
    for prefix in ["", "a", "a b/ö"] {
        if prefix == "a" {
            // From here on, prefixes lie side by side, and nothing claims the whole bucket.
            fs::remove_file(bucket.file("refloat-data.json")).unwrap();
        }
        let remote = bucket.blobs(prefix);
        remote.claim(Id([9; 16]), true).unwrap();
        contract(&remote);
    }
    assert_eq!(bucket.objects().len(), 2, "{:?}", bucket.objects());
}

/// A data folder with its bytes below a prefix.
fn open(folder: &Path, bucket: &Bucket, prefix: &str) -> Result<Store, StoreError> {
    Store::open_with(folder, Arc::new(bucket.blobs(prefix)))
}

fn refusal(outcome: Result<Store, StoreError>) -> String {
    outcome.err().expect("refused").to_string()
}

fn record(id: Id, parts: usize) -> KeyRecord {
    KeyRecord { touched: 0, ..KeyRecord::new(id, "small", "f", parts) }
}

fn put(store: &Store, id: Id, index: u32, bytes: &[u8]) -> Stored {
    let piece = Piece { index, bytes, digest: *blake3::hash(bytes).as_bytes() };
    keys::put_part(store, id, &piece, &NO_BOUNDS).unwrap()
}

#[test]
fn a_prefix_and_a_data_folder_belong_together() {
    let mut bucket = Bucket::start();
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    let store = open(&one, &bucket, "a").unwrap();
    keys::open(&store, &record(Id([1; 16]), 1), 0, &NO_BOUNDS).unwrap();
    assert_eq!(put(&store, Id([1; 16]), 0, b"piece"), Stored::New);
    drop(store);
    // Again, and with the name of the bucket in another form.
    drop(open(&one, &bucket, "a").unwrap());
    let before = bucket.objects();
    // Another data folder cannot use this prefix, and this one cannot use another prefix.
    assert!(refusal(open(&other, &bucket, "a")).contains("another front keeps its bytes there"));
    assert!(refusal(open(&one, &bucket, "b")).contains("the bytes of this data folder are not there"));
    // This data folder cannot go back to keeping its bytes in files.
    assert!(refusal(Store::open(&one)).contains("cluster.blobs"));
    // The refused folder and prefix can still be used, together.
    drop(open(&other, &bucket, "b").unwrap());
    // A data folder that has bytes in files keeps them there.
    let files = folder.path().join("files");
    let store = Store::open(&files).unwrap();
    keys::open(&store, &record(Id([1; 16]), 1), 0, &NO_BOUNDS).unwrap();
    drop(store);
    assert!(refusal(open(&files, &bucket, "c")).contains("are files in it"));
    drop(Store::open(&files).unwrap());
    // The server does not take over a prefix with somebody else's objects.
    fs::create_dir_all(bucket.file("d")).unwrap();
    fs::write(bucket.file("d/holiday.jpg"), b"sea").unwrap();
    assert!(refusal(open(&folder.path().join("new"), &bucket, "d")).contains("d/holiday.jpg"));
    assert!(!bucket.objects().contains(&"d/refloat-data.json".to_owned()));
    for text in [
        b"".as_slice(),
        b"{}",
        br#"{"format":"refloat-data","version":99,"id":"00000000000000000000000000000001"}"#,
    ] {
        fs::write(bucket.file("d/refloat-data.json"), text).unwrap();
        let error = refusal(open(&folder.path().join("new"), &bucket, "d"));
        assert!(error.contains("does not read back") || error.contains("newer refloat"), "{error}");
    }
    assert!(before.iter().all(|object| bucket.objects().contains(object)));
    // A bucket that is gone or does not answer is a temporary error, and nothing is lost.
    let store = open(&one, &bucket, "a").unwrap();
    let id = Id([1; 16]);
    fs::rename(bucket.file("a"), bucket.file("moved")).unwrap();
    assert!(matches!(keys::verify(&store, id, Look::All), Err(StoreError::Io(_))));
    assert!(store.blobs().check().is_err());
    fs::rename(bucket.file("moved"), bucket.file("a")).unwrap();
    bucket.stop();
    assert!(matches!(keys::verify(&store, id, Look::Sizes), Err(StoreError::Io(_))));
    let piece = Piece { index: 0, bytes: b"other", digest: *blake3::hash(b"other").as_bytes() };
    assert!(matches!(keys::put_part(&store, id, &piece, &NO_BOUNDS), Err(StoreError::Io(_))));
    assert!(refusal(open(&folder.path().join("late"), &bucket, "e")).contains("s3://bucket/e"));
    bucket.go_on();
    until("the store is asked again", || store.blobs().check().is_ok());
    assert_eq!(keys::verify(&store, id, Look::All).unwrap(), Vec::<u32>::new());
    drop(store);
    // If the database is lost, or older than the bucket, the bucket is not emptied.
    let before = bucket.objects();
    for name in ["refloat.redb", "keys", "jobs"] {
        let path = one.join(name);
        if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) }.unwrap();
    }
    assert!(refusal(open(&one, &bucket, "a")).contains("put refloat.redb back from a backup"));
    assert_eq!(bucket.objects(), before);
}

#[test]
fn an_object_that_was_altered_is_asked_for_again() {
    let bucket = Bucket::start();
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), &bucket, "a").unwrap();
    let id = Id([1; 16]);
    keys::open(&store, &record(id, 2), 0, &NO_BOUNDS).unwrap();
    put(&store, id, 0, b"zero");
    put(&store, id, 1, b"one");
    assert!(matches!(keys::seal(&store, id, None).unwrap(), Sealed::Done(_)));
    let object = |index: u32, bytes: &[u8]| {
        bucket.file(&format!("a/keys/{id}/{index}/{}", blake3::hash(bytes).to_hex()))
    };
    // An object with another length, with other bytes, and a missing one.
    for (alter, look) in
        [(Some(b"longer".as_slice()), Look::Sizes), (Some(b"eno"), Look::All), (None, Look::Sizes)]
    {
        match alter {
            Some(bytes) => fs::write(object(1, b"one"), bytes).unwrap(),
            None => fs::remove_file(object(1, b"one")).unwrap(),
        }
        assert_eq!(keys::verify(&store, id, look).unwrap(), [1]);
        assert!(keys::get(&store, id).unwrap().unwrap().damaged);
        assert_eq!(put(&store, id, 1, b"one"), Stored::New);
        assert!(matches!(keys::seal(&store, id, None).unwrap(), Sealed::Done(_)));
        assert_eq!(keys::verify(&store, id, Look::All).unwrap(), Vec::<u32>::new());
    }
}

#[test]
fn results_are_sent_from_memory_where_the_disk_takes_none() {
    let bucket = Bucket::start();
    let folder = tempfile::tempdir().unwrap();
    let result = Blob::Result(Id([1; 16]));
    let bytes = vec![7; 100_000];
    let absent = folder.path().join("absent");
    for (spool, is_file) in [(folder.path(), true), (absent.as_path(), false)] {
        let remote = bucket.blobs("a").with_spool(spool.to_owned());
        remote.claim(Id([9; 16]), false).or_else(|_| remote.claim(Id([9; 16]), true)).unwrap();
        remote.put(result, &bytes).unwrap();
        let source = remote.open(result, expected(&bytes)).unwrap();
        assert_eq!(matches!(source, Source::File(_)), is_file);
        assert_eq!(source.read().unwrap(), bytes);
        assert!(is_damaged(&remote.open(result, expected(b"others"))));
    }
}

#[test]
fn what_no_record_speaks_of_goes_and_nothing_else() {
    let bucket = Bucket::start();
    let folder = tempfile::tempdir().unwrap();
    let (id, gone) = (Id([1; 16]), Id([2; 16]));
    let store = open(folder.path(), &bucket, "a").unwrap();
    keys::open(&store, &record(id, 2), 0, &NO_BOUNDS).unwrap();
    put(&store, id, 0, b"zero");
    put(&store, id, 1, b"old");
    put(&store, id, 1, b"new");
    // A piece that is refused after its bytes were uploaded.
    let bounds = Bounds { bytes: 7, ..NO_BOUNDS };
    let piece = Piece { index: 0, bytes: b"longer", digest: *blake3::hash(b"longer").as_bytes() };
    assert!(matches!(keys::put_part(&store, id, &piece, &bounds).unwrap(), Stored::Over(_)));
    drop(store);
    // Objects that a killed server left, and objects of others or of a newer table.
    let digest = hex(blake3::hash(b"zero").as_bytes());
    let rubbish = [format!("a/keys/{id}/0/{}", hex(&[7; 32])), format!("a/keys/{id}/7/{digest}")];
    let strangers = [
        format!("a/keys/{gone}/0/{digest}"),
        format!("a/jobs/{gone}/input"),
        format!("a/jobs/{gone}/result"),
        format!("a/keys/{gone}/0/notes.txt"),
        format!("a/keys/{gone}/00/{digest}"),
        format!("a/jobs/{gone}/holiday.jpg"),
        "a/holiday.jpg".to_owned(),
        format!("b/jobs/{gone}/input"),
        format!("keys/{gone}/0/{digest}"),
    ];
    for object in rubbish.iter().chain(&strangers) {
        let file = bucket.file(object);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, b"zero").unwrap();
    }
    let store = open(folder.path(), &bucket, "a").unwrap();
    store.sweep().unwrap();
    let of = |index: u32, bytes: &[u8]| format!("a/keys/{id}/{index}/{}", blake3::hash(bytes).to_hex());
    let mut left = vec!["a/refloat-data.json".to_owned(), of(0, b"zero"), of(1, b"new")];
    left.extend(strangers.iter().cloned());
    left.sort();
    assert_eq!(bucket.objects(), left);
    // Rubbish goes while the server runs, too.
    put(&store, id, 1, b"newer");
    assert!(matches!(keys::put_part(&store, id, &piece, &bounds).unwrap(), Stored::Over(_)));
    assert!(bucket.objects().contains(&of(1, b"new")) && bucket.objects().contains(&of(0, b"longer")));
    store.sweep().unwrap();
    let left: Vec<String> = left
        .iter()
        .map(|object| if *object == of(1, b"new") { of(1, b"newer") } else { object.clone() })
        .collect();
    let mut now = bucket.objects();
    now.sort();
    let mut left = left;
    left.sort();
    assert_eq!(now, left);
    assert_eq!(keys::delete(&store, id, |_| true).unwrap(), keys::Deleted::Done);
    assert_eq!(bucket.objects().len(), strangers.len() + 1);
}

#[test]
fn nothing_that_is_recorded_goes_while_others_clear_up() {
    // In memory, where requests meet more often than on a disk.
    let objects = Arc::new(InMemory::new());
    let prefix = object_store::path::Path::from("a");
    let blobs = RemoteBlobs::new(Arc::clone(&objects) as Arc<dyn ObjectStore>, prefix, "memory".to_owned());
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_with(folder.path(), Arc::new(blobs.unwrap())).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for client in 1..3 {
                    for index in 0..2 {
                        store.blobs().suspect(Blob::KeyPart(Id([client; 16]), index));
                    }
                }
                store.sweep().unwrap();
            }
        });
        let uploaders: Vec<_> = (1..3)
            .map(|client| {
                let store = &store;
                scope.spawn(move || {
                    let id = Id([client; 16]);
                    for round in 0..30_u8 {
                        assert!(matches!(
                            keys::open(store, &record(id, 2), 0, &NO_BOUNDS).unwrap(),
                            Opened::New
                        ));
                        // The same bytes come and go and come again.
                        for bytes in [b"one".as_slice(), b"two", b"one"] {
                            assert_eq!(put(store, id, 0, bytes), Stored::New);
                        }
                        put(store, id, 1, &[round % 2]);
                        assert!(matches!(keys::seal(store, id, None).unwrap(), Sealed::Done(_)));
                        assert_eq!(keys::verify(store, id, Look::All).unwrap(), Vec::<u32>::new());
                        assert_eq!(keys::delete(store, id, |_| true).unwrap(), keys::Deleted::Done);
                    }
                })
            })
            .collect();
        let ended: Vec<_> = uploaders.into_iter().map(ScopedJoinHandle::join).collect();
        stop.store(true, Ordering::Relaxed);
        for ended in ended {
            ended.unwrap();
        }
    });
    store.sweep().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let left: Vec<String> =
        runtime.block_on(objects.list(None).map_ok(|meta| meta.location.to_string()).try_collect()).unwrap();
    assert_eq!(left, ["a/refloat-data.json"]);
}

const GATE: &str = "gate nand --keys @keys --in @a.ct --in @b.ct --out @c.ct";

#[test]
fn a_server_keeps_its_bytes_in_a_bucket() {
    let mut bucket = Bucket::start();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let variables: Vec<String> =
        bucket.environment().iter().map(|(name, value)| format!("export {name}='{value}'; ")).collect();
    let script = format!(
        "{}export REFLOAT__CLUSTER__BLOBS='{}'; exec \"$@\"",
        variables.concat(),
        Bucket::address("front")
    );
    let run = |line: &str| refloat(line, folder.path());
    ok(&run("--json keygen --preset toy-bool --allow-insecure --out @keys"));
    ok(&run("--json encrypt --key @keys --bits 0011 --out @a.ct"));
    ok(&run("--json encrypt --key @keys --bits 0101 --out @b.ct"));
    let server = Process::start_by(&data, &script);
    let nand = |server: &Process| run(&format!("{GATE} --server {} --token {TOKEN}", server.client.url("")));
    let right = |gate: &Output| {
        assert!(gate.status.success(), "{}", String::from_utf8_lossy(&gate.stderr));
        ok(&run("--json decrypt --key @keys --in @c.ct --out @c.csv"));
        assert_eq!(fs::read_to_string(folder.path().join("c.csv")).unwrap(), "1\n1\n1\n0\n");
    };
    right(&nand(&server));
    // The bucket has all the bytes, and the folder only the table.
    let there = |end: &str| bucket.objects().iter().filter(|object| object.ends_with(end)).count();
    let pieces = bucket.objects().iter().filter(|object| object.starts_with("front/keys/")).count();
    assert_eq!((pieces, there("/result"), there("/input")), (2, 1, 0));
    for name in ["keys", "jobs"] {
        assert_eq!(fs::read_dir(data.join(name)).unwrap().count(), 0);
    }
    // Killed and restarted, the server has its keys; without the bucket, it says where they are.
    server.kill();
    let said = run(&format!("serve --listen 127.0.0.1:0 --data {}", data.display()));
    assert!(!said.status.success() && String::from_utf8_lossy(&said.stderr).contains("cluster.blobs"));
    let server = Process::start_by(&data, &script);
    right(&nand(&server));
    assert_eq!(there("/result"), 2);
    // While the bucket does not answer nothing is taken in, and nothing is lost.
    let key = bucket.objects().iter().find_map(|object| {
        object.strip_prefix("front/keys/").and_then(|rest| rest.split('/').next().map(str::to_owned))
    });
    let path = format!("/v1/keys/{}", key.unwrap());
    server.client.get(&path).expect(200);
    bucket.stop();
    let answer = server.client.get(&path);
    answer.problem(503, "STORAGE_FAILED");
    assert_eq!(answer.header("retry-after"), "5");
    server.client.get("/readyz").problem(503, "STORAGE_FAILED");
    bucket.go_on();
    until("the store is asked again", || server.client.get("/readyz").status == 200);
    assert_eq!(server.client.get(&path).expect(200).json()["state"], "sealed");
    right(&nand(&server));
    assert!(server.terminate());
}
