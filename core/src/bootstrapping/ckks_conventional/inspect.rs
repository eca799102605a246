//! What the holder of the secret key sees between two steps: slots, coefficients, or the comb of multiples of q0.
//!
//! A set of n slots has n pairs of coefficients w_k = m_k + i m_(k+n), at every (N/2n)-th power of X. A view of coefficients
//! lists m_0 ... m_(2n-1), in the same order at every stage. While a message with few slots has been raised but not moved, the
//! view lists all N coefficients, and every (N/2n)-th belongs to the message. Slots that hold pairs hold them in bit-reversed
//! order (see [`crate::circuits::linear_transform::slots_to_coeffs_stages`]).

use alloc::vec::Vec;

use super::{
    run::{ConventionalRun, ConventionalState},
    spec::{ConventionalSecretKey, EVAL_MOD},
};
use crate::{
    arith::{Word, complex::Complex},
    bootstrapping::{
        StageView, ViewKind,
        raising::{ReductionSpec, StageOrder, stages},
    },
    error::Error,
    schemes::ckks::Ciphertext,
};

impl<W: Word> ConventionalSecretKey<W> {
    /// Decrypts where a run stands: slots before the first stage and after the last, m/q0 + I after the modulus was
    /// raised and once more as slots, m/q0 after the reduction. `message` are the slots that were encrypted, for
    /// comparison; missing ones are zero. `None` after an error.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] if the run is under another key.
    pub fn view(
        &self,
        run: &ConventionalRun<'_, W>,
        message: &[Complex],
    ) -> Result<Option<StageView>, Error> {
        let mut slots = message.to_vec();
        slots.resize(self.params().slots(), Complex::ZERO);
        let first = self.params().spec().order == StageOrder::SlotsToCoeffsFirst;
        let (kind, stage, values, expected) = match run.state() {
            ConventionalState::Failed => return Ok(None),
            ConventionalState::Input(x) => {
                let stage = if first { stages::SLOTS_TO_COEFFS } else { stages::MOD_RAISE };
                (ViewKind::Slots, stage, self.slots_of(x)?, slots)
            }
            ConventionalState::Done(x) => {
                let stage = if first { EVAL_MOD } else { stages::SLOTS_TO_COEFFS };
                (ViewKind::Slots, stage, self.slots_of(x)?, slots)
            }
            ConventionalState::Base(x) => {
                let values = self.coefficients_of(x)?.into_iter().map(real).collect();
                let expected = self.message_coefficients(&slots)?.into_iter().map(real).collect();
                (ViewKind::Coefficients, stages::SLOTS_TO_COEFFS, values, expected)
            }
            state => {
                let range = f64::from(self.params().spec().reduction.range());
                let over_q0 = run.base().div(self.params().base_modulus()).to_f64();
                let (stage, factor, found) = match state {
                    ConventionalState::Raised(x) => (stages::MOD_RAISE, range, self.ring_coefficients(x)?),
                    ConventionalState::Summed(x) => (stages::SUB_SUM, range, self.ring_coefficients(x)?),
                    ConventionalState::Slots(parts) => {
                        (stages::COEFFS_TO_SLOTS, range, self.pairs_in_slots(parts)?)
                    }
                    _ => (EVAL_MOD, over_q0, self.pairs_in_slots(run.ciphertexts())?),
                };
                let values: Vec<Complex> = found.into_iter().map(|x| real(x * factor)).collect();
                let message = self.message_coefficients(&slots)?;
                // All coefficients belong to the message, or every `gap`-th does.
                let gap = values.len() / message.len();
                let exact = values.iter().enumerate().map(|(i, x)| {
                    let own = i % gap == 0;
                    let rest = if own { message[i / gap] * over_q0 } else { 0.0 };
                    let whole = stage != EVAL_MOD && (own || stage == stages::MOD_RAISE);
                    real(if whole { rest + libm::rint(x.re - rest) } else { rest })
                });
                let expected = exact.collect();
                let (track, node) = (None, None);
                let kind = ViewKind::Quotients;
                return Ok(Some(StageView { stage, kind, track, node, unit: over_q0, values, expected }));
            }
        };
        Ok(Some(StageView { stage, kind, track: None, node: None, unit: 1.0, values, expected }))
    }

    fn all_slots(&self, x: &Ciphertext<W>) -> Result<Vec<Complex>, Error> {
        Ok(self.decrypt_ring(x)?.reveal_to_key_owner().clone())
    }

    fn slots_of(&self, x: &Ciphertext<W>) -> Result<Vec<Complex>, Error> {
        Ok(self.decrypt(x)?.reveal_to_key_owner().clone())
    }

    /// All N coefficients, over the scale.
    fn ring_coefficients(&self, x: &Ciphertext<W>) -> Result<Vec<f64>, Error> {
        self.params().ckks().encoder().coefficients(&self.all_slots(x)?)
    }

    /// The 2n coefficients that belong to the message, over the scale.
    fn coefficients_of(&self, x: &Ciphertext<W>) -> Result<Vec<f64>, Error> {
        self.own_coefficients(&self.all_slots(x)?)
    }

    /// Every (N/2n)-th coefficient of the polynomial with N/2 slots.
    fn own_coefficients(&self, slots: &[Complex]) -> Result<Vec<f64>, Error> {
        let gap = self.params().n() / (2 * self.params().slots());
        Ok(self.params().ckks().encoder().coefficients(slots)?.into_iter().step_by(gap).collect())
    }

    /// Coefficients held in slots: real and imaginary parts of the pairs in two ciphertexts, or side by side in one, or
    /// joined to complex numbers.
    fn pairs_in_slots(&self, parts: &[Ciphertext<W>]) -> Result<Vec<f64>, Error> {
        let n = self.params().slots();
        if let ([joined], false) = (parts, self.params().packs_parts()) {
            let slots = self.all_slots(joined)?;
            let pairs = || (0..n).map(|k| slots[reversed(k, n)]);
            return Ok(pairs().map(|w| w.re).chain(pairs().map(|w| w.im)).collect());
        }
        let mut slots = Vec::new();
        for part in parts {
            let mut found = self.all_slots(part)?;
            found.truncate(2 * n / parts.len());
            slots.extend(found);
        }
        Ok((0..2 * n).map(|k| slots[k / n * n + reversed(k % n, n)].re).collect())
    }

    /// Coefficients of the polynomial whose modulus is raised, for a message at scale 1.
    fn message_coefficients(&self, message: &[Complex]) -> Result<Vec<f64>, Error> {
        let n = message.len();
        if self.params().spec().order == StageOrder::SlotsToCoeffsFirst {
            let pairs = || (0..n).map(|k| message[reversed(k, n)]);
            return Ok(pairs().map(|w| w.re).chain(pairs().map(|w| w.im)).collect());
        }
        let repeated: Vec<Complex> = message.iter().cycle().take(self.params().n() / 2).copied().collect();
        self.own_coefficients(&repeated)
    }
}

fn real(re: f64) -> Complex {
    Complex { re, im: 0.0 }
}

/// The log2 n bits of k < n, reversed.
fn reversed(k: usize, n: usize) -> usize {
    if n < 2 { k } else { k.reverse_bits() >> (usize::BITS - n.trailing_zeros()) }
}
