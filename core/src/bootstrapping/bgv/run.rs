//! A bootstrap in steps: one stage at a time.

use alloc::{format, vec::Vec};

use super::{
    bootstrapper::{BgvBootstrapper, BgvPrepared},
    stages,
};
use crate::{
    arith::{PrimePower, Word},
    bootstrapping::{
        method::limits,
        raising::{
            KeySource,
            steps::{Steps, unfinished},
        },
    },
    error::Error,
    schemes::bgv::{BgvCiphertext, Factor},
    trace::{Counters, Observer, StageInfo},
};

/// Where a run stands: what the stages before have made. Each stage takes one state to the next.
///
/// | stage | thin: slots of integers | general: slots of more coordinates |
/// | --- | --- | --- |
/// | | [`Input`](Self::Input) | [`Input`](Self::Input) |
/// | slots to coefficients | [`Base`](Self::Base) | |
/// | prepare | [`Prepared`](Self::Prepared) | [`Prepared`](Self::Prepared) |
/// | raise | [`Raised`](Self::Raised) | [`Raised`](Self::Raised) |
/// | coefficients to slots | [`Slots`](Self::Slots) | [`Slots`](Self::Slots) |
/// | unpack | | [`Unpacked`](Self::Unpacked) |
/// | remove digits | [`Done`](Self::Done) | [`Removed`](Self::Removed) |
/// | slots to coefficients | | [`Done`](Self::Done) |
///
/// An [`Approach`](super::Approach) other than `Raised` reads the digits from a second ciphertext, while the message waits
/// ([`BgvRun::message`]). From [`Raised`](Self::Raised) to [`Unpacked`](Self::Unpacked) the states hold that second one, and "remove digits"
/// and a last "slots to coefficients" lead to [`Digits`](Self::Digits). One more stage subtracts the digits from the message:
/// [`Done`](Self::Done).
///
/// m' is the message times its factor, I the multiple of q0 in a coefficient: the digit to remove.
pub enum BgvState<W: Word> {
    /// The ciphertext to refresh.
    Input(BgvCiphertext<W>),
    /// The message in coefficients, modulo q0.
    Base(BgvCiphertext<W>),
    /// p^t m' + q0 I in coefficients, under the ephemeral secret.
    Prepared(BgvPrepared<W>),
    /// I + p^t m'/q0 modulo p^e in coefficients, modulo Q, and the factor of m'. The second ciphertext, where there is one, holds
    /// I - p^t I', or I - step I'.
    Raised(BgvCiphertext<W>, Factor),
    /// The same numbers in slots.
    Slots(BgvCiphertext<W>, Factor),
    /// The same numbers, each coordinate of the slots in a ciphertext of its own.
    Unpacked(Vec<BgvCiphertext<W>>, Factor),
    /// The message's coefficients in slots, without digits.
    Removed(BgvCiphertext<W>),
    /// The digits I alone, to be subtracted from the message: in slots, or in coefficients after the last slots-to-coefficients. And
    /// the factor of m'.
    Digits(BgvCiphertext<W>, Factor),
    /// The refreshed ciphertext.
    Done(BgvCiphertext<W>),
    /// Ended by an error.
    Failed,
}

/// A bootstrap that is driven from outside: between two steps the caller may look, wait or drop it.
pub struct BgvRun<'a, W: Word = u64> {
    bootstrapper: &'a BgvBootstrapper<W>,
    state: BgvState<W>,
    message: Option<BgvCiphertext<W>>,
}

impl<'a, W: Word> BgvRun<'a, W> {
    /// Checks the input; nothing is computed yet.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`], [`Error::PlaintextMismatch`], [`Error::InvalidArgument`] for a ciphertext
    /// that does not fit.
    pub fn new(bootstrapper: &'a BgvBootstrapper<W>, x: &BgvCiphertext<W>) -> Result<Self, Error> {
        let params = bootstrapper.params();
        params.check_set(x)?;
        limits::check_input(params.name(), params.levels().input, x.level(), x.components())?;
        params.check_ring("a bootstrap refreshes", x, params.messages())?;
        Ok(Self { bootstrapper, state: BgvState::Input(x.clone()), message: None })
    }

