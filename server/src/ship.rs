//! SHIP sets as jobs use them.

use refloat::bootstrapping::Method;
use refloat::bootstrapping::ckks_ship::{
    self, ShipBootstrapper, ShipEvaluator, ShipKeys, ShipParams, ShipPreset,
};
use refloat::schemes::ckks::Ciphertext;
use refloat::{Error, wire};

use crate::ckks_jobs::{CkksJobs, CkksMethod};
use crate::engine::{JobSet, LoadError, ReadPart, SlotMode};
use crate::id::Id;
use crate::registry::{Registered, Wanted};

/// SHIP, for the registry.
pub const METHOD: Registered =
    Registered { method: ckks_ship::METHOD, sets, client: |which| which.ckks::<ShipParams>() };

fn sets(wanted: Wanted<'_>) -> Result<Vec<Box<dyn JobSet>>, Error> {
    let set = |preset: &ShipPreset| {
        let params = preset.params()?;
        Ok(Box::new(CkksJobs::new(preset.describe(&params), params)) as Box<dyn JobSet>)
    };
    wanted.presets().map(set).collect()
}

impl CkksMethod for ShipParams {
    type Evaluator = ShipEvaluator;
    type Keys = ShipKeys;

    fn evaluator(&self) -> Result<ShipEvaluator, Error> {
        ShipEvaluator::new(self)
    }

    fn square_level(&self) -> usize {
        self.output_level()
    }

    fn verify_part(&self, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        wire::verify_ship_part(self, key.0, index, bytes)
    }

    fn load(&self, key: Id, read: ReadPart<'_>) -> Result<ShipKeys, LoadError> {
        let mut builder = ShipKeys::builder(self, key.0);
        for index in 0..self.key_parts().len() {
            builder.add(index, &read(index)?)?;
        }
        Ok(builder.finish()?)
    }

    fn bootstrapper<'a>(
        evaluator: &'a ShipEvaluator,
        keys: &'a ShipKeys,
        mode: SlotMode,
    ) -> impl Method<u32> + 'a {
        ShipBootstrapper { evaluator, keys, mode }
    }

    fn square(evaluator: &ShipEvaluator, x: &Ciphertext, keys: &ShipKeys) -> Result<Ciphertext, Error> {
        evaluator.square(x, keys)
    }
}

#[cfg(test)]
mod tests {
    use refloat::bootstrapping::ckks_ship::ShipSecretKey;
    use refloat::random::Seed;

    use super::*;
    use crate::engines::Engines;

    #[test]
    fn sets_are_described_with_their_sizes() {
        let engines = Engines::new(u64::MAX).unwrap();
        let toy = engines.named("toy10").unwrap().info();
        assert_eq!((toy.slots, toy.tracks, toy.tree_levels, toy.secure), (512, 15, 4, false));
        assert_eq!(toy.key_bytes, toy.key_parts.iter().map(|part| part.bytes as u64).sum::<u64>());
        let params = refloat::params::preset("toy10").unwrap().params().unwrap();
        let keys = ShipKeys::generate(&ShipSecretKey::generate(&params, &Seed::from_bytes([1; 32]))).unwrap();
        assert_eq!(toy.expanded_key_bytes, keys.memory_bytes() as u64);
        assert!(toy.expanded_key_bytes > 2 * toy.key_bytes, "seeded and packed against expanded");
        let ship = engines.named("ship13").unwrap().info();
        assert!(ship.secure && ship.expanded_key_bytes > 3 << 30);
        assert!(ship.key_parts.iter().all(|part| part.bytes <= 8 << 20));
    }
}
