//! Many LWE samples into one ring sample (Chen, Dai, Kim, Song, "Efficient homomorphic conversion between
//! (ring) LWE ciphertexts", ACNS 2021, algorithm 2).

use alloc::{format, vec::Vec};

use zeroize::Zeroizing;

use super::{apply_automorphism, multiply_by_monomial, product::RgswContext};
use crate::{
    arith::Word,
    error::Error,
    random::Seed,
    ring::{Automorphism, Eval, GaloisElement, Poly},
    rlwe::{KeySeeds, Pair, expand_a, lwe::LweSample},
    trace::Counters,
};

/// Switching keys of the automorphisms X -> X^(l+1), l = 2, 4, …, N, log2 N of them.
pub struct PackingKeys<W: Word> {
    context: RgswContext<W>,
    /// d prepared samples each.
    keys: Vec<Vec<W>>,
}

/// Name of the random streams of the keys.
const BLOCK: [u64; 4] = [3, 0, 0, 0];

impl<W: Word> PackingKeys<W> {
    /// Makes the keys under the ring key z.
    ///
    /// # Errors
    /// None for a power-of-two ring.
    pub fn generate(context: &RgswContext<W>, seeds: &KeySeeds, z: &Poly<W, Eval>) -> Result<Self, Error> {
        let samples = (0..Self::samples(context)).map(|index| Self::sample(context, seeds, z, index));
        Ok(Self::of_samples(context, &samples.collect::<Result<Vec<_>, _>>()?))
    }

    /// Samples of the keys: d for each automorphism.
    pub fn samples(context: &RgswContext<W>) -> usize {
        context.n().trailing_zeros() as usize * context.gadget().digits()
    }

    /// Sample `index`, (b, a) in evaluation domain, of which only b is sent.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there is no such sample.
    pub fn sample(
        context: &RgswContext<W>,
        seeds: &KeySeeds,
        z: &Poly<W, Eval>,
        index: usize,
    ) -> Result<Pair<W>, Error> {
        let (n, digits) = (context.n(), context.gadget().digits());
        if index >= Self::samples(context) {
            return Err(Error::InvalidArgument(format!(
                "sample {index} of packing keys, which have {}; count them from 0",
                Self::samples(context)
            )));
        }
        let g = Automorphism::new(n, GaloisElement::new((2 << (index / digits)) + 1, n)?);
        let turned = Zeroizing::new(z.automorphism(&g));
        Ok(context.gadget_sample(seeds, (BLOCK, index), index % digits, &turned, z))
    }

    /// The keys from the first components of all samples, `[sample][n]` in evaluation domain, and the public seed of the second ones.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of residues.
    pub fn expand(context: &RgswContext<W>, public: &Seed, bodies: &[W]) -> Result<Self, Error> {
        let (n, count) = (context.n(), Self::samples(context));
        if bodies.len() != count * n {
            return Err(Error::InvalidArgument(format!(
                "{} residues of packing keys, which have {}; give all of them",
                bodies.len(),
                count * n
            )));
        }
        let sample = |(index, body): (usize, &[W])| Pair {
            b: Poly::from_rows(context.basis(), body.to_vec()),
            a: expand_a(public, BLOCK, index, context.basis()),
        };
        Ok(Self::of_samples(context, &bodies.chunks_exact(n).enumerate().map(sample).collect::<Vec<_>>()))
    }

    fn of_samples(context: &RgswContext<W>, samples: &[Pair<W>]) -> Self {
        let key = |samples: &[Pair<W>]| {
            let rows = samples.iter().flat_map(|sample| [sample.b.row(0), sample.a.row(0)]);
            let mut key: Vec<W> = rows.flatten().copied().collect();
            context.prepare(&mut key);
            key
        };
        let keys = samples.chunks_exact(context.gadget().digits()).map(key).collect();
        Self { context: context.clone(), keys }
    }

    /// Bytes that the keys take in memory, expanded: more than their parts have on the wire, where a seed stands for half of each sample.
    pub fn memory_bytes(&self) -> usize {
        self.keys.iter().map(|key| size_of_val(key.as_slice())).sum()
    }

