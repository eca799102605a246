//! Questions about the order of numbers: the cost of answering them and the probability of a wrong answer.

use alloc::{format, vec::Vec};

use super::{params::LinkParams, range::Range};
use crate::{
    bootstrapping::raising::ReductionSpec,
    circuits::program::{Asked, Bounds, InputShape, Order, PlannedDigits, Reading, Readings, Way},
    error::Error,
    schemes::{ckks::Scale, log2_sum},
};

/// Rotations that count as a pass.
const ROTATIONS_A_PASS: usize = 90;

/// Seconds of a rotation for each coefficient of the short key, and each word and layer of an NTT of one row, on one thread of the machine
/// of `core/BENCHMARKS.md`, where it takes 13.3 ms on `fbs16-50`.
const ROTATION: f64 = 7.5e-10;

/// Times as parts of a bootstrap: that of bits on their way back, which has no slots-to-coefficients, and that of numbers on their way
/// there.
const BACK: f64 = 0.8;
const THERE: f64 = 0.1;

/// The plan of the answers to questions about numbers at `scale`.
///
/// # Errors
/// [`Error::InvalidArgument`] for questions of different numbers, readings that are not about an order, or too many numbers;
/// [`Error::ScaleMismatch`], [`Error::Limit`] as [`LinkParams::comparison`], and where answers would be wrong too often.
pub(super) fn planned<R: ReductionSpec>(
    params: &LinkParams<R>,
    scale: Scale,
    readings: Readings<'_>,
) -> Result<PlannedDigits, Error> {
    let orders = orders(readings.list)?;
    for order in &orders {
        let most = if order.asked == Asked::Sign { params.most_bits() } else { params.most_ranked() };
        if order.count as usize > most {
            return Err(Error::InvalidArgument(format!(
                "{} of {} numbers; {} takes {most} at once",
                order.kind(),
                order.count,
                params.name()
            )));
        }
    }
    let Some(first) = orders.first() else {
        return Err(Error::InvalidArgument("no question about an order; ask one".into()));
    };
    let comparison = params.comparison(range(first), scale)?;
    let (level, scale) = (answer_level(params), params.ckks().scale());
    let results = orders.iter().map(|_| InputShape { level, scale }).collect();
    let count = first.count as usize;
    let tables_of_each: usize = orders.iter().map(tables).sum();
    // The bits of several signs of the same numbers come back once.
    let raises = tables_of_each.max(1);
    let comparisons = if first.asked == Asked::Sign { count } else { count * count.saturating_sub(1) / 2 };
    let rotations = comparisons * comparison.rotations() + count * tables_of_each;
    let (pass, rotation) = (params.ckks().seconds_of_pass(), seconds_of_rotation(params));
    let limit = params.spec().log_failure;
    let least_distance = match comparison.range() {
        // Every rotation keeps the limit whatever the distance.
        Range::Grid { .. } => 0.0,
        _ => comparison.least_distance(limit).ok_or_else(|| {
            let (kind, name) = (first.kind(), params.name());
            Error::Limit(format!(
                "{kind} of {count} numbers: {name} orders no two of them with a failure probability of 2^{limit}; compare fewer"
            ))
        })?,
    };
    let wrong = if first.asked == Asked::Sign {
        comparison.log2_wrong(least_distance) + libm::log2(count as f64)
    } else {
        params.check_ranks(count)?;
        params.log2_wrong_ranks(&comparison, count, tables_of_each, least_distance)
    };
    let raise = params.ckks().log2_failure();
    let failures = raise.map(|raise| log2_sum(&[wrong, raise + libm::log2(raises as f64)]));
    Ok(PlannedDigits {
        level: params.input_level(),
        results,
        known: alloc::vec![None; orders.len()],
        passes: raises + rotations.div_ceil(ROTATIONS_A_PASS),
        held: alloc::vec![params.ckks().levels().output; orders.len() + 3 + samples_held(params, comparisons)],
        log_failure: failures,
        least_distance,
        seconds: pass * (THERE + BACK * raises as f64) + rotation * rotations as f64,
    })
}

/// About how long a rotation takes on one thread.
fn seconds_of_rotation<R: ReductionSpec>(params: &LinkParams<R>) -> f64 {
    let (gates, n) = (params.cggi(), params.cggi().n() as f64);
    ROTATION * gates.spec().lwe_dimension as f64 * n * libm::log2(n)
}

/// Level of answers: that at which bits come back, but no higher than the messages of the set.
pub(super) fn answer_level<R: ReductionSpec>(params: &LinkParams<R>) -> usize {
    params.output_level().min(params.ckks().levels().output)
}

/// How many ciphertexts of numbers take as much memory as the samples of `comparisons` comparisons, beside the numbers in coefficients and
/// both halves of quotients. The samples are those of the phases, of their comparisons, and of a power of two of them that are packed,
/// where each becomes two rows of the ring while it still exists itself.
fn samples_held<R: ReductionSpec>(params: &LinkParams<R>, comparisons: usize) -> usize {
    let level = params.ckks().levels().output;
    let ciphertext = 2 * params.ckks().ckks().rlwe().q(level).len() * params.ckks().n();
    let samples = 2 * comparisons + 6 * comparisons.next_power_of_two();
    (samples * params.cggi().n()).div_ceil(ciphertext)
}

/// Tables that are looked up for each rank.
pub(super) fn tables(order: &Order) -> usize {
    match order.asked {
        Asked::Sign => 0,
        Asked::Rank => bits_of_rank(order) as usize,
        Asked::Argmax | Asked::Argmin | Asked::Top(_) => 1,
    }
}

/// Bits of the ranks of the numbers of a question.
pub(super) fn bits_of_rank(order: &Order) -> u32 {
    u32::BITS - order.count.saturating_sub(1).leading_zeros()
}

/// Questions that the same comparisons answer, checked.
pub(super) fn orders(readings: &[&Reading]) -> Result<Vec<Order>, Error> {
    let order = |reading: &&Reading| match reading {
        Reading::Order(order) => order.check().map(|()| *order),
        other => Err(Error::InvalidArgument(format!(
            "{} reads digits, and this set compares; take keys of a set for modular reduction",
            other.kind()
        ))),
    };
    let orders = readings.iter().map(order).collect::<Result<Vec<_>, _>>()?;
    if orders.iter().any(|order| !orders[0].shares_comparisons(order)) {
        return Err(Error::InvalidArgument("questions of different numbers; ask them apart".into()));
    }
    Ok(orders)
}

/// [`orders`] that gates can answer.
pub(super) fn orders_by_gates(readings: &[&Reading]) -> Result<Vec<Order>, Error> {
    let orders = orders(readings)?;
    match orders.iter().find(|order| order.by == Some(Way::Digits)) {
        None => Ok(orders),
        Some(order) => Err(Error::InvalidArgument(format!(
            "{} by digits, where gates compare; leave the way open, or plan a program for a set that has both",
            order.kind()
        ))),
    }
}

/// The range of the numbers of a question, as gates compare them. A sign compares with 0, from which no number is further than 1 away.
pub(super) fn range(order: &Order) -> Range {
    match order.bounds {
        _ if order.asked == Asked::Sign => Range::Unit,
        Bounds::Signed => Range::Signed,
        Bounds::Unit => Range::Unit,
        Bounds::Grid(bits) => Range::Grid { bits },
    }
}
