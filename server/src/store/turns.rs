//! Whose job is next: accounts take turns, and the jobs of one keep their order.

use std::collections::HashMap;

use super::jobs::JobRecord;
use crate::id::Id;

/// Accounts whose last turn is remembered.
const REMEMBERED: usize = 1024;

/// Who shares the worker with others: an API key, or, where there is none, a key set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Account {
    /// The name of an API key.
    ApiKey(String),
    /// A key set.
    Keys(Id),
}

impl Account {
    /// The account that a job counts for.
    pub fn of(record: &JobRecord) -> Self {
        record.holder.api_key.clone().map_or(Self::Keys(record.key), Self::ApiKey)
    }
}

/// When each account had its last turn.
#[derive(Debug, Default)]
pub struct Turns {
    last: HashMap<Account, u64>,
    count: u64,
}

impl Turns {
    /// Of what waits, in order, the first of the account that has waited longest for its turn.
    pub fn pick<T>(&self, waiting: impl Iterator<Item = (T, Account)>) -> Option<(T, Account)> {
        waiting.min_by_key(|(_, account)| self.last.get(account).copied().unwrap_or(0))
    }

    /// Notes that an account has its turn.
    pub fn take(&mut self, account: Account) {
        self.count += 1;
        self.last.insert(account, self.count);
        if self.last.len() > REMEMBERED {
            let oldest = self.last.iter().min_by_key(|(_, turn)| **turn).map(|(account, _)| account.clone());
            oldest.map(|account| self.last.remove(&account));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_alternate_however_many_jobs_one_has() {
        let name = |name: &str| Account::ApiKey(name.into());
        let mut turns = Turns::default();
        let mut waiting: Vec<(u32, Account)> = (0..6).map(|job| (job, name("many"))).collect();
        waiting.extend([(6, name("few")), (7, name("one")), (8, name("few"))]);
        let mut order = Vec::new();
        while let Some((job, account)) = turns.pick(waiting.iter().cloned()) {
            waiting.retain(|(other, _)| *other != job);
            turns.take(account);
            order.push(job);
        }
        assert_eq!(order, [0, 6, 7, 1, 8, 2, 3, 4, 5]);
    }

    #[test]
    fn who_comes_back_at_once_does_not_come_first() {
        let (a, b) = (Account::Keys(Id([1; 16])), Account::Keys(Id([2; 16])));
        let mut turns = Turns::default();
        turns.take(a.clone());
        turns.take(b.clone());
        assert_eq!(turns.pick([(1, b.clone()), (2, a)].into_iter()).unwrap().0, 2);
        for number in 0..=REMEMBERED as u128 {
            turns.take(Account::Keys(Id(number.to_be_bytes())));
        }
        assert_eq!(turns.last.len(), REMEMBERED);
    }
}
