//! Whose job is next: accounts take turns.

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

/// For each account that waits, the turn since which it has waited, and whether that turn was its own. A newcomer goes to the end of the
/// circle, before the account that has its turn just then, so that nobody overtakes others under ever new names.
#[derive(Debug, Default)]
pub struct Turns {
    since: HashMap<Account, (u64, bool)>,
    count: u64,
}

impl Turns {
    /// The accounts that wait, each given with the place of its first job, in the order of their turns: the one that has waited longest
    /// comes first, and keeps its place until it [is taken](Self::take).
    pub fn order<'a>(&mut self, waiting: impl Iterator<Item = (&'a Account, u64)>) -> Vec<&'a Account> {
        let waiting: Vec<(&Account, u64)> = waiting.collect();
        let present: HashSet<&Account> = waiting.iter().map(|(account, _)| *account).collect();
        self.since.retain(|account, _| present.contains(account));
        let mut order: Vec<_> = waiting
            .into_iter()
            .map(|(account, first)| {
                let since = self.since.entry(account.clone()).or_insert((self.count, false));
                (*since, first, account)
            })
            .collect();
        order.sort_unstable_by_key(|(since, first, _)| (*since, *first));
        order.into_iter().map(|(_, _, account)| account).collect()
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

    /// The first of these jobs that may be next.
    fn pick<T: Copy>(
        turns: &mut Turns,
        waiting: &[(T, Account)],
        may: impl Fn(T) -> bool,
    ) -> Option<(T, Account)> {
        let mut firsts: Vec<(&Account, u64)> = Vec::new();
        for (place, (_, account)) in waiting.iter().enumerate() {
            if firsts.iter().all(|(known, _)| *known != account) {
                firsts.push((account, place as u64));
            }
        }
        let order = turns.order(firsts.into_iter());
        let first =
            |account: &&Account| waiting.iter().find(|(job, of)| of == *account && may(*job)).cloned();
        order.iter().find_map(first)
    }

    #[test]
    fn accounts_alternate_however_many_jobs_one_has() {
        let name = |name: &str| Account::ApiKey(name.into());
        let mut turns = Turns::default();
        let mut waiting: Vec<(u32, Account)> = (0..6).map(|job| (job, name("many"))).collect();
        waiting.extend([(6, name("few")), (7, name("one")), (8, name("few"))]);
        let mut order = Vec::new();
        while let Some((job, account)) = pick(&mut turns, &waiting, |_| true) {
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
            let (is_old, account) = pick(&mut turns, &waiting, |_| true).unwrap();
            let place = waiting.iter().position(|(_, other)| *other == account).unwrap();
            waiting.remove(place);
            waiting.push((false, names.next().unwrap()));
            turns.take(account);
            if is_old {
                served.push(turn);
            }
        }
        // Each is served after all that were there before it, and before those that came later.
        assert_eq!(served, [20, 42]);
    }

    #[test]
    fn only_accounts_that_wait_are_remembered() {
        let (a, b) = (Account::Keys(Id([1; 16])), Account::Keys(Id([2; 16])));
        let mut turns = Turns::default();
        turns.take(a.clone());
        turns.take(b.clone());
        // Both came back before the next turn: the one whose turn is longer ago goes first.
        assert_eq!(pick(&mut turns, &[(1, b.clone()), (2, a)], |_| true).unwrap().0, 2);
        for number in 0..1000u128 {
            turns.take(Account::Keys(Id(number.to_be_bytes())));
            pick(&mut turns, &[(1, b.clone())], |_| true);
        }
        assert_eq!(turns.since.len(), 1);
        assert!(pick::<u8>(&mut turns, &[], |_| true).is_none() && turns.since.is_empty());
    }

    #[test]
    fn who_cannot_be_next_keeps_the_place() {
        let [a, b] = ["a", "b"].map(|name| Account::ApiKey(name.into()));
        let mut turns = Turns::default();
        let waiting = [(1, a.clone()), (2, b.clone())];
        for _ in 0..3 {
            let (job, account) = pick(&mut turns, &waiting, |job| job == 2).unwrap();
            turns.take(account);
            assert_eq!(job, 2);
        }
        assert_eq!(pick(&mut turns, &waiting, |_| true).unwrap().0, 1, "it has waited longer");
        assert!(pick(&mut turns, &waiting, |_| false).is_none());
    }
}
