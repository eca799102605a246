//! How many jobs a second a cluster does, calculated from measurements of one job.

use serde::Serialize;

use super::slots::{Slots, fitting};

/// What one job and its keys take.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Seconds of a job on `threads` threads, with its keys in memory.
    pub seconds: f64,
    /// Seconds in which its keys are loaded on those threads.
    pub load_seconds: f64,
    /// Threads of a job.
    pub threads: usize,
    /// Bytes of memory that the keys take, once for all jobs of a worker.
    pub key_bytes: u64,
    /// Bytes of memory that each job takes beside them.
    pub working_bytes: u64,
    /// Bytes of its input.
    pub input_bytes: u64,
    /// Bytes of its result.
    pub result_bytes: u64,
}

/// What machines, workers and fronts there are. A machine has one worker.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Site {
    /// Processors of a machine.
    pub node_cores: usize,
    /// Bytes of its memory.
    pub node_bytes: u64,
    /// Bytes of that which its worker sets aside for keys.
    pub node_key_bytes: u64,
    /// Jobs that its worker is told to run at once; 0: as many as it finds room for.
    pub node_slots: usize,
    /// Bytes of memory that a worker reckons for each job: the most that a job of any set takes.
    pub reckoned_bytes: u64,
    /// Jobs a second that one front can hand out and note.
    pub front_jobs: f64,
    /// Bytes a second that the link of a front carries.
    pub front_link: f64,
}

/// What a number of processors does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Processors of all workers.
    pub cores: usize,
    /// Machines.
    pub nodes: usize,
    /// Jobs at once, on all of them.
    pub slots: usize,
    /// Jobs a second.
    pub jobs: f64,
    /// Bytes a second of inputs and results, through fronts and their folders.
    pub bytes: f64,
    /// Fronts needed, each with a table and a folder of its own.
    pub fronts: usize,
    /// What decides the number of fronts: `table` or `link`; `None` where one suffices.
    pub limit: Option<&'static str>,
}

impl Job {
    /// How many jobs have to wait for keys that two workers of `slots` slots have already, until it pays to load the keys once more.
    pub fn patience(&self, slots: usize) -> f64 {
        (self.load_seconds / self.seconds * (2 * slots) as f64).ceil()
    }

    /// How many jobs a worker of `slots` slots has to do for each loading of their keys, to spend `share` of its time on jobs.
    pub fn jobs_a_load(&self, slots: usize, share: f64) -> f64 {
        (share / (1.0 - share) * self.load_seconds * slots as f64 / self.seconds).round()
    }
}

impl Site {
    /// Jobs that a worker on a machine of `cores` processors runs at once, computed as the worker does.
    pub fn slots(&self, job: &Job, cores: usize) -> usize {
        let fit = fitting(self.node_bytes, self.node_key_bytes, self.reckoned_bytes);
        Slots::shared(cores, self.node_slots, job.threads, Some(fit)).count
    }

    /// Jobs of this set that a machine of `cores` processors has memory for at once, if its worker is told so and sets aside no more for
    /// keys than one key set takes.
    pub fn most_slots(&self, job: &Job, cores: usize) -> usize {
        let fit = fitting(self.node_bytes, job.key_bytes, job.working_bytes);
        Slots::shared(cores, 0, job.threads, Some(fit)).count
    }

    /// What `cores` processors do.
    pub fn row(&self, job: &Job, cores: usize) -> Row {
        let (whole, rest) = (cores / self.node_cores, cores % self.node_cores);
        let part = |cores: usize| if cores > 0 { self.slots(job, cores) } else { 0 };
        let slots = whole * part(self.node_cores) + part(rest);
        let jobs = slots as f64 / job.seconds;
        let bytes = jobs * (job.input_bytes + job.result_bytes) as f64;
        let [by_table, by_link] =
            [jobs / self.front_jobs, bytes / self.front_link].map(|fronts| fronts.ceil().max(1.0));
        Row {
            cores,
            nodes: whole + usize::from(rest > 0),
            slots,
            jobs,
            bytes,
            fronts: by_table.max(by_link) as usize,
            limit: (by_table.max(by_link) > 1.0).then_some(if by_link > by_table { "link" } else { "table" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bootstrap of 2 GB of working memory, keys of 7 GB, and 8 MB to be carried.
    const JOB: Job = Job {
        seconds: 2.0,
        load_seconds: 20.0,
        threads: 2,
        key_bytes: 7_000_000_000,
        working_bytes: 2_000_000_000,
        input_bytes: 1_000_000,
        result_bytes: 7_000_000,
    };
    const SITE: Site = Site {
        node_cores: 32,
        node_bytes: 64_000_000_000,
        node_key_bytes: 32_000_000_000,
        node_slots: 0,
        reckoned_bytes: 2_000_000_000,
        front_jobs: 500.0,
        front_link: 1.25e9,
    };

    #[test]
    fn slots_are_those_that_a_worker_starts() {
        assert_eq!([2, 3, 32].map(|cores| SITE.slots(&JOB, cores)), [1, 1, 16]);
        // A worker does not know which sets its jobs will be of, and assumes the largest.
        let careful = Site { reckoned_bytes: 8_000_000_000, ..SITE };
        assert_eq!((careful.slots(&JOB, 32), careful.most_slots(&JOB, 32)), (4, 16));
        let started = Slots::shared(32, 0, 2, Some(fitting(64_000_000_000, 32_000_000_000, 8_000_000_000)));
        assert_eq!(careful.slots(&JOB, 32), started.count);
        assert_eq!(Site { node_slots: 12, ..careful }.slots(&JOB, 32), 12);
        let small = Site { node_bytes: 20_000_000_000, ..SITE };
        assert_eq!((small.slots(&JOB, 32), small.most_slots(&JOB, 32)), (1, 6), "a worker has one at least");
        assert_eq!((JOB.patience(16), JOB.jobs_a_load(16, 0.9)), (320.0, 1440.0));
    }

    #[test]
    fn fronts_are_added_where_a_table_or_a_link_is_full() {
        let row = SITE.row(&JOB, 32);
        assert_eq!((row.nodes, row.slots, row.fronts, row.limit), (1, 16, 1, None));
        assert!((row.jobs - 8.0).abs() < 1e-9 && (row.bytes - 64e6).abs() < 1.0);
        // 100 machines: 800 jobs a second, 6.4 GB a second.
        let row = SITE.row(&JOB, 3200);
        assert_eq!((row.nodes, row.slots, row.fronts, row.limit), (100, 1600, 6, Some("link")));
        let small = Job { input_bytes: 10, result_bytes: 10, ..JOB };
        let row = SITE.row(&small, 3210);
        assert_eq!((row.nodes, row.slots, row.fronts, row.limit), (101, 1605, 2, Some("table")));
    }
}
