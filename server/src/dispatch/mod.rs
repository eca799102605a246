//! How attempts at jobs reach the workers that run them, and how their outcomes come back.
//!
//! The job table is the source of truth; messages only carry work. An implementation may lose everything it holds at any time, and may
//! deliver a message more than once, late and in any order: the sender follows up on it, and the receiver asks the table whether it
//! still counts. The contract of an implementation is tested in `server/tests/server/dispatch_contract.rs`, and
//! `server/tests/server/simulation.rs` runs both ends over one that misbehaves in every way it may.

pub mod held;
mod local;
#[cfg(feature = "cluster")]
pub mod nats;
pub mod news;
pub mod queue;
mod worker_description;

pub use local::Local;
pub use news::{News, Sign};
pub use queue::{Rules, Taken, Ticket};
pub use worker_description::Alive;

use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::problem::Problem;
use crate::store::jobs::Made;
use crate::work::Work;

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// A result, which is stored.
    Made(Made),
    /// The keys are in memory, which was all that was wanted.
    Loaded,
    /// The keys do not fit into the worker's memory, for this reason; another may have more.
    TooLarge(Problem),
    /// The job cannot be done.
    Failed(Problem),
    /// It was cancelled.
    Cancelled,
    /// The worker is shutting down; nothing is held against the job.
    Stopped,
    /// The attempt could not be finished, for this reason; another may be.
    Trouble(String),
    /// The input, as the worker sees it, is not what was stored.
    DamagedInput,
    /// This piece of the keys is not what was stored.
    DamagedKeys(u32),
    /// A key could not be read in the middle of the run, for this reason.
    UnreadKeys(String),
    /// Other bytes are stored where the result is to be.
    Differs,
    /// The worker met a defect outside the evaluation.
    Crashed,
}

impl Outcome {
    /// The name in metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Made(_) => "made",
            Self::Loaded => "loaded",
            Self::TooLarge(_) => "too_large",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
            Self::Stopped => "stopped",
            Self::Trouble(_) => "trouble",
            Self::DamagedInput => "damaged_input",
            Self::DamagedKeys(_) => "damaged_keys",
            Self::UnreadKeys(_) => "unread_keys",
            Self::Differs => "differs",
            Self::Crashed => "crashed",
        }
    }
}

/// An attempt, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// The job.
    pub job: Id,
    /// Which attempt at it.
    pub attempt: u32,
    /// What came of it.
    pub outcome: Outcome,
}

/// Carries work to workers, and word from them. Nothing blocks for long.
pub trait Dispatch: Send + Sync + 'static {
    /// The workers that are alive, as they last described themselves.
    fn workers(&self) -> Vec<Alive>;

    /// Offers an attempt to the worker of a name. An attempt that was offered a short time before is not offered twice.
    ///
    /// # Errors
    /// It may not have been offered.
    fn publish(&self, worker: &str, work: &Work) -> io::Result<()>;

    /// The next attempt that is offered to the caller, who has it from then on. If the caller dies, the front finds out and makes a new
    /// attempt; an attempt that came back by itself might be of a job that kills all who take it.
    ///
    /// # Errors
    /// Nothing can be had, for the moment.
    fn take(&self) -> io::Result<Option<Work>>;

    /// Says that an attempt is being run, and what is new about it; to be called when it begins, and from time to time.
    ///
    /// # Errors
    /// That may not have been heard.
    fn sign(&self, sign: &Sign) -> io::Result<()>;

    /// Says what came of an attempt, and keeps it until that is [noted](Self::noted).
    ///
    /// # Errors
    /// It may not be kept.
    fn report(&self, done: &Done) -> io::Result<()>;

    /// The next report of what came of an attempt.
    ///
    /// # Errors
    /// Nothing can be had, for the moment.
    fn reported(&self) -> io::Result<Option<Taken<Done>>>;

    /// Drops a report whose content is in the table.
    ///
    /// # Errors
    /// It may be delivered again.
    fn noted(&self, taken: &Taken<Done>) -> io::Result<()>;

    /// Puts back a report that could not be noted, to be delivered again after a pause.
    ///
    /// # Errors
    /// It is delivered again at some time.
    fn put_back(&self, taken: Taken<Done>, pause: Duration) -> io::Result<()>;

    /// The signs that were given since the last call, those of one attempt in their order. They may be lost.
    ///
    /// # Errors
    /// Nothing can be had, for the moment.
    fn signs(&self) -> io::Result<Vec<Sign>>;

    /// Asks the worker that runs a job to stop it.
    ///
    /// # Errors
    /// That may not be heard.
    fn cancel(&self, job: Id) -> io::Result<()>;

    /// Whether a job was asked to stop, as far as is known here.
    fn is_cancelled(&self, job: Id) -> bool;
}
