//! The queue in memory: for each job that waits or runs, what it takes to choose the next one.
//!
//! The table is authoritative. The line is updated inside the same transactions, and read again whenever the two may differ: at the
//! start, and after a change that failed, which may have been written all the same.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use redb::ReadableTable;

use super::jobs::{self, JobRecord, JobState};
use super::turns::{Account, Turns};
use super::{JOBS, QUEUE, Store, StoreError};
use crate::id::Id;

/// The jobs that wait with one key set, and may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// The key set.
    pub key: Id,
    /// The parameter set of the keys.
    pub params: String,
    /// How many jobs.
    pub jobs: usize,
}

/// A job that may be next, and what is to be done with it.
pub(super) struct Next<T> {
    pub id: Id,
    pub sequence: u64,
    pub what: T,
}

/// What is known of a job that waits.
struct Waiting {
    id: Id,
    key: Id,
    params: String,
    account: Account,
    /// Milliseconds since 1970 before which it does not begin.
    not_before: u64,
}

/// Jobs by their place in the order of acceptance: the first is next.
type Jobs = BTreeMap<u64, Id>;

/// The jobs that wait and those that run.
#[derive(Default)]
pub(crate) struct Line {
    /// All jobs that wait, in the order of acceptance.
    waiting: BTreeMap<u64, Waiting>,
    /// Jobs that may begin, by account and key set.
    ready: HashMap<Account, HashMap<Id, Jobs>>,
    /// The same jobs counted by key set.
    backlogs: HashMap<Id, Backlog>,
    /// Jobs that may not begin yet, by when they may.
    paused: BTreeSet<(u64, u64)>,
    /// How many jobs wait, by account.
    own: HashMap<Account, usize>,
    running: HashSet<Id>,
}

impl Line {
    /// Reads the line from the table. Entries of the queue whose records are gone or damaged are returned beside it: nobody can do those
    /// jobs, and they are not to hold up others.
    pub(super) fn read(store: &Store, txn: &redb::WriteTransaction) -> Result<(Self, Vec<u64>), StoreError> {
        let (mut line, mut unusable) = (Self::default(), Vec::new());
        store.each_record("job", &txn.open_table(JOBS)?, |record: JobRecord| line.set(&record))?;
        for entry in txn.open_table(QUEUE)?.iter()? {
            let sequence = entry?.0.value();
            if !line.waiting.contains_key(&sequence) {
                unusable.push(sequence);
            }
        }
        Ok((line, unusable))
    }

    /// Updates the line to a record as it is now.
    pub(super) fn set(&mut self, record: &JobRecord) {
        self.remove(record.sequence);
        self.running.remove(&record.id);
        match record.state {
            JobState::Queued => {
                let account = Account::of(record);
                *self.own.entry(account.clone()).or_default() += 1;
                self.paused.insert((record.not_before, record.sequence));
                let JobRecord { id, key, params, not_before, .. } = record.clone();
                self.waiting.insert(record.sequence, Waiting { id, key, params, account, not_before });
            }
            JobState::Running => {
                self.running.insert(record.id);
            }
            _ => {}
        }
    }

    /// Takes out the job that waits at place `sequence`.
    pub(super) fn remove(&mut self, sequence: u64) {
        let Some(job) = self.waiting.remove(&sequence) else { return };
        self.paused.remove(&(job.not_before, sequence));
        subtract(&mut self.own, &job.account);
        let Some(keys) = self.ready.get_mut(&job.account) else { return };
        let Some(jobs) = keys.get_mut(&job.key) else { return };
        if jobs.remove(&sequence).is_none() {
            return;
        }
        if jobs.is_empty() {
            keys.remove(&job.key);
        }
        if keys.is_empty() {
            self.ready.remove(&job.account);
        }
        if let Some(backlog) = self.backlogs.get_mut(&job.key) {
            backlog.jobs -= 1;
            if backlog.jobs == 0 {
                self.backlogs.remove(&job.key);
            }
        }
    }

    /// Takes out the next job at time `now`: the first of the account whose turn it is, among jobs with key sets for which `choose` returns
    /// what to do. `choose` is asked in the order of turns, and told whether it is the first question for an account.
    pub(super) fn next<T>(
        &mut self,
        turns: &mut Turns,
        now: u64,
        choose: &mut impl FnMut(&Backlog, bool) -> Option<T>,
    ) -> Option<Next<T>> {
        self.wake(now);
        let found = self.find_next(turns, choose);
        if let Some(next) = &found {
            self.remove(next.sequence);
        }
        found
    }

    fn find_next<T>(
        &self,
        turns: &mut Turns,
        choose: &mut impl FnMut(&Backlog, bool) -> Option<T>,
    ) -> Option<Next<T>> {
        let accounts = self.ready.iter().map(|(account, keys)| {
            let first = keys.values().filter_map(|jobs| jobs.keys().next()).min();
            (account, first.copied().unwrap_or(u64::MAX))
        });
        for account in turns.order(accounts) {
            let mut heads: Vec<(u64, Id, Id)> = self.ready.get(account)?.iter().filter_map(head).collect();
            heads.sort_unstable();
            for (place, (sequence, id, key)) in heads.into_iter().enumerate() {
                if let Some(what) = choose(self.backlogs.get(&key)?, place == 0) {
                    return Some(Next { id, sequence, what });
                }
            }
        }
        None
    }

