//! Running a plan.

use alloc::{format, vec::Vec};

use super::{GateCall, GateEvaluator, Plan, STAGE, Signal, Term};
use crate::{
    error::Error,
    par,
    trace::{Counters, Observer, StageEvent, emit},
};

/// Ops handed out at once for each thread: between two batches a run can be stopped.
const BATCH: usize = 8;

impl Plan {
    /// Evaluates the circuit. The results do not depend on the number of threads.
    ///
    /// The observer sees [`STAGE`] enter, progress after every batch and every level, and exit.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless there is one bit for each input, [`Error::Cancelled`] if
    /// the observer says so, and the evaluator's own.
    pub fn run<E: GateEvaluator>(
        &self,
        evaluator: &E,
        inputs: &[E::Bit],
        observer: &mut dyn Observer,
    ) -> Result<Vec<E::Bit>, Error> {
        let mut run = PlanRun::new(self.clone(), inputs)?;
        while !run.step(evaluator, BATCH * par::threads(), observer)? {}
        run.outputs(evaluator)
    }
}

/// The evaluation of a [`Plan`], driven from outside: between two steps the caller may look, wait or drop it.
#[derive(Debug, Clone)]
pub struct PlanRun<B> {
    plan: Plan,
    /// The value of each wire, from when it is known until nothing needs it any more.
    wires: Vec<Option<B>>,
    last: Vec<usize>,
    done: usize,
    counters: Counters,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Running,
    Finished,
}

impl<B: Clone + Send + Sync> PlanRun<B> {
    /// A run of `plan`; nothing is computed yet.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless there is one bit for each input.
    pub fn new(plan: Plan, inputs: &[B]) -> Result<Self, Error> {
        if inputs.len() != plan.inputs() {
            return Err(Error::InvalidArgument(format!(
                "the circuit has {} inputs and was given {} bits; give one for each",
                plan.inputs(),
                inputs.len()
            )));
        }
        let mut wires: Vec<Option<B>> = inputs.iter().cloned().map(Some).collect();
        wires.resize_with(inputs.len() + plan.ops().len(), || None);
        let last = last_uses(&plan);
        Ok(Self { plan, wires, last, done: 0, counters: Counters::default(), state: State::New })
    }

    /// The plan that is run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Number of ops finished: they are the first ones in the order of [`Plan::ops`].
    pub fn done(&self) -> usize {
        self.done
    }

    /// The value of a wire, inputs first, then ops; `None` if it is not known yet or no longer needed.
    pub fn wire(&self, index: usize) -> Option<&B> {
        self.wires.get(index)?.as_ref()
    }

    /// Evaluates an op ahead of its turn, which then takes the result; its operands must be known.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an op that is known or behind, or whose operands are not known; the
    /// evaluator's own.
    pub fn ahead<E: GateEvaluator<Bit = B>>(&mut self, evaluator: &E, op: usize) -> Result<(), Error> {
        self.check_missing(op)?;
        let call = self.call(&self.plan.ops()[op]);
        if call.operands.len() != self.plan.ops()[op].operands().len() {
            return Err(Error::InvalidArgument(format!(
                "gate {op} needs bits that are not computed yet; evaluate the gates below it first"
            )));
        }
        let (bit, work) = evaluator.gate(&call)?;
        self.supply(op, bit, work)
    }

    /// Takes the result of an op that was evaluated elsewhere, and the work it took; the op is skipped at its turn. The result is not
    /// checked: the caller answers for it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an op that is known or behind.
    pub fn supply(&mut self, op: usize, bit: B, work: Counters) -> Result<(), Error> {
        self.check_missing(op)?;
        self.counters += work;
        self.wires[self.plan.inputs() + op] = Some(bit);
        Ok(())
    }

    /// Evaluates the next ops, at most `ops` and at least one, all of one level; true when the run is finished.
    ///
    /// The observer sees [`STAGE`] enter before the first step, progress after each, and exit after the last.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the observer says so, before or after the step; the run can go on with another step. The evaluator's own.
    pub fn step<E: GateEvaluator<Bit = B>>(
        &mut self,
        evaluator: &E,
        ops: usize,
        observer: &mut dyn Observer,
    ) -> Result<bool, Error> {
        let (stage, total) = (STAGE.id, self.plan.ops().len());
        if self.state == State::New {
            emit(observer, &StageEvent::Enter { stage })?;
            self.state = State::Running;
        }
        if let Some(level_end) = self.plan.level_end(self.done) {
            let end = level_end.min(self.done.saturating_add(ops.max(1)));
            self.evaluate(evaluator, end)?;
            emit(observer, &StageEvent::Progress { stage, done: end, total })?;
        }
        if self.done == total && self.state == State::Running {
            let counters = self.counters;
            emit(observer, &StageEvent::Exit { stage, level: 0, log_q: 0.0, log_scale: 0.0, counters })?;
            self.state = State::Finished;
        }
        Ok(self.state == State::Finished)
    }

