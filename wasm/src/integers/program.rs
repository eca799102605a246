//! Programs on integers, one step at a time.

use js_sys::{Function, Uint8Array};
use refloat::{
    bootstrapping::bgv::{BgvArithmeticKeys, BgvKeys, BgvRun, KeySource},
    circuits::program::{
        Bootstraps, Program,
        integer_program::{IntegerMachine, IntegerPending, IntegerPlan, IntegerProgramRun, IntegerTarget},
    },
    schemes::bgv::{BgvCiphertext, BgvEvaluator, BgvShape},
    scrub::scrubbed,
    trace::Observer,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use super::{
    arithmetic::IntegerArithmeticKeys, ciphertext::IntegerCiphertext, evaluation::IntegerKeys,
    presets::bootstrapper,
};
use crate::{
    events::told,
    failure::{Failure, Result, bootstraps_nothing, over},
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
        self.planned(&self.first.params.program_target()?)
    }

    /// Plans the program for these keys; returns what it will take.
    #[wasm_bindgen(js_name = planArithmetic)]
    pub fn plan_arithmetic(&mut self, keys: &IntegerArithmeticKeys) -> Result<JsValue> {
        self.inputs.iter().try_for_each(|input| keys.0.check(input))?;
        self.planned(keys.0.target())
    }

    /// Does an operation, or a step of a bootstrap; `true` if it was the last.
    pub fn step(&mut self, keys: &IntegerKeys, on_event: &Function) -> Result<bool> {
        self.step_with(&Tools::Bootstrap(keys.keys()?), on_event)
    }

    /// Does an operation; `true` if it was the last.
    #[wasm_bindgen(js_name = stepArithmetic)]
    pub fn step_arithmetic(&mut self, keys: &IntegerArithmeticKeys, on_event: &Function) -> Result<bool> {
        self.step_with(&Tools::Arithmetic(&keys.0), on_event)
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
    fn step_with(&mut self, tools: &Tools<'_>, on_event: &Function) -> Result<bool> {
        told(on_event, |events| scrubbed(|| self.advance(tools, events)))
    }

    fn planned(&mut self, target: &IntegerTarget) -> Result<JsValue> {
        let shapes: Vec<BgvShape> = self.inputs.iter().map(BgvShape::of).collect();
        let plan = IntegerPlan::new(&self.program, target, &shapes, self.bootstraps)?.into_owned();
        let described = Fields::new()
            .with("steps", plan.steps() as f64)
            .with("bootstraps", plan.bootstraps() as f64)
            .with("passes", plan.bootstraps() as f64)
            .done();
        self.run = Some(IntegerProgramRun::new(plan, core::mem::take(&mut self.inputs))?);
        Ok(described)
    }

    fn advance(&mut self, tools: &Tools<'_>, observer: &mut dyn Observer) -> Result<bool> {
        let run = self.run.as_mut().ok_or_else(over)?;
        if let (Some(refresh), Tools::Bootstrap(keys)) = (&mut self.refresh, tools) {
            if refresh.step(*keys, observer)?
                && let Some(refresh) = self.refresh.take()
            {
                run.supply(refresh.finish()?)?;
            }
        } else {
            match (run.next(observer)?, tools) {
                (IntegerPending::Refresh(x), Tools::Bootstrap(_)) => {
                    self.refresh = Some(BgvRun::new(bootstrapper(&self.first.params)?, x)?);
                }
                (IntegerPending::Refresh(_), Tools::Arithmetic(_)) => return Err(bootstraps_nothing()),
                (IntegerPending::Arithmetic, _) => tools.compute(&self.first, run, observer)?,
                (IntegerPending::Nothing, _) => {}
            }
        }
        let finished = self.refresh.is_none() && run.done() == run.plan().steps();
        if finished && let Some(run) = self.run.take() {
            self.outputs = run.finish(observer)?.into_iter().map(Some).collect();
        }
        Ok(finished)
    }
}

/// Keys that a program runs with: those of bootstraps, or those for arithmetic, which allow no bootstraps.
enum Tools<'a> {
    Bootstrap(&'a BgvKeys<u64>),
    Arithmetic(&'a BgvArithmeticKeys),
}

impl Tools<'_> {
    /// Does the arithmetic that a program waits for.
    fn compute(
        &self,
        x: &IntegerCiphertext,
        run: &mut IntegerProgramRun,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let (evaluator, held);
        let machine = match self {
            Self::Arithmetic(keys) => keys.machine(),
            Self::Bootstrap(keys) => {
                (evaluator, held) = (BgvEvaluator::new(x.params.context()), keys.relinearization_key()?);
                IntegerMachine {
                    evaluator: &evaluator,
                    relinearization: Some(&*held),
                    galois: Some(*keys),
                    refresh: None,
                }
            }
        };
        Ok(run.compute(&machine, observer)?)
    }
}
