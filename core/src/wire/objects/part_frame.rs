//! The frame that parts of evaluation keys share: public seed, index of the part as u64, then the residues.

use alloc::{format, vec::Vec};

use super::{
    rows::{WireWord, check_poly},
    seed::{SEED_LEN, seed_from},
};
use crate::{
    error::Error,
    random::Seed,
    ring::Basis,
    schemes::identity::key_set_id,
    wire::{Expect, ObjectKind, frame, header::bad},
};

/// Bytes before the residues.
pub(super) const PREFIX_LEN: usize = SEED_LEN + 8;

/// What both sides know about a part before they read it.
pub(super) struct PartFrame {
    pub kind: ObjectKind,
    /// What the set calls its parts: "chunk", "part".
    pub noun: &'static str,
    pub fingerprint: [u8; 16],
    pub key_id: [u8; 16],
    pub index: usize,
    /// Bytes of residues.
    pub residues: usize,
}

/// The error for a set that has no part `index`, as it has `count`; it calls its parts `noun`.
pub(super) fn no_part(noun: &str, index: usize, set: &str, count: usize) -> Error {
    Error::InvalidArgument(format!(
        "{noun} {index} asked of set {set}, which has {noun}s 0 to {}; ask for one of them",
        count.saturating_sub(1)
    ))
}

impl PartFrame {
    /// Writes the part; `fill` is handed `residues` zeros.
    pub fn write(&self, public: &Seed, fill: impl FnOnce(&mut [u8])) -> Vec<u8> {
        let len = PREFIX_LEN + self.residues;
        frame::write_with(self.kind, self.fingerprint, self.key_id, len, |out| {
            let (prefix, rest) = out.split_at_mut(PREFIX_LEN);
            prefix[..SEED_LEN].copy_from_slice(public.as_bytes());
            prefix[SEED_LEN..].copy_from_slice(&(self.index as u64).to_le_bytes());
            fill(rest);
        })
    }

    /// The public seed, checked against the key id, and the residues, unchecked.
    pub fn read<'a>(&self, bytes: &'a [u8]) -> Result<(Seed, &'a [u8]), Error> {
        let expect = Expect {
            kind: self.kind,
            fingerprint: self.fingerprint,
            key_id: Some(self.key_id),
            payload_len: PREFIX_LEN + self.residues,
        };
        let (prefix, residues) = frame::read(bytes, &expect)?.payload.split_at(PREFIX_LEN);
        let mut stated = [0; 8];
        stated.copy_from_slice(&prefix[SEED_LEN..]);
        let (stated, noun) = (u64::from_le_bytes(stated), self.noun);
        if stated != self.index as u64 {
            return Err(bad(format!(
                "these are the bytes of {noun} {stated}, {noun} {} was expected; send each {noun} under its own index",
                self.index
            )));
        }
        let seed = seed_from(prefix);
        if key_set_id(&self.fingerprint, &seed) != self.key_id {
            return Err(Error::ParamsMismatch(format!(
                "the {noun}'s public seed does not belong to its key id; make the {noun} again"
            )));
        }
        Ok((seed, residues))
    }

    /// Checks the part in full, one sample over each basis, in the memory of one row.
    pub fn check<'a, W: WireWord>(
        &self,
        bytes: &[u8],
        bases: impl Iterator<Item = &'a Basis<W>>,
    ) -> Result<(), Error> {
        let (_, mut rest) = self.read(bytes)?;
        let mut scratch = Vec::new();
        for basis in bases {
            rest = check_poly(basis, rest, &mut scratch)?;
        }
        Ok(())
    }
}
