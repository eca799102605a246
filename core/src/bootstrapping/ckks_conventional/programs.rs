//! Programs on conventional sets.

use alloc::collections::BTreeMap;

use super::{bootstrapper::ConventionalBootstrapper, spec::ConventionalParams};
use crate::{
    arith::Word,
    bootstrapping::{program::ProgramMethod, raising::KeySource, switching_keys::SwitchingKeyId},
    circuits::program::{Plan, Target},
    error::Error,
    ring::GaloisElement,
};

impl<W: Word> ConventionalParams<W> {
    /// What programs are planned for: the keys are those of bootstraps, and rotations without a key are composed of rotations
    /// with one.
    pub fn program_target(&self) -> Result<Target, Error> {
        let levels = self.levels();
        let target = Target::new(self.ckks(), self.slots(), levels.output, self.scale())?;
        Ok(target
            .with_relinearization(levels.reduction)
            .with_galois(self.galois_elements())
            .with_bootstrapping(levels.input, levels.output)
            .with_failure(self.log2_failure()))
    }

    /// The most key bytes that a run of a plan for [`Self::program_target`] holds at once: those of a bootstrap or, between
    /// two bootstraps, those of one of the program's linear transforms and the relinearisation key.
    pub fn program_key_bytes(&self, plan: &Plan<'_>) -> Result<u64, Error> {
        let levels: BTreeMap<_, _> = self.galois_elements().collect();
        let rotation = |step: &i64| {
            let element = GaloisElement::rotation(*step, self.n());
            let level = levels.get(&element).copied().unwrap_or_default();
            self.switching_key_bytes(SwitchingKeyId::Galois { element, level })
        };
        let groups = plan.held_rotations().map(|steps| steps.iter().map(rotation).sum::<u64>());
        let relinearization = self.switching_key_bytes(SwitchingKeyId::Relinearization);
        Ok(groups.map(|group| group + relinearization).fold(self.least_key_bytes()?, u64::max))
    }
}

impl<W: Word> ProgramMethod<W> for ConventionalBootstrapper<'_, W> {
    fn program_keys(&self) -> &dyn KeySource<W> {
        self.keys
    }
}
