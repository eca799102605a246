//! What the holder of the secret key sees between two steps: slots or coefficients, decrypted,
//! beside what exact arithmetic gives.
//!
//! A decryption of an intermediate value carries its noise, so it is for the key's owner only: a
//! server cannot make these views, and a client must not send them on.

use alloc::{vec, vec::Vec};

use super::{
    phase::{Phases, unit},
    run::{ShipRun, ShipState},
    secret::ShipSecretKey,
    stages,
};
use crate::{
    arith::{Word, complex::Complex},
    bootstrapping::{StageView, ViewKind, method::SlotMode},
    error::Error,
    ring::centered_f64,
    schemes::ckks::{Ciphertext, decrypt_slots},
};

impl<W: Word> ShipSecretKey<W> {
    /// Decrypts where a run stands: coefficients after the first stage, phases after the second, the
    /// newest factor during the blind rotations, the first node of the newest tree layer, the
    /// output at the end. `None` where there is nothing to see. `message` are the slots that were
    /// encrypted, for comparison.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] if the run is under another key.
    pub fn view(&self, run: &ShipRun<'_, W>, message: &[Complex]) -> Result<Option<StageView>, Error> {
        Ok(Some(match run.state() {
            ShipState::Input(x) => {
                self.view_slots(stages::SLOTS_TO_COEFFS, x, padded(message, self.params.slots()))?
            }
            ShipState::Coefficients(x) => self.view_coefficients(x, message)?,
            ShipState::Encapsulated => match run.phases() {
                Some(phases) => self.view_phases(phases, message),
                None => return Ok(None),
            },
            ShipState::Rotating { factors, .. } => {
                let (Some(last), Some(phases)) = (factors[0].last(), run.phases()) else {
                    return Ok(None);
                };
                let track = factors[0].len() - 1;
                let leaf = super::product_tree::leaf(&self.params, self.key_id(), last.clone());
                self.view_leaf(&leaf, phases, track)?
            }
            ShipState::Tree(layers) => {
                let Some(phases) = run.phases() else { return Ok(None) };
                let layer = &layers[0];
                if layer.depth == 0 {
                    let track = self.params.tracks() - 1;
                    return self.view_leaf(&layer.nodes[track], phases, track).map(Some);
                }
                self.view_node(&layer.nodes[0], phases, (layer.depth, 0), run.mode())?
            }
            ShipState::Failed => return Ok(None),
            ShipState::Done(x) => {
                self.view_slots(stages::CONJUGATE, x, padded(message, self.params.slots()))?
            }
        }))
    }

    fn view_slots(
        &self,
        stage: &'static str,
        x: &Ciphertext<W>,
        expected: Vec<Complex>,
    ) -> Result<StageView, Error> {
        let slots = decrypt_slots(self.params.ckks(), &self.dense, self.key_id(), x)?;
        let values = slots.reveal_to_key_owner().clone();
        Ok(StageView { stage, kind: ViewKind::Slots, track: None, node: None, unit: 1.0, values, expected })
    }

    /// Coefficients after slots-to-coefficients, in units of the message: Re z | Im z.
    fn view_coefficients(&self, x: &Ciphertext<W>, message: &[Complex]) -> Result<StageView, Error> {
        let basis = self.params.ckks().rlwe().q(x.level());
        let pair = x.pair()?;
        let mut sum = pair.a;
        sum.mul_assign(&self.dense.modulo_q(basis));
        sum.add_assign(&pair.b);
        let (scale, gamma) = (x.scale().to_f64(), self.params.spec().gamma);
        let expected = coefficients_of(message, self.params.slots());
        let found = centered_f64(&sum.into_coeff()).into_iter().map(|c| c / scale);
        Ok(StageView {
            stage: stages::SLOTS_TO_COEFFS,
            kind: ViewKind::Coefficients,
            track: None,
            node: None,
            unit: 1.0,
            values: found.zip(&expected).map(|(x, e)| real(nearest(x, e.re, gamma))).collect(),
            expected,
        })
    }

