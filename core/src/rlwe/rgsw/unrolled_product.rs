//! Products that turn a sample by two encrypted bits at once.
//!
//! Zhou et al., "Faster bootstrapping with multiple addends" (2018); Bourse, Minelli, Minihold, Paillier (CRYPTO 2018).
//! For bits s1 and s2,
//! X^(e1 s1 + e2 s2) x = (K0 + X^e1 K1 + X^e2 K2 + X^(e1 + e2) K3) ⊡ x with the RGSW samples of (1 - s1)(1 - s2),
//! s1 (1 - s2), (1 - s1) s2 and s1 s2. As the keys are summed first, two bits take one product. As the case that neither is
//! set has a key of its own, no power of X is lessened by 1, which would double the noise.

use alloc::{format, vec::Vec};

use super::{
    monomial::powers_of_root,
    product::{ProductScratch, RgswContext},
};
use crate::{
    arith::{PAIR_KEYS, Shoup, TURN_RUN, Turns, Word, unrolled_fits},
    error::Error,
    trace::Counters,
};

/// The evaluations of powers of X in the order of the backend in use, by the powers of the root of unity: the exponent of
/// the root at a place is a sum over the bits of the place.
pub struct Monomials<W: Word> {
    /// All 2N powers.
    powers: Vec<Shoup<W>>,
    /// Exponents at the first places.
    low: Vec<u32>,
    /// What is added to them in each further run of [`TURN_RUN`] places.
    high: Vec<u32>,
    /// Whether digits are transformed without reductions.
    rough: bool,
}

impl<W: Word> Monomials<W> {
    /// The powers of X in a ring, for pairs of its RGSW samples.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a ring of degree below 64, or one where the sums of a product do not fit.
    pub fn new(rgsw: &RgswContext<W>) -> Result<Self, Error> {
        let (m, n, terms) = (rgsw.ring().modulus(), rgsw.n(), rgsw.rgsw_samples());
        let fits = |rough: bool| unrolled_fits::<W>(m.value_u64(), n, terms, rough);
        let rough = fits(true);
        if !(rough || fits(false)) {
            return Err(Error::InvalidArgument(format!(
                "{terms} unrolled products modulo {} at degree {n}: the sum does not fit; take fewer digits, a smaller \
                 prime, or 64-bit words (and a degree of at least {TURN_RUN})",
                m.value()
            )));
        }
        let (powers, places) = powers_of_root(rgsw);
        let mut places: Vec<W> = places.into_iter().map(|exponent| W::from_u64(exponent.into())).collect();
        W::gate_kernels().reorder(rgsw.ring().ntt(), &mut places);
        let exponent = |place: &W| place.to_u64() as u32;
        let low: Vec<u32> = places[..TURN_RUN].iter().map(exponent).collect();
        let high: Vec<u32> = places.iter().step_by(TURN_RUN).map(|place| exponent(place) - low[0]).collect();
        Ok(Self { powers: powers.into_iter().map(|power| m.shoup(power)).collect(), low, high, rough })
    }

    /// X^e1, X^e2 and X^(e1 + e2).
    fn turns(&self, [e1, e2]: [u32; 2], out: &mut Turns<W>) {
        let mask = self.powers.len() as u32 - 1;
        let power = |exponent: u32, place: u32| self.powers[(exponent.wrapping_mul(place) & mask) as usize];
        for (i, exponent) in [e1, e2, e1.wrapping_add(e2)].into_iter().enumerate() {
            for (out, &place) in out.low[i].iter_mut().zip(&self.low) {
                *out = power(exponent, place).value;
            }
            for (out, &place) in out.high.iter_mut().zip(&self.high) {
                out[i] = power(exponent, place);
            }
        }
    }
}

impl<W: Word> RgswContext<W> {
    /// Ring samples of the four RGSW samples of a pair of bits.
    pub fn pair_samples(&self) -> usize {
        PAIR_KEYS * self.rgsw_samples()
    }

    /// Brings the samples of a pair, `[4][2 d][2][n]`, into the form that [`Self::turn_by_pair`] reads.
    pub fn prepare_pair(&self, key: &mut [W]) {
        let kernels = W::gate_kernels();
        for row in key.chunks_exact_mut(self.n()) {
            kernels.reorder(self.ring().ntt(), row);
        }
        let samples = key.to_vec();
        kernels.prepare_unrolled(self.ring().modulus(), self.n(), key, &samples);
    }