    /// Lets jobs begin whose pause is over.
    fn wake(&mut self, now: u64) {
        // Jobs at the end may have pauses that became too long when the clock was set back.
        while let Some(&(not_before, sequence)) = self
            .paused
            .first()
            .filter(|(at, _)| jobs::may_begin(*at, now))
            .or_else(|| self.paused.last().filter(|(at, _)| jobs::may_begin(*at, now)))
        {
            self.paused.remove(&(not_before, sequence));
            let Some(job) = self.waiting.get(&sequence) else { continue };
            self.ready
                .entry(job.account.clone())
                .or_default()
                .entry(job.key)
                .or_default()
                .insert(sequence, job.id);
            let params = || Backlog { key: job.key, params: job.params.clone(), jobs: 0 };
            self.backlogs.entry(job.key).or_insert_with(params).jobs += 1;
        }
    }

    /// The jobs that wait and may begin, by key set.
    pub(super) fn backlogs(&mut self, now: u64) -> Vec<Backlog> {
        self.wake(now);
        self.backlogs.values().cloned().collect()
    }

    /// The jobs that run.
    pub(super) fn running(&self) -> Vec<Id> {
        self.running.iter().copied().collect()
    }

    /// How many jobs of an account wait.
    pub(super) fn of(&self, account: &Account) -> usize {
        self.own.get(account).copied().unwrap_or(0)
    }
}

/// The first job of a key set: its place, itself, and the key set.
fn head((key, jobs): (&Id, &Jobs)) -> Option<(u64, Id, Id)> {
    jobs.first_key_value().map(|(sequence, id)| (*sequence, *id, *key))
}

fn subtract(counts: &mut HashMap<Account, usize>, account: &Account) {
    if let Some(count) = counts.get_mut(account) {
        *count -= 1;
        if *count == 0 {
            counts.remove(account);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(sequence: u64, key: u8, not_before: u64) -> JobRecord {
        let (id, key) = (Id((u128::from(sequence) + 1).to_be_bytes()), Id([key; 16]));
        let document = serde_json::json!({
            "id": id, "sequence": sequence, "key": key, "params": "p", "state": "queued", "cancel": false,
            "task": { "mode": "real", "operations": ["bootstrap"] }, "notBefore": not_before,
            "attempts": 0, "crashes": 0, "created": 0, "inputBytes": 5,
        });
        serde_json::from_value(document).unwrap()
    }

    fn take(line: &mut Line, turns: &mut Turns, now: u64, keys: &[u8]) -> Option<u64> {
        let mut may = |backlog: &Backlog, _: bool| keys.contains(&backlog.key.0[0]).then_some(());
        line.next(turns, now, &mut may).map(|next| next.sequence)
    }

    #[test]
    fn jobs_leave_in_order_when_their_time_has_come() {
        let (mut line, mut turns) = (Line::default(), Turns::default());
        for record in [job(1, 1, 0), job(2, 1, 50_000), job(3, 2, 0), job(4, 1, 0)] {
            line.set(&record);
        }
        let keys = Account::Keys(Id([1; 16]));
        assert_eq!((line.of(&keys), line.backlogs(0).len()), (3, 2));
        let all = |backlog: &Backlog, _: bool| Some(backlog.clone());
        let next = line.next(&mut turns, 0, &mut |_: &Backlog, _| None::<()>);
        assert!(next.is_none() && line.of(&keys) == 3);
        let next = line.next(&mut turns, 0, &mut { all }).unwrap();
        assert_eq!(
            (next.sequence, next.what.jobs, line.of(&keys)),
            (1, 2, 2),
            "one of its key set has a pause"
        );
        // Asked for none but key set 1, and job 2 may begin now.
        assert_eq!(take(&mut line, &mut turns, 50_000, &[1]), Some(2));
        line.remove(3);
        assert_eq!(take(&mut line, &mut turns, 0, &[1, 2]), Some(4));
        assert!(line.waiting.is_empty() && line.ready.is_empty() && line.backlogs.is_empty());
        assert!(line.own.is_empty() && line.paused.is_empty());
    }

    #[test]
    fn a_clock_that_was_set_back_makes_nobody_wait() {
        let (mut line, mut turns) = (Line::default(), Turns::default());
        line.set(&job(1, 1, 500_000));
        assert_eq!(take(&mut line, &mut turns, 499_000, &[1]), None);
        assert_eq!(take(&mut line, &mut turns, 100_000, &[1]), Some(1));
    }

    #[test]
    fn a_job_is_in_one_place() {
        let mut line = Line::default();
        let mut record = job(1, 1, 0);
        line.set(&record);
        line.set(&record);
        assert_eq!((line.backlogs(0)[0].jobs, line.running().len()), (1, 0));
        record.state = JobState::Running;
        line.set(&record);
        assert_eq!((line.backlogs(0).len(), line.running()), (0, vec![record.id]));
        record.state = JobState::Queued;
        line.set(&record);
        assert_eq!((line.backlogs(0).len(), line.running().len()), (1, 0));
        record.state = JobState::Done;
        line.set(&record);
        assert!(line.backlogs(0).is_empty() && line.running().is_empty());
    }

    #[test]
    fn questions_come_in_the_order_of_turns_and_say_which_is_first() {
        let (mut line, mut turns) = (Line::default(), Turns::default());
        let of = |sequence, key, name: &str| {
            let mut record = job(sequence, key, 0);
            record.holder.api_key = Some(name.to_owned());
            record
        };
        for record in [of(1, 1, "a"), of(2, 2, "a"), of(3, 3, "b"), of(4, 1, "a")] {
            line.set(&record);
        }
        turns.take(Account::ApiKey("a".into()));
        let mut asked = Vec::new();
        let none = line.next(&mut turns, 0, &mut |backlog: &Backlog, first| {
            asked.push((backlog.key.0[0], backlog.jobs, first));
            None::<()>
        });
        assert!(none.is_none());
        assert_eq!(asked, [(3, 1, true), (1, 2, true), (2, 1, false)]);
    }
}
