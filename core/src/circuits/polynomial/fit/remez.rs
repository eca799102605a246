//! Best approximation in the maximum norm: the exchange algorithm of Remez on a union of intervals.

use alloc::{vec, vec::Vec};

use super::{Fit, Function, assemble, check, folded, hull, indices, linear, lobatto};
use crate::{
    arith::DoubleDouble,
    circuits::polynomial::{Parity, Polynomial, PolynomialBasis},
    error::Error,
};

/// Most exchanges; convergence is quadratic and takes about ten.
const ROUNDS: usize = 60;

/// The exchange ends when the error exceeds the smallest possible one by at most this fraction.
const TOLERANCE: f64 = 1e-4;

/// The polynomial of a degree whose largest difference from f on the domain is as small as possible, up to 1e-4 of
/// that difference.
///
/// The best polynomial is the one whose error takes its largest value with alternating signs at one point more than
/// there are coefficients (Chebyshev); each round solves for the polynomial of equal alternating errors at such
/// points and moves them to extrema of its error, several in each interval or none (Remez; for unions of intervals
/// Lee, Lee, Lee, Kim, No, EUROCRYPT 2021). With a parity, f must have it, and the domain is folded to x >= 0.
///
/// # Errors
/// [`Error::InvalidArgument`] for intervals that are empty, overlap or are out of order, for a degree above 255, and
/// where f is not finite.
pub fn minimax(f: Function<'_>, domain: &[[f64; 2]], degree: usize, parity: Parity) -> Result<Fit, Error> {
    check(domain, degree)?;
    let problem = Problem {
        f,
        basis: hull(domain, parity),
        indices: indices(degree, parity)?,
        sides: folded(domain, parity),
    };
    let mut reference = problem.first_reference();
    let mut best: Option<(f64, Polynomial)> = None;
    for _ in 0..ROUNDS {
        let (polynomial, level) = problem.levelled(&reference)?;
        let extrema = problem.extrema(&polynomial, &reference);
        let largest = extrema.iter().fold(0.0f64, |m, (_, e)| m.max(e.abs().to_f64()));
        if best.as_ref().is_none_or(|(error, _)| largest < *error) {
            best = Some((largest, polynomial));
        }
        // At the limit of the arithmetic the level is noise and no longer grows.
        if largest <= level * (1.0 + TOLERANCE) || extrema.len() < reference.len() {
            break;
        }
        reference = exchange(extrema, reference.len());
    }
    let (_, polynomial) =
        best.ok_or_else(|| Error::InvalidArgument("no round of the exchange was made".into()))?;
    Ok(Fit::measured(f, domain, polynomial))
}

struct Problem<'a> {
    f: Function<'a>,
    basis: PolynomialBasis,
    indices: Vec<usize>,
    sides: Vec<[f64; 2]>,
}

