//! Stages of a long evaluation, made observable.
//!
//! A bootstrapping method describes its stages before anything runs ([`StageInfo`]); while it runs
//! it reports to an [`Observer`], which may stop it. The core has no clock: the receiver of an
//! event stamps the time.

use core::ops::ControlFlow;

use alloc::string::ToString;

use crate::error::Error;

/// One stage of a method, known before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageInfo {
    /// Stable identifier, in the papers' terms: `slots_to_coeffs`, `blind_rotate`, …
    pub id: &'static str,
    /// Human-readable title.
    pub title: &'static str,
    /// Formula of what the stage does, in plain text.
    pub symbol: &'static str,
    /// Levels consumed by the stage.
    pub levels: usize,
}

/// Work done by a stage, in units that do not depend on the machine.
///
/// Operations on ciphertexts count nothing for their callers: an [`Observer`] is given the counts. Only functions that compute one stage of
/// a bootstrap take counters, because a stage is made of several operations: its run adds up what they did, and reports the sum when the
/// stage ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number-theoretic transforms of one residue row.
    pub ntt: u64,
    /// Pointwise multiply-accumulates of one residue row.
    pub limb_mac: u64,
    /// Key-switching inner products.
    pub key_switch: u64,
}

impl core::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        // Saturates, because counts of shared tasks are untrusted bytes from another process.
        self.ntt = self.ntt.saturating_add(other.ntt);
        self.limb_mac = self.limb_mac.saturating_add(other.limb_mac);
        self.key_switch = self.key_switch.saturating_add(other.key_switch);
    }
}

/// What happens to a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum StageEvent {
    /// The stage begins.
    Enter {
        /// [`StageInfo::id`].
        stage: &'static str,
    },
    /// `done` of `total` independent parts are finished.
    Progress {
        /// [`StageInfo::id`].
        stage: &'static str,
        /// Parts finished.
        done: usize,
        /// Parts in all.
        total: usize,
    },
    /// The stage is complete.
    Exit {
        /// [`StageInfo::id`].
        stage: &'static str,
        /// Level of the resulting ciphertext.
        level: usize,
        /// log2 of its modulus.
        log_q: f64,
        /// log2 of its scale.
        log_scale: f64,
        /// Work done by the stage.
        counters: Counters,
    },
}

impl StageEvent {
    /// The stage the event belongs to.
    pub fn stage(&self) -> &'static str {
        match self {
            Self::Enter { stage } | Self::Progress { stage, .. } | Self::Exit { stage, .. } => stage,
        }
    }
}

/// Receives the events of an evaluation and decides whether it goes on.
pub trait Observer: Send {
    /// Called in the order of the stages, from the calling thread. `Break` cancels the evaluation
    /// with [`Error::Cancelled`] at the next boundary between independent parts.
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()>;

    /// Polled between independent parts, possibly often; `true` cancels.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Observes nothing.
impl Observer for () {
    fn event(&mut self, _event: &StageEvent) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Adds up the work of the stages.
impl Observer for Counters {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        if let StageEvent::Exit { counters, .. } = event {
            *self += *counters;
        }
        ControlFlow::Continue(())
    }
}

/// Passes an event on and turns `Break` into [`Error::Cancelled`].
pub fn emit(observer: &mut dyn Observer, event: &StageEvent) -> Result<(), Error> {
    if observer.event(event).is_break() || observer.is_cancelled() {
        return Err(Error::Cancelled(event.stage().to_string()));
    }
    Ok(())
}
