//! Several readings of one value in one step, with a result for each node.

use alloc::{format, vec::Vec};

use super::{
    InputShape, MAX_PASSES, Operation, Program, Reading, Readings, Value,
    digits::MAX_TOGETHER,
    graph::limit,
    lower::Planner,
    steps::{Action, Register},
};
use crate::error::Error;

impl Planner<'_> {
    /// Plans all readings of the same digits of the same value that needed nodes from `node` on ask for, and gives the register of `node`.
    pub(super) fn digits(
        &mut self,
        program: &Program,
        node: usize,
        of: Value,
        x: Register,
    ) -> Result<Register, Error> {
        let reader = self.target.digits.clone().ok_or_else(|| {
            let which = match &program.nodes()[node].operation {
                Operation::Digits(_, Reading::Order(_)) => {
                    "it compares, and this set does not; take keys of a set that links numbers to gates"
                }
                _ => "it reads digits, and this set does not; take keys of a set for modular reduction",
            };
            Error::InvalidArgument(which.into())
        })?;
        let needed = self.needed.get_or_insert_with(|| program.needed());
        // Each reading once, by the first node that has it.
        let mut readings: Vec<(&Reading, usize)> = Vec::new();
        let mut places = Vec::new();
        for (index, other) in program.nodes().iter().enumerate().skip(node) {
            let Operation::Digits(operand, reading) = &other.operation else { continue };
            let together = readings.first().is_none_or(|(first, _)| first.shares_digits(reading));
            if *operand == of && needed[index] && together && !self.read.contains_key(&index) {
                let known = readings.iter().position(|(known, _)| *known == reading);
                if known.is_none() && readings.len() == MAX_TOGETHER {
                    continue;
                }
                places.push((index, known.unwrap_or(readings.len())));
                if known.is_none() {
                    readings.push((reading, index));
                }
            }
        }
        let (readings, nodes): (Vec<_>, Vec<_>) = readings.into_iter().unzip();
        let x = self.latest(x);
        if matches!(readings[..], [Reading::Integer { .. } | Reading::LookUpExact(_), ..]) {
            self.check_exact(program, x)?;
        }
        let known = self.bounds.get(of.index()).copied().flatten();
        let plan = reader.plan(self.steps[x].scale, Readings { list: &readings, known })?;
        if self.steps[x].level < plan.level {
            return Err(Error::LevelMismatch(format!(
                "digits of numbers at scale 2^{:.4} are read from level {} on, and its operand is at level {}; encrypt the inputs \
                 at a higher level, or read them earlier",
                self.steps[x].scale.log2(),
                plan.level,
                self.steps[x].level
            )));
        }
        self.digit_passes += plan.passes;
        limit(self.digit_passes, MAX_PASSES, "passes that read digits")?;
        self.failures.push((plan.log_failure, plan.least_distance));
        self.seconds += plan.seconds;
        let mut registers = Vec::with_capacity(nodes.len());
        for (i, (&node, &InputShape { level, scale })) in nodes.iter().zip(&plan.results).enumerate() {
            let action = match registers.first() {
                None => Action::Digits(x, nodes.clone(), known),
                Some(&first) => Action::Part(first, i),
            };
            registers.push(self.push(node, action, level, scale)?);
        }
        self.held.extend(registers.first().map(|&first| (first, plan.held)));
        for (index, place) in places {
            if let Some(known) = self.bounds.get_mut(index) {
                *known = plan.known.get(place).copied().flatten();
            }
            let register = *registers.get(place).ok_or_else(|| {
                Error::InvalidArgument("digits without a place for what is read: a bug of the set".into())
            })?;
            self.read.insert(index, register);
        }
        self.read
            .get(&node)
            .copied()
            .ok_or_else(|| Error::InvalidArgument("digits that were not read: a bug of the planner".into()))
    }

    /// An error if a value was rounded to steps of its own, and so is not what it stands for.
    fn check_exact(&self, program: &Program, x: Register) -> Result<(), Error> {
        let by = match &self.steps[x].action {
            Action::Refresh(_) if self.target.modular.is_some() => "a bootstrap",
            Action::Digits(_, nodes, _) => {
                match nodes.first().map(|&node| &program.nodes()[node].operation) {
                    Some(Operation::Digits(_, reading @ Reading::Modulo { .. })) => reading.kind(),
                    _ => return Ok(()),
                }
            }
            _ => return Ok(()),
        };
        Err(Error::InvalidArgument(format!(
            "its operand was rounded by {by} to steps of its own, and exact numbers are read; read them before, or take lut"
        )))
    }
}
