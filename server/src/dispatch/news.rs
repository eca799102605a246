//! Signs of life from workers, and what they report about a run as it goes.

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::store::events::Urgency;

/// A sign that an attempt is being run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sign {
    /// The job.
    pub job: Id,
    /// Which attempt at it.
    pub attempt: u32,
    /// What is new about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub news: Option<News>,
}

impl Sign {
    /// A sign without news.
    pub fn of_life(job: Id, attempt: u32) -> Self {
        Self { job, attempt, news: None }
    }
}

/// What is new about a run. No result depends on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum News {
    /// Where the run is.
    At {
        /// The stage it is in.
        stage: String,
        /// Finished parts of the stage, and their number.
        parts: Option<(usize, usize)>,
    },
    /// An event for those who follow the job.
    Event {
        /// `stage` or `state`.
        name: String,
        /// One JSON object.
        data: String,
        /// How soon it has to be on disk.
        urgency: Urgency,
    },
    /// A stage has ended.
    Stage {
        /// Its name.
        stage: String,
        /// How long it took.
        seconds: f64,
    },
    /// The keys were in memory, or have been loaded.
    Keys {
        /// Seconds in which they were loaded; `None` if they were in memory.
        loaded: Option<f64>,
    },
    /// The evaluation panicked.
    Panicked,
}
