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
    schemes::{
        ckks::{Ciphertext, CkksContext, Scale},
        set_names::set_name,
    },
    wire::{
        Expect, ObjectKind, frame,
        header::{HEADER_LEN, bad},
    },
};

/// Bytes of metadata: the shape, and what else the scheme states.
pub(super) const METADATA_LEN: usize = 24;

/// Level and components, from which the length of a ciphertext over ring-LWE follows; the first two bytes of its metadata.
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

    /// Bytes of metadata and components.
    pub fn payload_len<W: Word>(self, rlwe: &RlweContext<W>) -> usize {
        METADATA_LEN + self.len(rlwe)
    }

    /// The shape that follows from the length of a frame. A length that no shape has gives the largest shape, so that the frame reader
    /// refuses it.
    ///
    /// # Errors
    /// As [`frame::peek`].
    fn stated<W: Word>(rlwe: &RlweContext<W>, bytes: &[u8]) -> Result<Self, Error> {
        let stated = frame::peek(bytes)?.payload_len;
        let shapes =
            (0..=rlwe.max_level()).flat_map(|level| [2, 3].map(|components| Self { level, components }));
        let mut fitting = shapes.filter(|shape| shape.payload_len(rlwe) as u64 == stated);
        // Where primes are alike, two shapes can have one length: the metadata, checked below, chooses.
        let first = fitting.next();
        let named = |shape: &Self| bytes.get(HEADER_LEN..HEADER_LEN + 2) == Some(&shape.bytes());
        let shape = first.filter(named).or_else(|| fitting.find(named)).or(first);
        Ok(shape.unwrap_or(Self { level: rlwe.max_level(), components: 3 }))
    }

    pub fn bytes(self) -> [u8; 2] {
        [self.level as u8, self.components as u8]
    }

    /// Checks that the metadata state this shape.
    ///
    /// # Errors
    /// [`Error::BadBytes`] naming both.
    fn check(self, metadata: &[u8]) -> Result<(), Error> {
        if metadata.starts_with(&self.bytes()) {
            return Ok(());
        }
        Err(bad(format!(
            "a ciphertext of level {} with {} components was stated, its length is that of level {} with {}",
            metadata[0], metadata[1], self.level, self.components
        )))
    }
}

/// The parts of an untrusted ciphertext that all schemes have.
#[derive(Clone, Copy)]
pub(super) struct Stated<'a> {
    pub shape: Shape,
    pub key_id: [u8; 16],
    metadata: &'a [u8],
    /// The components.
    pub rest: &'a [u8],
}

impl<'a> Stated<'a> {
    /// Reads the frame of a ciphertext of a set, given by its fingerprint.
    ///
    /// # Errors
    /// As [`frame::read`]; [`Error::BadBytes`] for metadata of another shape.
    pub fn read<W: Word>(
        rlwe: &RlweContext<W>,
        kind: ObjectKind,
        fingerprint: [u8; 16],
        bytes: &'a [u8],
    ) -> Result<Self, Error> {
        let shape = Shape::stated(rlwe, bytes)?;
        let payload_len = shape.payload_len(rlwe);
        let frame = frame::read(bytes, &Expect { kind, fingerprint, key_id: None, payload_len })?;
        let (metadata, rest) = frame.payload.split_at(METADATA_LEN);
        shape.check(metadata)?;
        Ok(Self { shape, key_id: frame.header.key_id, metadata, rest })
    }

    /// A byte of the metadata.
    pub fn byte(&self, at: usize) -> u8 {
        self.metadata[at]
    }

    /// The number that begins at byte `at` of the metadata.
    pub fn word(&self, at: usize) -> u64 {
        let mut word = [0; 8];
        word.copy_from_slice(&self.metadata[at..at + 8]);
        u64::from_le_bytes(word)
    }

    /// Checks that the metadata are 0 from byte `from` up to the first number.
    ///
    /// # Errors
    /// [`Error::BadBytes`] if they are not.
    pub fn check_reserved(&self, from: usize) -> Result<(), Error> {
        if self.metadata[from..8].iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        Err(bad("bytes of a ciphertext that are reserved, and must be 0, are not".into()))
    }
}

/// Writes components one after the other.
pub(super) fn write_parts<W: WireWord>(parts: &[Poly<W, Eval>], mut out: &mut [u8]) {
    for part in parts {
        out = write_poly(part, out);
    }
}

/// Reads `components` components.
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
    frame::len(Shape { level, components }.payload_len(context.rlwe()))
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
        return Err(Error::ParamsMismatch(format!(
            "the ciphertext belongs to set {}, and is to be written as one of {}; give its own set",
            set_name(&ciphertext.fingerprint()),
            set_name(&context.fingerprint())
        )));
    }
    let shape = Shape { level: ciphertext.level(), components: ciphertext.components() };
    let len = shape.payload_len(context.rlwe());
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
    let stated = Stated::read(context.rlwe(), ObjectKind::Ciphertext, context.fingerprint(), bytes)?;
    let (Stated { shape, key_id, rest, .. }, level) = (stated, stated.shape.level);
    stated.check_reserved(2)?;
    let log_q = context.rlwe().q(level).log2();
    let scale = Scale::from_parts(f64::from_bits(stated.word(8)), f64::from_bits(stated.word(16)))
        .filter(|s| s.log2() >= 0.0 && s.log2() <= 2.0 * log_q + 64.0)
        .ok_or_else(|| bad(format!("the scale is not one a modulus of 2^{log_q:.1} can carry")))?;
    let parts = read_parts(context.rlwe().q(level), shape.components, rest)?;
    Ok(Ciphertext { fingerprint: context.fingerprint(), key_id, level, scale, parts })
}
