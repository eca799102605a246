//! Conventional bootstrapping in the page, a stage at a time.

use std::cell::RefCell;

use js_sys::{Float64Array, Function, Uint8Array};
use refloat::{
    bootstrapping::{
        MetaRun,
        ckks_conventional::{
            ConventionalEvaluator, ConventionalKeys, ConventionalKeysBuilder, ConventionalParams,
            ConventionalRun,
        },
    },
    circuits::linear_transform::PlaintextStorage,
};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use super::{
    ciphertext::Ciphertext,
    keys::SecretKey,
    presets::{self, complex},
};
use crate::{
    collected::Collected,
    events::Recorder,
    failure::{Failure, Result, key_id},
    rounds,
    scrub::scrubbed,
    views::{Inspector, slots},
};

/// Largest ring whose diagonals are kept evaluated between runs.
const DIAGONALS_EVALUATED_UP_TO: usize = 1 << 11;

thread_local! {
    // Runs borrow their evaluator; there is one per set, and it lives as long as the instance.
    static EVALUATORS: RefCell<Vec<&'static ConventionalEvaluator>> = const { RefCell::new(Vec::new()) };
}

/// The evaluator of a set, made when it is first needed.
pub fn evaluator(params: &ConventionalParams) -> Result<&'static ConventionalEvaluator> {
    let fingerprint = params.fingerprint();
    let known =
        EVALUATORS.with_borrow(|all| all.iter().find(|e| e.params().fingerprint() == fingerprint).copied());
    if let Some(evaluator) = known {
        return Ok(evaluator);
    }
    let storage = if params.n() <= DIAGONALS_EVALUATED_UP_TO {
        PlaintextStorage::Evaluated
    } else {
        PlaintextStorage::Coefficients
    };
    let evaluator: &'static ConventionalEvaluator =
        Box::leak(Box::new(ConventionalEvaluator::new(params, storage)?));
    EVALUATORS.with_borrow_mut(|all| all.push(evaluator));
    Ok(evaluator)
}

/// The public keys of a bootstrapping.
#[wasm_bindgen]
pub struct BootstrapKeys(Collected<ConventionalKeysBuilder, ConventionalKeys>);

#[wasm_bindgen]
impl BootstrapKeys {
    /// An empty set for a key, to be filled part by part.
    pub fn begin(preset: &str, id: &Uint8Array) -> Result<BootstrapKeys> {
        let (_, params) = presets::Sets::named(preset)?;
        Ok(BootstrapKeys(Collected::Collecting(ConventionalKeys::builder(&params, key_id(id)?))))
    }

    /// Makes a part from the secret key and takes it in.
    #[wasm_bindgen(js_name = addFromSecret)]
    pub fn add_from_secret(&mut self, secret: &SecretKey, index: usize) -> Result<()> {
        let part = scrubbed(|| secret.key.key_part(index))?;
        Ok(self.0.collecting()?.add(index, &part)?)
    }

    /// Takes in a part made elsewhere.
    pub fn add(&mut self, index: usize, bytes: &Uint8Array) -> Result<()> {
        Ok(self.0.collecting()?.add(index, &bytes.to_vec())?)
    }

    /// Completes the set; fails if parts are missing.
    pub fn finish(&mut self) -> Result<()> {
        self.0.finish(ConventionalKeysBuilder::finish)
    }

    /// Bytes the keys take in memory between runs.
    #[wasm_bindgen(js_name = memoryBytes)]
    pub fn memory_bytes(&self) -> f64 {
        self.0.keys().map_or(0.0, |keys| keys.memory_bytes() as f64)
    }
}

/// Squares every slot; takes one level.
#[wasm_bindgen]
pub fn square(ciphertext: &Ciphertext, keys: &BootstrapKeys) -> Result<Ciphertext> {
    let x = &ciphertext.inner;
    Ok(ciphertext.sibling(evaluator(&ciphertext.params)?.multiply(x, x, keys.0.keys()?)?))
}

