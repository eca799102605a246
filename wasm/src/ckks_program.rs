//! Programs in the page, a step at a time: what every method of CKKS has here.

use core::result::Result as CoreResult;

use refloat::{
    Error,
    bootstrapping::method::SlotMode,
    circuits::{
        arithmetic::ArithmeticKeys,
        program::{Bootstraps, InputShape, Machine, Pending, Plan, Program, ProgramRun, Readings, Target},
    },
    schemes::ckks::{Ciphertext, CkksEvaluator},
    scrub::scrubbed,
    trace::Observer,
    wire::{CkksSet, WireWord},
};
use wasm_bindgen::prelude::JsValue;

use crate::{
    failure::{Failure, Result, bootstraps_nothing, over},
    object::Fields,
};

/// What programs need from a method: its bootstraps, one step at a time, and its keys.
pub trait ProgramMethod {
    /// Words of ciphertexts.
    type Word: WireWord;
    /// Parameters of a set.
    type Params: CkksSet<Word = Self::Word> + Clone;
    /// The complete keys of a bootstrap.
    type Keys;

    /// The evaluator for ciphertexts of a set.
    fn evaluator(params: &Self::Params) -> Result<&'static CkksEvaluator<Self::Word>>;

    /// Key id of the owner of the keys.
    fn owner(keys: &Self::Keys) -> [u8; 16];

    /// Evaluates the arithmetic of a plan.
    fn machine<'a>(evaluator: &'a CkksEvaluator<Self::Word>, keys: &'a Self::Keys)
    -> Machine<'a, Self::Word>;

    /// Begins a bootstrap.
    fn refresh(params: &Self::Params, x: &Ciphertext<Self::Word>, mode: SlotMode) -> Result<Steps<Self>>;

    /// Begins to read digits, or the order of slots.
    fn read(
        params: &Self::Params,
        keys: &Self::Keys,
        x: &Ciphertext<Self::Word>,
        readings: Readings<'_>,
    ) -> Result<Steps<Self>> {
        let _ = (params, keys, x, readings);
        Err(reads_nothing())
    }
}

/// A bootstrap or readings under way.
pub trait Stepwise<M: ProgramMethod + ?Sized> {
    /// Does a step; returns whether it was the last.
    fn step(&mut self, keys: &M::Keys, observer: &mut dyn Observer) -> CoreResult<bool, Error>;

    /// The resulting ciphertexts.
    fn results(self: Box<Self>) -> CoreResult<Vec<Ciphertext<M::Word>>, Error>;
}

/// A bootstrap or a reading under way, of any kind.
pub type Steps<M> = Box<dyn Stepwise<M>>;

/// A run with its steps and its end.
struct Run<R, S, E>(R, S, E);

impl<M, R, S, E> Stepwise<M> for Run<R, S, E>
where
    M: ProgramMethod,
    S: Fn(&mut R, &M::Keys, &mut dyn Observer) -> CoreResult<bool, Error>,
    E: FnOnce(R) -> CoreResult<Vec<Ciphertext<M::Word>>, Error>,
{
    fn step(&mut self, keys: &M::Keys, observer: &mut dyn Observer) -> CoreResult<bool, Error> {
        (self.1)(&mut self.0, keys, observer)
    }

    fn results(self: Box<Self>) -> CoreResult<Vec<Ciphertext<M::Word>>, Error> {
        let Run(run, _, end) = *self;
        end(run)
    }
}

/// Combines a run, the function that does a step of it, and the one that ends it.
pub fn stepwise<M: ProgramMethod, R: 'static>(
    run: R,
    step: impl Fn(&mut R, &M::Keys, &mut dyn Observer) -> CoreResult<bool, Error> + 'static,
    end: impl FnOnce(R) -> CoreResult<Vec<Ciphertext<M::Word>>, Error> + 'static,
) -> Steps<M> {
    Box::new(Run(run, step, end))
}

