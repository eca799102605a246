//! Circuits whose gates are evaluated elsewhere, each from the results of the gates below it.
//!
//! A brief is the length of the circuit's text as u32, the text, and the inputs; the result of a gate is a bit, and counters. A bit is
//! the id of its key, its weight, the body and the mask.

use alloc::{format, string::String, vec::Vec};

use super::evaluator::CggiEvaluator;
use crate::{
    arith::Word,
    bootstrapping::method::{
        Helper, Split, Tasks,
        split::{Reader, bad, put_counters, put_words},
    },
    circuits::netlist::{Netlist, Plan, PlanRun, Signal, Term},
    error::Error,
    rlwe::lwe::LweSample,
    schemes::cggi::{CggiCiphertext, CggiParams, Encoding, MAX_WEIGHT},
    trace::{Counters, Observer},
};

/// A circuit under evaluation on encrypted bits, a gate a step. Its tasks are the gates.
pub struct CircuitRun<W: Word = u32> {
    params: CggiParams<W>,
    text: String,
    inputs: Vec<CggiCiphertext<W>>,
    run: PlanRun<CggiCiphertext<W>>,
}

impl<W: Word> CircuitRun<W> {
    /// A run of the circuit that [`Netlist::parse`] reads; nothing is computed yet.
    ///
    /// # Errors
    /// Errors of the text; [`Error::InvalidArgument`] unless there is one bit for each input.
    pub fn new(params: &CggiParams<W>, text: String, inputs: Vec<CggiCiphertext<W>>) -> Result<Self, Error> {
        let run = PlanRun::new(plan_of(&text)?, &inputs)?;
        Ok(Self { params: params.clone(), text, inputs, run })
    }

    /// The outputs, once the last gate is evaluated.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] before; errors of the evaluator.
    pub fn outputs(&self, evaluator: &CggiEvaluator<W>) -> Result<Vec<CggiCiphertext<W>>, Error> {
        self.run.outputs(evaluator)
    }
}

impl<W: Word> Split<CggiEvaluator<W>> for CircuitRun<W> {
    fn step(&mut self, evaluator: &CggiEvaluator<W>, observer: &mut dyn Observer) -> Result<bool, Error> {
        self.run.step(evaluator, 1, observer)
    }

    fn tasks(&self) -> Option<Tasks> {
        let (next, total) = (self.run.done(), self.run.plan().ops().len());
        (next < total).then_some(Tasks { next, per_step: 1, total, secret: false })
    }

    fn brief(&mut self, evaluator: &CggiEvaluator<W>, _: &mut dyn Observer) -> Result<Vec<u8>, Error> {
        if self.tasks().is_none() {
            return Err(Error::InvalidArgument("all gates are evaluated; take the outputs".into()));
        }
        let mut out = Vec::new();
        put_words(&[self.text.len() as u32], &mut out);
        out.extend(self.text.as_bytes());
        for bit in &self.inputs {
            evaluator.check_bit(bit)?;
            put_bit(bit, &mut out);
        }
        Ok(out)
    }

    fn needs(&self, gate: usize) -> Vec<usize> {
        needs(self.run.plan(), gate).collect()
    }

    fn result(&self, gate: usize) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        put_bit(self.run.wire(self.inputs.len() + gate)?, &mut out);
        // The work is counted where the gate was evaluated.
        put_counters(Counters::default(), &mut out);
        Some(out)
    }

    fn ahead(&mut self, evaluator: &CggiEvaluator<W>, gate: usize) -> Result<(), Error> {
        self.run.ahead(evaluator, gate)
    }

    fn supply(&mut self, gate: usize, result: &[u8]) -> Result<(), Error> {
        let mut result = Reader(result);
        let (bit, work) = read_result(&mut result, &self.params)?;
        result.end()?;
        if self.inputs.iter().any(|input| input.key_id() != bit.key_id()) {
            return Err(Error::ParamsMismatch(format!(
                "the result of gate {gate} is under another key than the inputs; use helpers with the keys of the run"
            )));
        }
        self.run.supply(gate, bit, work)
    }
}

