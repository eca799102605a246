//! The events of a run, collected.

use std::ops::ControlFlow;

use refloat::trace::{Observer, StageEvent};

/// Collects the events of a run, in order.
#[derive(Debug, Default)]
pub struct Recorder(pub Vec<StageEvent>);

impl Observer for Recorder {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        self.0.push(*event);
        ControlFlow::Continue(())
    }
}
