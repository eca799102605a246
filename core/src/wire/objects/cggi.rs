//! DM/CGGI: ciphertexts, parts of the evaluation keys, secret keys.
//!
//! Ciphertexts travel as lists. Payload: for each, encoding u8, 0, messages u16, weight u32; then for each
//! the body and the mask, N + 1 packed residues. A part of the keys: public seed, index of the part as u64,
//! then the bodies, packed.

use alloc::{format, vec, vec::Vec};

use super::{
    keys::{secret_key_from_bytes, secret_key_to_bytes},
    part_frame::{PartFrame, no_part},
    rows::WireWord,
};
use crate::{
    arith::Word,
    bootstrapping::cggi::{CggiKeyPart, CggiKeysBuilder, CggiPartKind, key_parts},
    error::{Error, hex},
    random::Seed,
    rlwe::lwe::LweSample,
    schemes::cggi::{CggiCiphertext, CggiParams, CggiSecretKey, Encoding, MAX_WEIGHT},
    wire::{
        Expect, ObjectKind, frame,
        header::bad,
        pack::{pack_u32, packed_len, residue_bits, unpack_u32},
    },
};

/// Largest number of ciphertexts in one list.
pub const MAX_CIPHERTEXTS: usize = 1 << 16;

const METADATA_LEN: usize = 8;

pub(super) fn row_len<W: Word>(params: &CggiParams<W>, residues: usize) -> usize {
    packed_len(residue_bits(params.modulus().value_u64()), residues)
}

fn ciphertext_payload_len<W: Word>(params: &CggiParams<W>) -> usize {
    METADATA_LEN + row_len(params, params.n() + 1)
}

/// Bytes of a list of `count` ciphertexts on the wire.
pub fn cggi_ciphertexts_len<W: Word>(params: &CggiParams<W>, count: usize) -> usize {
    frame::len(count * ciphertext_payload_len(params))
}

/// Encodes a list of ciphertexts of one key.
///
/// # Errors
/// [`Error::ParamsMismatch`] if they belong to another set or to several keys;
/// [`Error::InvalidArgument`] for an empty list or more than [`MAX_CIPHERTEXTS`].
pub fn cggi_ciphertexts_to_bytes<W: WireWord>(
    params: &CggiParams<W>,
    ciphertexts: &[CggiCiphertext<W>],
) -> Result<Vec<u8>, Error> {
    let count = ciphertexts.len();
    let Some(first) = ciphertexts.first().filter(|_| count <= MAX_CIPHERTEXTS) else {
        return Err(Error::InvalidArgument(format!(
            "a list of {count} ciphertexts; it holds 1 to {MAX_CIPHERTEXTS}"
        )));
    };
    for ciphertext in ciphertexts {
        params.check_fingerprint("ciphertext", ciphertext.fingerprint())?;
        if ciphertext.key_id() != first.key_id() {
            return Err(Error::ParamsMismatch(format!(
                "ciphertexts of keys {} and {} in one list; make one list for each key",
                hex(&first.key_id()),
                hex(&ciphertext.key_id())
            )));
        }
    }
    let (bits, row) = (residue_bits(params.modulus().value_u64()), row_len(params, params.n() + 1));
    let len = count * ciphertext_payload_len(params);
    let fill = |out: &mut [u8]| {
        let (metadata, rows) = out.split_at_mut(count * METADATA_LEN);
        let mut residues = Vec::with_capacity(params.n() + 1);
        for ((ciphertext, metadata), row) in
            ciphertexts.iter().zip(metadata.chunks_exact_mut(METADATA_LEN)).zip(rows.chunks_exact_mut(row))
        {
            metadata[0] = match ciphertext.encoding() {
                Encoding::Bit => 0,
                Encoding::Padded { .. } => 1,
                Encoding::Cyclic { .. } => 2,
            };
            metadata[2..4].copy_from_slice(&(ciphertext.encoding().messages() as u16).to_le_bytes());
            metadata[4..8].copy_from_slice(&ciphertext.weight().min(MAX_WEIGHT).to_le_bytes());
            residues.clear();
            residues.push(ciphertext.sample().b);
            residues.extend_from_slice(&ciphertext.sample().a);
            W::pack(bits, &residues, row);
        }
    };
    Ok(frame::write_with(ObjectKind::CggiCiphertexts, params.fingerprint(), first.key_id(), len, fill))
}

