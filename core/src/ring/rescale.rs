//! Exact centred division by a part of the modulus (rescale, ModDown, and both at once), and the switch of a row from one
//! prime to another.

use alloc::{vec, vec::Vec};

use super::{
    basis::Basis,
    convert::{BaseConverter, Source},
    poly::{Eval, Poly},
    scratch::Scratch,
};
use crate::{
    arith::{Modulus, Shoup, Word},
    par,
};

/// x mod (Q D) -> round(x / D) mod Q, where D is the product of the last primes of the basis.
///
/// The remainder is the centred one, so the rounding error is in [-1/2, 1/2] with mean zero: floor
/// division would add a bias that scales of 20 bits cannot bear.
pub struct ModDown<W: Word> {
    keep: Basis<W>,
    converter: BaseConverter<W>,
    /// 1/D and -1/D modulo each kept prime.
    inverse: Vec<[Shoup<W>; 2]>,
}

impl<W: Word> ModDown<W> {
    /// `keep` is a prefix of the basis that will be divided, `drop` the rest of it.
    ///
    /// # Panics
    /// If the two share a prime.
    pub fn new(keep: &Basis<W>, drop: &Basis<W>) -> Self {
        let inverse = (0..keep.len())
            .map(|i| {
                let m = keep.modulus(i);
                let mut d = W::ONE;
                for p in drop.primes() {
                    d = m.mul(d, m.reduce_u64(p));
                }
                let inverse = m.inv(d).expect("kept and dropped primes are distinct");
                [m.shoup(inverse), m.shoup(m.neg(inverse))]
            })
            .collect();
        Self { keep: keep.clone(), converter: BaseConverter::new(drop, keep), inverse }
    }

    /// The basis of the result.
    pub fn keep(&self) -> &Basis<W> {
        &self.keep
    }

    /// Number of transforms of one division: an inverse one per dropped row, and a forward one per kept prime.
    pub fn ntts(&self) -> u64 {
        (self.keep.len() + self.converter.from().len()) as u64
    }

    /// round(x / D) modulo the kept primes, in the memory of x.
    pub fn apply(&self, mut x: Poly<W, Eval>) -> Poly<W, Eval> {
        let (n, kernels) = (self.keep.n(), self.keep.kernels());
        debug_assert_eq!(x.basis().len(), self.keep.len() + self.converter.from().len());
        let (kept, dropped) = x.split_at_row_mut(self.keep.len());
        let source = self.remainder(dropped);
        par::for_each_row_with(
            kept,
            n,
            || (vec![W::ZERO; n], Scratch::default()),
            |(remainder, scratch), i, row| {
                source.row_into(i, remainder);
                self.keep.row(i).forward(remainder, scratch);
                kernels.sub_mul_scalar_assign(self.keep.modulus(i), row, remainder, &self.inverse[i][0]);
            },
        );
        x.into_prefix(&self.keep)
    }

    /// x modulo D, from its last rows, which are overwritten.
    fn remainder<'a>(&'a self, dropped: &'a mut [W]) -> Source<'a, W> {
        let (n, from) = (self.keep.n(), self.converter.from());
        par::for_each_row_with(dropped, n, Scratch::default, |scratch, i, row| {
            from.row(i).inverse(row, scratch);
            self.converter.prepare(i, row);
        });
        self.converter.source(dropped.chunks_exact(n).collect())
    }

    /// [`Self::apply`] into memory used before; the dropped rows of x are overwritten.
    pub fn apply_into(&self, x: &mut Poly<W, Eval>, out: &mut Poly<W, Eval>) {
        let (n, kernels) = (self.keep.n(), self.keep.kernels());
        debug_assert_eq!(x.basis().len(), self.keep.len() + self.converter.from().len());
        debug_assert!(out.basis().same_as(&self.keep));
        let (kept, dropped) = x.split_at_row_mut(self.keep.len());
        let source = self.remainder(dropped);
        out.for_each_row_with(Scratch::default, |scratch, i, row| {
            // The remainder r, then (r - x) (-1/D).
            source.row_into(i, row);
            self.keep.row(i).forward(row, scratch);
            let x = &kept[i * n..(i + 1) * n];
            kernels.sub_mul_scalar_assign(self.keep.modulus(i), row, x, &self.inverse[i][1]);
        });
    }
}

/// round(x q / p) modulo q for residues x modulo p, in words of any two types: the row under another modulus, with a
/// rounding error in \[-1/2, 1/2\]. Exact for primes of any size.
pub fn switch_modulus<V: Word, W: Word>(row: &[V], from: &Modulus<V>, to: &Modulus<W>) -> Vec<W> {
    let (p, q) = (u128::from(from.value_u64()), u128::from(to.value_u64()));
    // Residues are taken from 0 to p. Centred, those above p/2 would be p less, and their quotients q less.
    let switched = row.iter().map(|&x| (2 * u128::from(x.to_u64()) * q + p) / (2 * p));
    switched.map(|y| W::from_u64(if y == q { 0 } else { y as u64 })).collect()
}
