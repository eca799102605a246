//! The key of a blind rotation: what the methods have in common. It is separate from the rotation so that programs that
//! only generate keys do not link the evaluation.

use alloc::{vec, vec::Vec};

use zeroize::Zeroizing;

use crate::{
    arith::Word,
    ring::{Coeff, Eval, Poly},
    rlwe::Pair,
    schemes::cggi::{CggiParams, CggiSecretKey},
};

/// Name of the random streams of ring samples.
pub(super) const RING_BLOCK: [u64; 4] = [2, 0, 0, 0];

/// A sample of a key, evaluation domain.
pub(super) struct RotationSample<W: Word> {
    /// The part that travels.
    pub body: Poly<W, Eval>,
    /// The part that is expanded from the public seed; none for NTRU.
    pub mask: Option<Poly<W, Eval>>,
}

impl<W: Word> From<Pair<W>> for RotationSample<W> {
    fn from(Pair { b, a }: Pair<W>) -> Self {
        Self { body: b, mask: Some(a) }
    }
}

/// The key of a method of blind rotation: a list of ring samples modulo p.
pub(super) trait RotationKey<W: Word>: Send + Sync {
    /// Polynomials of a sample: 2, or 1 if it has no mask.
    fn columns(&self) -> usize {
        2
    }

    /// The products that samples of the key belong to, in order: how many products of how many samples
    /// each.
    fn products(&self, params: &CggiParams<W>) -> Vec<(usize, usize)>;

    /// Makes sample `index` of the key; the same bytes every time.
    fn sample(&self, secret: &CggiSecretKey<W>, index: usize) -> RotationSample<W>;

    /// Brings the samples of one product into the form that the rotation reads.
    fn prepare(&self, params: &CggiParams<W>, samples: &mut [W]) {
        params.rgsw().prepare(samples);
    }
}

/// Sample `row` of RGSW(u) for the polynomial u, evaluation domain, under z and for masks under `z_from`:
/// the first d samples hold u, the others u z_from.
pub(super) fn rgsw_sample<W: Word>(
    secret: &CggiSecretKey<W>,
    index: usize,
    row: usize,
    u: &Poly<W, Eval>,
    z_from: &Poly<W, Eval>,
) -> RotationSample<W> {
    let rgsw = secret.params().rgsw();
    let digits = rgsw.gadget().digits();
    let name = (RING_BLOCK, index);
    if row < digits {
        return rgsw.gadget_sample(&secret.seeds, name, row, u, &secret.ring_eval).into();
    }
    let payload = Zeroizing::new(u.mul(z_from));
    rgsw.gadget_sample(&secret.seeds, name, row - digits, &payload, &secret.ring_eval).into()
}

/// X^(s exponent) for s in {-1, 0, 1} and 0 < exponent < 2N, evaluation domain; without a branch on s.
pub(super) fn monomial<W: Word>(params: &CggiParams<W>, s: i64, exponent: usize) -> Zeroizing<Poly<W, Eval>> {
    let (m, n) = (params.modulus(), params.n());
    let mut row = vec![W::ZERO; n];
    let mut put = |exponent: usize, value: i64| {
        let sign = if exponent < n { 1 } else { -1 };
        row[exponent % n] = m.add(row[exponent % n], m.reduce_i64(sign * value));
    };
    put(0, 1 - s * s);
    put(exponent, (s * s + s) >> 1);
    put(2 * n - exponent, (s * s - s) >> 1);
    Zeroizing::new(Poly::<W, Coeff>::from_rows(params.rgsw().basis(), row).into_eval())
}

/// The constant polynomial 0 or 1, evaluation domain.
pub(super) fn constant<W: Word>(params: &CggiParams<W>, bit: i64) -> Zeroizing<Poly<W, Eval>> {
    let one = W::from_u64((bit & 1) as u64);
    Zeroizing::new(Poly::from_rows(params.rgsw().basis(), vec![one; params.n()]))
}