    /// Phases (b + a s')_i / q0 in turns.
    fn view_phases(&self, phases: &Phases, message: &[Complex]) -> StageView {
        let gamma = self.params.spec().gamma;
        let expected: Vec<Complex> =
            coefficients_of(message, self.params.slots()).into_iter().map(|c| real(c.re / gamma)).collect();
        let found = self.message_phases(phases).into_iter().zip(&expected);
        let values = found.map(|(x, e)| real(nearest(x, e.re, 1.0))).collect();
        StageView {
            stage: stages::ENCAPSULATE,
            kind: ViewKind::Phases,
            track: None,
            node: None,
            unit: 1.0 / gamma,
            values,
            expected,
        }
    }

    fn view_leaf(&self, leaf: &Ciphertext<W>, phases: &Phases, track: usize) -> Result<StageView, Error> {
        let expected = self.exact_factor(phases, track).into_iter().map(unit).collect();
        let mut view = self.view_slots(stages::BLIND_ROTATE, leaf, expected)?;
        view.track = Some(track);
        Ok(view)
    }

    fn view_node(
        &self,
        node: &Ciphertext<W>,
        phases: &Phases,
        (depth, index): (usize, usize),
        mode: SlotMode,
    ) -> Result<StageView, Error> {
        // Node 0 multiplies the plaintext factor and tracks 0 .. 2^depth - 1; node i the tracks
        // from i 2^depth - 1 on.
        let (s, width) = (self.params.slots(), 1usize << depth);
        let mut turns = if index == 0 { phases.b[..s].to_vec() } else { vec![0.0; s] };
        for leaf in (index * width).max(1)..(index + 1) * width {
            for (t, f) in turns.iter_mut().zip(self.exact_factor(phases, leaf - 1)) {
                *t += f;
            }
        }
        let expected = turns
            .into_iter()
            .map(|t| {
                let z = unit(t - libm::floor(t));
                if index == 0 { super::phase::plain_factor(&self.params, mode) * z } else { z }
            })
            .collect();
        let mut view = self.view_slots(stages::PRODUCT_TREE, node, expected)?;
        view.node = Some((depth, index));
        // The nodes have the modulus of the plaintext factor, or 1.
        let squares: f64 = view.expected.iter().map(|z| z.norm_sqr()).sum();
        view.unit = libm::sqrt(squares / view.expected.len().max(1) as f64);
        Ok(view)
    }

    /// Phases of the exact factor of a track, in turns: F_((i - J_k) mod 2N), i < S.
    fn exact_factor(&self, phases: &Phases, track: usize) -> Vec<f64> {
        let n = self.params.n();
        let j = self.factors[track].j as usize;
        (0..self.params.slots())
            .map(|i| {
                let t = (i + 2 * n - j) & (2 * n - 1);
                if t < n { phases.a[t] } else { -phases.a[t - n] }
            })
            .collect()
    }

    /// (b + a s')_i / q0, centred.
    fn message_phases(&self, phases: &Phases) -> Vec<f64> {
        let n = self.params.n();
        let mut out = phases.b.clone();
        for factor in &self.factors {
            let j = factor.j as usize;
            for (i, o) in out.iter_mut().enumerate() {
                let t = (i + 2 * n - j) & (2 * n - 1);
                *o += if t < n { phases.a[t] } else { -phases.a[t - n] };
            }
        }
        for x in &mut out {
            *x -= libm::rint(*x);
        }
        out
    }
}

fn real(re: f64) -> Complex {
    Complex { re, im: 0.0 }
}

/// The representative of x modulo `period` nearest to `expected`: a bit of 1 lies half a period away
/// from 0, on either side.
fn nearest(x: f64, expected: f64, period: f64) -> f64 {
    x - period * libm::rint((x - expected) / period)
}

fn padded(message: &[Complex], slots: usize) -> Vec<Complex> {
    let mut out = message.to_vec();
    out.resize(slots, real(0.0));
    out
}

/// Re z | Im z.
fn coefficients_of(message: &[Complex], slots: usize) -> Vec<Complex> {
    let z = padded(message, slots);
    z.iter().map(|z| real(z.re)).chain(z.iter().map(|z| real(z.im))).collect()
}
