//! CKKS ciphertexts.
//!
//! Payload: level u8, components u8, six zero bytes, scale as two f64, then the components row by
//! row. The length is a function of level and components alone.

use alloc::{format, vec::Vec};

use super::rows::{WireWord, poly_len, read_poly, write_poly};
use crate::{
    arith::Word,
    error::Error,
    ring::{Basis, Eval, Poly},
    rlwe::RlweContext,
    schemes::ckks::{Ciphertext, CkksContext, Scale},
    wire::{
        Expect, ObjectKind, frame,
        header::{HEADER_LEN, bad},
    },
};

const METADATA_LEN: usize = 24;

/// What the length of a ciphertext over ring-LWE follows from; the first two bytes of its metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub level: usize,
    pub components: usize,
}

impl Shape {
    /// Bytes of the components.
    pub fn len<W: Word>(self, rlwe: &RlweContext<W>) -> usize {
        self.components * poly_len(rlwe.q(self.level))
    }

    /// The shape that the length of a frame says, after so many bytes of metadata. A length that no shape has gives the largest,
    /// against which the frame reader refuses it.
    ///
    /// # Errors
    /// As [`frame::peek`].
    pub fn stated<W: Word>(rlwe: &RlweContext<W>, metadata: usize, bytes: &[u8]) -> Result<Self, Error> {
        let stated = frame::peek(bytes)?.payload_len;
        let shapes =
            (0..=rlwe.max_level()).flat_map(|level| [2, 3].map(|components| Self { level, components }));
        let mut fitting = shapes.filter(|shape| (metadata + shape.len(rlwe)) as u64 == stated);
        // Where primes are alike, two shapes can have one length: the metadata, checked below, chooses.
        let first = fitting.next();
        let named = |shape: &Self| bytes.get(HEADER_LEN..HEADER_LEN + 2) == Some(&shape.bytes());
        let shape = first.filter(named).or_else(|| fitting.find(named)).or(first);
        Ok(shape.unwrap_or(Self { level: rlwe.max_level(), components: 3 }))
    }

    fn bytes(self) -> [u8; 2] {
        [self.level as u8, self.components as u8]
    }

    /// That the metadata state this shape.
    ///
    /// # Errors
    /// [`Error::BadBytes`] naming both.
    pub fn check(self, metadata: &[u8]) -> Result<(), Error> {
        if metadata.starts_with(&self.bytes()) {
            return Ok(());
        }
        Err(bad(format!(
            "a ciphertext of level {} with {} components was stated, its length is that of level {} with {}",
            metadata[0], metadata[1], self.level, self.components
        )))
    }
}

/// Writes components one after the other.
pub(super) fn write_parts<W: WireWord>(parts: &[Poly<W, Eval>], mut out: &mut [u8]) {
    for part in parts {
        out = write_poly(part, out);
    }
}

/// Reads so many components.
pub(super) fn read_parts<W: WireWord>(
    basis: &Basis<W>,
    components: usize,
    mut bytes: &[u8],
) -> Result<Vec<Poly<W, Eval>>, Error> {
    let mut parts = Vec::with_capacity(components);
    for _ in 0..components {
        let (poly, left) = read_poly(basis, bytes)?;
        parts.push(poly);
        bytes = left;
    }
    Ok(parts)
}

/// Bytes of a ciphertext on the wire.
pub fn ciphertext_len<W: Word>(context: &CkksContext<W>, level: usize, components: usize) -> usize {
    frame::len(METADATA_LEN + Shape { level, components }.len(context.rlwe()))
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
            "the ciphertext belongs to another parameter set than the one given to encode it; give its own"
                .into(),
        ));
    }
    let shape = Shape { level: ciphertext.level(), components: ciphertext.components() };
    let len = METADATA_LEN + shape.len(context.rlwe());
    let fill = |out: &mut [u8]| {
        let (metadata, rest) = out.split_at_mut(METADATA_LEN);
        let (high, low) = ciphertext.scale().parts();
        metadata[..2].copy_from_slice(&shape.bytes());
        metadata[8..16].copy_from_slice(&high.to_le_bytes());
        metadata[16..24].copy_from_slice(&low.to_le_bytes());
        write_parts(ciphertext.parts(), rest);
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
    let shape = Shape::stated(context.rlwe(), METADATA_LEN, bytes)?;
    let level = shape.level;
    let expect = Expect {
        kind: ObjectKind::Ciphertext,
        fingerprint: context.fingerprint(),
        key_id: None,
        payload_len: METADATA_LEN + shape.len(context.rlwe()),
    };
    let frame = frame::read(bytes, &expect)?;
    let (metadata, rest) = frame.payload.split_at(METADATA_LEN);
    shape.check(metadata)?;
    if metadata[2..8] != [0; 6] {
        return Err(bad("bytes of a ciphertext that are reserved, and must be 0, are not".into()));
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
    let parts = read_parts(context.rlwe().q(level), shape.components, rest)?;
    Ok(Ciphertext { fingerprint: context.fingerprint(), key_id: frame.header.key_id, level, scale, parts })
}
