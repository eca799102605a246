//! `refloat cluster plan`.

use std::time::Instant;

use clap::Args;
use refloat::params;
use serde_json::json;

use crate::cli::failure::Failure;
use crate::cli::keyfiles::fresh_seed;
use crate::cli::machine::{self, Machine};
use crate::cli::output::{Output, bytes, table};
use crate::cli::{measure, sets};
use crate::clients::{KeyOwnerSet, SetQuery};
use crate::cluster::model::{Job, Row, Site};
use crate::encryptors::Message;
use crate::engine::{BOOTSTRAP, JobSet, LoadError, Operation, Task};
use crate::engines::Engines;
use crate::memory;
use crate::registry::{Registry, SetFilter};

/// Numbers of processors to plan for if none are given.
const CORES: [usize; 5] = [2, 32, 320, 3200, 10_000];

/// Arguments of `refloat cluster plan`.
#[derive(Args)]
pub struct Arguments {
    /// Parameter set; insecure ones are fine, nothing is protected here.
    #[arg(long, value_name = "NAME", default_value = params::DEFAULT_PRESET)]
    preset: String,
    /// Processors of all workers; may be repeated [default: 2, 32, 320, 3200 and 10000].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    cores: Vec<u32>,
    /// Threads of a job.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Seconds of a job on that number of threads [default: those of one bootstrap, measured here with keys made for it].
    #[arg(long, requires = "load_seconds", value_parser = seconds)]
    seconds: Option<f64>,
    /// Seconds in which keys are loaded, with --seconds.
    #[arg(long, requires = "seconds", value_parser = seconds)]
    load_seconds: Option<f64>,
    /// Processors of a machine.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    node_cores: u32,
    /// GiB of memory of a machine.
    #[arg(long, value_name = "GIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    node_memory: u32,
    /// GiB of that which its worker sets aside for keys, its compute.key_cache_bytes [default: half].
    #[arg(long, value_name = "GIB", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    key_memory: Option<u32>,
    /// Jobs that its worker is told to run at once, its cluster.slots; 0: as many as it starts by itself.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    slots: u16,
    /// Jobs a second that one front hands out and notes; it depends on the disk of its table.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    front_jobs: u32,
    /// Gbit/s of the link of a front.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    link: u32,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text:?} is not a number of seconds"))?;
    if seconds > 0.0 && seconds < 1e9 { Ok(seconds) } else { Err("give seconds above 0".to_owned()) }
}

/// Prints the model for some numbers of processors.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let name = &arguments.preset;
    let found = registry.client(SetQuery::Name(name))?.ok_or_else(|| sets::unknown_set(registry, name))?;
    let engines = Engines::with(registry, SetFilter { only: Some(name), ..SetFilter::all() })?;
    let set = engines.named(name)?;
    let threads = usize::from(arguments.threads);
    let (job, source) = if let Some(given) = arguments.seconds.zip(arguments.load_seconds) {
        (job(set, threads, given), "given".to_owned())
    } else {
        let measured = measured(set, &found, threads, output)?;
        (job(set, threads, measured), format!("measured here, on {}", Machine::here().line()))
    };
    let node_bytes = u64::from(arguments.node_memory) << 30;
    let site = Site {
        node_cores: arguments.node_cores as usize,
        node_bytes,
        node_key_bytes: arguments.key_memory.map_or(node_bytes / 2, |gib| u64::from(gib) << 30),
        node_slots: arguments.slots.into(),
        reckoned_bytes: Engines::with(registry, SetFilter::all())?.largest_working(),
        front_jobs: arguments.front_jobs.into(),
        front_link: f64::from(arguments.link) * 1e9 / 8.0,
    };
    let node_slots = site.slots(&job, site.node_cores);
    fits(name, &job, &site, node_slots)?;
    let cores: Vec<usize> = match &arguments.cores[..] {
        [] => CORES.to_vec(),
        asked => asked.iter().map(|cores| *cores as usize).collect(),
    };
    let rows: Vec<Row> = cores.into_iter().map(|cores| site.row(&job, cores)).collect();
    let (patience, jobs_a_load) = (job.patience(node_slots), job.jobs_a_load(node_slots, 0.9));
    let value = json!({
        "params": name, "job": job, "source": source, "site": site, "rows": rows,
        "patience": patience, "jobsALoad": jobs_a_load,
    });
    output.result(&value, || {
        let Job { seconds, load_seconds, key_bytes, working_bytes, .. } = job;
        let most = site.most_slots(&job, site.node_cores);
        let more = if most > node_slots {
            format!(
                "a worker reckons {} for each job, as it takes any set; told cluster.slots = {most} and compute.key_cache_bytes = {key_bytes}, \
                 it runs {most} of {name} at once\n",
                bytes(site.reckoned_bytes)
            )
        } else {
            String::new()
        };
        format!(
            "{name}: a job takes {seconds:.3} s on {threads} threads, loading its keys {load_seconds:.2} s ({source}); keys take {} of \
             memory, each job {} beside them\nmachines of {} processors and {} GiB with {node_slots} jobs at once, fronts of {} jobs/s \
             with {} Gbit/s (assumed)\n{more}\n{}\n{}",
            bytes(key_bytes),
            bytes(working_bytes),
            arguments.node_cores,
            arguments.node_memory,
            arguments.front_jobs,
            arguments.link,
            listed(&rows),
            format_args!(
                "a third worker loads keys where {patience:.0} jobs wait for two such machines that have them; 90 % of the time of a \
                 machine goes into jobs where it does {jobs_a_load:.0} for each time it loads their keys"
            ),
        )
    })
}

