//! META-BTS: more precision than one bootstrap has, by bootstrapping what it got wrong (Bae, Cheon, Cho, Kim, Kim,
//! CCS 2022, ePrint 2022/1167).
//!
//! A bootstrap of x gives x + e with |e| < 2^-g. The difference from the input, multiplied by 2^g at the lowest level,
//! is a message again; adding its bootstrap, divided by 2^g, replaces e by 2^-g times another such error. Every round
//! adds g bits until the noise of the input and of one rescaling is reached.

use alloc::{format, vec::Vec};

use super::Method;
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble, Word},
    circuits::program::Readings,
    error::Error,
    schemes::ckks::{Ciphertext, CkksEvaluator},
    trace::{Counters, Observer, StageEvent, StageInfo, emit},
};

/// Stage of the adapter: a correction is added to what is known.
pub const META_CORRECT: &str = "meta_correct";

/// How often a method is iterated, and what each round after the first gains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds {
    count: u32,
    gain_bits: u32,
}

/// Most rounds.
const MOST_ROUNDS: u32 = 8;
/// Most bits that all rounds gain: a correction is multiplied by a word.
const MOST_BITS: u32 = 60;

impl Rounds {
    /// `count` rounds. Each one after the first adds `gain_bits` to the precision of one bootstrap; these are at most the
    /// bits that the method promises in the worst slot, or corrections would be too large to be messages.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no round or more than [`Self::most`], or no gain.
    pub fn new(count: u32, gain_bits: u32) -> Result<Self, Error> {
        let most = Self::most(gain_bits);
        if gain_bits == 0 {
            return Err(Error::InvalidArgument(format!(
                "{count} rounds that gain 0 bits each; a round gains 1 to {MOST_BITS} bits"
            )));
        }
        if !(1..=most).contains(&count) {
            return Err(Error::InvalidArgument(format!(
                "{count} rounds that gain {gain_bits} bits each; take 1 to {most} rounds, which gain at most {MOST_BITS} bits in all"
            )));
        }
        Ok(Self { count, gain_bits })
    }

    /// Most rounds that gain `gain_bits` bits each: 8, or as many as gain 60 bits in all.
    pub fn most(gain_bits: u32) -> u32 {
        MOST_BITS.checked_div(gain_bits).map_or(MOST_ROUNDS, |corrections| MOST_ROUNDS.min(1 + corrections))
    }

    /// Number of rounds.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Bits gained over one bootstrap, where the noise of the input allows it.
    pub fn gained_bits(self) -> u32 {
        (self.count - 1) * self.gain_bits
    }

    /// Level of the result of a method that refreshes from level `input` to `output`: one lower for more than one round,
    /// whatever their number, because dividing a correction takes a level.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if the method has no level left for a correction.
    pub fn output_level(self, input: usize, output: usize) -> Result<usize, Error> {
        if self.count == 1 {
            return Ok(output);
        }
        if output <= input {
            return Err(Error::LevelMismatch(format!(
                "{} rounds need a bootstrap that leaves level {} or above, because a correction takes a level, and this one \
                 refreshes from level {input} to {output} only; take 1 round or a set with more levels",
                self.count,
                input + 1
            )));
        }
        Ok(output - 1)
    }
}

/// An iterated bootstrap in steps. It says what to bootstrap next and takes the result, so that a caller who drives
/// one bootstrap stage by stage can drive several.
pub struct MetaRun<'a, W: Word> {
    evaluator: &'a CkksEvaluator<W>,
    rounds: Rounds,
    /// Lowest level of an input of the method.
    input_level: usize,
    x: Ciphertext<W>,
    /// What is known of the message, and after how many rounds.
    sum: Option<Ciphertext<W>>,
    done: u32,
}

impl<'a, W: Word> MetaRun<'a, W> {
    /// Rounds of a method that refreshes from level `levels[0]` to `levels[1]`, on `x`.
    ///
    /// # Errors
    /// As [`Rounds::output_level`].
    pub fn new(
        evaluator: &'a CkksEvaluator<W>,
        rounds: Rounds,
        levels: [usize; 2],
        x: &Ciphertext<W>,
    ) -> Result<Self, Error> {
        rounds.output_level(levels[0], levels[1])?;
        Ok(Self { evaluator, rounds, input_level: levels[0], x: x.clone(), sum: None, done: 0 })
    }

    /// What is to be bootstrapped next; `None` after the last round.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for an input below the lowest level of the method.
    pub fn input(&self) -> Result<Option<Ciphertext<W>>, Error> {
        let Some(sum) = self.sum.as_ref().filter(|_| self.done < self.rounds.count) else {
            return Ok((self.done == 0).then(|| self.x.clone()));
        };
        // The missing part, computed from the very ciphertext that it will be added to, so that no rounding comes in between.
        let x = self.evaluator.drop_to_level(&self.x, self.input_level)?;
        let known = self.evaluator.drop_to_level(sum, x.level())?;
        self.evaluator.multiply_integer(&self.evaluator.sub(&x, &known)?, self.gain()).map(Some)
    }