    /// Packs l samples, a power of two, into a ring sample (b, a) in coefficient domain, whose phase has that of
    /// sample i as coefficient i N / l; the other coefficients are unspecified. It takes l - 1 key switches, and
    /// the noise grows by (l^2 - 1) / 3 times the variance of one.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless there are 1, 2, 4, … or N samples of dimension N.
    pub fn pack(&self, samples: &[LweSample<W>], counters: &mut Counters) -> Result<[Vec<W>; 2], Error> {
        self.join_all(samples, samples.len(), counters)
    }

    /// As [`Self::pack`], but every coefficient from i N / l to before (i + 1) N / l is that of sample i: a test polynomial
    /// of encrypted values. The result is as if each sample were given N / l times, but takes l - 1 + log2(N / l) key
    /// switches; the noise grows by (N^2 - 1) / 3 times the variance of one.
    ///
    /// # Errors
    /// As [`Self::pack`].
    pub fn pack_windows(
        &self,
        samples: &[LweSample<W>],
        counters: &mut Counters,
    ) -> Result<[Vec<W>; 2], Error> {
        self.join_all(samples, self.context.n(), counters)
    }

    /// Packs the samples, each repeated so that there are `places` in all; equal halves are computed once.
    fn join_all(
        &self,
        samples: &[LweSample<W>],
        places: usize,
        counters: &mut Counters,
    ) -> Result<[Vec<W>; 2], Error> {
        let (n, m) = (self.context.n(), self.context.ring().modulus());
        let l = samples.len();
        if !l.is_power_of_two() || l > n || samples.iter().any(|sample| sample.a.len() != n) {
            return Err(Error::InvalidArgument(format!(
                "{l} samples to pack in a ring of degree {n}; give a power of two up to {n}, each of dimension {n}"
            )));
        }
        // Packing multiplies by `places`: its inverse comes first, exactly.
        let inverse = m.inv(m.reduce_u64(places as u64)).ok_or_else(|| {
            Error::InvalidArgument(format!(
                "{l} samples modulo {}, which divides their number; take another modulus",
                m.value()
            ))
        })?;
        let factor = m.shoup(inverse);
        let mut parts: Vec<[Vec<W>; 2]> = samples
            .iter()
            .map(|sample| {
                let mut parts = sample.embed(m);
                for part in &mut parts {
                    W::kernels().mul_scalar_assign(m, part, &factor);
                }
                parts
            })
            .collect();
        // Samples l/2 apart are the even and the odd one of the innermost level.
        let mut level = 0;
        while parts.len() > 1 {
            let odd = parts.split_off(parts.len() / 2);
            parts = parts
                .into_iter()
                .zip(odd)
                .map(|(even, odd)| self.join(level, even, &odd, counters))
                .collect();
            level += 1;
        }
        let mut whole = parts
            .pop()
            .ok_or_else(|| Error::InvalidArgument("no sample to pack; give at least one".into()))?;
        while 1 << level < places {
            let odd = whole.clone();
            whole = self.join(level, whole, &odd, counters);
            level += 1;
        }
        Ok(whole)
    }

