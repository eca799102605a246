//! Circuits of gates on encrypted bits.

use alloc::{borrow::Cow, vec::Vec};
use core::ops::ControlFlow;

use super::CggiEvaluator;
use crate::{
    arith::Word,
    circuits::netlist::{GateCall, GateEvaluator, Kind},
    error::Error,
    schemes::cggi::{CggiCiphertext, Gate},
    trace::{Counters, Observer, StageEvent},
};

/// Runs the plans of netlists, gates of one level on as many threads as there are.
impl<W: Word> GateEvaluator for CggiEvaluator<W> {
    type Bit = CggiCiphertext<W>;

    fn constant(&self, value: bool) -> Result<Self::Bit, Error> {
        CggiEvaluator::constant(self, value)
    }

    fn not(&self, bit: &Self::Bit) -> Result<Self::Bit, Error> {
        CggiEvaluator::not(self, bit)
    }

    fn gate(&self, call: &GateCall<'_, Self::Bit>) -> Result<(Self::Bit, Counters), Error> {
        let inverted = |i: usize| call.operands.get(i).is_some_and(|term| term.inverted);
        // AND has a gate for every choice of inverses; what is left of them is negated.
        let (gate, negated) = match (call.kind, inverted(0), inverted(1)) {
            (Kind::And, false, false) => (Gate::And, false),
            (Kind::And, true, false) => (Gate::AndNotA, false),
            (Kind::And, false, true) => (Gate::AndNotB, false),
            (Kind::And, true, true) => (Gate::Nor, false),
            (kind, ..) => (kind.gate(), true),
        };
        let inputs = call.operands.iter().map(|term| {
            if negated && term.inverted {
                CggiEvaluator::not(self, term.bit).map(Cow::Owned)
            } else {
                Ok(Cow::Borrowed(term.bit))
            }
        });
        let inputs = inputs.collect::<Result<Vec<Cow<'_, Self::Bit>>, Error>>()?;
        let inputs: Vec<&Self::Bit> = inputs.iter().map(AsRef::as_ref).collect();
        let mut work = Work(Counters::default());
        let bit = CggiEvaluator::gate(self, gate, &inputs, &mut work)?;
        Ok((bit, work.0))
    }
}

/// Adds up the work of the stages.
struct Work(Counters);

impl Observer for Work {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        if let StageEvent::Exit { counters, .. } = event {
            self.0 += *counters;
        }
        ControlFlow::Continue(())
    }
}
