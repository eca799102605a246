//! From a power-of-two modulus to exponents of X.

use alloc::vec::Vec;

use super::switch::SwitchedLwe;

/// Which exponents a blind rotation can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    /// All.
    All,
    /// Odd masks only: those of the automorphisms X -> X^a.
    Odd,
}

/// (a, b) modulo 2N: the phase b + <a, s> is an exponent of X, of order 2N.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exponents {
    /// Masks, below 2N.
    pub a: Vec<u32>,
    /// Body, below 2N.
    pub b: u32,
}

impl SwitchedLwe {
    /// Rounds to exponents modulo 2N = 2^`log_2n`, at most the modulus of the sample.
    ///
    /// The rounding errors e_i of the masks are public and enter the phase as sum e_i s_i. For a secret of
    /// mean 1/2 (`centred`, binary) their expectation sum e_i / 2 is subtracted from the body. This leaves
    /// a variance of n/48, a quarter of the n/12 of a secret of ones, and so half its standard deviation
    /// (as `CenteredMeanNoiseReduction` in tfhe-rs).
    pub fn to_exponents(&self, log_2n: u32, grid: Grid, centred: bool) -> Exponents {
        let shift = self.log_q - log_2n;
        let mask = (1u32 << log_2n) - 1;
        let mut error = 0i64;
        let a = self
            .a
            .iter()
            .map(|&x| {
                let rounded = match grid {
                    Grid::All => round(x, shift),
                    Grid::Odd => x >> shift | 1,
                };
                error += (i64::from(rounded) << shift) - i64::from(x);
                rounded & mask
            })
            .collect();
        let correction = if centred { error >> 1 } else { 0 };
        let b = i64::from(self.b).wrapping_sub(correction) as u32 & (u32::MAX >> (32 - self.log_q));
        Exponents { a, b: round(b, shift) & mask }
    }
}

/// x / 2^shift to the nearest integer.
fn round(x: u32, shift: u32) -> u32 {
    ((u64::from(x) + ((1 << shift) >> 1)) >> shift) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> SwitchedLwe {
        let a: Vec<u32> = (0..500u32).map(|i| i.wrapping_mul(2_654_435_769) >> 16).collect();
        SwitchedLwe { a, b: 12_345, log_q: 16 }
    }

    fn phase(a: &[u32], b: u32, s: impl Fn(usize) -> i64) -> i64 {
        i64::from(b) + a.iter().enumerate().map(|(i, &x)| i64::from(x) * s(i)).sum::<i64>()
    }

    #[test]
    fn rounding_is_to_the_nearest_point_of_the_grid() {
        let x = sample();
        for (grid, unit) in [(Grid::All, 1), (Grid::Odd, 2)] {
            let out = x.to_exponents(11, grid, false);
            for (&exact, &rounded) in x.a.iter().zip(&out.a) {
                assert!(rounded < 2048 && (grid == Grid::All || rounded % 2 == 1));
                let error = (i64::from(rounded) * 32 - i64::from(exact)).rem_euclid(1 << 16);
                assert!(error.min((1 << 16) - error) <= 16 * unit, "{exact} to {rounded}");
            }
        }
        let same = SwitchedLwe { a: alloc::vec![0, 1, 2047], b: 2047, log_q: 11 };
        let out = same.to_exponents(11, Grid::All, true);
        assert_eq!((out.a, out.b), (same.a, same.b));
    }

    /// The mean error of the phase over all secrets of a family is gone when centred.
    #[test]
    fn centring_removes_the_mean() {
        let x = sample();
        for grid in [Grid::All, Grid::Odd] {
            let mean = |centred: bool| {
                let out = x.to_exponents(11, grid, centred);
                // A secret and its complement: the mean over the two is that over all secrets.
                let errors = [0, 1].map(|flip| {
                    let s = |i: usize| ((i * i / 7 + flip) % 2) as i64;
                    let error = 32 * phase(&out.a, out.b, s) - phase(&x.a, x.b, s);
                    (error + (1 << 15)).rem_euclid(1 << 16) - (1 << 15)
                });
                (errors[0] + errors[1]) as f64 / 2.0
            };
            assert!(mean(true).abs() <= 17.0, "{}", mean(true));
        }
    }
}
