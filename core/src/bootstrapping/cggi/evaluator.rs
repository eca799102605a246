//! Gates on encrypted bits.

use alloc::{borrow::Cow, format, sync::Arc, vec::Vec};

use super::{keys::CggiKeys, run::CggiRun, simplify::Simplified, stages, test_vector::TestVector};
use crate::{
    arith::Word,
    error::{Error, hex},
    par,
    rlwe::lwe::LweSample,
    schemes::cggi::{CggiCiphertext, CggiParams, Encoding, Gate, LinearForm},
    trace::{Observer, StageInfo},
};

/// Evaluates gates with the keys of one key set; cheap to clone, usable from several threads.
///
/// Results depend on the inputs and the keys alone: no randomness, the same bits on every backend and
/// for any number of threads.
pub struct CggiEvaluator<W: Word = u32> {
    keys: Arc<CggiKeys<W>>,
    log_failure: f64,
}

impl<W: Word> Clone for CggiEvaluator<W> {
    fn clone(&self) -> Self {
        Self { keys: self.keys.clone(), log_failure: self.log_failure }
    }
}

impl<W: Word> CggiEvaluator<W> {
    /// An evaluator with these keys.
    pub fn new(keys: impl Into<Arc<CggiKeys<W>>>) -> Self {
        let keys = keys.into();
        let log_failure = keys.params().spec().log_failure;
        Self { keys, log_failure }
    }

    /// The same evaluator, whose look-ups may be wrong with probability 2^`log_failure`, instead of what
    /// the set promises. A wrong result that others see leaks information about the key.
    #[must_use]
    pub fn accepting(mut self, log_failure: f64) -> Self {
        self.log_failure = log_failure;
        self
    }

    /// log2 of the probability at which a look-up is refused.
    pub fn log_failure(&self) -> f64 {
        self.log_failure
    }

    /// The keys.
    pub fn keys(&self) -> &CggiKeys<W> {
        &self.keys
    }

    /// The parameter set.
    pub fn params(&self) -> &CggiParams<W> {
        self.keys.params()
    }

