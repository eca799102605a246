//! The reduction modulo q0 for every message: x - round(x) near integers, by two harmonics.
//!
//! sin(2 pi x) / 2 pi is not linear enough: at a coefficient of x times q0 it is short by (2 pi)^2 / 6 x^3. That is negligible for
//! slots that are random with mean zero, but 2^-13 of a constant. a1 sin(2 pi x) + a2 sin(4 pi x) with slope 1 has almost no cubic
//! error. It is the imaginary part of a1 w + a2 w^2 for w = e^(2 pi i x); because a2 < 0, that equals the imaginary part of
//! -|a2| (w - b)^2 with b = a1 / 2|a2|, about 4: one squaring.
//!
//! w comes from one polynomial with cosines in its even coefficients and i times sines in the odd ones, whose angle is
//! smaller by 2^r, and r squarings. One conjugation gives the imaginary parts for both halves of the coefficients, as
//! ((v1 + i v2) - conj(v1 - i v2)) / 2i. For |x| < 16 that is degree 31, three squarings and the last one: nine levels,
//! one more than a sine.
//!
//! # Every message
//!
//! Slots with parts in \[-1, 1\] have coefficients c_k with a sum of squares of at most 2, because the mean of |z|^2 is.
//! An error g(c) in each coefficient makes an error of at most the sum of |g(c_k)| in any slot, and so of at most twice
//! the largest |g(c)| / c^2 over |c| <= sqrt(2): [`super::FittedReduction::proven_error`].
//!
//! g depends on the quotient I as well, because the exponential is a fit: its slope at I is off by 2^-42 at |I| = 8, which is
//! nothing, 2^-32 at 12, 2^-28 at 13 and 2^-18 at 15. The bound includes |I| = 12. A coefficient exceeds it
//! with probability 2^-58 (range 16, ephemeral weight 32); the bootstrap is then correct but less precise. It is wrong only if
//! |I| leaves the range.

use alloc::format;

use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble, Word},
    circuits::polynomial::{Exponential, Polynomial, PolynomialEvaluator},
    error::Error,
    par,
    ring::Automorphism,
    rlwe::SampleBlock,
    schemes::ckks::{Ciphertext, CkksEvaluator, Scale},
    trace::Counters,
};

/// Two harmonics of x - round(x).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HarmonicsSpec {
    /// K, above every |round(x)|. The polynomial has degree 2K - 1.
    pub range: u32,
    /// r: how often its value is squared to give e^(2 pi i x).
    pub squarings: u32,
    /// -log2 of the ratio of a message of size one to q0. Its coefficients may be sqrt(2) times as large.
    pub log_distance: u32,
}

impl HarmonicsSpec {
    /// Levels it takes: the polynomial's, the squarings', and one for both harmonics.
    pub fn levels(&self) -> usize {
        (2 * self.range).next_power_of_two().ilog2() as usize + self.squarings as usize + 1
    }

    fn check(&self) -> Result<(), Error> {
        if (1..=64).contains(&self.range) && self.squarings <= 10 && (4..=40).contains(&self.log_distance) {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "two harmonics of range {}, {} squarings, messages of 2^-{} beside q0; take ranges to 64, 10 squarings, and \
             messages from 2^-4 to 2^-40",
            self.range, self.squarings, self.log_distance
        )))
    }
}

/// The fitted polynomial and the harmonics.
pub struct Harmonics {
    spec: HarmonicsSpec,
    exponential: Exponential,
    /// |a2|, and b = a1 / 2|a2|.
    second: DoubleDouble,
    centre: DoubleDouble,
}

impl Harmonics {
    /// Fits the exponential, and the harmonics: a1 and a2 give slope 1 at 0, and are exact at sqrt(3/4) of the largest
    /// coefficient, which makes the error left over smallest relative to the square of a coefficient.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers out of range.
    pub fn new(spec: &HarmonicsSpec) -> Result<Self, Error> {
        spec.check()?;
        let exponential = Exponential::at_integers(spec.range, spec.squarings)?;
        let node = DoubleDouble::new(1.5).sqrt().scale(libm::exp2(-f64::from(spec.log_distance)));
        // 2 pi a1 + 4 pi a2 = 1, and a1 sin(2 pi x) + a2 sin(4 pi x) = x at the node.
        let turn = DoubleDouble::PI.scale(2.0);
        let (one, two) = (node.sin_turns(), node.scale(2.0).sin_turns());
        let a2 = (node - one / turn) / (two - one.scale(2.0));
        let a1 = DoubleDouble::ONE / turn - a2.scale(2.0);
        Ok(Self { spec: *spec, exponential, second: -a2, centre: (a1 / -a2).scale(0.5) })
    }

