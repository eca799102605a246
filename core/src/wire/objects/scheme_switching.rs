//! Parts of the evaluation keys of sets that link numbers to gates. Parts for the numbers are the same as without gates; all others have
//! the same frame: public seed, index of the part as u64, then first components.

use alloc::{vec, vec::Vec};

use super::{
    cggi::{check_residues, row_len, unpack_row},
    key_part::{WireKeySet, verify_key_part},
    part_frame::{PartFrame, no_part},
    rows::{WireWord, check_poly, poly_len, read_poly, write_poly},
};
use crate::{
    bootstrapping::{
        cggi::CggiPackingKeys,
        raising::{RaisingParams, ReductionSpec},
        scheme_switching::{LinkKeyPart, LinkKeysBuilder, LinkParams, LinkPartKind, LinkSecretKey},
    },
    error::Error,
    ring::Basis,
    wire::{ObjectKind, pack::residue_bits},
};

fn part_of<R: ReductionSpec>(params: &LinkParams<R>, index: usize) -> Result<&LinkKeyPart, Error> {
    let parts = params.key_parts();
    parts.get(index).ok_or_else(|| no_part("part", index, params.name(), parts.len()))
}

fn frame_of<R: ReductionSpec>(params: &LinkParams<R>, key_id: [u8; 16], part: &LinkKeyPart) -> PartFrame {
    PartFrame {
        kind: ObjectKind::KeyPart,
        noun: "part",
        fingerprint: params.fingerprint(),
        key_id,
        index: part.index,
        residues: part.residue_bytes(),
    }
}

/// Basis and number of samples of a key between the schemes.
fn link_of<'a, R: ReductionSpec>(
    params: &'a LinkParams<R>,
    kind: &LinkPartKind,
) -> Result<(&'a Basis<u64>, usize), Error> {
    let context = if *kind == LinkPartKind::ToSlots { params.to_slots()? } else { params.to_gates() };
    Ok((context.q0p(), context.digit_count()))
}

impl<R: ReductionSpec> LinkSecretKey<R>
where
    RaisingParams<R, u64>: WireKeySet<Word = u64>,
{
    /// Makes one part of the evaluation keys, in wire form. The same key and index give the same bytes, so an interrupted upload
    /// needs no memory of what was sent.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a part the set does not have.
    pub fn key_part(&self, index: usize) -> Result<Vec<u8>, Error> {
        let params = self.params();
        let part = part_of(params, index)?;
        let frame = frame_of(params, self.key_id(), part);
        let gates = params.cggi();
        match &part.kind {
            LinkPartKind::Slots(own) => self.ckks().key_part(*own),
            LinkPartKind::Gates(own) => {
                Ok(frame.write(self.public_seed(), |rest| self.cggi().write_part(&own.kind, rest)))
            }
            LinkPartKind::Packing(samples) => {
                let body = |index| CggiPackingKeys::body(self.cggi(), index);
                let bodies = (0..*samples).map(body).collect::<Result<Vec<_>, _>>()?;
                let bits = residue_bits(gates.modulus().value_u64());
                Ok(frame.write(self.public_seed(), |rest| {
                    for (body, row) in bodies.iter().zip(rest.chunks_exact_mut(row_len(gates, gates.n()))) {
                        u64::pack(bits, body.row(0), row);
                    }
                }))
            }
            LinkPartKind::ToGates | LinkPartKind::ToSlots => {
                let samples =
                    if part.kind == LinkPartKind::ToSlots { self.to_slots()? } else { self.to_gates()? };
                Ok(frame.write(self.public_seed(), |mut rest| {
                    for sample in &samples {
                        rest = write_poly(&sample.b, core::mem::take(&mut rest));
                    }
                }))
            }
        }
    }
}

impl<R: ReductionSpec> LinkKeysBuilder<R>
where
    RaisingParams<R, u64>: WireKeySet<Word = u64>,
{
    /// Takes one untrusted part in wire form, checks it and expands it into place.
    ///
    /// # Errors
    /// [`Error::BadBytes`] or [`Error::ParamsMismatch`] for bytes that do not conform;
    /// [`Error::InvalidArgument`] for a part the set does not have.
    pub fn add(&mut self, index: usize, bytes: &[u8]) -> Result<(), Error> {
        let params = self.params().clone();
        let part = part_of(&params, index)?;
        if let LinkPartKind::Slots(own) = part.kind {
            self.slots().add(own, bytes)?;
        } else {
            let (seed, rest) = frame_of(&params, self.key_id(), part).read(bytes)?;
            match &part.kind {
                LinkPartKind::Slots(_) => {}
                LinkPartKind::Gates(own) => {
                    let (builder, public) = self.gates(&seed);
                    builder.add_residues(own, &public, rest)?;
                }
                LinkPartKind::Packing(samples) => {
                    let (gates, n) = (params.cggi(), params.cggi().n());
                    let mut bodies = vec![0; samples * n];
                    for (row, out) in rest.chunks_exact(row_len(gates, n)).zip(bodies.chunks_exact_mut(n)) {
                        unpack_row(gates, row, out)?;
                    }
                    self.add_packing(&seed, &bodies)?;
                }
                kind @ (LinkPartKind::ToGates | LinkPartKind::ToSlots) => {
                    let (basis, samples) = link_of(&params, kind)?;
                    let poly = |bytes: &[u8]| read_poly(basis, bytes).map(|(poly, _)| poly);
                    let bodies = rest.chunks_exact(poly_len(basis)).take(samples).map(poly);
                    let bodies = bodies.collect::<Result<Vec<_>, _>>()?;
                    self.add_link(kind, &seed, bodies)?;
                }
            }
        }
        self.note(index);
        Ok(())
    }
}

/// Checks one untrusted part in full, residues included, in the memory of one row.
///
/// # Errors
/// As [`LinkKeysBuilder::add`].
pub fn verify_link_part<R: ReductionSpec>(
    params: &LinkParams<R>,
    key_id: [u8; 16],
    index: usize,
    bytes: &[u8],
) -> Result<(), Error>
where
    RaisingParams<R, u64>: WireKeySet<Word = u64>,
{
    let part = part_of(params, index)?;
    if let LinkPartKind::Slots(own) = part.kind {
        return verify_key_part(params.ckks(), key_id, own, bytes);
    }
    let (_, mut rest) = frame_of(params, key_id, part).read(bytes)?;
    match &part.kind {
        LinkPartKind::Slots(_) => Ok(()),
        LinkPartKind::Gates(own) => check_residues(params.cggi(), &own.kind, rest),
        LinkPartKind::Packing(_) => {
            let gates = params.cggi();
            let mut scratch = vec![0; gates.n()];
            rest.chunks_exact(row_len(gates, gates.n()))
                .try_for_each(|row| unpack_row(gates, row, &mut scratch))
        }
        kind @ (LinkPartKind::ToGates | LinkPartKind::ToSlots) => {
            let (basis, samples) = link_of(params, kind)?;
            let mut scratch = Vec::new();
            for _ in 0..samples {
                rest = check_poly(basis, rest, &mut scratch)?;
            }
            Ok(())
        }
    }
}