    /// The stages of a bootstrap, as reported to observers.
    pub fn stages(&self) -> &'static [StageInfo] {
        &stages::STAGES
    }

    /// A bit that everybody knows, usable as an input: no mask, no noise.
    ///
    /// # Errors
    /// None.
    pub fn constant(&self, bit: bool) -> Result<CggiCiphertext<W>, Error> {
        CggiCiphertext::trivial(self.params(), self.keys.key_id(), Encoding::Bit, u32::from(bit))
    }

    /// The inverse of a bit: no bootstrap, no noise.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::InvalidArgument`] for a ciphertext of other keys or another
    /// encoding.
    pub fn not(&self, bit: &CggiCiphertext<W>) -> Result<CggiCiphertext<W>, Error> {
        self.check_bit(bit)?;
        let mut sample = LweSample::trivial(self.params().n(), W::ZERO);
        sample.add_multiple(self.params().modulus(), -1, bit.sample());
        CggiCiphertext::new(self.params(), self.keys.key_id(), Encoding::Bit, bit.weight(), sample)
    }

    /// The same bit with the noise of one bootstrap.
    ///
    /// # Errors
    /// As [`Self::not`]; [`Error::Cancelled`] if the observer says so.
    pub fn refresh(
        &self,
        bit: &CggiCiphertext<W>,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        self.check_bit(bit)?;
        self.sign_run(LinearForm { weights: [1, 0, 0], eighths: 0, margin: 1 }, &[bit]).finish(observer)
    }

    /// One gate: a bootstrap for two-input gates, majority and parity, two rotations for MUX and the
    /// three-input AND and OR, none for NOT.
    ///
    /// Inputs may coincide: the noise of equal inputs would add up, so the gate is simplified first.
    /// Inputs with more noise than the set's promise allows are refreshed first (see
    /// [`CggiParams::max_weight`]; this happens after several MUX in a row only).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of inputs or an encoding that is not a bit;
    /// [`Error::ParamsMismatch`] for ciphertexts of other keys; [`Error::Cancelled`] if the observer says
    /// so.
    pub fn gate(
        &self,
        gate: Gate,
        inputs: &[&CggiCiphertext<W>],
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        gate.check_inputs(inputs.len())?;
        inputs.iter().try_for_each(|input| self.check_bit(input))?;
        match Simplified::of(gate, inputs) {
            Some(Simplified::Constant(bit)) => self.constant(bit),
            Some(Simplified::Input(i)) => Ok(inputs[i].clone()),
            Some(Simplified::Inverse(i)) => self.not(inputs[i]),
            Some(Simplified::Gate(gate, [i, j])) => {
                self.distinct_gate(gate, &[inputs[i], inputs[j]], observer)
            }
            None => self.distinct_gate(gate, inputs, observer),
        }
    }

    /// Independent gates, in order, one per thread at a time. The same results as one after the other.
    ///
    /// # Errors
    /// The error of the first gate that fails, as [`Self::gate`].
    pub fn gates(&self, calls: &[(Gate, &[&CggiCiphertext<W>])]) -> Result<Vec<CggiCiphertext<W>>, Error> {
        par::try_map(calls.len(), |i| self.gate(calls[i].0, calls[i].1, &mut ()))
    }

    /// A gate of one bootstrap ([`Gate::linear_form`]) as a run that the caller drives: stages and the
    /// accumulator can be looked at between steps.
    ///
    /// # Errors
    /// As [`Self::gate`]; [`Error::InvalidArgument`] for a gate of no or two bootstraps. Inputs are taken
    /// as they are.
    pub fn gate_run(&self, gate: Gate, inputs: &[&CggiCiphertext<W>]) -> Result<CggiRun<W>, Error> {
        gate.check_inputs(inputs.len())?;
        inputs.iter().try_for_each(|input| self.check_bit(input))?;
        let Some(form) = gate.linear_form() else {
            return Err(Error::InvalidArgument(format!(
                "gate {gate} is not one bootstrap but {} rotations; run the gates it consists of",
                gate.rotations()
            )));
        };
        Ok(self.sign_run(form, inputs))
    }

    /// A gate whose inputs are different ciphertexts of these keys.
    fn distinct_gate(
        &self,
        gate: Gate,
        inputs: &[&CggiCiphertext<W>],
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<W>, Error> {
        if let Some(form) = gate.linear_form() {
            let inputs = self.within_promise(form, inputs, observer)?;
            let inputs: Vec<_> = inputs.iter().map(AsRef::as_ref).collect();
            return self.sign_run(form, &inputs).finish(observer);
        }
        if let Some([first, second]) = gate.chain() {
            let inner = self.gate(first, &inputs[..2], observer)?;
            return self.gate(second, &[&inner, inputs[2]], observer);
        }
        match gate {
            Gate::Mux => {
                let chosen = self.gate(Gate::And, &inputs[..2], observer)?;
                let other = self.gate(Gate::AndNotA, &[inputs[0], inputs[2]], observer)?;
                self.sum_of_exclusive(&chosen, &other)
            }
            _ => self.not(inputs[0]),
        }
    }

    /// x or y where at most one of them is 1: x + y + 1/8.
    fn sum_of_exclusive(
        &self,
        x: &CggiCiphertext<W>,
        y: &CggiCiphertext<W>,
    ) -> Result<CggiCiphertext<W>, Error> {
        let params = self.params();
        let mut sample = LweSample::trivial(params.n(), params.turns(1, 8));
        sample.add_multiple(params.modulus(), 1, x.sample());
        sample.add_multiple(params.modulus(), 1, y.sample());
        let weight = x.weight() + y.weight();
        CggiCiphertext::new(params, self.keys.key_id(), Encoding::Bit, weight, sample)
    }

    /// The inputs, those with too much noise refreshed.
    fn within_promise<'a>(
        &self,
        form: LinearForm,
        inputs: &[&'a CggiCiphertext<W>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Cow<'a, CggiCiphertext<W>>>, Error> {
        let weights: Vec<u32> = inputs.iter().map(|input| input.weight()).collect();
        let heavy = form.weight_at_margin(&weights) > self.params().max_weight();
        inputs
            .iter()
            .map(|&input| {
                if heavy && input.weight() > 1 {
                    self.refresh(input, observer).map(Cow::Owned)
                } else {
                    Ok(Cow::Borrowed(input))
                }
            })
            .collect()
    }

    /// The sign of a sum of inputs, as a bit.
    fn sign_run(&self, form: LinearForm, inputs: &[&CggiCiphertext<W>]) -> CggiRun<W> {
        let params = self.params();
        let mut sum = LweSample::trivial(params.n(), params.turns(form.eighths.into(), 8));
        for (input, weight) in inputs.iter().zip(form.weights) {
            sum.add_multiple(params.modulus(), weight.into(), input.sample());
        }
        let test = TestVector::sign(params, params.turns(1, 8));
        CggiRun::new(&self.keys, sum, test, Encoding::Bit)
    }

    pub(super) fn check_bit(&self, ciphertext: &CggiCiphertext<W>) -> Result<(), Error> {
        self.check_key(ciphertext)?;
        if ciphertext.encoding() == Encoding::Bit {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "gates take bits, and this ciphertext holds {}; use a look-up",
            ciphertext.encoding().describe()
        )))
    }

    /// The keys, for runs.
    pub(super) fn shared_keys(&self) -> &Arc<CggiKeys<W>> {
        &self.keys
    }

    /// Refuses ciphertexts of another set or key.
    pub(in crate::bootstrapping) fn check_key(&self, ciphertext: &CggiCiphertext<W>) -> Result<(), Error> {
        self.params().check_fingerprint("ciphertext", ciphertext.fingerprint())?;
        if ciphertext.key_id() == self.keys.key_id() {
            return Ok(());
        }
        Err(Error::ParamsMismatch(format!(
            "the ciphertext belongs to key {}, and the evaluation keys to {}; use objects of one key",
            hex(&ciphertext.key_id()),
            hex(&self.keys.key_id())
        )))
    }
}
