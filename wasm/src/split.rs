//! Runs whose work is shared with other instances, and their helpers in those instances.

use js_sys::Uint8Array;
use refloat::{
    bootstrapping::method::{self, Tasks},
    scrub::scrubbed,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{failure::Result, object::Fields};

/// Computes tasks of a run in another instance.
#[wasm_bindgen]
pub struct Helper(Box<dyn method::Helper>);

impl Helper {
    /// Wraps a helper of the core.
    pub fn new(helper: impl method::Helper + 'static) -> Self {
        Self(Box::new(helper))
    }
}

#[wasm_bindgen]
impl Helper {
    /// The result of a task, for the run's `supply`; `needed` are the results that the task needs, concatenated.
    pub fn compute(&mut self, task: usize, needed: &Uint8Array) -> Result<Uint8Array> {
        let needed = needed.to_vec();
        let result = scrubbed(|| self.0.compute(task, &needed))?;
        Ok(Uint8Array::from(result.as_slice()))
    }
}

/// Tasks as the TypeScript type `GlueTasks`.
pub fn plain(tasks: Option<Tasks>) -> JsValue {
    tasks.map_or(JsValue::UNDEFINED, |Tasks { next, per_step, total, secret }| {
        Fields::new()
            .with("next", next as f64)
            .with("perStep", per_step as f64)
            .with("total", total as f64)
            .with("secret", secret)
            .done()
    })
}

/// The methods of runs whose work is shared. Each run is a class `$class` with a field `run`: `$run` is the run in it, if it is not over,
/// and `$keys` are the core's keys in an object of `$class_of_keys`.
macro_rules! split {
    ($class:ident, run: |$self:ident| $run:expr, keys: |$object:ident: &$class_of_keys:ty| $keys:expr) => {
        #[wasm_bindgen::prelude::wasm_bindgen]
        impl $class {
            /// The tasks that may be computed now, as the TypeScript type `GlueTasks`, if there are any.
            pub fn tasks(&mut self) -> wasm_bindgen::JsValue {
                let $self = self;
                $crate::split::plain($run.and_then(|run| refloat::bootstrapping::method::Split::tasks(run)))
            }

            /// What a `Helper` must know about the stage.
            pub fn brief(
                &mut self,
                $object: &$class_of_keys,
                on_event: &js_sys::Function,
            ) -> $crate::failure::Result<js_sys::Uint8Array> {
                use refloat::bootstrapping::method::Split;
                let ($self, keys) = (self, $keys);
                $crate::events::told(on_event, |events| {
                    let brief = $run.ok_or_else($crate::failure::over)?.brief(keys, events)?;
                    Ok(js_sys::Uint8Array::from(brief.as_slice()))
                })
            }

            /// Computes a task ahead of the step that takes it.
            pub fn ahead(&mut self, $object: &$class_of_keys, task: usize) -> $crate::failure::Result<()> {
                use refloat::bootstrapping::method::Split;
                let ($self, keys) = (self, $keys);
                let run = $run.ok_or_else($crate::failure::over)?;
                Ok(refloat::scrub::scrubbed(|| run.ahead(keys, task))?)
            }

            /// Takes in the result of a task from a `Helper`.
            pub fn supply(
                &mut self,
                task: usize,
                result: &js_sys::Uint8Array,
            ) -> $crate::failure::Result<()> {
                use refloat::bootstrapping::method::Split;
                let $self = self;
                Ok($run.ok_or_else($crate::failure::over)?.supply(task, &result.to_vec())?)
            }
        }
    };
}

pub(crate) use split;