    /// The outputs of a run that is finished.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for one that is not; the evaluator's own.
    pub fn outputs<E: GateEvaluator<Bit = B>>(&self, evaluator: &E) -> Result<Vec<B>, Error> {
        let results = self.plan.outputs().iter().map(|signal| match (signal, term(&self.wires, *signal)) {
            (Signal::Constant(value), _) => evaluator.constant(*value),
            (_, Some(Term { bit, inverted: true })) => evaluator.not(bit),
            (_, Some(Term { bit, .. })) => Ok(bit.clone()),
            (_, None) => Err(Error::InvalidArgument(format!(
                "{} of {} gates are evaluated; finish the run before taking its outputs",
                self.done,
                self.plan.ops().len()
            ))),
        });
        results.collect()
    }

    /// An op with those of its operands that are known.
    fn call<'a>(&'a self, op: &super::Op) -> GateCall<'a, B> {
        let operands = op.operands().iter().filter_map(|s| term(&self.wires, *s)).collect();
        GateCall { kind: op.kind(), operands }
    }

    /// Refuses an op whose result is known, or was.
    fn check_missing(&self, op: usize) -> Result<(), Error> {
        let ops = self.plan.ops().len();
        if (self.done..ops).contains(&op) && self.wires[self.plan.inputs() + op].is_none() {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "gate {op} of {ops} has its result already, or is none of them; {} are done",
            self.done
        )))
    }

    /// Evaluates the ops up to `end` that nobody has evaluated yet; they do not depend on each other.
    fn evaluate<E: GateEvaluator<Bit = B>>(&mut self, evaluator: &E, end: usize) -> Result<(), Error> {
        let (ops, first) = (&self.plan.ops()[self.done..end], self.plan.inputs() + self.done);
        let missing: Vec<usize> = (0..ops.len()).filter(|i| self.wires[first + i].is_none()).collect();
        let calls: Vec<_> = missing.iter().map(|&i| self.call(&ops[i])).collect();
        let results = evaluator.gates(&calls)?;
        if results.len() != missing.len() {
            return Err(Error::InvalidArgument(format!(
                "the evaluator gave {} bits for {} gates; give one for each",
                results.len(),
                missing.len()
            )));
        }
        for (i, (bit, work)) in missing.into_iter().zip(results) {
            self.wires[first + i] = Some(bit);
            self.counters += work;
        }
        for (at, op) in (self.done..).zip(ops) {
            for index in op.operands().iter().filter_map(|s| s.index()) {
                if self.last[index] == at {
                    self.wires[index] = None;
                }
            }
        }
        self.done = end;
        Ok(())
    }
}

/// For each wire the last op that uses it; wires that are outputs have none.
fn last_uses(plan: &Plan) -> Vec<usize> {
    let mut last = alloc::vec![usize::MAX; plan.inputs() + plan.ops().len()];
    for (at, op) in plan.ops().iter().enumerate() {
        op.operands().iter().filter_map(|s| s.index()).for_each(|index| last[index] = at);
    }
    plan.outputs().iter().filter_map(|s| s.index()).for_each(|index| last[index] = usize::MAX);
    last
}

fn term<B>(wires: &[Option<B>], signal: Signal) -> Option<Term<'_, B>> {
    let bit = wires.get(signal.index()?)?.as_ref()?;
    Some(Term { bit, inverted: signal.is_inverted() })
}

#[cfg(test)]
mod tests {
    use core::ops::ControlFlow;

    use super::super::{Clear, Netlist, arithmetic};
    use super::*;

    /// Remembers progress, and stops at a count.
    struct Watch {
        stop_at: usize,
        seen: Vec<usize>,
    }

    impl Observer for Watch {
        fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
            if let StageEvent::Progress { done, total, .. } = event {
                assert!(done <= total);
                self.seen.push(*done);
                if *done >= self.stop_at {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        }
    }

