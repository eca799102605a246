//! Keys for arithmetic alone, and arithmetic with them.

use js_sys::{Int32Array, Uint8Array};
use refloat::{bootstrapping::bgv::BgvArithmeticKeys, scrub::scrubbed};
use wasm_bindgen::prelude::wasm_bindgen;

use super::{ciphertext::IntegerCiphertext, presets::Sets, secret::IntegerSecretKey};
use crate::{
    accessors::listed,
    failure::{Result, key_id},
    rotations::steps,
};

/// Public keys for products, rotations and the swap of rows.
#[wasm_bindgen]
pub struct IntegerArithmeticKeys(pub(super) BgvArithmeticKeys);

listed!(IntegerArithmeticKeys);

#[wasm_bindgen]
impl IntegerArithmeticKeys {
    /// Begins keys for a key set. Without `rotations` there will be one for each power of two.
    pub fn begin(
        preset: &str,
        id: &Uint8Array,
        rotations: Option<Int32Array>,
        swap: bool,
    ) -> Result<IntegerArithmeticKeys> {
        let (_, params) = Sets::named(preset)?;
        let keys = BgvArithmeticKeys::new(&params, key_id(id)?, steps(rotations).as_deref(), swap)?;
        Ok(IntegerArithmeticKeys(keys))
    }

    /// Makes one key from the secret key.
    #[wasm_bindgen(js_name = addFromSecret)]
    pub fn add_from_secret(&mut self, secret: &IntegerSecretKey, index: usize) -> Result<()> {
        scrubbed(|| Ok(self.0.make(index, &secret.key)?))
    }

    /// Products of the slots of two ciphertexts; takes one level.
    pub fn multiply(&self, x: &IntegerCiphertext, y: &IntegerCiphertext) -> Result<IntegerCiphertext> {
        Ok(x.sibling(self.0.multiply(&x.inner, &y.inner)?))
    }

    /// Both rows moved to the left by `steps` slots, cyclically.
    pub fn rotate(&self, x: &IntegerCiphertext, steps: i32) -> Result<IntegerCiphertext> {
        Ok(x.sibling(self.0.rotate(&x.inner, steps.into())?))
    }

    /// Exchanges the two rows.
    #[wasm_bindgen(js_name = swapRows)]
    pub fn swap_rows(&self, x: &IntegerCiphertext) -> Result<IntegerCiphertext> {
        Ok(x.sibling(self.0.swap_rows(&x.inner)?))
    }
}