    /// Takes the bootstrapped [`Self::input`]; a correction is reported as [`META_CORRECT`].
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if it has no level left for a correction; [`Error::Cancelled`] if the observer says so;
    /// [`Error::InvalidArgument`] after the last round.
    pub fn take(&mut self, refreshed: Ciphertext<W>, observer: &mut dyn Observer) -> Result<(), Error> {
        let (evaluator, scale) = (self.evaluator, self.x.scale());
        if self.done >= self.rounds.count {
            return Err(Error::InvalidArgument("all rounds are done; take the result".into()));
        }
        self.sum = Some(match &self.sum {
            None if self.rounds.count == 1 => refreshed,
            None if refreshed.scale().matches(scale) => {
                evaluator.drop_to_level(&refreshed, refreshed.level().saturating_sub(1))?.relabelled(scale)
            }
            None => {
                let one = ComplexDoubleDouble::ONE;
                evaluator.multiply_constant_rescale(&refreshed, one, scale)?
            }
            Some(sum) => {
                let mut counters = Counters::default();
                emit(observer, &StageEvent::Enter { stage: META_CORRECT })?;
                let share = DoubleDouble::ONE / DoubleDouble::from_i64(self.gain());
                let correction = evaluator.multiply_constant_rescale_counted(
                    &refreshed,
                    share.into(),
                    scale,
                    &mut counters,
                )?;
                let sum = evaluator.add(sum, &correction)?;
                let (level, log_q, log_scale) = (sum.level(), sum.log_q(), sum.log_scale());
                emit(observer, &StageEvent::Exit { stage: META_CORRECT, level, log_q, log_scale, counters })?;
                sum
            }
        });
        self.done += 1;
        Ok(())
    }

    /// The slots at the scale of the input; or, with one round, what the method gave.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if rounds are left.
    pub fn finish(self) -> Result<Ciphertext<W>, Error> {
        let rounds = self.rounds.count;
        self.sum.filter(|_| self.done == rounds).ok_or_else(|| {
            Error::InvalidArgument(format!(
                "{} of {rounds} rounds are done; bootstrap what is next",
                self.done
            ))
        })
    }

    /// The factor by which the correction of this round is multiplied: 2^g for each round before.
    fn gain(&self) -> i64 {
        (1u64 << (self.done * self.rounds.gain_bits)) as i64
    }
}

/// Any method, iterated.
pub struct MetaBootstrapper<'a, W: Word> {
    method: &'a dyn Method<W>,
    rounds: Rounds,
    output_level: usize,
    stages: Vec<StageInfo>,
}

impl<'a, W: Word> MetaBootstrapper<'a, W> {
    /// `rounds` bootstraps by `method`, see [`Rounds::new`].
    ///
    /// # Errors
    /// As [`Rounds::new`] and [`Rounds::output_level`].
    pub fn new(method: &'a dyn Method<W>, rounds: u32, gain_bits: u32) -> Result<Self, Error> {
        Self::with(method, Rounds::new(rounds, gain_bits)?)
    }

    /// [`Self::new`] with rounds that were checked.
    ///
    /// # Errors
    /// As [`Rounds::output_level`].
    pub fn with(method: &'a dyn Method<W>, rounds: Rounds) -> Result<Self, Error> {
        let output_level = rounds.output_level(method.input_level(), method.output_level())?;
        let correct = StageInfo {
            id: META_CORRECT,
            title: "Add the correction",
            symbol: "x' + 2^-g Boot(2^g (x - x'))",
            levels: 1,
        };
        let mut stages = method.stages().to_vec();
        for _ in 1..rounds.count {
            stages.extend_from_slice(method.stages());
            stages.push(correct);
        }
        Ok(Self { method, rounds, output_level, stages })
    }

    /// Bits gained over one bootstrap, where the noise of the input allows it.
    pub fn gained_bits(&self) -> u32 {
        self.rounds.gained_bits()
    }
}

impl<W: Word> Method<W> for MetaBootstrapper<'_, W> {
    fn ckks(&self) -> &CkksEvaluator<W> {
        self.method.ckks()
    }

    fn input_level(&self) -> usize {
        self.method.input_level()
    }

    /// One below the method's: dividing a correction by 2^g takes a level, once for all rounds.
    fn output_level(&self) -> usize {
        self.output_level
    }

    fn stages(&self) -> &[StageInfo] {
        &self.stages
    }

    /// Reads digits as the method does; the rounds play no part.
    fn read_digits(
        &self,
        x: &Ciphertext<W>,
        readings: Readings<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        self.method.read_digits(x, readings, observer)
    }

    /// The slots at the scale of the input; or, with one round, what the method gives.
    fn bootstrap(&self, x: &Ciphertext<W>, observer: &mut dyn Observer) -> Result<Ciphertext<W>, Error> {
        let levels = [self.method.input_level(), self.method.output_level()];
        let mut run = MetaRun::new(self.ckks(), self.rounds, levels, x)?;
        while let Some(input) = run.input()? {
            let refreshed = self.method.bootstrap(&input, observer)?;
            run.take(refreshed, observer)?;
        }
        run.finish()
    }
}
