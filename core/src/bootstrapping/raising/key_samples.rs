//! The samples of the evaluation keys, made from the secret key one at a time.

use core::ops::Range;

use super::{reduction::ReductionSpec, secret::RaisingSecretKey};
use crate::{
    arith::Word,
    bootstrapping::switching_keys::{Secrets, Sink, SwitchingKeyId},
};

impl<R: ReductionSpec, W: Word> RaisingSecretKey<R, W> {
    /// See [`Secrets::for_each_sample`].
    pub(crate) fn for_each_sample(&self, key: SwitchingKeyId, range: Range<usize>, sink: &mut Sink<'_, W>) {
        self.secrets().for_each_sample(key, range, sink);
    }

    pub(super) fn secrets(&self) -> Secrets<'_, W> {
        Secrets {
            layout: self.params().layout(),
            main: &self.main,
            ephemeral: self.ephemeral.as_ref(),
            seeds: &self.seeds,
        }
    }
}
