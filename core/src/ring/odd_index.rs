//! Rings of an odd index that is a product of two or three primes: their axes, the order of coefficients and of values, automorphisms.

use alloc::vec::Vec;

use super::power::power;

/// An index m = `m_1` `m_2`: `m_2` is the largest of two or three different odd primes, and `m_1` the other one, or the product of the
/// other two.
///
/// With `X_1` = X^`m_2` and `X_2` = X^`m_1` the ring is Z\[`X_1`\]/`Phi_m1` ⊗ Z\[`X_2`\]/`Phi_m2`. Its basis is `X_1`^i `X_2`^j for
/// 0 <= i < `m_1` - 1 and 0 <= j < `m_2` - 1, in rows of equal i: the powerful basis of Lyubashevsky, Peikert and Regev (EUROCRYPT 2013),
/// in which products of small elements are small. Where `m_1` = p q, i is a pair, (`i_p`, `i_q`) for `X_1`^(q `i_p` + p `i_q`), below (p - 1,
/// q - 1), and rows are in the order of pairs.
///
/// The units modulo m are the pairs (`gamma_1`^i, `gamma_2`^j) of powers of the smallest primitive roots, and values are in rows of equal i,
/// again a pair where `m_1` is a product. An automorphism shifts rows, and words within them, around.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OddIndex {
    /// Ascending; the first is 1 where there are two.
    primes: [u64; 3],
    generators: [u64; 3],
    built: Built,
}

/// Where the crate is built without these rings, this type has no values, and so neither has [`OddIndex`]: the compiler leaves out the
/// code that works on one.
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

/// The powers of `X_1`, of which its basis has only some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstAxis {
    /// For each row, the exponent of its element of the basis.
    pub rows: Vec<u64>,
    /// The exponents of the powers that are not in the basis.
    pub others: Vec<u64>,
    /// For each row, the entries of `others`, by their places, in which its element occurs, and whether with a negative sign.
    pub terms: Vec<Vec<(usize, bool)>>,
}

impl OddIndex {
    /// Whether the crate is built with these rings.
    pub(super) const BUILT: bool = BUILT.is_some();

    /// The index m, or `None` if m is not such a product.
    pub(super) fn new(m: u64) -> Option<Self> {
        let built = BUILT?;
        let least = |m: u64| (3..).step_by(2).take_while(|d| d * d <= m).find(|&d| m.is_multiple_of(d));
        if m < 3 || m.is_multiple_of(2) {
            return None;
        }
        let first = least(m)?;
        let primes = match least(m / first) {
            None => [1, first, m / first],
            Some(second) => [first, second, m / first / second],
        };
        if primes[0] == primes[1] || primes[1] == primes[2] || least(primes[2]).is_some() {
            return None;
        }
        Some(Self { primes, generators: primes.map(smallest_generator), built })
    }

    /// m.
    pub fn index(self) -> u64 {
        self.primes.into_iter().product()
    }

    /// `m_1` and `m_2`.
    pub fn parts(self) -> [u64; 2] {
        [self.primes[0] * self.primes[1], self.primes[2]]
    }

    /// The primes that divide m, ascending.
    pub fn primes(self) -> Vec<u64> {
        self.primes.into_iter().filter(|&p| p > 1).collect()
    }

    /// `m_2` and its smallest primitive root.
    pub(super) fn last_axis(self) -> (u64, u64) {
        (self.primes[2], self.generators[2])
    }

