//! Residues packed to the bit length of their modulus.
//!
//! The values of a row follow each other without gaps, least significant bit first; the unused high
//! bits of the last byte are zero.

use alloc::format;

use super::header::bad;
use crate::error::Error;

/// Bits of a residue modulo `modulus`: `ceil(log2 modulus)`, at least 1.
pub const fn residue_bits(modulus: u64) -> u32 {
    let bits = u64::BITS - modulus.saturating_sub(1).leading_zeros();
    if bits == 0 { 1 } else { bits }
}

/// Bytes that `n` values of `bits` bits take.
///
/// # Panics
/// If the bit count does not fit a `usize`, which no row of this library approaches.
pub const fn packed_len(bits: u32, n: usize) -> usize {
    match n.checked_mul(bits as usize) {
        Some(total) => total.div_ceil(8),
        None => panic!("a row of this size cannot be packed"),
    }
}

macro_rules! packing {
    ($word:ty, $wide:ty, $pack:ident, $unpack:ident) => {
        /// Packs `values`, each below `2^bits`, into `out`, which holds [`packed_len`] bytes.
        /// Higher bits are cut off.
        ///
        /// # Panics
        /// If `bits` is not 1 to the width of a word, or `out` has another length.
        pub fn $pack(bits: u32, values: &[$word], out: &mut [u8]) {
            const WORD_BYTES: usize = <$word>::BITS as usize / 8;
            assert!((1..=<$word>::BITS).contains(&bits), "a residue has 1 to {} bits", <$word>::BITS);
            assert_eq!(out.len(), packed_len(bits, values.len()), "length of the packed row");
            let mask = <$word>::MAX >> (<$word>::BITS - bits);
            let (mut held, mut filled): ($wide, u32) = (0, 0);
            let mut at = 0;
            for &value in values {
                held |= <$wide>::from(value & mask) << filled;
                filled += bits;
                if filled >= <$word>::BITS {
                    out[at..at + WORD_BYTES].copy_from_slice(&(held as $word).to_le_bytes());
                    at += WORD_BYTES;
                    held >>= <$word>::BITS;
                    filled -= <$word>::BITS;
                }
            }
            let rest = &mut out[at..];
            rest.copy_from_slice(&(held as $word).to_le_bytes()[..rest.len()]);
        }

        /// Unpacks `out.len()` residues modulo `modulus`. The time depends on the lengths only.
        ///
        /// # Errors
        /// [`Error::BadBytes`] if `bytes` is not [`packed_len`] bytes long, if a residue is not
        /// below the modulus, or if a padding bit is set; `out` is then unspecified.
        /// [`Error::InvalidArgument`] if `bits` is not 1 to the width of a word.
        pub fn $unpack(bits: u32, modulus: $word, bytes: &[u8], out: &mut [$word]) -> Result<(), Error> {
            const WIDE_BYTES: usize = <$wide>::BITS as usize / 8;
            if !(1..=<$word>::BITS).contains(&bits) {
                return Err(Error::InvalidArgument(format!(
                    "{bits} bits a residue; it must be 1 to {}",
                    <$word>::BITS
                )));
            }
            let expected = packed_len(bits, out.len());
            if bytes.len() != expected {
                return Err(bad(format!(
                    "{} residues of {bits} bits take {expected} bytes, and {} were given",
                    out.len(),
                    bytes.len()
                )));
            }
            let mask = <$word>::MAX >> (<$word>::BITS - bits);
            let mut fits = true;
            let mut take = |window: [u8; WIDE_BYTES], shift: usize, value: &mut $word| {
                *value = (<$wide>::from_le_bytes(window) >> shift) as $word & mask;
                fits &= *value < modulus;
            };
            // Values whose window of a double word lies inside the row, then the last few.
            let inside = (8 * bytes.len()).saturating_sub(<$wide>::BITS as usize) / bits as usize;
            let (body, tail) = out.split_at_mut(inside.min(out.len()));
            for (i, value) in body.iter_mut().enumerate() {
                let bit = i * bits as usize;
                let mut window = [0; WIDE_BYTES];
                window.copy_from_slice(&bytes[bit / 8..bit / 8 + WIDE_BYTES]);
                take(window, bit % 8, value);
            }
            for (i, value) in (body.len()..).zip(tail) {
                let bit = i * bits as usize;
                let rest = &bytes[bit / 8..];
                let rest = &rest[..rest.len().min(WIDE_BYTES)];
                let mut window = [0; WIDE_BYTES];
                window[..rest.len()].copy_from_slice(rest);
                take(window, bit % 8, value);
            }
            if !fits {
                let (i, value) = out.iter().enumerate().find(|(_, v)| **v >= modulus).unwrap_or((0, &0));
                return Err(bad(format!("residue {i} is {value}, not below its modulus {modulus}")));
            }
            let used = out.len() * bits as usize % 8;
            let padding = bytes.last().map_or(0, |last| if used == 0 { 0 } else { last >> used });
            if padding != 0 {
                return Err(bad(format!(
                    "the {} padding bits of a packed row are {padding:#x}, not zero",
                    8 - used
                )));
            }
            Ok(())
        }
    };
}

