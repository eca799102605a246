//! The noise that each stage of a BGV bootstrap should leave, as a deviation of coefficients: sums of squares, where the estimates that
//! ciphertexts carry add up largest embeddings.
//!
//! After a linear map sum_k D_k sigma_k(v) that is the squares of all coefficients of all D_k, uniform modulo P, and what its key
//! switches and its division leave. After a removal it is the rounding of the last division: levels of products are so large that
//! products leave less. What is packed is a sum of d of these.

use refloat::arith::{PrimePower, Word};
use refloat::bootstrapping::bgv::{
    BgvParams, BgvRun, BgvState, COEFFS_TO_SLOTS, DIGIT_REMOVAL, MOD_RAISE, PREPARE, SLOTS_TO_COEFFS,
    TAKE_OFF, UNPACK,
};
use refloat::circuits::linear_transform::{
    IntegerStageShape, hypercube_shapes, integer_coeffs_to_slots_shapes, integer_slots_to_coeffs_shapes,
};
use refloat::schemes::bgv::BgvCiphertext;

use crate::bgv::log_deviation;
use crate::keyed_bgv::KeyedBgv;

/// What one stage left.
pub struct Left {
    /// The stage.
    pub stage: &'static str,
    /// Coefficients of the noise over the deviation that the law gives.
    pub over_law: Vec<f64>,
    /// The same over the deviation that its estimate stands for.
    pub over_estimate: Vec<f64>,
}

/// The result of a bootstrap of `x`, which is at the lowest level of an input, and the noise after each of its stages: against the law for
/// what was measured before it.
///
/// # Panics
/// If the bootstrap fails.
pub fn of_stages<W: Word>(set: &KeyedBgv<W>, x: &BgvCiphertext<W>) -> (BgvCiphertext<W>, Vec<Left>) {
    let (params, laws) = (&set.params, Laws { params: &set.params });
    assert_eq!(x.level(), params.levels().input);
    let mut run = BgvRun::new(&set.bootstrapper, x).expect("an input");
    let mut before = set.log_noise(x).exp2();
    let mut out = Vec::new();
    while let Some(stage) = run.next_stage().map(|stage| stage.id) {
        run.step(&set.keys, &mut ()).unwrap_or_else(|error| panic!("{stage}: {error}"));
        let law = match stage {
            SLOTS_TO_COEFFS => laws.mapped(false, before),
            PREPARE => params.quotient_deviation(before),
            MOD_RAISE => laws.raised(),
            COEFFS_TO_SLOTS => laws.mapped(true, before),
            UNPACK => laws.unpacked(before),
            DIGIT_REMOVAL => laws.removed(),
            TAKE_OFF => before.hypot(laws.rounding()),
            other => panic!("{other} has no law"),
        };
        let (noise, estimate) = match run.state() {
            BgvState::Prepared(prepared) => {
                let q0 = params.spec().chain.levels[0][0] as f64;
                let phase = set.secret.decrypt_prepared(prepared).expect("our own");
                let quotients = phase.reveal_to_key_owner().iter().map(|&x| x as f64 / q0);
                (quotients.map(|x| x - x.round()).collect(), law)
            }
            BgvState::Base(x)
            | BgvState::Raised(x, _)
            | BgvState::Slots(x, _)
            | BgvState::Removed(x)
            | BgvState::Digits(x, _)
            | BgvState::Done(x) => (set.noise(x), set.log_estimate(x).exp2()),
            BgvState::Unpacked(all, _) => {
                (all.iter().flat_map(|x| set.noise(x)).collect(), set.log_estimate(&all[0]).exp2())
            }
            BgvState::Input(_) | BgvState::Failed => panic!("{stage} was done"),
        };
        before = log_deviation(&noise).exp2();
        let over = |law: f64| noise.iter().map(|x| x / law).collect();
        out.push(Left { stage, over_law: over(law), over_estimate: over(estimate) });
    }
    (run.finish().expect("done"), out)
}

/// The laws of a set.
struct Laws<'a, W: Word> {
    params: &'a BgvParams<W>,
}

