//! What noise each stage of SHIP should leave, from the parameters alone.
//!
//! Variances are per coefficient of the raw (unscaled) polynomial, in the model in which every
//! rounding error is uniform and every product with a key is a sum of independent terms. A complex
//! slot of a polynomial with coefficient variance `v` at scale `x` has root mean square
//! `sqrt(N v)/x`, its real part `sqrt(N v/2)/x`.

use core::f64::consts::PI;

use refloat::bootstrapping::ckks_ship::ShipSpec;
use refloat::rlwe::EncapsulationDigits;

/// Variance of the centred binomial error CBD(21).
const ERROR: f64 = 10.5;

/// Variance of rounding to the nearest integer.
const ROUNDING: f64 = 1.0 / 12.0;

/// Noise of one parameter set.
#[derive(Debug, Clone)]
pub struct ShipNoise {
    n: f64,
    spec: ShipSpec,
}

impl ShipNoise {
    /// The model of a set.
    pub fn new(spec: &ShipSpec) -> Self {
        Self { n: f64::from(1u32 << spec.log_n), spec: spec.clone() }
    }

    fn level(&self, index: usize) -> f64 {
        self.spec.levels[index].iter().map(|&p| p as f64).product()
    }

    /// Levels of the product tree.
    pub fn depth(&self) -> usize {
        (self.spec.weight + 1).ilog2() as usize
    }

    /// Base modulus q0.
    pub fn q0(&self) -> f64 {
        self.level(0)
    }

    /// Message scale.
    pub fn scale(&self) -> f64 {
        self.spec.log_scale.exp2()
    }

    /// Scale of the coefficients, `D0 = q0/gamma`.
    pub fn coefficient_scale(&self) -> f64 {
        self.q0() / self.spec.gamma
    }

    /// Scales `L_0 .. L_T` of the nodes: `L_(t+1) = L_t^2/t_(t+1)`.
    pub fn node_scales(&self) -> Vec<f64> {
        let last = self.spec.levels.len() - 1;
        let mut scales = vec![self.spec.log_leaf_scale.exp2()];
        for t in 0..self.depth() {
            scales.push(scales[t] * scales[t] / self.level(last - t));
        }
        scales
    }

    /// Scales `x_0 .. x_T` of the known leaf's node: `x_t = x_(t+1) t_(t+1)/L_t`, back from Delta.
    pub fn root_scales(&self) -> Vec<f64> {
        let last = self.spec.levels.len() - 1;
        let nodes = self.node_scales();
        let mut scales = vec![self.scale(); self.depth() + 1];
        for t in (0..self.depth()).rev() {
            scales[t] = scales[t + 1] * self.level(last - t) / nodes[t];
        }
        scales
    }

    /// A fresh encryption under the secret key: error and rounding of the encoder.
    pub fn fresh(&self) -> f64 {
        ERROR + ROUNDING
    }

    /// One division by a modulus: both components are rounded, and one meets the ternary secret.
    pub fn division(&self) -> f64 {
        (1.0 + self.n * 2.0 / 3.0) * ROUNDING
    }

    /// One mux step before its division: `2 B` key products over the digits.
    pub fn mux(&self, branches: usize) -> f64 {
        let prime: Vec<f64> = self.spec.levels.iter().flatten().map(|&p| p as f64).collect();
        let special: f64 = self.spec.special.iter().map(|&p| p as f64).product();
        let digits = self.spec.digits.iter().map(|digit| digit.iter().map(|&i| prime[i]).product::<f64>());
        let squares: f64 = digits.map(|d| (d / special).powi(2) * ROUNDING).sum();
        2.0 * branches as f64 * squares * self.n * ERROR
    }

    /// A leaf: the division of the column and of each mux step, and the mux steps themselves.
    pub fn leaf(&self) -> f64 {
        let steps: f64 = self.spec.branches.iter().map(|&b| self.division() + self.mux(b)).sum();
        self.division() + steps
    }

