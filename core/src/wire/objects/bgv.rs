//! BGV ciphertexts and public keys.
//!
//! Payload: level u8, components u8, exponent k of the modulus of plaintexts u8, five zero bytes, factor u64, noise as an f64, then
//! the components row by row. The length is a function of level and components alone.

use alloc::{format, vec::Vec};
use core::cmp::Ordering;

use super::{
    ciphertext::{METADATA_LEN, Shape, Stated, read_parts, write_parts},
    keys::{public_bytes, public_parts},
    rows::WireWord,
};
use crate::{
    arith::Word,
    error::Error,
    schemes::bgv::{BgvCiphertext, BgvContext, BgvPublicKey, Factor},
    wire::{ObjectKind, frame, header::bad},
};

/// Bytes of a ciphertext on the wire.
pub fn bgv_ciphertext_len<W: Word>(context: &BgvContext<W>, level: usize, components: usize) -> usize {
    frame::len(Shape { level, components }.payload_len(context.rlwe()))
}

/// Encodes a ciphertext.
///
/// The estimate of the noise goes with it, raised to the floor of the set where it is lower, because readers assume no less. The
/// estimate depends on the plaintexts that the ciphertext was multiplied by or added to, so the bytes reveal that much about them.
///
/// # Errors
/// [`Error::ParamsMismatch`] if it belongs to another parameter set; [`Error::Limit`] if its level does not hold the floor.
pub fn bgv_ciphertext_to_bytes<W: WireWord>(
    context: &BgvContext<W>,
    ciphertext: &BgvCiphertext<W>,
) -> Result<Vec<u8>, Error> {
    ciphertext.identity().check_set(&context.fingerprint())?;
    let shape = Shape { level: ciphertext.level(), components: ciphertext.components() };
    let noise = ciphertext.noise().max(context.noise().floor());
    let capacity = ciphertext.capacity_for(noise);
    // Written so that what is not a number is refused too.
    if !matches!(capacity.partial_cmp(&0.0), Some(Ordering::Equal | Ordering::Greater)) {
        return Err(Error::Limit(format!(
            "a reader takes the ciphertext to have noise of 2^{:.1} at least, which is {:.1} bits more than level {} holds; send it \
             at a higher level",
            libm::log2(noise),
            -capacity,
            shape.level
        )));
    }
    let fill = |out: &mut [u8]| {
        let (metadata, rest) = out.split_at_mut(METADATA_LEN);
        metadata[..2].copy_from_slice(&shape.bytes());
        metadata[2] = ciphertext.ring().exponent() as u8;
        metadata[8..16].copy_from_slice(&ciphertext.factor().value().to_le_bytes());
        metadata[16..24].copy_from_slice(&noise.to_le_bytes());
        write_parts(ciphertext.parts(), rest);
    };
    let (fingerprint, key_id) = (ciphertext.fingerprint(), ciphertext.key_id());
    let len = shape.payload_len(context.rlwe());
    Ok(frame::write_with(ObjectKind::BgvCiphertext, fingerprint, key_id, len, fill))
}

/// Decodes an untrusted ciphertext of the set, under any key.
///
/// Its estimate of the noise is what the sender states, or the floor of the set if that is larger. Nobody can check it against the
/// ciphertext without the secret key.
///
/// # Errors
/// [`Error::BadBytes`], [`Error::ParamsMismatch`] as the frame reader; [`Error::BadBytes`] for a level, component count, modulus
/// of plaintexts, factor or residue that the set does not allow, and for noise that the modulus of the level does not hold.
pub fn bgv_ciphertext_from_bytes<W: WireWord>(
    context: &BgvContext<W>,
    bytes: &[u8],
) -> Result<BgvCiphertext<W>, Error> {
    let read = Stated::read(context.rlwe(), ObjectKind::BgvCiphertext, context.fingerprint(), bytes)?;
    let Stated { shape, key_id, rest, .. } = read;
    read.check_reserved(3)?;
    let ring = context.modulus(read.byte(2).into()).map_err(|error| bad(format!("{error}")))?.ring();
    let value = read.word(8);
    let factor =
        Some(value).filter(|&value| value < ring.value()).and_then(|value| Factor::new(value, ring).ok());
    let factor = factor.ok_or_else(|| {
        bad(format!("factor {value} is not a unit below {}^{}", ring.prime(), ring.exponent()))
    })?;
    let stated = f64::from_bits(read.word(16));
    if !stated.is_finite() || stated < 0.0 {
        return Err(bad(format!("noise of {stated}; it is a finite number, 0 or more")));
    }
    let ciphertext = BgvCiphertext {
        fingerprint: context.fingerprint(),
        key_id,
        level: shape.level,
        factor,
        noise: stated.max(context.noise().floor()),
        parts: read_parts(context.rlwe().q(shape.level), shape.components, rest)?,
    };
    if ciphertext.capacity() >= 0.0 {
        return Ok(ciphertext);
    }
    Err(bad(format!(
        "noise of 2^{:.1} is {:.1} bits more than the modulus 2^{:.1} of level {} holds",
        ciphertext.log_noise(),
        -ciphertext.capacity(),
        ciphertext.log_q(),
        shape.level
    )))
}

/// Encodes a public key in the form of CKKS public keys.
pub fn bgv_public_key_to_bytes<W: WireWord>(context: &BgvContext<W>, key: &BgvPublicKey<W>) -> Vec<u8> {
    public_bytes(context.fingerprint(), key.key_id(), &key.sample.seed, &key.sample.b)
}

/// Decodes an untrusted public key of the set, for levels up to `level`.
///
/// # Errors
/// As [`public_key_from_bytes`](super::public_key_from_bytes).
pub fn bgv_public_key_from_bytes<W: WireWord>(
    context: &BgvContext<W>,
    level: usize,
    bytes: &[u8],
) -> Result<BgvPublicKey<W>, Error> {
    context.rlwe().check_level(level)?;
    let (key_id, seed, b) = public_parts(context.fingerprint(), context.rlwe().q(level), bytes)?;
    BgvPublicKey::new(context, key_id, level, b, &seed)
}
