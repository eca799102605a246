//! What the holder of the secret key sees between two stages: what is left of a number, its quotient, and the cloud about each root
//! of unity.

use alloc::vec::Vec;

use super::{
    run::{MsbRun, MsbState},
    spec::MsbSecretKey,
    stages::{EVAL_EXP, LOOK_UP},
};
use crate::{
    arith::Word,
    bootstrapping::{
        StageView, ViewKind,
        raising::{COEFFS_TO_SLOTS, SLOTS_TO_COEFFS},
    },
    error::Error,
    schemes::ckks::{Ciphertext, Complex},
};

impl<W: Word> MsbSecretKey<W> {
    /// Decrypts the state of a run of one number, one value for each slot: before the first stage the number beside `message`; later the
    /// digit read last, as a part of the fraction, beside the nearest multiple of its unit; k x + I beside the nearest multiple of 1/t; and
    /// the points on the circle beside the nearest root of unity. `None` for coefficients, which hold the same in another order, under the
    /// ephemeral secret, and at the end.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] if the run is under another key.
    pub fn view(&self, run: &MsbRun<'_, W>, message: &[Complex]) -> Result<Option<StageView>, Error> {
        let slots = |x: &Ciphertext<W>| Ok::<_, Error>(self.decrypt(x)?.reveal_to_key_owner().clone());
        let real = |x: Vec<Complex>| x.into_iter().map(|z| Complex::from(z.re)).collect::<Vec<_>>();
        let nearest = |x: f64, steps: f64| Complex::from(libm::rint(x * steps) / steps);
        let (done, _) = run.progress();
        let (kind, stage, values, expected) = match run.state() {
            MsbState::Input(x) if done == 0 => {
                let mut message = message.to_vec();
                message.resize(self.params().slots(), Complex::ZERO);
                (ViewKind::Slots, SLOTS_TO_COEFFS, real(slots(x)?), real(message))
            }
            MsbState::Input(x) => {
                let (base, factor) = run.digit(done - 1);
                let values = real(slots(x)?);
                let steps = f64::from(base) * factor as f64;
                let expected = values.iter().map(|x| nearest(x.re, steps)).collect();
                (ViewKind::Slots, LOOK_UP, values, expected)
            }
            MsbState::Quotients(parts) => {
                let Some(x) = parts.first() else { return Ok(None) };
                let range = f64::from(self.params().spec().reduction.range);
                let values: Vec<Complex> = real(slots(x)?).into_iter().map(|x| x.scale(range)).collect();
                let (base, _) = run.digit(done);
                let expected = values.iter().map(|x| nearest(x.re, base.into())).collect();
                (ViewKind::Quotients, COEFFS_TO_SLOTS, values, expected)
            }
            MsbState::Roots(roots) => {
                let Some(z) = roots.first() else { return Ok(None) };
                let values = slots(z)?;
                let (base, _) = run.digit(done);
                let root = |z: &Complex| {
                    let turns = nearest(libm::atan2(z.im, z.re) / core::f64::consts::TAU, base.into()).re;
                    let (sin, cos) = libm::sincos(core::f64::consts::TAU * turns);
                    Complex::new(cos, sin)
                };
                let expected = values.iter().map(root).collect();
                (ViewKind::Slots, EVAL_EXP, values, expected)
            }
            MsbState::Base(_)
            | MsbState::Ephemeral(_)
            | MsbState::Raised(_)
            | MsbState::Done(_)
            | MsbState::Failed => return Ok(None),
        };
        Ok(Some(StageView { stage, kind, track: None, node: None, unit: 1.0, values, expected }))
    }
}
