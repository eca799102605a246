//! Stage events as plain objects, stamped with the platform's clock.

use core::ops::ControlFlow;

use js_sys::Function;
use refloat::trace::{Counters, Observer, StageEvent};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    failure::{Failure, Result},
    object::Fields,
};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    pub fn performance_now() -> f64;
}

/// Stamps events and keeps them until the step is over, so that JavaScript never runs inside the
/// core.
#[derive(Default)]
pub struct Recorder(Vec<(f64, StageEvent)>);

impl Observer for Recorder {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        self.0.push((performance_now(), *event));
        ControlFlow::Continue(())
    }
}

impl Recorder {
    /// Hands the events over in order, each as `on_event(event, now)`.
    fn deliver(self, on_event: &Function) -> Result<()> {
        for (now, event) in self.0 {
            send(on_event, &plain(&event), now)?;
        }
        Ok(())
    }
}

/// Stages as runs name them.
#[cfg(any(feature = "ckks-bootstrap", feature = "integers"))]
pub trait Stage {
    /// The id in events.
    fn id(self) -> String;
}

#[cfg(any(feature = "ckks-bootstrap", feature = "integers"))]
impl Stage for &refloat::trace::StageInfo {
    fn id(self) -> String {
        self.id.into()
    }
}

#[cfg(feature = "digits")]
impl Stage for &'static str {
    fn id(self) -> String {
        self.into()
    }
}

/// Does a step, and passes its events on once it is done.
pub fn told<T>(on_event: &Function, step: impl FnOnce(&mut Recorder) -> Result<T>) -> Result<T> {
    let mut events = Recorder::default();
    let done = step(&mut events)?;
    events.deliver(on_event)?;
    Ok(done)
}

/// Passes on one event.
pub fn send(on_event: &Function, event: &JsValue, now: f64) -> Result<()> {
    on_event
        .call2(&JsValue::UNDEFINED, event, &JsValue::from_f64(now))
        .map_err(|error| Failure::invalid(format!("the listener threw {error:?}")))?;
    Ok(())
}

fn plain(event: &StageEvent) -> JsValue {
    let fields = Fields::new();
    match event {
        StageEvent::Enter { stage } => fields.with("kind", "enter").with("stage", *stage),
        StageEvent::Progress { stage, done, total } => fields
            .with("kind", "progress")
            .with("stage", *stage)
            .with("done", *done as f64)
            .with("total", *total as f64),
        StageEvent::Exit { stage, level, log_q, log_scale, counters } => fields
            .with("kind", "exit")
            .with("stage", *stage)
            .with("level", *level as f64)
            .with("logQ", *log_q)
            .with("logScale", *log_scale)
            .with("counters", plain_counters(counters)),
        other => fields.with("kind", "other").with("stage", other.stage()),
    }
    .done()
}

fn plain_counters(counters: &Counters) -> JsValue {
    Fields::new()
        .with("ntt", counters.ntt as f64)
        .with("limbMac", counters.limb_mac as f64)
        .with("keySwitch", counters.key_switch as f64)
        .done()
}
