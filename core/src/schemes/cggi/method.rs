//! The methods of blind rotation, and what each asks of a set.

use alloc::format;

use crate::{error::Error, security::LweSecret};

/// Largest number of steps that keys can merge.
pub(super) const MAX_MERGED: usize = 16;

/// Largest number of bits in a digit of exponents.
const MAX_EXPONENT_DIGIT: u32 = 8;

/// How the accumulator is rotated by the encrypted phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RotationMethod {
    /// CGGI's selection by the bits of a binary key, one external product a coordinate (ASIACRYPT
    /// 2016, §4).
    GinxBinary,
    /// The same by two coordinates of a binary key at once, four keys a pair: half the products, and twice the key (Bourse,
    /// Minelli, Minihold, Paillier, CRYPTO 2018).
    GinxUnrolled,
    /// The same for a ternary key, two keys a coordinate.
    GinxTernary,
    /// By automorphisms, for any key (Lee et al., EUROCRYPT 2023).
    Lmkcdey {
        /// g, 1 to 16: steps in the sequence of powers that the key of a coordinate can skip; 1 as published.
        merged: usize,
    },
    /// The same on NTRU samples (after Xiang et al., CRYPTO 2023): half the transforms, and another assumption.
    /// Experimental.
    Ntru {
        /// As for LMKCDEY.
        merged: usize,
    },
    /// By the digits of the masks, with one key for each value of each digit, for any key (Ducas, Micciancio, EUROCRYPT 2015): the method
    /// published first, with keys of gigabytes.
    Ap {
        /// log2 of the base of the digits, 1 to 8.
        base_log: u32,
    },
}

impl RotationMethod {
    /// Stable name, as listed by programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::GinxBinary => "ginx-binary",
            Self::GinxUnrolled => "ginx-unrolled",
            Self::GinxTernary => "ginx-ternary",
            Self::Lmkcdey { .. } => "lmkcdey",
            Self::Ntru { .. } => "ntru",
            Self::Ap { .. } => "ap",
        }
    }

    /// Steps in the sequence of powers that the key of a coordinate can skip; 1 for methods without automorphisms.
    pub fn merged(self) -> usize {
        match self {
            Self::Lmkcdey { merged } | Self::Ntru { merged } => merged,
            Self::GinxBinary | Self::GinxUnrolled | Self::GinxTernary | Self::Ap { .. } => 1,
        }
    }

    /// Whether the accumulator is turned by automorphisms, which takes odd masks.
    pub fn by_automorphisms(self) -> bool {
        matches!(self, Self::Lmkcdey { .. } | Self::Ntru { .. })
    }

    /// Bits of the digits of exponents modulo 2^`log_2n`, lowest first; none unless the method takes digits.
    pub fn exponent_digits(self, log_2n: u32) -> impl Iterator<Item = u32> {
        let (total, base_log) = match self {
            Self::Ap { base_log } => (log_2n, base_log),
            _ => (0, 1),
        };
        (0..total.div_ceil(base_log)).map(move |j| base_log.min(total - j * base_log))
    }

    /// Checks what the method requires of the short key and of its own numbers.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers that do not fit.
    pub(super) fn check(self, secret: LweSecret, dimension: usize) -> Result<(), Error> {
        let (fits, wanted) = match self {
            Self::GinxBinary => (secret == LweSecret::Binary, "a binary short key"),
            Self::GinxUnrolled => (
                secret == LweSecret::Binary && dimension.is_multiple_of(2),
                "a binary short key of even dimension",
            ),
            Self::GinxTernary => (secret == LweSecret::Ternary, "a ternary short key"),
            Self::Lmkcdey { merged } | Self::Ntru { merged } => {
                ((1..=MAX_MERGED).contains(&merged), "1 to 16 merged steps")
            }
            Self::Ap { base_log } => ((1..=MAX_EXPONENT_DIGIT).contains(&base_log), "digits of 1 to 8 bits"),
        };
        if fits {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "{self:?} with a {secret} short key of dimension {dimension}; {} takes {wanted}",
            self.name()
        )))
    }

    /// Numbers that enter the fingerprint.
    pub(super) fn words(self) -> [u64; 2] {
        match self {
            Self::GinxBinary => [1, 0],
            Self::GinxTernary => [2, 0],
            Self::Lmkcdey { merged } => [3, merged as u64],
            Self::Ntru { merged } => [4, merged as u64],
            Self::Ap { base_log } => [5, base_log.into()],
            Self::GinxUnrolled => [6, 0],
        }
    }
}
