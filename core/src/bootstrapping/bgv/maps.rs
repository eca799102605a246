//! Both linear maps, encoded.

use alloc::vec::Vec;

use super::params::{BgvParams, stage_shapes};
use crate::{
    arith::Word,
    circuits::linear_transform::{
        IntegerTransform, PlaintextStorage, SlotMatrix, integer_coeffs_to_slots_stages,
        integer_slots_to_coeffs_stages,
    },
    error::Error,
    par,
};

/// The stages of slots-to-coefficients modulo p^r, and of coefficients-to-slots modulo p^e.
pub(super) struct Maps<W: Word> {
    pub slots_to_coeffs: Vec<IntegerTransform<W>>,
    pub coeffs_to_slots: Vec<IntegerTransform<W>>,
}

impl<W: Word> Maps<W> {
    pub fn new(params: &BgvParams<W>, storage: PlaintextStorage) -> Result<Self, Error> {
        let (spec, columns) = (params.spec(), params.n() / 2);
        let there = integer_slots_to_coeffs_stages(params.messages(), columns, spec.slots_to_coeffs)?;
        let back = integer_coeffs_to_slots_stages(params.raised(), columns, spec.coeffs_to_slots)?;
        let matrices: Vec<SlotMatrix> = there.into_iter().chain(back).collect();
        let shapes = stage_shapes(spec, params.levels())?;
        let mut all = par::try_map(matrices.len(), |i| {
            let (level, shape) = &shapes[i];
            IntegerTransform::new(params.context(), &matrices[i], shape.period, *level, storage)
        })?;
        let coeffs_to_slots = all.split_off(spec.slots_to_coeffs);
        Ok(Self { slots_to_coeffs: all, coeffs_to_slots })
    }

    /// Bytes of encoded diagonals.
    pub fn memory_bytes(&self) -> usize {
        self.coeffs_to_slots.iter().chain(&self.slots_to_coeffs).map(IntegerTransform::memory_bytes).sum()
    }
}
