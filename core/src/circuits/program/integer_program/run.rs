//! Running a plan on integers.

use alloc::{format, vec::Vec};

use super::{
    super::{Operation, STAGE},
    IntegerPlan, IntegerShape, integer,
    lower::integers_of,
    steps::{Action, Register, Step},
};
use crate::{
    arith::Word,
    circuits::polynomial::PolynomialEvaluator,
    error::Error,
    ring::GaloisElement,
    rlwe::{GaloisSource, SampleBlock},
    schemes::{
        bgv::{BgvCiphertext, BgvEvaluator},
        evaluator::Leveled,
    },
    trace::{Counters, Observer, StageEvent, emit},
};

/// Bootstraps a ciphertext.
pub type IntegerRefresh<'a, W> =
    dyn Fn(&BgvCiphertext<W>, &mut dyn Observer) -> Result<BgvCiphertext<W>, Error> + 'a;

/// What evaluates a plan: an evaluator with keys, all of one set.
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
    /// [`Error::InvalidArgument`] and [`Error::ParamsMismatch`] for inputs other than the plan was made for, [`Error::Cancelled`] if
    /// the observer says so; others, with the name of the node, for keys that are not those of the target, and [`Error::Limit`] for
    /// noise.
    pub fn run(
        &self,
        machine: &IntegerMachine<'_, W>,
        inputs: &[BgvCiphertext<W>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<BgvCiphertext<W>>, Error> {
        self.check_inputs(inputs)?;
        let mut run = Run { plan: self, machine, inputs, values: Vec::new(), segment: None };
        for (at, step) in self.steps.iter().enumerate() {
            run.step(at, observer).map_err(|error| error.within(&self.program.describe(step.node)))?;
            for register in step.action.operands().into_iter().chain([at]) {
                if self.last_uses[register] == at {
                    run.values[register] = None;
                }
            }
        }
        run.end_segment(observer)?;
        self.outputs.iter().map(|&register| run.value(register).cloned()).collect()
    }

    fn check_inputs(&self, inputs: &[BgvCiphertext<W>]) -> Result<(), Error> {
        if inputs.len() != self.inputs.len() {
            return Err(Error::InvalidArgument(format!(
                "{} ciphertexts for a plan of {} inputs; give those it was made for",
                inputs.len(),
                self.inputs.len()
            )));
        }
        for ((name, input), planned) in self.program.input_names().zip(inputs).zip(&self.inputs) {
            inputs[0].check_same_key(input).map_err(|error| error.within(&format!("input \"{name}\"")))?;
            let own = IntegerShape::of(input);
            if own.level != planned.level || own.factor != planned.factor || input.components() != 2 {
                return Err(Error::InvalidArgument(format!(
                    "input \"{name}\" is at level {} with {} components, and the plan was made for level {}, 2 and its factor; plan \
                     for the ciphertexts there are",
                    own.level,
                    input.components(),
                    planned.level
                )));
            }
        }
        Ok(())
    }
}

struct Run<'a, W: Word> {
    plan: &'a IntegerPlan<'a, W>,
    machine: &'a IntegerMachine<'a, W>,
    inputs: &'a [BgvCiphertext<W>],
    /// From when they are known until nothing needs them any more.
    values: Vec<Option<BgvCiphertext<W>>>,
    /// Work between two bootstraps, with the level and log2 of the modulus that it came to.
    segment: Option<(Counters, usize, f64)>,
}

