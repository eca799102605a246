//! Public keys, and secret keys for their owner's own storage.

use alloc::vec::Vec;

use super::{
    rows::{WireWord, poly_len, read_poly, write_poly},
    seed::{SEED_LEN, seed_from},
    sets::{CkksSet, SeededSecret, SeededSet},
};
use crate::{
    error::Error,
    random::Seed,
    ring::{Basis, Eval, Poly},
    schemes::ckks::{PublicKey, key_set_id},
    wire::{Expect, ObjectKind, frame},
};

/// Encodes a public key of a CKKS set: public seed, then the first component.
pub fn public_key_to_bytes<P: CkksSet>(params: &P, key: &PublicKey<P::Word>) -> Vec<u8> {
    public_bytes(params.ckks().fingerprint(), key.key_id(), &key.sample.seed, &key.sample.b)
}

/// Decodes an untrusted public key of the set.
///
/// # Errors
/// As the frame reader; [`Error::BadBytes`] for a residue out of range,
/// [`Error::ParamsMismatch`] if seed and key id do not belong together.
pub fn public_key_from_bytes<P: CkksSet>(params: &P, bytes: &[u8]) -> Result<PublicKey<P::Word>, Error> {
    let (context, level) = (params.ckks(), params.public_key_level());
    let (key_id, seed, b) = public_parts(context.fingerprint(), context.rlwe().q(level), bytes)?;
    PublicKey::new(context, key_id, level, b, &seed)
}

/// Encodes a public key: its seed and its first component.
pub(super) fn public_bytes<W: WireWord>(
    fingerprint: [u8; 16],
    key_id: [u8; 16],
    public_seed: &Seed,
    b: &Poly<W, Eval>,
) -> Vec<u8> {
    frame::write_with(ObjectKind::PublicKey, fingerprint, key_id, SEED_LEN + poly_len(b.basis()), |out| {
        let (seed, rest) = out.split_at_mut(SEED_LEN);
        seed.copy_from_slice(public_seed.as_bytes());
        write_poly(b, rest);
    })
}

/// Key id, public seed and first component.
pub(super) type PublicParts<W> = ([u8; 16], Seed, Poly<W, Eval>);

/// Decodes the parts of an untrusted public key.
pub(super) fn public_parts<W: WireWord>(
    fingerprint: [u8; 16],
    basis: &Basis<W>,
    bytes: &[u8],
) -> Result<PublicParts<W>, Error> {
    let expect = Expect {
        kind: ObjectKind::PublicKey,
        fingerprint,
        key_id: None,
        payload_len: SEED_LEN + poly_len(basis),
    };
    let frame = frame::read(bytes, &expect)?;
    let (seed, rest) = frame.payload.split_at(SEED_LEN);
    let (seed, key_id) = (seed_from(seed), frame.header.key_id);
    if key_set_id(&fingerprint, &seed) != key_id {
        return Err(Error::ParamsMismatch(
            "the public key's seed does not belong to its key id; ask its owner for it again".into(),
        ));
    }
    Ok((key_id, seed, read_poly(basis, rest)?.0))
}

/// Encodes a secret key: the seed it is derived from. For storage by its owner; nothing else may
/// read it.
pub fn secret_key_to_bytes<K: SeededSecret>(key: &K) -> Vec<u8> {
    let (fingerprint, key_id) = (key.set().fingerprint(), key.key_id());
    frame::write(ObjectKind::SecretKey, fingerprint, key_id, key.secret_seed().as_bytes())
}

/// Decodes a secret key of the set.
///
/// # Errors
/// As the frame reader; [`Error::ParamsMismatch`] if the seed does not give the key id.
pub fn secret_key_from_bytes<P: SeededSet>(params: &P, bytes: &[u8]) -> Result<P::Secret, Error> {
    let expect = Expect {
        kind: ObjectKind::SecretKey,
        fingerprint: params.fingerprint(),
        key_id: None,
        payload_len: SEED_LEN,
    };
    let frame = frame::read(bytes, &expect)?;
    let key = params.secret(&seed_from(frame.payload));
    if key.key_id() != frame.header.key_id {
        return Err(Error::ParamsMismatch(
            "the secret seed does not give the key id of its header; the file was assembled from two keys"
                .into(),
        ));
    }
    Ok(key)
}
