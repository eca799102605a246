//! The reduction modulo q0: x - round(x) near integers, as a polynomial of slots.
//!
//! sin(2 pi x) / 2 pi is x - round(x) up to (2 pi)^2 / 6 times its cube. The sine is cos(2 pi (x - 1/4)), and that is the
//! cosine of an angle smaller by 2^r, doubled r times by c <- 2 c^2 - 1 (Han, Ki, CT-RSA 2020). Where the message is not
//! small beside q0, the arcsine takes the cube and more away (Lee, Lee, Kim, No, EUROCRYPT 2021).

use alloc::{format, vec::Vec};

use crate::{
    arith::{DoubleDouble, Word},
    circuits::polynomial::{
        Fit, Parity, PolynomialBasis, PolynomialEvaluator, interpolate, minimax, near_integers,
    },
    error::Error,
    rlwe::SampleBlock,
    schemes::ckks::{Ciphertext, CkksEvaluator, Scale},
    trace::Counters,
};

/// The polynomials of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvalModSpec {
    /// K: |x| is at most that.
    pub range: u32,
    /// Degree of the scaled cosine.
    pub degree: usize,
    /// r: how often its angle is doubled.
    pub double_angles: u32,
    /// The arcsine; none if the sine alone will do.
    pub arcsine: Option<ArcsineSpec>,
    /// -log2 of the largest distance from an integer: the cosine is fitted there alone; none for all of \[-K, K\].
    pub log_distance: Option<u32>,
}

/// The arcsine after the sine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArcsineSpec {
    /// Its degree, odd.
    pub degree: usize,
    /// -log2 of the largest distance of x from an integer for which it is fitted.
    pub log_distance: u32,
}

impl EvalModSpec {
    /// Levels it takes.
    pub fn levels(&self) -> usize {
        let of = |degree: usize| (degree + 1).next_power_of_two().ilog2() as usize;
        of(self.degree) + self.double_angles as usize + self.arcsine.map_or(0, |arcsine| of(arcsine.degree))
    }

    /// Every number, for fingerprints.
    pub(super) fn words(&self) -> [u64; 6] {
        [
            u64::from(self.range),
            self.degree as u64,
            u64::from(self.double_angles),
            self.arcsine.map_or(0, |arcsine| arcsine.degree as u64),
            self.arcsine.map_or(0, |arcsine| u64::from(arcsine.log_distance)),
            self.log_distance.map_or(u64::MAX, u64::from),
        ]
    }

    fn check(&self) -> Result<(), Error> {
        let arcsine = self.arcsine.unwrap_or(ArcsineSpec { degree: 1, log_distance: 2 });
        let distances = [arcsine.log_distance, self.log_distance.unwrap_or(2)];
        let sound = (1..=512).contains(&self.range)
            && (1..=255).contains(&self.degree)
            && self.double_angles <= 10
            && arcsine.degree % 2 == 1
            && arcsine.degree < 64
            && distances.iter().all(|distance| (2..=40).contains(distance));
        if !sound {
            return Err(Error::InvalidArgument(format!(
                "a reduction of range {}, degree {}, {} double angles, {:?}, distance 2^-{:?}; take ranges to 512, \
                 degrees to 255, 10 double angles, an odd arcsine below 64, and distances from 2^-2 to 2^-40",
                self.range, self.degree, self.double_angles, self.arcsine, self.log_distance
            )));
        }
        Ok(())
    }
}

/// The fitted polynomials.
pub struct EvalMod {
    spec: EvalModSpec,
    cosine: Fit,
    /// In units of a turn, of t = s / `sine_bound`.
    arcsine: Option<Fit>,
    sine_bound: f64,
}

impl EvalMod {
    /// Fits the cosine, and the arcsine if there is one.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers out of range, or a fit that does not converge.
    pub fn new(spec: &EvalModSpec) -> Result<Self, Error> {
        spec.check()?;
        let shrink = 1.0 / libm::exp2(f64::from(spec.double_angles));
        let quarter = DoubleDouble::new(0.25);
        let cosine = |x: DoubleDouble| ((x - quarter).scale(shrink)).cos_turns();
        let range = f64::from(spec.range);
        let cosine = match spec.log_distance {
            None => interpolate(&cosine, [-range, range], spec.degree, Parity::General)?,
            Some(log) => {
                let domain = near_integers(spec.range - 1, libm::exp2(-f64::from(log)), 0.0)?;
                minimax(&cosine, &domain, spec.degree, Parity::General)?
            }
        };
        let mut sine_bound = 1.0;
        let arcsine = spec
            .arcsine
            .map(|arcsine| {
                sine_bound = DoubleDouble::new(libm::exp2(-f64::from(arcsine.log_distance))).sin_turns().to_f64();
                minimax(&DoubleDouble::asin_turns, &[[-sine_bound, sine_bound]], arcsine.degree, Parity::Odd)
            })
            .transpose()?;
        Ok(Self { spec: *spec, cosine, arcsine, sine_bound })
    }

