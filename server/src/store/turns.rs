//! Whose job is next: accounts take turns, and the jobs of one keep their order.

use std::collections::{HashMap, HashSet};

use super::jobs::JobRecord;
use crate::id::Id;

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

/// Since which turn each account that waits has waited, and whether that was its own. Who comes goes to the end of the circle,
/// before the one that has its turn just then, so that nobody overtakes others under ever new names.
#[derive(Debug, Default)]
pub struct Turns {
    since: HashMap<Account, (u64, bool)>,
    count: u64,
}

impl Turns {
    /// Of all that waits, in order, and that may be next, the first of the account that has waited longest for its turn. An account of
    /// which nothing may be next keeps its place.
    pub fn pick<T>(&mut self, waiting: Vec<(T, Account)>, may: impl Fn(&T) -> bool) -> Option<(T, Account)> {
        let present: HashSet<&Account> = waiting.iter().map(|(_, account)| account).collect();
        self.since.retain(|account, _| present.contains(account));
        for account in present {
            self.since.entry(account.clone()).or_insert((self.count, false));
        }
        waiting
            .into_iter()
            .filter(|(job, _)| may(job))
            .min_by_key(|(_, account)| self.since.get(account).copied())
    }

    /// Notes that an account has its turn.
    pub fn take(&mut self, account: Account) {
        self.count += 1;
        self.since.insert(account, (self.count, true));
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
        while let Some((job, account)) = turns.pick(waiting.clone(), |_| true) {
            waiting.retain(|(other, _)| *other != job);
            turns.take(account);
            order.push(job);
        }
        assert_eq!(order, [0, 6, 7, 1, 8, 2, 3, 4, 5]);
    }

    #[test]
    fn nobody_is_overtaken_under_new_names() {
        let old = Account::ApiKey("old".into());
        let mut turns = Turns::default();
        turns.take(old.clone());
        // With each turn somebody new comes, with 20 jobs waiting at any time.
        let mut names = (0u128..).map(|name| Account::Keys(Id(name.to_be_bytes())));
        let mut waiting: Vec<(bool, Account)> = names.by_ref().take(20).map(|name| (false, name)).collect();
        waiting.insert(7, (true, old.clone()));
        waiting.push((true, old.clone()));
        let mut served = Vec::new();
        for turn in 0..60 {
            let (is_old, account) = turns.pick(waiting.clone(), |_| true).unwrap();
            let place = waiting.iter().position(|(_, other)| *other == account).unwrap();
            waiting.remove(place);
            waiting.push((false, names.next().unwrap()));
            turns.take(account);
            if is_old {
                served.push(turn);
            }
        }
        // Each when those that were there before have had a turn, and none of those that came later.
        assert_eq!(served, [20, 42]);
    }

    #[test]
    fn only_accounts_that_wait_are_remembered() {
        let (a, b) = (Account::Keys(Id([1; 16])), Account::Keys(Id([2; 16])));
        let mut turns = Turns::default();
        turns.take(a.clone());
        turns.take(b.clone());
        // Both came back before the next turn: the one whose turn is longer ago goes first.
        assert_eq!(turns.pick(vec![(1, b.clone()), (2, a)], |_| true).unwrap().0, 2);
        for number in 0..1000u128 {
            turns.take(Account::Keys(Id(number.to_be_bytes())));
            turns.pick(vec![(1, b.clone())], |_| true);
        }
        assert_eq!(turns.since.len(), 1);
        assert!(turns.pick(Vec::<(u8, Account)>::new(), |_| true).is_none() && turns.since.is_empty());
    }

    #[test]
    fn who_cannot_be_next_keeps_the_place() {
        let [a, b] = ["a", "b"].map(|name| Account::ApiKey(name.into()));
        let mut turns = Turns::default();
        let waiting = || vec![(1, a.clone()), (2, b.clone())];
        for _ in 0..3 {
            let (job, account) = turns.pick(waiting(), |job| *job == 2).unwrap();
            turns.take(account);
            assert_eq!(job, 2);
        }
        assert_eq!(turns.pick(waiting(), |_| true).unwrap().0, 1, "it has waited longer");
        assert!(turns.pick(waiting(), |_| false).is_none());
    }
}
