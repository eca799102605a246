//! Stage 4: one track, from public roots of unity to one encrypted factor.

use alloc::vec::Vec;
use core::ops::Range;

use super::{keys::TrackKeys, params::ShipParams, phase::EncodedPhases};
use crate::{
    arith::Word,
    par,
    ring::Automorphism,
    rlwe::{Digits, Pair, SampleBlock},
    trace::Counters,
};

/// What a track rotates: one half of the plaintexts of one ciphertext.
#[derive(Clone, Copy)]
pub struct Lane<'a, W: Word> {
    pub(super) phases: &'a EncodedPhases<W>,
    pub(super) half: usize,
}

/// The permutations of the multiplexers, the same in every bootstrap: `[step][track][branch]`, with one
/// entry for all tracks where the offset o_k plays no part.
pub(super) struct BranchRotations(Vec<Vec<Vec<Automorphism>>>);

impl BranchRotations {
    pub(super) fn new<W: Word>(params: &ShipParams<W>) -> Self {
        let branches = &params.spec().branches;
        let tables = |step: usize, track: usize| {
            let rotation = |branch| -params.branch_rotation(track, step, branch);
            (0..branches[step]).map(|branch| Automorphism::rotation(params.n(), rotation(branch))).collect()
        };
        let tracks = |step: usize| if step == 0 { params.tracks() } else { 1 };
        Self((0..branches.len()).map(|step| par::map(tracks(step), |track| tables(step, track))).collect())
    }

    pub(super) fn of(&self, step: usize, track: usize) -> &[Automorphism] {
        let tracks = &self.0[step];
        &tracks[track.min(tracks.len() - 1)]
    }
}

/// Working memory of one track, reused by the next.
pub struct TrackScratch<W: Word> {
    lanes: Vec<LaneScratch<W>>,
}

pub(super) struct LaneScratch<W: Word> {
    pub(super) digits: [Digits<W>; 2],
    /// Modulo Q P.
    pub(super) sum: Pair<W>,
    pub(super) term: Pair<W>,
    /// Modulo Q.
    pub(super) factor: Pair<W>,
}

impl<W: Word> TrackScratch<W> {
    /// Memory for the tracks of one half of one ciphertext, about 2 D (L + K) + 6 (L + K) rows; it
    /// grows when more of them are rotated together.
    pub fn new(params: &ShipParams<W>) -> Self {
        let mut out = Self { lanes: Vec::new() };
        out.reserve(params, 1);
        out
    }

    /// The memory of so many lanes.
    pub(super) fn lanes(&mut self, params: &ShipParams<W>, lanes: usize) -> &mut [LaneScratch<W>] {
        self.reserve(params, lanes);
        &mut self.lanes[..lanes]
    }

    fn reserve(&mut self, params: &ShipParams<W>, lanes: usize) {
        let (rlwe, level) = (params.ckks().rlwe(), params.max_level());
        while self.lanes.len() < lanes {
            self.lanes.push(LaneScratch {
                digits: [Digits::default(), Digits::default()],
                sum: Pair::zero(rlwe.qp(level)),
                term: Pair::zero(rlwe.qp(level)),
                factor: Pair::zero(rlwe.q(level)),
            });
        }
    }
}

