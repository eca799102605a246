//! Readings of digits, a stage at a time.

use js_sys::{Function, Uint8Array};
use refloat::{
    bootstrapping::ckks_msb::MsbReading, circuits::program::Program, schemes::ckks, scrub::scrubbed,
};
use wasm_bindgen::prelude::wasm_bindgen;

use super::{
    Ciphertext, SecretKey,
    bootstrap::{BootstrapKeys, evaluator},
};
use crate::{
    events::{Stage, told},
    failure::{Failure, Result, over},
    views,
};

/// Readings under way, and their results.
#[wasm_bindgen]
pub struct DigitRun {
    run: Option<MsbReading<'static>>,
    input: Ciphertext,
    results: Vec<Option<ckks::Ciphertext<u64>>>,
}

#[wasm_bindgen]
impl DigitRun {
    /// Begins the readings that a program asks of its one input; `shift` is added to the input first. The ciphertext is copied.
    pub fn begin(ciphertext: &Ciphertext, program: &Uint8Array, shift: f64) -> Result<DigitRun> {
        let program = Program::from_bytes(&program.to_vec())?;
        let readings = program.readings()?;
        let run = MsbReading::new(
            evaluator(&ciphertext.params)?,
            &ciphertext.inner,
            readings.as_slice().into(),
            shift,
        )?;
        let input = ciphertext.sibling(ciphertext.inner.clone());
        Ok(DigitRun { run: Some(run), input, results: Vec::new() })
    }

    /// Number of digits that are read, each in a pass of its own.
    pub fn passes(&self) -> usize {
        self.run.as_ref().map_or(0, |reading| reading.run().progress().1)
    }

    /// The stage of the next step; none after the last one.
    pub fn stage(&self) -> Option<String> {
        self.run.as_ref()?.run().next_stage().map(Stage::id)
    }

    /// One stage; `true` when it was the last.
    pub fn step(&mut self, keys: &BootstrapKeys, on_event: &Function) -> Result<bool> {
        told(on_event, |events| {
            let run = self.run.as_mut().ok_or_else(over)?;
            let source = keys.source()?;
            Ok(scrubbed(|| run.step(source, events))?)
        })
    }

    /// As `step`, and also shows what the ciphertexts hold.
    #[wasm_bindgen(js_name = stepInspected)]
    pub fn step_inspected(
        &mut self,
        keys: &BootstrapKeys,
        secret: &SecretKey,
        on_event: &Function,
    ) -> Result<bool> {
        let finished = self.step(keys, on_event)?;
        let reading = self.run.as_ref().ok_or_else(over)?;
        let inspector = views::Inspector::new(None);
        inspector.show(|message| secret.key.view(reading.run(), message), on_event)?;
        Ok(finished)
    }

    /// A result, by the index of its reading, when all steps are done; each can be taken once.
    pub fn finish(&mut self, index: usize) -> Result<Ciphertext> {
        if let Some(run) = self.run.take_if(|reading| reading.run().next_stage().is_none()) {
            self.results = run.finish()?.into_iter().map(Some).collect();
        }
        let result = self.results.get_mut(index).and_then(Option::take);
        let result = result.ok_or_else(|| {
            Failure::invalid(format!("no result {index}: take each once, after the last step"))
        })?;
        Ok(self.input.sibling(result))
    }
}
