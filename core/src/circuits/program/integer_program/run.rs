//! Running a plan on integers.

use alloc::{format, vec::Vec};

use super::{
    super::{
        Operation, STAGE, Value,
        values::{check_planned, needed},
    },
    IntegerPlan,
    numbers::{integer, integers_of},
    state::State,
    steps::{Action, Register, Step},
};
use crate::{
    arith::Word,
    circuits::polynomial::PolynomialEvaluator,
    error::Error,
    rlwe::{GaloisSource, SampleBlock},
    schemes::{
        bgv::{BgvCiphertext, BgvEvaluator, BgvShape, Factor},
        evaluator::{Label, Leveled},
    },
    trace::{Counters, Observer, StageEvent, emit},
};

/// Bootstraps a ciphertext.
pub type IntegerRefresh<'a, W> =
    dyn Fn(&BgvCiphertext<W>, &mut dyn Observer) -> Result<BgvCiphertext<W>, Error> + 'a;

/// An evaluator with keys, all of one set, for running plans.
#[derive(Clone, Copy)]
pub struct IntegerMachine<'a, W: Word> {
    /// Operations on ciphertexts.
    pub evaluator: &'a BgvEvaluator<W>,
    /// The relinearisation key.
    pub relinearization: Option<&'a SampleBlock<W>>,
    /// Keys of rotations, and of the exchange of rows.
    pub galois: Option<&'a dyn GaloisSource<W>>,
    /// A bootstrap, at the levels that the plan was made for.
    pub refresh: Option<&'a IntegerRefresh<'a, W>>,
}

impl<W: Word> IntegerPlan<'_, W> {
    /// Evaluates the program; the results do not depend on the number of threads.
    ///
    /// Steps run one after the other, each on all threads. The observer sees [`STAGE`] around what is computed between two
    /// bootstraps, progress after each step of it, and the stages of the bootstraps.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] and [`Error::ParamsMismatch`] for inputs other than those the plan was made for, [`Error::Cancelled`] if
    /// the observer says so; others, with the name of the node, for keys that are not those of the target, and [`Error::Limit`] for noise.
    pub fn run(
        &self,
        machine: &IntegerMachine<'_, W>,
        inputs: &[BgvCiphertext<W>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<BgvCiphertext<W>>, Error> {
        self.check_inputs(inputs)?;
        let mut state = State::default();
        let mut run = Run { plan: self, machine, inputs, state: &mut state };
        while run.state.at() < self.steps.len() {
            run.step(observer)?;
        }
        state.finish(self, observer)
    }

    pub(super) fn check_inputs(&self, inputs: &[BgvCiphertext<W>]) -> Result<(), Error> {
        check_planned(inputs.len(), self.inputs.len())?;
        for ((name, input), planned) in self.program.input_names().zip(inputs).zip(&self.inputs) {
            inputs[0].check_same_key(input).map_err(|error| error.within(&format!("input \"{name}\"")))?;
            let own = BgvShape::of(input);
            let noise = own.noise.min(planned.noise);
            if (BgvShape { noise, ..own }) != *planned || own.noise > planned.noise {
                let said = |shape: &BgvShape| {
                    let BgvShape { level, factor, noise, components } = shape;
                    format!(
                        "level {level} with {components} components, factor {} and noise up to 2^{:.1}",
                        factor.value(),
                        libm::log2(*noise)
                    )
                };
                return Err(Error::InvalidArgument(format!(
                    "input \"{name}\" is at {}, and the plan was made for {}; plan for the ciphertexts there are",
                    said(&own),
                    said(planned)
                )));
            }
        }
        Ok(())
    }
}

/// A step of a run, with what came before.
pub(super) struct Run<'a, W: Word> {
    pub plan: &'a IntegerPlan<'a, W>,
    pub machine: &'a IntegerMachine<'a, W>,
    pub inputs: &'a [BgvCiphertext<W>],
    pub state: &'a mut State<W>,
}

