//! Evaluation keys from the parts in which they travel.

use alloc::collections::BTreeMap;

use super::params::BgvParams;
use crate::{
    arith::Word,
    bootstrapping::{
        method::SwitchingKeySet,
        raising::{RaisingKeys, key_source},
        switching_keys::{KeyLayout, SwitchingKeyId, SwitchingKeyPart},
    },
    error::Error,
    rlwe::SampleBlock,
    schemes::bgv::BgvCiphertext,
};

impl<W: Word> RaisingKeys<W> {
    /// [`Error::ParamsMismatch`] unless they belong to the owner of a ciphertext. What is computed with those of somebody else
    /// decrypts to something, and it is wrong: [`BgvEvaluator`](crate::schemes::bgv::BgvEvaluator) does not know whose they are.
    pub fn check_owner(&self, x: &BgvCiphertext<W>) -> Result<(), Error> {
        key_source::check(self, x.identity())
    }
}

impl<W: Word> SwitchingKeySet for BgvParams<W> {
    type Word = W;
    type Keys = RaisingKeys<W>;

    fn name(&self) -> &str {
        self.name()
    }

    fn fingerprint(&self) -> [u8; 16] {
        self.fingerprint()
    }

    fn key_layout(&self) -> KeyLayout<'_, W> {
        self.layout()
    }

    fn key_parts(&self) -> &[SwitchingKeyPart] {
        self.key_parts()
    }

    fn assemble(
        &self,
        key_id: [u8; 16],
        keys: BTreeMap<SwitchingKeyId, SampleBlock<W>>,
    ) -> Result<RaisingKeys<W>, Error> {
        RaisingKeys::assemble(&self.layout(), key_id, &self.galois_elements().collect(), keys)
    }
}
