//! Stage 4: tracks, each from public roots of unity to one encrypted factor.

use alloc::vec::Vec;
use core::{borrow::Borrow, ops::Range};

use super::{keys::TrackKeys, params::ShipParams, phase::Lane};
use crate::{
    arith::{KeyProduct, LeftRows, Word},
    par,
    ring::{Automorphism, Scratch},
    rlwe::{Digits, Pair, SampleBlock},
    trace::Counters,
};

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

/// Working memory of a few tracks, reused by the next ones.
pub struct TrackScratch<W: Word> {
    lanes: Vec<LaneScratch<W>>,
    factors: Vec<FactorScratch<W>>,
}

/// Working memory of one lane, for the track that is in its multiplexers.
pub(super) struct LaneScratch<W: Word> {
    /// Digits, for tracks whose keys are made on the fly.
    pub(super) digits: [Digits<W>; 2],
    /// The prepared first and second components.
    prepared: [Vec<W>; 2],
    /// All digits modulo one prime.
    rows: Vec<W>,
    /// `[branch][2][n]`: the products of all branches modulo one prime.
    terms: Vec<W>,
}

/// Working memory of one track and lane.
pub(super) struct FactorScratch<W: Word> {
    /// Modulo Q P.
    pub(super) sum: Pair<W>,
    /// Modulo Q.
    pub(super) factor: Pair<W>,
}

impl<W: Word> TrackScratch<W> {
    /// Memory for the tracks of one half of one ciphertext, about 4 (L + K) + 4 D rows; it grows when more lanes or
    /// tracks are rotated together.
    pub fn new(params: &ShipParams<W>) -> Self {
        let mut out = Self { lanes: Vec::new(), factors: Vec::new() };
        out.reserve(params, 1, 1);
        out
    }

    /// The memory of `lanes` lanes and `tracks` tracks.
    pub(super) fn parts(
        &mut self,
        params: &ShipParams<W>,
        lanes: usize,
        tracks: usize,
    ) -> (&mut [LaneScratch<W>], &mut [FactorScratch<W>]) {
        self.reserve(params, lanes, tracks);
        (&mut self.lanes[..lanes], &mut self.factors[..lanes * tracks])
    }

    fn reserve(&mut self, params: &ShipParams<W>, lanes: usize, tracks: usize) {
        let (rlwe, level) = (params.ckks().rlwe(), params.max_level());
        while self.lanes.len() < lanes {
            let digits = [Digits::default(), Digits::default()];
            let prepared = [Vec::new(), Vec::new()];
            self.lanes.push(LaneScratch { digits, prepared, rows: Vec::new(), terms: Vec::new() });
        }
        while self.factors.len() < lanes * tracks {
            let (sum, factor) = (Pair::zero(rlwe.qp(level)), Pair::zero(rlwe.q(level)));
            self.factors.push(FactorScratch { sum, factor });
        }
    }
}

