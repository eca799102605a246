//! Progress bars on a terminal, silence elsewhere; and stage times from the events of a run.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use refloat::trace::{Counters, Observer, StageEvent};
use serde::Serialize;

use super::output::Output;

/// A bar that counts to `total`.
pub fn bar(output: &Output, total: u64, message: &str) -> ProgressBar {
    let bar = new(output, Some(total), "{msg:32} {wide_bar} {pos}/{len} {elapsed_precise}");
    bar.set_message(message.to_owned());
    bar
}

/// A bar that counts bytes.
pub fn byte_bar(output: &Output, total: u64, message: &str) -> ProgressBar {
    let bar = new(output, Some(total), "{msg:32} {wide_bar} {decimal_bytes}/{decimal_total_bytes} {eta}");
    bar.set_message(message.to_owned());
    bar
}

/// A sign of life for work of unknown length.
pub fn spinner(output: &Output, message: &str) -> ProgressBar {
    let bar = new(output, None, "{spinner} {msg} {elapsed_precise}");
    bar.set_message(message.to_owned());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn new(output: &Output, total: Option<u64>, template: &str) -> ProgressBar {
    let target =
        if output.is_watched() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(total, target);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// One stage of a run, as it was.
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

/// Times the stages of a run and shows where it is.
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
                // Back to the beginning first: the position of one stage is never shown of the length of the next.
                self.bar.set_position(0);
                self.bar.set_length(1);
                self.bar.set_message(stage.to_owned());
            }
            StageEvent::Progress { done, total, .. } => {
                self.bar.set_length(total as u64);
                self.bar.set_position(done as u64);
            }
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
