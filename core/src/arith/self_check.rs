//! Compares the backends that are usable here with the scalar one, where a test suite cannot run:
//! in a browser, on a machine that misbehaves.

use alloc::{format, string::String, vec, vec::Vec};

use super::{Kernels, Modulus, NttTable, Shoup, Word, all_backends, primes};
use crate::error::Error;

/// Ring degrees tried: around the width of a vector, and a real one.
const DEGREES: [usize; 3] = [16, 64, 1024];

/// Bits of the primes tried, besides small ones and the largest of a word: just below 2^28 and 2^50, where backends change from one way
/// of computing to another.
const BOUNDS: [f64; 2] = [27.99, 49.99];

/// Terms of the sums of products: enough for lazy sums to be reduced on the way.
const TERMS: usize = 21;

/// Runs every row operation of every backend usable for words `W` on random and extreme residues,
/// for small primes, the largest ones, and those just below 2^28 and 2^50, and compares the results word for word with the scalar
/// backend. Returns the names of the backends.
///
/// # Errors
/// [`Error::InvalidArgument`] naming backend, operation, prime and degree of the first difference:
/// the build or the machine computes wrongly and must not be used.
pub fn self_check<W: Word>(seed: u64) -> Result<Vec<&'static str>, Error> {
    let backends = all_backends::<W>();
    let mut random = Random::new(seed);
    for n in DEGREES {
        let top = f64::from(W::MAX_MODULUS_BITS);
        for bits in [17.0, top - 1.2, top - 0.1].into_iter().chain(BOUNDS).filter(|bits| *bits < top) {
            let below_top = |p: &u64| p >> W::MAX_MODULUS_BITS == 0;
            let mut found = primes::ntt_primes(bits, 2 * n as u64).filter(below_top);
            let (Some(p), Some(other)) = (found.next(), found.next()) else { continue };
            let case = Case::<W>::new(p, other, n, &mut random)?;
            let wanted = case.results(backends[0]);
            for backend in &backends[1..] {
                for ((what, right), (_, found)) in wanted.iter().zip(&case.results(*backend)) {
                    if right != found {
                        return Err(differs(backend.name(), what, p, n));
                    }
                }
            }
        }
    }
    Ok(backends.iter().map(|k| k.name()).collect())
}

fn differs(backend: &str, what: &str, p: u64, n: usize) -> Error {
    Error::InvalidArgument(format!(
        "backend {backend} differs from scalar in {what} modulo {p} at degree {n}: this build or machine computes \
         wrongly; force the scalar backend, and report it"
    ))
}

/// Two primes, rows and factors to work on.
struct Case<W: Word> {
    m: Modulus<W>,
    other: Modulus<W>,
    table: NttTable<W>,
    rows: Vec<Vec<W>>,
    key: Vec<W>,
    factor: Shoup<W>,
    integers: Vec<i64>,
    permutation: Vec<u32>,
}

impl<W: Word> Case<W> {
    fn new(p: u64, other: u64, n: usize, random: &mut Random) -> Result<Self, Error> {
        let m = Modulus::new(p)?;
        let mut rows: Vec<Vec<W>> = (0..TERMS - 2).map(|_| random.row(p, n)).collect();
        rows.push(vec![W::from_u64(p - 1); n]);
        rows.push((0..n).map(|i| W::from_u64([0, p - 1, 1, p / 2][i % 4])).collect());
        let odd = random.next() | 1;
        Ok(Self {
            table: NttTable::new(m, n)?,
            other: Modulus::new(other)?,
            key: random.row(p, 2 * TERMS * n),
            factor: m.shoup(m.reduce_u64(random.next())),
            integers: (0..n).map(|_| (random.next() as i64) >> 2).collect(),
            permutation: (0..n as u64).map(|i| (i.wrapping_mul(odd) % n as u64) as u32).collect(),
            m,
            rows,
        })
    }

    /// The result of each operation, with its name.
    fn results(&self, k: &dyn Kernels<W>) -> Vec<(String, Vec<W>)> {
        let (m, n) = (&self.m, self.permutation.len());
        let mut all: Vec<(String, Vec<W>)> = Vec::new();
        let lhs: Vec<&[W]> = self.rows.iter().map(Vec::as_slice).collect();
        let rhs: Vec<&[W]> = self.rows.iter().rev().map(Vec::as_slice).collect();
        let last = &self.rows[TERMS - 1];
        for (i, x) in self.rows.iter().enumerate() {
            let mut on_copy = |what: &str, operation: &dyn Fn(&mut [W])| {
                let mut row = x.clone();
                operation(&mut row);
                all.push((format!("{what} of row {i}"), row));
            };
            on_copy("ntt_forward", &|row| k.ntt_forward(&self.table, row));
            on_copy("ntt_inverse", &|row| k.ntt_inverse(&self.table, row));
            on_copy("add_assign", &|row| k.add_assign(m, row, last));
            on_copy("sub_assign", &|row| k.sub_assign(m, row, last));
            on_copy("neg_assign", &|row| k.neg_assign(m, row));
            on_copy("mul_assign", &|row| k.mul_assign(m, row, last));
            on_copy("mul_scalar_assign", &|row| k.mul_scalar_assign(m, row, &self.factor));
            on_copy("mul_scalar_add_assign", &|row| k.mul_scalar_add_assign(m, row, last, &self.factor));
            on_copy("add_multiples", &|row| k.add_multiples(m, row, &lhs, &[self.factor; TERMS]));
            on_copy("sub_mul_scalar_assign", &|row| k.sub_mul_scalar_assign(m, row, last, &self.factor));
            on_copy("permute", &|row| k.permute(row, last, &self.permutation));
            on_copy("permute_add_assign", &|row| k.permute_add_assign(m, row, last, &self.permutation));
            on_copy("lift_centered", &|row| k.lift_centered(m, &self.other, row, x));
            on_copy("reduce_i64", &|row| k.reduce_i64(m, row, &self.integers));
            on_copy("inner_product", &|row| k.inner_product(m, row, &lhs, &rhs, i % 2 == 0));
        }
        let (mut out0, mut out1) = (self.rows[0].clone(), self.rows[1].clone());
        k.key_product(m, &mut out0, &mut out1, &lhs, &self.key, true);
        all.push((String::from("key_product, first half"), out0));
        all.push((String::from("key_product, second half"), out1));
        let inverse = vec![1.0 / m.value_u64() as f64; TERMS];
        let mut overflow = vec![W::ZERO; n];
        k.crt_overflow(&mut overflow, &lhs, &inverse);
        let weights = vec![self.other.shoup(self.other.reduce_u64(self.factor.value.to_u64())); TERMS];
        let mut combined = vec![W::ZERO; n];
        k.crt_combine(&self.other, &mut combined, &lhs, &weights, &overflow, &weights[0]);
        all.push((String::from("crt_overflow"), overflow));
        all.push((String::from("crt_combine"), combined));
        all
    }
}

/// A small deterministic generator (splitmix64): these numbers protect nothing.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    pub(super) fn row<W: Word>(&mut self, bound: u64, n: usize) -> Vec<W> {
        (0..n).map(|_| W::from_u64(self.below(bound))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::self_check;

    #[test]
    fn the_backends_here_agree() {
        assert_eq!(self_check::<u32>(1).map(|names| names[0]), Ok("scalar"));
        assert_eq!(self_check::<u64>(2).map(|names| names[0]), Ok("scalar"));
    }
}
