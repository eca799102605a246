//! Blind rotation with keys that the holder of the secret makes on the fly.
//!
//! A track is linear in its keys, and each of their samples is (e + payload - a v, a). So three sums are computed
//! separately: the products with `a`, modulo every prime; those with the errors, which are integers small enough for
//! a few primes; and those with the payloads, all but one of which vanish. At each division the first component is
//! put together as sum e + sum payload - (sum a) s. The result equals that of keys in memory bit for bit, for a
//! fraction of the transforms and without multiplying any sample by the secret.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use zeroize::Zeroizing;

use super::{
    blind_rotate::{BranchRotations, FactorScratch, LaneScratch, TrackScratch, decompose, divide},
    key_samples::times_bit,
    layout::BlockId,
    params::ShipParams,
    phase::Lane,
    secret::ShipSecretKey,
};
use crate::{
    arith::Word,
    error::Error,
    ring::{Automorphism, Basis, Eval, Extension, Poly, SmallPoly, fill_uniform_rows},
    rlwe::{Pair, RlweContext, mask_stream},
    trace::Counters,
};

/// Samples in memory at a time.
const HELD: usize = 4;

/// Blind rotation of one track. Every sample serves one product in each lane, so a few are in memory at a time, and
/// still in the cache when they are used. Work is counted as if the keys had been there.
pub(super) fn blind_rotate<W: Word>(
    secret: &ShipSecretKey<W>,
    rotations: &BranchRotations,
    lanes: &[Lane<'_, W>],
    track: usize,
    scratch: &mut TrackScratch<W>,
    counters: &mut Counters,
) -> Result<Vec<Pair<W>>, Error> {
    let params = secret.params();
    let (digits, factors) = scratch.parts(params, lanes.len(), 1);
    column(secret, params, lanes, track, factors, counters)?;
    divide(params, factors, counters);
    for step in 0..params.spec().branches.len() {
        decompose(params, digits, factors, counters);
        let rotations = rotations.of(step, track);
        multiplex(secret, params, (track, step), rotations, (digits, factors), counters);
        divide(params, factors, counters);
    }
    Ok(factors.iter().map(|lane| lane.factor.clone()).collect())
}

/// Column step: the sums of all candidates and quarters, not yet divided.
fn column<W: Word>(
    secret: &ShipSecretKey<W>,
    params: &ShipParams<W>,
    lanes: &[Lane<'_, W>],
    track: usize,
    scratch: &mut [FactorScratch<W>],
    counters: &mut Counters,
) -> Result<(), Error> {
    let basis = params.ckks().rlwe().qp(params.max_level());
    let samples = 4 * params.spec().columns;
    // Slots of modulus 1 make coefficients of at most the scale.
    let terms = samples as f64 * (params.node_scale(0).to_f64() + 1.0);
    let mut held = Held::new(basis, terms);
    let mut errors = held.sums(lanes.len());
    for first in (0..samples).step_by(HELD) {
        let range = first..samples.min(first + HELD);
        held.make(secret, BlockId::Column { track }, range.clone());
        for ((lane, lane_scratch), errors) in lanes.iter().zip(&mut *scratch).zip(&mut *errors) {
            let rows = |limb: usize| range.clone().map(|i| lane.phases.row(limb, lane.half, i)).collect();
            held.products(&rows, &mut lane_scratch.sum.a, errors, first > 0);
        }
    }
    counters.limb_mac += (2 * samples * basis.len() * lanes.len()) as u64;

    let payloads = secret.column_payloads(track)?;
    let mut selected = Zeroizing::new(vec![W::ZERO; 4 * basis.n()]);
    for ((lane, FactorScratch { sum, .. }), errors) in lanes.iter().zip(scratch).zip(&*errors) {
        held.widen(errors, &mut sum.b);
        for limb in 0..basis.len() {
            let m = basis.modulus(limb);
            // Selects the plaintexts of the secret candidate, with the same work for every candidate.
            selected.fill(W::ZERO);
            for i in 0..samples {
                let row = lane.phases.row(limb, lane.half, i);
                let factor = times_bit(m.shoup(W::ONE), secret.is_candidate(track, i / 4));
                let out = &mut selected[i % 4 * basis.n()..(i % 4 + 1) * basis.n()];
                basis.kernels().mul_scalar_add_assign(m, out, &row, &factor);
            }
            let rows: Vec<&[W]> = selected.chunks_exact(basis.n()).collect();
            let masks: Vec<&[W]> = payloads.iter().map(|payload| payload.row(limb)).collect();
            basis.kernels().inner_product(m, sum.b.row_mut(limb), &rows, &masks, true);
        }
        subtract_product(&mut sum.b, &sum.a, secret.dense.eval());
    }
    Ok(())
}

/// Multiplexer step, given the digits of the factors: the sums of all branches, not yet divided.
fn multiplex<W: Word>(
    secret: &ShipSecretKey<W>,
    params: &ShipParams<W>,
    (track, step): (usize, usize),
    rotations: &[Automorphism],
    (lanes, scratch): (&[LaneScratch<W>], &mut [FactorScratch<W>]),
    counters: &mut Counters,
) {
    let (rlwe, level) = (params.ckks().rlwe(), params.max_level());
    let (basis, digits) = (rlwe.qp(level), rlwe.digit_count(level));
    let mut held = Held::new(basis, (2 * rotations.len()) as f64 * half_digits(rlwe));
    let mut errors = held.sums(scratch.len());
    let mut terms = held.sums(scratch.len());
    let mut products: Vec<Poly<W, Eval>> = lanes.iter().map(|_| Poly::zero(basis)).collect();
    for FactorScratch { sum, .. } in &mut *scratch {
        sum.set_zero();
    }
    for (branch, rotation) in rotations.iter().enumerate() {
        let block = BlockId::Mux { track, step, branch };
        for first in (0..2 * digits).step_by(HELD) {
            let range = first..(2 * digits).min(first + HELD);
            held.make(secret, block, range.clone());
            for ((LaneScratch { digits: [b, a], .. }, products), term) in
                lanes.iter().zip(&mut products).zip(terms.iter_mut())
            {
                let row = |limb: usize, i: usize| {
                    if i < digits { b.row(limb, i) } else { a.row(limb, i - digits) }
                };
                let rows = |limb: usize| range.clone().map(|i| row(limb, i)).collect();
                held.products(&rows, products, term, first > 0);
            }
        }
        let sums = scratch.iter_mut().zip(&products).zip(errors.iter_mut().zip(&*terms));
        for ((FactorScratch { sum, .. }, products), (errors, term)) in sums {
            permute_add(&mut sum.a, products, rotation);
            permute_add(errors, term, rotation);
        }
    }
    counters.limb_mac += (4 * digits * basis.len() * rotations.len() * lanes.len()) as u64;
    counters.key_switch += (2 * rotations.len() * lanes.len()) as u64;
    let s = secret.dense.eval();
    for (FactorScratch { sum, factor }, errors) in scratch.iter_mut().zip(&*errors) {
        held.widen(errors, &mut sum.b);
        // The digits recompose: the payloads add up to P sigma(b + a s) for the branch of the secret digit.
        let mut phase = Zeroizing::new(factor.a.clone());
        let mut rotated = Zeroizing::new(vec![W::ZERO; basis.n()]);
        for limb in 0..rlwe.q(level).len() {
            let (m, kernels, row) = (basis.modulus(limb), basis.kernels(), phase.row_mut(limb));
            kernels.mul_assign(m, row, s.row(limb));
            kernels.add_assign(m, row, factor.b.row(limb));
            for (branch, rotation) in rotations.iter().enumerate() {
                let selected = secret.is_branch(track, step, branch);
                kernels.permute(&mut rotated, row, rotation.permutation());
                let special = times_bit(rlwe.special_mod_q()[limb], selected);
                kernels.mul_scalar_add_assign(m, sum.b.row_mut(limb), &rotated, &special);
            }
        }
        subtract_product(&mut sum.b, &sum.a, s);
    }
}

/// A few samples: second components modulo every prime, errors modulo some.
struct Held<W: Word> {
    basis: Basis<W>,
    narrow: Basis<W>,
    extension: Extension<W>,
    /// `[sample][limb][n]`.
    seconds: Vec<W>,
    /// `[sample][own limb][n]`.
    errors: Zeroizing<Vec<W>>,
}

impl<W: Word> Held<W> {
    /// For sums of products of the errors with integer polynomials; `largest` is the sum of their largest coefficients.
    fn new(basis: &Basis<W>, largest: f64) -> Self {
        // Products have n terms. A bit for the sign, and one because residues near half the modulus may be taken for
        // their negatives.
        let bits = libm::log2(largest * basis.n() as f64 * f64::from(SmallPoly::LARGEST_ERROR)) + 2.0;
        let mut order: Vec<usize> = (0..basis.len()).collect();
        order.sort_by_key(|&limb| core::cmp::Reverse(basis.modulus(limb).value_u64()));
        let mut held = 0.0;
        let enough = order.iter().position(|&limb| {
            held += basis.modulus(limb).log2();
            held > bits
        });
        // If the whole modulus is not larger, sums are taken modulo all of it.
        order.truncate(enough.map_or(order.len(), |last| last + 1));
        let narrow = basis.select(order.iter().copied());
        Self {
            seconds: vec![W::ZERO; HELD * basis.len() * basis.n()],
            errors: Zeroizing::new(vec![W::ZERO; HELD * narrow.len() * basis.n()]),
            extension: Extension::new(basis, order),
            narrow,
            basis: basis.clone(),
        }
    }

    /// Zeros for the sums of products with errors, one per lane.
    fn sums(&self, lanes: usize) -> Zeroizing<Vec<Poly<W, Eval>>> {
        Zeroizing::new((0..lanes).map(|_| Poly::zero(&self.narrow)).collect())
    }

    /// Makes the samples of a block with the indices `samples`.
    fn make(&mut self, secret: &ShipSecretKey<W>, block: BlockId, samples: Range<usize>) {
        let n = self.basis.n();
        let seconds = self.seconds.chunks_exact_mut(self.basis.len() * n);
        let errors = self.errors.chunks_exact_mut(self.narrow.len() * n);
        for ((index, seconds), errors) in samples.zip(seconds).zip(errors) {
            let mut stream = mask_stream(secret.public_seed(), block.code(), index);
            fill_uniform_rows(&self.basis, &mut stream, seconds);
            let error = SmallPoly::error(n, &mut secret.seeds.error_stream(block.code(), index));
            for (i, row) in errors.chunks_exact_mut(n).enumerate() {
                error.write_row(self.narrow.modulus(i), row);
                self.narrow.kernels().ntt_forward(self.narrow.row(i).ntt(), row);
            }
        }
    }

    /// Adds the products of the first samples with `rows(limb)` to the sums, or replaces the sums unless `accumulate`.
    fn products(
        &self,
        rows: &dyn Fn(usize) -> Vec<Vec<W>>,
        seconds: &mut Poly<W, Eval>,
        errors: &mut Poly<W, Eval>,
        accumulate: bool,
    ) {
        let (kernels, n) = (self.basis.kernels(), self.basis.n());
        for limb in 0..self.basis.len() {
            let (m, lhs) = (self.basis.modulus(limb), rows(limb));
            let lhs: Vec<&[W]> = lhs.iter().map(Vec::as_slice).collect();
            let add = |data: &[W], limbs: usize, i: usize, out: &mut Poly<W, Eval>| {
                debug_assert_eq!(data.len(), HELD * limbs * n);
                let samples = data.chunks_exact(limbs * n).take(lhs.len());
                let rhs: Vec<&[W]> = samples.map(|sample| &sample[i * n..(i + 1) * n]).collect();
                kernels.inner_product(m, out.row_mut(i), &lhs, &rhs, accumulate);
            };
            add(&self.seconds, self.basis.len(), limb, seconds);
            if let Some(i) = self.extension.own().iter().position(|&own| own == limb) {
                add(&self.errors, self.narrow.len(), i, errors);
            }
        }
    }

    /// Writes the integers that `sums` represents, modulo every prime.
    fn widen(&self, sums: &Poly<W, Eval>, out: &mut Poly<W, Eval>) {
        let mut coefficients = Zeroizing::new(sums.clone().into_coeff());
        coefficients.for_each_row_mut(|i, row| self.extension.prepare(i, row));
        let source = self.extension.source((0..self.narrow.len()).map(|i| coefficients.row(i)).collect());
        for (limb, row) in out.rows_mut() {
            if let Some(target) = self.extension.target(limb) {
                source.row_into(target, row);
                self.basis.kernels().ntt_forward(self.basis.row(limb).ntt(), row);
            }
        }
        for (i, &limb) in self.extension.own().iter().enumerate() {
            out.row_mut(limb).copy_from_slice(sums.row(i));
        }
    }
}

/// Half of every digit's modulus, added up: no coefficient of a digit is larger than half its modulus.
fn half_digits<W: Word>(rlwe: &RlweContext<W>) -> f64 {
    let q = rlwe.q(rlwe.max_level());
    let modulus =
        |digit: &Vec<usize>| digit.iter().map(|&i| q.modulus(i).value_u64() as f64).product::<f64>();
    rlwe.spec().digits.iter().map(|digit| modulus(digit) / 2.0).sum()
}

/// out += sigma(x).
fn permute_add<W: Word>(out: &mut Poly<W, Eval>, x: &Poly<W, Eval>, sigma: &Automorphism) {
    let kernels = x.basis().kernels();
    for (i, row) in out.rows_mut() {
        kernels.permute_add_assign(x.basis().modulus(i), row, x.row(i), sigma.permutation());
    }
}

/// out -= a s, wiping the product.
fn subtract_product<W: Word>(out: &mut Poly<W, Eval>, a: &Poly<W, Eval>, s: &Poly<W, Eval>) {
    let kernels = a.basis().kernels();
    let mut product = Zeroizing::new(vec![W::ZERO; a.basis().n()]);
    for (i, row) in out.rows_mut() {
        let m = a.basis().modulus(i);
        product.copy_from_slice(a.row(i));
        kernels.mul_assign(m, &mut product, s.row(i));
        kernels.sub_assign(m, row, &product);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bootstrapping::{
            ckks_ship::{Phases, ShipEvaluator, generate_track},
            method::SlotMode,
        },
        params,
        random::Seed,
    };

    #[test]
    fn factors_are_those_of_keys_in_memory() {
        for (set, mode) in
            [("toy10", SlotMode::Complex), ("ship13", SlotMode::Real), ("ship13-bits", SlotMode::Bits)]
        {
            let params = params::ship_preset(set).unwrap().params().unwrap();
            let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([3; 32]));
            let evaluator = ShipEvaluator::compact(&params).unwrap();
            let turns = |by: usize| (0..params.n()).map(|i| (i * by % 997) as f64 / 997.0 - 0.5).collect();
            let phases = Phases::from_turns(turns(5), turns(7)).unwrap();
            let counters = &mut Counters::default();
            let encoded = evaluator.encode_phase(&phases, mode, counters).unwrap();
            let scratch = &mut TrackScratch::new(&params);
            let (lanes, track) = (encoded.lanes(), 2);
            let keys = generate_track(&secret, track).unwrap();
            let wanted = evaluator.blind_rotate_lanes(&lanes, &[(track, &keys)], scratch, counters).unwrap();
            let found =
                blind_rotate(&secret, &evaluator.rotations, &lanes, track, scratch, counters).unwrap();
            for (lane, (wanted, found)) in wanted[0].iter().zip(&found).enumerate() {
                assert!(wanted.a.data() == found.a.data(), "{set}, lane {lane}: second components differ");
                assert!(wanted.b.data() == found.b.data(), "{set}, lane {lane}: first components differ");
            }
        }
    }
}
