//! Chunks of SHIP evaluation keys: public seed, index of the chunk as u64, then the first components
//! of the chunk's samples.

use alloc::vec::Vec;

use super::{
    part_frame::{PartFrame, no_part},
    rows::{WireWord, poly_len, read_poly, write_poly},
};
use crate::{
    bootstrapping::ckks_ship::{KeyPart, PART_OVERHEAD, ShipKeysBuilder, ShipParams, ShipSecretKey},
    error::Error,
    ring::{Basis, Eval, Poly},
    wire::ObjectKind,
};

/// Moduli of a chunk's samples, in order.
fn sample_bases<'a, W: WireWord>(
    params: &'a ShipParams<W>,
    part: &'a KeyPart,
) -> impl Iterator<Item = &'a Basis<W>> {
    part.segments.iter().flat_map(|s| core::iter::repeat_n(params.block_basis(s.block), s.count))
}

fn frame_of<W: WireWord>(params: &ShipParams<W>, key_id: [u8; 16], part: &KeyPart) -> PartFrame {
    PartFrame {
        kind: ObjectKind::ShipKeyPart,
        noun: "chunk",
        fingerprint: params.fingerprint(),
        key_id,
        index: part.index,
        residues: sample_bases(params, part).map(poly_len).sum(),
    }
}

fn part_of<W: WireWord>(params: &ShipParams<W>, index: usize) -> Result<&KeyPart, Error> {
    let parts = params.key_parts();
    parts.get(index).ok_or_else(|| no_part("chunk", index, params.name(), parts.len()))
}

impl<W: WireWord> ShipSecretKey<W> {
    /// Makes one chunk of the evaluation keys, in wire form. The same key and index give the same
    /// bytes, so an interrupted upload needs no memory of what was sent.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a chunk the set does not have.
    pub fn key_part(&self, index: usize) -> Result<Vec<u8>, Error> {
        let params = self.params();
        let part = part_of(params, index)?;
        let frame = frame_of(params, self.key_id(), part);
        debug_assert_eq!(frame.residues + PART_OVERHEAD, part.bytes);
        let mut outcome = Ok(());
        let bytes = frame.write(self.public_seed(), |mut rest| {
            for &segment in &part.segments {
                let made = self.for_each_sample(segment, &mut |_, sample| {
                    rest = write_poly(&sample.b, core::mem::take(&mut rest));
                });
                outcome = outcome.clone().and(made);
            }
        });
        outcome.map(|()| bytes)
    }
}

impl<W: WireWord> ShipKeysBuilder<W> {
    /// Takes one untrusted chunk in wire form, checks it and expands it into place.
    ///
    /// # Errors
    /// [`Error::BadBytes`] or [`Error::ParamsMismatch`] for bytes that do not conform;
    /// [`Error::InvalidArgument`] for a chunk the set does not have.
    pub fn add(&mut self, index: usize, bytes: &[u8]) -> Result<(), Error> {
        let params = self.params().clone();
        let part = part_of(&params, index)?;
        let (seed, mut rest) = frame_of(&params, self.key_id(), part).read(bytes)?;
        let mut samples: Vec<Poly<W, Eval>> = Vec::new();
        for basis in sample_bases(&params, part) {
            let (poly, left) = read_poly(basis, rest)?;
            samples.push(poly);
            rest = left;
        }
        self.add_samples(index, &seed, samples)
    }
}

/// Checks one untrusted chunk in full, residues included, in the memory of one row.
///
/// # Errors
/// As [`ShipKeysBuilder::add`].
pub fn verify_ship_part<W: WireWord>(
    params: &ShipParams<W>,
    key_id: [u8; 16],
    index: usize,
    bytes: &[u8],
) -> Result<(), Error> {
    let part = part_of(params, index)?;
    frame_of(params, key_id, part).check(bytes, sample_bases(params, part))
}
