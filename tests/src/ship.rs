//! SHIP bootstrapping on plaintexts (ePrint 2025/784): what each stage must compute, before there is
//! any noise. Slots are complex vectors; nothing is encrypted.
//!
//! Write the sparse secret as `s' = sum_k eps_k X^(e_k)`, and `eps X^e = X^J` with `J` modulo `2 N`.
//! With `w = exp(2 pi i/q0)` and the `2N`-periodic sequence `F_t = w^(a_t)`, `F_(t+N) = conj F_t`,
//!
//! `w^((b + a s')_i) = w^(b_i) prod_k F_(i - J_k)`  for every coefficient `i`.

use core::f64::consts::PI;

use num_complex::Complex64;

/// A vector of slots.
pub type Slots = Vec<Complex64>;

/// The block-sparse secret `s'`: one term per factor, in a window of its own.
#[derive(Debug, Clone)]
pub struct SparseSecret {
    /// Ring degree N, a power of two.
    pub n: usize,
    /// Width R of a window.
    pub window: usize,
    /// Candidates `theta` that the column step chooses from.
    pub theta: usize,
    /// Branches of each mux step; `theta` times their product covers the window.
    pub radices: Vec<usize>,
    /// Secret positions `r_k < R` in the windows.
    pub positions: Vec<usize>,
    /// Whether factor `k` enters with a minus sign.
    pub negative: Vec<bool>,
}

impl SparseSecret {
    /// Slots `S = N/2`.
    pub fn slots(&self) -> usize {
        self.n / 2
    }

    /// Number h of terms.
    pub fn weight(&self) -> usize {
        self.positions.len()
    }

    /// The public offset `o_k = (floor(k N/h) - floor(R/2)) mod N`.
    pub fn offset(&self, k: usize) -> usize {
        (k * self.n / self.weight() + self.n - self.window / 2) % self.n
    }

    /// The exponent `J_k` modulo `2 N` that stands for position and sign.
    pub fn exponent(&self, k: usize) -> usize {
        let sign = if self.negative[k] { self.n } else { 0 };
        (self.offset(k) + self.positions[k] + sign) % (2 * self.n)
    }

    /// The coefficients of `s'`; terms that meet add up.
    pub fn coefficients(&self) -> Vec<i64> {
        let mut s = vec![0; self.n];
        for k in 0..self.weight() {
            let j = self.exponent(k);
            s[j % self.n] += if j < self.n { 1 } else { -1 };
        }
        s
    }

    /// The position in the window, taken apart: `r0 < theta`, and the digits of
    /// `r1 = (r - r0)/theta` in the mixed radix of the mux steps.
    pub fn digits(&self, k: usize) -> (usize, Vec<usize>) {
        let r = self.positions[k];
        let mut rest = r / self.theta;
        let digits = self.radices.iter().map(|&radix| {
            let digit = rest % radix;
            rest /= radix;
            digit
        });
        (r % self.theta, digits.collect())
    }

    /// The right rotation of mux step `step` on branch `digit`; the first step carries the offset.
    pub fn mux_rotation(&self, k: usize, step: usize, digit: usize) -> usize {
        let weight: usize = self.radices[..step].iter().product();
        digit * self.theta * weight + if step == 0 { self.offset(k) } else { 0 }
    }

    /// The index `t_i` modulo `2 N` of the sequence F that slot `i` holds after the column step.
    pub fn column_index(&self, k: usize, half: usize, i: usize) -> usize {
        let s = self.slots();
        let (r0, _) = self.digits(k);
        let rotated = self.offset(k) + self.positions[k] - r0;
        ((i + rotated) % s + half * s + 2 * self.n - self.exponent(k)) % (2 * self.n)
    }

    /// The masks of the column step: `masks[q][i]` where slot `i` comes from quarter `q`. They do
    /// not depend on the half, which shifts the quarters instead.
    pub fn masks(&self, k: usize) -> [Vec<bool>; 4] {
        let quarter = |i| self.column_index(k, 0, i) / self.slots();
        core::array::from_fn(|q| (0..self.slots()).map(|i| quarter(i) == q).collect())
    }
}

/// The two polynomials of a ciphertext modulo `q0`, residues in `[0, q0)`.
#[derive(Debug, Clone)]
pub struct Phase {
    /// Base modulus.
    pub q0: u64,
    /// The coefficients of `a`.
    pub a: Vec<u64>,
    /// The coefficients of `b`.
    pub b: Vec<u64>,
}

impl Phase {
    fn n(&self) -> usize {
        self.a.len()
    }

    /// `w^x`.
    pub fn root(&self, x: u64) -> Complex64 {
        Complex64::from_polar(1.0, 2.0 * PI * (x % self.q0) as f64 / self.q0 as f64)
    }

    /// `F_t`, `t` modulo `2 N`.
    pub fn sequence(&self, t: usize) -> Complex64 {
        let t = t % (2 * self.n());
        if t < self.n() { self.root(self.a[t]) } else { self.root(self.a[t - self.n()]).conj() }
    }

    /// The base plaintexts: `H_q[i] = F_(q S + i)`.
    pub fn quarters(&self) -> [Slots; 4] {
        let s = self.n() / 2;
        core::array::from_fn(|q| (0..s).map(|i| self.sequence(q * s + i)).collect())
    }

    /// `b + a s' mod q0`, centred, by the definition of the product.
    pub fn decrypt(&self, secret: &SparseSecret) -> Vec<i64> {
        let n = self.n();
        let q0 = i128::from(self.q0);
        let mut m: Vec<i128> = self.b.iter().map(|&b| b.into()).collect();
        for (j, s) in secret.coefficients().into_iter().enumerate() {
            for (i, &a) in self.a.iter().enumerate() {
                let term = i128::from(s) * i128::from(a);
                if i + j < n {
                    m[i + j] += term;
                } else {
                    m[i + j - n] -= term;
                }
            }
        }
        m.into_iter().map(|m| ((m + q0 / 2).rem_euclid(q0) - q0 / 2) as i64).collect()
    }

