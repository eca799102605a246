//! What the evaluation keys consist of, computed from the parameters alone.
//!
//! Keys are blocks of samples ([`BlockId`]); on the wire they travel as chunks ([`KeyPart`]) of at
//! most [`MAX_PART_BYTES`], each readable by itself. Both sides derive the same list, so no length
//! or count is ever taken from the input.

use alloc::{format, string::String, vec::Vec};

use super::spec::ShipSpec;
use crate::{
    arith::Word,
    bootstrapping::wire_sizes::{MAX_PART_BYTES, PART_OVERHEAD, sample_bytes},
    ring::Basis,
    rlwe::{EncapsulationContext, RlweContext},
};

/// One block of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockId {
    /// Dense to sparse secret, modulo q0 p'.
    Encapsulation,
    /// Rotation key of the slots-to-coefficients map, modulo q0 qs P: baby steps 1 … bs - 1, then
    /// giant steps bs, 2 bs, …
    Rotation {
        /// Position in that list.
        index: usize,
    },
    /// Conjugation key, modulo q0 qs qm P.
    Conjugation,
    /// s^2 to s, modulo Q P.
    Relinearization,
    /// The column of one track: candidate r, quarter q at sample 4 r + q, modulo Q P.
    Column {
        /// Track.
        track: usize,
    },
    /// One branch of a multiplexer step: the digits of b, then those of a, modulo Q P.
    Mux {
        /// Track.
        track: usize,
        /// Step.
        step: usize,
        /// Branch.
        branch: usize,
    },
}

impl BlockId {
    /// Name of the block's random streams.
    pub(crate) fn code(self) -> [u64; 4] {
        match self {
            Self::Encapsulation => [1, 0, 0, 0],
            Self::Rotation { index } => [2, index as u64, 0, 0],
            Self::Conjugation => [3, 0, 0, 0],
            Self::Relinearization => [4, 0, 0, 0],
            Self::Column { track } => [5, track as u64, 0, 0],
            Self::Mux { track, step, branch } => [6, track as u64, step as u64, branch as u64],
        }
    }
}

/// Samples `first .. first + count` of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The block.
    pub block: BlockId,
    /// First sample.
    pub first: usize,
    /// Number of samples.
    pub count: usize,
}

/// What a chunk is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPartKind {
    /// Encapsulation key.
    Encapsulation,
    /// Rotation keys of the slots-to-coefficients map.
    SlotsToCoeffs,
    /// Conjugation key.
    Conjugation,
    /// Relinearisation key.
    Relinearization,
    /// Column samples of a track.
    Column {
        /// Track.
        track: usize,
    },
    /// Multiplexer keys of a track.
    Mux {
        /// Track.
        track: usize,
    },
}

/// One chunk of the evaluation keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPart {
    /// Position in [`super::ShipParams::key_parts`].
    pub index: usize,
    /// What it is for.
    pub kind: KeyPartKind,
    /// For people.
    pub label: String,
    /// Exact length on the wire.
    pub bytes: usize,
    /// What it holds.
    #[doc(hidden)]
    pub segments: Vec<Segment>,
}

/// Baby and giant steps, bs · gs = slots, bs = 2^ceil(log2(slots) / 2).
pub(super) fn bsgs(slots: usize) -> (usize, usize) {
    let baby = 1usize << slots.trailing_zeros().div_ceil(2);
    (baby, slots / baby)
}

/// The left rotation of rotation key `index`.
pub(super) fn rotation_steps(slots: usize, index: usize) -> i64 {
    let (baby, _) = bsgs(slots);
    if index < baby - 1 { (index + 1) as i64 } else { ((index + 2 - baby) * baby) as i64 }
}

/// Number of rotation keys.
pub(super) fn rotation_count(slots: usize) -> usize {
    let (baby, giant) = bsgs(slots);
    baby + giant - 2
}

/// Samples of a block.
pub(super) fn samples<W: Word>(
    block: BlockId,
    spec: &ShipSpec,
    rlwe: &RlweContext<W>,
    encapsulation: &EncapsulationContext<W>,
) -> usize {
    match block {
        BlockId::Encapsulation => encapsulation.digit_count(),
        BlockId::Column { .. } => 4 * spec.columns,
        BlockId::Mux { .. } => 2 * rlwe.digit_count(rlwe.max_level()),
        _ => rlwe.digit_count(level(block, rlwe)),
    }
}

