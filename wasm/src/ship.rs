//! Bootstrapping in the page, a step at a time.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
};

use js_sys::{Float64Array, Function, Uint8Array, Uint32Array};
use refloat::{
    bootstrapping::{
        MetaRun,
        ckks_ship::{
            GeneratedKeys, KeySource, ShipEvaluator, ShipKeys, ShipKeysBuilder, ShipMode, ShipParams,
            ShipRun as CoreRun, ShipSecretKey,
        },
    },
    params,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use zeroize::Zeroizing;

use crate::{
    ciphertext::Ciphertext,
    collected::Collected,
    events::Recorder,
    failure::{Failure, Result, key_id},
    keys::SecretKey,
    matrix, presets, rounds,
    scrub::scrubbed,
    tracks,
    views::{Inspector, Slots, slots},
};

/// Largest ring whose slots-to-coefficients matrix is kept between runs: 4 MiB at 2^10, 256 at 2^13.
const MATRIX_KEPT_UP_TO: usize = 1 << 11;

thread_local! {
    // Runs borrow their evaluator; there is one per set, and it lives as long as the instance.
    static EVALUATORS: RefCell<Vec<&'static ShipEvaluator>> = const { RefCell::new(Vec::new()) };

    // The most by which the memory has been grown at once.
    static RESERVED: Cell<usize> = const { Cell::new(0) };
}

/// The evaluator of a set, made when it is first needed.
pub fn evaluator(params: &ShipParams) -> Result<&'static ShipEvaluator> {
    let fingerprint = params.fingerprint();
    let known =
        EVALUATORS.with_borrow(|all| all.iter().find(|e| e.params().fingerprint() == fingerprint).copied());
    if let Some(evaluator) = known {
        return Ok(evaluator);
    }
    let made = if params.n() <= MATRIX_KEPT_UP_TO {
        ShipEvaluator::new(params)?
    } else {
        ShipEvaluator::compact(params)?
    };
    let evaluator: &'static ShipEvaluator = Box::leak(Box::new(made));
    EVALUATORS.with_borrow_mut(|all| all.push(evaluator));
    Ok(evaluator)
}

/// Grows the memory once, by so many bytes for each coefficient of the ring, which is most of what will be needed:
/// engines collect garbage each time a memory grows, and hundreds of growths cost more than what is computed between
/// them. Without effect if there is no room, or if the memory has been grown by as much before.
pub fn reserve(params: &ShipParams, bytes_per_coefficient: usize) {
    let bytes = params.n() * bytes_per_coefficient;
    if bytes > RESERVED.replace(RESERVED.get().max(bytes)) {
        let mut room = Vec::<u8>::new();
        let _ = room.try_reserve_exact(bytes);
        core::hint::black_box(&room);
    }
}

enum Keys {
    Resident(ShipKeys),
    /// Made track by track from the secret key, and dropped.
    Generated(GeneratedKeys<Arc<ShipSecretKey>>),
}

/// The public keys of a bootstrapping.
#[wasm_bindgen]
pub struct BootstrapKeys(Collected<ShipKeysBuilder, Keys>);

#[wasm_bindgen]
impl BootstrapKeys {
    /// An empty set for a key, to be filled part by part.
    pub fn begin(preset: &str, id: &Uint8Array) -> Result<BootstrapKeys> {
        let (_, params) = presets::Sets::named(preset)?;
        Ok(BootstrapKeys(Collected::Collecting(ShipKeys::builder(&params, key_id(id)?))))
    }

    /// Keys that are made track by track while a bootstrapping runs. It holds the secret key.
    pub fn generated(secret: &SecretKey) -> Result<BootstrapKeys> {
        reserve(secret.key.params(), 12 << 10);
        let keys = scrubbed(|| GeneratedKeys::new(secret.key.clone()))?;
        Ok(BootstrapKeys(Collected::Whole(Keys::Generated(keys))))
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
        self.0.finish(|builder| Ok(Keys::Resident(builder.finish()?)))
    }

