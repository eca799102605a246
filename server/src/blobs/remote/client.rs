//! Objects, for code that waits: requests run on threads of their own.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use object_store::path::Path;
use object_store::{ClientConfigKey, Error, ObjectStore, ObjectStoreExt, PutMode, PutPayload, RetryConfig};
use tokio::runtime::{Builder, Runtime};

use super::super::Away;

/// So long a request takes at most; whoever asked tries it again.
const PATIENCE: &str = "60 seconds";

/// So long a request that fails is repeated before whoever asked hears of it.
const REPEATED: Duration = Duration::from_secs(10);

/// What was found under a name.
pub enum Found {
    /// Nothing.
    Nothing,
    /// Bytes of the expected number, or of up to it.
    Bytes(Vec<u8>),
    /// So many bytes, which are not the expected number.
    OtherLength(u64),
}

/// A store of objects.
pub struct Client {
    objects: Arc<dyn ObjectStore>,
    shown: String,
    /// Dropped without waiting for what is under way.
    runtime: Option<Runtime>,
}

/// The bucket of `s3://bucket/prefix`, and the prefix.
pub fn s3(address: &str) -> io::Result<(Arc<dyn ObjectStore>, Path)> {
    let bad = |what: String| io::Error::other(format!("cluster.blobs = {address:?}: {what}"));
    let (bucket, prefix) = address
        .strip_prefix("s3://")
        .map(|rest| rest.split_once('/').unwrap_or((rest, "")))
        .filter(|(bucket, _)| !bucket.is_empty())
        .ok_or_else(|| bad("an object store is s3://bucket or s3://bucket/prefix".to_owned()))?;
    let prefix = Path::parse(prefix.trim_end_matches('/')).map_err(|error| bad(error.to_string()))?;
    // Another part of the program may have chosen already, and all choose this one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), PATIENCE)
        .with_retry(RetryConfig { max_retries: 3, retry_timeout: REPEATED, ..RetryConfig::default() });
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
    matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

impl Client {
    pub fn new(objects: Arc<dyn ObjectStore>, shown: String) -> io::Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(2).thread_name("objects").enable_all().build()?;
        Ok(Self { objects, shown, runtime: Some(runtime) })
    }

    /// What errors call it.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Stores an object; `false` if there was one and was to be none.
    pub fn put(&self, location: &Path, bytes: &[u8], mode: PutMode) -> io::Result<bool> {
        let (objects, to) = (Arc::clone(&self.objects), location.clone());
        let payload = PutPayload::from(bytes.to_vec());
        match self.wait(async move { objects.put_opts(&to, payload, mode.into()).await })? {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// The bytes of an object, if there are `most` or fewer of them.
    pub fn get(&self, location: &Path, most: u64) -> io::Result<Found> {
        let (objects, from) = (Arc::clone(&self.objects), location.clone());
        let read = self.wait(async move {
            let found = objects.get(&from).await?;
            let length = found.meta.size;
            Ok(if length > most { Err(length) } else { Ok(found.bytes().await?) })
        })?;
        match read {
            Ok(Ok(bytes)) => Ok(Found::Bytes(bytes.into())),
            Ok(Err(length)) => Ok(Found::OtherLength(length)),
            Err(Error::NotFound { .. }) => Ok(Found::Nothing),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// How many bytes an object has.
    pub fn length(&self, location: &Path) -> io::Result<Option<u64>> {
        let (objects, of) = (Arc::clone(&self.objects), location.clone());
        match self.wait(async move { objects.head(&of).await })? {
            Ok(meta) => Ok(Some(meta.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// The objects below a prefix.
    pub fn list(&self, below: Option<&Path>) -> io::Result<Vec<Path>> {
        let listed = self.objects.list(below).map_ok(|meta| meta.location).try_collect();
        self.wait(listed)?.map_err(|error| self.failed(&error))
    }

    /// One of the objects below a prefix.
    pub fn first(&self, below: Option<&Path>) -> io::Result<Option<Path>> {
        let mut listed = self.objects.list(below);
        let first = self.wait(async move { listed.next().await })?;
        first.transpose().map(|meta| meta.map(|meta| meta.location)).map_err(|error| self.failed(&error))
    }

    /// Removes objects; that one is not there is no error.
    pub fn remove(&self, gone: Vec<Path>) -> io::Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let removed = self.objects.delete_stream(stream::iter(gone.into_iter().map(Ok)).boxed());
        let outcomes: Vec<_> = self.wait(removed.collect())?;
        let failure = outcomes.into_iter().find_map(|outcome| match outcome {
            Ok(_) | Err(Error::NotFound { .. }) => None,
            Err(error) => Some(error),
        });
        failure.map_or(Ok(()), |error| Err(self.failed(&error)))
    }

    /// What a request gives, on a thread that may wait.
    fn wait<T: Send + 'static>(&self, request: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
        let ended =
            || io::Error::from(Away(format!("{}: a request has ended without an answer", self.shown)));
        let (answer, answered) = sync_channel(1);
        let runtime = self.runtime.as_ref().ok_or_else(ended)?;
        runtime.spawn(async move {
            let _ = answer.send(request.await);
        });
        answered.recv().map_err(|_| ended())
    }

    fn failed(&self, error: &Error) -> io::Error {
        tracing::debug!(%error, "a request for an object has failed");
        Away(format!("{}: {}", self.shown, cause(error))).into()
    }
}

/// What is behind an error, in words that are the same each time: no names of objects, times and numbers of requests.
fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let text = innermost.to_string();
    // The store says more of it, in XML.
    let text = text.split('<').next().unwrap_or_default().trim_end_matches([' ', ':']);
    text.chars().filter(|letter| !letter.is_control()).take(200).collect()
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
