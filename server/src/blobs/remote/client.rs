//! A client of an object store for code that blocks: requests run on threads of their own.

use std::fs::File;
use std::future::Future;
use std::io::{self, Write};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path;
use object_store::{
    ClientConfigKey, Error, ObjectStore, ObjectStoreExt, PutMode, PutPayload, PutResult, RetryConfig,
};

use super::super::Unreachable;
use crate::config::bucket_and_prefix;
use crate::own_runtime::OwnRuntime;

/// How long a store may be silent before a request fails; callers try again.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lowest rate of an upload: a store says nothing before it has all bytes, so longer uploads get more time.
const BYTES_PER_SECOND: u64 = 64 << 10;

/// How long a failing request is repeated before the caller hears of it.
const REPEATED: Duration = Duration::from_secs(5);

/// Uploads of an object that may be cut off before the last try.
const CUT_OFF: usize = 3;

/// How long a store that could not be reached is left alone.
const REST: Duration = Duration::from_secs(3);

/// What was found under a name.
pub enum Found<T> {
    /// Nothing.
    Nothing,
    /// At most the expected number of bytes.
    Bytes(T),
    /// An object of this length, which is not the expected one.
    OtherLength(u64),
}

/// A store of objects.
pub struct Client {
    /// First, so that it is dropped first.
    runtime: OwnRuntime,
    objects: Arc<dyn ObjectStore>,
    shown: String,
    /// How long the store may be silent.
    patience: Duration,
    /// How long it is left alone after that.
    rest: Duration,
    /// Until when the store is left alone, and why.
    rests: Mutex<Option<(Instant, String)>>,
    failed_last: Mutex<Option<Instant>>,
}

/// The bucket of `s3://bucket/prefix`, and the prefix.
pub fn s3(address: &str) -> io::Result<(Arc<dyn ObjectStore>, Path)> {
    let bad = |what: String| io::Error::from(Unreachable(format!("cluster.blobs = {address:?}: {what}")));
    let (bucket, prefix) = bucket_and_prefix(address)
        .ok_or_else(|| bad("an object store is s3://bucket or s3://bucket/prefix".to_owned()))?;
    let prefix = Path::parse(prefix).map_err(|error| bad(error.to_string()))?;
    // Another part of the program may have installed a provider already; all of them install this one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        // Time limits depend on the number of bytes, and are kept here instead.
        .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), "1 day")
        .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::ConnectTimeout), "5 seconds")
        .with_retry(RetryConfig { max_retries: 2, retry_timeout: REPEATED, ..RetryConfig::default() });
    if builder.get_config_value(&AmazonS3ConfigKey::Endpoint).is_some_and(|endpoint| is_loopback(&endpoint)) {
        builder = builder.with_allow_http(true);
    }
    let store = builder.build().map_err(|error| bad(error.to_string()))?;
    Ok((Arc::new(store), prefix))
}

