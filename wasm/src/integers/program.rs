//! Programs on integers, one step at a time.

use js_sys::{Function, Uint8Array};
use refloat::{
    bootstrapping::bgv::{BgvKeys, BgvRun, KeySource},
    circuits::program::{
        Bootstraps, Program,
        integer_program::{IntegerMachine, IntegerPending, IntegerPlan, IntegerProgramRun},
    },
    schemes::bgv::{BgvCiphertext, BgvShape},
    scrub::scrubbed,
    trace::Observer,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use super::{ciphertext::IntegerCiphertext, evaluation::IntegerKeys, presets::bootstrapper};
use crate::{
    events::told,
    failure::{Failure, Result, over},
    object::Fields,
};

/// A program under way, and its outputs.
#[wasm_bindgen]
pub struct IntegerProgram {
    program: Program,
    bootstraps: Bootstraps,
    first: IntegerCiphertext,
    inputs: Vec<BgvCiphertext>,
    run: Option<IntegerProgramRun>,
    /// The bootstrap that the program waits for.
    refresh: Option<BgvRun<'static>>,
    outputs: Vec<Option<BgvCiphertext>>,
}

#[wasm_bindgen]
impl IntegerProgram {
    /// Begins with the first input of a program; `where_needed` says whether bootstraps are inserted where levels run out.
    pub fn begin(
        program: &Uint8Array,
        where_needed: bool,
        first: &IntegerCiphertext,
    ) -> Result<IntegerProgram> {
        Ok(IntegerProgram {
            program: Program::from_bytes(&program.to_vec())?,
            bootstraps: if where_needed { Bootstraps::WhereNeeded } else { Bootstraps::AsWritten },
            first: first.sibling(first.inner.clone()),
            inputs: vec![first.inner.clone()],
            run: None,
            refresh: None,
            outputs: Vec::new(),
        })
    }

    /// Adds the next input.
    pub fn give(&mut self, x: &IntegerCiphertext) {
        self.inputs.push(x.inner.clone());
    }

    /// Plans the program for a set and these keys; returns what it will take.
    pub fn plan(&mut self, keys: &IntegerKeys) -> Result<JsValue> {
        let keys = keys.keys()?;
        self.inputs.iter().try_for_each(|input| keys.check_owner(input))?;
        let shapes: Vec<BgvShape> = self.inputs.iter().map(BgvShape::of).collect();
        let target = self.first.params.program_target()?;
        let plan = IntegerPlan::new(&self.program, &target, &shapes, self.bootstraps)?.into_owned();
        let described = Fields::new()
            .with("steps", plan.steps() as f64)
            .with("bootstraps", plan.bootstraps() as f64)
            .with("passes", plan.bootstraps() as f64)
            .done();
        self.run = Some(IntegerProgramRun::new(plan, core::mem::take(&mut self.inputs))?);
        Ok(described)
    }

    /// Does an operation, or a step of a bootstrap; `true` if it was the last.
    pub fn step(&mut self, keys: &IntegerKeys, on_event: &Function) -> Result<bool> {
        told(on_event, |events| scrubbed(|| self.advance(keys.keys()?, events)))
    }

    /// An output by its index, after the last step; each can be taken once.
    pub fn finish(&mut self, index: usize) -> Result<IntegerCiphertext> {
        let output = self.outputs.get_mut(index).and_then(Option::take).ok_or_else(|| {
            Failure::invalid(format!("no output {index}: take each once, after the last step of the program"))
        })?;
        Ok(self.first.sibling(output))
    }
}

impl IntegerProgram {
    fn advance(&mut self, keys: &BgvKeys<u64>, observer: &mut dyn Observer) -> Result<bool> {
        let run = self.run.as_mut().ok_or_else(over)?;
        let bootstrapper = bootstrapper(&self.first.params)?;
        if let Some(refresh) = &mut self.refresh {
            if refresh.step(keys, observer)?
                && let Some(refresh) = self.refresh.take()
            {
                run.supply(refresh.finish()?)?;
            }
        } else {
            match run.next(observer)? {
                IntegerPending::Refresh(x) => self.refresh = Some(BgvRun::new(bootstrapper, x)?),
                IntegerPending::Arithmetic => {
                    let relinearization = keys.relinearization_key()?;
                    let machine = IntegerMachine {
                        evaluator: bootstrapper.bgv(),
                        relinearization: Some(&*relinearization),
                        galois: Some(keys),
                        refresh: None,
                    };
                    run.compute(&machine, observer)?;
                }
                IntegerPending::Nothing => {}
            }
        }
        let finished = self.refresh.is_none() && run.done() == run.plan().steps();
        if finished && let Some(run) = self.run.take() {
            self.outputs = run.finish(observer)?.into_iter().map(Some).collect();
        }
        Ok(finished)
    }
}
