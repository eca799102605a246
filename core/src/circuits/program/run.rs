//! Running a plan.

use alloc::{format, vec, vec::Vec};

use super::{
    InputShape, Known, Operation, Plan, Readings,
    state::{Segment, State},
    steps::{Action, Register, Step},
    values::{check_planned, needed},
};
use crate::{
    arith::{ComplexDoubleDouble, Word},
    circuits::{
        linear_transform::{LinearTransform, PlaintextStorage},
        polynomial::PolynomialEvaluator,
    },
    error::Error,
    rlwe::{GaloisSource, HeldKey, RelinearizationSource, SampleBlock},
    schemes::ckks::{Ciphertext, CkksEvaluator, Complex, Scale},
    trace::{Counters, Observer, StageEvent, StageInfo, emit},
};

/// The operations between two bootstraps. Its progress counts the steps of the plan, bootstraps included.
pub const STAGE: StageInfo = StageInfo {
    id: "arithmetic",
    title: "Arithmetic of the program",
    symbol: "sums, products, rotations, polynomials and linear maps of slots",
    levels: 0,
};

/// Bootstraps a ciphertext.
pub type Refresh<'a, W> = dyn Fn(&Ciphertext<W>, &mut dyn Observer) -> Result<Ciphertext<W>, Error> + 'a;

/// Reads digits of a ciphertext: readings that are all of the same digits, with one result each.
pub type ReadDigits<'a, W> =
    dyn Fn(&Ciphertext<W>, Readings<'_>, &mut dyn Observer) -> Result<Vec<Ciphertext<W>>, Error> + 'a;

/// An evaluator with keys, all of one set, for running plans.
#[derive(Clone, Copy)]
pub struct Machine<'a, W: Word> {
    /// Operations on ciphertexts.
    pub evaluator: &'a CkksEvaluator<W>,
    /// The relinearisation key, which is held from the first product after a bootstrap until the next bootstrap.
    pub relinearization: Option<&'a dyn RelinearizationSource<W>>,
    /// Keys of rotations and conjugation.
    pub galois: Option<&'a dyn GaloisSource<W>>,
    /// A bootstrap, at the levels and to the scale that the plan was made for.
    pub refresh: Option<&'a Refresh<'a, W>>,
    /// Readings of digits, at the levels of numbers and results that the plan was made for.
    pub digits: Option<&'a ReadDigits<'a, W>>,
}

impl Plan<'_> {
    /// Evaluates the program; the results do not depend on the number of threads.
    ///
    /// Steps run one after the other, each on all threads. The observer sees [`STAGE`] around what is computed between two
    /// bootstraps, progress after each step of it, and the stages of the bootstraps.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] and [`Error::ParamsMismatch`] for inputs other than those the plan was made for, [`Error::Cancelled`] if
    /// the observer says so; others, with the name of the node, for keys that are not those of the target.
    pub fn run<W: Word>(
        &self,
        machine: &Machine<'_, W>,
        inputs: &[Ciphertext<W>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        self.check_inputs(inputs)?;
        let mut state = State::default();
        let mut run = Run { plan: self, machine, inputs, state: &mut state, relinearization: None };
        while run.state.at() < self.steps.len() {
            run.step(observer)?;
        }
        state.finish(self, observer)
    }

    pub(super) fn check_inputs<W: Word>(&self, inputs: &[Ciphertext<W>]) -> Result<(), Error> {
        check_planned(inputs.len(), self.inputs.len())?;
        let shapes = inputs.iter().map(InputShape::of).zip(&self.inputs);
        for ((name, input), (own, planned)) in self.program().input_names().zip(inputs).zip(shapes) {
            inputs[0].check_same_key(input).map_err(|error| error.within(&format!("input \"{name}\"")))?;
            if own.level != planned.level || !own.scale.matches(planned.scale) || input.components() != 2 {
                return Err(Error::InvalidArgument(format!(
                    "input \"{name}\" is at level {} and scale 2^{:.4} with {} components, and the plan was made for level {}, \
                     scale 2^{:.4} and 2; plan for the ciphertexts there are",
                    own.level,
                    own.scale.log2(),
                    input.components(),
                    planned.level,
                    planned.scale.log2()
                )));
            }
        }
        Ok(())
    }
}

