//! Both linear maps, encoded.

use alloc::vec::Vec;

use super::params::BgvParams;
use crate::{
    arith::Word,
    circuits::linear_transform::{
        HypercubeMatrix, IntegerTransform, PlaintextStorage, SlotMatrix, hypercube_coeffs_to_slots_stages,
        hypercube_slots_to_coeffs_stages, integer_coeffs_to_slots_stages, integer_slots_to_coeffs_stages,
    },
    error::Error,
    par,
};

/// The stages of slots-to-coefficients modulo p^r (modulo p^e for digits that are apart), and of coefficients-to-slots modulo p^e.
pub(super) struct Maps<W: Word> {
    pub slots_to_coeffs: Vec<IntegerTransform<W>>,
    pub coeffs_to_slots: Vec<IntegerTransform<W>>,
}

impl<W: Word> Maps<W> {
    pub fn new(params: &BgvParams<W>, storage: PlaintextStorage) -> Result<Self, Error> {
        let (spec, columns) = (params.spec(), params.context().slots() / 2);
        let levels: Vec<usize> = params.shapes().all().map(|(level, _)| *level).collect();
        if let Some(cube) = params.context().hypercube() {
            let general = spec.is_general();
            let there = hypercube_slots_to_coeffs_stages(cube, params.mapped_ring(), general)?;
            let back = hypercube_coeffs_to_slots_stages(cube, params.raised(), general)?;
            let all: Vec<HypercubeMatrix> = there.into_iter().chain(back).collect();
            let transform =
                |i: usize| IntegerTransform::of_hypercube(params.context(), &all[i], levels[i], storage);
            let mut slots_to_coeffs = par::try_map(all.len(), transform)?;
            let coeffs_to_slots = slots_to_coeffs.split_off(spec.slots_to_coeffs);
            return Ok(Self { slots_to_coeffs, coeffs_to_slots });
        }
        let there = integer_slots_to_coeffs_stages(params.mapped_ring(), columns, spec.slots_to_coeffs)?;
        let back = integer_coeffs_to_slots_stages(params.raised(), columns, spec.coeffs_to_slots)?;
        let matrices: Vec<SlotMatrix> = there.into_iter().chain(back).collect();
        let mut all = par::try_map(matrices.len(), |i| {
            IntegerTransform::new(params.context(), &matrices[i], levels[i], storage)
        })?;
        let coeffs_to_slots = all.split_off(spec.slots_to_coeffs);
        Ok(Self { slots_to_coeffs: all, coeffs_to_slots })
    }

    /// Bytes of encoded diagonals.
    pub fn memory_bytes(&self) -> usize {
        self.coeffs_to_slots.iter().chain(&self.slots_to_coeffs).map(IntegerTransform::memory_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrapping::bgv::BgvPreset;

    /// A set is validated with the expected gains of its maps, before they are made.
    #[test]
    fn gains_are_as_expected() {
        let params = BgvPreset::named("toy-bgv10").expect("a set").params().expect("a sound set");
        let maps = Maps::new(&params, PlaintextStorage::Coefficients).expect("a sound set");
        let shapes: Vec<_> = params.shapes().all().collect();
        let own = maps.slots_to_coeffs.iter().chain(&maps.coeffs_to_slots);
        assert_eq!(shapes.len(), maps.slots_to_coeffs.len() + maps.coeffs_to_slots.len());
        for (i, (map, (_, shape))) in own.zip(&shapes).enumerate() {
            let ring = if i < maps.slots_to_coeffs.len() { params.messages() } else { params.raised() };
            let expected = IntegerTransform::expected_gain(params.context().rlwe(), shape, ring);
            let found = map.gain();
            let bits = |found: f64, expected: f64| libm::log2(found / expected);
            // Few values repeated, as in the last stage, are less likely to have a large one among them.
            let embedding = bits(found.embedding, expected.embedding);
            assert!((-0.75..0.3).contains(&embedding), "stage {i}: {embedding} bits");
            assert_eq!(found.giant_steps, expected.giant_steps);
        }
    }
}
