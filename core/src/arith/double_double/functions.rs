//! Square root, sines and arcsine.

use super::DoubleDouble;

/// Terms of the Taylor series at an eighth of a turn: (pi/4)^32 / 32! < 2^-128.
const TERMS: i64 = 16;

impl DoubleDouble {
    /// The square root of a non-negative number (NaN for others): one Newton step from the square root in doubles.
    #[must_use]
    pub fn sqrt(self) -> Self {
        if self.is_zero() {
            return Self::ZERO;
        }
        let guess = Self::new(libm::sqrt(self.high));
        guess + (self - guess * guess) / guess.scale(2.0)
    }

    /// (cos 2 pi x, sin 2 pi x): angles in turns, reduced exactly.
    pub fn cos_sin_turns(self) -> (Self, Self) {
        let turns = self - self.round();
        let quarters = libm::rint(turns.high * 4.0);
        let theta = (turns - Self::new(quarters / 4.0)) * Self::PI.scale(2.0);
        let square = theta * theta;
        // Horner from the smallest term: 1 - t/(1 2) (1 - t/(3 4) (…)), and the same for the sine.
        let (mut cos, mut sin) = (Self::ONE, Self::ONE);
        for k in (1..=TERMS).rev() {
            cos = Self::ONE - square * cos / Self::from_i64((2 * k - 1) * (2 * k));
            sin = Self::ONE - square * sin / Self::from_i64((2 * k) * (2 * k + 1));
        }
        let sin = sin * theta;
        match quarters as i32 {
            0 => (cos, sin),
            1 => (-sin, cos),
            -1 => (sin, -cos),
            _ => (-cos, -sin),
        }
    }

    /// cos 2 pi x.
    #[must_use]
    pub fn cos_turns(self) -> Self {
        self.cos_sin_turns().0
    }

    /// sin 2 pi x.
    #[must_use]
    pub fn sin_turns(self) -> Self {
        self.cos_sin_turns().1
    }

    /// arcsin(x) / (2 pi), in turns, for |x| <= 1 (NaN for others): one Newton step from the arcsine in doubles.
    #[must_use]
    pub fn asin_turns(self) -> Self {
        if self.abs().high > 0.75 {
            // Away from the vertical tangent: arcsin x = pi/2 - 2 arcsin sqrt((1 - x)/2).
            let rest = ((Self::ONE - self.abs()).scale(0.5)).sqrt().asin_turns();
            let angle = Self::new(0.25) - rest.scale(2.0);
            return if self.high < 0.0 { -angle } else { angle };
        }
        let turn = Self::PI.scale(2.0);
        let guess = Self::new(libm::asin(self.high)) / turn;
        let (cos, sin) = guess.cos_sin_turns();
        guess + (self - sin) / (cos * turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(x: DoubleDouble, y: DoubleDouble) {
        let error = (x - y).abs().to_f64();
        assert!(error < 1.0 / (1u128 << 98) as f64, "{x:?} is not {y:?}: {error:e}");
    }

    #[test]
    fn square_roots_square_back() {
        for x in [2.0, 0.3, 1e-20, 7e15] {
            let x = DoubleDouble::new(x);
            let root = x.sqrt();
            near(root * root / x, DoubleDouble::ONE);
        }
        assert!(DoubleDouble::ZERO.sqrt().is_zero() && !DoubleDouble::new(-1.0).sqrt().is_finite());
    }

    #[test]
    fn sines_at_known_angles() {
        let third = DoubleDouble::ratio(1, 3);
        near(third.cos_turns(), DoubleDouble::new(-0.5));
        near(third.sin_turns(), DoubleDouble::new(3.0).sqrt().scale(0.5));
        near(DoubleDouble::new(0.125).cos_turns(), DoubleDouble::new(0.5).sqrt());
        for (turns, cos, sin) in [(0.0, 1.0, 0.0), (0.25, 0.0, 1.0), (-0.5, -1.0, 0.0), (6.75, 0.0, -1.0)] {
            let (c, s) = DoubleDouble::new(turns).cos_sin_turns();
            near(c, DoubleDouble::new(cos));
            near(s, DoubleDouble::new(sin));
        }
        // cos 72 degrees = (sqrt 5 - 1)/4: no multiple of an eighth.
        let fifth = DoubleDouble::ratio(1, 5);
        near(fifth.cos_turns(), (DoubleDouble::new(5.0).sqrt() - DoubleDouble::ONE).scale(0.25));
    }

    #[test]
    fn doubling_and_arcsine_agree() {
        for k in -40i64..=40 {
            let x = DoubleDouble::ratio(k, 161);
            let (cos, sin) = x.cos_sin_turns();
            near(x.scale(2.0).cos_turns(), cos * cos.scale(2.0) - DoubleDouble::ONE);
            near(cos * cos + sin * sin, DoubleDouble::ONE);
            near(sin.asin_turns(), x);
        }
        near(DoubleDouble::ONE.asin_turns(), DoubleDouble::new(0.25));
        assert!(!DoubleDouble::new(1.1).asin_turns().is_finite());
    }
}
