//! The reduction modulo q0: x - round(x) near integers, as a polynomial of slots.
//!
//! sin(2 pi x) / 2 pi is x - round(x) up to (2 pi)^2 / 6 times its cube. The sine is cos(2 pi (x - 1/4)): the cosine of
//! an angle smaller by 2^r, doubled r times by c <- 2 c^2 - 1 (Han, Ki, CT-RSA 2020). Where the message is not small
//! compared with q0, the arcsine removes the cubic error and those of higher order (Lee, Lee, Kim, No, EUROCRYPT 2021).
//!
//! In x - 1/4 the cosine is even, and an even polynomial costs as many key switches as one of half its degree, and a
//! squaring. For |x| <= 16, degree 62 with two doublings gives the sine to 2^-60 in 8 levels with 13 key switches, and
//! degree 54 to 2^-42 with 11; the best general polynomial of degree 31 within 2^-8 of the integers, with three
//! doublings, takes 8 levels and 13 key switches for 2^-34.

use alloc::{format, vec::Vec};

use crate::{
    arith::{DoubleDouble, Word},
    circuits::polynomial::{Fit, Parity, Plan, PolynomialBasis, PolynomialEvaluator, minimax, near_integers},
    error::Error,
    par,
    rlwe::SampleBlock,
    schemes::ckks::{Ciphertext, CkksEvaluator, Scale},
    trace::Counters,
};

