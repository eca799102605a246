//! Evaluation keys, and arithmetic with them.

use js_sys::{Uint8Array, Uint32Array};
use refloat::{
    bootstrapping::{
        bgv::{BgvKeys, BgvParams},
        method::KeysBuilder,
    },
    schemes::bgv::BgvCiphertext,
    scrub::scrubbed,
};
use wasm_bindgen::prelude::wasm_bindgen;

use super::{
    ciphertext::IntegerCiphertext,
    presets::{Sets, bootstrapper},
    secret::IntegerSecretKey,
};
use crate::{
    collected::Collected,
    failure::{Result, key_id},
};

/// The public keys that products, rotations and bootstraps take.
#[wasm_bindgen]
pub struct IntegerKeys(Collected<KeysBuilder<BgvParams>, BgvKeys<u64>>);

#[wasm_bindgen]
impl IntegerKeys {
    /// An empty set for a key, to be filled part by part.
    pub fn begin(preset: &str, id: &Uint8Array) -> Result<IntegerKeys> {
        let (_, params) = Sets::named(preset)?;
        Ok(IntegerKeys(Collected::Collecting(KeysBuilder::new(&params, key_id(id)?))))
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

    /// Products of the slots of two ciphertexts; takes a level.
    pub fn multiply(&self, x: &IntegerCiphertext, y: &IntegerCiphertext) -> Result<IntegerCiphertext> {
        Ok(x.sibling(bootstrapper(&x.params)?.multiply(&x.inner, &y.inner, self.keys()?)?))
    }

    /// Both rows moved to the left by so many slots, around; by a power of two.
    pub fn rotate(&self, x: &IntegerCiphertext, steps: i32) -> Result<IntegerCiphertext> {
        Ok(x.sibling(bootstrapper(&x.params)?.bgv().rotate(&x.inner, steps.into(), self.keys()?)?))
    }

    /// The two rows in each other's place.
    #[wasm_bindgen(js_name = swapRows)]
    pub fn swap_rows(&self, x: &IntegerCiphertext) -> Result<IntegerCiphertext> {
        Ok(x.sibling(bootstrapper(&x.params)?.bgv().swap_rows(&x.inner, self.keys()?)?))
    }
}

impl IntegerKeys {
    /// Those that are whole.
    pub(super) fn keys(&self) -> Result<&BgvKeys<u64>> {
        self.0.keys()
    }
}

/// Sums of the slots of two ciphertexts. Where one of them is a product that the other is not, it takes a level.
#[wasm_bindgen(js_name = addIntegers)]
pub fn add(x: &IntegerCiphertext, y: &IntegerCiphertext) -> Result<IntegerCiphertext> {
    let bgv = bootstrapper(&x.params)?.bgv();
    let (left, right) = bgv.at_one_factor(&x.inner, &y.inner)?;
    Ok(x.sibling(bgv.add(&left, &right)?))
}

/// Differences of the slots of two ciphertexts, as [`add`].
#[wasm_bindgen(js_name = subtractIntegers)]
pub fn subtract(x: &IntegerCiphertext, y: &IntegerCiphertext) -> Result<IntegerCiphertext> {
    let bgv = bootstrapper(&x.params)?.bgv();
    let (left, right) = bgv.at_one_factor(&x.inner, &y.inner)?;
    Ok(x.sibling(bgv.sub(&left, &right)?))
}

/// Slots plus known integers; those that are missing are 0.
#[wasm_bindgen(js_name = addPlain)]
pub fn add_plain(x: &IntegerCiphertext, values: &Uint32Array) -> Result<IntegerCiphertext> {
    let bgv = bootstrapper(&x.params)?.bgv();
    Ok(x.sibling(bgv.add_plain(&x.inner, &wide(values))?))
}

/// Slots times known integers; takes a level.
#[wasm_bindgen(js_name = multiplyPlain)]
pub fn multiply_plain(x: &IntegerCiphertext, values: &Uint32Array) -> Result<IntegerCiphertext> {
    let bgv = bootstrapper(&x.params)?.bgv();
    let product: BgvCiphertext = bgv.multiply_plain(&x.inner, &wide(values))?;
    Ok(x.sibling(bgv.rescale(&product)?))
}

/// The same integers at a lower level.
#[wasm_bindgen(js_name = dropToLevel)]
pub fn drop_to_level(x: &IntegerCiphertext, level: u32) -> Result<IntegerCiphertext> {
    Ok(x.sibling(bootstrapper(&x.params)?.bgv().drop_to_level(&x.inner, level as usize)?))
}

fn wide(values: &Uint32Array) -> Vec<u64> {
    values.to_vec().into_iter().map(u64::from).collect()
}