/// Blind rotation of one track: for each lane the factor with slots F_((i - J_k) mod 2N), modulo Q at
/// scale L0 (the second half: F_((i + S - J_k) mod 2N)). No level is consumed: the scale P of the
/// masks is what each division removes.
///
/// Every row of the keys meets all lanes while it is in cache.
pub(super) fn blind_rotate<W: Word>(
    params: &ShipParams<W>,
    rotations: &BranchRotations,
    lanes: &[Lane<'_, W>],
    track: usize,
    keys: &TrackKeys<W>,
    scratch: &mut TrackScratch<W>,
    counters: &mut Counters,
) -> Vec<Pair<W>> {
    let scratch = scratch.lanes(params, lanes.len());
    column(params, lanes, keys, scratch, counters);
    for (step, keys) in keys.mux.iter().enumerate() {
        multiplex(params, rotations.of(step, track), keys, scratch, counters);
    }
    scratch.iter().map(|lane| lane.factor.clone()).collect()
}

/// sum over candidates and quarters of C[r][q] · rotR_r(H_q): the window, rotated into place by r_0.
fn column<W: Word>(
    params: &ShipParams<W>,
    lanes: &[Lane<'_, W>],
    keys: &TrackKeys<W>,
    scratch: &mut [LaneScratch<W>],
    counters: &mut Counters,
) {
    add_columns(params, lanes, 0..keys.column.samples(), &keys.column, scratch, counters);
    divide(params, scratch, counters);
}

/// sum over branches d of sigma_d(<digits(b), body_d> + <digits(a), mask_d>): the rotation whose
/// branch encrypts 1.
fn multiplex<W: Word>(
    params: &ShipParams<W>,
    rotations: &[Automorphism],
    keys: &[SampleBlock<W>],
    scratch: &mut [LaneScratch<W>],
    counters: &mut Counters,
) {
    decompose(params, scratch, counters);
    for (key, rotation) in keys.iter().zip(rotations) {
        add_branch(params, rotation, key, scratch, counters);
    }
    divide(params, scratch, counters);
}

/// Column step: adds the products of samples `range`, which are the first ones of `block`, to the sums.
pub(super) fn add_columns<W: Word>(
    params: &ShipParams<W>,
    lanes: &[Lane<'_, W>],
    range: Range<usize>,
    block: &SampleBlock<W>,
    scratch: &mut [LaneScratch<W>],
    counters: &mut Counters,
) {
    let basis = params.ckks().rlwe().qp(params.max_level());
    for limb in 0..basis.len() {
        let key = block.limb(limb, 0, range.len());
        for (lane, LaneScratch { sum, .. }) in lanes.iter().zip(&mut *scratch) {
            let rows = lane.phases.rows(limb, lane.half);
            let (b, a) = (sum.b.row_mut(limb), sum.a.row_mut(limb));
            basis.kernels().key_product(
                basis.modulus(limb),
                b,
                a,
                &rows[range.clone()],
                key,
                range.start > 0,
            );
        }
    }
    counters.limb_mac += (2 * range.len() * basis.len() * lanes.len()) as u64;
}

/// Begins a multiplexer step: the digits of the factors, and empty sums.
pub(super) fn decompose<W: Word>(
    params: &ShipParams<W>,
    scratch: &mut [LaneScratch<W>],
    counters: &mut Counters,
) {
    let (rlwe, level) = (params.ckks().rlwe(), params.max_level());
    for LaneScratch { digits: [b, a], sum, factor, .. } in scratch {
        rlwe.decompose_into(level, &factor.b, b, counters);
        rlwe.decompose_into(level, &factor.a, a, counters);
        sum.set_zero();
    }
}

/// Adds one branch of a multiplexer step to the sums.
pub(super) fn add_branch<W: Word>(
    params: &ShipParams<W>,
    rotation: &Automorphism,
    key: &SampleBlock<W>,
    scratch: &mut [LaneScratch<W>],
    counters: &mut Counters,
) {
    let (rlwe, level) = (params.ckks().rlwe(), params.max_level());
    for limb in 0..rlwe.qp(level).len() {
        for LaneScratch { digits: [b, a], term, .. } in &mut *scratch {
            rlwe.key_product_limb(limb, &[b, a], key, term, false);
        }
    }
    for LaneScratch { digits: [b, a], sum, term, .. } in scratch {
        rlwe.count_key_product(&[b, a], counters);
        sum.automorphism_add_assign(term, rotation);
    }
}

/// Ends a step: the sums divided by P are the new factors.
pub(super) fn divide<W: Word>(
    params: &ShipParams<W>,
    scratch: &mut [LaneScratch<W>],
    counters: &mut Counters,
) {
    let (rlwe, level) = (params.ckks().rlwe(), params.max_level());
    for LaneScratch { sum, factor, .. } in scratch {
        rlwe.divide_by_special_into(level, sum, factor, counters);
    }
}
