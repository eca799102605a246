//! `refloat serve`.

use std::fmt::Display;
use std::io::{BufRead, IsTerminal, Read};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio::task::JoinHandle;
use toml::{Table, Value};
use tracing_subscriber::filter::LevelFilter;
use zeroize::Zeroizing;

use super::failure::Failure;
use super::output::{Output, bytes};
#[cfg(feature = "cluster")]
use crate::cluster::worker::{End, Worker};
#[cfg(feature = "cluster")]
use crate::cluster::{Slots, health};
use crate::config::{Config, LogFormat, LogLevel, Role, api_key_hash_of, strays};
#[cfg(feature = "cluster")]
use crate::dispatch::nats::Addresses;
use crate::engines::Engines;
use crate::registry::{Memory, Registry, SetFilter};
#[cfg(feature = "cluster")]
use crate::system::signals::survive_file_size_limit;
use crate::system::signals::{Ending, Signals};
use crate::{Server, service, settings};

/// How often a worker checks whether it has been drained.
#[cfg(feature = "cluster")]
const LOOK: Duration = Duration::from_millis(200);

/// Most bytes read from a line with a secret; more than any secret may have.
const SECRET_LINE: u64 = 4096;

const EXAMPLES: &str = "\
Settings come from flags; where these say nothing, from environment variables REFLOAT__SECTION__KEY
(REFLOAT__LIMITS__MAX_QUEUED=16); then from a TOML file with sections [server] [access] [storage]
[limits] [compute] [cluster] [log]; then from defaults.
Examples:
  refloat serve
  refloat serve --allow-insecure --data ./data          offers the toy sets too
  refloat serve --config refloat.toml --print-config
  umask 077; openssl rand -hex 32 | tee api.key | refloat serve --hash-api-key";

/// Arguments of `refloat serve`.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// TOML file with settings.
    #[arg(long, value_name = "FILE", env = "REFLOAT_CONFIG")]
    config: Option<PathBuf>,
    /// Address and port to listen on [default: 127.0.0.1:7878].
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Folder for keys and jobs.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder of the built demo.
    #[arg(long, value_name = "DIR")]
    demo: Option<PathBuf>,
    /// Offers parameter sets that protect nothing, to play with.
    #[arg(long)]
    allow_insecure: bool,
    /// Allows an address that other machines can reach, without transport encryption.
    #[arg(long)]
    insecure_listen: bool,
    /// A web origin whose pages may use the server, such as <http://localhost:5173>; may be repeated.
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// Threads for homomorphic evaluation [default: all].
    #[arg(long)]
    threads: Option<u16>,
    /// Jobs that may wait [default: 64].
    #[arg(long)]
    max_queued: Option<u32>,
    /// Bytes of memory for evaluation keys [default: half of what the machine or the container has].
    #[arg(long)]
    key_cache_bytes: Option<u64>,
    /// GiB of memory for keys and jobs together: what the largest job works in is set aside, and keys have the rest. Keys
    /// that do not fit are read from their files as a job uses them, where the set can do that.
    #[arg(long, value_name = "GIB", conflicts_with = "key_cache_bytes", value_parser = clap::value_parser!(u16).range(1..))]
    memory: Option<u16>,
    /// What this process does: everything, answering requests, or running jobs for a front [default: all].
    #[arg(long, value_name = "ROLE")]
    role: Option<Role>,
    /// Where NATS is, through which a front and its workers reach each other: <nats://host:4222>.
    #[arg(long, value_name = "URL")]
    nats: Option<String>,
    /// How much is logged [default: info].
    #[arg(long)]
    log_level: Option<LogLevel>,
    /// How it is logged [default: text].
    #[arg(long)]
    log_format: Option<LogFormat>,
    /// Prints the settings that would be used, each with its unit, default and meaning, and ends.
    #[arg(long)]
    print_config: bool,
    /// Reads the secret of an API key from standard input, prints what `[[access.api_keys]]` has as hash, and ends.
    #[arg(long)]
    hash_api_key: bool,
}

/// Runs the server until it is told to stop.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    if arguments.hash_api_key {
        return hash_api_key(output);
    }
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let environment: Vec<(String, String)> = environment.collect();
    let strays = strays(environment.iter().map(|(name, _)| name.as_str())).join(", ");
    let config = Config::load(arguments.config.as_deref(), environment, flags(arguments, registry)?)
        .map_err(|error| Failure { code: "CONFIG".to_owned(), detail: error.to_string() })?;
    if arguments.print_config {
        let text = settings::explained(&config).map_err(|error| Failure::system(&error))?;
        return output.result(&config, || text);
    }
    start_log(&config);
    if !strays.is_empty() {
        tracing::warn!(
            variables = strays,
            "these environment variables set nothing: settings are REFLOAT__SECTION__KEY"
        );
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Each thread may have a file of the data folder open; the server reserves file descriptors for that.
        .max_blocking_threads(48)
        .thread_name("http")
        .enable_all()
        .build()
        .map_err(|error| Failure::system(&error))?;
    runtime.block_on(async {
        // Before anything is begun that has to end in order.
        let signals = Signals::listen().map_err(|error| Failure::system(&error))?;
        let engines = engines(&config, registry)?;
        if config.cluster.role == Role::Worker {
            return work(config, engines, signals, output).await;
        }
        serve(config, engines, signals, output).await
    })
}

