//! RGSW samples and the external product.

use alloc::{format, vec, vec::Vec};

use super::gadget::Gadget;
use crate::{
    arith::{Modulus, Shoup, Word, product_fits},
    error::Error,
    ring::{Basis, Binomial, Eval, Poly, SubRing},
    rlwe::{KeySeeds, Pair},
    trace::Counters,
};

/// A ring modulo one prime with its gadget.
#[derive(Clone)]
pub struct RgswContext<W: Word> {
    basis: Basis<W>,
    gadget: Gadget<W>,
    width: Binomial,
    /// Whether digits are transformed without reductions.
    rough: bool,
}

/// Rows that external products work in, reusable.
pub struct ProductScratch<W: Word> {
    pub(super) digits: Vec<W>,
    out: [Vec<W>; 2],
}

impl<W: Word> RgswContext<W> {
    /// The ring of degree `n` modulo `prime`, digits as in [`Gadget::new`], errors of the given width.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] as [`Basis::new`] and [`Gadget::new`].
    pub fn new(n: usize, prime: u64, base_log: u32, digits: usize, width: Binomial) -> Result<Self, Error> {
        let basis = Basis::new(n, &[prime])?;
        let gadget = Gadget::new(*basis.modulus(0), base_log, digits)?;
        let fits = |rough: bool| product_fits::<W>(prime, n, 2 * digits, rough);
        let rough = fits(true);
        if n < 16 || !(rough || fits(false)) {
            return Err(Error::InvalidArgument(format!(
                "{} products modulo {prime} at degree {n}: the sum does not fit; take fewer digits, a smaller prime, or \
                 64-bit words (and a degree of at least 16)",
                2 * digits
            )));
        }
        Ok(Self { basis, gadget, width, rough })
    }

    /// Ring degree N.
    pub fn n(&self) -> usize {
        self.basis.n()
    }

    /// The basis: one prime.
    pub fn basis(&self) -> &Basis<W> {
        &self.basis
    }

    /// The prime and its transform.
    pub fn ring(&self) -> &SubRing<W> {
        self.basis.row(0)
    }

    /// The gadget.
    pub fn gadget(&self) -> &Gadget<W> {
        &self.gadget
    }

    /// Width of the errors of samples.
    pub fn width(&self) -> Binomial {
        self.width
    }

    /// Samples of one RGSW ciphertext: 2 d.
    pub fn rgsw_samples(&self) -> usize {
        2 * self.gadget.digits()
    }

    /// Sample `index` of `block`, which encrypts g_k u under z, evaluation domain.
    ///
    /// RGSW(m) is the d samples with u = m, for the digits of b, followed by the d samples with
    /// u = m z, for those of a.
    pub fn gadget_sample(
        &self,
        seeds: &KeySeeds,
        (block, index): ([u64; 4], usize),
        k: usize,
        u: &Poly<W, Eval>,
        z: &Poly<W, Eval>,
    ) -> Pair<W> {
        let mut sample = seeds.sample_with(self.width, block, index, z, None);
        let m = self.ring().modulus();
        let factor: Shoup<W> = m.shoup(self.gadget.factor(k));
        self.basis.kernels().mul_scalar_add_assign(m, sample.b.row_mut(0), u.row(0), &factor);
        sample
    }

    /// Brings the samples of one product, `[2 d][2][n]` (or `[d][2][n]`, or `[d][n]`), into the form that products read.
    pub fn prepare(&self, key: &mut [W]) {
        let samples = key.to_vec();
        W::gate_kernels().prepare_key(self.ring().modulus(), key, &samples, key.len() / self.n());
    }

    /// [`Self::prepare`] for [`Self::turn_product_add`].
    pub fn prepare_for_turns(&self, key: &mut [W]) {
        for row in key.chunks_exact_mut(self.n()) {
            W::gate_kernels().reorder(self.ring().ntt(), row);
        }
        self.prepare(key);
    }

    /// Rows for external products.
    pub fn scratch(&self) -> ProductScratch<W> {
        let n = self.n();
        let row = || vec![W::ZERO; n];
        ProductScratch { digits: vec![W::ZERO; self.rgsw_samples() * n], out: [row(), row()] }
    }

    /// x += key ⊡ (X^exponent - 1) x, exponent at most 2N, for a mirrored sample x in coefficient domain;
    /// the key is 2 d samples, [prepared](Self::prepare_for_turns).
    pub fn turn_product_add(
        &self,
        key: &[W],
        exponent: u32,
        x: &mut Mirrored<W>,
        scratch: &mut ProductScratch<W>,
        counters: &mut Counters,
    ) {
        let half = self.gadget.digits() * self.n();
        let kernels = W::gate_kernels();
        for (part, digits) in x.parts.iter().zip(scratch.digits.chunks_exact_mut(half)) {
            kernels.turned_digits(self.gadget.cut(), digits, part, exponent as usize);
        }
        let (m, ntt) = (self.ring().modulus(), self.ring().ntt());
        let rows = scratch.digits.chunks_exact_mut(self.n());
        let part = key.len() / rows.len();
        for (row, near) in rows.zip(key.chunks_exact(part)) {
            kernels.evaluate(ntt, row, self.rough, near);
        }
        self.sum_products(0, key, scratch, counters);
        for (part, product) in x.parts.iter_mut().zip(&mut scratch.out) {
            kernels.interpolate(ntt, product, &[]);
            kernels.add_mirrored(m, part, product);
        }
        counters.ntt += 2 + self.rgsw_samples() as u64;
    }