packing!(u32, u64, pack_u32, unpack_u32);
packing!(u64, u128, pack_u64, unpack_u64);

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec, vec::Vec};
    use rand_core::Rng;

    use super::*;
    use crate::random::Seed;

    #[test]
    fn bits_of_a_residue() {
        for (modulus, bits) in
            [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (65536, 16), (65537, 17), (u64::MAX, 64)]
        {
            assert_eq!(residue_bits(modulus), bits, "{modulus}");
        }
        assert_eq!(packed_len(17, 0), 0);
        assert_eq!(packed_len(17, 1), 3);
        assert_eq!(packed_len(17, 8), 17);
    }

    #[test]
    fn the_order_of_bits_is_fixed() {
        let mut out = [0; 3];
        pack_u32(5, &[1, 2, 31, 16], &mut out);
        assert_eq!(out, [0b0100_0001, 0b0111_1100, 0b0000_1000]);
        let mut wide = [0; 3];
        pack_u64(5, &[1, 2, 31, 16], &mut wide);
        assert_eq!(wide, out);
    }

    #[test]
    fn every_width_and_length_comes_back() {
        let mut rng = Seed::from_bytes([1; 32]).stream();
        for bits in 1..=64 {
            for n in [0, 1, 2, 3, 7, 8, 9, 64, 65, 127] {
                let largest = u64::MAX >> (64 - bits);
                let mut values: Vec<u64> = (0..n).map(|_| rng.next_u64() & largest).collect();
                // A residue just below the modulus 2^bits - 1, which is read, and one equal to it, which is refused.
                for (modulus, top) in [(largest.max(1), largest.max(1) - 1), (largest, largest)] {
                    for value in &mut values {
                        *value = (*value).min(top);
                    }
                    if let Some(last) = values.last_mut() {
                        *last = top;
                    }
                    let mut packed = vec![0xff; packed_len(bits, n)];
                    pack_u64(bits, &values, &mut packed);
                    let mut back = vec![1; n];
                    let result = unpack_u64(bits, modulus, &packed, &mut back);
                    assert_eq!(result.is_ok(), n == 0 || top < modulus, "{bits} bits, {n} values");
                    assert_eq!(back, values);
                    if bits <= 32 {
                        let narrow: Vec<u32> = values.iter().map(|&v| v as u32).collect();
                        let mut same = vec![0xff; packed.len()];
                        pack_u32(bits, &narrow, &mut same);
                        assert_eq!(same, packed);
                        let mut back = vec![1; n];
                        let result = unpack_u32(bits, modulus as u32, &packed, &mut back);
                        assert_eq!(result.is_ok(), n == 0 || top < modulus, "{bits} bits, {n} values");
                        assert_eq!(back, narrow);
                    }
                }
            }
        }
    }

    #[test]
    fn a_residue_at_its_modulus_is_refused_wherever_it_stands() {
        let modulus = 557_057;
        let bits = residue_bits(modulus);
        for at in 0..50 {
            for wrong in [modulus, (1 << bits) - 1] {
                let mut values = vec![modulus - 1; 50];
                values[at] = wrong;
                let mut packed = vec![0; packed_len(bits, 50)];
                pack_u64(bits, &values, &mut packed);
                let message = unpack_u64(bits, modulus, &packed, &mut [0; 50]).unwrap_err().to_string();
                assert!(message.contains(&format!("residue {at} is {wrong}")), "{message}");
                let message =
                    unpack_u32(bits, modulus as u32, &packed, &mut [0; 50]).unwrap_err().to_string();
                assert!(message.contains("modulus 557057"), "{message}");
            }
        }
    }

    #[test]
    fn padding_and_lengths_are_checked() {
        let mut packed = vec![0; packed_len(17, 3)];
        pack_u32(17, &[65536, 1, 2], &mut packed);
        for bit in 51..56 {
            let mut damaged = packed.clone();
            damaged[bit / 8] |= 1 << (bit % 8);
            let message = unpack_u32(17, 65537, &damaged, &mut [0; 3]).unwrap_err().to_string();
            assert!(message.contains("5 padding bits"), "{message}");
        }
        for n in [0, 2, 4] {
            let message = unpack_u32(17, 65537, &packed, &mut vec![0; n]).unwrap_err().to_string();
            assert!(message.contains("7 were given"), "{message}");
        }
        assert!(matches!(unpack_u32(33, 1, &[], &mut []), Err(Error::InvalidArgument(_))));
        assert!(matches!(unpack_u64(0, 1, &[], &mut []), Err(Error::InvalidArgument(_))));
    }
}
