//! Blind rotation: what the methods have in common.

use alloc::{vec, vec::Vec};

use zeroize::Zeroizing;

use super::{
    ap::Ap,
    ginx::{GinxBinary, GinxTernary},
    ginx_unrolled::GinxUnrolled,
    lmkcdey::Lmkcdey,
    ntru::Ntru,
};
use crate::{
    arith::{Turns, Word},
    ring::{Coeff, Eval, Poly},
    rlwe::{
        Pair,
        lwe::{Exponents, Grid},
        rgsw::{Mirrored, ProductScratch, multiply_by_monomial},
    },
    schemes::cggi::{CggiParams, CggiSecretKey, RotationMethod},
    trace::Counters,
};

/// Name of the random streams of ring samples.
pub(super) const RING_BLOCK: [u64; 4] = [2, 0, 0, 0];

/// A sample of a key, evaluation domain.
pub(super) struct RotationSample<W: Word> {
    /// What travels.
    pub body: Poly<W, Eval>,
    /// What is expanded from the public seed; none for NTRU.
    pub mask: Option<Poly<W, Eval>>,
}

impl<W: Word> From<Pair<W>> for RotationSample<W> {
    fn from(Pair { b, a }: Pair<W>) -> Self {
        Self { body: b, mask: Some(a) }
    }
}

/// The key of a method of blind rotation: a list of ring samples modulo p. Apart from the rotation itself, so that
/// programs that only make keys do not carry the evaluation.
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

/// How the samples of its key turn the accumulator: a list of steps that depends on the public masks alone, at most
/// one product each.
pub(super) trait BlindRotation<W: Word>: Send + Sync {
    /// The masks it can rotate by.
    fn grid(&self) -> Grid;

    /// The steps of a rotation.
    fn plan(&self, params: &CggiParams<W>, exponents: &Exponents) -> Vec<Step>;

    /// The accumulator before the first step.
    fn start(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> Accumulator<W>;

    /// Does one step; `key` is all samples, those of each product prepared.
    fn step(
        &self,
        params: &CggiParams<W>,
        key: &[W],
        step: Step,
        accumulator: &mut Accumulator<W>,
        counters: &mut Counters,
    );
}

/// The key of a method.
pub(super) fn key_of_method<W: Word>(method: RotationMethod) -> &'static dyn RotationKey<W> {
    match method {
        RotationMethod::GinxBinary => &GinxBinary,
        RotationMethod::GinxUnrolled => &GinxUnrolled,
        RotationMethod::GinxTernary => &GinxTernary,
        RotationMethod::Lmkcdey { .. } => &Lmkcdey,
        RotationMethod::Ntru { .. } => &Ntru,
        RotationMethod::Ap { .. } => &Ap,
    }
}

/// The rotation of a method.
pub(super) fn of_method<W: Word>(method: RotationMethod) -> &'static dyn BlindRotation<W> {
    match method {
        RotationMethod::GinxBinary => &GinxBinary,
        RotationMethod::GinxUnrolled => &GinxUnrolled,
        RotationMethod::GinxTernary => &GinxTernary,
        RotationMethod::Lmkcdey { .. } => &Lmkcdey,
        RotationMethod::Ntru { .. } => &Ntru,
        RotationMethod::Ap { .. } => &Ap,
    }
}

/// One step of a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Multiply by X^(exponent s), s the coordinate of the short key.
    Turn { coordinate: usize, exponent: u32 },
    /// Multiply by X^(e s + e' s'), e and e' the exponents, s and s' the pair of coordinates.
    TurnPair { pair: usize, exponents: [u32; 2] },
    /// Apply X -> X^(5^skip) and multiply by X^s.
    Multiply { coordinate: usize, skip: usize },
    /// Apply the automorphism with this number.
    Automorphism { number: usize },
    /// Multiply by what product `index` of the key stands for.
    Product { index: usize },
    /// Make a sample of the polynomial it starts from.
    Enter,
}

/// The polynomial v whose coefficient j is the result of phase j / 2N, for j < N; for the other half of
/// the circle the result is the negative of the opposite one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestVector<W: Word> {
    pub(super) coefficients: Vec<W>,
    /// The mask, if the polynomial is encrypted: methods that begin with a known one do not take it.
    pub(super) mask: Option<Vec<W>>,
}

impl<W: Word> TestVector<W> {
    /// The same result for the whole upper half: the sign, times `value`.
    pub fn sign(params: &CggiParams<W>, value: W) -> Self {
        Self { coefficients: vec![value; params.n()], mask: None }
    }

