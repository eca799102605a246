//! Exact scales.

/// A positive real carried to about 104 bits as an unevaluated sum of two doubles.
///
/// Products and quotients of scales and primes stay exact far beyond the noise of any ciphertext,
/// so that the scale after a circuit of any depth is the one the algebra says. Only `+ - * /` of
/// doubles are used: the same bits natively and in WebAssembly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    high: f64,
    low: f64,
}

impl Scale {
    /// Takes a double exactly. Scales are positive and finite; anything else is refused by the
    /// readers and the encoder, not here.
    pub const fn new(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }

    /// 2^x.
    pub fn exp2(x: f64) -> Self {
        Self::new(libm::exp2(x))
    }

    /// The product of primes (each below 2^53 here, or split otherwise).
    pub fn product(primes: impl Iterator<Item = u64>) -> Self {
        primes.fold(Self::new(1.0), |acc, p| acc.mul(Self::from_integer(p)))
    }

    /// An integer, exactly.
    pub fn from_integer(x: u64) -> Self {
        let high = (x >> 32) as f64 * 4_294_967_296.0;
        let low = (x & 0xffff_ffff) as f64;
        let (high, low) = quick_two_sum(high, low);
        Self { high, low }
    }

    /// The two doubles, for serialisation.
    pub const fn parts(self) -> (f64, f64) {
        (self.high, self.low)
    }

    /// Rebuilds from [`Self::parts`]; `None` unless positive, finite and normalised.
    pub fn from_parts(high: f64, low: f64) -> Option<Self> {
        let sound = high.is_finite()
            && low.is_finite()
            && (1e-30..=1e200).contains(&high)
            && low.abs() <= high * f64::EPSILON;
        sound.then_some(Self { high, low })
    }

    /// Nearest double.
    pub const fn to_f64(self) -> f64 {
        self.high
    }

    /// Base-2 logarithm.
    pub fn log2(self) -> f64 {
        libm::log2(self.high)
    }

    /// self · other.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "chains of exact products read as calls")]
    pub fn mul(self, other: Self) -> Self {
        let (p, e) = two_product(self.high, other.high);
        let e = e + (self.high * other.low + self.low * other.high);
        let (high, low) = quick_two_sum(p, e);
        Self { high, low }
    }

    /// self / other.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "chains of exact quotients read as calls")]
    pub fn div(self, other: Self) -> Self {
        let q1 = self.high / other.high;
        let r = self.sub(other.mul(Self::new(q1)));
        let q2 = r.high / other.high;
        let r = r.sub(other.mul(Self::new(q2)));
        let q3 = r.high / other.high;
        let (high, low) = quick_two_sum(q1, q2);
        let (high, low) = quick_two_sum(high, low + q3);
        Self { high, low }
    }

    /// Equal within 2^-45, far below any ciphertext's noise.
    pub fn matches(self, other: Self) -> bool {
        (self.sub(other).high / other.high).abs() < 1.0 / (1u64 << 45) as f64
    }

    fn sub(self, other: Self) -> Self {
        let (s, e) = two_sum(self.high, -other.high);
        let (high, low) = quick_two_sum(s, e + (self.low - other.low));
        Self { high, low }
    }
}

fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// Requires |a| >= |b|.
fn quick_two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    (s, b - (s - a))
}

/// Dekker's product with Veltkamp splitting.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let split = |x: f64| {
        let t = 134_217_729.0 * x;
        let high = t - (t - x);
        (high, x - high)
    };
    let p = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_primes_are_exact_to_a_hundred_bits() {
        // 4882433 * 557057 * 2277377 * 8667137 as an integer, and back by division.
        let primes = [4_882_433u64, 557_057, 2_277_377, 8_667_137];
        let product = Scale::product(primes.iter().copied());
        let exact: i128 = primes.iter().map(|&p| i128::from(p)).product();
        let (high, low) = product.parts();
        // The low part may be negative.
        assert_eq!(high as i128 + low as i128, exact);
        let back = product.div(Scale::from_integer(primes[3])).div(Scale::from_integer(primes[2]));
        assert_eq!(back.parts(), ((primes[0] * primes[1]) as f64, 0.0));
    }

    #[test]
    fn matching_is_relative() {
        let a = Scale::exp2(46.13);
        assert!(a.matches(a.mul(Scale::new(1.0 + 1e-15))));
        assert!(!a.matches(a.mul(Scale::new(1.0 + 1e-12))));
    }

    #[test]
    fn parts_are_checked() {
        assert!(Scale::from_parts(f64::NAN, 0.0).is_none());
        assert!(Scale::from_parts(-1.0, 0.0).is_none());
        assert!(Scale::from_parts(1.0, 1.0).is_none());
        assert!(Scale::from_parts(1024.0, 0.0).is_some());
    }
}