/// Decodes an untrusted list of ciphertexts of the set, under any one key.
///
/// # Errors
/// [`Error::BadBytes`], [`Error::ParamsMismatch`] as the frame reader; [`Error::BadBytes`] for an encoding,
/// a weight or a residue the set does not allow.
pub fn cggi_ciphertexts_from_bytes<W: WireWord>(
    params: &CggiParams<W>,
    bytes: &[u8],
) -> Result<Vec<CggiCiphertext<W>>, Error> {
    let each = ciphertext_payload_len(params);
    let stated = frame::peek(bytes)?.payload_len / each as u64;
    // The frame reader refuses a length that no list has, as it is told to expect the nearest one that a list has.
    let count = usize::try_from(stated).unwrap_or(usize::MAX).clamp(1, MAX_CIPHERTEXTS);
    let expect = Expect {
        kind: ObjectKind::CggiCiphertexts,
        fingerprint: params.fingerprint(),
        key_id: None,
        payload_len: count * each,
    };
    let frame = frame::read(bytes, &expect)?;
    let (metadata, rows) = frame.payload.split_at(count * METADATA_LEN);
    let mut residues = vec![W::ZERO; params.n() + 1];
    let (bits, modulus) = (residue_bits(params.modulus().value_u64()), params.modulus().value());
    let mut out = Vec::with_capacity(count);
    for (metadata, row) in
        metadata.chunks_exact(METADATA_LEN).zip(rows.chunks_exact(row_len(params, params.n() + 1)))
    {
        let (encoding, weight) = read_metadata(metadata)?;
        W::unpack(bits, modulus, row, &mut residues)?;
        let sample = LweSample { a: residues[1..].to_vec(), b: residues[0] };
        out.push(CggiCiphertext::new(params, frame.header.key_id, encoding, weight, sample)?);
    }
    Ok(out)
}

fn read_metadata(metadata: &[u8]) -> Result<(Encoding, u32), Error> {
    let messages = u32::from(u16::from_le_bytes([metadata[2], metadata[3]]));
    let weight = u32::from_le_bytes([metadata[4], metadata[5], metadata[6], metadata[7]]);
    let encoding = match (metadata[0], messages) {
        (0, 2) => Some(Encoding::Bit),
        (1, _) => Some(Encoding::Padded { messages }),
        (2, _) => Some(Encoding::Cyclic { messages }),
        _ => None,
    };
    match encoding.filter(|encoding| encoding.check().is_ok() && metadata[1] == 0 && weight <= MAX_WEIGHT) {
        Some(encoding) => Ok((encoding, weight)),
        None => Err(bad(format!(
            "a ciphertext with encoding {}, {messages} messages, noise {weight} and reserved byte {}: encodings are 0 \
             (bit, 2 messages), 1 and 2 (integers, 2 to {} messages, or for 2 a power of two up to {}), noise at most \
             {MAX_WEIGHT}, the byte 0",
            metadata[0],
            metadata[1],
            Encoding::MAX_MESSAGES,
            Encoding::MAX_RESIDUES
        ))),
    }
}

fn frame_of<W: Word>(params: &CggiParams<W>, key_id: [u8; 16], part: &CggiKeyPart) -> PartFrame {
    PartFrame {
        kind: ObjectKind::CggiKeyPart,
        noun: "part",
        fingerprint: params.fingerprint(),
        key_id,
        index: part.index,
        residues: part.residue_bytes(),
    }
}

fn part_of<W: Word>(params: &CggiParams<W>, index: usize) -> Result<CggiKeyPart, Error> {
    let mut parts = key_parts(params);
    if index >= parts.len() {
        return Err(no_part("part", index, params.name(), parts.len()));
    }
    Ok(parts.swap_remove(index))
}

impl<W: WireWord> CggiSecretKey<W> {
    /// Makes one part of the evaluation keys, in wire form. The same key and index give the same bytes,
    /// so an interrupted upload needs no memory of what was sent.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a part the set does not have.
    pub fn key_part(&self, index: usize) -> Result<Vec<u8>, Error> {
        let params = self.params();
        let part = part_of(params, index)?;
        let frame = frame_of(params, self.key_id(), &part);
        Ok(frame.write(self.public_seed(), |rest| self.write_part(&part.kind, rest)))
    }