    /// `value(w)` for the w-th of `windows` equal parts of the upper half.
    pub fn windows(params: &CggiParams<W>, windows: usize, value: impl Fn(usize) -> W) -> Self {
        let n = params.n();
        Self { coefficients: (0..n).map(|j| value(j * windows / n)).collect(), mask: None }
    }

    /// The polynomial that a ring sample (b, a) encrypts, coefficient domain.
    pub(super) fn encrypted([b, a]: [Vec<W>; 2]) -> Self {
        Self { coefficients: b, mask: Some(a) }
    }
}

/// A ring sample (b, a) being turned, and rows to work in.
pub struct Accumulator<W: Word> {
    pub(super) form: Form<W>,
    pub(super) scratch: ProductScratch<W>,
}

/// The domain in which a method keeps its accumulator.
pub(super) enum Form<W: Word> {
    /// Coefficients.
    Turned(Mirrored<W>),
    /// Coefficients, and the powers of X that they are multiplied by.
    Paired { parts: [Vec<W>; 2], turns: Turns<W> },
    /// Evaluations, and two rows of them to work in.
    Evaluated { parts: [Vec<W>; 2], spare: [Vec<W>; 2] },
    /// Evaluations of an NTRU sample, or still of the known polynomial it starts from, and a row to work in.
    Ntru { known: bool, row: Vec<W>, spare: Vec<W> },
}

impl<W: Word> Accumulator<W> {
    /// A sample, coefficients.
    pub(super) fn turned(params: &CggiParams<W>, [b, a]: &[Vec<W>; 2]) -> Self {
        let form = Form::Turned(Mirrored::new(params.modulus(), [b, a]));
        Self { form, scratch: params.rgsw().scratch() }
    }

    /// A sample, coefficients, to be turned by pairs of coordinates.
    pub(super) fn paired(params: &CggiParams<W>, parts: [Vec<W>; 2]) -> Self {
        let form = Form::Paired { parts, turns: Turns::new(params.n()) };
        Self { form, scratch: params.rgsw().scratch() }
    }

    /// A sample given by its coefficients, kept as evaluations.
    pub(super) fn evaluated(params: &CggiParams<W>, mut parts: [Vec<W>; 2]) -> Self {
        let zero = || vec![W::ZERO; params.n()];
        for part in &mut parts {
            W::kernels().ntt_forward(params.rgsw().ring().ntt(), part);
        }
        let form = Form::Evaluated { parts, spare: [zero(), zero()] };
        Self { form, scratch: params.rgsw().scratch() }
    }

    /// A polynomial given by its coefficients that is no sample yet, kept as evaluations.
    pub(super) fn known(params: &CggiParams<W>, mut row: Vec<W>) -> Self {
        W::kernels().ntt_forward(params.rgsw().ring().ntt(), &mut row);
        let form = Form::Ntru { known: true, row, spare: vec![W::ZERO; params.n()] };
        Self { form, scratch: params.rgsw().scratch() }
    }

    /// Both parts, coefficient domain.
    pub fn parts(&self, params: &CggiParams<W>) -> [Vec<W>; 2] {
        match &self.form {
            Form::Turned(sample) => sample.parts().map(<[W]>::to_vec),
            Form::Paired { parts, .. } => parts.clone(),
            Form::Evaluated { parts, .. } => {
                let mut parts = parts.clone();
                for part in &mut parts {
                    W::kernels().ntt_inverse(params.rgsw().ring().ntt(), part);
                }
                parts
            }
            Form::Ntru { known, row, .. } => {
                let (mut row, zero) = (row.clone(), vec![W::ZERO; params.n()]);
                W::kernels().ntt_inverse(params.rgsw().ring().ntt(), &mut row);
                if *known { [row, zero] } else { [zero, row] }
            }
        }
    }
}

/// X^(-b) v for the body b of exponents.
pub(super) fn turned_test_vector<W: Word>(
    params: &CggiParams<W>,
    test: &TestVector<W>,
    exponents: &Exponents,
) -> Vec<W> {
    let order = 1 << params.log_2n();
    let mut out = vec![W::ZERO; params.n()];
    multiply_by_monomial(params.modulus(), &mut out, &test.coefficients, (order - exponents.b) % order);
    out
}

/// X^(-b) times the sample of v for the body b of exponents: without noise or mask if v is known.
pub(super) fn turned_sample<W: Word>(
    params: &CggiParams<W>,
    test: &TestVector<W>,
    exponents: &Exponents,
) -> [Vec<W>; 2] {
    let order = 1 << params.log_2n();
    let mut a = vec![W::ZERO; params.n()];
    if let Some(mask) = &test.mask {
        multiply_by_monomial(params.modulus(), &mut a, mask, (order - exponents.b) % order);
    }
    [turned_test_vector(params, test, exponents), a]
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