    /// The stage the next step belongs to; `None` when finished.
    pub fn next_stage(&self) -> Option<&StageInfo> {
        let params = self.bootstrapper.params();
        let id = match (&self.state, params.is_general()) {
            (BgvState::Input(_), true) | (BgvState::Base(_), _) => stages::PREPARE,
            (BgvState::Prepared(_), _) => stages::MOD_RAISE,
            (BgvState::Raised(..), _) => stages::COEFFS_TO_SLOTS,
            (BgvState::Slots(..), true) => stages::UNPACK,
            (BgvState::Slots(..), false) | (BgvState::Unpacked(..), _) => stages::DIGIT_REMOVAL,
            (BgvState::Input(_), false) | (BgvState::Removed(_), _) => stages::SLOTS_TO_COEFFS,
            (BgvState::Digits(x, _), true) if x.level() > params.levels().output => stages::SLOTS_TO_COEFFS,
            (BgvState::Digits(..), _) => stages::TAKE_OFF,
            (BgvState::Done(_) | BgvState::Failed, _) => return None,
        };
        params.stages().iter().find(|stage| stage.id == id)
    }

    /// Where the run stands.
    pub fn state(&self) -> &BgvState<W> {
        &self.state
    }

    /// The raised message, I + p^t m'/q0 or I + step m'/q0, while it waits for digits that are read from multiples of q0: in coefficients,
    /// for thin bootstrapping in slots after [`COEFFS_TO_SLOTS`](super::COEFFS_TO_SLOTS).
    pub fn message(&self) -> Option<&BgvCiphertext<W>> {
        self.message.as_ref()
    }

    /// Does one stage and reports it; true when the run is finished.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the observer breaks; errors of the keys. After an error within a stage the run is over.
    pub fn step(&mut self, keys: &dyn KeySource<W>, observer: &mut dyn Observer) -> Result<bool, Error> {
        self.step_reported(keys, observer)
    }

    /// The refreshed ciphertext.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if steps are left.
    pub fn finish(self) -> Result<BgvCiphertext<W>, Error> {
        match self.state {
            BgvState::Done(out) => Ok(out),
            _ => Err(unfinished(self.stage())),
        }
    }

