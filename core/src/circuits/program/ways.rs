//! Which way orders are told, on sets that have two: by gates, or by digits.

use alloc::{format, string::String, vec::Vec};

use super::{
    Bootstraps, InputShape, Operation, Order, Plan, Program, Reading, Target, Value, Way, by_digits::Lowered,
    graph::limit,
};
use crate::error::Error;

/// Most questions about different numbers in a program for a set that has two ways: both are planned for each.
const MOST_COMPARED: usize = 16;

/// What a plan comes to.
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

/// Questions that the same comparisons answer, and how: of the whole program, what it comes to one way or the other. An error says why
/// a way is not open.
#[derive(Debug, Clone)]
pub struct Compared {
    /// Their nodes.
    pub nodes: Vec<usize>,
    /// The way that was taken.
    pub way: Way,
    /// Whether the program says so.
    pub chosen: bool,
    /// By gates.
    pub gates: Result<Estimate, Error>,
    /// By digits.
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
    let plan = |ways: &[Way]| -> Result<Plan<'p>, Error> {
        let by_digits = groups.iter().zip(ways).filter(|&(_, &way)| way == Way::Digits);
        let at: Vec<usize> = by_digits.flat_map(|(group, _)| group.nodes.iter().copied()).collect();
        let lowered =
            if at.is_empty() { None } else { Some(Lowered::new(program, orders, &at, target.slots())?) };
        Plan::of(program, lowered, target, inputs, bootstraps)
    };
    limit(groups.len(), MOST_COMPARED, "questions about different numbers")?;
    let mut ways: Vec<Way> = groups.iter().map(|group| group.order.by.unwrap_or(Way::Gates)).collect();
    // Where some are not open to gates, all others are tried by digits first.
    if plan(&ways).is_err() {
        ways = groups.iter().map(|group| group.order.by.unwrap_or(Way::Digits)).collect();
    }
    let mut compared = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let mut estimate = |way: Way| {
            ways[at] = way;
            plan(&ways).map(|plan| Estimate::of(&plan))
        };
        let (gates, digits) = (estimate(Way::Gates), estimate(Way::Digits));
        let cheaper = match (&gates, &digits) {
            (Ok(gates), Ok(digits)) if digits.seconds < gates.seconds => Way::Digits,
            (Err(_), Ok(_)) => Way::Digits,
            _ => Way::Gates,
        };
        let way = group.order.by.unwrap_or(cheaper);
        ways[at] = way;
        if let (None, Err(by_gates), Err(by_digits)) = (group.order.by, &gates, &digits) {
            return Err(Error::InvalidArgument(format!("by gates: {by_gates}; by digits: {by_digits}")));
        }
        let chosen = group.order.by.is_some();
        compared.push(Compared { nodes: group.nodes.clone(), way, chosen, gates, digits });
    }
    Ok(plan(&ways)?.with_compared(compared))
}
