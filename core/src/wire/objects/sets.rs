//! What the encodings of keys need of a parameter set, so that there is one of each.

use alloc::vec::Vec;

use super::{key_part::WireKeySet, rows::WireWord};
use crate::{
    bootstrapping::{
        bgv::{BgvParams, BgvSecretKey},
        ckks_conventional::{ConventionalParams, ConventionalSecretKey},
        ckks_msb::{LARGEST_MESSAGE, MsbParams, MsbSecretKey, RootsSpec},
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

    /// Makes one piece of the evaluation keys, in wire form. The same key and index give the same bytes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a piece the set does not have.
    fn key_part(&self, index: usize) -> Result<Vec<u8>, Error>;
}

/// A set of CKKS.
pub trait CkksSet {
    /// Word of a residue.
    type Word: WireWord;

    /// Chain and encoder.
    fn ckks(&self) -> &CkksContext<Self::Word>;

    /// What the slots hold, unless something else is said.
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

    /// What jobs are planned for, each a program.
    fn target(&self) -> Result<Target, Error>;
}

macro_rules! seeded {
    ($params:ident, $secret:ident) => {
        impl<W: WireWord> SeededSet for $params<W> {
            type Secret = $secret<W>;

            fn fingerprint(&self) -> [u8; 16] {
                self.fingerprint()
            }

            fn secret(&self, seed: &Seed) -> $secret<W> {
                $secret::generate(self, seed)
            }
        }

        impl<W: WireWord> SeededSecret for $secret<W> {
            type Set = $params<W>;

            fn set(&self) -> &$params<W> {
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

seeded!(ShipParams, ShipSecretKey);
seeded!(ConventionalParams, ConventionalSecretKey);
seeded!(MsbParams, MsbSecretKey);
seeded!(BgvParams, BgvSecretKey);
seeded!(CggiParams, CggiSecretKey);

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

impl<W: WireWord> CkksSet for ConventionalParams<W> {
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
        self.levels().output
    }

    fn target(&self) -> Result<Target, Error> {
        self.program_target()
    }
}

impl<W: WireWord> CkksSet for MsbParams<W> {
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
        self.refreshed_level()
    }

    fn public_key_level(&self) -> usize {
        self.levels().output
    }

    fn largest_message(&self) -> f64 {
        LARGEST_MESSAGE
    }

    fn target(&self) -> Result<Target, Error> {
        self.program_target()
    }
}

impl<R: ReductionSpec> SeededSet for LinkParams<R>
where
    RaisingParams<R, u64>: WireKeySet<Word = u64>,
{
    type Secret = LinkSecretKey<R>;

    fn fingerprint(&self) -> [u8; 16] {
        self.fingerprint()
    }

    fn secret(&self, seed: &Seed) -> LinkSecretKey<R> {
        LinkSecretKey::generate(self, seed)
    }
}

impl<R: ReductionSpec> SeededSecret for LinkSecretKey<R>
where
    RaisingParams<R, u64>: WireKeySet<Word = u64>,
{
    type Set = LinkParams<R>;

    fn set(&self) -> &LinkParams<R> {
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

impl CkksSet for LinkParams<Reduction> {
    type Word = u64;

    fn ckks(&self) -> &CkksContext<u64> {
        self.ckks().ckks()
    }

    fn mode(&self) -> SlotMode {
        SlotMode::Real
    }

    fn input_level(&self) -> usize {
        self.ckks().levels().input
    }

    fn output_level(&self) -> usize {
        self.ckks().levels().output
    }

    fn target(&self) -> Result<Target, Error> {
        self.program_target()
    }
}

impl CkksSet for LinkParams<RootsSpec> {
    type Word = u64;

    fn ckks(&self) -> &CkksContext<u64> {
        self.ckks().ckks()
    }

    fn mode(&self) -> SlotMode {
        SlotMode::Real
    }

    fn input_level(&self) -> usize {
        self.ckks().levels().input
    }

    fn output_level(&self) -> usize {
        self.ckks().refreshed_level()
    }

    fn public_key_level(&self) -> usize {
        self.ckks().levels().output
    }

    fn largest_message(&self) -> f64 {
        LARGEST_MESSAGE
    }

    fn target(&self) -> Result<Target, Error> {
        self.program_target()
    }
}