    #[test]
    fn progress_passes_every_end_of_a_level_and_can_stop_the_run() {
        let plan = arithmetic::adder(8, arithmetic::Form::Prefix).unwrap().plan();
        let inputs = [true; 16];
        let mut watch = Watch { stop_at: usize::MAX, seen: Vec::new() };
        plan.run(&Clear, &inputs, &mut watch).unwrap();
        assert!(plan.levels().all(|level| watch.seen.contains(&level.end)));
        let mut watch = Watch { stop_at: 10, seen: Vec::new() };
        assert_eq!(plan.run(&Clear, &inputs, &mut watch).unwrap_err().code(), "ABORTED");
        assert!(watch.seen.last().is_some_and(|done| *done < plan.ops().len()));
    }

    #[test]
    fn inputs_are_counted_and_outputs_need_no_gate() {
        let plan =
            Netlist::parse("input a b\noutput b x y z\nx = NOT a\ny = 1\nz = XOR a a\n").unwrap().plan();
        assert_eq!(plan.run(&Clear, &[true, false], &mut ()).unwrap(), [false, false, true, false]);
        assert_eq!(plan.depth(), 0);
        let error = plan.run(&Clear, &[true], &mut ()).unwrap_err();
        assert!(error.to_string().contains("2 inputs and was given 1"), "{error}");
    }

    #[test]
    fn steps_give_what_the_whole_run_gives_and_never_leave_a_level() {
        let plan = arithmetic::adder(4, arithmetic::Form::Prefix).unwrap().plan();
        let inputs = [true, true, false, true, true, false, false, true];
        let whole = plan.run(&Clear, &inputs, &mut ()).unwrap();
        for ops in [0, 1, 3, 1000] {
            let mut watch = Watch { stop_at: usize::MAX, seen: Vec::new() };
            let mut run = PlanRun::new(plan.clone(), &inputs).unwrap();
            assert_eq!(run.outputs(&Clear).unwrap_err().code(), "INVALID_ARGUMENT");
            while !run.step(&Clear, ops, &mut watch).unwrap() {}
            assert!(run.step(&Clear, ops, &mut watch).unwrap(), "a finished run stays finished");
            assert_eq!(run.outputs(&Clear).unwrap(), whole);
            assert!(plan.levels().all(|level| watch.seen.contains(&level.end)));
            assert_eq!(run.done(), plan.ops().len());
            if ops < 2 {
                assert_eq!(watch.seen, (1..=plan.ops().len()).collect::<Vec<_>>());
            }
        }
        // Results from elsewhere or from ahead of their turn are taken as they are, once.
        let mut run = PlanRun::new(plan.clone(), &inputs).unwrap();
        let mut other = run.clone();
        for op in (0..plan.ops().len()).step_by(2) {
            while other.wire(plan.inputs() + op).is_none() {
                other.step(&Clear, 1, &mut ()).unwrap();
            }
            let bit = *other.wire(plan.inputs() + op).unwrap();
            run.supply(op, bit, Counters::default()).unwrap();
            assert_eq!(run.supply(op, bit, Counters::default()).unwrap_err().code(), "INVALID_ARGUMENT");
        }
        assert_eq!(run.ahead(&Clear, 0).unwrap_err().code(), "INVALID_ARGUMENT");
        assert_eq!(run.ahead(&Clear, plan.ops().len()).unwrap_err().code(), "INVALID_ARGUMENT");
        run.ahead(&Clear, 1).unwrap();
        let mut watch = Watch { stop_at: usize::MAX, seen: Vec::new() };
        while !run.step(&Clear, 1, &mut watch).unwrap() {}
        assert_eq!(watch.seen, (1..=plan.ops().len()).collect::<Vec<_>>());
        assert_eq!(run.outputs(&Clear).unwrap(), whole);
        let mut fresh = PlanRun::new(plan.clone(), &inputs).unwrap();
        assert!(
            fresh.ahead(&Clear, plan.ops().len() - 1).unwrap_err().to_string().contains("not computed yet")
        );
        // A run that was stopped goes on where it was.
        let mut run = PlanRun::new(plan.clone(), &inputs).unwrap();
        let mut watch = Watch { stop_at: 2, seen: Vec::new() };
        while run.step(&Clear, 1, &mut watch).is_ok() {}
        assert_eq!(run.done(), 2);
        while !run.step(&Clear, 1, &mut ()).unwrap() {}
        assert_eq!(run.outputs(&Clear).unwrap(), whole);
    }
}
