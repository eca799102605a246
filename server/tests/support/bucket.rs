//! A server that speaks the language of S3, with a bucket in a folder.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use object_store::aws::{AmazonS3Builder, S3ConditionalPut};
use object_store::path::Path;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use refloat_server::blobs::RemoteBlobs;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tokio::runtime::Runtime;

const NAME: &str = "bucket";
const ACCESS_KEY: &str = "refloat";
const SECRET_KEY: &str = "a secret of the object store";

/// A bucket, and the server in front of it until that is stopped.
pub struct Bucket {
    folder: tempfile::TempDir,
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Bucket {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(NAME)).unwrap();
        let address = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
        let mut this = Self { folder, address, runtime: None };
        this.go_on();
        this
    }

    /// Starts the server again at the same address.
    pub fn go_on(&mut self) {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mut service = S3ServiceBuilder::new(s3s_fs::FileSystem::new(self.folder.path()).unwrap());
        service.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
        let service = service.build();
        let listener = runtime.block_on(tokio::net::TcpListener::bind(self.address)).unwrap();
        runtime.spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let service = service.clone();
                tokio::spawn(async move {
                    let _ = Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(socket), service)
                        .await;
                });
            }
        });
        self.runtime = Some(runtime);
    }

    /// Stops the server; the objects stay.
    pub fn stop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    /// The file that the server makes of an object.
    pub fn file(&self, object: &str) -> PathBuf {
        self.folder.path().join(NAME).join(object)
    }

    /// Names of all objects, in order.
    pub fn objects(&self) -> Vec<String> {
        fn collect(folder: &std::path::Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    collect(&entry.path(), found);
                } else {
                    found.push(entry.path());
                }
            }
        }
        let root = self.file("");
        let mut found = Vec::new();
        collect(&root, &mut found);
        let name = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        let mut names: Vec<String> = found.iter().map(name).collect();
        names.sort();
        names
    }

    /// Environment variables for programs that use the bucket.
    pub fn environment(&self) -> [(&'static str, String); 4] {
        [
            ("AWS_ENDPOINT", format!("http://{}", self.address)),
            ("AWS_REGION", "nowhere-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", ACCESS_KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY.to_owned()),
        ]
    }

    /// The setting `cluster.blobs` of the front that has a prefix.
    pub fn address(prefix: &str) -> String {
        format!("s3://{NAME}/{prefix}")
    }

    /// The bytes below a prefix, as a front or worker has them.
    pub fn blobs(&self, prefix: &str) -> RemoteBlobs {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let backoff = BackoffConfig { init_backoff: Duration::from_millis(10), ..BackoffConfig::default() };
        let store = AmazonS3Builder::new()
            .with_endpoint(format!("http://{}", self.address))
            .with_allow_http(true)
            .with_region("nowhere-1")
            .with_access_key_id(ACCESS_KEY)
            .with_secret_access_key(SECRET_KEY)
            .with_bucket_name(NAME)
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            // As often as a server does, but sooner: a store that refuses an upload may close connections that are idle.
            .with_retry(RetryConfig { backoff, max_retries: 2, ..RetryConfig::default() })
            .build()
            .unwrap();
        let store: Arc<dyn ObjectStore> = Arc::new(store);
        RemoteBlobs::new(store, Path::from(prefix), Self::address(prefix)).unwrap()
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.stop();
    }
}
