//! What the ciphertexts inside a run hold, shown to the owner of the key.

use js_sys::{Float64Array, Function, Uint32Array};
use refloat::{
    Error,
    bootstrapping::{StageView, ViewKind, method::SlotMode},
    schemes::ckks::Complex,
};
use wasm_bindgen::JsValue;
use zeroize::Zeroizing;

use crate::{
    events::{performance_now, send},
    failure::{Failure, Result},
    object::Fields,
};

/// Most points that a view has.
const POINTS: usize = 1024;

/// Slots that are wiped when they are dropped.
pub type Slots = Zeroizing<Vec<Complex>>;

/// A user's numbers as slots: one each, or pairs of real and imaginary part.
pub fn slots(numbers: &[f64], mode: SlotMode) -> Result<Slots> {
    let parts = if mode == SlotMode::Complex { 2 } else { 1 };
    if !numbers.len().is_multiple_of(parts) {
        return Err(Failure::invalid(format!(
            "{} numbers are not pairs of real and imaginary part: add the last imaginary part",
            numbers.len()
        )));
    }
    let slot = |z: &[f64]| Complex { re: z[0], im: z.get(1).copied().unwrap_or(0.0) };
    Ok(Zeroizing::new(numbers.chunks_exact(parts).map(slot).collect()))
}

/// Makes views of a run and compares them with the message.
pub struct Inspector {
    message: Option<Slots>,
    begun: bool,
}

impl Inspector {
    /// An inspector for a run; `message` are the slots that were encrypted, if they are known.
    pub fn new(message: Option<Slots>) -> Self {
        Self { message, begun: false }
    }

    /// Called before the first step: shows the input. If the message is not known, `decrypted` gives it.
    pub fn begin(
        &mut self,
        decrypted: impl FnOnce() -> Result<Slots>,
        view: impl FnOnce(&[Complex]) -> core::result::Result<Option<StageView>, Error>,
        on_event: &Function,
    ) -> Result<()> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        if self.message.is_none() {
            self.message = Some(decrypted()?);
        }
        self.show(view, on_event)
    }

    /// Shows what `view` sees of the run now, compared with the message.
    pub fn show(
        &self,
        view: impl FnOnce(&[Complex]) -> core::result::Result<Option<StageView>, Error>,
        on_event: &Function,
    ) -> Result<()> {
        let message = self.message.as_deref().map_or(&[][..], |values| values);
        let Some(view) = view(message)? else { return Ok(()) };
        send(on_event, &plain(&view), performance_now())
    }
}

fn plain(view: &StageView) -> JsValue {
    let count = view.values.len();
    let stride = count.div_ceil(POINTS).max(1);
    let indices: Vec<u32> = (0..count).step_by(stride).map(|i| i as u32).collect();
    let complex = view.kind == ViewKind::Slots;
    let pick = |values: &[Complex]| {
        let mut picked = Zeroizing::new(Vec::with_capacity(2 * indices.len()));
        for value in values.iter().step_by(stride) {
            picked.push(value.re);
            if complex {
                picked.push(value.im);
            }
        }
        Float64Array::from(picked.as_slice())
    };
    let (max, rms) = view.error();
    let (bits_max, bits_rms) = view.bits();
    let mut fields = Fields::new().with("kind", "view").with("stage", view.stage);
    if let Some(track) = view.track {
        fields = fields.with("track", track as f64);
    }
    if let Some((level, _)) = view.node {
        fields = fields.with("levelOfTree", level as f64);
    }
    fields
        .with("view", view.kind.name())
        .with("unit", view.unit)
        .with("data", pick(&view.values))
        .with("expected", pick(&view.expected))
        .with("indices", Uint32Array::from(indices.as_slice()))
        .with("maxError", max)
        .with("rmsError", rms)
        .with("bitsMax", bits_max)
        .with("bitsRms", bits_rms)
        .done()
}
