//! Rings of an odd index that is a product of two primes: their two axes, the order of coefficients and of values, automorphisms.

use alloc::vec::Vec;

/// An index m = `m_1` `m_2`, two odd primes, the smaller one first.
///
/// With `X_1` = X^`m_2` and `X_2` = X^`m_1` the ring is Z\[`X_1`\]/`Phi_m1` ⊗ Z\[`X_2`\]/`Phi_m2`. Its basis is `X_1`^i `X_2`^j for
/// 0 <= i < `m_1` - 1 and 0 <= j < `m_2` - 1, in rows of equal i: the powerful basis of Lyubashevsky, Peikert and Regev (EUROCRYPT 2013),
/// in which products of small elements are small.
///
/// The units modulo m are the pairs (`gamma_1`^i, `gamma_2`^j) of powers of the smallest primitive roots, and values are in rows of equal i.
/// An automorphism shifts rows, and words within them, around.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OddIndex {
    primes: [u64; 2],
    generators: [u64; 2],
    built: Built,
}

/// Without a value, and [`OddIndex`] with it, where the crate is built without these rings: the compiler leaves out what works on one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Built {
    #[cfg(feature = "odd-index")]
    Here,
}

const BUILT: Option<Built> = {
    #[cfg(feature = "odd-index")]
    let built = Some(Built::Here);
    #[cfg(not(feature = "odd-index"))]
    let built = None;
    built
};

impl OddIndex {
    /// Whether the crate is built with these rings.
    pub(super) const BUILT: bool = BUILT.is_some();

    /// The index m, if it is one.
    pub(super) fn new(m: u64) -> Option<Self> {
        let built = BUILT?;
        let first = (3..).step_by(2).take_while(|d| d * d < m).find(|&d| m.is_multiple_of(d))?;
        let primes = [first, m / first];
        if m.is_multiple_of(2) || !primes.into_iter().all(is_prime) {
            return None;
        }
        Some(Self { primes, generators: primes.map(smallest_generator), built })
    }

    /// m.
    pub fn index(self) -> u64 {
        self.primes[0] * self.primes[1]
    }

    /// `m_1` and `m_2`.
    pub fn primes(self) -> [u64; 2] {
        self.primes
    }

    /// The smallest primitive roots modulo `m_1` and `m_2`.
    pub fn generators(self) -> [u64; 2] {
        self.generators
    }

    /// `m_1` - 1 and `m_2` - 1: rows, and words of a row.
    pub fn orders(self) -> [usize; 2] {
        self.primes.map(|p| p as usize - 1)
    }

    /// The residue modulo m of residues modulo `m_1` and `m_2`.
    pub fn of_residues(self, [a, b]: [u64; 2]) -> u64 {
        let [p, q] = self.primes;
        // Idempotents.
        let (of_p, of_q) = (q * power(q % p, p - 2, p), p * power(p % q, q - 2, q));
        (a % p * of_p + b % q * of_q) % (p * q)
    }

    /// The unit (`gamma_1`^i, `gamma_2`^j).
    pub fn unit(self, [i, j]: [i64; 2]) -> u64 {
        let [p, q] = self.primes;
        let [g, h] = self.generators;
        let exponent = |k: i64, p: u64| k.rem_euclid(p as i64 - 1) as u64;
        self.of_residues([power(g, exponent(i, p), p), power(h, exponent(j, q), q)])
    }

    /// The i and j of a unit.
    pub fn logarithms(self, unit: u64) -> [usize; 2] {
        let logarithm = |p: u64, g: u64| {
            let powers = core::iter::successors(Some(1), |x| Some(x * g % p)).take(p as usize - 1);
            powers.zip(0..).find(|&(x, _)| x == unit % p).map_or(0, |(_, i)| i)
        };
        [0, 1].map(|axis| logarithm(self.primes[axis], self.generators[axis]))
    }

