//! Evaluation keys from the parts in which they travel.

use super::{params::BgvParams, secret::BgvSecretKey};
use crate::{
    arith::Word,
    bootstrapping::raising::{RaisingKeys, RaisingSecret, key_source, raising_key_set},
    error::Error,
    schemes::bgv::BgvCiphertext,
};

impl<W: Word> RaisingKeys<W> {
    /// [`Error::ParamsMismatch`] unless these keys belong to the owner of the ciphertext. A result computed with another owner's keys
    /// decrypts to wrong values: [`BgvEvaluator`](crate::schemes::bgv::BgvEvaluator) does not know whose keys they are.
    pub fn check_owner(&self, x: &BgvCiphertext<W>) -> Result<(), Error> {
        key_source::check(self, x.identity())
    }
}

impl<W: Word> RaisingSecret<W> for BgvSecretKey<W> {
    fn raising_keys(&self) -> Result<RaisingKeys<W>, Error> {
        RaisingKeys::make(&self.secrets(), self.key_id(), &self.params().galois_elements().collect())
    }
}

raising_key_set!([W: Word] BgvParams<W>, W);
