//! Choosing how numbers are compared, on sets that can do it by gates or by digits.

use alloc::{format, string::String, vec::Vec};

use super::{
    Bootstraps, DigitOrders, InputShape, Node, Operation, Order, Plan, Program, Reading, Target, Value, Way,
    by_digits::Lowered, graph::limit,
};
use crate::error::Error;

/// Most questions about different numbers whose way a program leaves open, on a set that has two ways: both are planned for each.
const MOST_COMPARED: usize = 16;

/// Most rounds in which ways are changed, one question after the other: each may change what the others cost.
const MOST_ROUNDS: usize = 4;

/// Cost and reliability of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// About how long it takes on one thread ([`Plan::modelled_seconds`]).
    pub seconds: f64,
    /// As [`Plan::log2_failure`].
    pub log_failure: Option<f64>,
    /// As [`Plan::least_distance`].
    pub least_distance: f64,
}

impl Estimate {
    fn of(plan: &Plan<'_>) -> Self {
        Self {
            seconds: plan.modelled_seconds(),
            log_failure: plan.log2_failure(),
            least_distance: plan.least_distance(),
        }
    }
}

/// Questions that the same comparisons answer, with an estimate of the whole program for either way, all other questions being answered as
/// they are in the plan. An error says why a way is not open. With more than 16 questions, the way that a program does not choose is not
/// estimated.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The nodes of these questions.
    pub nodes: Vec<usize>,
    /// The way that was taken.
    pub way: Way,
    /// Whether the program chooses the way.
    pub chosen: bool,
    /// The estimate by gates.
    pub gates: Result<Estimate, Error>,
    /// The estimate by digits.
    pub digits: Result<Estimate, Error>,
}

impl Compared {
    /// Which way was taken and why, in words.
    pub fn reason(&self) -> String {
        let came_to = |way: Way, found: &Result<Estimate, Error>| match found {
            Ok(Estimate { seconds, log_failure, least_distance }) => {
                let wrong = log_failure.map_or(String::new(), |log| {
                    format!(", wrong with a probability of at most 2^{:.1}", libm::ceil(log * 10.0) / 10.0)
                });
                let apart = if *least_distance > 0.0 {
                    format!(" where numbers are at least {:.4} apart", libm::ceil(least_distance * 1e4) / 1e4)
                } else {
                    String::new()
                };
                format!("by {} about {seconds:.2} s on one thread{wrong}{apart}", way.name())
            }
            Err(error) => format!("not by {}: {error}", way.name()),
        };
        let why = match (self.chosen, &self.gates, &self.digits) {
            (true, ..) => "as the program says",
            (false, Ok(_), Ok(_)) => "the cheaper way",
            _ => "the only way",
        };
        format!(
            "by {}, {why}; {}; {}",
            self.way.name(),
            came_to(Way::Gates, &self.gates),
            came_to(Way::Digits, &self.digits)
        )
    }
}

/// Questions that the same comparisons answer.
struct Group {
    of: Value,
    order: Order,
    nodes: Vec<usize>,
}

fn groups(program: &Program) -> Vec<Group> {
    let needed = program.needed();
    let mut out: Vec<Group> = Vec::new();
    for (index, node) in program.nodes().iter().enumerate() {
        let Operation::Digits(of, Reading::Order(order)) = &node.operation else { continue };
        if !needed[index] {
            continue;
        }
        match out.iter_mut().find(|group| group.of == *of && group.order.shares_comparisons(order)) {
            Some(group) => group.nodes.push(index),
            None => out.push(Group { of: *of, order: *order, nodes: alloc::vec![index] }),
        }
    }
    out
}

/// The plan with the cheapest ways.
///
/// # Errors
/// As [`Plan::new`].
pub(super) fn planned<'p>(
    program: &'p Program,
    target: &Target,
    inputs: &[InputShape],
    bootstraps: Bootstraps,
) -> Result<Plan<'p>, Error> {
    let groups = groups(program);
    let Some(orders) = target.orders.as_ref().filter(|_| !groups.is_empty()) else {
        if target.digits.is_some()
            && let Some(group) = groups.iter().find(|group| group.order.by == Some(Way::Digits))
        {
            return Err(Error::InvalidArgument(format!(
                "{}: it is to be compared by digits, and this set does not; take keys of a set that compares both ways, such as \
                 msb16+fbs16-50, or leave the way open",
                program.describe(group.nodes[0])
            )));
        }
        return Plan::of(program, None, target, inputs, bootstraps);
    };
    let open = groups.iter().filter(|group| group.order.by.is_none()).count();
    limit(open, MOST_COMPARED, "questions about different numbers whose way it leaves open")?;
    Ways { program, orders, target, inputs, bootstraps, groups: &groups }.cheapest()
}

/// A program on a set that has two ways, and the questions in it, each before those that may depend on it.
struct Ways<'a, 'p> {
    program: &'p Program,
    orders: &'a DigitOrders,
    target: &'a Target,
    inputs: &'a [InputShape],
    bootstraps: Bootstraps,
    groups: &'a [Group],
}

