//! Reading digits in steps: one stage at a time.

use alloc::{format, vec::Vec};

use super::{
    evaluator::{MsbEvaluator, one},
    noise,
    numbers::Numbers,
    readout::{Pass, Readout, Yields},
    rounding::Rounding,
    spec::LARGEST_MESSAGE,
    stages::{DISCRETISE, EVAL_EXP, LOOK_UP, TO_EPHEMERAL},
};
use crate::{
    arith::{DoubleDouble, Word},
    bootstrapping::raising::{
        COEFFS_TO_SLOTS, KeySource, MOD_RAISE, SLOTS_TO_COEFFS,
        steps::{Steps, unfinished},
    },
    circuits::polynomial::PolynomialEvaluator,
    error::Error,
    rlwe::{EphemeralPair, Pair},
    schemes::{
        ckks::{Ciphertext, Scale},
        evaluator::Leveled,
    },
    trace::{Counters, Observer, StageEvent},
};

/// Where a run stands.
pub enum MsbState<W: Word> {
    /// Slots that become coefficients next: the number, or the digit read last.
    Input(Ciphertext<W>),
    /// The same in coefficients, modulo q0.
    Base(Ciphertext<W>),
    /// The part of the number that has not been read yet, under the ephemeral secret.
    Ephemeral(EphemeralPair<W>),
    /// k x + I at the highest level, or at a lower one with enough levels for the pass.
    Raised(Ciphertext<W>),
    /// The same in slots, over K: of one number, or of each of two.
    Quotients(Vec<Ciphertext<W>>),
    /// Values on the roots of unity.
    Roots(Vec<Ciphertext<W>>),
    /// Finished.
    Done(Vec<Ciphertext<W>>),
    /// Ended by an error.
    Failed,
}

/// Reading digits, driven from outside: between two steps the caller may look, wait or drop it.
pub struct MsbRun<'a, W: Word = u64> {
    evaluator: &'a MsbEvaluator<W>,
    readout: Readout,
    /// The scale of fractions as results.
    unit: Scale,
    /// Error of the fraction when it has been read.
    left: f64,
    /// The rounding that is still to be done.
    rounding: Rounding,
    /// Passes done.
    done: usize,
    /// The part that has not been read before this pass, if another pass follows.
    rest: Option<EphemeralPair<W>>,
    /// Work done before the run, not yet reported.
    before: Counters,
    /// A ciphertext under the same key, as a model for new ones.
    like: Ciphertext<W>,
    /// Results of one number, or of each of two.
    results: Vec<Vec<Ciphertext<W>>>,
    /// Places of the results that are wanted, ascending; the others are dropped as they appear.
    kept: Option<Vec<usize>>,
    state: MsbState<W>,
}