    /// The units k in the order of the values at zeta^k.
    pub fn units(self) -> Vec<u64> {
        let [p, q] = self.primes;
        let powers =
            |p: u64, g: u64| core::iter::successors(Some(1), move |x| Some(x * g % p)).take(p as usize - 1);
        let (of_p, of_q) = (self.of_residues([1, 0]), self.of_residues([0, 1]));
        let second: Vec<u64> = powers(q, self.generators[1]).map(|b| b * of_q % (p * q)).collect();
        powers(p, self.generators[0])
            .flat_map(|a| second.iter().map(move |b| (a * of_p + b) % (p * q)))
            .collect()
    }

    /// X -> X^g of an element, by its coefficients in the powerful basis and their subtraction.
    pub fn substitute<T: Copy + Default>(
        self,
        g: u64,
        coefficients: &[T],
        sub: impl Fn(T, T) -> T,
    ) -> Vec<T> {
        let ([rows, columns], [p, q]) = (self.orders(), self.primes.map(|p| p as usize));
        let mut all = alloc::vec![T::default(); p * q];
        for (i, row) in coefficients.chunks_exact(columns).take(rows).enumerate() {
            let to = i * (g as usize % p) % p * q;
            row.iter().enumerate().for_each(|(j, &c)| all[to + j * (g as usize % q) % q] = c);
        }
        // The last row, and the last of each row, are minus the sums of the others.
        let (above, last) = all.split_at(rows * q);
        let folded = above.chunks_exact(q).flat_map(|row| {
            let least = sub(row[columns], last[columns]);
            let sub = &sub;
            row.iter().zip(last).take(columns).map(move |(&x, &y)| sub(sub(x, y), least))
        });
        folded.collect()
    }

    /// The exponent modulo m of `X_1`^i `X_2`^j.
    pub fn exponent(self, [i, j]: [usize; 2]) -> usize {
        let [p, q] = self.primes.map(|p| p as usize);
        (q * i + p * j) % (p * q)
    }
}

fn is_prime(p: u64) -> bool {
    p > 1 && (2..p).take_while(|d| d * d <= p).all(|d| !p.is_multiple_of(d))
}

/// a^e modulo p, below 2^32.
fn power(a: u64, mut e: u64, p: u64) -> u64 {
    let (mut out, mut base) = (1 % p, a % p);
    while e > 0 {
        if e & 1 == 1 {
            out = out * base % p;
        }
        base = base * base % p;
        e >>= 1;
    }
    out
}

/// The smallest primitive root of an odd prime.
fn smallest_generator(p: u64) -> u64 {
    let order = p - 1;
    let divisors: Vec<u64> = (2..=order).filter(|&d| order.is_multiple_of(d) && is_prime(d)).collect();
    (2..p).find(|&g| divisors.iter().all(|d| power(g, order / d, p) != 1)).unwrap_or(1)
}

#[cfg(all(test, feature = "odd-index"))]
mod tests {
    use super::*;

    #[test]
    fn units_are_pairs_of_powers() {
        for m in [15, 21, 35, 129, 215, 301] {
            let index = OddIndex::new(m).expect("two odd primes");
            let units = index.units();
            let [rows, columns] = index.orders();
            let mut sorted = units.clone();
            sorted.sort_unstable();
            let [p, q] = index.primes();
            let expected: Vec<u64> = (0..m).filter(|k| k % p != 0 && k % q != 0).collect();
            assert_eq!(sorted, expected);
            for (at, &unit) in units.iter().enumerate() {
                let place = [at / columns, at % columns];
                assert_eq!(index.logarithms(unit), place);
                assert_eq!(index.unit(place.map(|i| i as i64)), unit);
                assert_eq!(index.unit([place[0] as i64 - rows as i64, (place[1] + columns) as i64]), unit);
                assert_eq!(index.of_residues([unit % p, unit % q]), unit);
            }
        }
    }

    #[test]
    fn other_indices_are_refused() {
        for m in [0, 1, 2, 3, 9, 14, 16, 22, 25, 27, 45, 105, 131, 65537] {
            assert_eq!(OddIndex::new(m), None, "{m}");
        }
    }
}
