//! Naive oracles, and the suite every backend has to pass word for word.

mod backends;
mod gates;
mod numbers;
mod rows;
mod transforms;

use super::self_check::Random;
use super::{Modulus, Word, primes};

impl Random {
    /// In (-1, 1).
    pub(super) fn real(&mut self) -> f64 {
        (self.next() as i64 >> 11) as f64 / (1u64 << 52) as f64
    }
}

/// Rows of `n` words below `bound`: random ones, and the extremes where lazy reductions overflow first.
pub(super) fn extreme_rows<W: Word>(bound: u64, n: usize, random: &mut Random) -> Vec<Vec<W>> {
    let cycle = [0, 1, bound - 1, bound / 2, bound / 2 + 1, bound - 2];
    vec![
        random.row(bound, n),
        vec![W::ZERO; n],
        vec![W::ONE; n],
        vec![W::from_u64(bound - 1); n],
        (0..n).map(|i| W::from_u64(cycle[i % cycle.len()])).collect(),
        (0..n).map(|_| W::from_u64(cycle[random.below(6) as usize])).collect(),
    ]
}

/// Primes that are 1 modulo `two_n`: the smallest, the largest of the word, and those on both sides of
/// every bound at which some kernel changes its method.
pub(super) fn primes_for<W: Word>(two_n: u64) -> Vec<Modulus<W>> {
    fn first(mut candidates: impl Iterator<Item = u64>) -> u64 {
        candidates.find(|&p| p > 2 && primes::is_prime(p)).unwrap()
    }
    let centre = |bits: u32| (1u64 << bits) / two_n * two_n + 1;
    let below = |bits: u32| first((1..1 << 20).map(|k| centre(bits) - k * two_n));
    let above = |bits: u32| first((0..1 << 20).map(|k| centre(bits) + k * two_n));
    let mut found = vec![first((1..1 << 20).map(|k| k * two_n + 1))];
    let edges: &[u32] = if W::BITS == 32 { &[25, 28, 30] } else { &[30, 31, 32, 49, 50, 52, 57, 60] };
    for &bits in edges {
        found.extend([below(bits), above(bits)]);
    }
    found.push(below(W::MAX_MODULUS_BITS));
    found.dedup();
    found.into_iter().map(|p| Modulus::new(p).unwrap()).collect()
}

/// The row as wide integers.
pub(super) fn wide<W: Word>(row: &[W]) -> Vec<u128> {
    row.iter().map(|x| u128::from(x.to_u64())).collect()
}
