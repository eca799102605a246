//! Parts of the evaluation keys of conventional CKKS sets: the first components of a run of samples of one switching key.

use alloc::{format, vec::Vec};

use super::{
    parts::PartFrame,
    rows::{WireWord, check_poly, poly_len, read_poly, write_poly},
};
use crate::{
    bootstrapping::ckks_conventional::{
        ConventionalKeyPart, ConventionalKeysBuilder, ConventionalParams, ConventionalSecretKey,
    },
    error::Error,
    wire::ObjectKind,
};

fn part_of<W: WireWord>(params: &ConventionalParams<W>, index: usize) -> Result<&ConventionalKeyPart, Error> {
    params.key_parts().get(index).ok_or_else(|| {
        Error::InvalidArgument(format!(
            "part {index} asked of set {}, which has parts 0 to {}",
            params.name(),
            params.key_parts().len() - 1
        ))
    })
}

fn frame_of<W: WireWord>(
    params: &ConventionalParams<W>,
    key_id: [u8; 16],
    part: &ConventionalKeyPart,
) -> PartFrame {
    PartFrame {
        kind: ObjectKind::ConventionalKeyPart,
        noun: "part",
        fingerprint: params.fingerprint(),
        key_id,
        index: part.index,
        residues: part.count * poly_len(params.key_basis(part.key)),
    }
}

impl<W: WireWord> ConventionalSecretKey<W> {
    /// Makes one part of the evaluation keys, in wire form, in the memory of that part and of two samples. The same key and
    /// index give the same bytes, so an interrupted upload needs no memory of what was sent.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a part the set does not have.
    pub fn key_part(&self, index: usize) -> Result<Vec<u8>, Error> {
        let params = self.params();
        let part = part_of(params, index)?;
        let frame = frame_of(params, self.key_id(), part);
        Ok(frame.write(self.public_seed(), |mut rest| {
            self.for_each_sample(part.key, part.first..part.first + part.count, &mut |_, sample| {
                rest = write_poly(&sample.b, core::mem::take(&mut rest));
            });
        }))
    }
}

impl<W: WireWord> ConventionalKeysBuilder<W> {
    /// Takes one untrusted part in wire form, checks it and expands it into place.
    ///
    /// # Errors
    /// [`Error::BadBytes`] or [`Error::ParamsMismatch`] for bytes that do not conform;
    /// [`Error::InvalidArgument`] for a part the set does not have.
    pub fn add(&mut self, index: usize, bytes: &[u8]) -> Result<(), Error> {
        let params = self.params().clone();
        let part = part_of(&params, index)?;
        let (seed, residues) = frame_of(&params, self.key_id(), part).read(bytes)?;
        let basis = params.key_basis(part.key);
        let each = poly_len(basis);
        self.add_samples(part, &seed, |i| read_poly(basis, &residues[i * each..]).map(|(poly, _)| poly))
    }
}

/// Checks one untrusted part in full, residues included, in the memory of one row.
///
/// # Errors
/// As [`ConventionalKeysBuilder::add`].
pub fn verify_conventional_part<W: WireWord>(
    params: &ConventionalParams<W>,
    key_id: [u8; 16],
    index: usize,
    bytes: &[u8],
) -> Result<(), Error> {
    let part = part_of(params, index)?;
    let (_, mut rest) = frame_of(params, key_id, part).read(bytes)?;
    let mut scratch: Vec<W> = Vec::new();
    for _ in 0..part.count {
        rest = check_poly(params.key_basis(part.key), rest, &mut scratch)?;
    }
    Ok(())
}