    /// x = X^(e1 s1 + e2 s2) x for the exponents e1 and e2, modulo 2N, and the [prepared](Self::prepare_pair) key of the
    /// bits s1 and s2; coefficient domain in and out. The key is read once, from memory, and prefetched during the
    /// transforms; the last ones prefetch the beginning of `next`, the key that will probably follow.
    pub fn turn_by_pair(
        &self,
        (monomials, turns): (&Monomials<W>, &mut Turns<W>),
        [key, next]: [&[W]; 2],
        exponents: [u32; 2],
        x: &mut [Vec<W>; 2],
        scratch: &mut ProductScratch<W>,
        counters: &mut Counters,
    ) {
        let (kernels, m, ntt) = (W::gate_kernels(), self.ring().modulus(), self.ring().ntt());
        monomials.turns(exponents, turns);
        let half = self.gadget().digits() * self.n();
        for (part, digits) in x.iter().zip(scratch.digits.chunks_exact_mut(half)) {
            kernels.digits(self.gadget().cut(), digits, part);
        }
        let rows = scratch.digits.chunks_exact_mut(self.n());
        let part = key.len().div_ceil(rows.len() + 2);
        for (row, near) in rows.zip(key.chunks(part).skip(2)) {
            kernels.evaluate(ntt, row, monomials.rough, near);
        }
        let [b, a] = x;
        let mut next = next.chunks(part);
        kernels.unrolled_product(
            m,
            [b.as_mut_slice(), a.as_mut_slice()],
            &scratch.digits,
            key,
            turns,
            monomials.rough,
        );
        kernels.interpolate(ntt, b, next.next().unwrap_or_default());
        kernels.interpolate(ntt, a, next.next().unwrap_or_default());
        counters.ntt += 2 + self.rgsw_samples() as u64;
        counters.limb_mac += 2 * PAIR_KEYS as u64 * self.rgsw_samples() as u64;
        counters.key_switch += 1;
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;
    use crate::{
        random::Seed,
        ring::{Binomial, Coeff, Poly, SmallPoly},
        rlwe::{KeySeeds, rgsw::multiply_by_monomial},
    };

    /// X^(e1 s1 + e2 s2) x by the product, and by moving coefficients, for every pair of bits.
    fn check<W: Word>(n: usize, p: u64, base_log: u32, digits: usize) {
        let rgsw = RgswContext::<W>::new(n, p, base_log, digits, Binomial::Coins21).unwrap();
        let monomials = Monomials::new(&rgsw).unwrap();
        let (m, order) = (*rgsw.ring().modulus(), 2 * n as u32);
        let master = Seed::from_bytes([4; 32]);
        let z = SmallPoly::ternary(n, &mut master.derive("z", &[]).stream());
        let to_eval = |row: Vec<W>| Poly::<W, Coeff>::from_rows(rgsw.basis(), row).into_eval();
        let z = to_eval(z.coefficients().iter().map(|&z| m.reduce_i64(z.into())).collect());
        let seeds = KeySeeds::derive(&master);
        let mut row = vec![W::ZERO; n];
        W::fill_uniform(&mut master.derive("x", &[]).stream(), p, &mut row);
        for (number, (s1, s2)) in [(0u64, 0u64), (0, 1), (1, 0), (1, 1)].into_iter().enumerate() {
            let mut key = Vec::new();
            for (j, payload) in
                [(1 - s1) * (1 - s2), s1 * (1 - s2), (1 - s1) * s2, s1 * s2].into_iter().enumerate()
            {
                let one =
                    to_eval(core::iter::once(W::from_u64(payload)).chain(vec![W::ZERO; n - 1]).collect());
                for row in 0..2 * digits {
                    let u = if row < digits { one.clone() } else { one.mul(&z) };
                    let name = ([9, number as u64, j as u64, 0], row);
                    let sample = rgsw.gadget_sample(&seeds, name, row % digits, &u, &z);
                    key.extend_from_slice(sample.b.row(0));
                    key.extend_from_slice(sample.a.row(0));
                }
            }
            rgsw.prepare_pair(&mut key);
            for exponents in
                [[1, 0], [order - 1, 5], [n as u32, n as u32], [3, order - 3], [77 % order, order / 2 + 1]]
            {
                let mut x = [row.clone(), row.iter().map(|&x| m.neg(x)).collect::<Vec<W>>()];
                let phase = |[b, a]: &[Vec<W>; 2]| {
                    let mut phase = to_eval(a.clone());
                    phase.mul_assign(&z);
                    let mut phase = phase.into_coeff();
                    phase.add_assign(&Poly::from_rows(rgsw.basis(), b.clone()));
                    phase.row(0).to_vec()
                };
                let mut expected = vec![W::ZERO; n];
                let exponent = (exponents[0] * s1 as u32 + exponents[1] * s2 as u32) % order;
                multiply_by_monomial(&m, &mut expected, &phase(&x), exponent);
                let (mut turns, mut scratch) = (Turns::new(n), rgsw.scratch());
                let tables = (&monomials, &mut turns);
                rgsw.turn_by_pair(
                    tables,
                    [&key, &[]],
                    exponents,
                    &mut x,
                    &mut scratch,
                    &mut Counters::default(),
                );
                // The rounding of digits, and their products with the errors of samples: 10 standard deviations.
                let rounding = libm::exp2(f64::from(rgsw.gadget().drop())) * libm::sqrt(n as f64);
                let products =
                    libm::exp2(f64::from(base_log)) * libm::sqrt(8.0 * digits as f64 * n as f64 * 10.5);
                let bound = 10.0 * libm::sqrt((rounding * rounding + products * products) / 12.0);
                for (&x, &y) in phase(&x).iter().zip(&expected) {
                    let error = m.centered(m.sub(x, y)).abs() as f64;
                    assert!(error < bound, "{s1}, {s2} by {exponents:?}: off by {error}, bound {bound}");
                }
            }
        }
    }

    #[test]
    fn a_pair_of_bits_turns_a_sample() {
        check::<u32>(64, 134_215_681, 8, 2);
        check::<u32>(256, 134_215_681, 8, 2);
        check::<u64>(256, 134_215_681, 8, 2);
        check::<u32>(2048, 1_073_692_673, 9, 2);
        check::<u64>(1024, 1_125_899_906_826_241, 23, 1);
        check::<u64>(64, 1_125_899_906_826_241, 16, 2);
    }

    #[test]
    fn rings_without_room_are_refused() {
        let context =
            |n, p, base_log, digits| RgswContext::<u32>::new(n, p, base_log, digits, Binomial::Coins21);
        for rgsw in [context(32, 134_215_681, 8, 2), context(1024, 1_073_692_673, 5, 6)] {
            assert_eq!(Monomials::new(&rgsw.unwrap()).err().map(|e| e.code()), Some("INVALID_ARGUMENT"));
        }
    }
}
