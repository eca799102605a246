//! What the encodings of keys need from a parameter set, so that one encoding serves all sets.

use alloc::vec::Vec;

use super::{key_part::WireKeySet, rows::WireWord};
use crate::{
    bootstrapping::{
        bgv::{BgvParams, BgvSecretKey},
        ckks_conventional::{ConventionalParams, ConventionalSecretKey},
        ckks_msb::{MsbParams, MsbSecretKey, RootsSpec},
        ckks_ship::{ShipParams, ShipSecretKey},
        method::SlotMode,
        raising::{RaisingParams, ReductionSpec},
        scheme_switching::{LinkParams, LinkSecretKey, Reduction},
    },
    circuits::program::Target,
    error::Error,
    random::Seed,
    schemes::{
        cggi::{CggiParams, CggiSecretKey},
        ckks::CkksContext,
    },
};

/// A set whose secret keys follow from a seed.
pub trait SeededSet {
    /// Its secret keys.
    type Secret: SeededSecret<Set = Self>;

    /// Identity of the set.
    fn fingerprint(&self) -> [u8; 16];

    /// The secret key of a seed.
    fn secret(&self, seed: &Seed) -> Self::Secret;
}

/// A secret key that follows from a seed.
pub trait SeededSecret {
    /// The set it belongs to.
    type Set: SeededSet<Secret = Self>;

    /// The set it belongs to.
    fn set(&self) -> &Self::Set;

    /// Public identifier of the key set.
    fn key_id(&self) -> [u8; 16];

    /// The seed of everything, as secret as the key.
    fn secret_seed(&self) -> &Seed;

    /// Makes one part of the evaluation keys, in wire form. The same key and index give the same bytes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a part the set does not have.
    fn key_part(&self, index: usize) -> Result<Vec<u8>, Error>;
}

/// A set of CKKS.
pub trait CkksSet {
    /// Word of a residue.
    type Word: WireWord;

    /// Chain and encoder.
    fn ckks(&self) -> &CkksContext<Self::Word>;

    /// What the slots hold unless stated otherwise.
    fn mode(&self) -> SlotMode;

    /// Lowest level of the input of a bootstrap.
    fn input_level(&self) -> usize;

    /// Level of fresh ciphertexts, and of the result of a bootstrap.
    fn output_level(&self) -> usize;

    /// Level of public keys.
    fn public_key_level(&self) -> usize {
        self.output_level()
    }

    /// Largest absolute value of the parts of messages.
    fn largest_message(&self) -> f64 {
        1.0
    }

    /// The target that jobs are planned for; each job is a program.
    fn target(&self) -> Result<Target, Error>;
}

macro_rules! seeded {
    ($generic:ident: $kind:ident, $params:ty, $secret:ty $(, $($bounds:tt)+)?) => {
        impl<$generic: $kind> SeededSet for $params
        $(where $($bounds)+)?
        {
            type Secret = $secret;

            fn fingerprint(&self) -> [u8; 16] {
                self.fingerprint()
            }

            fn secret(&self, seed: &Seed) -> $secret {
                <$secret>::generate(self, seed)
            }
        }

        impl<$generic: $kind> SeededSecret for $secret
        $(where $($bounds)+)?
        {
            type Set = $params;

            fn set(&self) -> &$params {
                self.params()
            }

            fn key_id(&self) -> [u8; 16] {
                self.key_id()
            }

            fn secret_seed(&self) -> &Seed {
                self.export_secret_seed()
            }

            fn key_part(&self, index: usize) -> Result<Vec<u8>, Error> {
                self.key_part(index)
            }
        }
    };
}

seeded!(W: WireWord, ShipParams<W>, ShipSecretKey<W>);
seeded!(W: WireWord, ConventionalParams<W>, ConventionalSecretKey<W>);
seeded!(W: WireWord, MsbParams<W>, MsbSecretKey<W>);
seeded!(W: WireWord, BgvParams<W>, BgvSecretKey<W>);
seeded!(W: WireWord, CggiParams<W>, CggiSecretKey<W>);
seeded!(R: ReductionSpec, LinkParams<R>, LinkSecretKey<R>, RaisingParams<R, u64>: WireKeySet<Word = u64>);

impl<W: WireWord> CkksSet for ShipParams<W> {
    type Word = W;

    fn ckks(&self) -> &CkksContext<W> {
        self.ckks()
    }

    fn mode(&self) -> SlotMode {
        self.mode()
    }

    fn input_level(&self) -> usize {
        self.input_level()
    }

    fn output_level(&self) -> usize {
        self.output_level()
    }

    fn target(&self) -> Result<Target, Error> {
        self.program_target()
    }
}

/// The sets that raise the modulus with a reduction, and those that link such a set to gates. `$output` is the level after a bootstrap in a
/// program.
macro_rules! raising_sets {
    ($reduction:ty, |$set:ident| $output:expr) => {
        impl<W: WireWord> CkksSet for RaisingParams<$reduction, W> {
            type Word = W;

            fn ckks(&self) -> &CkksContext<W> {
                self.ckks()
            }

            fn mode(&self) -> SlotMode {
                SlotMode::Real
            }

            fn input_level(&self) -> usize {
                self.levels().input
            }

            fn output_level(&self) -> usize {
                let $set = self;
                $output
            }

            fn public_key_level(&self) -> usize {
                self.levels().output
            }

            fn largest_message(&self) -> f64 {
                <$reduction>::LARGEST_MESSAGE
            }

            fn target(&self) -> Result<Target, Error> {
                self.program_target()
            }
        }

        impl CkksSet for LinkParams<$reduction> {
            type Word = u64;

            fn ckks(&self) -> &CkksContext<u64> {
                self.ckks().ckks()
            }

            fn mode(&self) -> SlotMode {
                self.ckks().mode()
            }

            fn input_level(&self) -> usize {
                self.ckks().input_level()
            }

            fn output_level(&self) -> usize {
                self.ckks().output_level()
            }

            fn public_key_level(&self) -> usize {
                self.ckks().public_key_level()
            }

            fn largest_message(&self) -> f64 {
                self.ckks().largest_message()
            }

            fn target(&self) -> Result<Target, Error> {
                self.program_target()
            }
        }
    };
}

raising_sets!(Reduction, |set| set.levels().output);
raising_sets!(RootsSpec, |set| set.refreshed_level());
