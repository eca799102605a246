//! Which jobs are handed out, and to which workers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::Front;
use super::endings::UNSEEN;
use super::leases::Lease;
use crate::dispatch::queue::Millis;
use crate::dispatch::{Done, Outcome};
use crate::problem::Problem;
use crate::service::placement::{Asked, Out, Placement};
use crate::service::worker::reason;
use crate::store::jobs::{self, Backlog, JobRecord, Requeue};
use crate::store::{StoreError, keys};
use crate::work::Work;

/// How long a worker counts as having the keys of a job that it was given, until it says so itself, in milliseconds.
const WARM: Millis = 10_000;

impl Front {
    /// Hands out jobs to workers that suit them, as many as there are slots for.
    pub(super) fn hand_out(&mut self, now: Millis) -> Result<(), StoreError> {
        let workers = self.dispatch.workers();
        // After a restart, only the workers know which jobs they have.
        for (job, worker) in
            workers.iter().flat_map(|alive| alive.jobs.iter().map(move |job| (job, &alive.worker)))
        {
            if let Some(lease) = self.out.get_mut(job) {
                lease.worker.get_or_insert_with(|| worker.clone());
            }
        }
        self.warm.retain(|_, at| now.saturating_sub(*at) < WARM);
        self.unseen.retain(|_, at| now.saturating_sub(*at) < UNSEEN);
        self.forget_waking(now);
        let mut in_use = HashMap::new();
        for lease in self.out.values() {
            if let Some(worker) = &lease.worker {
                let pair = (worker.clone(), lease.key);
                in_use.insert(pair.clone(), self.tenures.get(&pair).copied().unwrap_or(now));
                self.warm.insert(pair, now);
            }
        }
        self.tenures = in_use;
        if self.policy.lease.is_some() {
            self.service.crew.set(&workers, self.out.len());
        }
        let service = Arc::clone(&self.service);
        let set =
            |params: &str| service.engines.named(params).ok().map(|set| set.info().fingerprint.as_str());
        let out = self.out.values().filter_map(|lease| {
            let worker = lease.worker.as_deref()?;
            let since = self.tenures.get(&(worker.to_owned(), lease.key)).copied().unwrap_or(now);
            let has_had_time = now.saturating_sub(since) >= service.estimates.overdue(&lease.params);
            Some(Out { worker, key: lease.key, set: set(&lease.params), has_had_time })
        });
        let waking = self.waking.iter();
        let waking = waking.map(|(key, (worker, set, _))| Out {
            worker,
            key: *key,
            set: Some(set.as_str()),
            has_had_time: true,
        });
        let mut placement = Placement::new(workers, out.chain(waking), self.warm.keys(), self.unseen.keys());
        if self.policy.lease.is_some() && self.waits.is_due(now) {
            let waiting = jobs::backlogs(&service.store)?;
            self.waits.update(waiting.iter().map(|backlog| backlog.key), now);
        }
        if !service.is_stopping() {
            self.wake(&mut placement, now)?;
        }
        // Workers are heard between turns, so no turn may be long.
        let began = Instant::now();
        while placement.has_room() && !service.is_stopping() {
            if began.elapsed() >= self.policy.hand_out {
                service.live.wake();
                return Ok(());
            }
            let waits = &self.waits;
            let choose = |backlog: &Backlog, is_first: bool| {
                let (params, key) = (&backlog.params, backlog.key);
                let asked = Asked {
                    key,
                    set: set(params),
                    backlog: backlog.jobs,
                    patience: service.estimates.jobs_a_load(params),
                    is_overdue: waits.has_waited(key, service.estimates.overdue(params), now),
                };
                if let Some((worker, reason)) = placement.choose(&asked) {
                    return Some((worker.to_owned(), reason));
                }
                // Only one key set of each account: one account with many must not hold all places.
                if asked.is_overdue && is_first {
                    placement.hold(&asked);
                }
                None
            };
            // The store has logged why it fails. The job has not begun, and nothing is held against it.
            let claimed = jobs::claim(&service.store, &mut self.turns, choose);
            let Some((job, (worker, reason))) =
                claimed.inspect_err(|_| self.unsure = Some(Requeue::Stopped))?
            else {
                return Ok(());
            };
            placement.take(&worker, job.key, set(&job.params));
            self.waits.served(job.key, now);
            self.warm.insert((worker.clone(), job.key), now);
            let lease = Lease { worker: Some(worker.clone()), ..Lease::new(&job, now) };
            self.out.insert(job.id, lease);
            match self.work(&job) {
                Ok(work) => {
                    self.dispatch.publish(&worker, &work)?;
                    if self.policy.lease.is_some() {
                        service.metrics.cluster.placed(reason);
                    }
                }
                // To be noted like every other end, again and again if need be.
                Err(outcome) => {
                    self.dispatch.report(&Done { job: job.id, attempt: job.attempts, outcome })?;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// What a worker has to know to run a job, or the outcome of the attempt if that cannot be read.
    fn work(&self, job: &JobRecord) -> Result<Work, Outcome> {
        let store = &self.service.store;
        let read = || Ok(keys::get(store, job.key)?.zip(Some(keys::parts(store, job.key)?)));
        match read() {
            Ok(Some((key_set, pieces))) => Ok(Work::new(job, &key_set, pieces)),
            Ok(None) => Err(Outcome::Failed(Problem::not_found(format!("key set {} is gone", job.key)))),
            Err(error @ StoreError::Corrupt(_)) => Err(Outcome::Failed(error.into())),
            Err(error) => Err(Outcome::Trouble(reason(&error))),
        }
    }
}
