//! Stage 3: from coefficients modulo q0 to roots of unity in slots.

use alloc::{vec, vec::Vec};

use super::params::ShipParams;
use crate::{
    arith::{Word, complex::Complex, in_lines, to_lines, whole_row},
    bootstrapping::method::{SlotMode, split::bad},
    error::Error,
    par,
    ring::{Automorphism, Coeff, Eval, Poly, from_integers},
    schemes::ckks::Encoder,
    trace::Counters,
};

/// The encapsulated ciphertext as integers: phases a_t / q0 and b_t / q0 in [-1/2, 1/2], of the
/// public coefficients under the sparse secret.
pub struct Phases {
    pub(super) a: Vec<f64>,
    pub(super) b: Vec<f64>,
}

impl Phases {
    /// From coefficient-domain residues modulo q0.
    pub fn new<W: Word>(b: &Poly<W, Coeff>, a: &Poly<W, Coeff>) -> Self {
        let q0: f64 = b.basis().primes().map(|p| p as f64).product();
        let phases = |x: &Poly<W, Coeff>| -> Vec<f64> {
            crate::ring::centered_f64(x).into_iter().map(|c| c / q0).collect()
        };
        Self { a: phases(a), b: phases(b) }
    }

    /// Phases in turns, N of each component, as [`Self::b`] and [`Self::a`] gave them elsewhere.
    ///
    /// # Errors
    /// [`Error::BadBytes`] outside [-1/2, 1/2].
    pub(super) fn from_turns(b: Vec<f64>, a: Vec<f64>) -> Result<Self, Error> {
        if b.iter().chain(&a).all(|x| (-0.5..=0.5).contains(x)) {
            return Ok(Self { a, b });
        }
        Err(bad("a phase is outside [-1/2, 1/2]"))
    }

    /// Phases of the first component, in turns.
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// Phases of the second component, in turns.
    pub fn a(&self) -> &[f64] {
        &self.a
    }
}

/// exp(2 pi i x).
pub(super) fn unit(x: f64) -> Complex {
    let t = core::f64::consts::TAU * x;
    Complex { re: libm::cos(t), im: libm::sin(t) }
}

/// The factor of w^(b_i) in the plaintext leaf: (1 + eta) gamma / (4 pi) · (-i), or -1/4 for bits.
pub(super) fn plain_factor<W: Word>(params: &ShipParams<W>, mode: SlotMode) -> Complex {
    match mode {
        SlotMode::Bits => Complex { re: -0.25, im: 0.0 },
        _ => Complex {
            re: 0.0,
            im: -(1.0 + params.slope()) * params.spec().gamma / (4.0 * core::f64::consts::PI),
        },
    }
}

/// The plaintexts that the tracks read: rotR_r(H_q) modulo Q P at scale L0,
/// `[limb]`, the rows 4 r + q in lines, and the plaintext leaf of each half.
pub struct EncodedPhases<W: Word> {
    columns: usize,
    n: usize,
    windows: Vec<W>,
    /// One per half: (1 + eta) gamma / (4 pi) · (-i) w^(b_i), or -w^(b_i) / 4 for bits.
    pub(super) leaves: Vec<Poly<W, Eval>>,
}

/// What a track rotates: one half of the plaintexts of one ciphertext.
#[derive(Clone, Copy)]
pub(super) struct Lane<'a, W: Word> {
    pub(super) phases: &'a EncodedPhases<W>,
    pub(super) half: usize,
}

impl<W: Word> EncodedPhases<W> {
    /// Encodes the quarters of F and their rotations. `Complex` takes two halves, `Real` and `Bits`
    /// one.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the scales of the set do not fit the encoder.
    pub fn new(
        params: &ShipParams<W>,
        phases: &Phases,
        mode: SlotMode,
        counters: &mut Counters,
    ) -> Result<Self, Error> {
        let rlwe = params.ckks().rlwe();
        let (n, s, level) = (params.n(), params.slots(), params.max_level());
        let (basis, columns) = (rlwe.qp(level), params.spec().columns);
        let encoder: &Encoder = params.ckks().encoder();
        let mut quarters: Vec<Poly<W, Eval>> = Vec::with_capacity(4);
        for q in 0..2 {
            let slots: Vec<Complex> = phases.a[q * s..(q + 1) * s].iter().map(|&x| unit(x)).collect();
            let h = encoder.encode(&slots, params.node_scale(0))?;
            quarters.push(from_integers(basis, &h).into_eval());
            counters.ntt += basis.len() as u64;
        }
        let conjugation = Automorphism::conjugation(n);
        for q in 0..2 {
            quarters.push(quarters[q].automorphism(&conjugation));
        }
        let rotations: Vec<Automorphism> =
            (0..columns).map(|r| Automorphism::rotation(n, -(r as i64))).collect();
        let mut windows = vec![W::ZERO; basis.len() * 4 * columns * n];
        par::for_each_chunk_mut(&mut windows, 4 * columns * n, |limb, lines| {
            let mut rows = vec![W::ZERO; lines.len()];
            for (i, row) in rows.chunks_exact_mut(n).enumerate() {
                let permutation = rotations[i / 4].permutation();
                basis.kernels().permute(row, quarters[i % 4].row(limb), permutation);
            }
            to_lines(&rows, n, lines);
        });
        let factor = plain_factor(params, mode);
        let halves = if mode == SlotMode::Complex { 2 } else { 1 };
        let leaves = (0..halves)
            .map(|half| {
                let slots: Vec<Complex> =
                    phases.b[half * s..(half + 1) * s].iter().map(|&x| factor * unit(x)).collect();
                let coefficients = encoder.encode(&slots, params.root_scale(0))?;
                counters.ntt += rlwe.q(level).len() as u64;
                Ok(from_integers(rlwe.q(level), &coefficients).into_eval())
            })
            .collect::<Result<_, Error>>()?;
        Ok(Self { columns, n, windows, leaves })
    }

    /// Number of halves: 1, or 2 for complex slots.
    pub fn halves(&self) -> usize {
        self.leaves.len()
    }

    /// The lanes of a track, one per half.
    pub(super) fn lanes(&self) -> Vec<Lane<'_, W>> {
        (0..self.halves()).map(|half| Lane { phases: self, half }).collect()
    }

    pub(super) fn check_half(&self, half: usize) -> Result<(), Error> {
        if half < self.halves() {
            return Ok(());
        }
        Err(Error::InvalidArgument(alloc::format!(
            "half {half} of phases with {}; count halves from 0, of which complex slots have two",
            self.halves()
        )))
    }

    /// Row `index` of [`Self::rows`], whole.
    pub(super) fn row(&self, limb: usize, half: usize, index: usize) -> Vec<W> {
        let size = 4 * self.columns * self.n;
        let row = index / 4 * 4 + (index % 4 + half) % 4;
        whole_row(&self.windows[limb * size..(limb + 1) * size], self.n, row)
    }

    /// The rows to be multiplied by the column samples of prime `limb`, in the order of the samples, and their step.
    /// The second half reads the same plaintexts one quarter later.
    pub(super) fn rows(&self, limb: usize, half: usize) -> (Vec<&[W]>, usize) {
        let size = 4 * self.columns * self.n;
        let (mut rows, step) = in_lines(&self.windows[limb * size..(limb + 1) * size], self.n);
        rows.chunks_exact_mut(4).for_each(|quarters| quarters.rotate_left(half));
        (rows, step)
    }
}