    /// What slots-to-coefficients adds for slots of mean square `square`: its division, the rounding of
    /// the matrix' diagonals, and the divisions of its baby steps, which the matrix multiplies.
    pub fn slots_to_coeffs(&self, square: f64) -> f64 {
        let baby = f64::from(1u32 << (self.spec.log_n - 1).div_ceil(2));
        let steps = self.division() * (1.0 - 1.0 / baby) * self.n / 2.0;
        self.division()
            + self.n * square / 24.0 * (self.scale() / self.level(1)).powi(2)
            + steps * (self.coefficient_scale() / self.scale()).powi(2)
    }

    /// The input's noise as it arrives in the coefficients: half of a slot's, at another scale.
    pub fn carried(&self) -> f64 {
        self.n * self.fresh() / 2.0 * (self.coefficient_scale() / self.scale()).powi(2)
    }

    /// What the switch to the sparse secret adds.
    pub fn encapsulation(&self) -> f64 {
        let p = self.spec.encapsulation_prime as f64;
        let digits: f64 = match self.spec.encapsulation_digits {
            // Balanced digits are uniform below their base, but for the top one.
            EncapsulationDigits::Balanced { count } => {
                let bits = (64 - (self.q0() as u64).leading_zeros()).div_ceil(count as u32);
                let base = f64::from(bits).exp2();
                let top = self.q0() / base.powi(count as i32 - 1);
                (count - 1) as f64 * base.powi(2) + top.powi(2)
            }
            EncapsulationDigits::PerPrime => self.spec.levels[0].iter().map(|&q| (q as f64).powi(2)).sum(),
        };
        digits * ROUNDING * self.n * ERROR / p.powi(2) + (1.0 + self.spec.weight as f64) * ROUNDING
    }

    /// All noise of the phases, raw: input, slots-to-coefficients, encapsulation.
    pub fn phases(&self, square: f64) -> f64 {
        self.carried() + self.slots_to_coeffs(square) + self.encapsulation()
    }

    /// Root mean square of a complex slot for coefficient variance `v` at scale `x`.
    pub fn slot(&self, v: f64, x: f64) -> f64 {
        (self.n * v).sqrt() / x
    }

    /// Size of the known leaf, `(1 + eta) gamma/(4 pi)`, or 1/4 for bits.
    fn known_leaf(&self) -> f64 {
        if self.spec.gamma <= 2.0 { 0.25 } else { self.spec.gamma / (4.0 * PI) }
    }

    /// Slot noise of the ordinary nodes by depth, 0 the leaves: both operands' and a division.
    pub fn nodes(&self) -> Vec<f64> {
        let scales = self.node_scales();
        let mut squares = vec![self.slot(self.leaf(), scales[0]).powi(2)];
        for t in 0..self.depth() {
            squares.push(2.0 * squares[t] + self.slot(self.division(), scales[t + 1]).powi(2));
        }
        squares.into_iter().map(f64::sqrt).collect()
    }

    /// Slot noise of the node that carries the known leaf, by depth from 1.
    pub fn roots(&self) -> Vec<f64> {
        let (nodes, scales) = (self.nodes(), self.root_scales());
        let mut square = self.slot(ROUNDING, scales[0]).powi(2);
        (0..self.depth())
            .map(|t| {
                square += (self.known_leaf() * nodes[t]).powi(2)
                    + self.slot(self.division(), scales[t + 1]).powi(2);
                square.sqrt()
            })
            .collect()
    }

    /// Noise of the output's real part against the exact sine of the noisy phase: twice the root's
    /// real part, and the conjugation's division.
    pub fn output(&self) -> f64 {
        let root = self.roots().pop().unwrap_or_default();
        let conjugation = self.slot(self.division(), self.scale()).powi(2) / 2.0;
        (2.0 * root.powi(2) + conjugation).sqrt()
    }
}