    /// The column step of factor `k`, as it is computed: masked sums of rotated base plaintexts.
    /// `half` is 0 for the coefficients below `S`, 1 for the others.
    pub fn column(&self, secret: &SparseSecret, k: usize, half: usize) -> Slots {
        let (r0, _) = secret.digits(k);
        let masks = secret.masks(k);
        let quarters = self.quarters();
        let mut sum = vec![Complex64::ZERO; secret.slots()];
        for (q, mask) in masks.iter().enumerate() {
            let rotated = rotate_right(&quarters[(q + half) % 4], r0);
            for (sum, (&mask, x)) in sum.iter_mut().zip(mask.iter().zip(rotated)) {
                *sum += if mask { x } else { Complex64::ZERO };
            }
        }
        sum
    }

    /// The slots of factor `k` after each mux step.
    pub fn mux_steps(&self, secret: &SparseSecret, k: usize, half: usize) -> Vec<Slots> {
        let (_, digits) = secret.digits(k);
        let mut slots = self.column(secret, k, half);
        let step = |(step, &digit): (usize, &usize)| {
            slots = rotate_right(&slots, secret.mux_rotation(k, step, digit));
            slots.clone()
        };
        digits.iter().enumerate().map(step).collect()
    }

    /// What factor `k` must be: slot `i` holds `F_(i - J_k)`, `i` counted from the half's first
    /// coefficient.
    pub fn factor(&self, secret: &SparseSecret, k: usize, half: usize) -> Slots {
        let (s, n) = (secret.slots(), secret.n);
        (0..s).map(|i| self.sequence(i + half * s + 2 * n - secret.exponent(k))).collect()
    }

    /// The leaf of the tree that is known without a key: `gamma/(4 pi) (-i) w^(b_i)`.
    pub fn known_leaf(&self, gamma: f64, half: usize) -> Slots {
        let s = self.n() / 2;
        let factor = Complex64::new(0.0, -gamma / (4.0 * PI));
        self.b[half * s..(half + 1) * s].iter().map(|&b| factor * self.root(b)).collect()
    }

    /// The levels of the product tree over the known leaf and the factors; the last has one node.
    pub fn tree(&self, secret: &SparseSecret, gamma: f64, half: usize) -> Vec<Vec<Slots>> {
        let mut nodes = vec![self.known_leaf(gamma, half)];
        nodes.extend((0..secret.weight()).map(|k| self.factor(secret, k, half)));
        let mut levels = Vec::new();
        while nodes.len() > 1 {
            nodes = nodes
                .chunks(2)
                .map(|pair| {
                    pair.iter().skip(1).fold(pair[0].clone(), |product, next| multiply(&product, next))
                })
                .collect();
            levels.push(nodes.clone());
        }
        levels
    }
}

/// Rotates slots right: slot `i` of the result is slot `i - by` of the argument.
pub fn rotate_right(slots: &[Complex64], by: usize) -> Slots {
    let s = slots.len();
    (0..s).map(|i| slots[(i + s - by % s) % s]).collect()
}

fn multiply(x: &[Complex64], y: &[Complex64]) -> Slots {
    x.iter().zip(y).map(|(x, y)| x * y).collect()
}

/// What the message becomes: `(1 + eta) gamma/(2 pi) sin(2 pi m/gamma)`, `m` in units of the message
/// and `gamma = q0/D0`; near `m` where `m` is small against `gamma`.
pub fn sine_model(m: f64, gamma: f64, eta: f64) -> f64 {
    (1.0 + eta) * gamma / (2.0 * PI) * (2.0 * PI * m / gamma).sin()
}

/// The slope correction that halves the sine's error twice: `eta = 3 kappa/4` with
/// `kappa = (2 pi/gamma)^2/6`, for messages bounded by 1.
pub fn slope_correction(gamma: f64) -> f64 {
    0.75 * (2.0 * PI / gamma).powi(2) / 6.0
}

/// Slots-to-coefficients: the slots of the polynomial with coefficients `(Re z | Im z)`, as the
/// matrix `V[k][j] = zeta^(5^k j)` gives them.
pub fn slots_to_coeffs(z: &[Complex64]) -> Slots {
    let n = 2 * z.len();
    crate::embedding::slot_exponents(n)
        .into_iter()
        .map(|e| z.iter().enumerate().map(|(j, z)| crate::embedding::zeta(n, e * j) * z).sum())
        .collect()
}

/// The same by `S` diagonals in baby steps of `bs` and giant steps of `S/bs`, as the evaluator does.
pub fn slots_to_coeffs_by_diagonals(z: &[Complex64], bs: usize) -> Slots {
    let s = z.len();
    let exponents = crate::embedding::slot_exponents(2 * s);
    let left = |x: &[Complex64], by: usize| rotate_right(x, s - by % s);
    let mut out = vec![Complex64::ZERO; s];
    for giant in (0..s).step_by(bs) {
        let mut sum = vec![Complex64::ZERO; s];
        for baby in 0..bs {
            let rotated = left(z, baby);
            for (k, sum) in sum.iter_mut().enumerate() {
                // The diagonal rotated right by the giant step, since the sum is rotated left by it.
                let row = (k + s - giant) % s;
                let column = (row + giant + baby) % s;
                *sum += crate::embedding::zeta(2 * s, exponents[row] * column) * rotated[k];
            }
        }
        for (out, sum) in out.iter_mut().zip(left(&sum, giant)) {
            *out += sum;
        }
    }
    out
}
