//! Running a plan.

use alloc::{borrow::Cow, format, vec::Vec};

use super::{Kind, Plan, Signal};
use crate::{
    error::Error,
    par,
    trace::{Counters, Observer, StageEvent, StageInfo, emit},
};

/// The one stage of a run. Its progress counts ops, which are run in the order of
/// [`Plan::ops`]: how many are done tells which levels are.
pub const STAGE: StageInfo = StageInfo {
    id: "gates",
    title: "Gates",
    symbol: "one bootstrapping per gate, level by level",
    levels: 0,
};

/// Ops handed out at once for each thread: between two batches a run can be stopped.
const BATCH: usize = 8;

/// Evaluates gates on bits of some kind: in the clear, or encrypted.
pub trait GateEvaluator: Sync {
    /// A bit.
    type Bit: Clone + Send + Sync;

    /// A bit that everybody knows.
    ///
    /// # Errors
    /// Those of the implementation.
    fn constant(&self, value: bool) -> Result<Self::Bit, Error>;

    /// The inverse of a bit; no bootstrapping.
    ///
    /// # Errors
    /// Those of the implementation.
    fn not(&self, bit: &Self::Bit) -> Result<Self::Bit, Error>;

    /// The value of one gate, and the work it took. Called from several threads at once.
    ///
    /// # Errors
    /// Those of the implementation.
    fn gate(&self, call: &GateCall<'_, Self::Bit>) -> Result<(Self::Bit, Counters), Error>;

    /// The values of gates that are independent of each other, in order: one per thread at a
    /// time, unless the implementation knows better.
    ///
    /// # Errors
    /// Those of the implementation.
    fn gates(&self, calls: &[GateCall<'_, Self::Bit>]) -> Result<Vec<(Self::Bit, Counters)>, Error> {
        par::try_map(calls.len(), |i| self.gate(&calls[i]))
    }
}

/// An operand: a bit, or its inverse.
#[derive(Debug)]
pub struct Term<'a, B> {
    /// The bit.
    pub bit: &'a B,
    /// Whether its inverse is meant.
    pub inverted: bool,
}

/// A gate to be evaluated.
#[derive(Debug)]
pub struct GateCall<'a, B> {
    /// What to compute; which operands may be inverted is said there.
    pub kind: Kind,
    /// As many operands as the kind takes: different bits, none of them constant.
    pub operands: Vec<Term<'a, B>>,
}

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
        if inputs.len() != self.inputs() {
            return Err(Error::InvalidArgument(format!(
                "the circuit has {} inputs and was given {} bits; give one for each",
                self.inputs(),
                inputs.len()
            )));
        }
        let (stage, total) = (STAGE.id, self.ops().len());
        emit(observer, &StageEvent::Enter { stage })?;
        let mut wires: Vec<Option<Cow<'_, E::Bit>>> =
            inputs.iter().map(|bit| Some(Cow::Borrowed(bit))).collect();
        wires.resize_with(inputs.len() + total, || None);
        let last = self.last_uses();
        let (mut counters, batch) = (Counters::default(), BATCH * par::threads());
        for level in self.levels() {
            let mut at = level.start;
            while at < level.end {
                let end = level.end.min(at + batch);
                let results = {
                    let calls: Vec<_> = self.ops()[at..end]
                        .iter()
                        .map(|op| GateCall {
                            kind: op.kind(),
                            operands: op.operands().iter().filter_map(|s| term(&wires, *s)).collect(),
                        })
                        .collect();
                    evaluator.gates(&calls)?
                };
                if results.len() != end - at {
                    return Err(Error::InvalidArgument(format!(
                        "the evaluator gave {} bits for {} gates; give one for each",
                        results.len(),
                        end - at
                    )));
                }
                for (slot, (bit, work)) in wires[inputs.len() + at..].iter_mut().zip(results) {
                    *slot = Some(Cow::Owned(bit));
                    counters += work;
                }
                for op in at..end {
                    for index in self.ops()[op].operands().iter().filter_map(|s| s.index()) {
                        if last[index] == op {
                            wires[index] = None;
                        }
                    }
                }
                at = end;
                emit(observer, &StageEvent::Progress { stage, done: at, total })?;
            }
        }
        let results = self.outputs().iter().map(|signal| match (signal, term(&wires, *signal)) {
            (Signal::Constant(value), _) => evaluator.constant(*value),
            (_, Some(Term { bit, inverted: true })) => evaluator.not(bit),
            (_, Some(Term { bit, .. })) => Ok(bit.clone()),
            (_, None) => Err(Error::InvalidArgument("an output of the plan has no source".into())),
        });
        let results = results.collect::<Result<Vec<_>, Error>>()?;
        emit(observer, &StageEvent::Exit { stage, level: 0, log_q: 0.0, log_scale: 0.0, counters })?;
        Ok(results)
    }

    /// For each wire the last op that uses it; wires that are outputs have none.
    fn last_uses(&self) -> Vec<usize> {
        let mut last = alloc::vec![usize::MAX; self.inputs() + self.ops().len()];
        for (at, op) in self.ops().iter().enumerate() {
            op.operands().iter().filter_map(|s| s.index()).for_each(|index| last[index] = at);
        }
        self.outputs().iter().filter_map(|s| s.index()).for_each(|index| last[index] = usize::MAX);
        last
    }
}

fn term<'a, B: Clone>(wires: &'a [Option<Cow<'_, B>>], signal: Signal) -> Option<Term<'a, B>> {
    let bit = wires.get(signal.index()?)?.as_deref()?;
    Some(Term { bit, inverted: signal.is_inverted() })
}

/// Computes in the clear: what every other evaluator is measured by.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clear;

impl GateEvaluator for Clear {
    type Bit = bool;

    fn constant(&self, value: bool) -> Result<bool, Error> {
        Ok(value)
    }

    fn not(&self, bit: &bool) -> Result<bool, Error> {
        Ok(!bit)
    }

    fn gate(&self, call: &GateCall<'_, bool>) -> Result<(bool, Counters), Error> {
        let bits: Vec<bool> = call.operands.iter().map(|term| *term.bit != term.inverted).collect();
        Ok((call.kind.gate().evaluate(&bits)?, Counters::default()))
    }
}

#[cfg(test)]
mod tests {
    use core::ops::ControlFlow;

    use super::super::{Netlist, arithmetic};
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
}