    /// The other primes, ascending, each with its smallest primitive root.
    pub(super) fn short_axes(self) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        self.primes.into_iter().zip(self.generators).take(2).filter(|&(p, _)| p > 1)
    }

    /// Rows, and words of a row: `m_1` - 1 and `m_2` - 1; where `m_1` = p q, there are (p - 1)(q - 1) rows.
    pub fn orders(self) -> [usize; 2] {
        let [first, second] = self.grid();
        [first * second, self.primes[2] as usize - 1]
    }

    /// The bounds of the pairs that rows are in: p - 1 and q - 1, or 1 and `m_1` - 1 where `m_1` is a prime.
    pub fn grid(self) -> [usize; 2] {
        [(self.primes[0] as usize - 1).max(1), self.primes[1] as usize - 1]
    }

    /// The residue modulo m of residues modulo `m_1` and `m_2`.
    pub fn of_residues(self, [a, b]: [u64; 2]) -> u64 {
        let ([p, q], [rows, columns]) = (self.parts(), self.orders());
        // Idempotents: by Euler, the power of the order of the units less 1 is an inverse.
        let (of_p, of_q) = (q * power(q % p, rows as u64 - 1, p), p * power(p % q, columns as u64 - 1, q));
        (a % p * of_p + b % q * of_q) % (p * q)
    }

    /// The unit of row i and column j: (`gamma_1`^i, `gamma_2`^j) for two primes.
    pub fn unit(self, [i, j]: [i64; 2]) -> u64 {
        let ([rows, columns], [_, width]) = (self.orders(), self.grid());
        let row = i.rem_euclid(rows as i64) as usize;
        let column = j.rem_euclid(columns as i64) as u64;
        let second = power(self.generators[2], column, self.primes[2]);
        self.of_residues([self.row_unit([row / width, row % width]), second])
    }

    /// The unit of a row, modulo `m_1`.
    fn row_unit(self, row: [usize; 2]) -> u64 {
        let [p, q, _] = self.primes;
        let [a, b] = [0, 1].map(|axis| power(self.generators[axis], row[axis] as u64, self.primes[axis]));
        // The number modulo p q that is a modulo p and b modulo q, by the inverses of q modulo p and of p modulo q.
        let [of_p, of_q] = [(p, q), (q, p)].map(|(p, q)| q * power(q % p, p.saturating_sub(2), p));
        (a * of_p + b * of_q) % (p * q)
    }

    /// The row i and the column j of a unit.
    pub fn logarithms(self, unit: u64) -> [usize; 2] {
        let [i_p, i_q, j] = [0, 1, 2].map(|axis| {
            let (p, g) = (self.primes[axis], self.generators[axis]);
            let powers = core::iter::successors(Some(1), |x| Some(x * g % p)).take(p as usize - 1);
            powers.zip(0..).find(|&(x, _)| x == unit % p).map_or(0, |(_, i)| i)
        });
        [i_p * self.grid()[1] + i_q, j]
    }

    /// The row that is `by` rows further; both parts of a pair wrap around.
    pub fn shifted(self, row: usize, by: usize) -> usize {
        let [height, width] = self.grid();
        (row / width + by / width) % height * width + (row + by) % width
    }

    /// The units k in the order of the values at zeta^k.
    pub fn units(self) -> Vec<u64> {
        let ([p, q], [height, width]) = (self.parts(), self.grid());
        let (of_p, of_q) = (self.of_residues([1, 0]), self.of_residues([0, 1]));
        let powers = core::iter::successors(Some(1), |x| Some(x * self.generators[2] % q));
        let second: Vec<u64> = powers.take(q as usize - 1).map(|b| b * of_q % (p * q)).collect();
        (0..height * width)
            .map(|row| self.row_unit([row / width, row % width]))
            .flat_map(|a| second.iter().map(move |b| (a * of_p + b) % (p * q)))
            .collect()
    }

    /// The powers of `X_1`.
    pub fn first_axis(self) -> FirstAxis {
        let ([p, q, _], [height, width]) = (self.primes, self.grid());
        let exponent = |[i, j]: [usize; 2]| (q * i as u64 + p * j as u64) % (p * q);
        // The last power of one prime, of the other, of both.
        let single = p == 1;
        let mut others: Vec<[usize; 2]> = (0..height).map(|i| [i, width]).collect();
        if !single {
            others.extend((0..=width).map(|j| [height, j]));
        }
        let terms = |row: usize| {
            let (i, j) = (row / width, row % width);
            let mut out = alloc::vec![(i, true)];
            if !single {
                out.extend([(height + j, true), (height + width, false)]);
            }
            out
        };
        FirstAxis {
            rows: (0..height * width).map(|row| exponent([row / width, row % width])).collect(),
            others: others.into_iter().map(exponent).collect(),
            terms: (0..height * width).map(terms).collect(),
        }
    }

    /// X -> X^g of an element, from its coefficients in the powerful basis; `sub` is their subtraction.
    pub fn substitute<T: Copy + Default>(
        self,
        g: u64,
        coefficients: &[T],
        sub: impl Fn(T, T) -> T,
    ) -> Vec<T> {
        let ([_, columns], [p, q], axis) =
            (self.orders(), self.parts().map(|p| p as usize), self.first_axis());
        let mut all = alloc::vec![T::default(); p * q];
        for (&e, row) in axis.rows.iter().zip(coefficients.chunks_exact(columns)) {
            let to = e as usize * (g as usize % p) % p * q;
            row.iter().enumerate().for_each(|(j, &c)| all[to + j * (g as usize % q) % q] = c);
        }
        // The last word of each row is subtracted from the row, and below so are the rows that are not in the basis.
        for row in all.chunks_exact_mut(q) {
            let last = row[columns];
            for x in row {
                *x = sub(*x, last);
            }
        }
        let row = |e: u64| &all[e as usize * q..][..columns];
        let folded = axis.rows.iter().zip(&axis.terms).flat_map(|(&e, terms)| {
            let mut out = row(e).to_vec();
            for &(other, negative) in terms {
                for (x, &y) in out.iter_mut().zip(row(axis.others[other])) {
                    *x = sub(*x, if negative { y } else { sub(T::default(), y) });
                }
            }
            out
        });
        folded.collect()
    }

    /// The exponent modulo m of the element of the basis in a row and a column.
    pub fn exponent(self, [i, j]: [usize; 2]) -> usize {
        let ([p, q], [_, width]) = (self.parts(), self.grid());
        let first = self.primes[1] * (i / width) as u64 + self.primes[0] * (i % width) as u64;
        ((q * first + p * j as u64) % (p * q)) as usize
    }
}

