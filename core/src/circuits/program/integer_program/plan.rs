//! Plans: the parts of a program on integers that have to run, with the level of every value.

use alloc::{borrow::Cow, vec, vec::Vec};

use super::{
    super::{
        Bootstraps, Operation, Program,
        values::{check_count, last_uses},
    },
    IntegerTarget,
    placing::Planner,
    steps::{Action, Register, Step},
};
use crate::{arith::Word, error::Error, schemes::bgv::BgvShape};

/// A program on integers with everything decided: run it with [`IntegerPlan::run`].
pub struct IntegerPlan<'p, W: Word = u64> {
    pub(super) program: Cow<'p, Program>,
    pub(super) target: IntegerTarget<W>,
    pub(super) inputs: Vec<BgvShape>,
    pub(super) steps: Vec<Step>,
    pub(super) outputs: Vec<Register>,
    /// For each step, the last one that uses its result; past the end for outputs.
    pub(super) last_uses: Vec<usize>,
    inserted: usize,
    /// For each output, whether no bootstrap takes it.
    final_outputs: Vec<bool>,
}

impl<'p, W: Word> IntegerPlan<'p, W> {
    /// Decides levels, keys and bootstraps for inputs of the shapes `inputs`, one for each input of the program.
    ///
    /// # Errors
    /// Each names the node it concerns: [`Error::LevelMismatch`] where levels run out, [`Error::MissingKey`] for a key that the target does
    /// not have, [`Error::InvalidArgument`] for another number of inputs, more numbers than slots, numbers that are not whole and
    /// operations that integers do not have, [`Error::Limit`] beyond [`MAX_STEPS`](super::super::MAX_STEPS) and for noise that there is no
    /// room for.
    pub fn new(
        program: &'p Program,
        target: &IntegerTarget<W>,
        inputs: &[BgvShape],
        bootstraps: Bootstraps,
    ) -> Result<Self, Error> {
        check_count(inputs.len(), program)?;
        let mut planner = Planner::new(target, bootstraps);
        let needed = program.needed();
        let mut registers: Vec<Option<Register>> = vec![None; program.nodes().len()];
        let (mut given, mut outputs, mut written) = (0, Vec::new(), 0);
        for (index, node) in program.nodes().iter().enumerate() {
            let input = given;
            given += usize::from(matches!(node.operation, Operation::Input));
            if !needed[index] {
                continue;
            }
            if let Operation::Output(x) = node.operation {
                outputs.extend(registers[x.index()].map(|register| planner.latest(register)));
                continue;
            }
            let before = planner.refreshes;
            registers[index] = planner
                .node(program, index, &registers, (input, inputs))
                .map_err(|error| error.within(&program.describe(index)))?;
            if matches!(node.operation, Operation::Bootstrap(_)) {
                written += planner.refreshes - before;
            }
        }
        let inserted = planner.refreshes - written;
        let is_final = |&x: &Register| {
            target.bootstrapping.is_some_and(|own| !planner.can_be_refreshed(planner.shape(x), &own))
        };
        let final_outputs = outputs.iter().map(is_final).collect();
        let steps = planner.steps;
        let last_uses = last_uses(steps.iter().map(|step| step.action.operands()), &outputs);
        Ok(Self {
            program: Cow::Borrowed(program),
            target: target.clone(),
            inputs: inputs.to_vec(),
            steps,
            outputs,
            last_uses,
            inserted,
            final_outputs,
        })
    }

    /// The same plan with its own copy of the program, for a run that outlives the original.
    pub fn into_owned(self) -> IntegerPlan<'static, W> {
        IntegerPlan { program: Cow::Owned(self.program.into_owned()), ..self }
    }

    /// Number of steps; each is one operation on ciphertexts.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Number of bootstraps.
    pub fn bootstraps(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step.action, Action::Refresh(_))).count()
    }

    /// Number of bootstraps that the plan inserted.
    pub fn inserted(&self) -> usize {
        self.inserted
    }

    /// Number of key switches, without those of bootstraps.
    pub fn key_switches(&self) -> usize {
        self.steps.iter().map(|step| step.action.key_switches(&self.program)).sum()
    }

    /// Most bytes of the values that a run holds at once, beside its inputs and the memory of the operation under way.
    pub fn peak_bytes(&self) -> u64 {
        let rlwe = self.target.context.rlwe();
        let bytes = |step: &Step| (2 * rlwe.q(step.shape.level).len() * rlwe.n() * size_of::<W>()) as u64;
        let mut freed = vec![0; self.steps.len()];
        let (mut held, mut most) = (0, 0);
        for (at, step) in self.steps.iter().enumerate() {
            if let Some(freed) = freed.get_mut(self.last_uses[at]) {
                *freed += bytes(step);
            }
            held += bytes(step);
            most = most.max(held);
            held -= freed[at];
        }
        most
    }

    /// Names of the outputs, in order, with their levels and factors and the most noise that they may have.
    pub fn outputs(&self) -> impl Iterator<Item = (&str, BgvShape)> + '_ {
        let shapes = self.outputs.iter().map(|&register| self.steps[register].shape);
        self.program.output_names().zip(shapes)
    }

    /// Names of the outputs that can be decrypted but not bootstrapped: they are below the level where bootstraps of the target begin, or
    /// have more noise there than these take. There are none if the target has no bootstraps.
    pub fn final_outputs(&self) -> impl Iterator<Item = &str> + '_ {
        self.outputs().zip(&self.final_outputs).filter(|(_, is_final)| **is_final).map(|((name, _), _)| name)
    }
}
