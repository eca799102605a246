//! What every method of CKKS that bootstraps in the page has here: keys that come part by part, and runs of one or several rounds.

/// `BootstrapKeys` and `BootstrapRun` of a method whose sets, keys and ciphertexts are those of the parent module. `builder` collects the
/// parts of keys of type `keys`, and `finish` completes them. `run` is a run over words `word`, `begin` begins one and `end` gives its
/// result; `gain` is the gain of a further round in bits, if there can be further rounds.
macro_rules! ckks_bootstrap {
    (
        builder: $builder:ty, $new_builder:expr, keys: $keys:ty, finish: $finish:expr, memory: $memory:expr,
        run: $run:ty, word: $word:ty, begin: $begin:expr, end: $end:expr, gain: $gain:expr
    ) => {
        /// The public keys of a bootstrapping.
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub struct BootstrapKeys($crate::collected::Collected<$builder, $keys>);

        #[wasm_bindgen::prelude::wasm_bindgen]
        impl BootstrapKeys {
            /// An empty set for a key, to be filled part by part.
            pub fn begin(preset: &str, id: &js_sys::Uint8Array) -> $crate::failure::Result<BootstrapKeys> {
                let (_, params) = super::Sets::named(preset)?;
                let builder = ($new_builder)(&params, $crate::failure::key_id(id)?);
                Ok(BootstrapKeys($crate::collected::Collected::Collecting(builder)))
            }

            /// Makes a part from the secret key and takes it in.
            #[wasm_bindgen(js_name = addFromSecret)]
            pub fn add_from_secret(
                &mut self,
                secret: &super::SecretKey,
                index: usize,
            ) -> $crate::failure::Result<()> {
                let part = refloat::scrub::scrubbed(|| secret.key.key_part(index))?;
                Ok(self.0.collecting()?.add(index, &part)?)
            }

            /// Takes in a part made elsewhere.
            pub fn add(&mut self, index: usize, bytes: &js_sys::Uint8Array) -> $crate::failure::Result<()> {
                Ok(self.0.collecting()?.add(index, &bytes.to_vec())?)
            }

            /// Completes the set; fails if parts are missing.
            pub fn finish(&mut self) -> $crate::failure::Result<()> {
                self.0.finish($finish)
            }

            /// Bytes the keys take in memory between runs.
            #[wasm_bindgen(js_name = memoryBytes)]
            pub fn memory_bytes(&self) -> f64 {
                self.0.keys().map_or(0, $memory) as f64
            }
        }

        /// Squares every slot; takes one level.
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub fn square(
            ciphertext: &super::Ciphertext,
            keys: &BootstrapKeys,
        ) -> $crate::failure::Result<super::Ciphertext> {
            let x = &ciphertext.inner;
            Ok(ciphertext.sibling(evaluator(&ciphertext.params)?.multiply(x, x, keys.source()?)?))
        }

        /// The same message at the level that a bootstrapping starts from, where all multiplications have been spent.
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub fn exhaust(ciphertext: &super::Ciphertext) -> $crate::failure::Result<super::Ciphertext> {
            let params = &ciphertext.params;
            let lowest = refloat::wire::CkksSet::input_level(params);
            let evaluator = refloat::schemes::ckks::CkksEvaluator::new(refloat::wire::CkksSet::ckks(params));
            Ok(ciphertext.sibling(evaluator.drop_to_level(&ciphertext.inner, lowest)?))
        }

        /// A bootstrapping under way.
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub struct BootstrapRun {
            run: Option<$run>,
            /// Set if there are several rounds.
            meta: Option<refloat::bootstrapping::MetaRun<'static, $word>>,
            input: super::Ciphertext,
            mode: refloat::bootstrapping::method::SlotMode,
            inspector: $crate::views::Inspector,
        }

        #[wasm_bindgen::prelude::wasm_bindgen]
        impl BootstrapRun {
            /// Begins a run; the ciphertext is copied. `message` are the numbers that were encrypted, against which inspected steps measure
            /// errors; without it they are measured against what the input decrypts to. `rounds` are those of META-BTS, one by default.
            pub fn begin(
                ciphertext: &super::Ciphertext,
                mode: Option<String>,
                message: Option<js_sys::Float64Array>,
                rounds: Option<f64>,
            ) -> $crate::failure::Result<BootstrapRun> {
                use refloat::{bootstrapping::method::SlotMode, wire::CkksSet as Set};
                let params = &ciphertext.params;
                let evaluator = evaluator(params)?;
                let mode = $crate::ckks::mode(mode, params)?;
                let asked = (rounds, ($gain)(super::Sets::named(params.name())?.0)?);
                let levels = [Set::input_level(params), Set::output_level(params)];
                let meta = $crate::rounds::begin(evaluator.ckks(), asked, levels, &ciphertext.inner)?;
                if meta.is_some() && mode == SlotMode::Bits {
                    let why = "bits are bootstrapped in one round: leave rounds out";
                    return Err($crate::failure::Failure::invalid(why));
                }
                let run = ($begin)(evaluator, &ciphertext.inner, mode)?;
                let input = ciphertext.sibling(ciphertext.inner.clone());
                let numbers = message.map(|values| zeroize::Zeroizing::new(values.to_vec()));
                let message = numbers.map(|numbers| $crate::views::slots(&numbers, mode)).transpose()?;
                let inspector = $crate::views::Inspector::new(message);
                Ok(BootstrapRun { run: Some(run), meta, input, mode, inspector })
            }

            /// The stage of the next step; none after the last one.
            pub fn stage(&self) -> Option<String> {
                self.run.as_ref()?.next_stage().map($crate::events::Stage::id)
            }

            /// One step, such as a stage, a track or a level of a tree; `true` when it was the last of all rounds.
            pub fn step(
                &mut self,
                keys: &BootstrapKeys,
                on_event: &js_sys::Function,
            ) -> $crate::failure::Result<bool> {
                $crate::events::told(on_event, |events| {
                    let run = self.run.as_mut().ok_or_else($crate::failure::over)?;
                    let source = keys.source()?;
                    let finished = refloat::scrub::scrubbed(|| run.step(source, events))?;
                    if finished && self.meta.is_some() { self.end_round(events) } else { Ok(finished) }
                })
            }

            /// As `step`, and also shows what the ciphertexts hold. The first call also shows the input.
            #[wasm_bindgen(js_name = stepInspected)]
            pub fn step_inspected(
                &mut self,
                keys: &BootstrapKeys,
                secret: &super::SecretKey,
                on_event: &js_sys::Function,
            ) -> $crate::failure::Result<bool> {
                self.inspect_input(secret, on_event)?;
                let finished = self.step(keys, on_event)?;
                let run = self.run.as_ref().ok_or_else($crate::failure::over)?;
                self.inspector.show(|message| secret.key.view(run, message), on_event)?;
                Ok(finished)
            }

            /// Shows the input of an inspected run whose first step is not `stepInspected`.
            #[wasm_bindgen(js_name = inspectInput)]
            pub fn inspect_input(
                &mut self,
                secret: &super::SecretKey,
                on_event: &js_sys::Function,
            ) -> $crate::failure::Result<()> {
                use refloat::bootstrapping::method::NumberSecret;
                if self.meta.is_some() {
                    return Err($crate::rounds::not_inspected());
                }
                let run = self.run.as_ref().ok_or_else($crate::failure::over)?;
                let (input, mode) = (&self.input.inner, self.mode);
                let decrypted = || {
                    let numbers = secret.key.decrypt_numbers(input, mode)?;
                    $crate::views::slots(numbers.reveal_to_key_owner(), mode)
                };
                self.inspector.begin(decrypted, |message| secret.key.view(run, message), on_event)
            }

            /// The refreshed ciphertext; can be taken once.
            pub fn finish(&mut self) -> $crate::failure::Result<super::Ciphertext> {
                let refreshed = match self.meta.take() {
                    Some(meta) => meta.finish()?,
                    None => ($end)(self.run.take().ok_or_else($crate::failure::over)?)?,
                };
                Ok(self.input.sibling(refreshed))
            }
        }

        impl BootstrapRun {
            /// Goes on to the next of several rounds; returns whether the last one is over.
            fn end_round(&mut self, events: &mut $crate::events::Recorder) -> $crate::failure::Result<bool> {
                let (Some(meta), Some(run)) = (&mut self.meta, self.run.take()) else { return Ok(true) };
                let Some(x) = $crate::rounds::next(meta, ($end)(run)?, events)? else { return Ok(true) };
                self.run = Some(($begin)(evaluator(&self.input.params)?, &x, self.mode)?);
                Ok(false)
            }
        }
    };
}

pub(crate) use ckks_bootstrap;
