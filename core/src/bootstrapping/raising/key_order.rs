//! The order in which a bootstrap uses its keys, and which of them it holds at the same time.

use alloc::{collections::BTreeMap, vec, vec::Vec};

use super::{
    params::{RaisingParams, stage_shapes},
    reduction::ReductionSpec,
    spec::StageOrder,
};
use crate::{
    arith::Word,
    bootstrapping::switching_keys::SwitchingKeyId,
    circuits::linear_transform::{BabyGiantSteps, Step},
    error::Error,
    ring::GaloisElement,
};

impl<R: ReductionSpec, W: Word> RaisingParams<R, W> {
    /// The keys of one bootstrap in the order in which the evaluator asks for them, in groups that it holds together: the baby
    /// steps of a linear map, the keys of the reduction, and every other key alone. A key that is used in two places is in two
    /// groups.
    ///
    /// This is the order of one pass. A method that reads several digits makes one pass per digit, each from the beginning, so a
    /// source that reads ahead goes round.
    pub fn key_order(&self) -> Result<Vec<Vec<SwitchingKeyId>>, Error> {
        let (spec, n) = (self.spec(), self.n());
        let levels: BTreeMap<GaloisElement, usize> = self.galois_elements().collect();
        let galois = |element: GaloisElement| SwitchingKeyId::Galois {
            element,
            level: levels.get(&element).copied().unwrap_or_default(),
        };
        let rotation = |step: i64| galois(GaloisElement::rotation(step, n));
        let conjugation = galois(GaloisElement::conjugation(n));

        let mut raise = Vec::new();
        if self.encapsulation().is_some() {
            raise.extend([vec![SwitchingKeyId::ToEphemeral], vec![SwitchingKeyId::FromEphemeral]]);
        }
        let mut step = self.slots();
        while step < n / 2 {
            raise.push(vec![rotation(step as i64)]);
            step *= 2;
        }
        let mut maps = stage_shapes(spec, self.levels())?.into_iter().map(|(_, shape)| {
            let steps = BabyGiantSteps::of(&shape.shifts, n / 2);
            let turns = |steps: &[Step]| {
                let turns = steps.iter().filter(|&&step| step != Step::IDENTITY);
                turns.map(|step| galois(step.element(n))).collect::<Vec<_>>()
            };
            let (babies, giants) = (turns(steps.babies()), turns(steps.giants()));
            let babies = Some(babies).filter(|babies| !babies.is_empty());
            babies.into_iter().chain(giants.into_iter().map(|giant| vec![giant])).collect::<Vec<_>>()
        });
        let mut to_slots: Vec<_> = maps.by_ref().take(spec.coeffs_to_slots).flatten().collect();
        to_slots.push(vec![conjugation]);
        let mut to_coeffs: Vec<_> = maps.flatten().collect();
        if self.packs_parts() {
            to_coeffs.push(vec![rotation(self.slots() as i64)]);
        }
        let own_conjugation = spec.reduction.conjugates().then_some(conjugation);
        let reduction = [SwitchingKeyId::Relinearization].into_iter().chain(own_conjugation).collect();
        let inner = [raise, to_slots, vec![reduction]].concat();
        Ok(match spec.order {
            StageOrder::CoeffsToSlotsFirst => [inner, to_coeffs].concat(),
            StageOrder::SlotsToCoeffsFirst => [to_coeffs, inner].concat(),
        })
    }

    /// Bytes of a switching key expanded in memory: both components of every sample, one word a residue.
    pub fn switching_key_bytes(&self, key: SwitchingKeyId) -> u64 {
        self.layout().expanded_bytes(key)
    }

    /// The most bytes of keys that a bootstrap holds at once when it holds none longer than needed: the largest group of
    /// [`Self::key_order`].
    pub fn least_key_bytes(&self) -> Result<u64, Error> {
        let bytes =
            |group: &Vec<SwitchingKeyId>| group.iter().map(|&key| self.switching_key_bytes(key)).sum::<u64>();
        Ok(self.key_order()?.iter().map(bytes).fold(0, u64::max))
    }
}
