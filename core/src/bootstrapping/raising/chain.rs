//! Chains of primes of given sizes.

use alloc::{string::ToString, vec, vec::Vec};

use super::{
    reduction::ReductionSpec,
    spec::{EphemeralSpec, RaisingSpec, StageOrder},
};
use crate::{
    arith::primes::ntt_primes,
    rlwe::{EncapsulationDigits, RlweSpec},
    security::{SecretDistribution, SecurityPolicy},
};

/// Sizes of the primes of a chain, in bits: a size, or a count and a size.
pub(crate) struct Sizes {
    pub base: f64,
    pub messages: (usize, f64),
    pub slots_to_coeffs: (usize, f64),
    pub reduction: f64,
    pub coeffs_to_slots: (usize, f64),
    pub special: (usize, f64),
    /// log2 of the largest product of a digit.
    pub digit: f64,
}

/// log2 of the prime of the ephemeral secret.
const EPHEMERAL: f64 = 60.0;

/// A set with an ephemeral secret of weight 32.
pub(crate) fn chain<R: ReductionSpec>(
    name: &str,
    log_n: u32,
    order: StageOrder,
    sizes: &Sizes,
    reduction: R,
    secret: SecretDistribution,
) -> RaisingSpec<R> {
    let n = 1usize << log_n;
    let run = |(count, bits): (usize, f64)| vec![bits; count];
    let (messages, first) = (run(sizes.messages), run(sizes.slots_to_coeffs));
    let low = match order {
        StageOrder::CoeffsToSlotsFirst => [messages, first].concat(),
        StageOrder::SlotsToCoeffsFirst => [first, messages].concat(),
    };
    let reduced = run((reduction.levels(), sizes.reduction));
    let levels = [vec![sizes.base], low, reduced, run(sizes.coeffs_to_slots)].concat();
    let mut taken = Vec::new();
    let mut prime = |bits: f64| {
        let found = ntt_primes(bits, 2 * n as u64).find(|p| !taken.contains(p)).unwrap_or_default();
        taken.push(found);
        found
    };
    let primes: Vec<Vec<u64>> = levels.iter().map(|&bits| vec![prime(bits)]).collect();
    let special = run(sizes.special).into_iter().map(&mut prime).collect();
    let ephemeral = prime(EPHEMERAL);
    RaisingSpec {
        name: name.to_string(),
        chain: RlweSpec {
            n,
            odd_part: 1,
            digits: digits_of(&levels, sizes.digit),
            levels: primes,
            special,
            secret,
            policy: SecurityPolicy::Strict128,
        },
        log_slots: log_n - 1,
        order,
        coeffs_to_slots: sizes.coeffs_to_slots.0,
        slots_to_coeffs: sizes.slots_to_coeffs.0,
        log_message_ratio: reduction.log_message_ratio(),
        reduction,
        log_eval_scale: sizes.reduction,
        log_scale: sizes.messages.1,
        ephemeral: Some(EphemeralSpec {
            weight: 32,
            prime: ephemeral,
            digits: EncapsulationDigits::Balanced { count: 1 },
        }),
    }
}

/// Runs of neighbouring primes whose product is at most 2^`largest`.
pub(in crate::bootstrapping) fn digits_of(bits: &[f64], largest: f64) -> Vec<Vec<usize>> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new()];
    let mut sum = 0.0;
    for (i, &bits) in bits.iter().enumerate() {
        sum += bits;
        if sum > largest {
            out.push(Vec::new());
            sum = bits;
        }
        if let Some(last) = out.last_mut() {
            last.push(i);
        }
    }
    out
}