/// Whether an address without encryption stays on this machine.
fn is_loopback(endpoint: &str) -> bool {
    let Some(rest) = endpoint.strip_prefix("http://") else { return false };
    let host = rest.split('/').next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    !rest.contains('@') && matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

impl Client {
    pub fn new(objects: Arc<dyn ObjectStore>, shown: String) -> io::Result<Self> {
        Ok(Self {
            runtime: OwnRuntime::new("objects", 2)?,
            objects,
            shown,
            patience: PATIENCE,
            rest: REST,
            rests: Mutex::new(None),
            failed_last: Mutex::new(None),
        })
    }

    /// What errors call the store.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Stores an object; `false` if there was one and `mode` asks for none.
    pub fn put(&self, location: &Path, bytes: &[u8], mode: PutMode) -> io::Result<bool> {
        let outcome = self.send(location, bytes, mode)?;
        self.stored(outcome)
    }

    fn send(&self, location: &Path, bytes: &[u8], mode: PutMode) -> io::Result<Result<PutResult, Failure>> {
        let (objects, to) = (Arc::clone(&self.objects), location.clone());
        let payload = PutPayload::from(bytes.to_vec());
        let patience = self.patience + Duration::from_secs(bytes.len() as u64 / BYTES_PER_SECOND);
        let put = async move { objects.put_opts(&to, payload, mode.into()).await };
        self.wait(within(patience, put))
    }

    fn stored(&self, outcome: Result<PutResult, Failure>) -> io::Result<bool> {
        match outcome {
            Ok(_) => Ok(true),
            Err(Failure::Store(Error::AlreadyExists { .. } | Error::Precondition { .. })) => Ok(false),
            Err(failure) => Err(self.failed(&failure)),
        }
    }

    /// Stores an object where there is none; `false` if there is one: another, or this one if the answer was lost. A store that refuses may
    /// close the connection while bytes are still on their way, and its answer is lost, so the object is looked up. If it is absent, the
    /// connection was closed before the upload, which is repeated: every idle connection may have been closed meanwhile.
    pub fn create(&self, location: &Path, bytes: &[u8]) -> io::Result<bool> {
        for _ in 0..CUT_OFF {
            match self.send(location, bytes, PutMode::Create)? {
                Err(Failure::Store(error)) if is_cut_off(&error) => {
                    if self.length(location)?.is_some() {
                        return Ok(false);
                    }
                }
                outcome => return self.stored(outcome),
            }
        }
        self.stored(self.send(location, bytes, PutMode::Create)?)
    }

    /// The bytes of an object, if there are `most` or fewer of them.
    pub fn get(&self, location: &Path, most: u64) -> io::Result<Found<Vec<u8>>> {
        let (objects, from, patience) = (Arc::clone(&self.objects), location.clone(), self.patience);
        let read = self.wait(async move {
            let found = within(patience, objects.get(&from)).await?;
            if found.meta.size > most {
                return Ok(Err(found.meta.size));
            }
            let mut bytes = Vec::with_capacity(found.meta.size as usize);
            let mut pieces = found.into_stream();
            while let Some(piece) = within(patience, pieces.try_next()).await? {
                bytes.extend_from_slice(&piece);
            }
            Ok(Ok(bytes))
        })?;
        self.found(read)
    }

    /// Writes an object of `length` bytes into a file, and returns its BLAKE3 hash.
    pub fn copy(&self, location: &Path, length: u64, file: &mut File) -> io::Result<Found<blake3::Hash>> {
        let (objects, from, patience) = (Arc::clone(&self.objects), location.clone(), self.patience);
        let (mut file, mut hasher) = (file.try_clone()?, blake3::Hasher::new());
        let read = self.wait(async move {
            let found = within(patience, objects.get(&from)).await?;
            if found.meta.size != length {
                return Ok(Ok(Err(found.meta.size)));
            }
            let mut pieces = found.into_stream();
            while let Some(piece) = within(patience, pieces.try_next()).await? {
                hasher.update(&piece);
                if let Err(error) = file.write_all(&piece) {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(Ok(hasher.finalize())))
        })?;
        match read {
            Ok(Err(error)) => Err(error),
            Ok(Ok(read)) => self.found(Ok(read)),
            Err(failure) => self.found(Err(failure)),
        }
    }

    fn found<T>(&self, read: Result<Result<T, u64>, Failure>) -> io::Result<Found<T>> {
        match read {
            Ok(Ok(bytes)) => Ok(Found::Bytes(bytes)),
            Ok(Err(length)) => Ok(Found::OtherLength(length)),
            Err(Failure::Store(Error::NotFound { .. })) => Ok(Found::Nothing),
            Err(failure) => Err(self.failed(&failure)),
        }
    }

    /// The number of bytes of an object, if there is one.
    pub fn length(&self, location: &Path) -> io::Result<Option<u64>> {
        let (objects, of, patience) = (Arc::clone(&self.objects), location.clone(), self.patience);
        match self.wait(async move { within(patience, objects.head(&of)).await })? {
            Ok(meta) => Ok(Some(meta.size)),
            Err(Failure::Store(Error::NotFound { .. })) => Ok(None),
            Err(failure) => Err(self.failed(&failure)),
        }
    }

    /// The objects below a prefix, with their lengths.
    pub fn list(&self, below: Option<&Path>) -> io::Result<Vec<(Path, u64)>> {
        self.first(below, usize::MAX)
    }

    /// Up to `most` of the objects below a prefix, with their lengths.
    pub fn first(&self, below: Option<&Path>, most: usize) -> io::Result<Vec<(Path, u64)>> {
        let (mut listed, patience) = (self.objects.list(below).take(most), self.patience);
        let found = self.wait(async move {
            let mut found = Vec::new();
            while let Some(meta) = within(patience, listed.try_next()).await? {
                found.push((meta.location, meta.size));
            }
            Ok(found)
        })?;
        found.map_err(|failure| self.failed(&failure))
    }

    /// Removes objects; it is not an error if one is absent.
    pub fn remove(&self, gone: Vec<Path>) -> io::Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let patience = self.patience;
        let mut removed = self.objects.delete_stream(stream::iter(gone.into_iter().map(Ok)).boxed());
        let outcome = self.wait(async move {
            let mut outcome = Ok(());
            loop {
                match within(patience, removed.try_next()).await {
                    Ok(Some(_)) | Err(Failure::Store(Error::NotFound { .. })) => {}
                    Ok(None) => return outcome,
                    Err(Failure::Slow) => return Err(Failure::Slow),
                    Err(failure) => outcome = Err(failure),
                }
            }
        })?;
        outcome.map_err(|failure| self.failed(&failure))
    }

    /// When a request failed last.
    pub fn failed_last(&self) -> Option<Instant> {
        *self.failed_last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks until a request is done. While a store that was silent or out of reach is left alone, requests fail at once, so that not
    /// every caller waits for it.
    fn wait<T: Send + 'static>(&self, request: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
        if let Some((until, why)) = &*self.rests()
            && Instant::now() < *until
        {
            return Err(Unreachable(why.clone()).into());
        }
        let ended = || Unreachable(format!("{}: a request ended without a response", self.shown));
        let (answer, answered) = sync_channel(1);
        self.runtime.spawn(async move {
            let _ = answer.send(request.await);
        });
        answered.recv().map_err(|_| ended().into())
    }

    fn rests(&self) -> MutexGuard<'_, Option<(Instant, String)>> {
        self.rests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, failure: &Failure) -> io::Error {
        let now = Instant::now();
        *self.failed_last.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        let (why, is_silent) = match failure {
            Failure::Slow => ("no response within the time allowed".to_owned(), true),
            Failure::Store(error) => {
                tracing::debug!(%error, "a request for an object has failed");
                // Any other error may concern this object alone.
                (cause(error), is_silent(error))
            }
        };
        let why = format!("{}: {why}", self.shown);
        if is_silent {
            *self.rests() = Some((now + self.rest, why.clone()));
        }
        Unreachable(why).into()
    }
}