    fn next(
        &mut self,
        state: BgvState<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<BgvState<W>, Error> {
        let bootstrapper = self.bootstrapper;
        let params = bootstrapper.params();
        let (general, apart) = (params.is_general(), params.is_apart());
        Ok(match state {
            BgvState::Input(x) if general => {
                BgvState::Prepared(bootstrapper.prepare(&bootstrapper.lowered(&x, 0)?, keys, counters)?)
            }
            BgvState::Slots(x, factor) if general => {
                BgvState::Unpacked(bootstrapper.unpack(&x, keys, counters)?, factor)
            }
            BgvState::Unpacked(x, factor) => {
                let removed = bootstrapper.remove_digits(&x, factor, keys, counters)?;
                if apart { BgvState::Digits(removed, factor) } else { BgvState::Removed(removed) }
            }
            BgvState::Removed(x) => BgvState::Done(bootstrapper.slots_to_coeffs(&x, keys, counters)?),
            BgvState::Input(x) => BgvState::Base(bootstrapper.slots_to_coeffs(&x, keys, counters)?),
            BgvState::Base(x) => BgvState::Prepared(bootstrapper.prepare(&x, keys, counters)?),
            BgvState::Prepared(x) if apart => {
                self.message = Some(bootstrapper.mod_raise(&x, keys, counters)?);
                BgvState::Raised(bootstrapper.raise_multiples(&x, keys, counters)?, x.factor())
            }
            BgvState::Prepared(x) => {
                BgvState::Raised(bootstrapper.mod_raise(&x, keys, counters)?, x.factor())
            }
            BgvState::Raised(x, factor) => {
                if let Some(message) = self.message.as_mut().filter(|_| apart && !general) {
                    *message = bootstrapper.coeffs_to_slots(&*message, keys, counters)?;
                }
                BgvState::Slots(bootstrapper.coeffs_to_slots(&x, keys, counters)?, factor)
            }
            BgvState::Slots(x, factor) => {
                let removed = bootstrapper.remove_digit(&x, factor, keys, counters)?;
                if apart { BgvState::Digits(removed, factor) } else { BgvState::Done(removed) }
            }
            BgvState::Digits(x, factor) if general && x.level() > params.levels().output => {
                BgvState::Digits(bootstrapper.slots_to_coeffs(&x, keys, counters)?, factor)
            }
            BgvState::Digits(x, factor) => {
                let message = self.message.take().ok_or_else(|| unfinished(None))?;
                BgvState::Done(bootstrapper.take_off(&message, &x, factor)?)
            }
            other @ BgvState::Done(_) => other,
            BgvState::Failed => return Err(unfinished(None)),
        })
    }
}

impl<W: Word> Steps<W> for BgvRun<'_, W> {
    fn stage(&self) -> Option<&'static str> {
        self.next_stage().map(|stage| stage.id)
    }

    fn is_done(&self) -> bool {
        matches!(self.state, BgvState::Done(_))
    }

    fn advance(&mut self, keys: &dyn KeySource<W>, counters: &mut Counters) -> Result<(), Error> {
        let stage = self.stage().ok_or_else(|| unfinished(None))?;
        let state = core::mem::replace(&mut self.state, BgvState::Failed);
        let name = self.bootstrapper.params().name();
        let raised = !matches!(state, BgvState::Input(_) | BgvState::Base(_) | BgvState::Prepared(_));
        let outgrown = |error| if raised { outgrown(error, stage, name) } else { error };
        self.state = self.next(state, keys, counters).map_err(outgrown)?;
        Ok(())
    }

    /// log2 of the plaintext modulus takes the place of a scale.
    fn position(&self) -> (usize, f64, f64) {
        let log = |ring: PrimePower| ring.modulus().log2();
        match &self.state {
            BgvState::Input(x)
            | BgvState::Base(x)
            | BgvState::Raised(x, _)
            | BgvState::Slots(x, _)
            | BgvState::Removed(x)
            | BgvState::Digits(x, _)
            | BgvState::Done(x) => (x.level(), x.log_q(), log(x.ring())),
            BgvState::Unpacked(all, _) => {
                all.first().map_or((0, 0.0, 0.0), |x| (x.level(), x.log_q(), log(x.ring())))
            }
            BgvState::Prepared(x) => {
                (0, x.pair().parts()[0].basis().log2(), log(self.bootstrapper.params().raised()))
            }
            BgvState::Failed => (0, 0.0, 0.0),
        }
    }
}

/// After the raise, the noise comes from the set and no longer from the message: "bootstrap first" would not help.
fn outgrown(error: Error, stage: &str, set: &str) -> Error {
    match error {
        Error::Limit(_) => Error::Limit(format!(
            "the levels of {stage} in the set {set} are too small for the noise of its own raise; give them larger primes"
        )),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_after_the_raise_is_the_sets() {
        let text = |stage| match outgrown(Error::Limit("bootstrap first".into()), stage, "small") {
            Error::Limit(text) => text,
            error => panic!("{error}"),
        };
        for stage in [stages::COEFFS_TO_SLOTS, stages::DIGIT_REMOVAL] {
            let text = text(stage);
            assert!(
                text.contains(stage) && text.contains("small") && text.contains("larger primes"),
                "{text}"
            );
        }
        let missing = outgrown(Error::MissingKey("a key".into()), stages::DIGIT_REMOVAL, "small");
        assert!(matches!(missing, Error::MissingKey(_)));
    }
}