    /// E + T + sigma(E - T), T = X^(N/l) O, l = 2^(level + 1), sigma = X -> X^(l + 1).
    fn join(
        &self,
        level: usize,
        mut even: [Vec<W>; 2],
        odd: &[Vec<W>; 2],
        counters: &mut Counters,
    ) -> [Vec<W>; 2] {
        let (n, ring, kernels) = (self.context.n(), self.context.ring(), W::kernels());
        let m = ring.modulus();
        let (shift, g) = ((n >> (level + 1)) as u32, (2 << level) + 1);
        let mut turned = odd.clone();
        for ((even, odd), turned) in even.iter_mut().zip(odd).zip(&mut turned) {
            let mut difference = even.clone();
            let mut moved = odd.clone();
            multiply_by_monomial(m, &mut moved, odd, shift);
            kernels.add_assign(m, even, &moved);
            kernels.sub_assign(m, &mut difference, &moved);
            apply_automorphism(m, turned, &difference, g);
        }
        let [turned_b, mut turned_a] = turned;
        kernels.ntt_forward(ring.ntt(), &mut turned_a);
        let mut scratch = self.context.scratch();
        let products = self.context.gadget_product(&self.keys[level], &mut turned_a, &mut scratch, counters);
        for (even, product) in even.iter_mut().zip(products) {
            let mut product = product.clone();
            kernels.ntt_inverse(ring.ntt(), &mut product);
            kernels.add_assign(m, even, &product);
        }
        kernels.add_assign(m, &mut even[0], &turned_b);
        counters.ntt += 3;
        even
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::ring::{Binomial, Coeff, SmallPoly};

    const P: u64 = 134_215_681;

    #[test]
    fn packed_samples_are_the_coefficients() {
        let n = 64;
        let context = RgswContext::<u32>::new(n, P, 7, 3, Binomial::Coins32).unwrap();
        let (m, master) = (*context.ring().modulus(), Seed::from_bytes([1; 32]));
        let small = SmallPoly::ternary(n, &mut master.derive("z", &[]).stream());
        let z = small.to_poly(context.basis()).into_eval();
        let keys = PackingKeys::generate(&context, &KeySeeds::derive(&master), &z).unwrap();
        assert_eq!(keys.memory_bytes(), 6 * 3 * 2 * n * 4);
        // From what is sent.
        let seeds = KeySeeds::derive(&master);
        let bodies: Vec<u32> = (0..18)
            .flat_map(|index| PackingKeys::sample(&context, &seeds, &z, index).unwrap().b.row(0).to_vec())
            .collect();
        let again = PackingKeys::expand(&context, seeds.public(), &bodies).unwrap();
        assert!(again.keys == keys.keys);
        assert!(PackingKeys::expand(&context, seeds.public(), &bodies[1..]).is_err());
        assert!(PackingKeys::sample(&context, &seeds, &z, 18).is_err());
        let mut stream = Seed::from_bytes([2; 32]).stream();
        for log in 0..=6 {
            let l = 1usize << log;
            let mut phases = vec![0u32; l];
            stream.fill_uniform_u32(P as u32, &mut phases);
            // Noiseless samples with those phases: what is left is the noise of packing.
            let samples: Vec<LweSample<u32>> = phases
                .iter()
                .map(|&phase| {
                    let mut a = vec![0; n];
                    stream.fill_uniform_u32(P as u32, &mut a);
                    let product = a
                        .iter()
                        .zip(small.coefficients())
                        .fold(0, |sum, (&a, &z)| m.add(sum, m.mul(a, m.reduce_i64(z.into()))));
                    LweSample { a, b: m.sub(phase, product) }
                })
                .collect();
            let [b, a] = keys.pack(&samples, &mut Counters::default()).unwrap();
            let mut product = Poly::<u32, Coeff>::from_rows(context.basis(), a).into_eval();
            product.mul_assign(&z);
            let product = product.into_coeff();
            // One key switch: d digits of 7 bits, and the rounding of what is below them.
            let drop = 64.0 / 12.0 * 64.0 * (1.0 + 64.0 * 2.0 / 3.0);
            let one = 3.0 * 64.0 * (128.0 * 128.0 / 12.0) * 16.0 + drop;
            let bound = 6.5 * ((l * l - 1) as f64 / 3.0 * one).sqrt();
            for (i, &phase) in phases.iter().enumerate() {
                let found = m.add(b[i * n / l], product.row(0)[i * n / l]);
                let error = m.centered(m.sub(found, phase)).unsigned_abs() as f64;
                assert!(error <= bound, "{i} of {l}: off by {error}, bound {bound}");
            }
            // Windows: every coefficient.
            let mut counters = Counters::default();
            let [b, a] = keys.pack_windows(&samples, &mut counters).unwrap();
            assert_eq!(counters.ntt > 0, n > 1);
            let mut product = Poly::<u32, Coeff>::from_rows(context.basis(), a).into_eval();
            product.mul_assign(&z);
            let product = product.into_coeff();
            let bound = 6.5 * ((n * n - 1) as f64 / 3.0 * one).sqrt();
            for j in 0..n {
                let found = m.add(b[j], product.row(0)[j]);
                let error = m.centered(m.sub(found, phases[j * l / n])).unsigned_abs() as f64;
                assert!(error <= bound, "coefficient {j} of {l} windows: off by {error}, bound {bound}");
            }
        }
        for wrong in [0, 3, 128] {
            let samples = vec![LweSample::trivial(n, 0u32); wrong];
            assert_eq!(keys.pack(&samples, &mut Counters::default()).unwrap_err().code(), "INVALID_ARGUMENT");
        }
    }
}