/// The polynomials of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvalModSpec {
    /// K, the bound on |x|.
    pub range: u32,
    /// Degree of the scaled cosine. Where it is fitted on a whole interval it is even in x - 1/4, and an odd degree
    /// stands for the even one below.
    pub degree: usize,
    /// r: how often its angle is doubled.
    pub double_angles: u32,
    /// The arcsine; none if the sine alone will do.
    pub arcsine: Option<ArcsineSpec>,
    /// -log2 of the largest distance from an integer at which the cosine is fitted; none to fit it on all of \[-K, K\].
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
            && (2..=255).contains(&self.degree)
            && self.double_angles <= 10
            && arcsine.degree % 2 == 1
            && arcsine.degree < 64
            && distances.iter().all(|distance| (2..=40).contains(distance));
        if !sound {
            return Err(Error::InvalidArgument(format!(
                "a reduction of range {}, degree {}, {} double angles, {:?}, distance 2^-{:?}; take ranges to 512, \
                 degrees from 2 to 255, 10 double angles, an odd arcsine below 64, and distances from 2^-2 to 2^-40",
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
    cosine_plan: Plan,
    /// The cosine is fitted in x - shift.
    shift: DoubleDouble,
    arcsine: Option<Arcsine>,
}

struct Arcsine {
    /// The arcsine in turns, as a polynomial in t = s / `bound`.
    fit: Fit,
    plan: Plan,
    bound: f64,
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
        let (cosine, shift) = match spec.log_distance {
            None => {
                let f = |x: DoubleDouble| x.scale(shrink).cos_turns();
                let end = f64::from(spec.range) + 0.25;
                (minimax(&f, &[[-end, end]], spec.degree, Parity::Even)?, quarter)
            }
            Some(log) => {
                let f = |x: DoubleDouble| ((x - quarter).scale(shrink)).cos_turns();
                let domain = near_integers(spec.range - 1, libm::exp2(-f64::from(log)), 0.0)?;
                (minimax(&f, &domain, spec.degree, Parity::General)?, DoubleDouble::ZERO)
            }
        };
        let plan = |fit: &Fit| Plan::new(core::slice::from_ref(&fit.polynomial));
        let arcsine = spec
            .arcsine
            .map(|arcsine| {
                let distance = libm::exp2(-f64::from(arcsine.log_distance));
                let bound = DoubleDouble::new(distance).sin_turns().to_f64();
                let fit =
                    minimax(&DoubleDouble::asin_turns, &[[-bound, bound]], arcsine.degree, Parity::Odd)?;
                Ok::<_, Error>(Arcsine { plan: plan(&fit)?, fit, bound })
            })
            .transpose()?;
        Ok(Self { spec: *spec, cosine_plan: plan(&cosine)?, cosine, shift, arcsine })
    }

    /// The numbers.
    pub fn spec(&self) -> &EvalModSpec {
        &self.spec
    }

    /// The scaled cosine with its largest error before the angle is doubled.
    pub fn cosine(&self) -> &Fit {
        &self.cosine
    }

    /// The cosine is a function of x - shift turns: 1/4, or 0 where it is fitted near integers alone.
    pub fn shift(&self) -> f64 {
        self.shift.to_f64()
    }

    /// The arcsine in turns with its largest error.
    pub fn arcsine(&self) -> Option<&Fit> {
        self.arcsine.as_ref().map(|arcsine| &arcsine.fit)
    }

    /// Key switches for one ciphertext.
    pub fn key_switches(&self) -> usize {
        let arcsine = self.arcsine.as_ref().map_or(0, |arcsine| arcsine.plan.key_switches());
        self.cosine_plan.key_switches() + self.spec.double_angles as usize + arcsine
    }

    /// The sine of x turns, as the cosine and its doublings give it.
    fn sine(&self, x: DoubleDouble) -> DoubleDouble {
        let mut c = self.cosine.polynomial.real_value(x - self.shift);
        for _ in 0..self.spec.double_angles {
            c = (c * c).scale(2.0) - DoubleDouble::ONE;
        }
        c
    }

    fn reduced(&self, x: DoubleDouble) -> DoubleDouble {
        match &self.arcsine {
            Some(arcsine) => arcsine.fit.polynomial.real_value(self.sine(x)),
            None => self.sine(x) / DoubleDouble::PI.scale(2.0),
        }
    }

    /// The reduction of a clear number, as the polynomials do it.
    pub fn value(&self, x: f64) -> f64 {
        self.reduced(DoubleDouble::new(x)).to_f64()
    }

    /// The largest error of the sine of x turns, for x within `distance` of an integer below K: on a dense grid.
    pub fn sine_error(&self, distance: f64) -> f64 {
        self.largest(distance, |x, rest| self.sine(x) - rest.sin_turns())
    }

    /// The largest difference of the reduction from x - round(x), on the same grid. Without an arcsine it is mostly 6.6 `distance`^3.
    pub fn error(&self, distance: f64) -> f64 {
        self.largest(distance, |x, rest| self.reduced(x) - rest)
    }

    /// The largest |f(x, x - i)| over x about all integers |i| < K.
    fn largest(&self, distance: f64, f: impl Fn(DoubleDouble, DoubleDouble) -> DoubleDouble) -> f64 {
        const STEPS: i64 = 64;
        let step = DoubleDouble::new(distance) / DoubleDouble::from_i64(STEPS);
        let last = i64::from(self.spec.range) - 1;
        let mut largest = DoubleDouble::ZERO;
        for i in -last..=last {
            for k in -STEPS..=STEPS {
                let rest = step * DoubleDouble::from_i64(k);
                largest = largest.max(f(DoubleDouble::from_i64(i) + rest, rest).abs());
            }
        }
        largest.to_f64()
    }

    /// Maps slots y = x / K to x - round(x), at scale `target` and [`EvalModSpec::levels`] levels lower. The inputs
    /// are independent, and run in parallel.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if x or the key have too few levels; [`Error::ParamsMismatch`];
    /// [`Error::ScaleMismatch`] for scales far below the primes.
    pub fn evaluate<W: Word>(
        &self,
        evaluator: &CkksEvaluator<W>,
        parts: &[Ciphertext<W>],
        relinearization: &SampleBlock<W>,
        target: Scale,
        counters: &mut Counters,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let polynomials = PolynomialEvaluator::new(evaluator, relinearization);
        par::try_map_counted(parts.len(), counters, |i, own| {
            self.evaluate_one(evaluator, &polynomials, &parts[i], target, own)
        })
    }

    fn evaluate_one<W: Word>(
        &self,
        evaluator: &CkksEvaluator<W>,
        polynomials: &PolynomialEvaluator<'_, CkksEvaluator<W>>,
        x: &Ciphertext<W>,
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
        let prime =
            |level: usize| Scale::product(evaluator.context().rlwe().spec().levels[level].iter().copied());
        let doubled = x.level() - self.cosine_plan.levels();
        let sine = doubled - self.spec.double_angles as usize;
        // The sine's scale, then backwards the scale before each doubling: S' = S^2 / 2 q.
        let sine_scale = match &self.arcsine {
            Some(_) => x.scale(),
            None => target.div(Scale::new(core::f64::consts::TAU)),
        };
        let cosine_scale = (sine + 1..=doubled)
            .fold(sine_scale, |wanted, level| wanted.mul(prime(level)).mul(Scale::new(2.0)).sqrt());
        let unit = self.to_unit(evaluator, x)?;
        let mut c =
            only(polynomials.evaluate_planned_counted(&self.cosine_plan, &unit, cosine_scale, counters)?)?;
        for _ in 0..self.spec.double_angles {
            c = double_angle(evaluator, polynomials, &c, counters)?;
        }
        let Some(arcsine) = &self.arcsine else {
            return Ok(c.relabelled(target));
        };
        let unit = c.relabelled(sine_scale.mul(Scale::new(arcsine.bound)));
        only(polynomials.evaluate_planned_counted(&arcsine.plan, &unit, target, counters)?)
    }

    /// Turns y = x / K into (x - shift) / end, the variable of the Chebyshev basis: relabels the scale and adds a constant.
    fn to_unit<W: Word>(
        &self,
        evaluator: &CkksEvaluator<W>,
        x: &Ciphertext<W>,
    ) -> Result<Ciphertext<W>, Error> {
        let PolynomialBasis::Chebyshev { to, .. } = self.cosine.polynomial.basis() else {
            return Ok(x.clone());
        };
        let scale = x.scale().mul(Scale::new(to)).div(Scale::from_integer(self.spec.range.into()));
        let mut unit = x.clone().relabelled(scale);
        evaluator.add_constant_assign(&mut unit, (-(self.shift / DoubleDouble::new(to))).into())?;
        Ok(unit)
    }
}

/// 2 c^2 - 1: the scale is relabelled for the factor 2, and 1 is subtracted before rescaling.
fn double_angle<W: Word>(
    evaluator: &CkksEvaluator<W>,
    polynomials: &PolynomialEvaluator<'_, CkksEvaluator<W>>,
    c: &Ciphertext<W>,
    counters: &mut Counters,
) -> Result<Ciphertext<W>, Error> {
    let square = evaluator.tensor(c, c)?;
    let scale = square.scale().div(Scale::new(2.0));
    let mut square = square.relabelled(scale);
    evaluator.add_constant_assign(&mut square, (-DoubleDouble::ONE).into())?;
    polynomials.reduce_counted(&square, counters)
}

/// The value of a plan of one polynomial.
fn only<W: Word>(values: Vec<Ciphertext<W>>) -> Result<Ciphertext<W>, Error> {
    values.into_iter().next().ok_or_else(|| Error::InvalidArgument("a plan without polynomials".into()))
}
