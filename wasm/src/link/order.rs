//! The order of numbers in slots, one step at a time.

use js_sys::{Function, Uint8Array};
use refloat::{
    bootstrapping::{
        method::{NumberSecret, SlotMode},
        scheme_switching::{OrderRun as Run, Reduction},
    },
    circuits::program::Program,
    scrub::scrubbed,
};
use wasm_bindgen::prelude::wasm_bindgen;

use super::{Ciphertext, SecretKey, bootstrap::BootstrapKeys};
use crate::{
    events::told,
    failure::{Failure, Result},
    views::{self, Inspector},
};

/// Questions about the order of numbers under way, and their answers.
#[wasm_bindgen]
pub struct OrderRun {
    run: Run<Reduction>,
    input: Ciphertext,
    inspector: Inspector,
}

#[wasm_bindgen]
impl OrderRun {
    /// Begins the questions that a program asks about the order of its one input's slots. The ciphertext is copied.
    pub fn begin(ciphertext: &Ciphertext, program: &Uint8Array, keys: &BootstrapKeys) -> Result<OrderRun> {
        let program = Program::from_bytes(&program.to_vec())?;
        let readings = program.readings()?;
        let run = Run::new(&keys.comparing(ciphertext)?, &ciphertext.inner, readings.as_slice().into())?;
        let input = ciphertext.sibling(ciphertext.inner.clone());
        Ok(OrderRun { run, input, inspector: Inspector::new(None) })
    }

    /// Does the stages up to the next point where views can be shown; `true` if they were the last.
    pub fn step(&mut self, on_event: &Function) -> Result<bool> {
        told(on_event, |events| Ok(scrubbed(|| self.run.step(events))?))
    }

    /// As `step`, and also shows what the ciphertexts hold. The first call also shows the input.
    #[wasm_bindgen(js_name = stepInspected)]
    pub fn step_inspected(&mut self, secret: &SecretKey, on_event: &Function) -> Result<bool> {
        let input = &self.input.inner;
        let decrypted = || {
            let numbers = secret.key.decrypt_numbers(input, SlotMode::Real)?;
            views::slots(numbers.reveal_to_key_owner(), SlotMode::Real)
        };
        self.inspector.begin(decrypted, |message| secret.key.view_order(&self.run, message), on_event)?;
        let finished = self.step(on_event)?;
        self.inspector.show(|message| secret.key.view_order(&self.run, message), on_event)?;
        Ok(finished)
    }

    /// An answer, by the index of its question, when all steps are done.
    pub fn finish(&mut self, index: usize) -> Result<Ciphertext> {
        let answer = self.run.answers().get(index);
        let answer = answer.ok_or_else(|| {
            Failure::invalid(format!("no answer {index}: do all steps, and ask for one of a question"))
        })?;
        Ok(self.input.sibling(answer.clone()))
    }
}
