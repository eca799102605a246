//! META-BTS: more precision than one bootstrap has, by bootstrapping what it got wrong (Bae, Cheon, Cho, Kim, Kim,
//! CCS 2022, ePrint 2022/1167).
//!
//! A bootstrap of x gives x + e with |e| < 2^-g. The difference from the input, multiplied by 2^g at the lowest level,
//! is a message again; its bootstrap divided by 2^g takes e away but for 2^-g of another such error. Every round
//! adds g bits until the noise of the input and of one rescaling is reached.

use alloc::{format, vec::Vec};

use super::Method;
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble, Word},
    error::Error,
    schemes::ckks::{Ciphertext, CkksEvaluator, Scale},
    trace::{Counters, Observer, StageEvent, StageInfo, emit},
};

/// Stage of the adapter: a correction is added to what is known.
pub const META_CORRECT: &str = "meta_correct";

/// Any method, iterated.
pub struct MetaBootstrapper<'a, W: Word> {
    method: &'a dyn Method<W>,
    rounds: u32,
    gain_bits: u32,
    stages: Vec<StageInfo>,
}

impl<'a, W: Word> MetaBootstrapper<'a, W> {
    /// `rounds` bootstraps by `method`, of which each adds `gain_bits` to the precision of one: at most the bits that its
    /// largest error promises, or the corrections are too large to be messages.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no round or more than 8, no gain, or more than 60 bits gained in all;
    /// [`Error::LevelMismatch`] if the method has no level left for a correction.
    pub fn new(method: &'a dyn Method<W>, rounds: u32, gain_bits: u32) -> Result<Self, Error> {
        if !(1..=8).contains(&rounds) || gain_bits == 0 || (rounds - 1).saturating_mul(gain_bits) > 60 {
            return Err(Error::InvalidArgument(format!(
                "{rounds} rounds that gain {gain_bits} bits each; take 1 to 8 rounds and gain 1 to 60 bits in all"
            )));
        }
        if rounds > 1 && method.output_level() <= method.input_level() {
            return Err(Error::LevelMismatch(format!(
                "a correction takes one level, and the method refreshes from level {} to {} only",
                method.input_level(),
                method.output_level()
            )));
        }
        let correct = StageInfo {
            id: META_CORRECT,
            title: "Add the correction",
            symbol: "x' + 2^-g Boot(2^g (x - x'))",
            levels: 1,
        };
        let mut stages = method.stages().to_vec();
        for _ in 1..rounds {
            stages.extend_from_slice(method.stages());
            stages.push(correct);
        }
        Ok(Self { method, rounds, gain_bits, stages })
    }

    /// Bits gained over one bootstrap, where the noise of the input allows it.
    pub fn gained_bits(&self) -> u32 {
        (self.rounds - 1) * self.gain_bits
    }
}

impl<W: Word> Method<W> for MetaBootstrapper<'_, W> {
    fn params_id(&self) -> [u8; 16] {
        self.method.params_id()
    }

    fn ckks(&self) -> &CkksEvaluator<W> {
        self.method.ckks()
    }

    fn input_level(&self) -> usize {
        self.method.input_level()
    }

    /// One below the method's: dividing a correction by 2^g takes a level, once for all rounds.
    fn output_level(&self) -> usize {
        self.method.output_level() - usize::from(self.rounds > 1)
    }

    fn stages(&self) -> &[StageInfo] {
        &self.stages
    }

    /// The slots at the scale of the input; or, with one round, what the method gives.
    fn bootstrap(&self, x: &Ciphertext<W>, observer: &mut dyn Observer) -> Result<Ciphertext<W>, Error> {
        let first = self.method.bootstrap(x, observer)?;
        if self.rounds == 1 {
            return Ok(first);
        }
        let evaluator = self.ckks();
        let level = first.level() - 1;
        let scale = x.scale();
        let mut sum = if first.scale().matches(scale) {
            evaluator.drop_to_level(&first, level)?.relabelled(scale)
        } else {
            fraction(evaluator, &first, DoubleDouble::ONE, scale, &mut Counters::default())?
        };
        let x = evaluator.drop_to_level(x, self.method.input_level())?;
        for round in 1..self.rounds {
            // What is missing, from the very ciphertext that it will be added to: no rounding comes in between.
            let gain = (1u64 << (round * self.gain_bits)) as i64;
            let known = evaluator.drop_to_level(&sum, x.level())?;
            let missing = evaluator.multiply_integer(&evaluator.sub(&x, &known)?, gain)?;
            let correction = self.method.bootstrap(&missing, observer)?;
            let mut counters = Counters::default();
            emit(observer, &StageEvent::Enter { stage: META_CORRECT })?;
            let share = DoubleDouble::ONE / DoubleDouble::from_i64(gain);
            let correction = fraction(evaluator, &correction, share, scale, &mut counters)?;
            sum = evaluator.add(&sum, &correction)?;
            let (log_q, log_scale) = (sum.log_q(), sum.log_scale());
            let exit = StageEvent::Exit { stage: META_CORRECT, level, log_q, log_scale, counters };
            emit(observer, &exit)?;
        }
        Ok(sum)
    }
}

/// c x at another scale, one level down.
fn fraction<W: Word>(
    evaluator: &CkksEvaluator<W>,
    x: &Ciphertext<W>,
    c: DoubleDouble,
    scale: Scale,
    counters: &mut Counters,
) -> Result<Ciphertext<W>, Error> {
    let rlwe = evaluator.context().rlwe();
    counters.ntt += 2 * rlwe.rescale(x.level())?.ntts();
    let primes = Scale::product(rlwe.spec().levels[x.level()].iter().copied());
    let factor = scale.mul(primes).div(x.scale());
    let product = evaluator.multiply_constant(x, ComplexDoubleDouble::real(c), factor)?;
    Ok(evaluator.rescale(&product)?.relabelled(scale))
}
