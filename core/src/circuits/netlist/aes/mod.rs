//! AES-128 (FIPS 197) on bits: the S-box, one round, and the cipher with its key schedule.
//!
//! In bootstrappings and levels: the S-box 94 and 26, a round 1,936 and 29, the cipher with its key
//! schedule 23,496 and 299.
//!
//! Bit 8 i + j of a block or key is bit j, of value 2^j, of its byte i, as FIPS 197 counts bytes.

mod sbox;

use alloc::vec::Vec;

use super::{Bit, Builder, Netlist};
use crate::error::Error;

/// A byte, bit 0 the least significant.
type Byte = [Bit; 8];

/// Rounds of AES-128.
const ROUNDS: usize = 10;

/// Inputs `x[0..8]`; outputs `y[0..8]`, the S-box of x.
///
/// # Errors
/// None; the limits of a netlist are wider.
pub fn sbox_netlist() -> Result<Netlist, Error> {
    built(|builder| {
        let inputs = bytes(&builder.inputs("x", 8));
        let outputs: Vec<Byte> = inputs.into_iter().map(|byte| sbox::sbox(builder, byte)).collect();
        builder.outputs("y", &outputs.concat());
    })
}

/// Any round but the last: inputs `state[0..128]` and `key[0..128]`, the round key; outputs `next[0..128]`: SubBytes, ShiftRows,
/// MixColumns, AddRoundKey.
///
/// # Errors
/// None; the limits of a netlist are wider.
pub fn round_netlist() -> Result<Netlist, Error> {
    built(|builder| {
        let (state, key) = (bytes(&builder.inputs("state", 128)), bytes(&builder.inputs("key", 128)));
        let next = round(builder, &state, &key, true);
        builder.outputs("next", &next.concat());
    })
}

/// The cipher: inputs `block[0..128]` and `key[0..128]`; outputs `cipher[0..128]`. Round keys are
/// computed in the circuit: 200 S-boxes in all.
///
/// # Errors
/// None; the limits of a netlist are wider.
pub fn cipher_netlist() -> Result<Netlist, Error> {
    built(|builder| {
        let (block, key) = (bytes(&builder.inputs("block", 128)), bytes(&builder.inputs("key", 128)));
        let mut state = add(builder, &block, &key);
        let (mut key, mut constant) = (key, 1);
        for number in 1..=ROUNDS {
            key = next_key(builder, &key, constant);
            constant = constant << 1 ^ if constant & 0x80 == 0 { 0 } else { 0x11b };
            state = round(builder, &state, &key, number < ROUNDS);
        }
        builder.outputs("cipher", &state.concat());
    })
}

fn built(make: impl FnOnce(&mut Builder)) -> Result<Netlist, Error> {
    let mut builder = Builder::new();
    make(&mut builder);
    builder.finish()
}

fn bytes(bits: &[Bit]) -> Vec<Byte> {
    let (bytes, _) = bits.as_chunks::<8>();
    bytes.to_vec()
}

fn add(builder: &mut Builder, x: &[Byte], y: &[Byte]) -> Vec<Byte> {
    x.iter().zip(y).map(|(x, y)| core::array::from_fn(|j| builder.xor(x[j], y[j]))).collect()
}

fn round(builder: &mut Builder, state: &[Byte], key: &[Byte], mix: bool) -> Vec<Byte> {
    let substituted: Vec<Byte> = state.iter().map(|&byte| sbox::sbox(builder, byte)).collect();
    // Byte 4 c + r is row r of column c; row r is shifted left by r.
    let shifted: Vec<Byte> = (0..16).map(|i| substituted[(i + 4 * (i % 4)) % 16]).collect();
    let mixed = if mix { mix_columns(builder, &shifted) } else { shifted };
    add(builder, &mixed, key)
}

/// 2 a_r + 3 a_{r+1} + a_{r+2} + a_{r+3} = a_r + (a_0 + a_1 + a_2 + a_3) + 2 (a_r + a_{r+1}).
fn mix_columns(builder: &mut Builder, state: &[Byte]) -> Vec<Byte> {
    let mut mixed = Vec::with_capacity(16);
    for column in state.chunks(4) {
        let pairs = add(builder, column, &[column[1], column[2], column[3], column[0]]);
        for r in 0..4 {
            // The sum without a_r: a_{r+1}, plus a_{r+2} + a_{r+3}, which is already one of the pairs.
            let rest = (column[(r + 1) % 4], pairs[(r + 2) % 4]);
            let double = double(builder, pairs[r]);
            mixed.push(core::array::from_fn(|j| builder.xor3(rest.0[j], rest.1[j], double[j])));
        }
    }
    mixed
}