    /// key ⊡ (b, a) with a key of 2 d prepared samples: residues in evaluation domain in and out. The
    /// result takes the place of (b, a).
    pub fn external_product(
        &self,
        key: &[W],
        x: &mut [Vec<W>; 2],
        scratch: &mut ProductScratch<W>,
        counters: &mut Counters,
    ) {
        let [b, a] = x;
        self.decompose_into(b, 0, scratch, counters);
        self.decompose_into(a, self.gadget.digits(), scratch, counters);
        self.transform_and_multiply(0, key, scratch, counters);
        core::mem::swap(x, &mut scratch.out);
    }

    /// The product of the digits of x alone with a key of d prepared samples, residues in evaluation domain
    /// in and out.
    pub fn gadget_product<'s>(
        &self,
        key: &[W],
        x: &mut [W],
        scratch: &'s mut ProductScratch<W>,
        counters: &mut Counters,
    ) -> &'s [Vec<W>; 2] {
        let d = self.gadget.digits();
        self.decompose_into(x, d, scratch, counters);
        self.transform_and_multiply(d, key, scratch, counters);
        &scratch.out
    }

    /// x = the sum of digit k of x times row k of the key, of d prepared rows: residues in evaluation domain.
    pub fn digit_product(
        &self,
        key: &[W],
        x: &mut Vec<W>,
        scratch: &mut ProductScratch<W>,
        counters: &mut Counters,
    ) {
        let d = self.gadget.digits();
        self.decompose_into(x, d, scratch, counters);
        self.transform_and_multiply(d, key, scratch, counters);
        core::mem::swap(x, &mut scratch.out[0]);
    }

    /// The digits of both parts, ready for several products with [`Self::multiply`]: (b, a) in evaluation
    /// domain, which are overwritten.
    pub fn decompose(&self, [b, a]: [&mut [W]; 2], scratch: &mut ProductScratch<W>, counters: &mut Counters) {
        self.decompose_into(b, 0, scratch, counters);
        self.decompose_into(a, self.gadget.digits(), scratch, counters);
        self.transform(0, &[], scratch, counters);
    }

    /// The product of digits made by [`Self::decompose`] with 2 d prepared samples, evaluation domain.
    pub fn multiply(
        &self,
        key: &[W],
        [b, a]: [&mut [W]; 2],
        scratch: &ProductScratch<W>,
        counters: &mut Counters,
    ) {
        W::gate_kernels().gate_product(self.ring().modulus(), &mut [b, a], &scratch.digits, key, self.rough);
        counters.limb_mac += 2 * self.rgsw_samples() as u64;
        counters.key_switch += 1;
    }

    /// Writes the digits of x, evaluation domain, to the rows from `first` on, coefficient domain.
    fn decompose_into(
        &self,
        x: &mut [W],
        first: usize,
        scratch: &mut ProductScratch<W>,
        counters: &mut Counters,
    ) {
        let (n, d) = (self.n(), self.gadget.digits());
        self.basis.kernels().ntt_inverse(self.ring().ntt(), x);
        self.gadget.decompose(x, &mut scratch.digits[first * n..(first + d) * n]);
        counters.ntt += 1;
    }

    /// Takes the rows from `first` on to evaluation domain. Meanwhile the key is prefetched: it is read
    /// once, from memory.
    fn transform(&self, first: usize, key: &[W], scratch: &mut ProductScratch<W>, counters: &mut Counters) {
        let (n, ntt) = (self.n(), self.ring().ntt());
        let rows = scratch.digits[first * n..].chunks_exact_mut(n);
        let mut key = key.chunks(key.len().div_ceil(rows.len()).max(1));
        for row in rows {
            W::gate_kernels().prefetch(key.next().unwrap_or_default());
            if self.rough {
                W::gate_kernels().ntt_forward_rough(ntt, row);
            } else {
                self.basis.kernels().ntt_forward(ntt, row);
            }
            counters.ntt += 1;
        }
    }

    /// Multiplies the rows from `first` on, coefficient domain, by the key of one or two columns: into a row of
    /// `scratch.out` for each column, evaluation domain.
    fn transform_and_multiply(
        &self,
        first: usize,
        key: &[W],
        scratch: &mut ProductScratch<W>,
        counters: &mut Counters,
    ) {
        self.transform(first, key, scratch, counters);
        self.sum_products(first, key, scratch, counters);
    }

    /// Multiplies the rows from `first` on, evaluation domain, by the key.
    fn sum_products(
        &self,
        first: usize,
        key: &[W],
        scratch: &mut ProductScratch<W>,
        counters: &mut Counters,
    ) {
        let ProductScratch { digits, out: [b, a] } = scratch;
        let rows = &digits[first * self.n()..];
        let columns = key.len() / rows.len();
        W::gate_kernels().gate_product(
            self.ring().modulus(),
            &mut [b.as_mut_slice(), a.as_mut_slice()][..columns],
            rows,
            key,
            self.rough,
        );
        counters.limb_mac += (columns * rows.len() / self.n()) as u64;
        counters.key_switch += 1;
    }
}

/// A ring sample (b, a) in coefficient domain, each part x held as x, -x and x: any multiple of x by a
/// power of X is a run of N words.
pub struct Mirrored<W: Word> {
    parts: [Vec<W>; 2],
}

impl<W: Word> Mirrored<W> {
    /// Takes the parts, N residues each.
    pub fn new(m: &Modulus<W>, parts: [&[W]; 2]) -> Self {
        let mirror = |part: &[W]| {
            let mut out = vec![W::ZERO; 3 * part.len()];
            W::gate_kernels().add_mirrored(m, &mut out, part);
            out
        };
        Self { parts: [mirror(parts[0]), mirror(parts[1])] }
    }

    /// b and a.
    pub fn parts(&self) -> [&[W]; 2] {
        [0, 1].map(|i| &self.parts[i][..self.parts[i].len() / 3])
    }
}