    /// The packed residues of a part.
    pub(super) fn write_part(&self, kind: &CggiPartKind, rest: &mut [u8]) {
        let params = self.params();
        match kind {
            CggiPartKind::KeySwitch => pack_u32(params.switch().log_q, &self.switch_bodies(), rest),
            CggiPartKind::Rotation(range) => {
                let bits = residue_bits(params.modulus().value_u64());
                crate::par::for_each_chunk_mut(rest, row_len(params, params.n()), |i, row| {
                    W::pack(bits, self.rotation_body(range.start + i).row(0), row);
                });
            }
        }
    }
}

impl<W: WireWord> CggiKeysBuilder<W> {
    /// Takes one untrusted part in wire form, checks it and expands it into place.
    ///
    /// # Errors
    /// [`Error::BadBytes`] or [`Error::ParamsMismatch`] for bytes that do not conform;
    /// [`Error::InvalidArgument`] for a part the set does not have.
    pub fn add(&mut self, index: usize, bytes: &[u8]) -> Result<(), Error> {
        let params = self.params().clone();
        let part = part_of(&params, index)?;
        let (seed, rest) = frame_of(&params, self.key_id(), &part).read(bytes)?;
        self.add_residues(&part, &seed, rest)
    }

    /// Takes the packed residues of a part.
    pub(super) fn add_residues(
        &mut self,
        part: &CggiKeyPart,
        public: &Seed,
        rest: &[u8],
    ) -> Result<(), Error> {
        let params = self.params().clone();
        let index = part.index;
        match &part.kind {
            CggiPartKind::KeySwitch => self.add_switch(index, public, &switch_bodies(&params, rest)?),
            CggiPartKind::Rotation(range) => {
                let (n, row) = (params.n(), row_len(&params, params.n()));
                let mut bodies = vec![W::ZERO; range.len() * n];
                for (row, out) in rest.chunks_exact(row).zip(bodies.chunks_exact_mut(n)) {
                    unpack_row(&params, row, out)?;
                }
                self.add_rotation(index, public, &bodies)
            }
        }
    }
}

/// Checks one untrusted part in full, residues included, without keeping it.
///
/// # Errors
/// As [`CggiKeysBuilder::add`].
pub fn verify_cggi_part<W: WireWord>(
    params: &CggiParams<W>,
    key_id: [u8; 16],
    index: usize,
    bytes: &[u8],
) -> Result<(), Error> {
    let part = part_of(params, index)?;
    let (_, rest) = frame_of(params, key_id, &part).read(bytes)?;
    check_residues(params, &part.kind, rest)
}

/// Checks the packed residues of a part.
pub(super) fn check_residues<W: WireWord>(
    params: &CggiParams<W>,
    kind: &CggiPartKind,
    rest: &[u8],
) -> Result<(), Error> {
    match kind {
        CggiPartKind::KeySwitch => switch_bodies(params, rest).map(drop),
        CggiPartKind::Rotation(_) => {
            let mut scratch = vec![W::ZERO; params.n()];
            let mut rows = rest.chunks_exact(row_len(params, params.n()));
            rows.try_for_each(|row| unpack_row(params, row, &mut scratch))
        }
    }
}

pub(super) fn unpack_row<W: WireWord>(
    params: &CggiParams<W>,
    row: &[u8],
    out: &mut [W],
) -> Result<(), Error> {
    let modulus = params.modulus().value();
    W::unpack(residue_bits(modulus.to_u64()), modulus, row, out)
}

fn switch_bodies<W: Word>(params: &CggiParams<W>, bytes: &[u8]) -> Result<Vec<u32>, Error> {
    let log_q = params.switch().log_q;
    let mut bodies = vec![0; params.switch().samples()];
    unpack_u32(log_q, 1 << log_q, bytes, &mut bodies)?;
    Ok(bodies)
}

/// [`secret_key_to_bytes`] for a set over bits and integers.
pub fn cggi_secret_key_to_bytes<W: WireWord>(key: &CggiSecretKey<W>) -> Vec<u8> {
    secret_key_to_bytes(key)
}

/// [`secret_key_from_bytes`] for a set over bits and integers.
///
/// # Errors
/// As [`secret_key_from_bytes`].
pub fn cggi_secret_key_from_bytes<W: WireWord>(
    params: &CggiParams<W>,
    bytes: &[u8],
) -> Result<CggiSecretKey<W>, Error> {
    secret_key_from_bytes(params, bytes)
}
