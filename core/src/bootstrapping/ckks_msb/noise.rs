//! The noise model: how far numbers may be from the grid on which they are read.
//!
//! Slots-to-coefficients leaves x over q0 with an error that grows with x: its diagonals are rounded to integers. A number that is off by d
//! has its digit read at k x, off by k d turns, and a table that squares errors gives the digit off by c (2 pi k d)^2, where c is half of
//! the table's second derivative. This error stays in the result, and adds to that of the next digit. A readout is refused unless a number
//! that is off by [`DEVIATIONS`] deviations comes out within [`TOLERANCE`](super::digit_noise::TOLERANCE) of its integer; a digit can be
//! misread (off by a half) only at sqrt(2) times that many deviations, which a slot reaches with a probability of 2^-55, for messages
//! chosen without regard to the diagonals, which are public.
//! messages chosen without regard to the diagonals, which are public.

use super::{numbers::Numbers, rounding::Rounding, spec::MsbParams};
use crate::{
    arith::Word, bootstrapping::raising::maps::FirstMapNoise, error::Error, schemes::ckks::Scale,
    security::SecretDistribution,
};

/// Deviations of the noise that a readout bears.
pub(super) const DEVIATIONS: f64 = 6.0;

/// Assumed error of numbers before they are read, whatever their size, in units of 1 over the scale of a set: 2^-30 at 2^48, more than a
/// set leaves.
const INPUT_NOISE: f64 = (1u64 << 18) as f64;

/// Deviation of the error that a reading leaves in its results, in units of sqrt(N) over the scale of the set: the noise of the
/// exponential's squarings and of the table's products. 8 to 12 were measured, for bases 4 to 128.
const READING_NOISE: f64 = 24.0;

/// The error of numbers about which nothing else is known, at the scale of the set.
pub(super) fn of_input<W: Word>(params: &MsbParams<W>) -> f64 {
    INPUT_NOISE / params.scale().to_f64()
}

/// The error that numbers at the scale of the set have as coefficients.
///
/// # Errors
/// As the bounds that are stated for the numbers.
pub(super) fn as_coefficients<W: Word>(
    params: &MsbParams<W>,
    numbers: &Numbers<'_, W>,
) -> Result<f64, Error> {
    Ok(numbers.off(params)? + of_first_map(params, numbers.largest(params.scale())?))
}

/// The error that slots-to-coefficients adds to numbers up to `largest`, in a bad case of [`DEVIATIONS`]; infinite if there is no such map,
/// which a valid set has.
pub(super) fn of_first_map<W: Word>(params: &MsbParams<W>, largest: f64) -> f64 {
    FirstMapNoise::of(params).map_or(f64::INFINITY, |map| {
        let rescalings = (1.0 + map.rescalings) * of_rescaling(params) / params.scale().to_f64();
        rescalings + DEVIATIONS * map.of_diagonals * largest
    })
}

/// The error that a product, or a change of scale, adds to slots in as bad a case, in units of 1 over their scale: every coefficient of
/// both components is rounded by 1/sqrt(12), one component is multiplied by the secret, and key switching adds no more than that again.
pub(super) fn of_rescaling<W: Word>(params: &MsbParams<W>) -> f64 {
    let coefficient = of_rounded_pair(params, Rounding::Main);
    2.0 * DEVIATIONS * libm::sqrt(params.n() as f64 / 2.0) * coefficient
}

/// The error that a division adds to numbers up to `largest` at `scale`, with a result at the scale of the set and a rescaling by `prime`:
/// its constant is rounded to a multiple of the scale of the numbers over that of the product, and the product is rescaled.
pub(super) fn of_division<W: Word>(params: &MsbParams<W>, scale: Scale, prime: Scale, largest: f64) -> f64 {
    let product = params.scale().mul(prime);
    largest / (2.0 * product.div(scale).to_f64()) + of_rescaling(params) / params.scale().to_f64()
}

/// The error of results after digits were read of numbers without any error, in as bad a case.
pub(super) fn of_reading<W: Word>(params: &MsbParams<W>) -> f64 {
    DEVIATIONS * READING_NOISE * libm::sqrt(params.n() as f64) / params.scale().to_f64()
}

/// Deviation of a coefficient whose pair is rounded under a secret, in units of the rounding: both components are off by up to a half,
/// uniformly, one of them times every non-zero coefficient of the secret.
pub(super) fn of_rounded_pair<W: Word>(params: &MsbParams<W>, rounding: Rounding) -> f64 {
    libm::sqrt((1.0 + weight(params, rounding)) / 12.0)
}

/// Non-zero coefficients of the secret under which a pair is rounded.
fn weight<W: Word>(params: &MsbParams<W>, rounding: Rounding) -> f64 {
    let spec = params.spec();
    let main = match spec.chain.secret {
        SecretDistribution::Sparse { weight } => f64::from(weight),
        _ => params.n() as f64,
    };
    match &spec.ephemeral {
        Some(ephemeral) if rounding == Rounding::Ephemeral => f64::from(ephemeral.weight),
        _ => main,
    }
}

/// The most by which a rounding moves numbers, in points: half a point for every rounded integer.
pub(super) fn largest_rounding<W: Word>(params: &MsbParams<W>, rounding: Rounding) -> f64 {
    f64::midpoint(1.0, weight(params, rounding))
}

/// The distance by which a rounding to `grid` points moves numbers, in as bad a case; it cannot be more than half a point for every rounded
/// integer.
pub(super) fn of_rounding<W: Word>(params: &MsbParams<W>, rounding: Rounding, grid: u64) -> f64 {
    let largest = largest_rounding(params, rounding);
    (DEVIATIONS * of_rounded_pair(params, rounding)).min(largest) / grid as f64
}