/// Keys that a program runs with: those of bootstraps, or those for arithmetic, which allow no bootstraps.
pub enum Tools<'a, M: ProgramMethod> {
    /// Bootstrapping keys.
    Bootstrap(&'a M::Keys),
    /// Keys for arithmetic.
    Arithmetic(&'a ArithmeticKeys<M::Word>),
}

impl<M: ProgramMethod> Tools<'_, M> {
    fn target(&self, params: &M::Params) -> CoreResult<Target, Error> {
        match self {
            Self::Bootstrap(_) => params.target(),
            Self::Arithmetic(keys) => Ok(keys.target().clone()),
        }
    }

    /// Refuses keys whose owner is not the ciphertext's: the result would be wrong.
    fn check_owner(&self, x: &Ciphertext<M::Word>) -> Result<()> {
        match self {
            Self::Arithmetic(keys) => Ok(keys.check_owner(x)?),
            Self::Bootstrap(keys) if M::owner(keys) == x.key_id() => Ok(()),
            Self::Bootstrap(_) => Err(Error::ParamsMismatch(
                "the inputs of the program are under another key than these bootstrapping keys; run it with those of the owner \
                 of its inputs"
                    .into(),
            )
            .into()),
        }
    }
}

/// A program with its inputs, before it is planned and afterwards.
pub struct Programs<M: ProgramMethod> {
    program: Program,
    bootstraps: Bootstraps,
    params: M::Params,
    mode: SlotMode,
    inputs: Vec<Ciphertext<M::Word>>,
    run: Option<ProgramRun<M::Word>>,
    /// The bootstrap that the program waits for.
    under_way: Option<Steps<M>>,
    outputs: Vec<Option<Ciphertext<M::Word>>>,
}

impl<M: ProgramMethod> Programs<M> {
    /// A program for ciphertexts of a set; `where_needed` says who places bootstraps.
    pub fn new(bytes: &[u8], where_needed: bool, params: &M::Params, mode: SlotMode) -> Result<Self> {
        Ok(Self {
            program: Program::from_bytes(bytes)?,
            bootstraps: if where_needed { Bootstraps::WhereNeeded } else { Bootstraps::AsWritten },
            params: params.clone(),
            mode,
            inputs: Vec::new(),
            run: None,
            under_way: None,
            outputs: Vec::new(),
        })
    }

    /// Adds the next input.
    pub fn give(&mut self, x: &Ciphertext<M::Word>) {
        self.inputs.push(x.clone());
    }

    /// Decides levels, scales and bootstraps; returns what the run will take.
    pub fn plan(&mut self, tools: &Tools<'_, M>) -> Result<JsValue> {
        for input in &self.inputs {
            tools.check_owner(input)?;
        }
        let shapes: Vec<InputShape> = self.inputs.iter().map(InputShape::of).collect();
        let target = tools.target(&self.params)?;
        let plan = Plan::new(&self.program, &target, &shapes, self.bootstraps)?.into_owned();
        let described = Fields::new()
            .with("steps", plan.steps() as f64)
            .with("bootstraps", plan.bootstraps() as f64)
            .with("passes", plan.passes() as f64)
            .done();
        self.run = Some(ProgramRun::new(plan, core::mem::take(&mut self.inputs))?);
        Ok(described)
    }

    /// Does an operation, or a step of a bootstrap; `true` if it was the last.
    pub fn step(&mut self, tools: &Tools<'_, M>, observer: &mut dyn Observer) -> Result<bool> {
        scrubbed(|| {
            let run = self.run.as_mut().ok_or_else(over)?;
            let evaluator = M::evaluator(&self.params)?;
            match (self.under_way.as_mut(), tools) {
                (Some(bootstrap), Tools::Bootstrap(keys)) => {
                    if bootstrap.step(keys, observer)?
                        && let Some(bootstrap) = self.under_way.take()
                    {
                        run.supply(evaluator, bootstrap.results()?)?;
                    }
                }
                (None, Tools::Bootstrap(keys)) => match run.next(observer)? {
                    Pending::Refresh(x) => self.under_way = Some(M::refresh(&self.params, x, self.mode)?),
                    Pending::Digits(x, readings) => {
                        self.under_way = Some(M::read(&self.params, keys, x, readings.readings())?);
                    }
                    Pending::Arithmetic => run.compute(&M::machine(evaluator, keys), observer)?,
                    Pending::Nothing => {}
                },
                (None, Tools::Arithmetic(keys)) => match run.next(observer)? {
                    Pending::Arithmetic => run.compute(&keys.machine(evaluator), observer)?,
                    Pending::Nothing => {}
                    Pending::Refresh(_) | Pending::Digits(..) => return Err(bootstraps_nothing()),
                },
                (Some(_), Tools::Arithmetic(_)) => return Err(bootstraps_nothing()),
            }
            let finished = self.under_way.is_none() && run.done() == run.plan().steps();
            if finished && let Some(run) = self.run.take() {
                self.outputs = run.finish(observer)?.into_iter().map(Some).collect();
            }
            Ok(finished)
        })
    }

