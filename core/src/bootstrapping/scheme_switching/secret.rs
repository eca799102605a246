//! Secret keys of a link: those of both schemes.

use alloc::{format, vec::Vec};

use super::{params::LinkParams, phase::Phase};
use crate::{
    bootstrapping::raising::{RaisingSecretKey, ReductionSpec},
    error::{Error, hex},
    random::Seed,
    rlwe::{EncapsulationContext, KeySeeds, PaddedSecret, Pair, link_samples},
    schemes::{cggi::CggiSecretKey, identity::key_set_seed},
};

/// Name of the random streams of the key from slots to gates.
pub(super) const TO_GATES: [u64; 4] = [1, 0, 0, 0];
/// Name of the random streams of the key from gates to slots.
pub(super) const TO_SLOTS: [u64; 4] = [2, 0, 0, 0];

/// The secrets of both schemes, and what leads from one to the other, all from one seed. Wiped when dropped.
///
/// Each of the three secrets is encrypted under another: the slots' under the gates', the gates' under the ephemeral one, and the ephemeral
/// one under the slots', as in every bootstrap. Circular security is the assumption that this gives nothing away.
pub struct LinkSecretKey<R: ReductionSpec> {
    params: LinkParams<R>,
    seeds: KeySeeds,
    ckks: RaisingSecretKey<R, u64>,
    cggi: CggiSecretKey<u64>,
}

impl<R: ReductionSpec> LinkSecretKey<R> {
    /// Derives all secrets of a key set from a seed, which must be fresh and kept as secret as the key.
    pub fn generate(params: &LinkParams<R>, seed: &Seed) -> Self {
        let ckks = RaisingSecretKey::generate(params.ckks(), seed);
        let public = ckks.public_seed();
        let master = |label| key_set_seed(seed, label, &params.fingerprint());
        let gates = master("gates of a scheme switching key set");
        let seeds_of_gates = KeySeeds::with_public(public_seed_of_gates(public), &gates);
        // The key of the gates keeps its own master, not the seed of everything.
        let cggi = CggiSecretKey::of_master(params.cggi(), &gates, &gates, seeds_of_gates);
        let links = master("links of a scheme switching key set");
        let seeds = KeySeeds::with_public(public_seed_of_links(public), &links);
        Self { params: params.clone(), seeds, ckks, cggi }
    }

    /// The parameter set.
    pub fn params(&self) -> &LinkParams<R> {
        &self.params
    }

    /// Public identifier of the key set: that of the ciphertexts of numbers.
    pub fn key_id(&self) -> [u8; 16] {
        self.ckks.key_id()
    }

    /// The seed of the public second components: it travels with the keys. The public seeds of the gates and the links follow from it.
    pub fn public_seed(&self) -> &Seed {
        self.ckks.public_seed()
    }

    /// The seed of everything. As secret as the key; exporting it exports the key.
    pub fn export_secret_seed(&self) -> &Seed {
        self.ckks.export_secret_seed()
    }

    /// The key of the slots: it encrypts and decrypts numbers.
    pub fn ckks(&self) -> &RaisingSecretKey<R, u64> {
        &self.ckks
    }

    /// The key of the gates: it encrypts and decrypts bits and integers. It travels as part of the link's key, from whose public seed its
    /// own follows: its own bytes are refused where a key of gates is read.
    pub fn cggi(&self) -> &CggiSecretKey<u64> {
        &self.cggi
    }

    /// The phase of a number in turns from -1/2 to 1/2, noise included: for pictures and measurements by the owner of the key, and for
    /// nobody else.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a phase of another key.
    pub fn inspect_phase(&self, phase: &Phase) -> Result<f64, Error> {
        if phase.key_id() != self.cggi.key_id() {
            return Err(Error::ParamsMismatch(format!(
                "the phase belongs to key {}, and this is key {}; look at it with its own key",
                hex(&phase.key_id()),
                hex(&self.cggi.key_id())
            )));
        }
        let m = self.params.cggi().modulus();
        Ok(m.centered(self.cggi.phase(phase.sample())) as f64 / m.value_u64() as f64)
    }

    /// The key from slots to gates: one sample modulo p_s P'.
    pub(crate) fn to_gates(&self) -> Result<Vec<Pair<u64>>, Error> {
        let to = PaddedSecret::new(&self.cggi.ring, self.params.ckks().n())?;
        Ok(link_samples(self.params.to_gates(), self.ckks.secrets().main.small(), &to, &self.seeds, TO_GATES))
    }

    /// The key from gates to slots, to the ephemeral secret modulo q0 p'.
    pub(crate) fn to_slots(&self) -> Result<Vec<Pair<u64>>, Error> {
        let context: &EncapsulationContext<u64> = self.params.to_slots()?;
        let secrets = self.ckks.secrets();
        let to = secrets.ephemeral.ok_or_else(|| {
            Error::InvalidArgument("a link to a set without an ephemeral secret; take one that has it".into())
        })?;
        let from = self.cggi.ring.spread(self.params.ckks().n() / self.params.cggi().n());
        Ok(link_samples(context, &from, to, &self.seeds, TO_SLOTS))
    }
}

/// The public seed of the gates' keys, given that of the key set.
pub(super) fn public_seed_of_gates(public: &Seed) -> Seed {
    public.derive("public second components of gates", &[])
}

/// The public seed of the keys between the schemes, given that of the key set.
pub(super) fn public_seed_of_links(public: &Seed) -> Seed {
    public.derive("public second components of links", &[])
}
