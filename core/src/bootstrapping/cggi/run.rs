//! A bootstrap in steps: one stage, or some steps of the rotation, at a time.

use alloc::sync::Arc;

use super::{keys::CggiKeys, methods, rotation::Rotation, stages, test_vector::TestVector};
use crate::{
    arith::Word,
    error::Error,
    rlwe::lwe::{Exponents, LweSample, SwitchedLwe},
    schemes::cggi::{CggiCiphertext, Encoding},
    security::LweSecret,
    trace::{Counters, Observer, StageEvent, StageInfo, emit},
};

/// Where a run stands.
pub enum CggiState<W: Word> {
    /// Before the key switch: the sum of the inputs, modulo p.
    Input(LweSample<W>),
    /// After the key switch.
    Switched(SwitchedLwe),
    /// Before the blind rotation.
    Exponents(Exponents),
    /// The accumulator is being turned.
    Rotating(Rotation<W>),
    /// Finished: modulo p again.
    Done(LweSample<W>),
    /// Ended by an error.
    Failed,
}

/// A bootstrap that is driven from outside: between two steps the caller may look, wait or drop it.
pub struct CggiRun<W: Word = u32> {
    keys: Arc<CggiKeys<W>>,
    test: TestVector<W>,
    output: Encoding,
    offset: W,
    exponents: Option<Exponents>,
    per_step: usize,
    counters: Counters,
    state: CggiState<W>,
}

impl<W: Word> CggiRun<W> {
    /// A bootstrap of a sample of the keys' set, which `test` maps to places of `output`; nothing is
    /// computed yet.
    pub(super) fn new(
        keys: &Arc<CggiKeys<W>>,
        sample: LweSample<W>,
        test: TestVector<W>,
        output: Encoding,
    ) -> Self {
        Self {
            keys: keys.clone(),
            test,
            output,
            offset: W::ZERO,
            exponents: None,
            per_step: 64,
            counters: Counters::default(),
            state: CggiState::Input(sample),
        }
    }

    /// Adds a known phase to the result.
    #[must_use]
    pub(super) fn with_offset(mut self, offset: W) -> Self {
        self.offset = offset;
        self
    }

    /// Products of the blind rotation done by one step: 64 by default.
    #[must_use]
    pub fn with_products_per_step(mut self, products: usize) -> Self {
        self.per_step = products.max(1);
        self
    }

    /// Where the run stands.
    pub fn state(&self) -> &CggiState<W> {
        &self.state
    }

    /// The exponents of the rotation, once they are known.
    pub fn exponents(&self) -> Option<&Exponents> {
        self.exponents.as_ref()
    }

    /// Products of the blind rotation done, and in all; `None` before and after it.
    pub fn progress(&self) -> Option<(usize, usize)> {
        match &self.state {
            CggiState::Rotating(rotation) => Some(rotation.progress()),
            _ => None,
        }
    }

    /// The stage the next step belongs to; `None` when finished.
    pub fn next_stage(&self) -> Option<&'static StageInfo> {
        let index = match &self.state {
            CggiState::Input(_) => 0,
            CggiState::Switched(_) => 1,
            CggiState::Exponents(_) => 2,
            CggiState::Rotating(rotation) => 2 + usize::from(rotation.is_done()),
            CggiState::Done(_) | CggiState::Failed => return None,
        };
        stages::STAGES.get(index)
    }

    /// Does one step and reports it; true when the run is finished.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the observer breaks; the run can be resumed by another step.
    /// [`Error::InvalidArgument`] for a run that has failed.
    pub fn step(&mut self, observer: &mut dyn Observer) -> Result<bool, Error> {
        if let Some(stage) = self.next_stage()
            && !matches!(&self.state, CggiState::Rotating(rotation) if !rotation.is_done())
        {
            emit(observer, &StageEvent::Enter { stage: stage.id })?;
            self.counters = Counters::default();
        }
        let keys = self.keys.clone();
        let params = keys.params();
        // Whatever fails below leaves a run that cannot go on.
        match core::mem::replace(&mut self.state, CggiState::Failed) {
            CggiState::Input(sample) => {
                let switched = keys.switch.switch(params.modulus(), &sample);
                self.counters.key_switch += 1;
                let log_q = f64::from(switched.log_q);
                self.state = CggiState::Switched(switched);
                self.exit(stages::KEY_SWITCH, log_q, observer)?;
            }
            CggiState::Switched(switched) => {
                let centred = params.spec().lwe_secret == LweSecret::Binary;
                let exponents =
                    switched.to_exponents(params.log_2n(), methods::rotation_of(params).grid(), centred);
                self.exponents = Some(exponents.clone());
                self.state = CggiState::Exponents(exponents);
                self.exit(stages::MOD_SWITCH, f64::from(params.log_2n()), observer)?;
            }
            CggiState::Exponents(exponents) => {
                let rotation = methods::rotation_of(params).begin(params, &self.test, &exponents);
                self.rotated(rotation, observer)?;
            }
            CggiState::Rotating(mut rotation) if !rotation.is_done() => {
                rotation.advance(params, &keys.rotation, self.per_step, &mut self.counters);
                self.rotated(rotation, observer)?;
            }
            CggiState::Rotating(rotation) => {
                let [b, a] = rotation.parts(params);
                let mut sample = LweSample::extract(params.modulus(), [&b, &a], 0);
                sample.b = params.modulus().add(sample.b, self.offset);
                self.state = CggiState::Done(sample);
                self.exit(stages::EXTRACT, params.modulus().log2(), observer)?;
            }
            CggiState::Done(sample) => self.state = CggiState::Done(sample),
            CggiState::Failed => return Err(failed()),
        }
        Ok(matches!(self.state, CggiState::Done(_)))
    }

    /// Does all steps that are left, and returns the result.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn finish(mut self, observer: &mut dyn Observer) -> Result<CggiCiphertext<W>, Error> {
        while !self.step(observer)? {}
        match self.state {
            CggiState::Done(sample) => {
                CggiCiphertext::new(self.keys.params(), self.keys.key_id(), self.output, 1, sample)
            }
            _ => Err(failed()),
        }
    }

    /// Does the steps up to the end of the rotation, for results other than its constant coefficient.
    pub(super) fn rotate(mut self, observer: &mut dyn Observer) -> Result<Rotation<W>, Error> {
        loop {
            match self.state {
                CggiState::Rotating(rotation) if rotation.is_done() => return Ok(rotation),
                _ => self.step(observer)?,
            };
        }
    }

    /// The keys it runs under.
    pub(super) fn keys(&self) -> &CggiKeys<W> {
        &self.keys
    }

    /// Keeps the rotation, and reports its progress and its end.
    fn rotated(&mut self, rotation: Rotation<W>, observer: &mut dyn Observer) -> Result<(), Error> {
        let (done, total) = rotation.progress();
        self.state = CggiState::Rotating(rotation);
        emit(observer, &StageEvent::Progress { stage: stages::BLIND_ROTATE, done, total })?;
        if done == total {
            let log_q = self.keys.params().modulus().log2();
            self.exit(stages::BLIND_ROTATE, log_q, observer)?;
        }
        Ok(())
    }

    fn exit(&mut self, stage: &'static str, log_q: f64, observer: &mut dyn Observer) -> Result<(), Error> {
        // One turn is the whole modulus, so the modulus is the scale.
        let counters = self.counters;
        emit(observer, &StageEvent::Exit { stage, level: 0, log_q, log_scale: log_q, counters })
    }
}

fn failed() -> Error {
    Error::InvalidArgument("the run ended with an error; start another one".into())
}
