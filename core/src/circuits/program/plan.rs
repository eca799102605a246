//! Plans: the parts of a program that have to run, with the level and scale of every value.

use alloc::{borrow::Cow, vec, vec::Vec};

use super::{
    Bootstraps, Compared, InputShape, MAX_STEPS, Operation, Program, Target,
    by_digits::Lowered,
    comparison_choice,
    graph::limit,
    lower::Planner,
    steps::{Action, Register, Step},
    values::{check_count, last_uses},
};
use crate::{
    circuits::{linear_transform::BabyGiantSteps, polynomial},
    error::Error,
    schemes::{ckks::Scale, log2_sum},
};

/// Name, level and scale of an output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedOutput<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its level.
    pub level: usize,
    /// Its scale.
    pub scale: Scale,
}

/// A program with everything decided: run it with [`Plan::run`].
pub struct Plan<'p> {
    /// The program as written.
    program: Cow<'p, Program>,
    /// The program that is evaluated if orders are told by digits, with the node that each of its nodes is for.
    lowered: Option<Lowered>,
    compared: Vec<Compared>,
    seconds: f64,
    pub(super) slots: usize,
    pub(super) inputs: Vec<InputShape>,
    pub(super) steps: Vec<Step>,
    pub(super) outputs: Vec<Register>,
    /// For each step, the last one that uses its result; past the end for outputs.
    pub(super) last_uses: Vec<usize>,
    ring_slots: usize,
    key_switches: usize,
    inserted: usize,
    digit_passes: usize,
    passes_of_bootstrap: usize,
    log_failure: Option<f64>,
    least_distance: f64,
    peak_bytes: u64,
}

impl<'p> Plan<'p> {
    /// Decides levels, scales, keys and bootstraps for inputs at the levels and scales of `inputs`, one for each input of the program.
    ///
    /// Where a set compares by gates and by digits, questions about the order of numbers are planned both ways, one after the other, and
    /// answered by the cheaper one ([`Self::compared`]), unless the program says how ([`Order::by`](super::Order::by)).
    ///
    /// # Errors
    /// Each names the node it concerns: [`Error::LevelMismatch`] where levels run out, [`Error::ScaleMismatch`] where scales
    /// differ and no level is left to bring them together, [`Error::MissingKey`] for a key that the target does not have,
    /// [`Error::InvalidArgument`] for another number of inputs or more numbers than slots, [`Error::Limit`] beyond
    /// [`MAX_STEPS`].
    pub fn new(
        program: &'p Program,
        target: &Target,
        inputs: &[InputShape],
        bootstraps: Bootstraps,
    ) -> Result<Self, Error> {
        comparison_choice::planned(program, target, inputs, bootstraps)
    }