fn listed(rows: &[Row]) -> String {
    let heading = ["processors", "machines", "jobs at once", "jobs/s", "inputs and results", "fronts"];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    for row in rows {
        let why = row.limit.map_or_else(String::new, |limit| format!(", by the {limit}"));
        cells.push(vec![
            row.cores.to_string(),
            row.nodes.to_string(),
            row.slots.to_string(),
            format!("{:.2}", row.jobs),
            format!("{}/s", bytes(row.bytes as u64)),
            format!("{}{why}", row.fronts),
        ]);
    }
    table(&cells)
}

/// Refuses machines with too little memory for the plan.
fn fits(name: &str, job: &Job, site: &Site, slots: usize) -> Result<(), Failure> {
    if job.key_bytes > site.node_key_bytes {
        return Err(Failure::usage(format!(
            "keys of {name} take {} of memory, and workers set {} aside for keys; raise --key-memory or --node-memory",
            bytes(job.key_bytes),
            bytes(site.node_key_bytes)
        )));
    }
    let needed = site.node_key_bytes.saturating_add(job.working_bytes.saturating_mul(slots as u64));
    if needed > site.node_bytes {
        return Err(Failure::usage(format!(
            "{} for keys and {slots} jobs of {name} that take {} each are {}, and machines have {}; raise --node-memory, or lower --slots or \
             --key-memory",
            bytes(site.node_key_bytes),
            bytes(job.working_bytes),
            bytes(needed),
            bytes(site.node_bytes)
        )));
    }
    Ok(())
}

/// A job of a set, with the seconds of a job and of loading keys.
fn job(set: &dyn JobSet, threads: usize, (seconds, load_seconds): (f64, f64)) -> Job {
    let info = set.info();
    let length = |level: usize| {
        info.ciphertext_bytes.get(level).or(info.ciphertext_bytes.last()).map_or(0, |bytes| *bytes as u64)
    };
    Job {
        seconds,
        load_seconds,
        threads,
        key_bytes: info.expanded_key_bytes,
        working_bytes: set.working_bytes(),
        input_bytes: length(info.input_level),
        result_bytes: length(info.output_level),
    }
}

/// Seconds of the faster of two bootstraps, and of loading keys, with keys that are made for it and dropped.
fn measured(
    set: &dyn JobSet,
    found: &KeyOwnerSet,
    threads: usize,
    output: &Output,
) -> Result<(f64, f64), Failure> {
    let info = set.info();
    let needed = info.expanded_key_bytes.saturating_add(set.working_bytes()).saturating_add(memory::BESIDE);
    if let Some(available) = machine::available_memory().filter(|available| *available < needed) {
        return Err(memory::too_little(&info.name, needed, available).into());
    }
    let (seed, randomness) = (fresh_seed()?, fresh_seed()?);
    let secret = found.client().secret(&seed);
    let bytes = secret.to_bytes();
    let input = match found {
        KeyOwnerSet::Ckks(client) => {
            let message = Message { numbers: &[0.5], mode: info.mode, level: info.input_level };
            client.read_ckks_secret(&bytes)?.encrypt(&message, &randomness)?
        }
        KeyOwnerSet::Integers(client) => {
            client.read_integer_secret(&bytes)?.encrypt(&[1], info.input_level, &randomness)?
        }
        KeyOwnerSet::Other(_) => {
            return Err(Failure::usage(format!(
                "jobs of {} are circuits and look-ups, of which each takes its own time; give --seconds and --load-seconds",
                info.name
            )));
        }
    };
    let pool = measure::pool(threads)?;
    let pieces =
        (0..info.key_parts.len()).map(|index| secret.key_part(index)).collect::<Result<Vec<_>, _>>()?;
    output.note(&format!("keys of {} are made; now they are loaded and used", info.name));
    let (begun, key) = (Instant::now(), secret.key_id());
    let loaded = pool.install(|| set.load(key, &mut |index| Ok(pieces[index].clone())));
    let loaded = loaded.map_err(|error| match error {
        LoadError::Io(error) => Failure::system(&error),
        LoadError::Refused(error) => error.into(),
    })?;
    let load_seconds = begun.elapsed().as_secs_f64();
    drop(pieces);
    let task = Task { mode: info.mode, operations: vec![Operation::new(BOOTSTRAP)], rounds: 1 };
    let mut fastest = f64::INFINITY;
    for _ in 0..2 {
        let begun = Instant::now();
        pool.install(|| loaded.runner.run(&task, &input.bytes, &mut ()))?;
        fastest = fastest.min(begun.elapsed().as_secs_f64());
    }
    Ok((fastest, load_seconds))
}