    /// Bytes the keys take in memory between runs.
    #[wasm_bindgen(js_name = memoryBytes)]
    pub fn memory_bytes(&self) -> f64 {
        match &self.0 {
            Collected::Whole(Keys::Resident(keys)) => keys.memory_bytes() as f64,
            Collected::Whole(Keys::Generated(keys)) => keys.common().memory_bytes() as f64,
            Collected::Collecting(_) | Collected::Failed => 0.0,
        }
    }
}

impl BootstrapKeys {
    fn source(&self) -> Result<&dyn KeySource<u32>> {
        Ok(match self.0.keys()? {
            Keys::Resident(keys) => keys,
            Keys::Generated(keys) => keys,
        })
    }
}

/// Squares every slot; takes one level.
#[wasm_bindgen]
pub fn square(ciphertext: &Ciphertext, keys: &BootstrapKeys) -> Result<Ciphertext> {
    let x = &ciphertext.inner;
    Ok(ciphertext.sibling(evaluator(&ciphertext.params)?.multiply(x, x, keys.source()?)?))
}

/// The same message at the level a bootstrapping starts from: what is left of a ciphertext when its
/// multiplications have been spent.
#[wasm_bindgen]
pub fn exhaust(ciphertext: &Ciphertext) -> Result<Ciphertext> {
    Ok(ciphertext.sibling(evaluator(&ciphertext.params)?.exhaust(&ciphertext.inner)?))
}

/// A bootstrapping under way.
#[wasm_bindgen(js_name = BootstrapRun)]
pub struct ShipRun {
    run: Option<CoreRun<'static>>,
    /// Where there are several rounds.
    meta: Option<MetaRun<'static, u32>>,
    input: Ciphertext,
    mode: ShipMode,
    inspector: Inspector,
}

#[wasm_bindgen(js_class = BootstrapRun)]
impl ShipRun {
    /// Begins; the ciphertext is copied. `message` are the numbers that were encrypted, for the
    /// errors of inspected steps; without it they are counted from what the input decrypts to. `rounds`
    /// are those of META-BTS, one if nothing is said.
    pub fn begin(
        ciphertext: &Ciphertext,
        mode: Option<String>,
        message: Option<Float64Array>,
        rounds: Option<f64>,
    ) -> Result<ShipRun> {
        let (evaluator, params) = (evaluator(&ciphertext.params)?, &ciphertext.params);
        let mode = presets::mode(mode, params)?;
        let asked = (rounds, params::ShipPreset::by_fingerprint(&params.fingerprint())?.gain_bits());
        let levels = [params.input_level(), params.output_level()];
        let meta = rounds::begin(evaluator.ckks(), asked, levels, &ciphertext.inner)?;
        if meta.is_some() && mode == ShipMode::Bits {
            return Err(Failure::invalid("bits are bootstrapped in one round: leave rounds out"));
        }
        let run = CoreRun::new(evaluator, &ciphertext.inner, mode)?;
        let input = ciphertext.sibling(ciphertext.inner.clone());
        let message = message.map(|values| numbers(&Zeroizing::new(values.to_vec()), mode)).transpose()?;
        Ok(ShipRun { run: Some(run), meta, input, mode, inspector: Inspector::new(message) })
    }

    /// One stage, one track or one level of the tree; `true` when it was the last of all rounds.
    pub fn step(&mut self, keys: &BootstrapKeys, on_event: &Function) -> Result<bool> {
        let mut events = Recorder::default();
        let run = self.run.as_mut().ok_or_else(over)?;
        let source = keys.source()?;
        let mut finished = scrubbed(|| run.step(source, &mut events))?;
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
        self.inspect_input(secret, on_event)?;
        let mut events = Recorder::default();
        let run = self.run.as_mut().ok_or_else(over)?;
        let finished = run.step(keys.source()?, &mut events)?;
        events.deliver(on_event)?;
        self.inspector.show(|message| secret.key.view(run, message), on_event)?;
        Ok(finished)
    }

