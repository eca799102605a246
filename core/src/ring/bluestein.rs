//! The transform of rings of odd index m: values at all primitive m-th roots of unity, by a convolution (Bluestein, 1970).
//!
//! With h = 1/2 modulo m, i k = h (i^2 + k^2 - (k - i)^2), so that sum_i `a_i` zeta^(ik) = c_k sum_i (`a_i` `c_i`) / c_(k-i) for
//! `c_j` = zeta^(h j^2). The sum is a coefficient of a product of polynomials, of degree below m and of terms from -m to m: modulo
//! X^K + 1, K at least 2m - 1, no other term falls on it.

use alloc::{sync::Arc, vec, vec::Vec};

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{cyclotomic::Cyclotomic, odd_index::OddIndex};
use crate::{
    arith::{Deferred, Kernels, Modulus, NttTable, Word, primes::primitive_root},
    error::Error,
};

/// Memory of transforms, for one thread: it grows to what the first transform takes, none in rings of a power of two, and is wiped
/// in the end.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Scratch<W: Zeroize>(Vec<W>);

impl<W: Zeroize> Default for Scratch<W> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<W: Word> Scratch<W> {
    fn words(&mut self, count: usize) -> &mut [W] {
        if self.0.len() < count {
            self.0.zeroize();
            self.0 = vec![W::ZERO; count];
        }
        &mut self.0[..count]
    }
}

/// Where coefficients and values are among the powers of X and of zeta: the same for all primes.
pub(super) struct Places {
    pair: OddIndex,
    /// By exponent: the place of that coefficient; of any for exponents that are not in the basis, which are listed.
    coefficients: Vec<u32>,
    absent: Vec<u32>,
    /// By exponent: the place of the value there; of any for exponents that are not units, which are listed.
    values: Vec<u32>,
    others: Vec<u32>,
    /// By place: the exponent of the value.
    units: Vec<u32>,
    /// By place, the exponents of 1/X; then those of the last row, and of the last words of all rows, which the relations of both axes take
    /// off the others.
    back: Vec<u32>,
    last_row: Vec<u32>,
    last_column: Vec<u32>,
}

impl Places {
    /// Of a ring of odd index; none for others.
    pub(super) fn new(ring: Cyclotomic) -> Option<Arc<Self>> {
        let pair = ring.odd_index()?;
        let ([rows, columns], index) = (pair.orders(), pair.index() as usize);
        // Both tables by the exponent, and the exponents that are left.
        let by_exponent = |exponents: &[u32]| {
            let mut places = vec![u32::MAX; index];
            exponents.iter().zip(0..).for_each(|(&e, place)| places[e as usize] = place);
            let left: Vec<u32> = (0..index as u32).filter(|&e| places[e as usize] == u32::MAX).collect();
            for &e in &left {
                places[e as usize] = 0;
            }
            (places, left)
        };
        let row = |i: usize| (0..columns).map(move |j| pair.exponent([i, j]));
        let basis: Vec<u32> = (0..rows).flat_map(row).map(|e| e as u32).collect();
        let units: Vec<u32> = pair.units().into_iter().map(|e| e as u32).collect();
        let inverse = |e: usize| ((index - e) % index) as u32;
        let (coefficients, absent) = by_exponent(&basis);
        let (values, others) = by_exponent(&units);
        Some(Arc::new(Self {
            back: basis.iter().map(|&e| inverse(e as usize)).collect(),
            last_row: row(rows).map(inverse).collect(),
            last_column: (0..=rows).map(|i| inverse(pair.exponent([i, columns]))).collect(),
            pair,
            coefficients,
            absent,
            values,
            others,
            units,
        }))
    }
}

/// The transform modulo one prime.
pub(super) struct Bluestein<W> {
    pair: OddIndex,
    places: Arc<Places>,
    ntt: NttTable<W>,
    zeta: W,
    tables: Deferred<Tables<W>>,
}

/// What is multiplied by.
struct Tables<W> {
    /// `c_j`, and the same over m.
    chirp: Vec<W>,
    chirp_back: Vec<W>,
    /// The transform of the sum of all X^j / `c_j` for -m < j < m.
    filter: Vec<W>,
}

impl<W: Word> Bluestein<W> {
    /// # Errors
    /// [`Error::InvalidArgument`] unless the prime is 1 modulo the index and twice the length of the convolution.
    pub(super) fn new(ring: Cyclotomic, places: &Arc<Places>, modulus: Modulus<W>) -> Result<Self, Error> {
        let (pair, ntt) = (places.pair, NttTable::new(modulus, ring.convolution())?);
        let zeta = primitive_root(&modulus, ring.index())?;
        let tables = Deferred::new(|| Tables::new(&ntt, zeta, pair.index()));
        Ok(Self { pair, places: places.clone(), ntt, zeta, tables })
    }

    /// Coefficients to values, in place; the words after them stay.
    pub(super) fn forward(&self, kernels: &dyn Kernels<W>, row: &mut [W], scratch: &mut Scratch<W>) {
        let (places, memory) = (&*self.places, scratch.words(self.ntt.n()));
        let row = &mut row[..places.units.len()];
        self.sums(kernels, memory, (row, &places.coefficients, &places.absent), false);
        kernels.permute(row, memory, &places.units);
    }

