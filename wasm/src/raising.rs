//! Programs of the methods that raise the modulus: everything these share, that is, all but their runs.

use refloat::{
    bootstrapping::{method::SlotMode, raising::RaisingKeys},
    circuits::program::{Machine, Readings},
    schemes::ckks::{Ciphertext, CkksEvaluator},
    wire::CkksSet,
};

use crate::{
    ckks_program::{ProgramMethod, Steps, reads_nothing},
    failure::Result,
};

/// Keys that raise the modulus, possibly with others.
pub trait Raised {
    /// The keys that raise the modulus.
    fn raising(&self) -> &RaisingKeys<u64>;
}

impl Raised for RaisingKeys<u64> {
    fn raising(&self) -> &RaisingKeys<u64> {
        self
    }
}

/// What programs need from a method whose keys raise the modulus.
pub trait Raising: Sized {
    /// Parameters of a set.
    type Params: CkksSet<Word = u64> + Clone;
    /// The complete keys of a bootstrap.
    type Keys: Raised;

    /// The evaluator for ciphertexts of a set.
    fn evaluator(params: &Self::Params) -> Result<&'static CkksEvaluator<u64>>;

    /// Begins a bootstrap.
    fn refresh(params: &Self::Params, x: &Ciphertext<u64>) -> Result<Steps<Self>>;

    /// Begins to read digits, or the order of slots.
    fn read(_: &Self::Params, _: &Self::Keys, _: &Ciphertext<u64>, _: Readings<'_>) -> Result<Steps<Self>> {
        Err(reads_nothing())
    }
}

impl<M: Raising> ProgramMethod for M {
    type Word = u64;
    type Params = M::Params;
    type Keys = M::Keys;

    fn evaluator(params: &M::Params) -> Result<&'static CkksEvaluator<u64>> {
        M::evaluator(params)
    }

    fn owner(keys: &M::Keys) -> [u8; 16] {
        keys.raising().key_id()
    }

    fn machine<'a>(evaluator: &'a CkksEvaluator<u64>, keys: &'a M::Keys) -> Machine<'a, u64> {
        let keys = keys.raising();
        Machine { evaluator, relinearization: Some(keys), galois: Some(keys), refresh: None, digits: None }
    }

    fn refresh(params: &M::Params, x: &Ciphertext<u64>, _mode: SlotMode) -> Result<Steps<M>> {
        M::refresh(params, x)
    }

    fn read(
        params: &M::Params,
        keys: &M::Keys,
        x: &Ciphertext<u64>,
        readings: Readings<'_>,
    ) -> Result<Steps<M>> {
        M::read(params, keys, x, readings)
    }
}
