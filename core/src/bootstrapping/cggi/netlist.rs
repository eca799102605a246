//! Circuits of gates on encrypted bits.

use alloc::{borrow::Cow, vec::Vec};

use super::evaluator::CggiEvaluator;
use crate::{
    arith::Word,
    circuits::netlist::{GateCall, GateEvaluator, Term},
    error::Error,
    schemes::cggi::{CggiCiphertext, Gate},
    trace::Counters,
};

impl<W: Word> CggiEvaluator<W> {
    /// Evaluates a gate of a circuit, with operands inverted where they ask for it, which is free. Returns the result and the work it took.
    ///
    /// # Errors
    /// As [`Self::gate`].
    pub fn gate_of_terms(
        &self,
        gate: Gate,
        operands: &[Term<'_, CggiCiphertext<W>>],
    ) -> Result<(CggiCiphertext<W>, Counters), Error> {
        let operands =
            operands
                .iter()
                .map(|term| {
                    if term.inverted {
                        self.not(term.bit).map(Cow::Owned)
                    } else {
                        Ok(Cow::Borrowed(term.bit))
                    }
                })
                .collect::<Result<Vec<Cow<'_, _>>, Error>>()?;
        let operands: Vec<&CggiCiphertext<W>> = operands.iter().map(AsRef::as_ref).collect();
        let mut work = Counters::default();
        let out = self.gate(gate, &operands, &mut work)?;
        Ok((out, work))
    }
}

/// [`Plan::run`](crate::circuits::netlist::Plan::run) on encrypted bits: one bootstrap for each op, one
/// op on each thread at a time.
impl<W: Word> GateEvaluator for CggiEvaluator<W> {
    type Bit = CggiCiphertext<W>;

    fn constant(&self, value: bool) -> Result<CggiCiphertext<W>, Error> {
        CggiEvaluator::constant(self, value)
    }

    fn not(&self, bit: &CggiCiphertext<W>) -> Result<CggiCiphertext<W>, Error> {
        CggiEvaluator::not(self, bit)
    }

    fn gate(&self, call: &GateCall<'_, CggiCiphertext<W>>) -> Result<(CggiCiphertext<W>, Counters), Error> {
        self.gate_of_terms(call.kind.gate(), &call.operands)
    }
}