/// Evaluates gates of a circuit whose run is elsewhere, with the same bits.
pub struct CircuitHelper<W: Word = u32> {
    evaluator: CggiEvaluator<W>,
    plan: Plan,
    inputs: Vec<CggiCiphertext<W>>,
}

impl<W: Word> CircuitHelper<W> {
    /// A helper for the run that [`Split::brief`] describes.
    ///
    /// # Errors
    /// [`Error::BadBytes`], or errors of the text, for bytes that are not a brief for the evaluator's set; [`Error::ParamsMismatch`] for
    /// inputs under another key than the evaluator's.
    pub fn new(evaluator: &CggiEvaluator<W>, brief: &[u8]) -> Result<Self, Error> {
        let mut brief = Reader(brief);
        let length = brief.words::<u32>(1)?[0] as usize;
        let text = str::from_utf8(brief.bytes(length)?).map_err(|_| bad("the circuit is not UTF-8"))?;
        let plan = plan_of(text)?;
        let mut inputs = Vec::new();
        while inputs.len() < plan.inputs() {
            let input = read_bit(&mut brief, evaluator.params())?;
            evaluator.check_bit(&input)?;
            inputs.push(input);
        }
        brief.end()?;
        Ok(Self { evaluator: evaluator.clone(), plan, inputs })
    }
}

impl<W: Word> Helper for CircuitHelper<W> {
    fn compute(&mut self, gate: usize, needed: &[u8]) -> Result<Vec<u8>, Error> {
        let Some(op) = self.plan.ops().get(gate) else {
            return Err(Error::InvalidArgument(format!(
                "gate {gate} of a circuit of {} gates; count them from 0",
                self.plan.ops().len()
            )));
        };
        let (params, mut needed) = (self.evaluator.params(), Reader(needed));
        let mut results = Vec::new();
        for _ in needs(&self.plan, gate) {
            results.push(read_result(&mut needed, params)?.0);
        }
        needed.end()?;
        let mut results = results.iter();
        let term = |signal: &Signal| {
            let Signal::Wire { index, inverted } = *signal else { return None };
            let bit = self.inputs.get(index as usize).or_else(|| results.next())?;
            Some(Term { bit, inverted })
        };
        let operands: Vec<_> = op.operands().iter().filter_map(term).collect();
        let (bit, work) = self.evaluator.gate_of_terms(op.kind().gate(), &operands)?;
        let mut out = Vec::new();
        put_bit(&bit, &mut out);
        put_counters(work, &mut out);
        Ok(out)
    }
}

fn plan_of(text: &str) -> Result<Plan, Error> {
    Ok(Netlist::parse(text)?.plan())
}

/// The gates whose results a gate needs, in the order of its operands.
fn needs(plan: &Plan, gate: usize) -> impl Iterator<Item = usize> {
    let operands = plan.ops().get(gate).map_or(&[][..], |op| op.operands());
    operands.iter().filter_map(|signal| signal.index()?.checked_sub(plan.inputs()))
}

fn put_bit<W: Word>(bit: &CggiCiphertext<W>, out: &mut Vec<u8>) {
    out.extend(bit.key_id());
    put_words(&[bit.weight().min(MAX_WEIGHT)], out);
    put_words(&[bit.sample().b], out);
    put_words(&bit.sample().a, out);
}

fn read_bit<W: Word>(bytes: &mut Reader<'_>, params: &CggiParams<W>) -> Result<CggiCiphertext<W>, Error> {
    let mut key_id = [0; 16];
    key_id.copy_from_slice(bytes.bytes(16)?);
    let weight = bytes.words::<u32>(1)?[0];
    if weight > MAX_WEIGHT {
        return Err(bad("a bit states more noise than there can be"));
    }
    let p = params.modulus().value_u64();
    let b = bytes.residues(p, 1)?[0];
    let a = bytes.residues(p, params.n())?;
    CggiCiphertext::new(params, key_id, Encoding::Bit, weight, LweSample { a, b })
}

fn read_result<W: Word>(
    bytes: &mut Reader<'_>,
    params: &CggiParams<W>,
) -> Result<(CggiCiphertext<W>, Counters), Error> {
    Ok((read_bit(bytes, params)?, bytes.counters()?))
}
