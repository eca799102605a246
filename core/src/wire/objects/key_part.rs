//! Parts of evaluation keys that are switching keys: public seed, index of the part as u64, then the first components of a run
//! of samples of one key.

use alloc::{format, vec::Vec};

use super::{
    part_frame::{PartFrame, no_part},
    rows::{WireWord, poly_len, read_poly, write_poly},
};
use crate::{
    bootstrapping::{
        SwitchingKeyPart,
        bgv::{BgvParams, BgvSecretKey},
        ckks_conventional::ConventionalParams,
        ckks_msb::MsbParams,
        method::{KeysBuilder, SwitchingKeySet},
        raising::{RaisingParams, RaisingSecretKey, ReductionSpec},
        switching_keys::Secrets,
    },
    error::Error,
    wire::ObjectKind,
};

/// A set whose evaluation keys travel in parts of this form.
pub trait WireKeySet: SwitchingKeySet<Word: WireWord> {
    /// Kind of the parts. Sets that are older than [`ObjectKind::KeyPart`] have a kind of their own.
    const PART: ObjectKind = ObjectKind::KeyPart;
}

impl<W: WireWord> WireKeySet for ConventionalParams<W> {
    const PART: ObjectKind = ObjectKind::ConventionalKeyPart;
}

impl<W: WireWord> WireKeySet for MsbParams<W> {}

impl<W: WireWord> WireKeySet for BgvParams<W> {}

fn part_of<P: WireKeySet>(params: &P, index: usize) -> Result<&SwitchingKeyPart, Error> {
    let parts = params.key_parts();
    parts.get(index).ok_or_else(|| no_part("part", index, params.name(), parts.len()))
}

fn frame_of<P: WireKeySet>(params: &P, key_id: [u8; 16], part: &SwitchingKeyPart) -> PartFrame {
    PartFrame {
        kind: P::PART,
        noun: "part",
        fingerprint: params.fingerprint(),
        key_id,
        index: part.index,
        residues: part.count * poly_len(params.key_layout().basis(part.key)),
    }
}

/// Makes one part of the keys that follow from `secrets`, in the memory of that part and of two samples. The same secrets and
/// index give the same bytes, so an interrupted upload needs no memory of what was sent.
///
/// # Errors
/// [`Error::InvalidArgument`] for a part the set does not have; [`Error::MissingKey`] for a part of a secret that is not there.
pub(crate) fn key_part<P: WireKeySet>(
    params: &P,
    key_id: [u8; 16],
    secrets: &Secrets<'_, P::Word>,
    index: usize,
) -> Result<Vec<u8>, Error> {
    let part = part_of(params, index)?;
    let mut made = 0;
    let bytes = frame_of(params, key_id, part).write(secrets.seeds.public(), |mut rest| {
        secrets.for_each_sample(part.key, part.first..part.first + part.count, &mut |_, sample| {
            rest = write_poly(&sample.b, core::mem::take(&mut rest));
            made += 1;
        });
    });
    if made < part.count {
        return Err(Error::MissingKey(format!(
            "part {index} of set {} ({}) holds {} samples, and the secrets give {made} of them; \
             give those of this set",
            params.name(),
            part.label,
            part.count
        )));
    }
    Ok(bytes)
}

impl<R: ReductionSpec, W: WireWord> RaisingSecretKey<R, W>
where
    RaisingParams<R, W>: WireKeySet<Word = W>,
{
    /// Makes one part of the evaluation keys, in wire form, in the memory of that part and of two samples. The same key and
    /// index give the same bytes, so an interrupted upload needs no memory of what was sent.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a part the set does not have.
    pub fn key_part(&self, index: usize) -> Result<Vec<u8>, Error> {
        key_part(self.params(), self.key_id(), &self.secrets(), index)
    }
}

impl<W: WireWord> BgvSecretKey<W> {
    /// As [`RaisingSecretKey::key_part`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a part the set does not have.
    pub fn key_part(&self, index: usize) -> Result<Vec<u8>, Error> {
        key_part(self.params(), self.key_id(), &self.secrets(), index)
    }
}

