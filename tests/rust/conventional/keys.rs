//! Keys of a conventional bootstrap that are fetched one by one: in the listed order, within the stated memory, and to the
//! same bits.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use refloat::Error;
use refloat::bootstrapping::ckks_conventional::{
    ConventionalEvaluator, ConventionalKeys, ConventionalParams, ConventionalSecretKey, Direction, KeySource,
    SwitchingKeyId,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::params::conventional_preset;
use refloat::random::Seed;
use refloat::ring::{Automorphism, GaloisElement};
use refloat::rlwe::{GaloisSource, HeldKey, SampleBlock};
use refloat_tests::chain::some_slots;

use super::toy::TOYS;

/// Makes every key from its parts when it is asked for, and keeps none.
struct FromParts<'a> {
    params: ConventionalParams,
    secret: &'a ConventionalSecretKey,
    automorphisms: BTreeMap<GaloisElement, (Automorphism, SwitchingKeyId)>,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    order: Vec<SwitchingKeyId>,
    held: Vec<Weak<SampleBlock<u64>>>,
    most_bytes: usize,
}

impl<'a> FromParts<'a> {
    fn new(secret: &'a ConventionalSecretKey) -> Self {
        let params = secret.params().clone();
        let automorphism = |(element, level)| {
            (element, (Automorphism::new(params.n(), element), SwitchingKeyId::Galois { element, level }))
        };
        Self {
            automorphisms: params.galois_elements().map(automorphism).collect(),
            params,
            secret,
            asked: Mutex::default(),
        }
    }

    fn key(&self, id: SwitchingKeyId) -> Result<HeldKey<'_, u64>, Error> {
        let mut builder = ConventionalKeys::builder(&self.params, self.secret.key_id());
        for part in self.params.key_parts().iter().filter(|part| part.key == id) {
            builder.add(part.index, &self.secret.key_part(part.index)?)?;
        }
        let key = Arc::new(builder.finish_key(id)?);
        assert_eq!(key.memory_bytes() as u64, self.params.switching_key_bytes(id));
        let mut asked = self.asked.lock().unwrap();
        asked.order.push(id);
        asked.held.push(Arc::downgrade(&key));
        asked.held.retain(|key| key.strong_count() > 0);
        let bytes = asked.held.iter().filter_map(Weak::upgrade).map(|key| key.memory_bytes()).sum();
        asked.most_bytes = asked.most_bytes.max(bytes);
        Ok(HeldKey::Fetched(key))
    }
}

impl GaloisSource<u64> for FromParts<'_> {
    fn n(&self) -> usize {
        self.params.n()
    }

    fn galois_key(&self, element: GaloisElement) -> Result<(&Automorphism, HeldKey<'_, u64>), Error> {
        let (automorphism, id) = &self.automorphisms[&element];
        Ok((automorphism, self.key(*id)?))
    }
}

impl KeySource<u64> for FromParts<'_> {
    fn key_id(&self) -> [u8; 16] {
        self.secret.key_id()
    }

    fn relinearization_key(&self) -> Result<HeldKey<'_, u64>, Error> {
        self.key(SwitchingKeyId::Relinearization)
    }

    fn ephemeral_key(&self, direction: Direction) -> Result<HeldKey<'_, u64>, Error> {
        self.key(direction.into())
    }
}

#[test]
fn a_bootstrap_asks_for_its_keys_in_the_listed_order_and_holds_no_more_than_stated() {
    for name in TOYS {
        let params: ConventionalParams = conventional_preset(name).unwrap().params().unwrap();
        let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated).unwrap();
        let values = some_slots(params.slots(), 3);
        let x = secret.encrypt(&values, params.levels().input, &Seed::from_bytes([2; 32])).unwrap();
        let resident = ConventionalKeys::generate(&secret).unwrap();
        let expected = evaluator.bootstrap(&x, &resident, &mut ()).unwrap();

        let source = FromParts::new(&secret);
        let found = evaluator.bootstrap(&x, &source, &mut ()).unwrap();
        let same = found.parts().iter().zip(expected.parts()).all(|(x, y)| x.data() == y.data());
        assert!(same && found.level() == expected.level(), "{name}");

        let asked = source.asked.lock().unwrap();
        assert_eq!(asked.order, params.key_order().unwrap().concat(), "{name}");
        let (most, least) = (asked.most_bytes as u64, params.least_key_bytes().unwrap());
        assert!(most <= least && 2 * least < params.expanded_key_bytes(), "{name}: {most}, {least} bytes");
        assert_eq!(params.expanded_key_bytes(), resident.memory_bytes() as u64, "{name}");
    }
}

#[test]
fn a_key_is_made_of_its_own_parts_and_an_absent_one_is_named() {
    let params: ConventionalParams =
        conventional_preset("toy-conventional10-sparse").unwrap().params().unwrap();
    let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
    let last = params.key_parts().last().unwrap();
    let finish = |added: &[usize]| {
        let mut builder = ConventionalKeys::builder(&params, secret.key_id());
        for &index in added {
            builder.add(index, &secret.key_part(index).unwrap()).unwrap();
        }
        builder.finish_key(last.key)
    };
    let absent = finish(&[0]).err().unwrap();
    assert_eq!(absent.code(), "MISSING_KEY");
    assert!(absent.to_string().contains("from the ephemeral secret"), "{absent}");
    let own: Vec<usize> =
        params.key_parts().iter().filter(|part| part.key == last.key).map(|part| part.index).collect();
    assert_eq!(finish(&own).unwrap().memory_bytes() as u64, params.switching_key_bytes(last.key));
}
