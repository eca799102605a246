//! Reading digits in steps: one stage at a time.

use alloc::{format, vec::Vec};

use super::{
    evaluator::MsbEvaluator,
    readout::{Pass, Readout, Yields},
    stages::{DISCRETISE, EVAL_EXP, LOOK_UP, TO_EPHEMERAL},
};
use crate::{
    arith::{DoubleDouble, Word},
    bootstrapping::raising::{COEFFS_TO_SLOTS, KeySource, MOD_RAISE, SLOTS_TO_COEFFS},
    circuits::polynomial::PolynomialEvaluator,
    error::Error,
    rlwe::{EphemeralPair, Pair},
    schemes::{
        ckks::{Ciphertext, Scale},
        evaluator::Leveled,
    },
    trace::{Counters, Observer, StageEvent, emit},
};

/// Whether numbers that are not on the grid of a readout are brought there, and under which secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// They are on the grid, but for noise.
    None,
    /// To the nearest point of the grid, but for a deviation of sqrt((1 + h) / 12) points, h the weight of the ephemeral
    /// secret: 1.66 points for h = 32.
    Ephemeral,
    /// The same under the main secret: 4.0 points for h = 192. It is what the literature has, and for comparison with it.
    Main,
}

/// Where a run stands.
pub enum MsbState<W: Word> {
    /// Slots that become coefficients next: the number, or the digit read last.
    Input(Ciphertext<W>),
    /// The same in coefficients, modulo q0.
    Base(Ciphertext<W>),
    /// What has not been read yet, under the ephemeral secret.
    Ephemeral(EphemeralPair<W>),
    /// k x + I at the highest level.
    Raised(Ciphertext<W>),
    /// The same in slots, over K.
    Quotients(Ciphertext<W>),
    /// On the roots of unity.
    Roots(Ciphertext<W>),
    /// Finished.
    Done(Vec<Ciphertext<W>>),
    /// Ended by an error.
    Failed,
}

/// Reading digits, driven from outside: between two steps the caller may look, wait or drop it.
pub struct MsbRun<'a, W: Word = u64> {
    evaluator: &'a MsbEvaluator<W>,
    readout: &'a Readout,
    /// What is still to be done.
    rounding: Rounding,
    /// Passes done.
    done: usize,
    /// What has not been read before this pass, where there is one after it.
    rest: Option<EphemeralPair<W>>,
    /// Whose key it is.
    like: Ciphertext<W>,
    results: Vec<Ciphertext<W>>,
    state: MsbState<W>,
}

impl<'a, W: Word> MsbRun<'a, W> {
    /// Reads slots: fractions at the scale of the set, of any size and at any level from that of inputs on, of which the part
    /// modulo 1 is read. Nothing is computed yet.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`], [`Error::ScaleMismatch`], [`Error::InvalidArgument`] for a ciphertext
    /// or a readout that does not fit.
    pub fn new(
        evaluator: &'a MsbEvaluator<W>,
        x: &Ciphertext<W>,
        readout: &'a Readout,
        rounding: Rounding,
    ) -> Result<Self, Error> {
        let params = evaluator.params();
        params.check_set(x)?;
        let (lowest, scale) = (params.levels().input, params.scale());
        if x.level() < lowest {
            return Err(Error::LevelMismatch(format!(
                "digits of {} are read from level {lowest} on, the ciphertext is at {}; read them earlier",
                params.name(),
                x.level()
            )));
        }
        if !x.scale().matches(scale) {
            return Err(Error::ScaleMismatch(format!(
                "fractions at scale 2^{:.6} and a set whose scale is 2^{:.6}; multiply them by a constant at the scale they \
                 lack",
                x.log_scale(),
                scale.log2()
            )));
        }
        let x = evaluator.ckks().drop_to_level(x, lowest)?;
        Self::begin(evaluator, &x, readout, rounding, MsbState::Input(x.clone()))
    }

