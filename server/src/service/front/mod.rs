//! The end of a dispatch that has the job table: hands out jobs, notes what came of them, and takes back those that nobody runs.
//!
//! Every change of the table is guarded by the attempt it is about, so that a report which comes late, twice or from a worker that was
//! given up changes nothing.

mod endings;
mod hand_out;
mod leases;
mod preloading;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::Service;
use super::live::Stop;
use super::placement::Pair;
use super::waits::Waits;
use crate::dispatch::queue::Millis;
use crate::dispatch::{Dispatch, Done, Sign};
use crate::id::Id;
use crate::store::StoreError;
use crate::store::events::{QUEUED, Urgency};
use crate::store::jobs::{JobRecord, JobState, Requeue};
use crate::store::turns::Turns;
use endings::Ending;
use leases::Lease;

/// How jobs are handed out.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// A job that is out is taken back if there was no sign of it for this long. `None` where workers live and die with the front: no job
    /// that is out is taken back, and any other that the table has as running is taken back at once.
    pub lease: Option<Millis>,
    /// Longest time for handing out jobs without a look at what workers say.
    pub hand_out: Duration,
}

impl Policy {
    /// The policy of one process with one worker.
    pub const ALONE: Self = Self { lease: None, hand_out: Self::HAND_OUT };

    /// The usual value of [`hand_out`](Self::hand_out), where time is not simulated.
    pub const HAND_OUT: Duration = Duration::from_millis(200);
}

/// First and longest pause between attempts to note the end of a job.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// The end of a dispatch that has the job table.
pub struct Front {
    service: Arc<Service>,
    dispatch: Arc<dyn Dispatch>,
    policy: Policy,
    turns: Turns,
    out: HashMap<Id, Lease>,
    /// When a worker last had a job with these keys.
    warm: HashMap<Pair, Millis>,
    /// Since when a worker has always had a job with these keys.
    tenures: HashMap<Pair, Millis>,
    /// When a worker last did not find the files of a job with these keys as they are.
    unseen: HashMap<Pair, Millis>,
    /// Since when key sets wait.
    waits: Waits,
    /// Key sets that are being loaded ahead: by which worker, with which fingerprint, and since when.
    waking: HashMap<Id, (String, String, Millis)>,
    /// The time of the turn.
    now: Millis,
    /// Why the table may have a job as running that is not out: a claim that failed may have reached the disk.
    unsure: Option<Requeue>,
    /// What becomes of attempts whose end could not be noted yet: worked out once, however often noting it is tried.
    endings: HashMap<(Id, u32), Ending>,
    /// When the table was compared with what is out.
    looked: Option<Millis>,
    pause: Duration,
}

impl Front {
    /// A front with nothing out.
    pub fn new(service: Arc<Service>, dispatch: Arc<dyn Dispatch>, policy: Policy) -> Self {
        Self {
            service,
            dispatch,
            policy,
            turns: Turns::default(),
            out: HashMap::new(),
            warm: HashMap::new(),
            tenures: HashMap::new(),
            unseen: HashMap::new(),
            waits: Waits::default(),
            waking: HashMap::new(),
            now: 0,
            unsure: None,
            endings: HashMap::new(),
            looked: None,
            pause: PAUSES[0],
        }
    }

    /// Whether nothing is out.
    pub fn is_idle(&self) -> bool {
        self.out.is_empty()
    }

    /// How long to wait after a turn that failed.
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// Notes all reports, takes back jobs that nobody runs, and hands out others. Times are those of one clock that never goes back.
    ///
    /// # Errors
    /// The table or the dispatch fails. Nothing is lost; the next turn goes on.
    pub fn turn(&mut self, now: Millis) -> Result<(), StoreError> {
        self.now = now;
        self.hear(now)?;
        while let Some(taken) = self.dispatch.reported()? {
            // News that came before the report.
            self.hear(now)?;
            if let Some(lease) = self.out.get_mut(&taken.message.job)
                && lease.attempt == taken.message.attempt
            {
                // The attempt has ended, even if that can be noted only when the disk is well again.
                (lease.sign, lease.begun) = (now, true);
            }
            match self.conclude(&taken.message) {
                Ok(()) => {
                    self.pause = PAUSES[0];
                    self.dispatch.noted(&taken)?;
                }
                Err(error) => {
                    if self.pause == PAUSES[0] {
                        tracing::error!(job = %taken.message.job, "cannot note the end of a job; it is tried until it is noted");
                    }
                    // In one process, the thread that asks for turns makes the pause.
                    let pause = self.policy.lease.map_or(Duration::ZERO, |_| self.pause);
                    self.dispatch.put_back(taken, pause)?;
                    self.pause = (2 * self.pause).min(PAUSES[1]);
                    return Err(error);
                }
            }
        }
        self.ask_to_stop()?;
        match self.policy.lease {
            None => self.take_back_unsure()?,
            Some(lease) => self.reclaim_expired(now, lease)?,
        }
        self.hand_out(now)
    }

    /// Notes what workers say of the jobs they run.
    fn hear(&mut self, now: Millis) -> Result<(), StoreError> {
        for Sign { job, attempt, news } in self.dispatch.signs()? {
            let Some(lease) = self.out.get_mut(&job).filter(|lease| lease.attempt == attempt) else {
                continue;
            };
            (lease.sign, lease.begun) = (now, true);
            if let Some(news) = news {
                // News that cannot be noted must not cost the job. The store has logged why.
                let _ = self.service.note(job, attempt, &lease.params, &news);
            }
        }
        Ok(())
    }

    /// Tells the workers of jobs elsewhere which ones their clients have cancelled.
    fn ask_to_stop(&mut self) -> Result<(), StoreError> {
        if self.policy.lease.is_none() {
            return Ok(());
        }
        for (job, lease) in &mut self.out {
            let cancelled = || self.service.live.begin(*job).stopped() == Some(Stop::Cancelled);
            if !lease.asked && cancelled() {
                self.dispatch.cancel(*job)?;
                lease.asked = true;
            }
        }
        Ok(())
    }

    /// Forgets what is out, after a defect: what the table has as running is taken back with the next turn.
    pub fn drop_all(&mut self) {
        while let Ok(Some(taken)) = self.dispatch.reported() {
            let _ = self.dispatch.noted(&taken);
        }
        for (job, _) in self.out.drain() {
            self.service.live.end(job);
        }
        self.endings.clear();
        self.waking.clear();
        self.unsure = Some(Requeue::Crashed);
    }

    fn take_back_unsure(&mut self) -> Result<(), StoreError> {
        if let Some(why) = &self.unsure {
            self.service.take_back(why, |job| !self.out.contains_key(&job.id))?;
            self.unsure = None;
        }
        Ok(())
    }

    /// Notes that a job is no longer out; `record` is what has become of it, where that is news.
    fn close(&mut self, done: &Done, record: Option<&JobRecord>) {
        self.out.remove(&done.job);
        self.endings.remove(&(done.job, done.attempt));
        let service = &self.service;
        service.live.end(done.job);
        if let Some(record) = record {
            if record.state == JobState::Queued {
                tracing::info!(job = %record.id, state = record.state.name(), "job left the worker");
                let _ = service.append(record, "state", QUEUED, Urgency::Now);
            } else {
                service.note_end(record);
            }
        }
        service.events.close(done.job);
        service.events.wake(done.job);
    }
}