/// Why a request failed.
enum Failure {
    /// The store returned an error, or could not be asked.
    Store(Error),
    /// The store was silent for too long.
    Slow,
}

/// The outcome of a step of a request, or `Failure::Slow` after `patience`.
async fn within<T>(patience: Duration, step: impl Future<Output = Result<T, Error>>) -> Result<T, Failure> {
    match tokio::time::timeout(patience, step).await {
        Ok(outcome) => outcome.map_err(Failure::Store),
        Err(_) => Err(Failure::Slow),
    }
}

/// Whether a request could not connect, or timed out.
fn is_silent(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(http_kind(error), Some(HttpErrorKind::Connect | HttpErrorKind::Timeout))
}

/// Whether the connection was closed in the middle of a request.
fn is_cut_off(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(http_kind(error), Some(HttpErrorKind::Request | HttpErrorKind::Interrupted))
}

/// What went wrong between here and the store, if anything did.
fn http_kind(error: &(dyn std::error::Error + 'static)) -> Option<HttpErrorKind> {
    let mut each = Some(error);
    while let Some(error) = each {
        if let Some(error) = error.downcast_ref::<HttpError>() {
            return Some(error.kind());
        }
        each = error.source();
    }
    None
}

/// The innermost cause of an error, in words that are the same each time: no names of objects, times or numbers of requests.
fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let text = innermost.to_string();
    // Details in XML follow.
    let text = text.split('<').next().unwrap_or_default().trim_end_matches([' ', ':']);
    text.chars().filter(|letter| !letter.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_store_that_is_silent_is_left_alone_for_a_while() {
        // Takes every connection and says nothing.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let builder = AmazonS3Builder::new()
            .with_bucket_name("bucket")
            .with_endpoint(endpoint)
            .with_allow_http(true)
            .with_access_key_id("somebody")
            .with_secret_access_key("nothing");
        let new = || {
            let objects = Arc::new(builder.clone().build().unwrap());
            let mut client = Client::new(objects, "s3://bucket".to_owned()).unwrap();
            (client.patience, client.rest) = (Duration::from_millis(50), Duration::from_hours(1));
            client
        };
        let _ = rustls::crypto::ring::default_provider().install_default();
        let at = Path::from("object");
        let ask: [fn(&Client, &Path) -> io::Error; 5] = [
            |client, at| client.put(at, b"bytes", PutMode::Create).unwrap_err(),
            |client, at| client.get(at, 10).err().unwrap(),
            |client, at| client.length(at).unwrap_err(),
            |client, at| client.list(Some(at)).unwrap_err(),
            |client, at| client.remove(vec![at.clone()]).unwrap_err(),
        ];
        for ask in ask {
            let client = new();
            let error = ask(&client, &at);
            assert!(Unreachable::is(&error), "{error}");
            assert_eq!(error.to_string(), "s3://bucket: no response within the time allowed");
            // The next request fails without asking the store.
            let failed = client.failed_last();
            assert!(failed.is_some());
            assert_eq!(client.length(&at).unwrap_err().to_string(), error.to_string());
            assert_eq!(client.failed_last(), failed);
        }
    }

    /// A store that reads the head of a request and closes the connection: without a word for PUT, and after `answer` for HEAD.
    fn closes_early(answer: &'static str) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let mut socket = socket.unwrap();
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && socket.read(&mut byte).unwrap_or(0) == 1 {
                    head.push(byte[0]);
                }
                if head.starts_with(b"HEAD") {
                    let _ = socket.write_all(answer.as_bytes());
                }
            }
        });
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = AmazonS3Builder::new()
            .with_bucket_name("bucket")
            .with_endpoint(endpoint)
            .with_allow_http(true)
            .with_access_key_id("somebody")
            .with_secret_access_key("nothing")
            .with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() });
        Client::new(Arc::new(builder.build().unwrap()), "s3://bucket".to_owned()).unwrap()
    }

    #[test]
    fn a_refusal_that_is_lost_with_the_connection_is_looked_up() {
        let at = Path::from("object");
        let bytes = vec![7; 10_000_000];
        let there = closes_early(
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"e\"\r\nLast-Modified: Sat, 28 Nov 2026 00:00:00 GMT\r\nConnection: close\r\n\r\n",
        );
        assert!(!there.create(&at, &bytes).unwrap());
        // `put` reports what the store said. That an object is there does not mean that it was overwritten.
        assert!(Unreachable::is(&there.put(&at, &bytes, PutMode::Create).unwrap_err()));
        assert!(Unreachable::is(&there.put(&at, &bytes, PutMode::Overwrite).unwrap_err()));
        let absent = closes_early("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        assert!(Unreachable::is(&absent.create(&at, &bytes).unwrap_err()));
    }

    #[test]
    fn an_address_without_encryption_is_for_this_machine_alone() {
        for endpoint in
            ["http://localhost:9000", "http://127.0.0.1", "http://127.0.0.1:9000/", "http://[::1]:9000"]
        {
            assert!(is_loopback(endpoint), "{endpoint}");
        }
        for endpoint in [
            "https://localhost",
            "http://localhost.example",
            "http://10.0.0.1:9000",
            "http://127.0.0.1.example",
            "localhost",
        ] {
            assert!(!is_loopback(endpoint), "{endpoint}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for (address, names) in [
            ("", "s3://bucket"),
            ("s3://", "s3://bucket"),
            ("s3:///a", "s3://bucket"),
            ("gs://a", "s3://bucket"),
            ("s3://a/b//c", "b//c"),
        ] {
            let error = s3(address).err().unwrap().to_string();
            assert!(
                error.starts_with(&format!("cluster.blobs = {address:?}")) && error.contains(names),
                "{error}"
            );
        }
    }
}
