//! What readers of untrusted bytes allocate: next to nothing before the bytes are known to be good,
//! and never a length that the bytes state.

use refloat::bootstrapping::ckks_ship::{ShipParams, ShipSecretKey};
use refloat::params::ship_preset;
use refloat::random::Seed;
use refloat::wire::header::HEADER_LEN;
use refloat::wire::{
    Header, ciphertext_from_bytes, frame, public_key_from_bytes, secret_key_from_bytes, verify_ship_part,
};

use super::{allocated, alone};

/// Room for the text of an error.
const MESSAGE: usize = 4096;

#[test]
fn refusals_cost_no_more_than_their_message() {
    alone(refusals);
}

fn refusals() {
    let params: ShipParams = ship_preset("toy10").unwrap().params().unwrap();
    let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
    let index = params.key_parts().iter().max_by_key(|p| p.bytes).unwrap().index;
    let part = secret.key_part(index).unwrap();
    assert!(part.len() > 1 << 20, "a part of {} bytes tells little", part.len());

    // Every stated length, with a good header checksum.
    for payload_len in [0, 1, 1 << 20, 1 << 31, 1 << 32, 1 << 40, u64::MAX / 2, u64::MAX - 95, u64::MAX] {
        let header = Header { payload_len, ..frame::peek(&part).unwrap() };
        let mut bytes = part.clone();
        bytes[..HEADER_LEN].copy_from_slice(&header.to_bytes());
        for hostile in [&bytes[..], &bytes[..HEADER_LEN], &bytes[..200]] {
            let (cost, result) = allocated(|| verify_ship_part(&params, secret.key_id(), index, hostile));
            assert!(result.is_err() && cost < MESSAGE, "stated {payload_len}: {cost} bytes");
            let (cost, result) = allocated(|| ciphertext_from_bytes(params.ckks(), hostile).is_err());
            assert!(result && cost < MESSAGE, "stated {payload_len}: {cost} bytes");
            let (cost, result) = allocated(|| public_key_from_bytes(&params, hostile).is_err());
            assert!(result && cost < MESSAGE, "stated {payload_len}: {cost} bytes");
            let (cost, result) = allocated(|| secret_key_from_bytes(&params, hostile).is_err());
            assert!(result && cost < MESSAGE, "stated {payload_len}: {cost} bytes");
        }
    }
    // Damage in the last byte is found before anything is unpacked.
    let mut damaged = part.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let (cost, result) = allocated(|| verify_ship_part(&params, secret.key_id(), index, &damaged));
    assert!(result.is_err() && cost < MESSAGE, "{cost} bytes");
    // A good part is checked in the memory of one row, not of the part.
    let (cost, result) = allocated(|| verify_ship_part(&params, secret.key_id(), index, &part));
    assert_eq!(result, Ok(()));
    assert!(cost < 4 * params.n() + MESSAGE, "{cost} bytes for a part of {}", part.len());
}
