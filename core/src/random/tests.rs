use super::*;

#[test]
fn a_seed_gives_the_rfc_8439_keystream() {
    // RFC 8439, A.1 test vector 1: key 0, nonce 0, block 0.
    let mut out = [0; 8];
    Seed::from_bytes([0; 32]).stream().fill_bytes(&mut out);
    assert_eq!(out, [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
}