fn engines(config: &Config, registry: &Registry) -> Result<Engines, Failure> {
    let memory = Memory::Keys(service::cache::budget(config.compute.key_cache_bytes));
    Ok(Engines::with(registry, SetFilter { only: None, memory })?)
}

/// Runs jobs that fronts hand out, until the worker is told to stop.
#[cfg(feature = "cluster")]
async fn work(
    config: Config,
    engines: Engines,
    mut signals: Signals,
    output: &Output,
) -> Result<(), Failure> {
    let is_json = config.log.format == LogFormat::Json;
    let nats = config.cluster.nats.parse::<Addresses>().map_err(|error| Failure::start(&error))?.to_string();
    let data = match config.cluster.blobs.as_str() {
        "" => config.storage.data.display().to_string(),
        blobs => blobs.to_owned(),
    };
    let Slots { count: slots, threads } = Slots::of(&config, &engines);
    survive_file_size_limit().map_err(|error| Failure::system(&error))?;
    let health = health::listen(&config).await.map_err(|error| Failure::start(&error))?;
    let starting = tokio::task::spawn_blocking(|| Worker::start(config, engines));
    let worker = unless_told_to_end(starting, &mut signals).await?;
    let health = health.map(|(listener, address)| {
        tokio::spawn(health::serve(listener, worker.condition()));
        format!("http://{address}")
    });
    let backend = refloat::about().backend_u32;
    tracing::info!(
        nats,
        health,
        backend,
        slots,
        threads,
        data,
        version = env!("CARGO_PKG_VERSION"),
        "refloat works"
    );
    let value = json!({ "nats": nats, "backend": backend, "slots": slots, "threads": threads, "data": data, "health": health });
    let _ = output.result(&value, || started(is_json, &value, format!("refloat works for {nats}")));
    let ended = async {
        loop {
            if let Some(end) = worker.ended() {
                return end;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::select! {
        end = ended => match end {
            End::Drained => tracing::info!("drained"),
            End::Hung => return Err(Failure {
                code: "HUNG".to_owned(),
                detail: "a run of this worker hung; its job goes to another, and the worker ends to be started anew; look at the disks \
                         that it reads from, and raise cluster.hung_seconds if it was only slow"
                    .to_owned(),
            }),
        },
        _ = signals.told_to_end() => tracing::info!("stopping; a second signal stops at once"),
    }
    tokio::select! {
        _ = tokio::task::spawn_blocking(|| worker.stop()) => {}
        code = told_again(&mut signals) => std::process::exit(code),
    }
    tracing::info!("stopped");
    Ok(())
}

#[cfg(not(feature = "cluster"))]
#[expect(clippy::unused_async, reason = "as with the feature")]
async fn work(config: Config, _: Engines, _: Signals, _: &Output) -> Result<(), Failure> {
    config.check().map_err(|error| Failure { code: "CONFIG".to_owned(), detail: error.to_string() })
}

fn hash_api_key(output: &Output) -> Result<(), Failure> {
    let mut line = Zeroizing::new(String::new());
    let mut input = std::io::stdin().lock().take(SECRET_LINE);
    input.read_line(&mut line).map_err(|error| Failure::system(&error))?;
    let hash = api_key_hash_of(&line).map_err(Failure::usage)?;
    output.result(&json!({ "hash": hash }), || hash.clone())
}

async fn serve(
    config: Config,
    engines: Engines,
    mut signals: Signals,
    output: &Output,
) -> Result<(), Failure> {
    let backend = refloat::about().backend_u32;
    let threads = service::worker::threads(&config);
    let is_json = config.log.format == LogFormat::Json;
    let data = config.storage.data.display().to_string();
    // A task of its own, because it blocks where it opens the data folder.
    let starting = tokio::spawn(Server::start(config, engines));
    let server = unless_told_to_end(starting, &mut signals).await?;
    let url = format!("http://{}", server.address());
    tracing::info!(%url, backend, threads, data, version = env!("CARGO_PKG_VERSION"), "refloat serves");
    let value = json!({ "url": url, "backend": backend, "threads": threads, "data": data });
    if let Err(failure) = output.result(&value, || started(is_json, &value, format!("refloat serves {url}")))
    {
        // The log has the address too.
        tracing::warn!(reason = failure.detail, "the address is not on standard output");
    }
    signals.told_to_end().await;
    tracing::info!("stopping; a second signal stops at once");
    tokio::select! {
        () = server.stop() => {}
        code = told_again(&mut signals) => std::process::exit(code),
    }
    tracing::info!("stopped");
    Ok(())
}

/// What a task has started; a signal before that ends the process at once, with the exit code of the signal.
async fn unless_told_to_end<T, E: Display>(
    starting: JoinHandle<Result<T, E>>,
    signals: &mut Signals,
) -> Result<T, Failure> {
    let started = tokio::select! {
        // What has been started ends in order.
        biased;
        started = starting => started,
        ending = signals.told_to_end() => std::process::exit(ending.exit_code()),
    };
    started.map_err(|error| Failure::system(&error))?.map_err(|error| Failure::start(&error))
}

/// The time in which signals have one cause: a supervisor signals all processes of a group, and one of them, such as `npx`, passes its
/// signal on to this process.
const ONE_CAUSE: Duration = Duration::from_millis(500);

/// Waits for a second signal, by which the process ends at once, and returns its exit code. What comes within [`ONE_CAUSE`] is not a second
/// one, and the end of a terminal may be told twice.
async fn told_again(signals: &mut Signals) -> i32 {
    let together = async {
        loop {
            signals.told_to_end().await;
        }
    };
    let _ = tokio::time::timeout(ONE_CAUSE, together).await;
    loop {
        match signals.told_to_end().await {
            Ending::HangUp => {}
            ending => return ending.exit_code(),
        }
    }
}

/// The line on standard output at the start, in the format of the log, because both may go to one place.
fn started(is_json: bool, value: &serde_json::Value, words: String) -> String {
    if is_json { value.to_string() } else { words }
}

fn start_log(config: &Config) {
    let level = match config.log.level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let builder = tracing_subscriber::fmt()
        .with_max_level(level)
        // On a full disk, reporting that the log cannot be written would end the thread that logs.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    // A program that embeds this one may have a log already.
    let _ = match config.log.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}

/// The given flags, as a table of settings like that of a file.
fn flags(arguments: &Arguments, registry: &Registry) -> Result<Table, Failure> {
    let mut table = Table::new();
    let mut set = |section: &str, key: &str, value: Option<Value>| {
        if let (Some(value), Value::Table(entries)) =
            (value, table.entry(section).or_insert_with(|| Value::Table(Table::new())))
        {
            entries.insert(key.to_owned(), value);
        }
    };
    let path = |path: &PathBuf| Value::String(path.display().to_string());
    let yes = |flag: bool| flag.then_some(Value::Boolean(true));
    set("server", "listen", arguments.listen.map(|address| Value::String(address.to_string())));
    set("server", "demo", arguments.demo.as_ref().map(path));
    set("server", "allow_insecure", yes(arguments.allow_insecure));
    set("server", "insecure_listen", yes(arguments.insecure_listen));
    let origins: Vec<Value> = arguments.allow_origin.iter().cloned().map(Value::String).collect();
    set("server", "allowed_origins", (!origins.is_empty()).then_some(Value::Array(origins)));
    set("storage", "data", arguments.data.as_ref().map(path));
    set("compute", "threads", arguments.threads.map(|threads| Value::Integer(threads.into())));
    let key_bytes = match arguments.memory {
        Some(gib) => Some(key_memory(u64::from(gib) << 30, registry)?),
        None => arguments.key_cache_bytes,
    };
    set(
        "compute",
        "key_cache_bytes",
        key_bytes.map(|bytes| Value::Integer(bytes.min(i64::MAX as u64) as i64)),
    );
    set("cluster", "nats", arguments.nats.clone().map(Value::String));
    set("limits", "max_queued", arguments.max_queued.map(|jobs| Value::Integer(jobs.into())));
    let name = |text: String| Value::String(text.to_lowercase());
    set("cluster", "role", arguments.role.map(|role| name(format!("{role:?}"))));
    set("log", "level", arguments.log_level.map(|level| name(format!("{level:?}"))));
    set("log", "format", arguments.log_format.map(|format| name(format!("{format:?}"))));
    Ok(table)
}

/// The part of `memory` bytes that is left for keys beside a job.
fn key_memory(memory: u64, registry: &Registry) -> Result<u64, Failure> {
    let working = Engines::with(registry, SetFilter::all())?.largest_working();
    memory.checked_sub(working).filter(|&keys| keys > 0).ok_or_else(|| {
        Failure::usage(format!(
            "--memory {} ({}): a job works in up to {} beside its keys; give at least {}",
            memory >> 30,
            bytes(memory),
            bytes(working),
            (working >> 30) + 1
        ))
    })
}
