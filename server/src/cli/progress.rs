//! Progress bars on a terminal, silence elsewhere; and stage times from the events of a run.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use refloat::trace::{Counters, Observer, StageEvent};
use serde::Serialize;

use super::output::Output;

/// The layout of a bar that counts steps.
const STEPS: &str = "{msg:32} {wide_bar} {pos}/{len} {elapsed_precise}";

/// A bar that counts to `total`.
pub fn bar(output: &Output, total: u64, message: &str) -> ProgressBar {
    let bar = new(output, Some(total), STEPS);
    bar.set_message(message.to_owned());
    bar
}

/// A bar that counts bytes.
pub fn byte_bar(output: &Output, total: u64, message: &str) -> ProgressBar {
    let bar = new(output, Some(total), "{msg:32} {wide_bar} {decimal_bytes}/{decimal_total_bytes} {eta}");
    bar.set_message(message.to_owned());
    bar
}

/// A spinner, for work of unknown length.
pub fn spinner(output: &Output, message: &str) -> ProgressBar {
    let bar = new(output, None, "{spinner} {msg} {elapsed_precise}");
    bar.set_message(message.to_owned());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn new(output: &Output, total: Option<u64>, template: &str) -> ProgressBar {
    let target =
        if output.is_watched() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    styled(ProgressBar::with_draw_target(total, target), template)
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Shows that a run enters a stage. Name, position and length change in one draw, so that the position of a stage is never shown with
/// the name or the length of another.
pub fn show_stage(bar: &ProgressBar, stage: String) {
    let bar = bar.clone().with_message(stage);
    bar.update(|state| {
        state.set_pos(0);
        state.set_len(1);
    });
}

/// Shows how far a stage is, of `total` steps.
pub fn show_steps(bar: &ProgressBar, done: u64, total: u64) {
    bar.update(|state| {
        state.set_pos(done);
        state.set_len(total);
    });
}

/// One finished stage of a run.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StageTime {
    /// The stage.
    pub stage: String,
    /// Its duration.
    pub seconds: f64,
    /// Level after it.
    pub level: usize,
    /// log2 of the modulus after it.
    #[serde(rename = "logQ")]
    pub log_q: f64,
    /// log2 of the scale after it.
    pub log_scale: f64,
    /// Transforms of one residue row.
    pub ntt: u64,
    /// Multiply-accumulates of one residue row.
    pub limb_mac: u64,
    /// Key switches.
    pub key_switch: u64,
}

/// Times the stages of a run and shows its progress.
pub struct StageClock {
    bar: ProgressBar,
    entered: Instant,
    /// The finished stages.
    pub stages: Vec<StageTime>,
}

impl StageClock {
    /// A clock that shows its progress if a person watches.
    pub fn new(output: &Output) -> Self {
        Self { bar: bar(output, 1, "starting"), entered: Instant::now(), stages: Vec::new() }
    }
}

impl Drop for StageClock {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for StageClock {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        match *event {
            StageEvent::Enter { stage } => {
                self.entered = Instant::now();
                show_stage(&self.bar, stage.to_owned());
            }
            StageEvent::Progress { done, total, .. } => show_steps(&self.bar, done as u64, total as u64),
            StageEvent::Exit { stage, level, log_q, log_scale, counters } => {
                let Counters { ntt, limb_mac, key_switch } = counters;
                self.stages.push(StageTime {
                    stage: stage.to_owned(),
                    seconds: self.entered.elapsed().as_secs_f64(),
                    level,
                    log_q,
                    log_scale,
                    ntt,
                    limb_mac,
                    key_switch,
                });
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// The stages as a table.
pub fn stage_table(stages: &[StageTime]) -> String {
    let mut rows = vec![["stage", "seconds", "level", "log2 Q", "NTTs", "MACs"].map(str::to_owned).to_vec()];
    rows.extend(stages.iter().map(|stage| {
        vec![
            stage.stage.clone(),
            format!("{:.3}", stage.seconds),
            stage.level.to_string(),
            format!("{:.1}", stage.log_q),
            stage.ntt.to_string(),
            stage.limb_mac.to_string(),
        ]
    }));
    super::output::table(&rows)
}

/// A terminal that records what is drawn.
#[cfg(test)]
pub mod recorded {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::{ProgressBar, ProgressDrawTarget, TermLike};

    use super::{STEPS, styled};

    /// What was drawn on the terminal, in order.
    #[derive(Debug, Clone, Default)]
    pub struct Terminal(Arc<Mutex<Vec<String>>>);

    impl Terminal {
        /// A bar of steps that is redrawn on the terminal at every change.
        pub fn bar(&self) -> ProgressBar {
            let target = ProgressDrawTarget::term_like(Box::new(self.clone()));
            styled(ProgressBar::with_draw_target(Some(1), target), STEPS).with_message("starting")
        }

        /// The name and the steps of every draw: `mod_raise 0/1`.
        pub fn draws(&self) -> Vec<String> {
            let drawn = self.0.lock().unwrap();
            drawn
                .iter()
                .filter_map(|line| {
                    let words: Vec<&str> = line.split_whitespace().collect();
                    let steps = words.iter().find(|word| word.contains('/'))?;
                    Some(format!("{} {steps}", words[0]))
                })
                .collect()
        }

        fn keep(&self, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            100
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.keep(text);
            Ok(())
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.keep(text);
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_never_drawn_with_the_steps_of_another() {
        let terminal = recorded::Terminal::default();
        let mut clock = StageClock { bar: terminal.bar(), entered: Instant::now(), stages: Vec::new() };
        let steps = |stage, done, total| StageEvent::Progress { stage, done, total };
        for event in [
            StageEvent::Enter { stage: "blind_rotate" },
            steps("blind_rotate", 1, 15),
            steps("blind_rotate", 15, 15),
            StageEvent::Enter { stage: "product_tree" },
            steps("product_tree", 3, 4),
        ] {
            assert!(clock.event(&event).is_continue());
        }
        let drawn = terminal.draws();
        let whole = [
            "blind_rotate 0/1",
            "blind_rotate 1/15",
            "blind_rotate 15/15",
            "product_tree 0/1",
            "product_tree 3/4",
        ];
        assert_eq!(drawn, whole);
    }
}
