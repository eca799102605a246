//! The connection to NATS, the streams, and what is sent.

use std::fmt::Display;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::consumer::{AckPolicy, Consumer};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{self, RetentionPolicy, StorageType};
use async_nats::jetstream::{Context, context::traits::Publisher, kv};
use async_nats::{Client, ConnectOptions, Event};
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Settings;
use super::address::Addresses;
use crate::dispatch::Done;
use crate::id::Id;
use crate::own_runtime::OwnRuntime;
use crate::work::Work;

const WORK: &str = "REFLOAT_WORK";
const DONE: &str = "REFLOAT_DONE";
const STOP: &str = "refloat_stop";
/// Subject on which every worker is told which jobs are to stop. Workers that begin a job look it up.
pub const STOPPED: &str = "refloat.stop";

/// Subject on which a worker is told, by its name, to end its jobs and leave.
pub const DRAINED: &str = "refloat.drain";

/// Longest time of one request to NATS.
const PATIENCE: Duration = Duration::from_secs(5);

/// After this NATS forgets a worker that asks for nothing.
const FORGOTTEN: Duration = Duration::from_mins(5);

/// The oldest server that lets single messages expire.
const LEAST: (u64, u64) = (2, 11);

pub struct Link {
    /// First, so that it is dropped first.
    runtime: OwnRuntime,
    pub client: Client,
    jetstream: Context,
    pub settings: Settings,
    /// Where NATS is, without passwords.
    pub shown: String,
    /// The first thing that NATS did not let this account do, in the words of NATS.
    denied: Arc<Mutex<Option<String>>>,
}

impl Link {
    pub fn connect(settings: Settings) -> io::Result<Self> {
        let addresses: Addresses = settings.url.parse()?;
        let runtime = OwnRuntime::new("nats", 1)?;
        let url = addresses.to_string();
        let shown = url.clone();
        let denied = Arc::<Mutex<Option<String>>>::default();
        let told = Arc::clone(&denied);
        let mut options = ConnectOptions::new()
            .name(format!("refloat {}", env!("CARGO_PKG_VERSION")))
            .retry_on_initial_connect()
            // A silent server has to count as out of reach, so that time stands still, before leases run out.
            .ping_interval(Duration::from_secs(3))
            .custom_inbox_prefix(format!("_INBOX_{}", settings.role))
            .request_timeout(Some(PATIENCE))
            .event_callback(move |event| {
                let (url, told) = (url.clone(), Arc::clone(&told));
                async move {
                    if let Event::ServerError(error) = &event {
                        note_denial(&told, &error.to_string());
                    }
                    match event {
                        Event::Connected => tracing::info!(url, "connected to NATS"),
                        Event::Disconnected => {
                            tracing::warn!(url, "NATS does not answer; it is tried until it does");
                        }
                        // There is one for each attempt to connect.
                        Event::ClientError(error) => tracing::debug!(url, %error, "NATS"),
                        event => tracing::warn!(url, %event, "NATS"),
                    }
                }
            });
        if let Some((user, password)) = addresses.login().cloned() {
            options = options.user_and_password(user, password);
        }
        let client = runtime.block_on(async {
            if let Some(file) = &settings.credentials {
                options = options.credentials_file(file).await.map_err(|error| {
                    io::Error::new(error.kind(), format!("cluster.credentials = {}: {error}", file.display()))
                })?;
            }
            let connected = options.connect(addresses.servers()).await;
            connected.map_err(|error| io::Error::other(format!("cluster.nats = {shown:?}: {error}")))
        })?;
        // `jetstream::new` starts a task.
        let entered = runtime.enter();
        let mut jetstream = async_nats::jetstream::new(client.clone());
        jetstream.set_timeout(PATIENCE);
        drop(entered);
        Ok(Self { runtime, client, jetstream, settings, shown, denied })
    }