/// 2 x modulo x^8 + x^4 + x^3 + x + 1.
fn double(builder: &mut Builder, x: Byte) -> Byte {
    core::array::from_fn(|j| match j {
        0 => x[7],
        1 | 3 | 4 => builder.xor(x[j - 1], x[7]),
        _ => x[j - 1],
    })
}

fn next_key(builder: &mut Builder, key: &[Byte], constant: u32) -> Vec<Byte> {
    let mut last: Vec<Byte> = (0..4).map(|i| sbox::sbox(builder, key[12 + (i + 1) % 4])).collect();
    for (j, bit) in last[0].iter_mut().enumerate() {
        *bit = builder.xor(*bit, Bit::Constant(constant >> j & 1 == 1));
    }
    let mut next: Vec<Byte> = Vec::with_capacity(16);
    for word in key.chunks(4) {
        last = add(builder, word, &last);
        next.extend_from_slice(&last);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::super::{Clear, Kind, Plan};
    use super::*;

    fn multiply(mut x: u8, mut y: u8) -> u8 {
        let mut product = 0;
        while y != 0 {
            product ^= if y & 1 == 1 { x } else { 0 };
            x = (x << 1) ^ if x & 0x80 == 0 { 0 } else { 0x1b };
            y >>= 1;
        }
        product
    }

    /// FIPS 197, 5.1.1: the inverse in the field of 256 elements (0 for 0), then the affine map.
    fn sbox_of(x: u8) -> u8 {
        let inverse = (0..=255).find(|&y| multiply(x, y) == 1).unwrap_or(0);
        (0..5).fold(0x63, |sum, k| sum ^ inverse.rotate_left(k))
    }

    fn run(plan: &Plan, bytes: &[u8]) -> Vec<u8> {
        let bits: Vec<bool> = bytes.iter().flat_map(|byte| (0..8).map(move |j| byte >> j & 1 == 1)).collect();
        let found = plan.run(&Clear, &bits, &mut ()).unwrap();
        found.chunks(8).map(|byte| (0..8).fold(0, |value, j| value | u8::from(byte[j]) << j)).collect()
    }

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
    }

    #[test]
    fn the_sbox_is_the_inverse_and_the_affine_map() {
        let plan = sbox_netlist().unwrap().plan();
        for x in 0..=255 {
            assert_eq!(run(&plan, &[x]), [sbox_of(x)], "S-box of {x:#04x}");
        }
        let counts = [Kind::And, Kind::Xor, Kind::Xor3].map(|kind| plan.count(kind));
        assert_eq!((counts, plan.bootstraps(), plan.depth()), ([32, 34, 28], 94, 26));
    }

    /// FIPS 197, appendix B: the states around round 1.
    #[test]
    fn a_round_is_that_of_the_standard() {
        let (start, key) = ("193de3bea0f4e22b9ac68d2ae9f84808", "a0fafe1788542cb123a339392a6c7605");
        let plan = round_netlist().unwrap().plan();
        assert_eq!(run(&plan, &hex(&[start, key].concat())), hex("a49c7ff2689f352b6b5bea43026a5049"));
        assert_eq!((plan.bootstraps(), plan.depth()), (1936, 29));
    }

    /// FIPS 197, appendices B and C.1, and the zero block under the zero key.
    #[test]
    fn the_cipher_is_that_of_the_standard() {
        let plan = cipher_netlist().unwrap().plan();
        let vectors = [
            (
                "3243f6a8885a308d313198a2e0370734",
                "2b7e151628aed2a6abf7158809cf4f3c",
                "3925841d02dc09fbdc118597196a0b32",
            ),
            (
                "00112233445566778899aabbccddeeff",
                "000102030405060708090a0b0c0d0e0f",
                "69c4e0d86a7b0430d8cdb78070b4c55a",
            ),
            (
                "00000000000000000000000000000000",
                "00000000000000000000000000000000",
                "66e94bd4ef8a2c3b884cfa59ca342b2e",
            ),
        ];
        for (block, key, cipher) in vectors {
            assert_eq!(run(&plan, &hex(&[block, key].concat())), hex(cipher));
        }
        assert_eq!((plan.count(Kind::And), plan.bootstraps(), plan.depth()), (200 * 32, 23_496, 299));
    }
}
