//! NTRU samples: one polynomial c whose phase is c f, with f small, secret and invertible.
//!
//! Their external product takes one inverse transform and d forward ones, half of what ring-LWE takes. Bonte, Iliashenko,
//! Park, Pereira, Smart (ASIACRYPT 2022); Xiang, Zhang, Deng, Feng (CRYPTO 2023).

use alloc::vec::Vec;

use zeroize::{Zeroize, Zeroizing};

use super::{KeySeeds, rgsw::RgswContext};
use crate::{
    arith::Word,
    random::Seed,
    ring::{Eval, Poly, SmallPoly},
};

/// f, with f and 1/f in evaluation domain. Wiped when dropped.
pub struct NtruSecret<W: Word> {
    /// The coefficients of f.
    pub small: SmallPoly,
    /// f.
    pub eval: Poly<W, Eval>,
    /// 1/f.
    pub inverse: Poly<W, Eval>,
}

impl<W: Word> Drop for NtruSecret<W> {
    fn drop(&mut self) {
        self.eval.zeroize();
        self.inverse.zeroize();
    }
}

impl<W: Word> NtruSecret<W> {
    /// Draws f from the errors of the ring, again until it is invertible. The number of attempts tells nothing about
    /// the f that is kept.
    pub fn generate(context: &RgswContext<W>, seed: &Seed) -> Self {
        let (m, basis) = (context.ring().modulus(), context.basis());
        let mut attempt = 0;
        loop {
            let mut stream = seed.derive("ntru secret", &[attempt]).stream();
            let small = SmallPoly::error_of(context.width(), context.n(), &mut stream);
            let mut eval: Poly<W, Eval> = small.to_poly(basis).into_eval();
            let zeros = eval.row(0).iter().fold(0u32, |zeros, &x| zeros + u32::from(x == W::ZERO));
            if zeros == 0 {
                let exponent = m.value_u64() - 2;
                let inverse: Vec<W> = eval.row(0).iter().map(|&x| m.pow(x, exponent)).collect();
                let inverse = Poly::from_rows(basis, inverse);
                return Self { small, eval, inverse };
            }
            eval.zeroize();
            attempt += 1;
        }
    }

    /// Sample `index` of `block`, which encrypts g_k u / f: (e + g_k u) / f, evaluation domain. A product by the d
    /// samples of u = m f multiplies a phase by m.
    pub fn sample(
        &self,
        context: &RgswContext<W>,
        seeds: &KeySeeds,
        (block, index): ([u64; 4], usize),
        k: usize,
        u: &Poly<W, Eval>,
    ) -> Poly<W, Eval> {
        let (m, basis) = (context.ring().modulus(), context.basis());
        let mut stream = seeds.error_stream(block, index);
        let mut c = SmallPoly::error_of(context.width(), basis.n(), &mut stream).to_poly(basis).into_eval();
        let factor = m.shoup(context.gadget().factor(k));
        basis.kernels().mul_scalar_add_assign(m, c.row_mut(0), u.row(0), &factor);
        c.mul_assign(&self.inverse);
        c
    }

    /// sigma(f), for X -> X^g given by its permutation of evaluations.
    pub fn turned(&self, permutation: &[u32]) -> Zeroizing<Poly<W, Eval>> {
        let mut out = Zeroizing::new(self.eval.clone());
        W::kernels().permute(out.row_mut(0), self.eval.row(0), permutation);
        out
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;
    use crate::{
        ring::{Binomial, Coeff},
        trace::Counters,
    };

    const P: u64 = 16_760_833;
    const N: usize = 64;

    fn uniform(seed: u8) -> Vec<u32> {
        let mut out = vec![0; N];
        Seed::from_bytes([seed; 32]).stream().fill_uniform_u32(P as u32, &mut out);
        out
    }

    /// The product of a sample of any phase with the samples of X^3: its phase is X^3 times as much, up to the noise of
    /// the product.
    #[test]
    fn a_product_multiplies_the_phase() {
        let context = RgswContext::<u32>::new(N, P, 5, 4, Binomial::Coins21).unwrap();
        let (m, seed) = (*context.ring().modulus(), Seed::from_bytes([1; 32]));
        let secret = NtruSecret::generate(&context, &seed);
        let mut one = secret.eval.clone();
        one.mul_assign(&secret.inverse);
        assert!(one.row(0).iter().all(|&x| x == 1));
        let mut monomial = vec![0; N];
        monomial[3] = 1;
        let monomial = Poly::<u32, Coeff>::from_rows(context.basis(), monomial).into_eval();
        let payload = monomial.mul(&secret.eval);
        let seeds = KeySeeds::derive(&seed);
        let mut key: Vec<u32> = (0..4)
            .flat_map(|k| secret.sample(&context, &seeds, ([9, 0, 0, 0], k), k, &payload).into_rows())
            .collect();
        context.prepare(&mut key);
        let sample = Poly::<u32, Eval>::from_rows(context.basis(), uniform(2));
        let expected = sample.mul(&secret.eval).mul(&monomial).into_coeff();
        let (mut c, mut scratch, mut counters) = (sample.into_rows(), context.scratch(), Counters::default());
        context.digit_product(&key, &mut c, &mut scratch, &mut counters);
        assert_eq!((counters.ntt, counters.limb_mac), (5, 4));
        let found = Poly::<u32, Eval>::from_rows(context.basis(), c).mul(&secret.eval).into_coeff();
        // Four digits of 5 bits, and the rounding of 4 bits below them, times f.
        let variance = 4.0 * N as f64 * (1026.0 / 12.0) * 10.5 + N as f64 * (256.0 / 12.0) * 10.5;
        let errors: Vec<f64> =
            found.row(0).iter().zip(expected.row(0)).map(|(&x, &y)| m.centered(m.sub(x, y)) as f64).collect();
        let measured = errors.iter().map(|x| x * x).sum::<f64>() / N as f64;
        assert!((0.4..2.5).contains(&(measured / variance)), "{measured}, {variance} expected");
    }
}
