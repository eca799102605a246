//! The identity of a secret key: its set, its identifier and its seeds.

/// The methods of a secret key with the fields `params`, `key_id`, `seed` and `seeds`, to be used inside its `impl`.
macro_rules! secret_key_identity {
    ($params:ty) => {
        /// The parameter set.
        pub fn params(&self) -> &$params {
            &self.params
        }

        /// Public identifier of the key set.
        pub fn key_id(&self) -> [u8; 16] {
            self.key_id
        }

        /// The seed of the public part of the samples: it travels with the keys.
        pub fn public_seed(&self) -> &$crate::random::Seed {
            self.seeds.public()
        }

        /// The seed of everything. As secret as the key; exporting it exports the key.
        pub fn export_secret_seed(&self) -> &$crate::random::Seed {
            &self.seed
        }
    };
}
pub(crate) use secret_key_identity;
