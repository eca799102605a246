//! What the evaluation keys consist of, computed from the parameters alone.

use alloc::{format, string::String, vec::Vec};

use super::params::to_slots;
use crate::{
    bootstrapping::{
        cggi::{self, CggiKeyPart, CggiPackingKeys},
        raising::{RaisingParams, ReductionSpec},
        wire_sizes::{PART_OVERHEAD, sample_bytes},
    },
    error::Error,
    rlwe::EncapsulationContext,
    schemes::cggi::CggiParams,
};

/// What a part holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkPartKind {
    /// The part of this index of the keys of the slots.
    Slots(usize),
    /// A part of the keys of the gates.
    Gates(CggiKeyPart),
    /// The first components of all samples of the packing keys: this number of samples.
    Packing(usize),
    /// The key from slots to gates.
    ToGates,
    /// The key from gates to slots.
    ToSlots,
}

/// One part of the evaluation keys, as it travels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkKeyPart {
    /// Position in the list of parts.
    pub index: usize,
    /// What it holds.
    pub kind: LinkPartKind,
    /// Name for people.
    pub label: String,
    /// Exact length on the wire.
    pub bytes: usize,
}

impl LinkKeyPart {
    /// Bytes of its packed residues.
    pub(crate) fn residue_bytes(&self) -> usize {
        self.bytes - PART_OVERHEAD
    }
}

/// The parts of a set: those of the slots under their own indices, then those of the gates, then those between.
pub(super) fn key_parts<R: ReductionSpec>(
    ckks: &RaisingParams<R, u64>,
    gates: &CggiParams<u64>,
    there: &EncapsulationContext<u64>,
) -> Result<Vec<LinkKeyPart>, Error> {
    let slots = ckks
        .key_parts()
        .iter()
        .map(|part| (LinkPartKind::Slots(part.index), format!("slots: {}", part.label), part.bytes));
    let own = cggi::key_parts(gates).into_iter().map(|part| {
        let (label, bytes) = (format!("gates: {}", part.label), part.bytes);
        (LinkPartKind::Gates(part), label, bytes)
    });
    let samples = CggiPackingKeys::samples(gates)?;
    let bits = u64::BITS - (gates.modulus().value_u64() - 1).leading_zeros();
    let packing = PART_OVERHEAD + samples * (gates.n() * bits as usize).div_ceil(8);
    let back = to_slots(ckks)?;
    let between = [
        (LinkPartKind::Packing(samples), "packing".into(), packing),
        (LinkPartKind::ToGates, "from slots to gates".into(), PART_OVERHEAD + sample_bytes(there.q0p())),
        (
            LinkPartKind::ToSlots,
            "from gates to slots".into(),
            PART_OVERHEAD + back.digit_count() * sample_bytes(back.q0p()),
        ),
    ];
    let all = slots.chain(own).chain(between).enumerate();
    Ok(all.map(|(index, (kind, label, bytes))| LinkKeyPart { index, kind, label, bytes }).collect())
}
