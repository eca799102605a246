//! The clock that retention is measured by: setting the machine's clock forward does not age stored things.

use std::time::Instant;

/// The time of the machine when the server started, and the time since then.
pub struct Clock {
    started: u64,
    at: Instant,
}

impl Clock {
    /// A clock that starts at `time`, in milliseconds since 1970.
    pub fn start(time: u64) -> Self {
        Self { started: time, at: Instant::now() }
    }

    /// The time when the machine's clock shows `time`: that, but no more than the start and what has passed since.
    pub fn now(&self, time: u64) -> u64 {
        time.min(self.started.saturating_add(self.at.elapsed().as_millis() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_forward_is_not_followed() {
        let clock = Clock::start(1_000_000_000);
        let week = 7 * 24 * 3_600_000;
        assert!((1_000_000_000..1_000_000_000 + week / 2).contains(&clock.now(1_000_000_000 + week)));
        assert_eq!(clock.now(5), 5);
    }
}