fn is_prime(p: u64) -> bool {
    p > 1 && (2..p).take_while(|d| d * d <= p).all(|d| !p.is_multiple_of(d))
}

/// The smallest primitive root of an odd prime; 1 for 1.
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
        for m in [15, 21, 35, 129, 215, 301, 105, 255, 165, 1001] {
            let index = OddIndex::new(m).expect("two or three odd primes");
            let units = index.units();
            let [rows, columns] = index.orders();
            let mut sorted = units.clone();
            sorted.sort_unstable();
            let ([p, q], primes) = (index.parts(), index.primes());
            assert_eq!((p * q, primes.iter().product()), (m, m));
            let expected: Vec<u64> = (0..m).filter(|k| primes.iter().all(|p| k % p != 0)).collect();
            assert_eq!(sorted, expected);
            for (at, &unit) in units.iter().enumerate() {
                let place = [at / columns, at % columns];
                assert_eq!(index.logarithms(unit), place);
                assert_eq!(index.unit(place.map(|i| i as i64)), unit);
                assert_eq!(index.unit([place[0] as i64 - rows as i64, (place[1] + columns) as i64]), unit);
                assert_eq!(index.of_residues([unit % p, unit % q]), unit);
                let [row, _] = index.logarithms(units[(7 * at + 5) % units.len()] * unit % m);
                let [other, _] = index.logarithms(units[(7 * at + 5) % units.len()]);
                assert_eq!(index.shifted(place[0], other), row);
            }
        }
    }

    #[test]
    fn other_indices_are_refused() {
        for m in [0, 1, 2, 3, 9, 14, 16, 22, 25, 27, 45, 75, 147, 131, 210, 1155, 65537] {
            assert_eq!(OddIndex::new(m), None, "{m}");
        }
    }

    #[test]
    fn powers_of_the_first_axis_are_sums_of_rows() {
        for m in [15, 35, 105, 255, 1001] {
            let index = OddIndex::new(m).expect("odd primes");
            let (axis, [order, _], [rows, columns]) = (index.first_axis(), index.parts(), index.orders());
            let mut all: Vec<u64> = axis.rows.iter().chain(&axis.others).copied().collect();
            all.sort_unstable();
            assert_eq!(all, (0..order).collect::<Vec<_>>());
            // Modulo a prime with roots of that order, at all of them.
            let prime = (1..1 << 20).map(|k| k * order + 1).find(|&p| is_prime(p)).expect("a prime");
            let root = power(smallest_generator(prime), (prime - 1) / order, prime);
            for unit in index.units().into_iter().step_by(columns) {
                for (at, &other) in axis.others.iter().enumerate() {
                    let sum = axis.rows.iter().zip(&axis.terms).fold(0, |sum, (&e, terms)| {
                        let value = power(root, e * unit % order, prime);
                        terms.iter().filter(|(term, _)| *term == at).fold(sum, |sum, &(_, negative)| {
                            if negative { sum + prime - value } else { sum + value }
                        })
                    });
                    assert_eq!(sum % prime, power(root, other * unit % order, prime), "{m}, {other}");
                }
            }
            assert_eq!((axis.rows.len(), axis.terms.len()), (rows, rows));
            assert_eq!(index.exponent([rows - 1, 0]) as u64, index.parts()[1] * axis.rows[rows - 1] % m);
        }
    }
}