impl<W: Word> Run<'_, W> {
    /// Runs the next step of the plan.
    pub fn step(&mut self, observer: &mut dyn Observer) -> Result<(), Error> {
        let (plan, at) = (self.plan, self.state.at());
        self.try_step(at, &plan.steps[at], observer).map_err(|error| error.within(&plan.place(at)))
    }

    fn try_step(&mut self, at: usize, step: &Step, observer: &mut dyn Observer) -> Result<(), Error> {
        let out = if let Action::Refresh(x) = step.action {
            self.state.end_segment(self.plan, observer)?;
            let refresh = needed(self.machine.refresh, "there are no bootstrapping keys; give them")?;
            refresh(self.value(x)?, observer)?
        } else if let Action::Input(i) = step.action {
            self.inputs[i].clone()
        } else {
            if self.state.segment.is_none() {
                emit(observer, &StageEvent::Enter { stage: STAGE.id })?;
            }
            let mut counters = self.state.segment.as_ref().map_or_else(Counters::default, |s| s.0);
            let out = self.compute(step, &mut counters)?;
            self.state.segment = Some((counters, out.level(), out.log_q()));
            let (done, total) = (at + 1, self.plan.steps.len());
            emit(observer, &StageEvent::Progress { stage: STAGE.id, done, total })?;
            out
        };
        self.state.settle(self.plan, out)
    }

    fn value(&self, register: Register) -> Result<&BgvCiphertext<W>, Error> {
        self.state.values.get(register)
    }

    fn relinearization(&self) -> Result<&SampleBlock<W>, Error> {
        needed(self.machine.relinearization, "there is no relinearisation key; give it")
    }

    fn galois(&self) -> Result<&dyn GaloisSource<W>, Error> {
        needed(self.machine.galois, "there are no Galois keys; give them")
    }

    /// The numbers of a constant modulo P, one per slot, as they are encoded.
    fn numbers(&self, constant: Value) -> Result<Vec<u64>, Error> {
        let ring = self.plan.target.context.message_modulus().ring();
        let numbers = self.plan.program.constant(constant).unwrap_or_default();
        let all =
            numbers.iter().map(|&z| Ok(ring.reduce_signed(integer(z)?))).collect::<Result<Vec<u64>, _>>();
        Ok(self.plan.target.context.message_modulus().encoder().coordinates_of(&all?))
    }

    fn compute(&self, step: &Step, counters: &mut Counters) -> Result<BgvCiphertext<W>, Error> {
        let (bgv, target) = (self.machine.evaluator, &self.plan.target);
        let ring = target.context.message_modulus().ring();
        Ok(match &step.action {
            // Neither is computed.
            Action::Input(_) | Action::Refresh(_) => {
                return Err(Error::InvalidArgument(
                    "a step that computes nothing; plan the program anew".into(),
                ));
            }
            Action::Times(x, by) => self.times(self.value(*x)?, *by, &step.shape, counters)?,
            Action::MultiplyInteger(x, -1) => bgv.negate(self.value(*x)?),
            Action::MultiplyInteger(x, by) => bgv.multiply_integer(self.value(*x)?, *by)?,
            Action::AddNumber(x, number) => bgv.add_constant(self.value(*x)?, *number)?,
            Action::AddConstant(x, constant) => bgv.add_plain(self.value(*x)?, &self.numbers(*constant)?)?,
            Action::MultiplyConstant(x, constant) => {
                let x = self.value(*x)?;
                // Multiplies by c y, which stands for y if c is the factor of the constant.
                let c = self.before_rescale(&step.shape).div(x.factor());
                let scaled: Vec<u64> =
                    self.numbers(*constant)?.into_iter().map(|y| ring.mul(y, c.value())).collect();
                let product = bgv.multiply_plain(x, &scaled)?;
                self.rescale(&bgv.multiply_unit(&product, c.inverse().value())?, counters)?
            }
            Action::Add(x, y) => bgv.add(self.value(*x)?, self.value(*y)?)?,
            Action::Subtract(x, y) => bgv.sub(self.value(*x)?, self.value(*y)?)?,
            Action::Multiply(x, y) => {
                let product = bgv.tensor(self.value(*x)?, self.value(*y)?)?;
                bgv.relinearize_rescale_counted(&product, self.relinearization()?, counters)?
            }
            Action::Rotate(x, hops) => {
                let mut out = self.value(*x)?.clone();
                for &steps in hops {
                    let element = target.context.rlwe().ring().rotation(steps);
                    out = bgv.automorphism_counted(&out, element, self.galois()?, counters)?;
                }
                out
            }
            Action::Swap(x) => {
                let element = target.context.rlwe().ring().inversion();
                bgv.automorphism_counted(self.value(*x)?, element, self.galois()?, counters)?
            }
            Action::Polynomial(x, node) => {
                let Operation::Polynomial(_, p) = &self.plan.program.nodes()[*node].operation else {
                    return Err(Error::InvalidArgument("a polynomial that the program does not have".into()));
                };
                let evaluator = PolynomialEvaluator::new(bgv, self.relinearization()?);
                evaluator.evaluate_counted(&integers_of(p)?, self.value(*x)?, step.shape.factor, counters)?
            }
        })
    }

    /// x times an integer, at the level and with the factor of `to`.
    fn times(
        &self,
        x: &BgvCiphertext<W>,
        by: i64,
        to: &BgvShape,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        let bgv = self.machine.evaluator;
        let mut sum = bgv.empty_sum(x, to.level + 1, self.before_rescale(to));
        bgv.add_multiple_assign(&mut sum, x, &by)?;
        self.rescale(&sum, counters)
    }

    fn rescale(&self, x: &BgvCiphertext<W>, counters: &mut Counters) -> Result<BgvCiphertext<W>, Error> {
        let rlwe = self.machine.evaluator.context().rlwe();
        counters.ntt += 2 * rlwe.rescale(x.level())?.ntts();
        self.machine.evaluator.rescale(x)
    }

    /// The factor of a result before it is divided by the primes of the level above.
    fn before_rescale(&self, to: &BgvShape) -> Factor {
        to.factor.mul(self.machine.evaluator.context().level_factor(to.level + 1))
    }
}