    /// Values to coefficients, in place; the words after them stay.
    pub(super) fn inverse(&self, kernels: &dyn Kernels<W>, row: &mut [W], scratch: &mut Scratch<W>) {
        let (places, m, [rows, columns]) = (&*self.places, self.ntt.modulus(), self.pair.orders());
        let (memory, last) = scratch.words(self.ntt.n() + columns).split_at_mut(self.ntt.n());
        let row = &mut row[..places.units.len()];
        // Values that are 0 at all m-th roots of unity but the primitive ones: any will do modulo Phi_m. The sum with zeta^(-ik) for i is that
        // with zeta^(ik) for m - i.
        self.sums(kernels, memory, (row, &places.values, &places.others), true);
        kernels.permute(row, memory, &places.back);
        kernels.permute(last, memory, &places.last_row);
        let at = |e: u32| memory[e as usize];
        let corner = at(places.last_column[rows]);
        for (words, &e) in row.chunks_exact_mut(columns).zip(&places.last_column) {
            kernels.sub_assign(m, words, last);
            let least = m.sub(at(e), corner);
            for x in words {
                *x = m.sub(*x, least);
            }
        }
    }

    /// For all k below m, the sum of x[places[i]] zeta^(ik) over i but those listed, in the first words of the memory; over m if
    /// `back`.
    fn sums(
        &self,
        kernels: &dyn Kernels<W>,
        memory: &mut [W],
        (x, places, but): (&[W], &[u32], &[u32]),
        back: bool,
    ) {
        let (m, tables) = (self.ntt.modulus(), self.tables());
        let (own, rest) = memory.split_at_mut(places.len());
        kernels.permute(own, x, places);
        for &e in but {
            own[e as usize] = W::ZERO;
        }
        kernels.mul_assign(m, own, &tables.chirp);
        rest.fill(W::ZERO);
        kernels.ntt_forward(&self.ntt, memory);
        kernels.mul_assign(m, memory, &tables.filter);
        kernels.ntt_inverse(&self.ntt, memory);
        let chirp = if back { &tables.chirp_back } else { &tables.chirp };
        kernels.mul_assign(m, &mut memory[..places.len()], chirp);
    }

    fn tables(&self) -> &Tables<W> {
        self.tables.get(|| Tables::new(&self.ntt, self.zeta, self.pair.index()))
    }
}

impl<W: Word> Tables<W> {
    fn new(ntt: &NttTable<W>, zeta: W, index: u64) -> Self {
        let m = ntt.modulus();
        let root = m.pow(zeta, index / 2 + 1);
        let index = index as usize;
        let powers: Vec<W> =
            core::iter::successors(Some(W::ONE), |&x| Some(m.mul(x, root))).take(index).collect();
        // Above 2^16 a square exceeds the words of wasm32.
        let square = |j: usize| (j as u64 * j as u64 % index as u64) as usize;
        let chirp: Vec<W> = (0..index).map(|j| powers[square(j)]).collect();
        // The prime is 1 modulo the index, and does not divide it.
        let over = m.shoup(m.inv(m.reduce_u64(index as u64)).unwrap_or(W::ONE));
        let mut filter = vec![W::ZERO; ntt.n()];
        for j in 0..index {
            let inverse = powers[(index - square(j)) % index];
            if j > 0 {
                filter[ntt.n() - j] = m.neg(inverse);
            }
            filter[j] = inverse;
        }
        W::kernels().ntt_forward(ntt, &mut filter);
        Self { chirp_back: chirp.iter().map(|&c| m.mul_shoup(c, &over)).collect(), chirp, filter }
    }
}

#[cfg(all(test, feature = "odd-index"))]
mod tests {
    use super::*;
    use crate::{
        arith::{primes::ntt_primes, simd::dispatch::all_backends},
        random::Seed,
    };

    fn words_are_the_same_on_every_backend<W: Word>(bits: f64) {
        let mut stream = Seed::from_bytes([7; 32]).stream();
        for index in [15, 35, 215] {
            let ring = Cyclotomic::of_odd_index(index).expect("two odd primes");
            let prime = ntt_primes(bits, ring.divisor_of_primes())
                .find(|p| p >> (W::BITS - 3) == 0)
                .expect("a prime");
            let places = Places::new(ring).expect("an odd index");
            let transform =
                Bluestein::new(ring, &places, Modulus::<W>::new(prime).expect("a modulus")).expect("a ring");
            let mut x = vec![W::ZERO; ring.width()];
            W::fill_uniform(&mut stream, prime, &mut x[..ring.degree()]);
            let mut first: Option<Vec<W>> = None;
            for kernels in all_backends::<W>() {
                // Memory of another use, and rows with something behind them, which stays.
                let mut scratch = Scratch(vec![W::ONE; 3 * index as usize]);
                let mut row = x.clone();
                row.push(W::ONE);
                transform.forward(kernels, &mut row, &mut scratch);
                assert_eq!(first.get_or_insert_with(|| row.clone()), &row, "{index}, {}", kernels.name());
                transform.inverse(kernels, &mut row, &mut scratch);
                assert_eq!(
                    (&row[..x.len()], row[x.len()]),
                    (x.as_slice(), W::ONE),
                    "{index}, {}",
                    kernels.name()
                );
            }
        }
    }

    #[test]
    fn backends_agree() {
        words_are_the_same_on_every_backend::<u32>(28.5);
        words_are_the_same_on_every_backend::<u64>(49.5);
        words_are_the_same_on_every_backend::<u64>(60.5);
    }
}