impl<'a, W: Word> MsbRun<'a, W> {
    /// Reads slots: the part modulo 1 of fractions at the scale of the set, at the level of inputs or any above. Nothing is computed yet.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`], [`Error::ScaleMismatch`], [`Error::InvalidArgument`] for a ciphertext
    /// or a readout that does not fit, or for numbers too large for it: their noise would make digits wrong.
    pub fn new<'x>(
        evaluator: &'a MsbEvaluator<W>,
        numbers: impl Into<Numbers<'x, W>>,
        readout: &Readout,
        rounding: Rounding,
    ) -> Result<Self, Error> {
        let numbers = numbers.into();
        let (params, x) = (evaluator.params(), numbers.ciphertext());
        let (lowest, scale) = (params.levels().input, params.scale());
        params.check_input(x, lowest)?;
        if !x.scale().matches(scale) {
            return Err(Error::ScaleMismatch(format!(
                "fractions at scale 2^{:.6}, and digits of {} are read at scale 2^{:.6}; multiply them by a constant that brings \
                 them there",
                x.log_scale(),
                params.name(),
                scale.log2()
            )));
        }
        let off = noise::as_coefficients(params, &numbers)?;
        let x = evaluator.ckks().drop_to_level(x, lowest)?;
        let run = Self::begin(evaluator, &x, readout, rounding, off, MsbState::Input(x.clone()))?;
        Ok(Self { before: numbers.before(), ..run })
    }

    /// Reads two numbers of every slot at once, x and y of x + i y: they share the maps and the raise, which is half of the work.
    /// Results are those of x, and after them those of y.
    ///
    /// Both have to be real: an imaginary part of x would be read as part of y. Results of tables have imaginary parts of noise alone; bits
    /// of [`MsbEvaluator::bin_boot`] have larger ones.
    ///
    /// # Errors
    /// As [`Self::new`] for either; the bound that counts is that of sqrt(x^2 + y^2).
    pub fn of_two<'x>(
        evaluator: &'a MsbEvaluator<W>,
        [x, y]: [Numbers<'x, W>; 2],
        readout: &Readout,
        rounding: Rounding,
    ) -> Result<Self, Error> {
        let (params, ckks) = (evaluator.params(), evaluator.ckks());
        // Checks either by itself.
        Self::new(evaluator, x, readout, rounding)?;
        Self::new(evaluator, y, readout, rounding)?;
        let scale = params.scale();
        let modulus = libm::hypot(x.largest(scale)?, y.largest(scale)?);
        let largest = modulus.min(LARGEST_MESSAGE);
        let (a, b) = (x.ciphertext(), y.ciphertext());
        let both = ckks.add(a, &ckks.multiply_by_i(b)?.relabelled(a.scale()))?;
        // Each number carries the error of the other. No larger bound than that of messages can be stated, but the error of the first map
        // grows with |x + i y| all the same.
        let beyond = noise::of_first_map(params, modulus) - noise::of_first_map(params, largest);
        let off = x.off(params)? + y.off(params)? + beyond;
        let mut run = Self::new(evaluator, Numbers::up_to(&both, largest).off_by(off), readout, rounding)?;
        run.results.push(Vec::new());
        Ok(run)
    }

    /// Reads coefficients over q0 of a ciphertext at scale q0 and any level: the first N/2, which slots-to-coefficients leaves of real
    /// slots. The result of coefficient k with its bits reversed goes into slot k. `numbers` states how large the slots were, and their
    /// error.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_coefficients<'x>(
        evaluator: &'a MsbEvaluator<W>,
        numbers: impl Into<Numbers<'x, W>>,
        readout: &Readout,
        rounding: Rounding,
    ) -> Result<Self, Error> {
        let (params, numbers) = (evaluator.params(), numbers.into());
        params.check_input(numbers.ciphertext(), 0)?;
        let (own, base) = (numbers.ciphertext().scale(), params.base_modulus());
        if !own.matches(base) {
            return Err(Error::ScaleMismatch(format!(
                "coefficients at scale 2^{:.6}, and those over q0 are at 2^{:.6}; bring slots there by slots-to-coefficients",
                own.log2(),
                base.log2()
            )));
        }
        let off = numbers.off(params)? + noise::of_first_map(params, numbers.largest(own)?);
        let x = evaluator.ckks().drop_to_level(numbers.ciphertext(), 0)?;
        Self::begin(evaluator, &x, readout, rounding, off, MsbState::Base(x.clone()))
    }

    fn begin(
        evaluator: &'a MsbEvaluator<W>,
        x: &Ciphertext<W>,
        readout: &Readout,
        rounding: Rounding,
        off: f64,
        state: MsbState<W>,
    ) -> Result<Self, Error> {
        evaluator.params().check_levels(readout, false)?;
        match rounding {
            // Numbers are rounded to the grid, as exactly as q0 allows.
            Rounding::Ephemeral | Rounding::Main => {
                let params = evaluator.params();
                readout.check_guard(noise::of_rounded_pair(params, rounding))?;
                let rounded = noise::of_rounding(params, rounding, readout.grid());
                if off > rounded {
                    return Err(Error::InvalidArgument(format!(
                        "numbers that are off by up to 2^{:.1} and rounded to multiples of 1/{}, which moves them by no more than 2^{:.1}: \
                         the digits below would be noise; state a smaller bound of the numbers, or take fewer digits",
                        libm::log2(off),
                        readout.grid(),
                        libm::log2(rounded)
                    )));
                }
            }
            Rounding::None => readout.check_noise(off)?,
        }
        let like = evaluator.ckks().drop_to_level(x, 0)?;
        let unit = evaluator.params().scale();
        // Rounded numbers lie on the grid.
        let before = if rounding == Rounding::None { off } else { 0.0 };
        let left = readout.left_of(before) / readout.grid() as f64 + noise::of_reading(evaluator.params());
        Ok(Self {
            evaluator,
            readout: readout.clone(),
            unit,
            left,
            rounding,
            done: 0,
            rest: None,
            before: Counters::default(),
            like,
            results: alloc::vec![Vec::new()],
            kept: None,
            state,
        })
    }

    /// Gives fractions at another scale than that of the set, which costs nothing but a level of every digit that is subtracted.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for tables that leave no such level.
    pub(super) fn with_results_at(mut self, unit: Scale) -> Result<Self, Error> {
        self.evaluator.params().check_levels(&self.readout, true)?;
        self.unit = unit;
        Ok(self)
    }

    /// Keeps only the results at some places, which ascend.
    pub(super) fn keeping(self, places: Vec<usize>) -> Self {
        Self { kept: Some(places), ..self }
    }

    /// Keeps the wanted ones of the values that the tables of a pass give.
    fn keep(&mut self, number: usize, values: Vec<Ciphertext<W>>) {
        let first = self.readout.values_before(self.done);
        let kept = values.into_iter().enumerate().filter(|(i, _)| is_kept(self.kept.as_deref(), first + i));
        self.results[number].extend(kept.map(|(_, value)| value));
    }

    /// Level to which the digit of this pass is raised.
    fn raised(&self) -> usize {
        let (readout, i, params) = (&self.readout, self.done, self.evaluator.params());
        let mut places = readout.values_before(i)..readout.values_before(i + 1);
        let wanted = places.any(|place| is_kept(self.kept.as_deref(), place));
        params.raised(readout, i, wanted, self.unit != params.scale())
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

    /// A bound of the error of the fraction that is read, exceeded with a probability of 2^-28 a slot (six deviations): to be stated where
    /// the fraction is read again ([`Numbers::off_by`]). The errors of bits and functions are at most T times as large.
    pub fn off(&self) -> f64 {
        self.left
    }

    /// Where the run stands.
    pub fn state(&self) -> &MsbState<W> {
        &self.state
    }

    /// Digits read, and digits in all.
    pub fn progress(&self) -> (usize, usize) {
        (self.done, self.readout.passes())
    }

    /// t and k of digit i: k x + I is read beside multiples of 1/t, and the digit counts multiples of 1/(t k).
    pub(super) fn digit(&self, i: usize) -> (u32, u64) {
        let pass = self.readout.pass(i);
        (pass.base, pass.factor)
    }

    /// Does one stage and reports it; true when the run is finished. After each digit there is a [`StageEvent::Progress`].
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the observer breaks; errors of the keys. After an error within a stage the run is over.
    pub fn step(&mut self, keys: &dyn KeySource<W>, observer: &mut dyn Observer) -> Result<bool, Error> {
        self.step_reported(keys, observer)
    }

    /// The results, in the order of the readout.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if steps are left.
    pub fn finish(self) -> Result<Vec<Ciphertext<W>>, Error> {
        match self.state {
            MsbState::Done(results) => Ok(results),
            _ => Err(unfinished(self.next_stage())),
        }
    }

    /// The result of a readout with one.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn finish_one(self) -> Result<Ciphertext<W>, Error> {
        one(self.finish()?)
    }

    fn next(
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
                // A pair is rounded in the same way under any secret, here the main one.
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
                let level = self.raised();
                MsbState::Raised(evaluator.from_ephemeral(&pair, level, &self.like, keys, counters)?)
            }
            MsbState::Raised(x) => {
                let mut parts = evaluator.coeffs_to_slots(&x, keys, counters)?;
                parts.truncate(self.results.len());
                MsbState::Quotients(parts)
            }
            MsbState::Quotients(parts) => {
                let relinearization = keys.relinearization_key()?;
                let polynomials = PolynomialEvaluator::new(evaluator.ckks(), &*relinearization);
                let scale = match self.readout.pass(self.done).yields {
                    // z at half the scale is z / 2.
                    Yields::Binary => evaluator.params().scale().div(Scale::from_integer(2)),
                    _ => evaluator.params().scale(),
                };
                let exponential = evaluator.reduction();
                let root = |y: &Ciphertext<W>| {
                    exponential.evaluate_counted(evaluator.ckks(), &polynomials, y, scale, counters)
                };
                MsbState::Roots(parts.iter().map(root).collect::<Result<_, _>>()?)
            }
            MsbState::Roots(roots) => {
                let last = self.readout.is_last(self.done);
                let mut digits = Vec::with_capacity(roots.len());
                for (i, z) in roots.iter().enumerate() {
                    digits.extend(self.look_up(i, z, keys, counters)?);
                }
                self.done += 1;
                match digits.as_slice() {
                    [x] if !last => MsbState::Input(x.clone()),
                    [x, y] if !last => {
                        let ckks = evaluator.ckks();
                        MsbState::Input(ckks.add(x, &ckks.multiply_by_i(y)?)?)
                    }
                    _ => MsbState::Done(core::mem::take(&mut self.results).into_iter().flatten().collect()),
                }
            }
            other @ MsbState::Done(_) => other,
            MsbState::Failed => return Err(unfinished(None)),
        })
    }

    /// The tables of a pass for one of the numbers: keeps results, and returns the digit as a part of the fraction, at the level of inputs.
    fn look_up(
        &mut self,
        number: usize,
        z: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Option<Ciphertext<W>>, Error> {
        let (ckks, params) = (self.evaluator.ckks(), self.evaluator.params());
        let (scale, lowest) = (params.scale(), params.levels().input);
        let Pass { base, factor, tables, yields } = self.readout.pass(self.done);
        let Some(tables) = tables else {
            let half = ckks.negate(z).relabelled(scale);
            self.results[number] = alloc::vec![ckks.add_constant(&half, DoubleDouble::ratio(1, 2).into())?];
            return Ok(None);
        };
        let last = self.readout.is_last(self.done);
        let relinearization = keys.relinearization_key()?;
        let polynomials = PolynomialEvaluator::new(ckks, &*relinearization);
        // A digit over t at the scale U / k is a part of the fraction at U.
        let target = match yields {
            Yields::Digit | Yields::Guard => self.unit.div(Scale::from_integer(*factor)),
            Yields::Bits | Yields::Values | Yields::Binary => scale,
        };
        let mut values = polynomials.evaluate_planned_counted(tables, z, target, counters)?;
        match yields {
            Yields::Digit | Yields::Guard => {
                let digit = values.swap_remove(0).relabelled(self.unit);
                let next = match (last, self.unit == scale) {
                    (true, _) => None,
                    (false, true) => Some(ckks.drop_to_level(&digit, lowest)?),
                    (false, false) => {
                        let digit = ckks.drop_to_level(&digit, lowest + 1)?;
                        let one = DoubleDouble::ONE.into();
                        Some(ckks.multiply_constant_rescale_counted(&digit, one, scale, counters)?)
                    }
                };
                if *yields == Yields::Digit {
                    self.results[number] = alloc::vec![match self.results[number].pop() {
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
                    digit = Some(polynomials.reduce_counted(&sum, counters)?.relabelled(scale));
                }
                self.keep(number, values);
                Ok(digit)
            }
            Yields::Values | Yields::Binary => {
                self.keep(number, values);
                Ok(None)
            }
        }
    }
}

/// Whether a result at a place is wanted.
fn is_kept(kept: Option<&[usize]>, place: usize) -> bool {
    kept.is_none_or(|kept| kept.binary_search(&place).is_ok())
}

impl<W: Word> Steps<W> for MsbRun<'_, W> {
    fn stage(&self) -> Option<&'static str> {
        self.next_stage()
    }

    fn is_done(&self) -> bool {
        matches!(self.state, MsbState::Done(_))
    }

    fn advance(&mut self, keys: &dyn KeySource<W>, counters: &mut Counters) -> Result<(), Error> {
        *counters += core::mem::take(&mut self.before);
        let state = core::mem::replace(&mut self.state, MsbState::Failed);
        self.state = self.next(state, keys, counters)?;
        Ok(())
    }

    fn position(&self) -> (usize, f64, f64) {
        let x = match &self.state {
            MsbState::Input(x) | MsbState::Base(x) | MsbState::Raised(x) => Some(x),
            MsbState::Quotients(parts) | MsbState::Roots(parts) => parts.first(),
            MsbState::Done(results) => results.first(),
            MsbState::Ephemeral(_) | MsbState::Failed => None,
        };
        let base = self.evaluator.params().base_modulus().log2();
        x.map_or((0, base, base), |x| (x.level(), x.log_q(), x.log_scale()))
    }

    /// The number of digits read, after each digit.
    fn progress(&self, stage: &'static str) -> Option<StageEvent> {
        let (done, total) = MsbRun::progress(self);
        (stage == LOOK_UP).then_some(StageEvent::Progress { stage, done, total })
    }
}
