//! Digits of residues modulo one prime.

use alloc::format;

use crate::{
    arith::{DigitCut, Modulus, Word},
    error::Error,
};

/// The gadget vector g_k = 2^(delta + k beta), k < d, modulo a prime p < 2^L, where the lowest
/// delta = L - d beta bits are rounded away.
///
/// The digits of x are integers in [-B/2, B/2], B = 2^beta, with sum_k digit_k g_k = c + e for the
/// representative c of x in (-p/2, p/2] and |e| <= 2^(delta - 1).
#[derive(Debug, Clone, Copy)]
pub struct Gadget<W: Word> {
    modulus: Modulus<W>,
    cut: DigitCut<W>,
}

impl<W: Word> Gadget<W> {
    /// `digits` digits of `base_log` bits each, for a modulus of at least as many bits as all of them.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there is no digit, one has no bits, they exceed the modulus, or the
    /// modulus leaves no room in the word (two bits).
    pub fn new(modulus: Modulus<W>, base_log: u32, digits: usize) -> Result<Self, Error> {
        let bits = u64::BITS - modulus.value_u64().leading_zeros();
        let taken = digits.saturating_mul(base_log as usize);
        if digits == 0 || base_log == 0 || taken > bits as usize || bits + 2 > W::BITS {
            return Err(Error::InvalidArgument(format!(
                "{digits} digits of {base_log} bits for a modulus of {bits} bits in words of {}; take at least one \
                 digit of at least one bit, {bits} bits in all at most, and two bits less than the word",
                W::BITS
            )));
        }
        let drop = bits - taken as u32;
        // Half a unit of the lowest digit kept, and half the base for every digit.
        let halves: u64 = (0..digits as u32).map(|k| 1 << (drop + k * base_log + base_log - 1)).sum();
        let half = modulus.value_u64() / 2;
        let cut = DigitCut {
            p: modulus.value(),
            half: W::from_u64(half),
            bias: W::from_u64(((1 << drop) >> 1) + halves - half),
            drop,
            base_log,
            digits,
        };
        Ok(Self { modulus, cut })
    }

    /// beta, the bits of a digit.
    pub fn base_log(&self) -> u32 {
        self.cut.base_log
    }

    /// d, the number of digits.
    pub fn digits(&self) -> usize {
        self.cut.digits
    }

    /// delta, the bits rounded away.
    pub fn drop(&self) -> u32 {
        self.cut.drop
    }

    /// g_k modulo p.
    pub fn factor(&self, k: usize) -> W {
        self.modulus.reduce_u64(1 << (self.drop() + k as u32 * self.base_log()))
    }

    /// How the kernels cut digits.
    pub fn cut(&self) -> &DigitCut<W> {
        &self.cut
    }

    /// The digits of a row of n residues as residues: `out` is `[digit][n]`, lowest digit first.
    pub fn decompose(&self, row: &[W], out: &mut [W]) {
        debug_assert_eq!(out.len(), self.digits() * row.len());
        W::gate_kernels().digits(&self.cut, out, row);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn check<W: Word>(p: u64, base_log: u32, digits: usize) {
        let m = Modulus::<W>::new(p).unwrap();
        let gadget = Gadget::new(m, base_log, digits).unwrap();
        let edges = [0, 1, 2, p / 2 - 1, p / 2, p / 2 + 1, p - 2, p - 1];
        let many = (0..2000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % p);
        let row: vec::Vec<W> = edges.into_iter().chain(many).map(W::from_u64).collect();
        let mut out = vec![W::ZERO; digits * row.len()];
        gadget.decompose(&row, &mut out);
        for (j, &x) in row.iter().enumerate() {
            let mut sum = 0i128;
            for k in 0..digits {
                let digit = m.centered(out[k * row.len() + j]);
                assert!(digit.unsigned_abs() <= 1 << (base_log - 1), "digit {digit}");
                sum += i128::from(digit) << (gadget.drop() + k as u32 * base_log);
            }
            let error = sum - i128::from(m.centered(x));
            assert!(error.unsigned_abs() << 1 <= 1 << gadget.drop(), "{x} modulo {p}: off by {error}");
        }
    }

    #[test]
    fn digits_add_up_to_the_residue() {
        for (base_log, digits) in [(8, 2), (7, 3), (9, 3), (1, 27), (27, 1), (4, 4)] {
            check::<u32>(134_215_681, base_log, digits);
            check::<u64>(134_215_681, base_log, digits);
        }
        check::<u32>(1_073_692_673, 9, 2);
        check::<u32>(7681, 13, 1);
        check::<u64>(1_125_899_904_679_937, 23, 1);
        check::<u64>(1_125_899_904_679_937, 10, 5);
    }

    #[test]
    fn impossible_gadgets_are_refused() {
        let m = Modulus::<u32>::new(134_215_681).unwrap();
        for (base_log, digits) in [(0, 2), (8, 0), (14, 2), (28, 1), (8, usize::MAX)] {
            assert_eq!(Gadget::new(m, base_log, digits).unwrap_err().code(), "INVALID_ARGUMENT");
        }
        let wide = Modulus::<u32>::new(2_147_483_647).unwrap();
        assert!(
            Gadget::new(wide, 8, 2).is_err()
                && Gadget::new(Modulus::<u64>::new(2_147_483_647).unwrap(), 8, 2).is_ok()
        );
    }
}
