//! SHIP sets as jobs use them.

use refloat::bootstrapping::Method;
use refloat::bootstrapping::ckks_ship::{
    self, KeySource, ShipBootstrapper, ShipEvaluator, ShipKeys, ShipParams, ShipPreset,
};
use refloat::rlwe::RelinearizationSource;
use refloat::{Error, wire};

use crate::ckks_jobs::{CkksJobs, CkksMethod};
use crate::engine::{JobSet, LoadError, ReadPart, SlotMode, read_parts};
use crate::id::Id;
use crate::registry::{Registered, SetFilter};

/// SHIP, for the registry.
pub const METHOD: Registered =
    Registered { method: ckks_ship::METHOD, sets, client: |which| which.ckks::<ShipParams>() };

fn sets(wanted: SetFilter<'_>) -> Result<Vec<Box<dyn JobSet>>, Error> {
    let set = |preset: &ShipPreset| {
        let params = preset.params()?;
        Ok(Box::new(CkksJobs::new(preset.describe(&params), params)?) as Box<dyn JobSet>)
    };
    wanted.presets().map(set).collect()
}

impl CkksMethod for ShipParams {
    type Evaluator = ShipEvaluator;
    type Keys = ShipKeys;

    fn evaluator(&self) -> Result<ShipEvaluator, Error> {
        ShipEvaluator::new(self)
    }

    fn verify_part(&self, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        wire::verify_ship_part(self, key.0, index, bytes)
    }

    fn load(&self, key: Id, read: ReadPart<'_>) -> Result<ShipKeys, LoadError> {
        let mut builder = ShipKeys::builder(self, key.0);
        read_parts(self.key_parts().len(), read, |index, bytes| builder.add(index, bytes))?;
        Ok(builder.finish()?)
    }

    fn bootstrapper<'a>(
        evaluator: &'a ShipEvaluator,
        keys: &'a ShipKeys,
        mode: SlotMode,
    ) -> Result<impl Method<u32> + 'a, Error> {
        Ok(ShipBootstrapper { evaluator, keys, mode })
    }

    fn relinearization(keys: &ShipKeys) -> Option<impl RelinearizationSource<u32>> {
        Some(keys.common().relinearization())
    }
}

#[cfg(test)]
mod tests {
    use refloat::bootstrapping::MetaBootstrapper;
    use refloat::bootstrapping::ckks_ship::ShipSecretKey;
    use refloat::bootstrapping::method::NumberSecret;
    use refloat::params::ship_preset;
    use refloat::random::Seed;

    use super::*;
    use crate::engine::{Operation, Task};
    use crate::engines::Engines;
    use crate::registry::Memory;

    #[test]
    fn sets_are_described_with_their_sizes() {
        let engines = Engines::new(u64::MAX).unwrap();
        let toy = engines.named("toy10").unwrap().info();
        assert_eq!((toy.slots, toy.tracks, toy.tree_levels, toy.secure), (512, 15, 4, false));
        assert_eq!(toy.key_bytes, toy.key_parts.iter().map(|part| part.bytes as u64).sum::<u64>());
        let params = ship_preset("toy10").unwrap().params().unwrap();
        let keys = ShipKeys::generate(&ShipSecretKey::generate(&params, &Seed::from_bytes([1; 32]))).unwrap();
        let evaluator = ShipEvaluator::new(&params).unwrap();
        assert!(evaluator.memory_bytes() > 0);
        assert_eq!(toy.expanded_key_bytes, (keys.memory_bytes() + evaluator.memory_bytes()) as u64);
        assert!(toy.expanded_key_bytes > 2 * toy.key_bytes, "seeded and packed against expanded");
        let ship = engines.named("ship13").unwrap().info();
        assert!(ship.secure && ship.expanded_key_bytes > 3 << 30);
        assert!(ship.key_parts.iter().all(|part| part.bytes <= 8 << 20));
    }

    /// Jobs are planned and run as programs; their results are bit for bit those of the operations themselves.
    #[test]
    fn jobs_give_what_the_operations_give() {
        let params = ship_preset("toy10").unwrap().params().unwrap();
        let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        let keys = ShipKeys::generate(&secret).unwrap();
        let evaluator = ShipEvaluator::new(&params).unwrap();
        let set = sets(SetFilter { only: Some("toy10"), memory: Memory::Keys(0) }).unwrap().remove(0);
        let key = Id(secret.key_id());
        let loaded = set.load(key, &mut |index| Ok(secret.key_part(index).unwrap())).unwrap();
        let numbers: Vec<f64> = (0..params.slots()).map(|i| i as f64 / 512.0 - 0.5).collect();
        let fresh = secret.encrypt_numbers(&numbers, SlotMode::Real, 2, &Seed::from_bytes([2; 32])).unwrap();
        for (operations, mode, rounds) in [
            ("square", SlotMode::Real, 1),
            ("bootstrap,square", SlotMode::Real, 1),
            ("square,bootstrap", SlotMode::Complex, 1),
            ("bootstrap", SlotMode::Real, 2),
        ] {
            let once = ShipBootstrapper { evaluator: &evaluator, keys: &keys, mode };
            let method = MetaBootstrapper::new(&once, rounds, set.info().gain_bits.unwrap()).unwrap();
            let task = Task { mode, operations: Operation::parse_list(operations).unwrap(), rounds };
            let input = wire::ciphertext_to_bytes(params.ckks(), &fresh).unwrap();
            let most = set.check(key, &task, &input).unwrap();
            let found = loaded.runner.run(&task, &input, &mut ()).unwrap();
            let expected =
                task.operations.iter().fold(fresh.clone(), |x, operation| match operation.name() {
                    "square" => evaluator.square(&x, &keys).unwrap(),
                    _ => method.bootstrap(&x, &mut ()).unwrap(),
                });
            let expected = wire::ciphertext_to_bytes(params.ckks(), &expected).unwrap();
            assert!(found == expected, "{operations}, {} values, {rounds} rounds", mode.name());
            assert_eq!(most, found.len() as u64);
        }
    }
}