    /// Reads coefficients over q0, at whatever level: into slot k goes what is read of coefficient k with its bits reversed. They
    /// are those that slots-to-coefficients leaves.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_coefficients(
        evaluator: &'a MsbEvaluator<W>,
        x: &Ciphertext<W>,
        readout: &'a Readout,
        rounding: Rounding,
    ) -> Result<Self, Error> {
        evaluator.params().check_set(x)?;
        let x = evaluator.ckks().drop_to_level(x, 0)?;
        Self::begin(evaluator, &x, readout, rounding, MsbState::Base(x.clone()))
    }

    fn begin(
        evaluator: &'a MsbEvaluator<W>,
        x: &Ciphertext<W>,
        readout: &'a Readout,
        rounding: Rounding,
        state: MsbState<W>,
    ) -> Result<Self, Error> {
        if x.components() != 2 {
            return Err(Error::InvalidArgument(format!(
                "a ciphertext of {} components must be relinearised before digits are read",
                x.components()
            )));
        }
        evaluator.check_readout(readout)?;
        let like = evaluator.ckks().drop_to_level(x, 0)?;
        Ok(Self { evaluator, readout, rounding, done: 0, rest: None, like, results: Vec::new(), state })
    }

    /// The stage the next step belongs to; `None` when finished.
    pub fn next_stage(&self) -> Option<&'static str> {
        Some(match self.state {
            MsbState::Input(_) => SLOTS_TO_COEFFS,
            MsbState::Base(_) if self.rounding == Rounding::Main => DISCRETISE,
            MsbState::Base(_) => TO_EPHEMERAL,
            MsbState::Ephemeral(_) if self.rounding == Rounding::Ephemeral => DISCRETISE,
            MsbState::Ephemeral(_) => MOD_RAISE,
            MsbState::Raised(_) => COEFFS_TO_SLOTS,
            MsbState::Quotients(_) => EVAL_EXP,
            MsbState::Roots(_) => LOOK_UP,
            MsbState::Done(_) | MsbState::Failed => return None,
        })
    }

    /// Where the run stands.
    pub fn state(&self) -> &MsbState<W> {
        &self.state
    }

    /// Digits read, and those there are.
    pub fn progress(&self) -> (usize, usize) {
        (self.done, self.readout.passes())
    }

    /// Does one stage and reports it; true when the run is finished. After each digit there is a [`StageEvent::Progress`].
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the observer breaks; errors of the keys. After an error within a stage the run is over.
    pub fn step(&mut self, keys: &dyn KeySource<W>, observer: &mut dyn Observer) -> Result<bool, Error> {
        let Some(stage) = self.next_stage() else {
            return match self.state {
                MsbState::Done(_) => Ok(true),
                _ => Err(failed()),
            };
        };
        emit(observer, &StageEvent::Enter { stage })?;
        let mut counters = Counters::default();
        let state = core::mem::replace(&mut self.state, MsbState::Failed);
        self.state = self.advance(state, keys, &mut counters)?;
        if stage == LOOK_UP {
            let (done, total) = self.progress();
            emit(observer, &StageEvent::Progress { stage, done, total })?;
        }
        let (level, log_q, log_scale) = self.position();
        emit(observer, &StageEvent::Exit { stage, level, log_q, log_scale, counters })?;
        Ok(matches!(self.state, MsbState::Done(_)))
    }

    /// The results, in the order of the readout.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if steps are left.
    pub fn finish(self) -> Result<Vec<Ciphertext<W>>, Error> {
        match self.state {
            MsbState::Done(results) => Ok(results),
            MsbState::Failed => Err(failed()),
            _ => Err(Error::InvalidArgument(format!(
                "not all digits are read; next stage: {}",
                self.next_stage().unwrap_or("none")
            ))),
        }
    }

    /// Level, and log2 of the modulus and of the scale.
    fn position(&self) -> (usize, f64, f64) {
        let x = match &self.state {
            MsbState::Input(x)
            | MsbState::Base(x)
            | MsbState::Raised(x)
            | MsbState::Quotients(x)
            | MsbState::Roots(x) => Some(x),
            MsbState::Done(results) => results.first(),
            MsbState::Ephemeral(_) | MsbState::Failed => None,
        };
        let base = self.evaluator.params().base_modulus().log2();
        x.map_or((0, base, base), |x| (x.level(), x.log_q(), x.log_scale()))
    }

    fn advance(
        &mut self,
        state: MsbState<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<MsbState<W>, Error> {
        let evaluator = self.evaluator;
        Ok(match state {
            MsbState::Input(x) => MsbState::Base(evaluator.slots_to_coeffs(&x, keys, counters)?),
            MsbState::Base(x) if self.rounding == Rounding::Main => {
                self.rounding = Rounding::None;
                let pair = x.pair()?;
                let pair = EphemeralPair::new(pair.b.into_coeff(), pair.a.into_coeff())?;
                let pair = pair.discretise(self.readout.grid())?;
                let [b, a] = pair.parts().map(|part| part.clone().into_eval());
                MsbState::Base(x.with_pair(Pair { b, a }, x.level(), x.scale()))
            }
            MsbState::Base(x) => {
                let new = evaluator.to_ephemeral(&x, keys, counters)?;
                MsbState::Ephemeral(match self.rest.take() {
                    None => new,
                    Some(rest) => rest.subtract(&new)?,
                })
            }
            MsbState::Ephemeral(pair) if self.rounding == Rounding::Ephemeral => {
                self.rounding = Rounding::None;
                MsbState::Ephemeral(pair.discretise(self.readout.grid())?)
            }
            MsbState::Ephemeral(pair) => {
                self.rest = (!self.readout.is_last(self.done)).then(|| pair.clone());
                // At most the largest modulus, 2^20.
                let pair = pair.multiply_integer(self.readout.pass(self.done).factor as i64);
                MsbState::Raised(evaluator.from_ephemeral(&pair, &self.like, keys, counters)?)
            }
            MsbState::Raised(x) => {
                let mut parts = evaluator.coeffs_to_slots(&x, keys, counters)?;
                MsbState::Quotients(parts.swap_remove(0))
            }
            MsbState::Quotients(y) => {
                let relinearization = keys.relinearization_key()?;
                let polynomials = PolynomialEvaluator::new(evaluator.ckks(), &*relinearization);
                let scale = evaluator.params().scale();
                let exponential = evaluator.reduction();
                MsbState::Roots(exponential.evaluate(evaluator.ckks(), &polynomials, &y, scale, counters)?)
            }
            MsbState::Roots(z) => {
                let digit = self.look_up(&z, keys, counters)?;
                let last = self.readout.is_last(self.done);
                self.done += 1;
                match digit {
                    Some(digit) if !last => MsbState::Input(digit),
                    _ => MsbState::Done(core::mem::take(&mut self.results)),
                }
            }
            other @ MsbState::Done(_) => other,
            MsbState::Failed => return Err(failed()),
        })
    }

    /// The tables of a pass: results, and the digit as a part of the fraction, at the level of inputs.
    fn look_up(
        &mut self,
        z: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Option<Ciphertext<W>>, Error> {
        let (ckks, params) = (self.evaluator.ckks(), self.evaluator.params());
        let (scale, lowest) = (params.scale(), params.levels().input);
        let Pass { base, factor, tables, yields } = self.readout.pass(self.done);
        let last = self.readout.is_last(self.done);
        let relinearization = keys.relinearization_key()?;
        let polynomials = PolynomialEvaluator::new(ckks, &*relinearization);
        // A digit over t at the scale S / k is a part of the fraction at S.
        let target = match yields {
            Yields::Digit | Yields::Guard => scale.div(Scale::from_integer(*factor)),
            Yields::Bits | Yields::Values => scale,
        };
        let mut values = polynomials.evaluate_planned(tables, z, target, counters)?;
        match yields {
            Yields::Digit | Yields::Guard => {
                let digit = values.swap_remove(0).relabelled(scale);
                let next = (!last).then(|| ckks.drop_to_level(&digit, lowest)).transpose()?;
                if *yields == Yields::Digit {
                    self.results = alloc::vec![match self.results.pop() {
                        None => digit,
                        Some(sum) => ckks.add(&sum, &digit)?,
                    }];
                }
                Ok(next)
            }
            Yields::Bits => {
                let mut digit = None;
                if !last {
                    // The sum of 2^b / (t k) times the bits, by one constant a bit and no key switch.
                    let level = lowest + 1;
                    let mut sum = ckks.empty_sum(&values[0], level, scale.mul(ckks.label_of_level(level)));
                    let whole = i64::from(*base) * *factor as i64;
                    for (b, bit) in values.iter().enumerate() {
                        ckks.add_multiple_assign(&mut sum, bit, DoubleDouble::ratio(1 << b, whole).into())?;
                    }
                    digit = Some(polynomials.reduce(&sum, counters)?.relabelled(scale));
                }
                self.results.append(&mut values);
                Ok(digit)
            }
            Yields::Values => {
                self.results.append(&mut values);
                Ok(None)
            }
        }
    }
}

fn failed() -> Error {
    Error::InvalidArgument("the run ended with an error; begin a new one".into())
}
