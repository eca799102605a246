//! A bootstrap of integers, one stage at a time.

use js_sys::{Function, Int32Array, Uint32Array};
use refloat::{bootstrapping::bgv::BgvRun, scrub::scrubbed};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use zeroize::Zeroizing;

use super::{
    ciphertext::IntegerCiphertext, evaluation::IntegerKeys, presets::bootstrapper, secret::IntegerSecretKey,
    secret::narrow,
};
use crate::{
    events::{Stage, told},
    failure::{Result, over},
    object::Fields,
};

/// A bootstrapping under way.
#[wasm_bindgen]
pub struct IntegerRun {
    run: Option<BgvRun<'static>>,
    input: IntegerCiphertext,
}

#[wasm_bindgen]
impl IntegerRun {
    /// Begins; the ciphertext is copied.
    pub fn begin(ciphertext: &IntegerCiphertext) -> Result<IntegerRun> {
        let run = BgvRun::new(bootstrapper(&ciphertext.params)?, &ciphertext.inner)?;
        Ok(IntegerRun { run: Some(run), input: ciphertext.sibling(ciphertext.inner.clone()) })
    }

    /// The stage of the next step; none after the last one.
    pub fn stage(&self) -> Option<String> {
        self.run.as_ref()?.next_stage().map(Stage::id)
    }

    /// Does one stage; `true` if it was the last.
    pub fn step(&mut self, keys: &IntegerKeys, on_event: &Function) -> Result<bool> {
        told(on_event, |events| {
            let run = self.run.as_mut().ok_or_else(over)?;
            let source = keys.keys()?;
            Ok(scrubbed(|| run.step(source, events))?)
        })
    }

    /// The current digits in every slot or coefficient, for the owner of the key: the low digit, and the message above it.
    pub fn digits(&self, secret: &IntegerSecretKey) -> Result<JsValue> {
        scrubbed(|| {
            let seen = secret.key.digits(self.run.as_ref().ok_or_else(over)?)?;
            let seen = seen.reveal_to_key_owner();
            // Digits are below the weight of the ephemeral secret.
            let low: Zeroizing<Vec<i32>> =
                Zeroizing::new(seen.low.iter().map(|&digit| digit as i32).collect());
            Ok(Fields::new()
                .with("place", if seen.slots { "slots" } else { "coefficients" })
                .with("low", Int32Array::from(low.as_slice()))
                .with("high", Uint32Array::from(narrow(&seen.high)?.as_slice()))
                .done())
        })
    }

    /// The refreshed ciphertext; can be taken once.
    pub fn finish(&mut self) -> Result<IntegerCiphertext> {
        let refreshed = self.run.take().ok_or_else(over)?.finish()?;
        Ok(self.input.sibling(refreshed))
    }
}