impl<P: WireKeySet> KeysBuilder<P> {
    /// Takes one untrusted part in wire form, checks it and expands it into place.
    ///
    /// # Errors
    /// [`Error::BadBytes`] or [`Error::ParamsMismatch`] for bytes that do not conform;
    /// [`Error::InvalidArgument`] for a part the set does not have.
    pub fn add(&mut self, index: usize, bytes: &[u8]) -> Result<(), Error> {
        let params = self.params().clone();
        let part = part_of(&params, index)?;
        let (seed, residues) = frame_of(&params, self.key_id(), part).read(bytes)?;
        let basis = params.key_layout().basis(part.key);
        let each = poly_len(basis);
        self.add_samples(part, &seed, |i| read_poly(basis, &residues[i * each..]).map(|(poly, _)| poly))
    }
}

/// Checks one untrusted part in full, residues included, in the memory of one row.
///
/// # Errors
/// As [`KeysBuilder::add`].
pub fn verify_key_part<P: WireKeySet>(
    params: &P,
    key_id: [u8; 16],
    index: usize,
    bytes: &[u8],
) -> Result<(), Error> {
    let part = part_of(params, index)?;
    let basis = params.key_layout().basis(part.key);
    frame_of(params, key_id, part).check(bytes, core::iter::repeat_n(basis, part.count))
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use super::*;
    use crate::{
        bootstrapping::{
            SwitchingKeyId,
            ckks_conventional::{ConventionalKeys, ConventionalSecretKey},
            switching_keys::KeyLayout,
        },
        params::conventional_preset,
        random::Seed,
        rlwe::SampleBlock,
        wire::{frame, header::HEADER_LEN},
    };

    /// A conventional set, defined as a new method would define its sets.
    #[derive(Clone)]
    struct New(ConventionalParams);

    impl SwitchingKeySet for New {
        type Word = u64;
        type Keys = ConventionalKeys;

        fn name(&self) -> &str {
            self.0.name()
        }

        fn fingerprint(&self) -> [u8; 16] {
            self.0.fingerprint()
        }

        fn key_layout(&self) -> KeyLayout<'_, u64> {
            SwitchingKeySet::key_layout(&self.0)
        }

        fn key_parts(&self) -> &[SwitchingKeyPart] {
            self.0.key_parts()
        }

        fn assemble(
            &self,
            key_id: [u8; 16],
            keys: BTreeMap<SwitchingKeyId, SampleBlock<u64>>,
        ) -> Result<ConventionalKeys, Error> {
            SwitchingKeySet::assemble(&self.0, key_id, keys)
        }
    }

    impl WireKeySet for New {}

    #[test]
    fn keys_of_a_new_method_travel_in_parts_of_the_common_kind() {
        let params: ConventionalParams =
            conventional_preset("toy-conventional10-sparse").unwrap().params().unwrap();
        let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([7; 32]));
        let (set, key_id) = (New(params), secret.key_id());
        let make = |index| key_part(&set, key_id, &secret.secrets(), index).unwrap();
        let mut builder = KeysBuilder::new(&set, key_id);
        for part in set.key_parts() {
            let (bytes, old) = (make(part.index), secret.key_part(part.index).unwrap());
            assert_eq!(bytes.len(), part.bytes);
            assert_eq!(frame::peek(&bytes).unwrap().kind, ObjectKind::KeyPart);
            // Nothing but the kind, its checksum and the digest differs.
            let payload = HEADER_LEN..bytes.len() - frame::DIGEST_LEN;
            assert!(bytes[payload.clone()] == old[payload]);
            verify_key_part(&set, key_id, part.index, &bytes).unwrap();
            assert_eq!(verify_key_part(&set, key_id, part.index, &old).unwrap_err().code(), "BAD_BYTES");
            assert!(verify_key_part(&set.0, key_id, part.index, &bytes).is_err());
            builder.add(part.index, &bytes).unwrap();
        }
        let keys = builder.finish().unwrap();
        let whole = ConventionalKeys::generate(&secret).unwrap();
        assert_eq!((keys.key_id(), keys.memory_bytes()), (key_id, whole.memory_bytes()));
        let last = set.key_parts().len();
        assert_eq!(verify_key_part(&set, key_id, last, &make(0)).unwrap_err().code(), "INVALID_ARGUMENT");
        assert_eq!(KeysBuilder::new(&set, key_id).finish().err().unwrap().code(), "MISSING_KEY");
    }
}
