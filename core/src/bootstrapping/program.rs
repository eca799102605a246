//! Programs ([`crate::circuits::program`]) with a bootstrapping method.

use alloc::vec::Vec;

use super::{
    Method,
    raising::{KeySource, RaisingKeys, key_source},
};
use crate::{
    arith::Word,
    circuits::program::{Machine, Plan, ReadDigits, Readings, Refresh, Target},
    error::Error,
    rlwe::{GaloisSource, HeldKey, RelinearizationSource},
    schemes::ckks::{Ciphertext, Scale},
    trace::Observer,
};

/// Levels, scales and bootstrapping of a method, still without keys. Messages have `slots` slots, and refreshed
/// ciphertexts the scale `scale`.
///
/// # Errors
/// As [`Target::new`].
pub fn target<W: Word>(method: &dyn Method<W>, slots: usize, scale: Scale) -> Result<Target, Error> {
    let output = method.output_level();
    let target = Target::new(method.ckks().context(), slots, output, scale)?;
    Ok(target.with_bootstrapping(method.input_level(), output))
}

/// Evaluates a plan with a method and keys of its set. They must be those of the inputs' owner, which is not checked here.
///
/// # Errors
/// As [`Plan::run`].
pub fn run<W: Word>(
    plan: &Plan<'_>,
    method: &dyn Method<W>,
    relinearization: Option<&dyn RelinearizationSource<W>>,
    galois: Option<&dyn GaloisSource<W>>,
    inputs: &[Ciphertext<W>],
    observer: &mut dyn Observer,
) -> Result<Vec<Ciphertext<W>>, Error> {
    let refresh = |x: &Ciphertext<W>, observer: &mut dyn Observer| method.bootstrap(x, observer);
    let digits = |x: &Ciphertext<W>, readings: Readings<'_>, observer: &mut dyn Observer| {
        method.read_digits(x, readings, observer)
    };
    let (refresh, digits) = (Some(&refresh as &Refresh<'_, W>), Some(&digits as &ReadDigits<'_, W>));
    let machine = Machine { evaluator: method.ckks(), relinearization, galois, refresh, digits };
    plan.run(&machine, inputs, observer)
}

/// A method that runs programs with the keys that it bootstraps with.
pub trait ProgramMethod<W: Word>: Method<W> {
    /// The keys that the method bootstraps with.
    fn program_keys(&self) -> &dyn KeySource<W>;

    /// Evaluates a plan that was made for what programs are planned for on this set (`program_target` of its parameters).
    ///
    /// # Errors
    /// As [`Plan::run`]; [`Error::ParamsMismatch`] for keys that are not those of the inputs' owner.
    fn run_program(
        &self,
        plan: &Plan<'_>,
        inputs: &[Ciphertext<W>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error>
    where
        Self: Sized,
    {
        let keys = self.program_keys();
        inputs.iter().try_for_each(|x| key_source::check(keys, x.identity()))?;
        run(plan, self, Some(&keys), Some(keys), inputs, observer)
    }
}

impl<W: Word> RelinearizationSource<W> for dyn KeySource<W> + '_ {
    fn relinearization_key(&self) -> Result<HeldKey<'_, W>, Error> {
        KeySource::relinearization_key(self)
    }
}

impl<W: Word> RelinearizationSource<W> for RaisingKeys<W> {
    fn relinearization_key(&self) -> Result<HeldKey<'_, W>, Error> {
        KeySource::relinearization_key(self)
    }
}
