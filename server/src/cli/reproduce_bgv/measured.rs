//! What a bootstrap took: seconds by stage, and bits of noise capacity.

use std::ops::ControlFlow;
use std::time::Instant;

use refloat::bootstrapping::bgv::{BgvState, DIGIT_REMOVAL, MOD_RAISE, PREPARE, TAKE_OFF};
use refloat::schemes::bgv::BgvCiphertext;
use refloat::trace::{Observer, StageEvent};

/// The times of one bootstrap, by stage.
pub struct Stages {
    pub began: Instant,
    pub seconds: Vec<(&'static str, f64)>,
}

impl Observer for Stages {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        match event {
            StageEvent::Enter { .. } => self.began = Instant::now(),
            StageEvent::Exit { stage, .. } => self.seconds.push((*stage, self.began.elapsed().as_secs_f64())),
            _ => (),
        }
        ControlFlow::Continue(())
    }
}

/// The outcome of some runs on one number of threads: the seconds of the fastest, the wrong slots of all, and the noise capacity in bits
/// of the fastest, in the end and after each stage from the raise on.
pub struct Measured {
    pub seconds: f64,
    pub stages: Vec<(&'static str, f64)>,
    pub wrong: usize,
    pub capacity: f64,
    pub capacities: Vec<(&'static str, f64)>,
    /// Bits of capacity that each stage took, except for the raise.
    pub taken: Vec<(&'static str, f64)>,
}

impl Measured {
    /// Seconds of linear maps and of the removal.
    pub fn parts(&self) -> [f64; 2] {
        let sum = |wanted: &dyn Fn(&str) -> bool| {
            self.stages.iter().filter(|(stage, _)| wanted(stage)).map(|(_, seconds)| seconds).sum()
        };
        let linear = |stage: &str| ![PREPARE, MOD_RAISE, DIGIT_REMOVAL, TAKE_OFF].contains(&stage);
        [sum(&linear), sum(&|stage| stage == DIGIT_REMOVAL)]
    }

    /// Bits of capacity that a stage took.
    pub fn bits_of_stage(&self, stage: &str) -> Option<f64> {
        self.taken.iter().find(|(id, _)| *id == stage).map(|(_, bits)| *bits)
    }

    /// Bits of capacity: after the raise, taken by linear maps after it, taken by the removal including its final subtraction, and left.
    pub fn budget(&self) -> [f64; 4] {
        let (mut linear, mut removal) = (0.0, 0.0);
        for pair in self.capacities.windows(2) {
            let taken = pair[0].1 - pair[1].1;
            let part =
                if [DIGIT_REMOVAL, TAKE_OFF].contains(&pair[1].0) { &mut removal } else { &mut linear };
            *part += taken;
        }
        [self.capacities.first().map_or(0.0, |(_, bits)| *bits), linear, removal, self.capacity]
    }
}

/// The noise capacity in bits from the raise on, the least of all ciphertexts.
pub fn capacity(state: &BgvState<u64>) -> Option<f64> {
    match state {
        BgvState::Raised(x, _)
        | BgvState::Slots(x, _)
        | BgvState::Removed(x)
        | BgvState::Digits(x, _)
        | BgvState::Done(x) => Some(x.capacity()),
        BgvState::Unpacked(all, _) => all.iter().map(BgvCiphertext::capacity).reduce(f64::min),
        BgvState::Input(_) | BgvState::Base(_) | BgvState::Prepared(_) | BgvState::Failed => None,
    }
}

/// The noise capacity in bits, before the raise as well.
pub fn room(state: &BgvState<u64>) -> Option<f64> {
    match state {
        BgvState::Input(x) | BgvState::Base(x) => Some(x.capacity()),
        _ => capacity(state),
    }
}