    /// The plan with every order told by gates, except those that were lowered.
    pub(super) fn of(
        program: &'p Program,
        lowered: Option<Lowered>,
        target: &Target,
        inputs: &[InputShape],
        bootstraps: Bootstraps,
    ) -> Result<Self, Error> {
        let graph = lowered.as_ref().map_or(program, |lowered| &lowered.program);
        let origin = |index| lowered.as_ref().map_or(index, |lowered| lowered.origins[index]);
        check_count(inputs.len(), program)?;
        let mut planner = Planner::new(target, bootstraps);
        let needed = graph.needed();
        let mut registers: Vec<Option<Register>> = vec![None; graph.nodes().len()];
        let (mut given, mut outputs, mut written) = (0, Vec::new(), 0);
        for (index, node) in graph.nodes().iter().enumerate() {
            let input = given;
            given += usize::from(matches!(node.operation, Operation::Input));
            if !needed[index] {
                continue;
            }
            if let Operation::Output(x) = node.operation {
                outputs.extend(registers[x.index()]);
                continue;
            }
            let before = planner.bootstraps();
            registers[index] = planner
                .node(graph, index, &registers, (input, inputs))
                .map_err(|error| error.within(&program.describe(origin(index))))?;
            if matches!(node.operation, Operation::Bootstrap(_)) {
                written += planner.bootstraps() - before;
            }
        }
        limit(planner.steps.len(), MAX_STEPS, "steps")?;
        let bootstraps = planner.bootstraps();
        let last_uses = last_uses(planner.steps.iter().map(|step| step.action.operands()), &outputs);
        let peak_bytes = peak(target, &planner.steps, &last_uses, &planner.held);
        let key_switches: usize =
            planner.steps.iter().map(|step| key_switches(graph, target.n() / 2, step)).sum();
        let apart = lowered.as_ref().map_or(0.0, |lowered| lowered.least_distance);
        let each = target.orders.as_ref().map_or(0.0, |orders| orders.key_switch);
        Ok(Self {
            program: Cow::Borrowed(program),
            compared: Vec::new(),
            seconds: planner.seconds + key_switches as f64 * each,
            slots: target.slots(),
            inputs: inputs.to_vec(),
            ring_slots: target.n() / 2,
            key_switches,
            digit_passes: planner.digit_passes,
            log_failure: failure(target.log_failure, bootstraps, &planner.failures),
            least_distance: planner.failures.iter().map(|&(_, least)| least).fold(apart, f64::max),
            passes_of_bootstrap: target.modular.map_or(1, |modular| modular.passes),
            steps: planner.steps,
            outputs,
            last_uses,
            inserted: bootstraps - written,
            peak_bytes,
            lowered,
        })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The same plan with its own copy of the program, for a run that outlives the original.
    pub fn into_owned(self) -> Plan<'static> {
        Plan { program: Cow::Owned(self.program.into_owned()), ..self }
    }

    /// Number of steps; each is one operation on ciphertexts.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// The node that a step belongs to.
    pub fn node_of(&self, step: usize) -> Option<usize> {
        self.steps.get(step).map(|step| self.origin(step.node))
    }

    /// The program that is evaluated: the one written, with the nodes that tell orders by digits in place of these orders.
    pub(super) fn graph(&self) -> &Program {
        self.lowered.as_ref().map_or(&self.program, |lowered| &lowered.program)
    }

    /// The node of the program as written that a node of the graph is for.
    pub(super) fn origin(&self, index: usize) -> usize {
        self.lowered.as_ref().map_or(index, |lowered| lowered.origins[index])
    }

    /// How the questions about orders are answered, on sets that have two ways, with an estimate of either.
    pub fn compared(&self) -> &[Compared] {
        &self.compared
    }

    pub(super) fn with_compared(self, compared: Vec<Compared>) -> Self {
        Self { compared, ..self }
    }

    /// About how long the readings and the arithmetic around them take on one thread, on sets that have two ways to compare. The plan
    /// chooses by this model.
    pub fn modelled_seconds(&self) -> f64 {
        self.seconds
    }

