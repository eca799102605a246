//! `refloat cluster`: what operators of a front and its workers see, ask and plan.

mod plan;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;

use super::failure::Failure;
use super::output::{Output, bytes, table};
use crate::dispatch::nats::{Operator, Seen, Standing, State};
use crate::registry::Registry;

const EXAMPLES: &str = "\
Examples:
  refloat cluster status --nats nats://operator:PASSWORD@host:4222
  refloat cluster drain node7-0123456789abcdef --nats nats://operator:PASSWORD@host:4222
  refloat cluster plan --preset n15 --cores 32 --cores 320
  refloat cluster plan --preset n16 --seconds 1.8 --load-seconds 30";

/// Arguments of `refloat cluster`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lists the fronts and workers that report within some seconds.
    Status(StatusArguments),
    /// Has a worker finish its jobs, take no more, and stop.
    Drain(DrainArguments),
    /// Says how many jobs a second a number of processors can do, from what a job takes here.
    Plan(plan::Arguments),
}

/// Where NATS is, and who asks.
#[derive(Args)]
struct Reach {
    /// Where NATS is: <nats://operator:PASSWORD@host:4222>.
    #[arg(long, value_name = "URL", env = "REFLOAT__CLUSTER__NATS", hide_env_values = true)]
    nats: String,
    /// File with the credentials that NATS asks for.
    #[arg(long, value_name = "FILE", env = "REFLOAT__CLUSTER__CREDENTIALS")]
    credentials: Option<PathBuf>,
}

/// Arguments of `refloat cluster status`.
#[derive(Args)]
struct StatusArguments {
    #[command(flatten)]
    reach: Reach,
    /// Seconds to listen; each front and worker is heard every three.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=600))]
    wait: u16,
}

/// Arguments of `refloat cluster drain`.
#[derive(Args)]
struct DrainArguments {
    /// The worker, as `refloat cluster status` names it.
    worker: String,
    #[command(flatten)]
    reach: Reach,
}

impl Reach {
    fn connect(&self) -> Result<Operator, Failure> {
        let credentials = self.credentials.clone().filter(|file| !file.as_os_str().is_empty());
        Operator::connect(&self.nats, credentials).map_err(|error| unreached(&error))
    }
}

fn unreached(error: &std::io::Error) -> Failure {
    Failure { code: "CLUSTER".to_owned(), detail: error.to_string() }
}

/// Shows the state of a cluster, drains a worker, or plans a cluster.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    match &arguments.command {
        Command::Status(arguments) => {
            let time = Duration::from_secs(arguments.wait.into());
            let (fronts, workers) =
                arguments.reach.connect()?.listen(time).map_err(|error| unreached(&error))?;
            if fronts.is_empty() && workers.is_empty() {
                return Err(Failure {
                    code: "NOBODY".to_owned(),
                    detail: format!(
                        "no front and no worker was heard within {} s, where each is heard every three; start them, or give the NATS that \
                         they use",
                        arguments.wait
                    ),
                });
            }
            let value = json!({ "fronts": fronts, "workers": workers });
            output.result(&value, || text(&fronts, &workers))
        }
        Command::Drain(arguments) => drain(arguments, output),
        Command::Plan(arguments) => plan::run(arguments, registry, output),
    }
}

fn drain(arguments: &DrainArguments, output: &Output) -> Result<(), Failure> {
    let worker = &arguments.worker;
    if !arguments.reach.connect()?.drain(worker).map_err(|error| unreached(&error))? {
        return Err(Failure {
            code: "NO_WORKER".to_owned(),
            detail: format!(
                "no worker of the name {worker:?} answers; refloat cluster status lists those that are alive"
            ),
        });
    }
    output.result(&json!({ "worker": worker, "drains": true }), || {
        format!("{worker} takes no more jobs, and ends when it has done those that it has")
    })
}

fn in_words(state: State) -> &'static str {
    match state {
        State::Ready => "takes jobs",
        State::Leaves => "leaves",
        State::Hung => "hung",
        State::StorageFails => "storage fails",
        State::OtherVersion => "other version",
        State::OtherBuild => "other build",
    }
}

fn text(fronts: &[Standing], workers: &[Seen]) -> String {
    let heading = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut rows = vec![heading(&["front", "version", "waiting", "out", "workers", "slots"])];
    for front in fronts {
        let own = || workers.iter().filter(|seen| seen.front == front.front && seen.alive.slots > 0);
        let slots: usize = own().map(|seen| seen.alive.slots).sum();
        let numbers =
            [front.queued as usize, front.out, own().count(), slots].map(|number| number.to_string());
        rows.push([front.front.clone(), front.version.clone()].into_iter().chain(numbers).collect());
    }
    let mut of_workers = vec![heading(&[
        "worker",
        "front",
        "version",
        "state",
        "jobs",
        "slots",
        "threads",
        "keys",
        "memory for keys",
    ])];
    for Seen { front, version, state, alive } in workers {
        of_workers.push(vec![
            alive.worker.clone(),
            front.clone(),
            version.clone(),
            in_words(*state).to_owned(),
            alive.jobs.len().to_string(),
            alive.slots.to_string(),
            alive.threads.to_string(),
            alive.keys.len().to_string(),
            bytes(alive.key_bytes),
        ]);
    }
    let listed =
        |rows: &[Vec<String>], none: &str| if rows.len() > 1 { table(rows) } else { none.to_owned() };
    format!("{}\n{}", listed(&rows, "no front was heard\n"), listed(&of_workers, "no worker was heard\n"))
}