/// Blind rotation of a few tracks: for each track and each lane the factor with slots F_((i - J_k) mod 2N), modulo
/// Q at scale L0 (the second half: F_((i + S - J_k) mod 2N)). No level is consumed: the scale P of the
/// masks is what each division removes.
///
/// Every row of the keys meets all lanes while it is in cache, every row of the plaintexts all tracks.
pub(super) fn blind_rotate<W: Word>(
    params: &ShipParams<W>,
    rotations: &BranchRotations,
    lanes: &[Lane<'_, W>],
    tracks: &[(usize, impl Borrow<TrackKeys<W>>)],
    scratch: &mut TrackScratch<W>,
    counters: &mut Counters,
) -> Vec<Vec<Pair<W>>> {
    let (digits, factors) = scratch.parts(params, lanes.len(), tracks.len());
    let columns: Vec<&SampleBlock<W>> = tracks.iter().map(|(_, keys)| &keys.borrow().column).collect();
    add_columns(params, lanes, 0..columns[0].samples(), &columns, factors, counters);
    divide(params, factors, counters);
    let mut out = Vec::with_capacity(tracks.len());
    for ((track, keys), factors) in tracks.iter().zip(factors.chunks_mut(lanes.len())) {
        for (step, keys) in keys.borrow().mux.iter().enumerate() {
            multiplex(params, rotations.of(step, *track), keys, digits, factors, counters);
            divide(params, factors, counters);
        }
        out.push(factors.iter().map(|FactorScratch { factor, .. }| factor.clone()).collect());
    }
    out
}

/// Column step, sum over candidates and quarters of C[r][q] · rotR_r(H_q): the window, rotated into place by r_0.
/// Adds the products of samples `range`, which are the first ones of each of `blocks`, to the sums, `[track][lane]`.
pub(super) fn add_columns<W: Word>(
    params: &ShipParams<W>,
    lanes: &[Lane<'_, W>],
    range: Range<usize>,
    blocks: &[&SampleBlock<W>],
    scratch: &mut [FactorScratch<W>],
    counters: &mut Counters,
) {
    let basis = params.ckks().rlwe().qp(params.max_level());
    for limb in 0..basis.len() {
        let rows: Vec<(Vec<&[W]>, usize)> =
            lanes.iter().map(|lane| lane.phases.rows(limb, lane.half)).collect();
        let mut products = Vec::with_capacity(scratch.len());
        for (block, scratch) in blocks.iter().zip(scratch.chunks_mut(lanes.len())) {
            let key = block.limb(limb).range(0, range.len());
            for (FactorScratch { sum: Pair { b, a }, .. }, (rows, step)) in scratch.iter_mut().zip(&rows) {
                let lhs = LeftRows::lines(&rows[range.clone()], *step);
                let out = [b.row_mut(limb), a.row_mut(limb)];
                products.push(KeyProduct { out, lhs, key });
            }
        }
        basis.kernels().key_products(basis.modulus(limb), &mut products, range.start > 0);
    }
    counters.limb_mac += (2 * range.len() * basis.len() * scratch.len()) as u64;
}

/// Begins a multiplexer step of one track: the digits of the factors.
pub(super) fn decompose<W: Word>(
    params: &ShipParams<W>,
    digits: &mut [LaneScratch<W>],
    factors: &[FactorScratch<W>],
    counters: &mut Counters,
) {
    let (rlwe, level) = (params.ckks().rlwe(), params.max_level());
    for (LaneScratch { digits: [b, a], .. }, FactorScratch { factor, .. }) in digits.iter_mut().zip(factors) {
        rlwe.decompose_into(level, &factor.b, b, counters);
        rlwe.decompose_into(level, &factor.a, a, counters);
    }
}

/// Multiplexer step of one track, sum over branches d of sigma_d(<digits(b), body_d> + <digits(a), mask_d>): the
/// rotation whose branch encrypts 1.
///
/// Prime by prime: the digits of all lanes, which meet every branch while they are in cache and are never stored.
fn multiplex<W: Word>(
    params: &ShipParams<W>,
    rotations: &[Automorphism],
    keys: &[SampleBlock<W>],
    scratch: &mut [LaneScratch<W>],
    factors: &mut [FactorScratch<W>],
    counters: &mut Counters,
) {
    let (rlwe, level, n) = (params.ckks().rlwe(), params.max_level(), params.n());
    let basis = rlwe.qp(level);
    let mut lanes = Vec::with_capacity(factors.len());
    for (LaneScratch { prepared: [b, a], rows, terms, .. }, factor) in scratch.iter_mut().zip(&mut *factors) {
        let FactorScratch { sum, factor } = factor;
        let digits = [
            rlwe.digits_apart(level, &factor.b, b, counters),
            rlwe.digits_apart(level, &factor.a, a, counters),
        ];
        rows.resize(2 * digits[0].memory(), W::ZERO);
        terms.resize(keys.len() * 2 * n, W::ZERO);
        lanes.push((digits, rows, terms, sum));
    }
    let mut transforms = Scratch::default();
    for limb in 0..basis.len() {
        let (kernels, m) = (basis.kernels(), basis.modulus(limb));
        let mut left_sides = Vec::with_capacity(lanes.len());
        let mut results = Vec::with_capacity(lanes.len());
        for (digits, rows, terms, _) in &mut lanes {
            let (rows_b, rows_a) = rows.split_at_mut(digits[0].memory());
            let mut rows = digits[0].rows(limb, rows_b, &mut transforms);
            rows.extend(digits[1].rows(limb, rows_a, &mut transforms));
            left_sides.push(rows);
            results.push(terms.chunks_exact_mut(n));
        }
        let mut products = Vec::with_capacity(keys.len() * left_sides.len());
        for key in keys {
            for (rows, results) in left_sides.iter().zip(&mut results) {
                let (Some(b), Some(a)) = (results.next(), results.next()) else { continue };
                products.push(KeyProduct { out: [b, a], lhs: LeftRows::whole(rows), key: key.limb(limb) });
            }
        }
        kernels.key_products(m, &mut products, false);
        for (_, _, terms, Pair { b, a }) in &mut lanes {
            for (i, (term, rotation)) in terms.chunks_exact(2 * n).zip(rotations).enumerate() {
                let permutation = rotation.permutation();
                for (sum, term) in [b.row_mut(limb), a.row_mut(limb)].into_iter().zip(term.chunks_exact(n)) {
                    if i == 0 {
                        kernels.permute(sum, term, permutation);
                    } else {
                        kernels.permute_add_assign(m, sum, term, permutation);
                    }
                }
            }
        }
    }
    let samples: usize = keys.iter().map(SampleBlock::samples).sum();
    counters.limb_mac += (2 * samples * basis.len() * factors.len()) as u64;
    counters.key_switch += (2 * keys.len() * factors.len()) as u64;
}

/// Ends a step: the sums divided by P are the new factors.
pub(super) fn divide<W: Word>(
    params: &ShipParams<W>,
    scratch: &mut [FactorScratch<W>],
    counters: &mut Counters,
) {
    let (rlwe, level) = (params.ckks().rlwe(), params.max_level());
    for FactorScratch { sum, factor } in scratch {
        rlwe.divide_by_special_into(level, sum, factor, counters);
    }
}