impl Problem<'_> {
    /// One point more than coefficients: the same number in each interval, the rest in the outer ones, and none at an end where an odd
    /// polynomial vanishes.
    fn first_reference(&self) -> Vec<DoubleDouble> {
        let (points, intervals) = (self.indices.len() + 1, self.sides.len());
        let mut shares = vec![points / intervals; intervals];
        for k in 0..points % intervals {
            let outer = if k % 2 == 0 { k / 2 } else { intervals - 1 - k / 2 };
            shares[outer] += 1;
        }
        let inside = |(&[from, to], &count): (&[f64; 2], &usize)| {
            let (middle, half) = (f64::midpoint(from, to), (to - from) / 2.0);
            (0..count).map(move |k| {
                let angle = core::f64::consts::PI * (k as f64 + 0.5) / count as f64;
                DoubleDouble::new(middle - half * libm::cos(angle))
            })
        };
        self.sides.iter().zip(&shares).flat_map(inside).collect()
    }

    /// The polynomial whose errors at the points of the reference are equal with alternating signs, and their size.
    fn levelled(&self, reference: &[DoubleDouble]) -> Result<(Polynomial, f64), Error> {
        let degree = self.indices.last().copied().unwrap_or(0);
        let row = |(k, &x): (usize, &DoubleDouble)| {
            let values = self.basis.values(x, degree);
            let sign = DoubleDouble::new(if k % 2 == 0 { 1.0 } else { -1.0 });
            self.indices.iter().map(|&j| values[j]).chain([sign, (self.f)(x)]).collect()
        };
        let mut solution = linear::solve(reference.iter().enumerate().map(row).collect())?;
        let level = solution.pop().unwrap_or_default().abs().to_f64();
        Ok((assemble(self.basis, &self.indices, &solution)?, level))
    }

    /// For each run of errors of one sign along the domain, the place and the value of the largest: signs alternate.
    fn extrema(&self, p: &Polynomial, reference: &[DoubleDouble]) -> Vec<(DoubleDouble, DoubleDouble)> {
        let error = |x: DoubleDouble| (self.f)(x) - p.real_value(x);
        let count = (16 * reference.len()).div_ceil(self.sides.len()).max(17);
        let mut runs: Vec<(DoubleDouble, DoubleDouble)> = vec![];
        for &side in &self.sides {
            let (from, to) = (DoubleDouble::new(side[0]), DoubleDouble::new(side[1]));
            let mut grid = lobatto(side, count);
            grid.extend(reference.iter().filter(|&&x| from <= x && x <= to));
            grid.sort_by(|a, b| a.partial_cmp(b).unwrap_or(core::cmp::Ordering::Equal));
            let errors: Vec<DoubleDouble> = grid.iter().map(|&x| error(x)).collect();
            let mut start = 0;
            while start < grid.len() {
                let negative = errors[start] < DoubleDouble::ZERO;
                let run =
                    errors[start..].iter().take_while(|&&e| (e < DoubleDouble::ZERO) == negative).count();
                let at = (start..start + run)
                    .fold(start, |m, i| if errors[i].abs() > errors[m].abs() { i } else { m });
                let around = [grid[at.saturating_sub(1)], grid[at], grid[(at + 1).min(grid.len() - 1)]];
                let extremum = refine(&error, around, errors[at]);
                match runs.last_mut() {
                    Some(last) if (last.1 < DoubleDouble::ZERO) == negative => {
                        if extremum.1.abs() > last.1.abs() {
                            *last = extremum;
                        }
                    }
                    _ => runs.push(extremum),
                }
                start += run;
            }
        }
        runs
    }
}

/// The extremum of the parabola through the error at three points, if it is larger than the middle one; twice.
fn refine(
    error: &dyn Fn(DoubleDouble) -> DoubleDouble,
    [left, middle, right]: [DoubleDouble; 3],
    at_middle: DoubleDouble,
) -> (DoubleDouble, DoubleDouble) {
    let mut best = (middle, at_middle);
    let (mut a, mut b) = ((middle - left).to_f64(), (right - middle).to_f64());
    for _ in 0..2 {
        if a <= 0.0 || b <= 0.0 {
            break;
        }
        let (x, e) = best;
        let slope = |step: f64| (error(x + DoubleDouble::new(step)) - e).to_f64() / step;
        let (left, right) = (slope(-a), slope(b));
        let curvature = (right - left) / (a + b);
        let step = -(left + curvature * a) / (2.0 * curvature);
        if !step.is_finite() || step <= -a || step >= b {
            break;
        }
        let moved = x + DoubleDouble::new(step);
        let there = error(moved);
        if there.abs() > e.abs() {
            best = (moved, there);
        }
        (a, b) = (a / 8.0, b / 8.0);
    }
    best
}

/// `count` of the alternating extrema, in order and still alternating, with the largest among them: pairs of
/// neighbours are dropped where the larger is smallest, or one at an end.
fn exchange(mut extrema: Vec<(DoubleDouble, DoubleDouble)>, count: usize) -> Vec<DoubleDouble> {
    let size = |e: &(DoubleDouble, DoubleDouble)| e.1.abs();
    while extrema.len() > count {
        let last = extrema.len() - 1;
        if last == count {
            let end = if size(&extrema[0]) < size(&extrema[last]) { 0 } else { last };
            extrema.remove(end);
            continue;
        }
        // Every pair, those at the ends included, is judged by its larger member.
        let pair = (0..last)
            .min_by(|&i, &j| {
                let larger = |i: usize| size(&extrema[i]).max(size(&extrema[i + 1])).to_f64();
                larger(i).total_cmp(&larger(j))
            })
            .unwrap_or(0);
        extrema.drain(pair..pair + 2);
    }
    extrema.into_iter().map(|(x, _)| x).collect()
}
