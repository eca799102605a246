//! Stage 4: one track, from public roots of unity to one encrypted factor.

use super::{keys::TrackKeys, params::ShipParams, phase::EncodedPhases};
use crate::{
    arith::Word,
    ring::Automorphism,
    rlwe::{Digits, Pair},
    trace::Counters,
};

/// Working memory of one track, reused by the next.
pub struct TrackScratch<W: Word> {
    digits: [Digits<W>; 2],
    /// Modulo Q P.
    sum: Pair<W>,
    term: Pair<W>,
    /// Modulo Q.
    factor: Pair<W>,
}

impl<W: Word> TrackScratch<W> {
    /// Memory for the tracks of a set: about 2 D (L + K) + 6 (L + K) rows.
    pub fn new(params: &ShipParams<W>) -> Self {
        let (rlwe, level) = (params.ckks().rlwe(), params.max_level());
        Self {
            digits: [Digits::default(), Digits::default()],
            sum: Pair::zero(rlwe.qp(level)),
            term: Pair::zero(rlwe.qp(level)),
            factor: Pair::zero(rlwe.q(level)),
        }
    }
}

/// Blind rotation of one track for one half: the factor with slots F_((i - J_k) mod 2N), modulo Q
/// at scale L0 (the second half: F_((i + S - J_k) mod 2N)). No level is consumed: the scale P of
/// the masks is what each division removes.
pub fn blind_rotate<W: Word>(
    params: &ShipParams<W>,
    phases: &EncodedPhases<W>,
    half: usize,
    track: usize,
    keys: &TrackKeys<W>,
    scratch: &mut TrackScratch<W>,
    counters: &mut Counters,
) -> Pair<W> {
    column(params, phases, half, keys, scratch, counters);
    for step in 0..keys.mux.len() {
        multiplex(params, track, step, keys, scratch, counters);
    }
    scratch.factor.clone()
}

/// sum over candidates and quarters of C[r][q] · rotR_r(H_q): the window, rotated into place by r_0.
fn column<W: Word>(
    params: &ShipParams<W>,
    phases: &EncodedPhases<W>,
    half: usize,
    keys: &TrackKeys<W>,
    scratch: &mut TrackScratch<W>,
    counters: &mut Counters,
) {
    let (rlwe, level) = (params.ckks().rlwe(), params.max_level());
    let basis = rlwe.qp(level);
    let sum = &mut scratch.sum;
    for limb in 0..basis.len() {
        let rows = phases.rows(limb, half);
        basis.kernels().key_product(
            basis.modulus(limb),
            sum.b.row_mut(limb),
            sum.a.row_mut(limb),
            &rows,
            keys.column.limb(limb, 0, rows.len()),
            false,
        );
    }
    counters.limb_mac += (2 * keys.column.samples() * basis.len()) as u64;
    rlwe.divide_by_special_into(level, sum, &mut scratch.factor, counters);
}

/// sum over branches d of sigma_d(<digits(b), body_d> + <digits(a), mask_d>): the rotation whose
/// branch encrypts 1.
fn multiplex<W: Word>(
    params: &ShipParams<W>,
    track: usize,
    step: usize,
    keys: &TrackKeys<W>,
    scratch: &mut TrackScratch<W>,
    counters: &mut Counters,
) {
    let (rlwe, level, n) = (params.ckks().rlwe(), params.max_level(), params.n());
    let TrackScratch { digits: [b, a], sum, term, factor } = scratch;
    rlwe.decompose_into(level, &factor.b, b, counters);
    rlwe.decompose_into(level, &factor.a, a, counters);
    sum.set_zero();
    for (branch, key) in keys.mux[step].iter().enumerate() {
        rlwe.key_product(&[b, a], key, term, false, counters);
        let rotation = params.branch_rotation(track, step, branch);
        sum.automorphism_add_assign(term, &Automorphism::rotation(n, -rotation));
    }
    rlwe.divide_by_special_into(level, sum, factor, counters);
}
