//! Status and drain requests of operators.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};

use async_nats::Subscriber;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use super::link::{DRAINED, Link, decode, failed};
use super::{ALIVE, Settings};
use crate::config::is_token;
use crate::dispatch::Alive;

/// What a front says about itself, every few seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// Its name.
    pub front: String,
    /// The version of its program, which its workers need to have.
    pub version: String,
    /// Jobs that wait.
    pub queued: u64,
    /// Jobs that were handed out and have not ended.
    pub out: usize,
    /// Fingerprints of its parameter sets.
    #[serde(default)]
    pub sets: BTreeSet<String>,
}

/// A worker as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    /// The front that it works for.
    pub front: String,
    /// The version of its program.
    pub version: String,
    /// Whether jobs come to it, and why not.
    pub state: State,
    /// What the worker says about itself.
    #[serde(flatten)]
    pub alive: Alive,
}

/// Whether jobs come to a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It takes jobs.
    Ready,
    /// It was asked to leave.
    Leaves,
    /// A run hangs.
    Hung,
    /// It cannot read or write where keys, inputs and results are.
    StorageFails,
    /// It is of another version than its front, which hands it no jobs.
    OtherVersion,
    /// It lacks some parameter sets of its front, or has them in another form, and gets no jobs of those.
    OtherBuild,
}

impl State {
    /// The state of a worker of a version, judged by what its front says, if that was heard.
    fn of(version: &str, alive: &Alive, front: Option<&Standing>) -> Self {
        let lacks = |set: &String| !alive.sets.is_empty() && !alive.sets.contains_key(set);
        if alive.storage_fails {
            Self::StorageFails
        } else if alive.hung > 0 {
            Self::Hung
        } else if alive.slots == 0 {
            Self::Leaves
        } else if front.is_some_and(|front| front.version.replace('+', ".") != version) {
            Self::OtherVersion
        } else if front.is_some_and(|front| front.sets.iter().any(lacks)) {
            Self::OtherBuild
        } else {
            Self::Ready
        }
    }
}

/// The connection of an operator.
pub struct Operator {
    link: Link,
}

impl Operator {
    /// Connects. Not to be called where asynchronous code runs.
    ///
    /// # Errors
    /// The address or the credentials cannot be used, or nobody answers there.
    pub fn connect(url: &str, credentials: Option<std::path::PathBuf>) -> io::Result<Self> {
        let settings = Settings {
            url: url.to_owned(),
            credentials,
            front: "0".to_owned(),
            role: "operator",
            lease: Duration::ZERO,
            hung: Duration::ZERO,
            patience: Duration::ZERO,
            wait: Duration::ZERO,
        };
        let link = Link::connect(settings)?;
        let deadline = Instant::now() + 2 * ALIVE;
        while !link.is_connected() {
            if Instant::now() > deadline {
                return Err(io::Error::other(format!(
                    "no nats-server answers or lets an operator in at {}; check that it runs, its address, and the operator's password",
                    link.shown
                )));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Self { link })
    }

    /// The fronts and workers heard of within `time`, which has to be longer than the pause between two messages of one.
    ///
    /// # Errors
    /// NATS fails, or does not let this account listen.
    pub fn listen(&self, time: Duration) -> io::Result<(Vec<Standing>, Vec<Seen>)> {
        self.link.wait_for("listen", 2 * time + ALIVE, async {
            let subscribe = |subject: &'static str| self.link.client.subscribe(subject);
            let mut of_fronts = subscribe("refloat.front.*").await.map_err(failed("listen"))?;
            let mut of_workers = subscribe("refloat.alive.*.*").await.map_err(failed("listen"))?;
            let (mut fronts, mut workers) = (BTreeMap::new(), BTreeMap::new());
            let over = tokio::time::sleep(time);
            tokio::pin!(over);
            loop {
                tokio::select! {
                    Some(message) = of_fronts.next() => {
                        if let Some(front) = decode(&message.payload).filter(|front: &Standing| is_token(&front.front)) {
                            fronts.insert(front.front.clone(), front);
                        }
                    }
                    Some(message) = of_workers.next() => {
                        if let Some(seen) = seen(&message.subject, &message.payload) {
                            workers.insert(seen.alive.worker.clone(), seen);
                        }
                    }
                    () = &mut over => {
                        self.link.check_permissions()?;
                        for Seen { front, version, state, alive } in workers.values_mut() {
                            *state = State::of(version, alive, fronts.get(front));
                        }
                        return Ok((fronts.into_values().collect(), workers.into_values().collect()));
                    }
                }
            }
        })
    }

    /// Asks the worker of a name to end its jobs and leave; returns whether it has answered that it takes no more.
    ///
    /// # Errors
    /// NATS fails, or does not let this account ask.
    pub fn drain(&self, worker: &str) -> io::Result<bool> {
        let name = worker.to_owned();
        self.link.wait_for("drain a worker", 4 * ALIVE, async {
            let mut words: Subscriber =
                self.link.client.subscribe("refloat.alive.*.*").await.map_err(failed("listen"))?;
            self.link.client.publish(DRAINED, name.clone().into()).await.map_err(failed("drain a worker"))?;
            let answered = async {
                while let Some(message) = words.next().await {
                    let seen = seen(&message.subject, &message.payload);
                    if seen.is_some_and(|seen| seen.alive.worker == name && seen.alive.slots == 0) {
                        return true;
                    }
                }
                false
            };
            let has_answered = tokio::time::timeout(2 * ALIVE, answered).await.unwrap_or(false);
            self.link.check_permissions().map(|()| has_answered)
        })
    }
}

/// A worker's message, with the front and the version that its subject names.
fn seen(subject: &str, payload: &[u8]) -> Option<Seen> {
    let [_, _, version, front] = subject.split('.').collect::<Vec<_>>()[..] else { return None };
    let alive = decode(payload).filter(Alive::is_sound)?;
    let (front, version) = (front.to_owned(), version.replace('_', "."));
    Some(Seen { state: State::of(&version, &alive, None), front, version, alive })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_worker_says_why_no_jobs_come_to_it() {
        let front = Standing {
            front: "0".into(),
            version: "1.2.3".into(),
            queued: 0,
            out: 0,
            sets: ["a", "b"].map(str::to_owned).into(),
        };
        let sets = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), 100)).collect();
        let alive = Alive { slots: 1, key_bytes: 10, sets: sets(&["a", "b", "c"]), ..Alive::default() };
        let state = |version, alive: &Alive| State::of(version, alive, Some(&front));
        // A worker has a set even if keys of the set do not fit into its memory.
        assert_eq!(state("1.2.3", &alive), State::Ready);
        assert_eq!(state("1.2.4", &alive), State::OtherVersion);
        let built = Standing { version: "1.2.3+7".into(), ..front.clone() };
        assert_eq!(State::of("1.2.3.7", &alive, Some(&built)), State::Ready);
        assert_eq!(state("1.2.3", &Alive { sets: sets(&["a", "c"]), ..alive.clone() }), State::OtherBuild);
        // A worker that names no sets takes all, and nothing is known of a front that is not heard.
        assert_eq!(state("1.2.3", &Alive { sets: sets(&[]), ..alive.clone() }), State::Ready);
        assert_eq!(State::of("1.2.4", &alive, None), State::Ready);
        let stopped = Alive { slots: 0, ..alive };
        assert_eq!(state("1.2.3", &stopped), State::Leaves);
        assert_eq!(state("1.2.3", &Alive { hung: 1, ..stopped.clone() }), State::Hung);
        assert_eq!(state("1.2.3", &Alive { storage_fails: true, ..stopped }), State::StorageFails);
    }
}
