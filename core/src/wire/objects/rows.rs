//! Rows of residues in and out of bytes.

use alloc::{format, vec, vec::Vec};

use crate::{
    arith::Word,
    error::Error,
    ring::{Basis, Eval, Poly},
    wire::pack::{pack_u32, pack_u64, packed_len, residue_bits, unpack_u32, unpack_u64},
};

/// Words whose rows can be packed.
pub trait WireWord: Word {
    /// As [`pack_u32`].
    fn pack(bits: u32, values: &[Self], out: &mut [u8]);
    /// As [`unpack_u32`].
    ///
    /// # Errors
    /// As [`unpack_u32`].
    fn unpack(bits: u32, modulus: Self, bytes: &[u8], out: &mut [Self]) -> Result<(), Error>;
}

impl WireWord for u32 {
    fn pack(bits: u32, values: &[Self], out: &mut [u8]) {
        pack_u32(bits, values, out);
    }

    fn unpack(bits: u32, modulus: Self, bytes: &[u8], out: &mut [Self]) -> Result<(), Error> {
        unpack_u32(bits, modulus, bytes, out)
    }
}

impl WireWord for u64 {
    fn pack(bits: u32, values: &[Self], out: &mut [u8]) {
        pack_u64(bits, values, out);
    }

    fn unpack(bits: u32, modulus: Self, bytes: &[u8], out: &mut [Self]) -> Result<(), Error> {
        unpack_u64(bits, modulus, bytes, out)
    }
}

/// Bytes of one polynomial: its rows up to the degree, without the zeros after it.
pub(super) fn poly_len<W: Word>(basis: &Basis<W>) -> usize {
    basis.primes().map(|p| packed_len(residue_bits(p), basis.degree())).sum()
}

/// Writes a polynomial row by row and returns what is left of the buffer.
pub(super) fn write_poly<'a, W: WireWord>(poly: &Poly<W, Eval>, mut out: &'a mut [u8]) -> &'a mut [u8] {
    for (i, p) in poly.basis().primes().enumerate() {
        let bits = residue_bits(p);
        let degree = poly.basis().degree();
        let (row, rest) = out.split_at_mut(packed_len(bits, degree));
        W::pack(bits, &poly.row(i)[..degree], row);
        out = rest;
    }
    out
}

/// Reads a polynomial and returns what is left of the bytes.
pub(super) fn read_poly<'a, W: WireWord>(
    basis: &Basis<W>,
    bytes: &'a [u8],
) -> Result<(Poly<W, Eval>, &'a [u8]), Error> {
    let mut data = vec![W::ZERO; basis.len() * basis.n()];
    let rest = read_rows(basis, bytes, |i, unpack| unpack(&mut data[i * basis.n()..][..basis.degree()]))?;
    Ok((Poly::from_rows(basis, data), rest))
}

/// Checks a polynomial without keeping it; `scratch` has one row.
pub(super) fn check_poly<'a, W: WireWord>(
    basis: &Basis<W>,
    bytes: &'a [u8],
    scratch: &mut Vec<W>,
) -> Result<&'a [u8], Error> {
    scratch.resize(basis.degree(), W::ZERO);
    read_rows(basis, bytes, |_, unpack| unpack(scratch))
}

fn read_rows<'a, W: WireWord>(
    basis: &Basis<W>,
    mut bytes: &'a [u8],
    mut row: impl FnMut(usize, &dyn Fn(&mut [W]) -> Result<(), Error>) -> Result<(), Error>,
) -> Result<&'a [u8], Error> {
    for i in 0..basis.len() {
        let modulus = basis.modulus(i).value();
        let bits = residue_bits(modulus.to_u64());
        let Some((packed, rest)) = bytes.split_at_checked(packed_len(bits, basis.degree())) else {
            return Err(Error::BadBytes(format!(
                "{} bytes left where row {i} of {} needs {}",
                bytes.len(),
                basis.len(),
                packed_len(bits, basis.degree())
            )));
        };
        row(i, &|out| W::unpack(bits, modulus, packed, out))?;
        bytes = rest;
    }
    Ok(bytes)
}
