//! The parts of a public key over ring-LWE, and what identifies it.

/// The methods of a public key with the fields `key_id` and `sample`, of a set with `$context`, to be used inside its `impl`.
macro_rules! public_key_parts {
    ($context:ty, $word:ident) => {
        /// Rebuilds the key from its first component and the public seed.
        ///
        /// # Errors
        /// [`Error::LevelMismatch`] for a level the chain does not have or a component at another level.
        pub fn new(
            context: &$context,
            key_id: [u8; 16],
            level: usize,
            b: $crate::ring::Poly<$word, $crate::ring::Eval>,
            public_seed: &$crate::random::Seed,
        ) -> Result<Self, $crate::error::Error> {
            Ok(Self {
                key_id,
                sample: $crate::rlwe::PublicSample::new(context.rlwe(), level, b, public_seed)?,
            })
        }

        /// Identifier shared with the secret key.
        pub fn key_id(&self) -> [u8; 16] {
            self.key_id
        }

        /// Highest level it encrypts at.
        pub fn level(&self) -> usize {
            self.sample.level
        }
    };
}
pub(crate) use public_key_parts;