    /// Shows the input to an inspected run that does not begin with `stepInspected`.
    #[wasm_bindgen(js_name = inspectInput)]
    pub fn inspect_input(&mut self, secret: &SecretKey, on_event: &Function) -> Result<()> {
        if self.meta.is_some() {
            return Err(rounds::not_inspected());
        }
        let run = self.run.as_ref().ok_or_else(over)?;
        let (input, mode) = (&self.input.inner, self.mode);
        let decrypted = || numbers(secret.key.decrypt(input, mode)?.reveal_to_key_owner(), mode);
        self.inspector.begin(decrypted, |message| secret.key.view(run, message), on_event)
    }

    /// Groups of diagonals that may be multiplied ahead of the first step; 0 later.
    #[wasm_bindgen(js_name = groupsAhead)]
    pub fn groups_ahead(&self) -> usize {
        self.run.as_ref().map_or(0, CoreRun::groups_ahead)
    }

    /// Begins the first stage ahead of its step: what a `MatrixWorker` of this run needs to know, public numbers.
    #[wasm_bindgen(js_name = matrixInput)]
    pub fn matrix_input(&mut self, keys: &BootstrapKeys, on_event: &Function) -> Result<JsValue> {
        let mut events = Recorder::default();
        let run = self.run.as_mut().ok_or_else(over)?;
        let input = run.matrix_input(keys.source()?, &mut events)?;
        events.deliver(on_event)?;
        Ok(matrix::plain(&input))
    }

    /// Multiplies a group of diagonals before the step that needs it.
    #[wasm_bindgen(js_name = multiplyAhead)]
    pub fn multiply_ahead(&mut self, group: usize) -> Result<()> {
        Ok(self.run.as_mut().ok_or_else(over)?.multiply_ahead(group)?)
    }

    /// Takes in a group from a `MatrixWorker`, as `multiplyAhead` would compute it.
    #[wasm_bindgen(js_name = supplyGroup)]
    pub fn supply_group(&mut self, group: usize, words: &Uint32Array) -> Result<()> {
        matrix::supply(self.run.as_mut().ok_or_else(over)?, group, words)
    }

    /// The track whose turn is next, while tracks are being rotated.
    #[wasm_bindgen(js_name = nextTrack)]
    pub fn next_track(&self) -> Option<usize> {
        self.run.as_ref()?.next_track()
    }

    /// What a `TrackWorker` of this run needs to know: public numbers, once they are there.
    pub fn phases(&self) -> Option<Float64Array> {
        tracks::phases(self.run.as_ref()?)
    }

    /// Computes a track before its turn; the step whose turn it is takes it as it is.
    #[wasm_bindgen(js_name = rotateAhead)]
    pub fn rotate_ahead(&mut self, track: usize, keys: &BootstrapKeys) -> Result<()> {
        let run = self.run.as_mut().ok_or_else(over)?;
        let source = keys.source()?;
        Ok(scrubbed(|| run.rotate_ahead(track, source))?)
    }

    /// Takes in a track from a `TrackWorker`, as `rotateAhead` would compute it.
    #[wasm_bindgen(js_name = supplyTrack)]
    pub fn supply_track(&mut self, track: usize, bytes: &Uint8Array, counters: &Float64Array) -> Result<()> {
        let run = self.run.as_mut().ok_or_else(over)?;
        tracks::supply(run, &self.input.params, track, bytes, counters)
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

impl ShipRun {
    /// Goes on to the next round of several; whether there is none.
    fn end_round(&mut self, events: &mut Recorder) -> Result<bool> {
        let (Some(meta), Some(run)) = (&mut self.meta, self.run.take()) else { return Ok(true) };
        let Some(x) = rounds::next(meta, run.finish()?, events)? else { return Ok(true) };
        self.run = Some(CoreRun::new(evaluator(&self.input.params)?, &x, self.mode)?);
        Ok(false)
    }
}

/// The numbers of a user as slots.
fn numbers(values: &[f64], mode: ShipMode) -> Result<Slots> {
    slots(values, mode == ShipMode::Complex)
}

fn over() -> Failure {
    Failure::invalid("the run has given its result: begin another one")
}
