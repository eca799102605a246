//! What the ciphertexts inside a run hold, for the owner of the key.

use js_sys::{Float64Array, Function, Uint32Array};
use refloat::{
    bootstrapping::ckks_ship::{ShipMode, ShipParams, ShipRun, ShipSecretKey, StageView, ViewKind},
    schemes::ckks::{Ciphertext, Complex},
};
use wasm_bindgen::JsValue;
use zeroize::Zeroizing;

use crate::{
    events::{performance_now, send},
    failure::Result,
    object::Fields,
};

/// Points a view has at most.
const POINTS: usize = 1024;

/// Makes views of a run, and measures them against the message.
pub struct Inspector {
    mode: ShipMode,
    /// log2 of gamma, the gap between the message and the modulus q0 it sits in.
    log_gamma: f64,
    message: Option<Zeroizing<Vec<Complex>>>,
    begun: bool,
}

impl Inspector {
    /// For a run; `message` are the numbers that were encrypted, if they are known.
    pub fn new(params: &ShipParams, mode: ShipMode, message: Option<Float64Array>) -> Self {
        let message = message.map(|values| slots(&Zeroizing::new(values.to_vec()), mode));
        Self { mode, log_gamma: params.spec().gamma.log2(), message, begun: false }
    }

    /// Before the first step: the input.
    pub fn begin(
        &mut self,
        run: &ShipRun<'_>,
        secret: &ShipSecretKey,
        input: &Ciphertext,
        on_event: &Function,
    ) -> Result<()> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        if self.message.is_none() {
            let values = secret.decrypt(input, self.mode)?;
            self.message = Some(slots(values.reveal_to_key_owner(), self.mode));
        }
        self.show(run, secret, on_event)
    }

    /// Where the run stands now.
    pub fn show(&self, run: &ShipRun<'_>, secret: &ShipSecretKey, on_event: &Function) -> Result<()> {
        let message = self.message.as_deref().map_or(&[][..], |values| values);
        let Some(view) = secret.view(run, message)? else { return Ok(()) };
        send(on_event, &self.plain(&view), performance_now())
    }

    fn plain(&self, view: &StageView) -> JsValue {
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
        // In units of what is shown: phases are a message divided by gamma, and the nodes of the
        // tree have the modulus of the plaintext factor.
        let log_unit = match view.kind {
            ViewKind::Phases => -self.log_gamma,
            _ if view.node.is_some() => modulus(view).log2(),
            _ => 0.0,
        };
        let mut fields = Fields::new().with("kind", "view").with("stage", view.stage);
        if let Some(track) = view.track {
            fields = fields.with("track", track as f64);
        }
        if let Some((level, _)) = view.node {
            fields = fields.with("levelOfTree", level as f64);
        }
        fields
            .with("view", name(view.kind))
            .with("data", pick(&view.values))
            .with("expected", pick(&view.expected))
            .with("indices", Uint32Array::from(indices.as_slice()))
            .with("maxError", max)
            .with("rmsError", rms)
            .with("bitsMax", log_unit - max.log2())
            .with("bitsRms", log_unit - rms.log2())
            .done()
    }
}

/// The numbers of a user as slots.
fn slots(values: &[f64], mode: ShipMode) -> Zeroizing<Vec<Complex>> {
    Zeroizing::new(match mode {
        ShipMode::Complex => values.chunks_exact(2).map(|z| Complex { re: z[0], im: z[1] }).collect(),
        ShipMode::Real | ShipMode::Bits => values.iter().map(|&re| Complex { re, im: 0.0 }).collect(),
    })
}

fn name(kind: ViewKind) -> &'static str {
    match kind {
        ViewKind::Slots => "slots",
        ViewKind::Coefficients => "coefficients",
        ViewKind::Phases => "phases",
    }
}

/// Root mean square of the expected values.
fn modulus(view: &StageView) -> f64 {
    let sum: f64 = view.expected.iter().map(|z| z.re * z.re + z.im * z.im).sum();
    (sum / view.expected.len().max(1) as f64).sqrt()
}
