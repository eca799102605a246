//! Reports the stages of a long call to the caller, who may cancel it.

use core::ops::ControlFlow;

use refloat::trace::{Observer, StageEvent};

use crate::ffi::{Progress, User};

/// Passes events on to a function of the caller's.
pub struct Listener {
    progress: Progress,
    user: User,
    /// Number of parts of the stage, once it has reported them.
    total: usize,
}

impl Listener {
    /// Events go to `progress`, with `user`.
    pub fn new(progress: Progress, user: User) -> Self {
        Self { progress, user, total: 1 }
    }
}

impl Observer for Listener {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        let (done, total) = match *event {
            StageEvent::Enter { .. } => {
                self.total = 1;
                (0, 0)
            }
            StageEvent::Progress { done, total, .. } => {
                self.total = total;
                (done, total)
            }
            StageEvent::Exit { .. } => (self.total, self.total),
            _ => return ControlFlow::Continue(()),
        };
        if self.progress.tell(self.user, event.stage(), done, total) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }
}