    /// The numbers.
    pub fn spec(&self) -> &EvalModSpec {
        &self.spec
    }

    /// The scaled cosine with its largest error before the angle is doubled.
    pub fn cosine(&self) -> &Fit {
        &self.cosine
    }

    /// The arcsine in turns with its largest error.
    pub fn arcsine(&self) -> Option<&Fit> {
        self.arcsine.as_ref()
    }

    /// The reduction of a clear number, as the polynomials do it.
    pub fn value(&self, x: f64) -> f64 {
        let mut c = self.cosine.polynomial.real_value(DoubleDouble::new(x));
        for _ in 0..self.spec.double_angles {
            c = (c * c).scale(2.0) - DoubleDouble::ONE;
        }
        match &self.arcsine {
            Some(fit) => fit.polynomial.real_value(c).to_f64(),
            None => c.to_f64() / core::f64::consts::TAU,
        }
    }

    /// Slots y = x / K to x - round(x), at scale `target`, [`EvalModSpec::levels`] levels below.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if x or the key have too few levels; [`Error::ParamsMismatch`].
    pub fn evaluate<W: Word>(
        &self,
        evaluator: &CkksEvaluator<W>,
        parts: &[Ciphertext<W>],
        relinearization: &SampleBlock<W>,
        target: Scale,
        counters: &mut Counters,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        parts.iter().map(|x| self.evaluate_one(evaluator, x, relinearization, target, counters)).collect()
    }

    fn evaluate_one<W: Word>(
        &self,
        evaluator: &CkksEvaluator<W>,
        x: &Ciphertext<W>,
        relinearization: &SampleBlock<W>,
        target: Scale,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        if x.level() < self.spec.levels() {
            return Err(Error::LevelMismatch(format!(
                "a reduction of {} levels and a ciphertext at level {}; bring it at level {} or above",
                self.spec.levels(),
                x.level(),
                self.spec.levels()
            )));
        }
        let polynomials = PolynomialEvaluator::new(evaluator, relinearization);
        let prime =
            |level: usize| Scale::product(evaluator.context().rlwe().spec().levels[level].iter().copied());
        let doubled = x.level() - self.cosine.polynomial.levels();
        let sine = doubled - self.spec.double_angles as usize;
        // The sine's scale, then backwards the one before each doubling: S' = S^2 / 2 q.
        let mut wanted = match &self.arcsine {
            Some(_) => x.scale(),
            None => target.div(Scale::new(core::f64::consts::TAU)),
        };
        let sine_scale = wanted;
        for level in sine + 1..=doubled {
            wanted = wanted.mul(prime(level)).mul(Scale::new(2.0)).sqrt();
        }
        let unit = self.to_unit(x.clone());
        let mut c = polynomials.evaluate(&self.cosine.polynomial, &unit, wanted, counters)?;
        for _ in 0..self.spec.double_angles {
            let square = evaluator.multiply(&c, &c)?;
            let scale = square.scale().div(Scale::new(2.0));
            let mut square = square.relabelled(scale);
            evaluator.add_constant_assign(&mut square, (-DoubleDouble::ONE).into())?;
            c = evaluator.relinearize_rescale(&square, relinearization, counters)?;
        }
        let Some(fit) = &self.arcsine else {
            return Ok(c.relabelled(target));
        };
        let unit = c.relabelled(sine_scale.mul(Scale::new(self.sine_bound)));
        polynomials.evaluate(&fit.polynomial, &unit, target, counters)
    }

    /// The variable of the Chebyshev basis instead of y = x / K, by another label.
    fn to_unit<W: Word>(&self, x: Ciphertext<W>) -> Ciphertext<W> {
        let PolynomialBasis::Chebyshev { to, .. } = self.cosine.polynomial.basis() else { return x };
        let scale = x.scale().mul(Scale::new(to / f64::from(self.spec.range)));
        x.relabelled(scale)
    }
}
