//! What each method provides, so that the keys of all methods are made and read in the same way.

use refloat::{
    Error,
    bootstrapping::method::{ParamSet, Preset},
    wire::SeededSet,
};

use crate::{keys, progress::Listener, sets::Kept};

/// The parameters of a method, as far as the owners of secret keys need them.
pub trait Keyed: ParamSet + SeededSet<Secret: Send + Sync> + Clone + Send + Sync + 'static {
    /// The set to take instead of a toy.
    const SECURE: &'static str;
    /// Name of secret keys in the header.
    const SECRET: &'static str;

    /// The cache of sets that were asked for.
    fn kept() -> &'static Kept<Self>;

    /// Whether keys can be made for a set.
    fn includes(_preset: &Preset<Self::Spec>) -> bool {
        true
    }

    /// Slots of a ciphertext.
    fn slots(&self) -> usize;

    /// Lengths in bytes of the parts of evaluation keys.
    fn part_lengths(&self) -> Vec<usize>;
}

/// Implements [`Keyed`] for parameters that have a list of key parts, if keys can be made for all their sets.
macro_rules! keyed {
    ($params:ty, secure: $secure:expr, secret: $secret:literal, slots: $slots:expr) => {
        impl $crate::method::Keyed for $params {
            const SECURE: &'static str = $secure;
            const SECRET: &'static str = $secret;

            fn kept() -> &'static $crate::sets::Kept<Self> {
                static KEPT: $crate::sets::Kept<$params> = $crate::sets::Kept::new();
                &KEPT
            }

            fn slots(&self) -> usize {
                ($slots)(self)
            }

            fn part_lengths(&self) -> Vec<usize> {
                self.key_parts().iter().map(|part| part.bytes).collect()
            }
        }
    };
}

pub(crate) use keyed;

/// A method whose evaluation keys are made and used here.
pub trait Method: Keyed {
    /// Name of evaluation keys in the header.
    const KEYS: &'static str;
    /// Collects the parts of evaluation keys.
    type Builder;
    /// Evaluation keys, and the evaluator that computes with them.
    type Keys: Send + Sync;

    /// Makes the evaluation keys of a secret key, and reports its progress.
    fn generate(secret: &Self::Secret, listener: &mut Listener) -> Result<Self::Keys, Error> {
        keys::from_own_parts::<Self>(secret, listener)
    }

    /// A builder for the evaluation keys of a key set.
    fn builder(&self, key_id: [u8; 16]) -> Self::Builder;

    /// Checks a part and takes it in.
    fn add(builder: &mut Self::Builder, index: usize, part: &[u8]) -> Result<(), Error>;

    /// Keys from all parts.
    fn finish(builder: Self::Builder) -> Result<Self::Keys, Error>;
}