    /// The numbers.
    pub fn spec(&self) -> &HarmonicsSpec {
        &self.spec
    }

    /// e^(2 pi i x / 2^r) near integers.
    pub fn exponential(&self) -> &Polynomial {
        self.exponential.polynomial()
    }

    /// a1 and a2.
    pub fn amplitudes(&self) -> [f64; 2] {
        [(self.second * self.centre).scale(2.0).to_f64(), -self.second.to_f64()]
    }

    /// Key switches for one ciphertext. The conjugation, one for both, comes on top.
    pub fn key_switches(&self) -> usize {
        self.exponential.key_switches() + 1
    }

    fn reduced(&self, x: DoubleDouble) -> DoubleDouble {
        let v = self.exponential.value(x) - self.centre.into();
        -((v * v).im * self.second)
    }

    /// The reduction of a clear number, as the circuit does it.
    pub fn value(&self, x: f64) -> f64 {
        self.reduced(DoubleDouble::new(x)).to_f64()
    }

    /// The largest difference from x - round(x) for x within `distance` of an integer of size at most `quotient`: on a
    /// grid.
    pub fn error(&self, quotient: u32, distance: f64) -> f64 {
        const STEPS: i64 = 64;
        let step = DoubleDouble::new(distance) / DoubleDouble::from_i64(STEPS);
        let rests = || (-STEPS..=STEPS).map(|k| step * DoubleDouble::from_i64(k));
        let integers = -i64::from(quotient)..=i64::from(quotient);
        let errors = integers.flat_map(|i| {
            let i = DoubleDouble::from_i64(i);
            rests().map(move |rest| (self.reduced(i + rest) - rest).abs())
        });
        errors.fold(DoubleDouble::ZERO, DoubleDouble::max).to_f64()
    }

    /// Maps slots y = x / K to x - round(x), at scale `target` and [`HarmonicsSpec::levels`] levels lower, for one
    /// ciphertext x, or for two joined as x1 + i x2.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if x or the keys have too few levels; [`Error::ParamsMismatch`];
    /// [`Error::ScaleMismatch`] for scales far below the primes; [`Error::InvalidArgument`] for no or more than two
    /// ciphertexts.
    pub fn evaluate<W: Word>(
        &self,
        evaluator: &CkksEvaluator<W>,
        parts: &[Ciphertext<W>],
        relinearization: &SampleBlock<W>,
        (conjugation, key): (&Automorphism, &SampleBlock<W>),
        target: Scale,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let polynomials = PolynomialEvaluator::new(evaluator, relinearization);
        // v - conj(v) is 2i Im(v). Multiplied by i and relabelled from the square's scale to `target`, it is -|a2| Im(v).
        let square_scale = target.mul(Scale::new(self.second.to_f64() / 2.0));
        let values = par::try_map_counted(parts.len(), counters, |i, own| {
            self.square(evaluator, &polynomials, &parts[i], square_scale, own)
        })?;
        let [sum, difference] = match values.as_slice() {
            [one] => [one.clone(), one.clone()],
            [first, second] => {
                let second = evaluator.multiply_by_i(second)?;
                [evaluator.add(first, &second)?, evaluator.sub(first, &second)?]
            }
            other => return Err(parts_refused(other.len())),
        };
        let conjugate = evaluator.automorphism_counted(&difference, conjugation, key, counters)?;
        Ok(evaluator.multiply_by_i(&evaluator.sub(&sum, &conjugate)?)?.relabelled(target))
    }

    /// (w - b)^2 at a scale, for w = e^(2 pi i x).
    fn square<W: Word>(
        &self,
        evaluator: &CkksEvaluator<W>,
        polynomials: &PolynomialEvaluator<'_, CkksEvaluator<W>>,
        x: &Ciphertext<W>,
        scale: Scale,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        if x.level() < self.spec.levels() {
            return Err(Error::LevelMismatch(format!(
                "a reduction of {0} levels and a ciphertext at level {1}; bring it at level {0} or above",
                self.spec.levels(),
                x.level()
            )));
        }
        let levels = &evaluator.context().rlwe().spec().levels;
        let prime = Scale::product(levels[x.level() - self.exponential.levels()].iter().copied());
        let wanted = scale.mul(prime).sqrt();
        let mut w = self.exponential.evaluate_counted(evaluator, polynomials, x, wanted, counters)?;
        evaluator.add_constant_assign(&mut w, ComplexDoubleDouble::real(-self.centre))?;
        polynomials.reduce_counted(&evaluator.tensor(&w, &w)?, counters)
    }
}

fn parts_refused(count: usize) -> Error {
    Error::InvalidArgument(format!("{count} parts to be reduced; there are one or two"))
}
