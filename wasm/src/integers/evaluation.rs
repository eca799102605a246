//! Evaluation keys, and arithmetic with them.

use js_sys::{Uint8Array, Uint32Array};
use refloat::{
    bootstrapping::{
        bgv::{BgvKeys, BgvParams, KeySource},
        method::KeysBuilder,
    },
    schemes::bgv::BgvEvaluator,
    scrub::scrubbed,
};
use wasm_bindgen::prelude::wasm_bindgen;

use super::{ciphertext::IntegerCiphertext, presets::Sets, secret::IntegerSecretKey};
use crate::{
    collected::Collected,
    failure::{Result, key_id},
};

/// The public keys that products, rotations and bootstraps need.
#[wasm_bindgen]
pub struct IntegerKeys(Collected<KeysBuilder<BgvParams>, BgvKeys<u64>>);

#[wasm_bindgen]
impl IntegerKeys {
    /// An empty set for a key, to be filled part by part.
    pub fn begin(preset: &str, id: &Uint8Array) -> Result<IntegerKeys> {
        let (_, params) = Sets::named(preset)?;
        Ok(IntegerKeys(Collected::Collecting(BgvKeys::builder(&params, key_id(id)?))))
    }

    /// Makes a part from the secret key and takes it in.
    #[wasm_bindgen(js_name = addFromSecret)]
    pub fn add_from_secret(&mut self, secret: &IntegerSecretKey, index: usize) -> Result<()> {
        let part = scrubbed(|| secret.key.key_part(index))?;
        Ok(self.0.collecting()?.add(index, &part)?)
    }

    /// Completes the set; fails if parts are missing.
    pub fn finish(&mut self) -> Result<()> {
        self.0.finish(KeysBuilder::finish)
    }

    /// Bytes the keys take in memory between runs.
    #[wasm_bindgen(js_name = memoryBytes)]
    pub fn memory_bytes(&self) -> f64 {
        self.0.keys().map_or(0, BgvKeys::memory_bytes) as f64
    }

    /// Products of the slots of two ciphertexts; takes one level.
    pub fn multiply(&self, x: &IntegerCiphertext, y: &IntegerCiphertext) -> Result<IntegerCiphertext> {
        let keys = self.of_owner(x)?;
        Ok(x.sibling(evaluator(x).multiply(&x.inner, &y.inner, &*keys.relinearization_key()?)?))
    }

    /// Both rows moved to the left by `steps` slots, cyclically.
    pub fn rotate(&self, x: &IntegerCiphertext, steps: i32) -> Result<IntegerCiphertext> {
        let keys = self.of_owner(x)?;
        let hops = x.params.program_target()?.rotation(x.inner.level(), steps.into())?;
        let mut turned = x.inner.clone();
        for hop in hops {
            turned = evaluator(x).rotate(&turned, hop, keys)?;
        }
        Ok(x.sibling(turned))
    }

    /// Exchanges the two rows.
    #[wasm_bindgen(js_name = swapRows)]
    pub fn swap_rows(&self, x: &IntegerCiphertext) -> Result<IntegerCiphertext> {
        Ok(x.sibling(evaluator(x).swap_rows(&x.inner, self.of_owner(x)?)?))
    }
}

impl IntegerKeys {
    /// The keys, once they are complete.
    pub(super) fn keys(&self) -> Result<&BgvKeys<u64>> {
        self.0.keys()
    }

    /// The keys, if they belong to the owner of a ciphertext: with other keys, results would be wrong.
    fn of_owner(&self, x: &IntegerCiphertext) -> Result<&BgvKeys<u64>> {
        let keys = self.keys()?;
        keys.check_owner(&x.inner)?;
        Ok(keys)
    }
}

/// The evaluator for a ciphertext; it has no tables of its own.
fn evaluator(x: &IntegerCiphertext) -> BgvEvaluator {
    BgvEvaluator::new(x.params.context())
}

/// Sums of the slots of two ciphertexts. If their factors differ, this takes a level.
#[wasm_bindgen(js_name = addIntegers)]
pub fn add(x: &IntegerCiphertext, y: &IntegerCiphertext) -> Result<IntegerCiphertext> {
    let bgv = evaluator(x);
    let (left, right) = bgv.at_one_factor(&x.inner, &y.inner)?;
    Ok(x.sibling(bgv.add(&left, &right)?))
}

/// Differences of the slots of two ciphertexts; levels are as for [`add`].
#[wasm_bindgen(js_name = subtractIntegers)]
pub fn subtract(x: &IntegerCiphertext, y: &IntegerCiphertext) -> Result<IntegerCiphertext> {
    let bgv = evaluator(x);
    let (left, right) = bgv.at_one_factor(&x.inner, &y.inner)?;
    Ok(x.sibling(bgv.sub(&left, &right)?))
}

/// Negatives of the slots.
#[wasm_bindgen(js_name = negateIntegers)]
pub fn negate(x: &IntegerCiphertext) -> IntegerCiphertext {
    x.sibling(evaluator(x).negate(&x.inner))
}

/// Slots plus known integers; those that are missing are 0.
#[wasm_bindgen(js_name = addPlain)]
pub fn add_plain(x: &IntegerCiphertext, values: &Uint32Array) -> Result<IntegerCiphertext> {
    Ok(x.sibling(evaluator(x).add_plain(&x.inner, &wide(values))?))
}

/// Slots times known integers; takes one level.
#[wasm_bindgen(js_name = multiplyPlain)]
pub fn multiply_plain(x: &IntegerCiphertext, values: &Uint32Array) -> Result<IntegerCiphertext> {
    let bgv = evaluator(x);
    Ok(x.sibling(bgv.rescale(&bgv.multiply_plain(&x.inner, &wide(values))?)?))
}

/// The same integers at a lower level.
#[wasm_bindgen(js_name = dropToLevel)]
pub fn drop_to_level(x: &IntegerCiphertext, level: u32) -> Result<IntegerCiphertext> {
    Ok(x.sibling(evaluator(x).drop_to_level(&x.inner, level as usize)?))
}

fn wide(values: &Uint32Array) -> Vec<u64> {
    values.to_vec().into_iter().map(u64::from).collect()
}