    /// An output by its index; each can be taken once.
    pub fn take(&mut self, index: usize) -> Result<Ciphertext<M::Word>> {
        self.outputs.get_mut(index).and_then(Option::take).ok_or_else(|| {
            Failure::invalid(format!("no output {index}: take each once, after the last step of the program"))
        })
    }
}

/// The error of a method that reads neither digits nor an order.
pub fn reads_nothing() -> Failure {
    Failure::invalid("sets of this method read no digits; take one for modular reduction")
}

/// `ProgramRun` of a method, as [`ProgramMethod`] describes it, whose sets, keys and ciphertexts are those of the parent module, and whose
/// bootstrapping keys have `whole`.
macro_rules! ckks_program {
    ($method:ty) => {
        /// A program under way, and its outputs.
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub struct ProgramRun {
            programs: $crate::ckks_program::Programs<$method>,
            first: super::Ciphertext,
        }

        #[wasm_bindgen::prelude::wasm_bindgen]
        impl ProgramRun {
            /// Begins with the first input of a program; `where_needed` says whether bootstraps are inserted where levels run out.
            pub fn begin(
                program: &js_sys::Uint8Array,
                where_needed: bool,
                mode: Option<String>,
                first: &super::Ciphertext,
            ) -> $crate::failure::Result<ProgramRun> {
                let mode = $crate::ckks::mode(mode, &first.params)?;
                let mut programs = $crate::ckks_program::Programs::new(
                    &program.to_vec(),
                    where_needed,
                    &first.params,
                    mode,
                )?;
                programs.give(&first.inner);
                Ok(ProgramRun { programs, first: first.sibling(first.inner.clone()) })
            }

            /// Adds the next input.
            pub fn give(&mut self, x: &super::Ciphertext) {
                self.programs.give(&x.inner);
            }

            /// Plans the program for a set and these keys; returns what it will take.
            pub fn plan(
                &mut self,
                keys: &super::bootstrap::BootstrapKeys,
            ) -> $crate::failure::Result<wasm_bindgen::JsValue> {
                self.programs.plan(&$crate::ckks_program::Tools::Bootstrap(keys.whole()?))
            }

            /// Plans the program for these keys; returns what it will take.
            #[wasm_bindgen(js_name = planArithmetic)]
            pub fn plan_arithmetic(
                &mut self,
                keys: &super::arithmetic::ArithmeticKeys,
            ) -> $crate::failure::Result<wasm_bindgen::JsValue> {
                self.programs.plan(&$crate::ckks_program::Tools::Arithmetic(&keys.0))
            }

            /// Does an operation, or a step of a bootstrap; `true` if it was the last.
            pub fn step(
                &mut self,
                keys: &super::bootstrap::BootstrapKeys,
                on_event: &js_sys::Function,
            ) -> $crate::failure::Result<bool> {
                self.step_with(&$crate::ckks_program::Tools::Bootstrap(keys.whole()?), on_event)
            }

            /// Does an operation; `true` if it was the last.
            #[wasm_bindgen(js_name = stepArithmetic)]
            pub fn step_arithmetic(
                &mut self,
                keys: &super::arithmetic::ArithmeticKeys,
                on_event: &js_sys::Function,
            ) -> $crate::failure::Result<bool> {
                self.step_with(&$crate::ckks_program::Tools::Arithmetic(&keys.0), on_event)
            }

            /// An output by its index, after the last step; each can be taken once.
            pub fn finish(&mut self, index: usize) -> $crate::failure::Result<super::Ciphertext> {
                Ok(self.first.sibling(self.programs.take(index)?))
            }
        }

        impl ProgramRun {
            fn step_with(
                &mut self,
                tools: &$crate::ckks_program::Tools<'_, $method>,
                on_event: &js_sys::Function,
            ) -> $crate::failure::Result<bool> {
                $crate::events::told(on_event, |events| self.programs.step(tools, events))
            }
        }
    };
}

pub(crate) use ckks_program;
