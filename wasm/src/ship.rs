//! Bootstrapping in the page, a step at a time.

use js_sys::{Function, Uint8Array};
use refloat::{
    Error,
    bootstrapping::ckks_ship::{ShipEvaluator, ShipKeys, ShipKeysBuilder, ShipRun as CoreRun},
    params,
};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{
    ciphertext::Ciphertext,
    events::Recorder,
    failure::{Failure, Result},
    keys::SecretKey,
    presets,
};

enum State {
    Collecting(ShipKeysBuilder),
    Complete(ShipKeys),
    Failed,
}

/// The public keys of a bootstrapping, resident.
#[wasm_bindgen]
pub struct BootstrapKeys {
    state: State,
}

#[wasm_bindgen]
impl BootstrapKeys {
    /// An empty set for a key.
    pub fn begin(preset: &str, key_id: &Uint8Array) -> Result<BootstrapKeys> {
        let params = presets::checked(params::preset(preset)?)?;
        let bytes = key_id.to_vec();
        let id: [u8; 16] = bytes
            .as_slice()
            .try_into()
            .map_err(|_| Failure::invalid(format!("a key id has 16 bytes, and this one {}", bytes.len())))?;
        Ok(BootstrapKeys { state: State::Collecting(ShipKeys::builder(&params, id)) })
    }

    /// Makes a part from the secret key and takes it in.
    #[wasm_bindgen(js_name = addFromSecret)]
    pub fn add_from_secret(&mut self, secret: &SecretKey, index: usize) -> Result<()> {
        let part = secret.key.key_part(index)?;
        Ok(self.collecting()?.add(index, &part)?)
    }

    /// Takes in a part made elsewhere.
    pub fn add(&mut self, index: usize, bytes: &Uint8Array) -> Result<()> {
        Ok(self.collecting()?.add(index, &bytes.to_vec())?)
    }

    /// Completes the set; fails if parts are missing.
    pub fn finish(&mut self) -> Result<()> {
        match core::mem::replace(&mut self.state, State::Failed) {
            State::Collecting(builder) => self.state = State::Complete(builder.finish()?),
            other => self.state = other,
        }
        Ok(())
    }

    /// Bytes the complete set takes in memory.
    #[wasm_bindgen(js_name = memoryBytes)]
    pub fn memory_bytes(&self) -> f64 {
        match &self.state {
            State::Complete(keys) => keys.memory_bytes() as f64,
            State::Collecting(_) | State::Failed => 0.0,
        }
    }
}

impl BootstrapKeys {
    fn collecting(&mut self) -> Result<&mut ShipKeysBuilder> {
        match &mut self.state {
            State::Collecting(builder) => Ok(builder),
            State::Complete(_) | State::Failed => Err(Failure::invalid("the set is complete: begin another one")),
        }
    }

    /// The keys, once they are complete.
    pub(crate) fn complete(&self) -> Result<&ShipKeys> {
        match &self.state {
            State::Complete(keys) => Ok(keys),
            State::Collecting(_) | State::Failed => Err(Error::MissingKey(
                "the bootstrapping keys are not complete; wait for bootstrapKeys() to finish".into(),
            )
            .into()),
        }
    }
}

/// Squares every slot; takes one level.
#[wasm_bindgen]
pub fn square(ciphertext: &Ciphertext, keys: &BootstrapKeys) -> Result<Ciphertext> {
    let evaluator = ShipEvaluator::new(&ciphertext.params);
    Ok(ciphertext.sibling(evaluator.square(&ciphertext.inner, keys.complete()?)?))
}

/// A bootstrapping under way.
#[wasm_bindgen]
pub struct ShipRun {
    run: CoreRun,
    input: Ciphertext,
}

#[wasm_bindgen]
impl ShipRun {
    /// Begins; the ciphertext is copied.
    pub fn begin(ciphertext: &Ciphertext, mode: Option<String>) -> Result<ShipRun> {
        let mode = presets::mode(mode, &ciphertext.params)?;
        let evaluator = ShipEvaluator::new(&ciphertext.params);
        let run = CoreRun::new(&evaluator, ciphertext.inner.clone(), mode)?;
        Ok(ShipRun { run, input: ciphertext.sibling(ciphertext.inner.clone()) })
    }

    /// One stage, one track or one level of the tree; `true` when it was the last.
    pub fn step(&mut self, keys: &BootstrapKeys, on_event: &Function) -> Result<bool> {
        let mut events = Recorder::default();
        let finished = self.run.step(keys.complete()?, &mut events)?;
        events.deliver(on_event)?;
        Ok(finished)
    }

    /// The refreshed ciphertext.
    pub fn finish(&mut self) -> Result<Ciphertext> {
        Ok(self.input.sibling(self.run.finish()?))
    }
}
