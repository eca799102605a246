//! The noise of every stage, predicted from the parameters.
//!
//! Variances are per coefficient, in raw units (before division by the scale). The root mean square
//! over slots of a value of scale D is sqrt(N · variance) / D as a complex number; its real part is
//! sqrt(1/2) of that. Errors are those of [`crate::random::Stream::cbd21`], variance 10.5.

use super::params::ShipParams;
use crate::{arith::Word, bootstrapping::method::SlotMode};

/// Variance of the centred binomial error with 21 + 21 coins.
const ERROR_VARIANCE: f64 = 10.5;

/// Predicted noise of one bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseModel {
    /// One division (ModDown or rescale): rounding both components, (1 + 2N/3) / 12.
    pub rounding: f64,
    /// One multiplexer step beyond its division.
    pub multiplexer: f64,
    /// A finished track.
    pub leaf: f64,
    /// One relinearised product beyond its division.
    pub relinearization: f64,
    /// Encapsulation.
    pub encapsulation: f64,
    /// Slots to coefficients, for messages of the given mean square.
    pub slots_to_coeffs: f64,
    /// The root of the product tree, relative to its slots: mean square, as complex numbers.
    pub root: f64,
    /// Root-mean-square error that the tracks, the tree and the conjugation leave in the output's real slots.
    pub refreshed_rms: f64,
    /// Root-mean-square error of the coefficients that enter the phases, in units of the message.
    pub input_rms: f64,
    /// Root-mean-square error of the output's real slots, sine model error not included.
    pub output_rms: f64,
    /// Largest error of the sine model for messages in [-1, 1]; 0 for bits.
    pub sine: f64,
}

impl NoiseModel {
    /// Predicts for messages with mean square `power` (1/3 for uniform reals in [-1, 1]) and an
    /// input whose raw variance is `input`.
    pub fn new<W: Word>(params: &ShipParams<W>, power: f64, input: f64) -> Self {
        let spec = params.spec();
        let n = params.n() as f64;
        let primes: alloc::vec::Vec<f64> = spec.levels.iter().flatten().map(|&p| p as f64).collect();
        let special: f64 = spec.special.iter().map(|&p| p as f64).product();
        let digit_squares: f64 = spec
            .digits
            .iter()
            .map(|d| d.iter().map(|&i| primes[i]).product::<f64>())
            .map(|product| product * product / 12.0)
            .sum();
        let rounding = (1.0 + 2.0 * n / 3.0) / 12.0;
        // One gadget product with uniform digits against errors, divided by P.
        let product = digit_squares * n * ERROR_VARIANCE / (special * special);
        let mux = |branches: usize| 2.0 * branches as f64 * product;
        let leaf = spec.branches.iter().fold(rounding, |v, &b| v + rounding + mux(b));
        let slots_to_coeffs = {
            let scale = params.scale().to_f64();
            let qs: f64 = spec.levels[1].iter().map(|&p| p as f64).product();
            let diagonals = n * scale * scale * power / (24.0 * qs * qs);
            let moved = params.coefficient_scale().to_f64() / scale;
            // The input's slot noise, n · input / scale^2 over slots, becomes coefficient noise, and so do the
            // roundings of all baby steps but the first.
            let (baby, _) = params.bsgs();
            let steps = rounding * (1.0 - 1.0 / baby as f64);
            rounding + diagonals + (input + steps) * moved * moved * n / 2.0
        };
        let encapsulation = {
            let base = libm::exp2(f64::from(params.encapsulation().digit_bits()));
            let p = spec.encapsulation_prime as f64;
            let count = params.encapsulation().digit_count() as f64;
            count * n * ERROR_VARIANCE * base * base / (12.0 * p * p) + (1.0 + spec.weight as f64) / 12.0
        };
        let root = root_relative_variance(params, leaf, rounding, product);
        let bits = params.mode() == SlotMode::Bits;
        let amplitude =
            if bits { 0.25 } else { (1.0 + params.slope()) * spec.gamma / (4.0 * core::f64::consts::PI) };
        // x + conj(x): twice the real part of the root's noise.
        let tree = 2.0 * amplitude * amplitude * root;
        let scale = params.scale().to_f64();
        let last = (rounding + product) * n / 2.0 / (scale * scale);
        let base = params.coefficient_scale().to_f64();
        let coefficients = (slots_to_coeffs + encapsulation) / (base * base);
        let input_part = if bits {
            // The first order vanishes: (pi e / 2)^2 with e Gaussian has mean square 3 (pi/2)^4 e^4.
            let quarter = core::f64::consts::FRAC_PI_2;
            3.0 * libm::pow(quarter, 4.0) * coefficients * coefficients
        } else {
            coefficients
        };
        let sine = match (bits, spec.slope_correction) {
            (true, _) => 0.0,
            (false, true) => params.sine_error() / 4.0,
            (false, false) => params.sine_error(),
        };
        Self {
            rounding,
            multiplexer: spec.branches.iter().map(|&b| mux(b)).fold(0.0, f64::max),
            leaf,
            relinearization: product,
            encapsulation,
            slots_to_coeffs,
            root,
            refreshed_rms: libm::sqrt(tree + last),
            input_rms: libm::sqrt(coefficients),
            output_rms: libm::sqrt(tree + last + input_part),
            sine,
        }
    }
}

/// Relative variance (complex, slots of modulus 1) of the root of the product tree.
fn root_relative_variance<W: Word>(params: &ShipParams<W>, leaf: f64, rounding: f64, product: f64) -> f64 {
    let n = params.n() as f64;
    let relative = |variance: f64, scale: f64| variance * n / (scale * scale);
    // The plaintext leaf is rounded once; its scale carries its amplitude.
    let amplitude = libm::hypot(
        super::phase::plain_factor(params, params.mode()).re,
        super::phase::plain_factor(params, params.mode()).im,
    );
    let mut plain = relative(1.0 / 12.0, params.root_scale(0).to_f64() * amplitude);
    let mut node = relative(leaf, params.node_scale(0).to_f64());
    for t in 1..=params.tree_levels() {
        let division = if t == 1 { rounding } else { rounding + product };
        plain += node + relative(division, params.root_scale(t).to_f64() * amplitude);
        node = 2.0 * node + relative(rounding + product, params.node_scale(t).to_f64());
    }
    plain
}