    /// Number of bootstraps.
    pub fn bootstraps(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step.action, Action::Refresh(_))).count()
    }

    /// Number of bootstraps that the plan inserted.
    pub fn inserted(&self) -> usize {
        self.inserted
    }

    /// Number of passes of a run: all passes of its bootstraps, and those that read digits.
    pub fn passes(&self) -> usize {
        self.bootstraps() * self.passes_of_bootstrap + self.digit_passes
    }

    /// Number of passes that read digits, each of which takes about as long as a bootstrap.
    pub fn digit_passes(&self) -> usize {
        self.digit_passes
    }

    /// log2 of a bound on the probability that a run gives a wrong result, and not merely an imprecise one: -40 is one run in 2^40.
    ///
    /// It adds up the probabilities of all bootstraps and of all readings of digits and comparisons; numbers that are compared have to be
    /// at least [`Self::least_distance`] apart. `None` if the probability of one of them is not known, or if there are none. The error that
    /// arithmetic leaves is not counted.
    pub fn log2_failure(&self) -> Option<f64> {
        self.log_failure
    }

    /// How far apart numbers have to be to be compared rightly as often as [`Self::log2_failure`] says; 0 if none are compared, or only
    /// numbers on a grid.
    pub fn least_distance(&self) -> f64 {
        self.least_distance
    }

    /// Number of key switches without those of bootstraps and of passes that read digits: relinearisations, rotations, conjugations.
    pub fn key_switches(&self) -> usize {
        self.key_switches
    }

    /// Most bytes of the values that a run holds at once, beside its inputs and the memory of the operation under way.
    pub fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// Rotations whose keys a step holds together: the baby steps of each linear transform that has keys for all its rotations.
    pub fn held_rotations(&self) -> impl Iterator<Item = Vec<i64>> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Transform(_, node, None) => match &self.graph().nodes()[*node].operation {
                Operation::LinearTransform(_, matrix) => {
                    let steps = BabyGiantSteps::of(&matrix.shifts(), self.ring_slots);
                    Some(steps.babies().iter().map(|step| step.rotation).filter(|&k| k != 0).collect())
                }
                _ => None,
            },
            _ => None,
        })
    }

    /// Names, levels and scales of the outputs, in order.
    pub fn outputs(&self) -> impl Iterator<Item = PlannedOutput<'_>> {
        let steps = self.outputs.iter().map(|&register| &self.steps[register]);
        let named = self.program.output_names().zip(steps);
        named.map(|(name, step)| PlannedOutput { name, level: step.level, scale: step.scale })
    }
}

/// log2 of a bound on the probability that any of `bootstraps` bootstraps or any reading fails; `None` if one of these probabilities is not
/// known, or if there are none.
fn failure(bootstrap: Option<f64>, bootstraps: usize, readings: &[(Option<f64>, f64)]) -> Option<f64> {
    let mut logs = readings.iter().map(|&(log, _)| log).collect::<Option<Vec<f64>>>()?;
    if bootstraps > 0 {
        logs.push(bootstrap? + libm::log2(bootstraps as f64));
    }
    (!logs.is_empty()).then(|| log2_sum(&logs))
}

/// The most bytes held at once: values that are known and still needed, and those that a step holds beside its result.
fn peak(target: &Target, steps: &[Step], last_uses: &[usize], held_by: &[(Register, Vec<usize>)]) -> u64 {
    let mut held_by = held_by.iter().peekable();
    let mut freed = vec![0; steps.len()];
    let (mut held, mut most) = (0, 0);
    for (at, step) in steps.iter().enumerate() {
        let bytes = target.bytes[step.level];
        if let Some(freed) = freed.get_mut(last_uses[at]) {
            *freed += bytes;
        }
        held += bytes;
        let inside = held_by.next_if(|(step, _)| *step == at).map_or(0, |(_, levels)| {
            levels.iter().map(|&level| target.bytes.get(level).copied().unwrap_or(0)).sum()
        });
        most = most.max(held + inside);
        held -= freed[at];
    }
    most
}

fn key_switches(program: &Program, slots: usize, step: &Step) -> usize {
    match &step.action {
        Action::Multiply(..) | Action::Conjugate(_) => 1,
        Action::Rotate(_, hops) => hops.len(),
        Action::Transform(_, _, Some(hops)) => hops.values().map(Vec::len).sum(),
        Action::Transform(_, node, None) => match &program.nodes()[*node].operation {
            Operation::LinearTransform(_, matrix) => super::lower::rotations(matrix, slots).len(),
            _ => 0,
        },
        Action::Polynomial(_, node) => match &program.nodes()[*node].operation {
            Operation::Polynomial(_, p) => {
                polynomial::Plan::new(core::slice::from_ref(p)).map_or(0, |plan| plan.key_switches())
            }
            _ => 0,
        },
        _ => 0,
    }
}