/// A step of a run, with what came before.
pub(super) struct Run<'a, W: Word> {
    pub plan: &'a Plan<'a>,
    pub machine: &'a Machine<'a, W>,
    pub inputs: &'a [Ciphertext<W>],
    pub state: &'a mut State<W>,
    /// The key, between the first product of a segment and its end.
    pub relinearization: Option<HeldKey<'a, W>>,
}

impl<W: Word> Run<'_, W> {
    /// Runs the next step of the plan.
    pub fn step(&mut self, observer: &mut dyn Observer) -> Result<(), Error> {
        let (plan, at) = (self.plan, self.state.at());
        self.try_step(at, &plan.steps[at], observer).map_err(|error| error.within(&plan.place(at)))
    }

    fn try_step(&mut self, at: usize, step: &Step, observer: &mut dyn Observer) -> Result<(), Error> {
        let results = if let Action::Refresh(x) = step.action {
            self.end_segment(observer)?;
            let refresh = needed(self.machine.refresh, "there are no bootstrapping keys; give them")?;
            vec![refresh(self.value(x)?, observer)?]
        } else if let Action::Digits(x, nodes, known) = &step.action {
            self.end_segment(observer)?;
            self.read_digits(*x, (nodes, *known), observer)?
        } else if let Action::Part(x, i) = step.action {
            vec![self.state.part(x, i)?]
        } else if let Action::Input(i) = step.action {
            vec![self.inputs[i].clone()]
        } else {
            if self.state.segment.is_none() {
                emit(observer, &StageEvent::Enter { stage: STAGE.id })?;
            }
            if matches!(step.action, Action::Multiply(..) | Action::Polynomial(..)) {
                self.hold_relinearization()?;
            }
            let mut counters = self.state.segment.as_ref().map_or_else(Counters::default, |s| s.counters);
            let out = self.compute(step, &mut counters)?;
            let (log_q, log_scale) = (out.log_q(), out.log_scale());
            self.state.segment = Some(Segment { counters, level: out.level(), log_q, log_scale });
            let (done, total) = (at + 1, self.plan.steps.len());
            emit(observer, &StageEvent::Progress { stage: STAGE.id, done, total })?;
            vec![out]
        };
        self.state.settle(self.plan, self.machine.evaluator, results)
    }

    /// The results of what `nodes` read of a value, in order.
    fn read_digits(
        &self,
        x: Register,
        (nodes, known): (&[usize], Option<Known>),
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let readings = self.plan.readings_of(nodes)?;
        let read = needed(
            self.machine.digits,
            "there is nothing here that reads digits; plan for the set that evaluates",
        )?;
        read(self.value(x)?, Readings { list: &readings, known }, observer)
    }

    fn end_segment(&mut self, observer: &mut dyn Observer) -> Result<(), Error> {
        self.relinearization = None;
        self.state.end_segment(observer)
    }

    fn value(&self, register: Register) -> Result<&Ciphertext<W>, Error> {
        self.state.values.get(register)
    }

    fn compute(&self, step: &Step, counters: &mut Counters) -> Result<Ciphertext<W>, Error> {
        let evaluator = self.machine.evaluator;
        let (level, scale) = (step.level, step.scale);
        Ok(match &step.action {
            // None of these is computed.
            Action::Input(_) | Action::Refresh(_) | Action::Digits(..) | Action::Part(..) => {
                return Err(another_operation());
            }
            Action::AddNumber(x, number) => evaluator.add_constant(self.value(*x)?, (*number).into())?,
            Action::MultiplyInteger(x, factor) => evaluator.multiply_integer(self.value(*x)?, *factor)?,
            Action::AddConstant(x, constant) => {
                let numbers = self.spread(self.plan.graph().constant(*constant).unwrap_or_default());
                evaluator.add_plain(self.value(*x)?, &evaluator.encode(&numbers, level, scale)?)?
            }
            Action::MultiplyConstant(x, constant) => {
                let numbers = self.spread(self.plan.graph().constant(*constant).unwrap_or_default());
                let x = evaluator.drop_to_level(self.value(*x)?, level + 1)?;
                let factor = self.before_rescale(step).div(x.scale());
                let product =
                    evaluator.multiply_plain(&x, &evaluator.encode(&numbers, level + 1, factor)?)?;
                self.rescale(&product, counters)?
            }
            Action::Combine(terms, number) => {
                let Some(&(first, _)) = terms.first() else {
                    return Err(Error::InvalidArgument("a sum of nothing: a bug of the planner".into()));
                };
                let mut sum = evaluator.empty_sum(self.value(first)?, level + 1, self.before_rescale(step));
                for &(x, factor) in terms {
                    evaluator.add_multiple_assign(&mut sum, self.value(x)?, factor.into())?;
                }
                evaluator.add_constant_assign(&mut sum, ComplexDoubleDouble::from(*number))?;
                self.rescale(&sum, counters)?
            }
            Action::Add(x, y) => evaluator.add(self.value(*x)?, self.value(*y)?)?,
            Action::Subtract(x, y) => evaluator.sub(self.value(*x)?, self.value(*y)?)?,
            Action::Multiply(x, y) => {
                let x = evaluator.drop_to_level(self.value(*x)?, level + 1)?;
                let y = evaluator.drop_to_level(self.value(*y)?, level + 1)?;
                let product = evaluator.tensor(&x, &y)?;
                evaluator.relinearize_rescale_counted(&product, self.relinearization()?, counters)?
            }
            Action::Rotate(x, hops) => self.rotate(self.value(*x)?.clone(), hops, counters)?,
            Action::Conjugate(x) => {
                let (g, key) = self.galois()?.conjugation_key()?;
                evaluator.automorphism_counted(self.value(*x)?, g, &key, counters)?
            }
            Action::Polynomial(x, node) => {
                let Operation::Polynomial(_, p) = &self.plan.graph().nodes()[*node].operation else {
                    return Err(another_operation());
                };
                let polynomials = PolynomialEvaluator::new(evaluator, self.relinearization()?);
                polynomials.evaluate_counted(p, self.value(*x)?, scale, counters)?
            }
            Action::Transform(x, node, compositions) => {
                let Operation::LinearTransform(_, matrix) = &self.plan.graph().nodes()[*node].operation
                else {
                    return Err(another_operation());
                };
                let x = evaluator.drop_to_level(self.value(*x)?, level + 1)?;
                let factor = self.before_rescale(step).div(x.scale());
                let (context, storage) = (evaluator.context(), PlaintextStorage::Coefficients);
                let transform = LinearTransform::new(context, matrix, level + 1, factor, storage)?;
                match compositions {
                    None => transform.apply_counted(evaluator, &x, self.galois()?, counters)?,
                    Some(hops) => {
                        transform.apply_composed_counted(evaluator, &x, self.galois()?, hops, counters)?
                    }
                }
            }
        })
    }

    fn rotate(
        &self,
        mut x: Ciphertext<W>,
        hops: &[i64],
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        for &step in hops {
            let (g, key) = self.galois()?.rotation_key(step)?;
            x = self.machine.evaluator.automorphism_counted(&x, g, &key, counters)?;
        }
        Ok(x)
    }

    fn rescale(&self, x: &Ciphertext<W>, counters: &mut Counters) -> Result<Ciphertext<W>, Error> {
        let rlwe = self.machine.evaluator.context().rlwe();
        counters.ntt += 2 * rlwe.rescale(x.level())?.ntts();
        self.machine.evaluator.rescale(x)
    }

    /// The scale of the step's result before it is divided by the primes of the level above.
    fn before_rescale(&self, step: &Step) -> Scale {
        let levels = &self.machine.evaluator.context().rlwe().spec().levels;
        step.scale.mul(Scale::product(levels[step.level + 1].iter().copied()))
    }

    /// Numbers in all slots of the ring: a single one in each, or several, followed by zeros, in the slots of a message, which repeat.
    fn spread(&self, numbers: &[Complex]) -> Vec<Complex> {
        let slots = self.plan.slots;
        let at = |slot: usize| match numbers {
            [one] => *one,
            many => many.get(slot % slots).copied().unwrap_or_default(),
        };
        (0..self.machine.evaluator.context().slots()).map(at).collect()
    }

    fn hold_relinearization(&mut self) -> Result<(), Error> {
        if let (None, Some(key)) = (&self.relinearization, self.machine.relinearization) {
            self.relinearization = Some(key.relinearization_key()?);
        }
        Ok(())
    }

    fn relinearization(&self) -> Result<&SampleBlock<W>, Error> {
        needed(self.relinearization.as_deref(), "there is no relinearisation key; give it")
    }

    fn galois(&self) -> Result<&dyn GaloisSource<W>, Error> {
        needed(self.machine.galois, "there are no keys of rotations; give them")
    }
}

fn another_operation() -> Error {
    Error::InvalidArgument("a step of another operation than its node: a bug of the planner".into())
}