impl<'p> Ways<'_, 'p> {
    fn cheapest(&self) -> Result<Plan<'p>, Error> {
        let mut ways = self.start()?;
        let mut rounds = 0;
        loop {
            let before = ways.clone();
            let (plan, compared) = self.round(&mut ways, rounds < MOST_ROUNDS)?;
            // Estimates hold only for the ways they were made with, so no way may have changed in this round.
            if ways == before {
                return Ok(plan.with_compared(compared));
            }
            rounds += 1;
        }
    }

    /// A plan in which the first questions go `ways`, and any others by gates.
    fn plan_of<'q>(&self, program: &'q Program, ways: &[Way]) -> Result<Plan<'q>, Error> {
        let by_digits = self.groups.iter().zip(ways).filter(|&(_, &way)| way == Way::Digits);
        let at: Vec<usize> = by_digits.flat_map(|(group, _)| group.nodes.iter().copied()).collect();
        let lowered = if at.is_empty() {
            None
        } else {
            Some(Lowered::new(program, self.orders, &at, self.target.slots())?)
        };
        Plan::of(program, lowered, self.target, self.inputs, self.bootstraps)
    }

    fn plan(&self, ways: &[Way]) -> Result<Plan<'p>, Error> {
        self.plan_of(self.program, ways)
    }

    /// Ways that are open, by gates where possible.
    fn start(&self) -> Result<Vec<Way>, Error> {
        let all = |open: Way| self.groups.iter().map(|group| group.order.by.unwrap_or(open)).collect();
        let gates: Vec<Way> = all(Way::Gates);
        if self.plan(&gates).is_ok() {
            return Ok(gates);
        }
        let (mut own, mut closed) = (gates, None);
        for (at, group) in self.groups.iter().enumerate() {
            if group.order.by.is_some() {
                continue;
            }
            let part = asking(self.program, group);
            let Err(by_gates) = self.plan_of(&part, &own[..=at]) else { continue };
            own[at] = Way::Digits;
            if let Err(by_digits) = self.plan_of(&part, &own[..=at]) {
                closed.get_or_insert_with(|| neither(by_gates, by_digits));
            }
        }
        let Err(error) = self.plan(&own) else { return Ok(own) };
        // Answers by gates may come at too low a level for what follows.
        let digits: Vec<Way> = all(Way::Digits);
        if self.plan(&digits).is_ok() {
            return Ok(digits);
        }
        Err(closed.unwrap_or(error))
    }

    fn estimate(&self, ways: &[Way]) -> Result<Estimate, Error> {
        self.plan(ways).map(|plan| Estimate::of(&plan))
    }

    /// Takes the cheaper way of one question after the other, if `change`, and estimates both ways of each.
    fn round(&self, ways: &mut [Way], change: bool) -> Result<(Plan<'p>, Vec<Compared>), Error> {
        let mut others: Vec<Option<(Way, Result<Estimate, Error>)>> = Vec::new();
        for (at, group) in self.groups.iter().enumerate() {
            if group.order.by.is_some() {
                others.push(None);
                continue;
            }
            let (taken, own) = (ways[at], self.estimate(ways)?);
            ways[at] = taken.other();
            let other = self.estimate(ways);
            let cheaper = other.as_ref().is_ok_and(|other| other.seconds < own.seconds);
            if !(change && cheaper) {
                ways[at] = taken;
            }
            others.push(Some((taken.other(), other)));
        }
        let plan = self.plan(ways)?;
        let own = Estimate::of(&plan);
        let mut compared = Vec::new();
        for (at, (group, other)) in self.groups.iter().zip(others).enumerate() {
            let (way, chosen) = (ways[at], other.is_none());
            let (of, other) = other.unwrap_or_else(|| (way.other(), self.instead(ways, at)));
            let [gates, digits] = match of {
                Way::Gates => [other, Ok(own)],
                Way::Digits => [Ok(own), other],
            };
            compared.push(Compared { nodes: group.nodes.clone(), way, chosen, gates, digits });
        }
        Ok((plan, compared))
    }

    /// The estimate if a question goes another way than the program says; not made if there are many questions, as each takes a plan.
    fn instead(&self, ways: &[Way], at: usize) -> Result<Estimate, Error> {
        if self.groups.len() > MOST_COMPARED {
            return Err(Error::InvalidArgument(format!("the program says by {}", ways[at].name())));
        }
        let mut ways = ways.to_vec();
        ways[at] = ways[at].other();
        self.estimate(&ways)
    }
}

/// The program with the answers of one group as its only outputs; other questions are answered where the group depends on them.
fn asking(program: &Program, group: &Group) -> Program {
    let mut nodes = program.nodes().to_vec();
    for node in &mut nodes {
        if let Operation::Output(x) = node.operation {
            // Nothing uses this node, so plans leave it out.
            node.operation = Operation::Negate(x);
        }
    }
    nodes.extend(
        group.nodes.iter().map(|&index| Node {
            name: String::new(),
            operation: Operation::Output(Value::new(index as u32)),
        }),
    );
    Program::of_checked(nodes)
}

/// The error for a question that neither way answers: that of gates, unless it is [`Error::InvalidArgument`]; then that of digits. Its text
/// names both.
fn neither(by_gates: Error, by_digits: Error) -> Error {
    if by_gates == by_digits {
        return by_gates;
    }
    if matches!(by_gates, Error::InvalidArgument(_)) {
        return by_digits.within(&format!("by gates: {by_gates}; by digits"));
    }
    by_gates.within(&format!("by digits: {by_digits}; by gates"))
}
