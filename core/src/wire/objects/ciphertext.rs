//! CKKS ciphertexts.
//!
//! Payload: level u8, components u8, six zero bytes, scale as two f64, then the components row by
//! row. The length is a function of level and components alone.

use alloc::{format, vec::Vec};

use super::rows::{WireWord, poly_len, read_poly, write_poly};
use crate::{
    arith::Word,
    error::Error,
    schemes::ckks::{Ciphertext, CkksContext, Scale},
    wire::{
        Expect, ObjectKind, frame,
        header::{HEADER_LEN, bad},
    },
};

const METADATA_LEN: usize = 24;

/// Bytes of a ciphertext on the wire.
pub fn ciphertext_len<W: Word>(context: &CkksContext<W>, level: usize, components: usize) -> usize {
    frame::len(payload_len(context, level, components))
}

fn payload_len<W: Word>(context: &CkksContext<W>, level: usize, components: usize) -> usize {
    METADATA_LEN + components * poly_len(context.rlwe().q(level))
}

/// Encodes a ciphertext.
///
/// # Errors
/// [`Error::ParamsMismatch`] if it belongs to another parameter set.
pub fn ciphertext_to_bytes<W: WireWord>(
    context: &CkksContext<W>,
    ciphertext: &Ciphertext<W>,
) -> Result<Vec<u8>, Error> {
    if ciphertext.fingerprint() != context.fingerprint() {
        return Err(Error::ParamsMismatch(
            "the ciphertext belongs to another parameter set than the one given to encode it".into(),
        ));
    }
    let (level, components) = (ciphertext.level(), ciphertext.components());
    let len = payload_len(context, level, components);
    let fill = |out: &mut [u8]| {
        let (metadata, mut rest) = out.split_at_mut(METADATA_LEN);
        let (high, low) = ciphertext.scale().parts();
        metadata[0] = level as u8;
        metadata[1] = components as u8;
        metadata[8..16].copy_from_slice(&high.to_le_bytes());
        metadata[16..24].copy_from_slice(&low.to_le_bytes());
        for part in ciphertext.parts() {
            rest = write_poly(part, rest);
        }
    };
    let (fingerprint, key_id) = (ciphertext.fingerprint(), ciphertext.key_id());
    Ok(frame::write_with(ObjectKind::Ciphertext, fingerprint, key_id, len, fill))
}

/// Decodes an untrusted ciphertext of the set, under any key.
///
/// # Errors
/// [`Error::BadBytes`], [`Error::ParamsMismatch`] as the frame reader; [`Error::BadBytes`] for a
/// level, component count, scale or residue the set does not allow.
pub fn ciphertext_from_bytes<W: WireWord>(
    context: &CkksContext<W>,
    bytes: &[u8],
) -> Result<Ciphertext<W>, Error> {
    let stated = frame::peek(bytes)?.payload_len;
    let shapes = (0..=context.rlwe().max_level()).flat_map(|level| [(level, 2), (level, 3)]);
    let mut fitting =
        shapes.filter(|&(level, components)| payload_len(context, level, components) as u64 == stated);
    // Where primes are alike, two shapes can have one length: the metadata, checked below, chooses.
    let first = fitting.next();
    let named = |&(level, components): &(usize, usize)| {
        bytes.get(HEADER_LEN..HEADER_LEN + 2) == Some(&[level as u8, components as u8])
    };
    let shape = first.filter(named).or_else(|| fitting.find(named)).or(first);
    // A length no shape has is refused by the frame reader, against the largest legal one.
    let (level, components) = shape.unwrap_or((context.rlwe().max_level(), 3));
    let expect = Expect {
        kind: ObjectKind::Ciphertext,
        fingerprint: context.fingerprint(),
        key_id: None,
        payload_len: payload_len(context, level, components),
    };
    let frame = frame::read(bytes, &expect)?;
    let (metadata, mut rest) = frame.payload.split_at(METADATA_LEN);
    if (usize::from(metadata[0]), usize::from(metadata[1])) != (level, components) || metadata[2..8] != [0; 6]
    {
        return Err(bad(format!(
            "a ciphertext of level {} with {} components was stated, its length is that of level {level} with \
             {components}",
            metadata[0], metadata[1]
        )));
    }
    let double = |at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&metadata[at..at + 8]);
        f64::from_le_bytes(word)
    };
    let log_q = context.rlwe().q(level).log2();
    let scale = Scale::from_parts(double(8), double(16))
        .filter(|s| s.log2() >= 0.0 && s.log2() <= 2.0 * log_q + 64.0)
        .ok_or_else(|| bad(format!("the scale is not one a modulus of 2^{log_q:.1} can carry")))?;
    let mut parts = Vec::with_capacity(components);
    for _ in 0..components {
        let (poly, left) = read_poly(context.rlwe().q(level), rest)?;
        parts.push(poly);
        rest = left;
    }
    Ok(Ciphertext { fingerprint: context.fingerprint(), key_id: frame.header.key_id, level, scale, parts })
}