impl<W: Word> Run<'_, W> {
    fn step(&mut self, at: usize, observer: &mut dyn Observer) -> Result<(), Error> {
        let step = &self.plan.steps[at];
        let out = if let Action::Refresh(x) = step.action {
            self.end_segment(observer)?;
            let refresh = self
                .machine
                .refresh
                .ok_or_else(|| Error::MissingKey("there are no bootstrapping keys; give them".into()))?;
            refresh(self.value(x)?, observer)?
        } else if let Action::Input(i) = step.action {
            self.inputs[i].clone()
        } else {
            if self.segment.is_none() {
                emit(observer, &StageEvent::Enter { stage: STAGE.id })?;
            }
            let mut counters = self.segment.as_ref().map_or_else(Counters::default, |s| s.0);
            let out = self.compute(step, &mut counters)?;
            self.segment = Some((counters, out.level(), out.log_q()));
            let (done, total) = (at + 1, self.plan.steps.len());
            emit(observer, &StageEvent::Progress { stage: STAGE.id, done, total })?;
            out
        };
        let input = matches!(step.action, Action::Input(_));
        if out.level() != step.level || (!input && out.factor() != self.plan.target.factor(step.level)) {
            return Err(Error::LevelMismatch(format!(
                "the result is at level {} with factor {}, and was planned for level {} and its factor; plan for the set that \
                 evaluates",
                out.level(),
                out.factor().value(),
                step.level
            )));
        }
        self.values.push(Some(out));
        Ok(())
    }

    fn end_segment(&mut self, observer: &mut dyn Observer) -> Result<(), Error> {
        let Some((counters, level, log_q)) = self.segment.take() else { return Ok(()) };
        let log_scale = self.plan.target.context.message_modulus().ring().modulus().log2();
        emit(observer, &StageEvent::Exit { stage: STAGE.id, level, log_q, log_scale, counters })
    }

    fn value(&self, register: Register) -> Result<&BgvCiphertext<W>, Error> {
        self.values.get(register).and_then(Option::as_ref).ok_or_else(|| {
            Error::InvalidArgument(format!("value {register} is not there any more; plan the program anew"))
        })
    }

    fn relinearization(&self) -> Result<&SampleBlock<W>, Error> {
        self.machine
            .relinearization
            .ok_or_else(|| Error::MissingKey("there is no relinearisation key; give it".into()))
    }

    fn galois(&self) -> Result<&dyn GaloisSource<W>, Error> {
        self.machine.galois.ok_or_else(|| Error::MissingKey("there are no Galois keys; give them".into()))
    }

    /// The numbers of a constant modulo P.
    fn numbers(&self, constant: super::super::Value) -> Result<Vec<u64>, Error> {
        let ring = self.plan.target.context.message_modulus().ring();
        let numbers = self.plan.program.constant(constant).unwrap_or_default();
        numbers.iter().map(|&z| Ok(ring.reduce_signed(integer(z)?))).collect()
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
            Action::Settle(x) => {
                let x = bgv.drop_to_level(self.value(*x)?, step.level + 1)?;
                self.times(&x, 1, step.level)?
            }
            Action::AddConstant(x, constant) => match self.numbers(*constant)?[..] {
                [number] => bgv.add_constant(self.value(*x)?, ring.centered(number))?,
                ref numbers => bgv.add_plain(self.value(*x)?, numbers)?,
            },
            Action::MultiplyInteger(x, -1) => bgv.negate(self.value(*x)?),
            Action::MultiplyInteger(x, by) => bgv.multiply_integer(self.value(*x)?, *by)?,
            Action::MultiplyConstant(x, constant) => match self.numbers(*constant)?[..] {
                [number] => self.times(self.value(*x)?, ring.centered(number), step.level)?,
                ref numbers => {
                    // Times f y, which counts as y with f for the factor of the constant.
                    let x = self.value(*x)?;
                    let f = x.factor().value();
                    let scaled: Vec<u64> = numbers.iter().map(|&y| ring.mul(y, f)).collect();
                    let product = bgv.multiply_plain(x, &scaled)?;
                    bgv.rescale(&bgv.multiply_unit(&product, x.factor().inverse().value())?)?
                }
            },
            Action::Add(x, y) => bgv.add(self.value(*x)?, self.value(*y)?)?,
            Action::Subtract(x, y) => bgv.sub(self.value(*x)?, self.value(*y)?)?,
            Action::Multiply(x, y) => {
                let product = bgv.tensor(self.value(*x)?, self.value(*y)?)?;
                bgv.relinearize_rescale(&product, self.relinearization()?, counters)?
            }
            Action::Rotate(x, hops) => {
                let first = self.value(*x)?.clone();
                hops.iter().try_fold(first, |x, &steps| bgv.rotate(&x, steps, self.galois()?))?
            }
            Action::Swap(x) => {
                let element = GaloisElement::conjugation(target.context.rlwe().n());
                bgv.automorphism(self.value(*x)?, element, self.galois()?)?
            }
            Action::Polynomial(x, node) => match &self.plan.program.nodes()[*node].operation {
                Operation::Polynomial(_, p) => {
                    let (p, x) = (integers_of(p)?, self.value(*x)?);
                    if p.degree() == 0 {
                        let zero = bgv.multiply_integer(x, 0)?;
                        return bgv.add_constant(&zero, p.coefficients()[0]);
                    }
                    if p.degree() == 1 {
                        let slope = self.times(x, p.coefficients()[1], step.level)?;
                        return bgv.add_constant(&slope, p.coefficients()[0]);
                    }
                    let evaluator = PolynomialEvaluator::new(bgv, self.relinearization()?);
                    evaluator.evaluate(&p, x, target.factor(step.level), counters)?
                }
                _ => {
                    return Err(Error::InvalidArgument("a polynomial that the program does not have".into()));
                }
            },
        })
    }

    /// x times an integer, one level down and with the factor of that level.
    fn times(&self, x: &BgvCiphertext<W>, by: i64, level: usize) -> Result<BgvCiphertext<W>, Error> {
        use crate::schemes::evaluator::Label;
        let bgv = self.machine.evaluator;
        let before = self.plan.target.factor(level).mul(bgv.context().level_factor(level + 1));
        let mut sum = bgv.empty_sum(x, level + 1, before);
        bgv.add_multiple_assign(&mut sum, x, &by)?;
        bgv.rescale(&sum)
    }
}
