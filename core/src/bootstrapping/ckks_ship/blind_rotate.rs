//! Stage 4: one track, from public roots of unity to one encrypted factor.

use super::{keys::TrackKeys, params::ShipParams, phase::EncodedPhases};
use crate::{arith::Word, ring::Automorphism, rlwe::Pair, trace::Counters};

/// Blind rotation of one track for one half: the factor with slots F_((i - J_k) mod 2N), modulo Q
/// at scale L0 (the second half: F_((i + S - J_k) mod 2N)). No level is consumed: the scale P of
/// the masks is what each division removes.
pub fn blind_rotate<W: Word>(
    params: &ShipParams<W>,
    phases: &EncodedPhases<W>,
    half: usize,
    track: usize,
    keys: &TrackKeys<W>,
    counters: &mut Counters,
) -> Pair<W> {
    let mut factor = column(params, phases, half, keys, counters);
    for step in 0..keys.mux.len() {
        factor = multiplex(params, &factor, track, step, keys, counters);
    }
    factor
}

/// sum over candidates and quarters of C[r][q] · rotR_r(H_q): the window, rotated into place by r_0.
fn column<W: Word>(
    params: &ShipParams<W>,
    phases: &EncodedPhases<W>,
    half: usize,
    keys: &TrackKeys<W>,
    counters: &mut Counters,
) -> Pair<W> {
    let (rlwe, level) = (params.ckks().rlwe(), params.max_level());
    let basis = rlwe.qp(level);
    let mut sum = Pair::zero(basis);
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
    rlwe.divide_by_special(level, sum, counters)
}

/// sum over branches d of sigma_d(<digits(b), body_d> + <digits(a), mask_d>): the rotation whose
/// branch encrypts 1.
fn multiplex<W: Word>(
    params: &ShipParams<W>,
    x: &Pair<W>,
    track: usize,
    step: usize,
    keys: &TrackKeys<W>,
    counters: &mut Counters,
) -> Pair<W> {
    let (rlwe, level, n) = (params.ckks().rlwe(), params.max_level(), params.n());
    let (b, a) = (rlwe.decompose(level, &x.b, counters), rlwe.decompose(level, &x.a, counters));
    let basis = rlwe.qp(level);
    let (mut sum, mut term) = (Pair::zero(basis), Pair::zero(basis));
    for (branch, key) in keys.mux[step].iter().enumerate() {
        rlwe.key_product(&[&b, &a], key, &mut term, false, counters);
        let rotation = params.branch_rotation(track, step, branch);
        sum.automorphism_add_assign(&term, &Automorphism::rotation(n, -rotation));
    }
    rlwe.divide_by_special(level, sum, counters)
}
