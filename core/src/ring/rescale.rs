//! Exact centred division by a part of the modulus (rescale, ModDown, and both at once).

use alloc::vec::Vec;

use super::{
    basis::Basis,
    convert::BaseConverter,
    poly::{Eval, Poly},
};
use crate::arith::{Shoup, Word};

/// x mod (Q D) -> round(x / D) mod Q, where D is the product of the last primes of the basis.
///
/// The remainder is the centred one, so the rounding error is in [-1/2, 1/2] with mean zero: floor
/// division would add a bias that scales of 20 bits cannot bear.
pub struct ModDown<W: Word> {
    keep: Basis<W>,
    converter: BaseConverter<W>,
    /// -1/D modulo each kept prime.
    minus_inverse: Vec<Shoup<W>>,
}

impl<W: Word> ModDown<W> {
    /// `keep` is a prefix of the basis that will be divided, `drop` the rest of it.
    ///
    /// # Panics
    /// If the two share a prime.
    pub fn new(keep: &Basis<W>, drop: &Basis<W>) -> Self {
        let minus_inverse = (0..keep.len())
            .map(|i| {
                let m = keep.modulus(i);
                let mut d = W::ONE;
                for p in drop.primes() {
                    d = m.mul(d, m.reduce_u64(p));
                }
                m.shoup(m.neg(m.inv(d).expect("kept and dropped primes are distinct")))
            })
            .collect();
        Self { keep: keep.clone(), converter: BaseConverter::new(drop, keep), minus_inverse }
    }

    /// The basis of the result.
    pub fn keep(&self) -> &Basis<W> {
        &self.keep
    }

    /// Transforms of one division: the dropped rows back, one row forth per kept prime.
    pub fn ntts(&self) -> u64 {
        (self.keep.len() + self.converter.from().len()) as u64
    }

    /// round(x / D) modulo the kept primes; consumes x.
    pub fn apply(&self, mut x: Poly<W, Eval>) -> Poly<W, Eval> {
        let mut out = Poly::zero(&self.keep);
        self.apply_into(&mut x, &mut out);
        out
    }

    /// [`Self::apply`] into memory used before; the dropped rows of x are overwritten.
    pub fn apply_into(&self, x: &mut Poly<W, Eval>, out: &mut Poly<W, Eval>) {
        let keep = self.keep.len();
        let kernels = self.keep.kernels();
        let drop = self.converter.from();
        debug_assert_eq!(x.basis().len(), keep + drop.len());
        debug_assert!(out.basis().same_as(&self.keep));
        x.for_each_row_mut(|i, row| {
            if let Some(i) = i.checked_sub(keep) {
                kernels.ntt_inverse(drop.row(i).ntt(), row);
            }
        });
        let rows: Vec<&[W]> = (0..drop.len()).map(|i| x.row(keep + i)).collect();
        let source = self.converter.source(&rows);
        out.for_each_row_mut(|i, row| {
            // The remainder r, then (r - x) (-1/D).
            source.row_into(i, row);
            kernels.ntt_forward(self.keep.row(i).ntt(), row);
            kernels.sub_mul_scalar_assign(self.keep.modulus(i), row, x.row(i), &self.minus_inverse[i]);
        });
    }
}
