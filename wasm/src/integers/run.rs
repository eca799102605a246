//! A bootstrap of integers, a stage at a time.

use js_sys::Function;
use refloat::{bootstrapping::bgv::BgvRun, scrub::scrubbed};
use wasm_bindgen::prelude::wasm_bindgen;

use super::{ciphertext::IntegerCiphertext, evaluation::IntegerKeys, presets::bootstrapper};
use crate::{evaluators::over, events::Recorder, failure::Result};

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

    /// One stage; `true` when it was the last.
    pub fn step(&mut self, keys: &IntegerKeys, on_event: &Function) -> Result<bool> {
        let mut events = Recorder::default();
        let run = self.run.as_mut().ok_or_else(over)?;
        let source = keys.keys()?;
        let finished = scrubbed(|| run.step(source, &mut events))?;
        events.deliver(on_event)?;
        Ok(finished)
    }

    /// The refreshed ciphertext, once.
    pub fn finish(&mut self) -> Result<IntegerCiphertext> {
        let refreshed = self.run.take().ok_or_else(over)?.finish()?;
        Ok(self.input.sibling(refreshed))
    }
}