/// A bootstrapping under way.
#[wasm_bindgen(js_name = BootstrapRun)]
pub struct BootstrapRun {
    run: Option<ConventionalRun<'static>>,
    /// Where there are several rounds.
    meta: Option<MetaRun<'static, u64>>,
    input: Ciphertext,
    inspector: Inspector,
}

#[wasm_bindgen(js_class = BootstrapRun)]
impl BootstrapRun {
    /// Begins; the ciphertext is copied. `message` are the numbers that were encrypted, for the
    /// errors of inspected steps; without it they are counted from what the input decrypts to. `rounds`
    /// are those of META-BTS, one if nothing is said.
    pub fn begin(
        ciphertext: &Ciphertext,
        mode: Option<String>,
        message: Option<Float64Array>,
        rounds: Option<f64>,
    ) -> Result<BootstrapRun> {
        let complex = complex(mode)?;
        let (evaluator, params) = (evaluator(&ciphertext.params)?, &ciphertext.params);
        let (preset, levels) = (presets::Sets::named(params.name())?.0, params.levels());
        let (asked, levels) = ((rounds, preset.gain_bits()?), [levels.input, levels.output]);
        let meta = rounds::begin(evaluator.ckks(), asked, levels, &ciphertext.inner)?;
        let run = ConventionalRun::new(evaluator, &ciphertext.inner)?;
        let message = message.map(|values| slots(&Zeroizing::new(values.to_vec()), complex)).transpose()?;
        let input = ciphertext.sibling(ciphertext.inner.clone());
        Ok(BootstrapRun { run: Some(run), meta, input, inspector: Inspector::new(message) })
    }

    /// One stage; `true` when it was the last of all rounds.
    pub fn step(&mut self, keys: &BootstrapKeys, on_event: &Function) -> Result<bool> {
        let mut events = Recorder::default();
        let mut finished = self.run.as_mut().ok_or_else(over)?.step(keys.0.keys()?, &mut events)?;
        if finished && self.meta.is_some() {
            finished = self.end_round(&mut events)?;
        }
        events.deliver(on_event)?;
        Ok(finished)
    }

    /// As `step`, and tells what the ciphertexts hold. The first call also shows the input.
    #[wasm_bindgen(js_name = stepInspected)]
    pub fn step_inspected(
        &mut self,
        keys: &BootstrapKeys,
        secret: &SecretKey,
        on_event: &Function,
    ) -> Result<bool> {
        if self.meta.is_some() {
            return Err(rounds::not_inspected());
        }
        let run = self.run.as_ref().ok_or_else(over)?;
        let decrypted = || {
            let values = secret.key.decrypt(&self.input.inner)?;
            Ok(Zeroizing::new(values.reveal_to_key_owner().clone()))
        };
        self.inspector.begin(decrypted, |message| secret.key.view(run, message), on_event)?;
        let finished = self.step(keys, on_event)?;
        let run = self.run.as_ref().ok_or_else(over)?;
        self.inspector.show(|message| secret.key.view(run, message), on_event)?;
        Ok(finished)
    }

    /// The refreshed ciphertext, once.
    pub fn finish(&mut self) -> Result<Ciphertext> {
        let refreshed = match self.meta.take() {
            Some(meta) => meta.finish()?,
            None => self.run.take().ok_or_else(over)?.finish()?,
        };
        Ok(self.input.sibling(refreshed))
    }
}

impl BootstrapRun {
    /// Goes on to the next round of several; whether there is none.
    fn end_round(&mut self, events: &mut Recorder) -> Result<bool> {
        let (Some(meta), Some(run)) = (&mut self.meta, self.run.take()) else { return Ok(true) };
        let Some(x) = rounds::next(meta, run.finish()?, events)? else { return Ok(true) };
        self.run = Some(ConventionalRun::new(evaluator(&self.input.params)?, &x)?);
        Ok(false)
    }
}

fn over() -> Failure {
    Failure::invalid("the run has given its result: begin another one")
}