    /// Whether NATS can be reached now.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    /// Checks that NATS has let this account do all that it asked for.
    ///
    /// # Errors
    /// It has not.
    pub fn check_permissions(&self) -> io::Result<()> {
        let denied = self.denied.lock().unwrap_or_else(PoisonError::into_inner);
        denied.as_ref().map_or(Ok(()), |denied| {
            Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!(
                    "NATS at {} refuses the account of this {}: {denied}; connect with the account that has these permissions in \
                     server/deploy/nats.conf",
                    self.shown, self.settings.role
                ),
            ))
        })
    }

    /// Does something in the background, until the link is dropped.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(task);
    }

    /// Waits for an answer, up to three times `PATIENCE`.
    pub fn wait<T>(&self, what: &str, answer: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        self.wait_for(what, 3 * PATIENCE, answer)
    }

    /// Waits for an answer, up to `longest`.
    pub fn wait_for<T>(
        &self,
        what: &str,
        longest: Duration,
        answer: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        let late = || io::Error::new(io::ErrorKind::TimedOut, format!("NATS: {what}: no answer"));
        self.runtime
            .block_on(async { tokio::time::timeout(longest, answer).await.unwrap_or_else(|_| Err(late())) })
    }

    /// Makes the streams and the bucket, unless they are there. Workers are not allowed to.
    pub async fn make_streams(&self) -> io::Result<()> {
        self.check_version()?;
        let stream = |name: &str, subjects: &str| stream::Config {
            name: name.to_owned(),
            subjects: vec![subjects.to_owned()],
            retention: RetentionPolicy::WorkQueue,
            storage: StorageType::File,
            num_replicas: 1,
            duplicate_window: Duration::from_mins(2),
            ..Default::default()
        };
        let work = stream::Config { allow_message_ttl: true, ..stream(WORK, "refloat.work.*.*.*") };
        let done = stream::Config { max_age: Duration::from_hours(24), ..stream(DONE, "refloat.done.*") };
        for config in [work, done] {
            // A stream with an operator's own settings is kept as it is, except for its subjects, which were others in an older version.
            let subjects = config.subjects.clone();
            let made = self.jetstream.get_or_create_stream(config).await;
            let mut found = made.map_err(failed("make a stream"))?.cached_info().config.clone();
            if found.subjects != subjects {
                found.subjects = subjects;
                self.jetstream
                    .update_stream(found)
                    .await
                    .map_err(failed("change the subjects of a stream"))?;
            }
        }
        self.stopped().await.map(drop)
    }

    fn check_version(&self) -> io::Result<()> {
        let version = self.client.server_info().version;
        let mut numbers = version.split('.').map(|number| number.parse::<u64>().unwrap_or(0));
        let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if version.is_empty() || found >= LEAST {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "NATS at {} is nats-server {version}; refloat needs {}.{} or later",
            self.shown, LEAST.0, LEAST.1
        )))
    }

    async fn stopped(&self) -> io::Result<kv::Store> {
        if let Ok(store) = self.jetstream.get_key_value(STOP).await {
            return Ok(store);
        }
        let config = kv::Config {
            bucket: STOP.to_owned(),
            max_age: Duration::from_hours(1),
            storage: StorageType::File,
            ..Default::default()
        };
        self.jetstream.create_key_value(config).await.map_err(failed("make a bucket"))
    }

    /// Whether somebody has asked for a job to stop.
    pub async fn is_stopped(&self, job: Id) -> io::Result<bool> {
        let store =
            self.jetstream.get_key_value(STOP).await.map_err(failed("look up a job that is to stop"))?;
        let found = store.get(job.to_string()).await;
        found.map(|value| value.is_some()).map_err(failed("look up a job that is to stop"))
    }

    /// The queue of attempts for a worker.
    pub async fn attempts(&self, worker: &str) -> io::Result<Consumer<pull::Config>> {
        self.check_version()?;
        let name = format!("worker_{worker}");
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: self.work_subject(worker),
            ack_policy: AckPolicy::Explicit,
            // A worker acknowledges an attempt as soon as it takes it.
            ack_wait: 2 * PATIENCE,
            // A worker that starts anew has another name.
            inactive_threshold: FORGOTTEN,
            ..Default::default()
        };
        let stream = self.jetstream.get_stream(WORK).await.map_err(failed("find a stream"))?;
        stream.get_or_create_consumer(&name, config).await.map_err(failed("make a consumer"))
    }

    /// The queue of reports to a front; `anew` delivers all reports again that were not noted.
    pub async fn reports(&self, anew: bool) -> io::Result<Consumer<pull::Config>> {
        self.make_streams().await?;
        let name = format!("front_{}", self.settings.front);
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: self.done_subject(),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.settings.patience,
            max_ack_pending: 1000,
            ..Default::default()
        };
        let stream = self.jetstream.get_stream(DONE).await.map_err(failed("find a stream"))?;
        if anew {
            // There may be no such consumer.
            let _ = stream.delete_consumer(&name).await;
        }
        stream.get_or_create_consumer(&name, config).await.map_err(failed("make a consumer"))
    }

    pub fn publish(&self, worker: &str, work: &Work) -> io::Result<()> {
        let mut message = PublishMessage::build()
            .payload(encode(work)?)
            .ttl(self.settings.lease.max(Duration::from_secs(1)));
        // Keys that have just left memory may be loaded ahead again.
        if work.attempt != Work::WAKING {
            message = message.message_id(format!("{}.{}", work.job, work.attempt));
        }
        self.wait("offer an attempt", self.send(self.work_subject(worker), message))
    }

    pub fn report(&self, done: &Done) -> io::Result<()> {
        let message = PublishMessage::build().payload(encode(done)?);
        self.wait("report what came of an attempt", self.send(self.done_subject(), message))
    }

    pub fn cancel(&self, job: Id) -> io::Result<()> {
        let name = job.to_string();
        self.wait("stop a job", async {
            let store = self.stopped().await?;
            store.put(&name, Bytes::new()).await.map_err(failed("stop a job"))?;
            self.client.publish(STOPPED, name.clone().into()).await.map_err(failed("stop a job"))
        })
    }

    fn work_subject(&self, worker: &str) -> String {
        format!("refloat.work.{}.{}.{worker}", version(), self.settings.front)
    }

    fn done_subject(&self) -> String {
        format!("refloat.done.{}", self.settings.front)
    }

    pub fn sign_subject(&self) -> String {
        format!("refloat.sign.{}", self.settings.front)
    }

    pub fn alive_subject(&self) -> String {
        format!("refloat.alive.{}.{}", version(), self.settings.front)
    }

    pub fn front_subject(&self) -> String {
        format!("refloat.front.{}", self.settings.front)
    }

    /// Sends a message that need not be heard.
    pub fn tell(&self, subject: String, message: &impl Serialize) -> io::Result<()> {
        // Otherwise the message would wait, and be out of date when it is sent.
        if !self.is_connected() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let message = encode(message)?;
        self.wait("tell", async { self.client.publish(subject, message).await.map_err(failed("tell")) })
    }

    /// Sends something to a stream, which is made anew if it is gone.
    async fn send(&self, subject: String, message: PublishMessage) -> io::Result<()> {
        let attempt = || async {
            let sent =
                self.jetstream.publish_message(message.clone().outbound_message(subject.clone())).await;
            sent.map_err(failed("send"))?.await.map_err(failed("send")).map(drop)
        };
        if attempt().await.is_ok() {
            return Ok(());
        }
        self.make_streams().await?;
        attempt().await
    }
}

/// Keeps the first thing that NATS does not let an account do.
fn note_denial(denied: &Mutex<Option<String>>, error: &str) {
    if error.to_lowercase().contains("permissions violation") {
        denied.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| error.to_owned());
    }
}

/// This version, in a form that subjects can have.
fn version() -> String {
    env!("CARGO_PKG_VERSION").replace(['.', '+'], "_")
}

fn encode(message: &impl Serialize) -> io::Result<Bytes> {
    serde_json::to_vec(message).map(Bytes::from).map_err(io::Error::other)
}

/// Decodes a message; `None` if it cannot be decoded.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes)
        .inspect_err(|error| tracing::error!(%error, "a message that cannot be decoded; it is dropped"))
        .ok()
}

pub fn failed<E: Display>(what: &str) -> impl FnOnce(E) -> io::Error {
    move |error| io::Error::other(format!("NATS: {what}: {error}"))
}
