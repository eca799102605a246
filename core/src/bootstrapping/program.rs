//! Programs ([`crate::circuits::program`]) with a bootstrapping method.

use alloc::{collections::BTreeMap, vec::Vec};

use super::{
    Method,
    ckks_conventional::{ConventionalBootstrapper, ConventionalParams, SwitchingKeyId},
};
use crate::{
    arith::Word,
    circuits::program::{Machine, Plan, Target},
    error::Error,
    ring::GaloisElement,
    rlwe::{GaloisSource, SampleBlock},
    schemes::ckks::{Ciphertext, Scale},
    trace::Observer,
};

/// Levels, scales and bootstrapping of a method; keys are to be added. Messages have `slots` slots and what the method
/// gives has scale `scale`.
///
/// # Errors
/// As [`Target::new`].
pub fn target<W: Word>(method: &dyn Method<W>, slots: usize, scale: Scale) -> Result<Target, Error> {
    let output = method.output_level();
    let target = Target::new(method.ckks().context(), slots, output, scale)?;
    Ok(target.with_bootstrapping(method.input_level(), output))
}

/// What programs are planned for on a conventional set: its keys are those of its bootstraps, and the rotations there are
/// no keys for are composed of them.
///
/// # Errors
/// None for a set that was validated.
pub fn conventional_target<W: Word>(params: &ConventionalParams<W>) -> Result<Target, Error> {
    let levels = params.levels();
    let target = Target::new(params.ckks(), params.slots(), levels.output, params.scale())?;
    Ok(target
        .with_relinearization(levels.eval_mod)
        .with_galois(params.galois_elements())
        .with_bootstrapping(levels.input, levels.output))
}

/// The most bytes of keys that a run of a plan for [`conventional_target`] holds at once: those of a bootstrap, or of a linear
/// transform of the program, beside the relinearisation key, which it holds all along.
///
/// # Errors
/// None for a set that was validated.
pub fn conventional_key_bytes<W: Word>(
    params: &ConventionalParams<W>,
    plan: &Plan<'_>,
) -> Result<u64, Error> {
    let levels: BTreeMap<_, _> = params.galois_elements().collect();
    let rotation = |step: &i64| {
        let element = GaloisElement::rotation(*step, params.n());
        let level = levels.get(&element).copied().unwrap_or_default();
        params.switching_key_bytes(SwitchingKeyId::Galois { element, level })
    };
    let groups = plan.held_rotations().map(|steps| steps.iter().map(rotation).sum::<u64>());
    let largest = groups.fold(params.least_key_bytes()?, u64::max);
    Ok(largest + params.switching_key_bytes(SwitchingKeyId::Relinearization))
}

/// Evaluates a plan with a method and keys of its set.
///
/// # Errors
/// As [`Plan::run`].
pub fn run<W: Word>(
    plan: &Plan<'_>,
    method: &dyn Method<W>,
    relinearization: Option<&SampleBlock<W>>,
    galois: Option<&dyn GaloisSource<W>>,
    inputs: &[Ciphertext<W>],
    observer: &mut dyn Observer,
) -> Result<Vec<Ciphertext<W>>, Error> {
    let refresh = |x: &Ciphertext<W>, observer: &mut dyn Observer| method.bootstrap(x, observer);
    let machine = Machine { evaluator: method.ckks(), relinearization, galois, refresh: Some(&refresh) };
    plan.run(&machine, inputs, observer)
}

impl<W: Word> ConventionalBootstrapper<'_, W> {
    /// Evaluates a plan that was made for [`conventional_target`].
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn run_program(
        &self,
        plan: &Plan<'_>,
        inputs: &[Ciphertext<W>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let relinearization = self.keys.relinearization_key()?;
        run(plan, self, Some(&relinearization), Some(self.keys), inputs, observer)
    }
}