impl<W: Word> Laws<'_, W> {
    fn deviation(&self, noise: f64) -> f64 {
        self.params.context().noise().deviation(noise)
    }

    fn rounding(&self) -> f64 {
        self.deviation(self.params.context().noise().rounding())
    }

    fn key_switch(&self, level: usize) -> f64 {
        self.deviation(self.params.context().noise().key_switch(level))
    }

    /// The level that a map begins at, the shapes of its stages, and the plaintexts that it takes.
    fn maps(&self, to_slots: bool) -> (usize, Vec<IntegerStageShape>, PrimePower) {
        let (params, spec, levels) = (self.params, self.params.spec(), self.params.levels());
        let columns = params.context().slots() / 2;
        let cube = params.context().hypercube().map(|cube| hypercube_shapes(cube, params.is_general()));
        if to_slots {
            let shapes = cube.map(|[_, back]| back);
            let shapes = shapes.unwrap_or_else(|| {
                integer_coeffs_to_slots_shapes(columns, spec.coeffs_to_slots).expect("stages of the set")
            });
            return (levels.coeffs_to_slots, shapes, params.raised());
        }
        let shapes = cube.map_or_else(
            || integer_slots_to_coeffs_shapes(columns, spec.slots_to_coeffs).expect("stages of the set"),
            |[there, _]| there,
        );
        let apart = params.is_general() && params.stages().iter().any(|stage| stage.id == TAKE_OFF);
        (levels.slots_to_coeffs, shapes, if apart { params.raised() } else { params.messages() })
    }

    /// Each stage of a map: its baby steps but the identity switch a key, and its giant steps switch one and round.
    fn mapped(&self, to_slots: bool, before: f64) -> f64 {
        let (top, shapes, plaintexts) = self.maps(to_slots);
        let rlwe = self.params.context().rlwe();
        let floor = self.rounding().powi(2);
        let stages = (0..=top).rev().zip(&shapes);
        let squares = stages.fold(before.powi(2), |squares, (level, shape)| {
            let (steps, switch) = (shape.divided(rlwe.ring()), self.key_switch(level).powi(2));
            let coefficients = (steps.steps().len() * 2 * shape.period) as f64;
            let gain = coefficients * (plaintexts.value() as f64).powi(2) / 12.0;
            let divisor: f64 = rlwe.spec().levels[level].iter().map(|&q| q as f64).product();
            let giants = steps.giants().len() as f64 * (switch + floor);
            ((squares + switch) * gain + giants) / divisor.powi(2) + floor
        });
        squares.sqrt()
    }

    /// Multiples of q0, of which the ephemeral secret makes as many as a product with it has roundings, over P. Those that are multiples
    /// of q0 exactly have no noise of their own.
    fn raised(&self) -> f64 {
        let (params, model) = (self.params, self.params.context().noise());
        let switched = self.key_switch(params.levels().coeffs_to_slots).hypot(self.rounding());
        if params.stages().iter().any(|stage| stage.id == TAKE_OFF) {
            return switched;
        }
        let growth = model.deviation(model.embedding(1.0));
        let weight = f64::from(params.spec().ephemeral.weight) * growth.powi(2);
        let q0 = params.spec().chain.levels[0][0] as f64;
        let quotients = ((1.0 + weight) / 12.0).sqrt();
        (quotients * q0 / params.raised().value() as f64).hypot(switched)
    }

    /// In a ring of two axes, m' times a coordinate of the noise, and the products of d - 1 key switches with Z^l - 1. In one of odd
    /// index, a sum of d images of the noise.
    fn unpacked(&self, before: f64) -> f64 {
        let context = self.params.context();
        let (d, switch) =
            (context.slot_degree() as f64, self.key_switch(self.params.levels().removal).powi(2));
        let squares = if context.hypercube().is_some() {
            d * before.powi(2) + (d - 1.0) * switch
        } else {
            (d + 1.0).powi(2) * before.powi(2) + 2.0 * (d - 1.0) * switch
        };
        squares.sqrt().hypot(self.rounding())
    }

    /// As many roundings as are packed.
    fn removed(&self) -> f64 {
        let summed = if self.params.is_general() { self.params.context().slot_degree() } else { 1 };
        self.rounding() * (summed as f64).sqrt()
    }
}