/// Level of the gadget of a block (its modulus is Q_level P).
pub(super) fn level<W: Word>(block: BlockId, rlwe: &RlweContext<W>) -> usize {
    match block {
        BlockId::Encapsulation => 0,
        BlockId::Rotation { .. } => super::params::INPUT_LEVEL,
        BlockId::Conjugation => super::params::OUTPUT_LEVEL,
        BlockId::Relinearization | BlockId::Column { .. } | BlockId::Mux { .. } => rlwe.max_level(),
    }
}

/// Modulus of a block.
pub(super) fn basis<'a, W: Word>(
    block: BlockId,
    rlwe: &'a RlweContext<W>,
    encapsulation: &'a EncapsulationContext<W>,
) -> &'a Basis<W> {
    match block {
        BlockId::Encapsulation => encapsulation.q0p(),
        _ => rlwe.qp(level(block, rlwe)),
    }
}

/// The chunks of a set, in order.
pub(super) fn key_parts<W: Word>(
    spec: &ShipSpec,
    rlwe: &RlweContext<W>,
    encapsulation: &EncapsulationContext<W>,
) -> Vec<KeyPart> {
    let slots = rlwe.n() / 2;
    let rotations = (0..rotation_count(slots)).map(|index| BlockId::Rotation { index });
    let mut sections: Vec<(KeyPartKind, String, Vec<BlockId>)> = alloc::vec![
        (KeyPartKind::Encapsulation, "encapsulation".into(), alloc::vec![BlockId::Encapsulation]),
        (KeyPartKind::SlotsToCoeffs, "slots to coefficients".into(), rotations.collect()),
        (KeyPartKind::Conjugation, "conjugation".into(), alloc::vec![BlockId::Conjugation]),
        (KeyPartKind::Relinearization, "relinearisation".into(), alloc::vec![BlockId::Relinearization]),
    ];
    for track in 0..spec.weight {
        sections.push((
            KeyPartKind::Column { track },
            format!("track {} column", track + 1),
            alloc::vec![BlockId::Column { track }],
        ));
        let mux = spec.branches.iter().enumerate().flat_map(|(step, &branches)| {
            (0..branches).map(move |branch| BlockId::Mux { track, step, branch })
        });
        sections.push((
            KeyPartKind::Mux { track },
            format!("track {} multiplexers", track + 1),
            mux.collect(),
        ));
    }
    let mut parts = Vec::new();
    for (kind, label, blocks) in sections {
        let chunks = fill_chunks(&blocks, |block| {
            let bytes = sample_bytes(basis(block, rlwe, encapsulation));
            (samples(block, spec, rlwe, encapsulation), bytes)
        });
        let total = chunks.len();
        for (i, (segments, bytes)) in chunks.into_iter().enumerate() {
            let label = if total == 1 { label.clone() } else { format!("{label} {}/{total}", i + 1) };
            parts.push(KeyPart { index: parts.len(), kind, label, bytes, segments });
        }
    }
    parts
}

/// Fills chunks greedily, splitting blocks between samples where a chunk is full.
fn fill_chunks(blocks: &[BlockId], size: impl Fn(BlockId) -> (usize, usize)) -> Vec<(Vec<Segment>, usize)> {
    let mut out: Vec<(Vec<Segment>, usize)> = Vec::new();
    for &block in blocks {
        let (samples, bytes) = size(block);
        let mut first = 0;
        while first < samples {
            let mut room = out.last().map_or(0, |(_, used)| (MAX_PART_BYTES - used) / bytes);
            if room == 0 {
                out.push((Vec::new(), PART_OVERHEAD));
                // One sample of the largest ring is far below the cap.
                room = ((MAX_PART_BYTES - PART_OVERHEAD) / bytes).max(1);
            }
            let count = room.min(samples - first);
            if let Some((segments, used)) = out.last_mut() {
                segments.push(Segment { block, first, count });
                *used += count * bytes;
            }
            first += count;
        }
    }
    out
}
