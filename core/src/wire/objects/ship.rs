//! Chunks of SHIP evaluation keys: public seed, index of the chunk as u64, then the first components
//! of the chunk's samples.

use alloc::{format, vec::Vec};

use super::{
    keys::seed_from,
    rows::{WireWord, check_poly, poly_len, read_poly, write_poly},
};
use crate::{
    bootstrapping::ckks_ship::{
        KeyPart, PART_OVERHEAD, ShipKeysBuilder, ShipParams, ShipSecretKey, key_id_of,
    },
    error::Error,
    ring::{Basis, Eval, Poly},
    wire::{Expect, Frame, ObjectKind, frame},
};

const SEED_LEN: usize = 32;
const PREFIX_LEN: usize = SEED_LEN + 8;

/// Moduli of a chunk's samples, in order.
fn sample_bases<'a, W: WireWord>(
    params: &'a ShipParams<W>,
    part: &'a KeyPart,
) -> impl Iterator<Item = &'a Basis<W>> {
    part.segments.iter().flat_map(|s| core::iter::repeat_n(params.block_basis(s.block), s.count))
}

fn payload_len<W: WireWord>(params: &ShipParams<W>, part: &KeyPart) -> usize {
    PREFIX_LEN + sample_bases(params, part).map(poly_len).sum::<usize>()
}

fn part_of<W: WireWord>(params: &ShipParams<W>, index: usize) -> Result<&KeyPart, Error> {
    params.key_parts().get(index).ok_or_else(|| {
        Error::InvalidArgument(format!(
            "chunk {index} asked of set {}, which has chunks 0 to {}",
            params.name(),
            params.key_parts().len() - 1
        ))
    })
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
        let len = payload_len(params, part);
        debug_assert_eq!(len + PART_OVERHEAD - PREFIX_LEN, part.bytes);
        let mut outcome = Ok(());
        let fill = |out: &mut [u8]| {
            let (prefix, mut rest) = out.split_at_mut(PREFIX_LEN);
            prefix[..SEED_LEN].copy_from_slice(self.public_seed().as_bytes());
            prefix[SEED_LEN..].copy_from_slice(&(index as u64).to_le_bytes());
            for &segment in &part.segments {
                let made = self.for_each_sample(segment, &mut |_, sample| {
                    rest = write_poly(&sample.b, core::mem::take(&mut rest));
                });
                outcome = outcome.clone().and(made);
            }
        };
        let (fingerprint, key_id) = (params.fingerprint(), self.key_id());
        let bytes = frame::write_with(ObjectKind::ShipKeyPart, fingerprint, key_id, len, fill);
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
        let frame = open(&params, self.key_id(), part, bytes)?;
        let mut samples: Vec<Poly<W, Eval>> = Vec::new();
        let mut rest = &frame.payload[PREFIX_LEN..];
        for basis in sample_bases(&params, part) {
            let (poly, left) = read_poly(basis, rest)?;
            samples.push(poly);
            rest = left;
        }
        self.add_samples(index, &seed_from(frame.payload), samples)
    }
}

/// Checks one untrusted chunk in full, residues included, in the memory of one row.
///
/// # Errors
/// As [`ShipKeysBuilder::add`].
pub fn verify_part<W: WireWord>(
    params: &ShipParams<W>,
    key_id: [u8; 16],
    index: usize,
    bytes: &[u8],
) -> Result<(), Error> {
    let part = part_of(params, index)?;
    let frame = open(params, key_id, part, bytes)?;
    let mut scratch: Vec<W> = Vec::new();
    let mut rest = &frame.payload[PREFIX_LEN..];
    for basis in sample_bases(params, part) {
        rest = check_poly(basis, rest, &mut scratch)?;
    }
    Ok(())
}

/// The frame of a chunk, its public seed checked against the key id.
fn open<'a, W: WireWord>(
    params: &ShipParams<W>,
    key_id: [u8; 16],
    part: &KeyPart,
    bytes: &'a [u8],
) -> Result<Frame<'a>, Error> {
    let expect = Expect {
        kind: ObjectKind::ShipKeyPart,
        fingerprint: params.fingerprint(),
        key_id: Some(key_id),
        payload_len: payload_len(params, part),
    };
    let frame = frame::read(bytes, &expect)?;
    let (prefix, _) = frame.payload.split_at(PREFIX_LEN);
    if prefix[SEED_LEN..] != (part.index as u64).to_le_bytes() {
        let mut stated = [0; 8];
        stated.copy_from_slice(&prefix[SEED_LEN..]);
        return Err(Error::BadBytes(format!(
            "these are the bytes of chunk {}, chunk {} was expected; send each chunk under its own index",
            u64::from_le_bytes(stated),
            part.index
        )));
    }
    if key_id_of(params, &seed_from(frame.payload)) != key_id {
        return Err(Error::ParamsMismatch(
            "the chunk's public seed does not belong to its key id; make the chunk again".into(),
        ));
    }
    Ok(frame)
}
