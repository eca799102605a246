//! The description of a set that links numbers to gates.

use alloc::{format, string::ToString, vec::Vec};

use super::{
    DigitLinkPreset, LinkPreset, layout::LinkPartKind, params::LinkParams, range::Range, spec::LinkSpec,
    stages::STAGES,
};
use crate::{
    bootstrapping::{
        cggi,
        ckks_conventional::Reduction,
        ckks_msb::RootsSpec,
        method::{Fact, OrderInfo, ParamSet, Part, Preset, Scheme, SetInfo, SetSpec, SlotMode, Stage},
        raising::{ReductionSpec, maps::slots_to_base_bytes},
        wire_sizes::ciphertext_bytes,
    },
    circuits::linear_transform::PlaintextStorage,
    error::Error,
    ring::Basis,
};

impl ParamSet for LinkParams<Reduction> {
    type Spec = LinkSpec<Reduction>;

    fn checked(spec: &LinkSpec<Reduction>) -> Result<Self, Error> {
        Self::new(spec)
    }

    fn info(&self, preset: &LinkPreset) -> SetInfo {
        self.described(preset)
    }

    fn facts(&self, _: &LinkPreset) -> Vec<Fact> {
        self.comparison_facts()
    }
}

impl ParamSet for LinkParams<RootsSpec> {
    type Spec = LinkSpec<RootsSpec>;

    fn checked(spec: &LinkSpec<RootsSpec>) -> Result<Self, Error> {
        Self::new(spec)
    }

    fn info(&self, preset: &DigitLinkPreset) -> SetInfo {
        self.ckks().with_digits(self.described(preset))
    }

    fn facts(&self, preset: &DigitLinkPreset) -> Vec<Fact> {
        let mut facts = self.comparison_facts();
        facts.extend(self.ckks().digit_facts(preset.promised.base));
        facts
    }
}

impl<R: ReductionSpec> LinkParams<R> {
    /// The description of a set of numbers in slots; the stages are those of their bootstraps.
    fn described(&self, preset: &Preset<LinkSpec<R>>) -> SetInfo
    where
        LinkSpec<R>: SetSpec,
    {
        let slots = self.ckks();
        let levels = slots.levels();
        let parts = Part::list(self.key_parts().iter().map(|part| (part.label.clone(), part.bytes)));
        // The least secure of all instances that the keys publish.
        let weakest = if slots.security().bits <= self.cggi().security().bits.min(self.security().bits) {
            (slots.security().bits, slots.security().statement.clone())
        } else if self.cggi().security().bits <= self.security().bits {
            (self.cggi().security().bits, self.cggi().security().statement.clone())
        } else {
            (self.security().bits, self.security().statement.clone())
        };
        SetInfo {
            mode: SlotMode::Real,
            security_bits: weakest.0,
            security_statement: weakest.1,
            log_n: slots.n().ilog2(),
            slots: slots.slots(),
            log_qp: slots.log_qp(),
            log_q0p: slots.log_q0_p(),
            max_level: levels.coeffs_to_slots,
            input_level: levels.input,
            output_level: levels.output,
            log_failure: slots.log2_failure(),
            stages: slots.stages().iter().map(Stage::from).collect(),
            ciphertext_bytes: ciphertext_bytes(slots.ckks().rlwe()),
            expanded_key_bytes: self.expanded_key_bytes(),
            orders: Some(self.order_info()),
            ..SetInfo::of(preset, Scheme::Ckks, parts)
        }
    }

    /// How far apart numbers have to be for a comparison by gates, rounded up: nothing is promised for nearer ones.
    fn order_info(&self) -> OrderInfo {
        let log_failure = self.spec().log_failure;
        let least = |range: Range| {
            let comparison = self.comparison(range, self.ckks().scale()).ok()?;
            Some(libm::ceil(comparison.least_distance(log_failure)? * 1e3) / 1e3)
        };
        OrderInfo {
            ranked: self.most_ranked(),
            log_failure,
            least_signed: least(Range::Signed),
            least_unit: least(Range::Unit),
            stages: STAGES.iter().map(Stage::from).collect(),
        }
    }

    /// The facts about comparisons by gates.
    fn comparison_facts(&self) -> Vec<Fact> {
        let orders = self.order_info();
        let log = orders.log_failure;
        let apart = |least: Option<f64>, name: &str| match least {
            Some(least) => {
                format!(
                    "numbers in {name} are ordered rightly from {least:.3} apart, but for a chance of 2^{log}"
                )
            }
            None => format!("numbers in {name} are ordered wrongly more often than with 2^{log}"),
        };
        alloc::vec![
            Fact::new("numbers that are ranked at once", self.most_ranked().to_string()),
            Fact::new("bits that come back into slots at once", self.most_bits().to_string()),
            Fact::new("comparison", apart(orders.least_signed, "[-1, 1]")),
            Fact::new("comparison", apart(orders.least_unit, "[0, 1]")),
            Fact::new("level of slots that are compared", format!("{} or above", self.input_level())),
        ]
    }

    /// Bytes of the evaluation keys in memory, with the diagonals of the slots' maps, evaluated.
    pub fn expanded_key_bytes(&self) -> u64 {
        let (slots, storage) = (self.ckks(), PlaintextStorage::Evaluated);
        let diagonals = slots.diagonal_bytes(storage) + self.base_diagonal_bytes(storage);
        slots.expanded_key_bytes() + diagonals + self.gate_key_bytes()
    }

    /// Bytes of the diagonals that lead from slots to coefficients at the lowest levels, beside those of bootstraps.
    pub fn base_diagonal_bytes(&self, storage: PlaintextStorage) -> u64 {
        slots_to_base_bytes(self.ckks(), self.base_shapes(), storage)
    }

    /// Bytes of the keys that slots alone would not have: those of the gates, and those between both.
    pub fn gate_key_bytes(&self) -> u64 {
        let rows =
            |basis: &Basis<u64>, samples: usize| 2 * samples * basis.len() * basis.n() * size_of::<u64>();
        let back = self.to_slots().map_or(0, |context| rows(context.q0p(), context.digit_count()));
        let gates = self.cggi();
        // One sample for each automorphism and digit.
        let packing = self.key_parts().iter().map(|part| match part.kind {
            LinkPartKind::Packing(samples) => 2 * samples * gates.n() * size_of::<u64>(),
            _ => 0,
        });
        let links = rows(self.to_gates().q0p(), 1) + back + packing.sum::<usize>();
        cggi::expanded_bytes(gates) + links as u64
    }
}
