//! Names of the named sets by their fingerprints, for messages: a ciphertext carries only a fingerprint, and the code that refuses it knows
//! no method. A test of [`params`](crate::params) compares the list with the sets.

use alloc::{borrow::ToOwned, format, string::String};

use crate::error::hex;

/// The first eight bytes of the fingerprint and the name of every set whose keys are read, and of those of other libraries.
const NAMES: [(u64, &str); 81] = [
    (0x9b54f9af1aca993d, "ship13"),
    (0x3d25d2f601ef04e6, "ship13-bits"),
    (0x412418f439a86773, "ship14"),
    (0xc21a33ceb3a78e2c, "ship14-he2018"),
    (0xa78646f1dc7579a4, "ship13-he2018"),
    (0xb2a2adb6418a1e52, "ship13-bits-he2018"),
    (0x42047bf6bd3aee6f, "toy10"),
    (0xd01d21811334c23e, "toy11"),
    (0x07bfea72da04248b, "toy11-31"),
    (0x20d72b2a58f0cdc9, "n16"),
    (0x36381f47329d2e22, "n16-sparse"),
    (0x86832c4d443fd1aa, "n16-precise"),
    (0x1c837a5446cdf176, "n15"),
    (0xf03a5ffe3137c54f, "drucker16"),
    (0x5c4a0c9707ba845d, "toy-conventional11"),
    (0x1e9b451828ffed16, "toy-conventional11-sine"),
    (0xef4903efe37dab9f, "toy-conventional10-sparse"),
    (0xddb5e1b869a00f1c, "toy-conventional10-slots-first"),
    (0x7ae2c6b34544e469, "toy-conventional10-50bit"),
    (0x5fb27ee83d4e6dd6, "n16-2026a"),
    (0xab38d284bb1672a1, "n16-sparse-2026a"),
    (0x42b653887ff10331, "n16-precise-2026a"),
    (0x93374eb783375a97, "n15-2026a"),
    (0xc0153053ae27d322, "toy-conventional10-sparse-2026a"),
    (0xdd25c15e91101af4, "msb16"),
    (0x612776af9625c3e2, "msb16-paper"),
    (0x6fcd05a2dffc3e95, "toy-msb11"),
    (0xda6a7bdca6164057, "toy-msb10"),
    (0x0ca83bca3c2cd4a1, "bgv15"),
    (0x987908a851ec0024, "bgv16-gf4"),
    (0xd36771cf1d12e49d, "bgv16-786433"),
    (0xc1147391bd14684a, "toy-bgv10"),
    (0x35c16cf72b3bcb51, "toy-bgv7"),
    (0x6eb00c02cdd9ff97, "toy-bgv-gf4"),
    (0x2af4742c34cfb912, "bool-128"),
    (0x1f1326d172c5b8fa, "bool-64"),
    (0x9d2857c8383bb91e, "bool-100-unrolled"),
    (0x2536ac950122e09b, "bool-128-ternary"),
    (0xdbd226d3adcf47f0, "lmk-128"),
    (0x9a72d05da9740f2f, "lmk-128-merged"),
    (0xa87f929d305f66db, "lmk-64"),
    (0x76b093f813727732, "ntru-128"),
    (0x887a4ed60c427ee6, "ntru-64"),
    (0xe1963b039104caf3, "ntru-small"),
    (0x6fd253e006af33e0, "fbs8"),
    (0xb92d1c36388c8fea, "fbs16"),
    (0x318154bac9ffffba, "fbs8-50"),
    (0x0d999e7816a1f282, "fbs16-50"),
    (0xc9abdb2fea5ee1f6, "toy-bool"),
    (0xd211ccb5480ec2ea, "toy-bool-unrolled"),
    (0x15addb8705199184, "toy-bool-ternary"),
    (0x815cb7a5f811c118, "toy-bool-lmk"),
    (0xe0dafe02260dd01c, "toy-bool-lmk-merged"),
    (0x3030a2d71adbb623, "toy-bool-ntru"),
    (0xa7a922872968e0a8, "toy-bool-ntru-merged"),
    (0xa5024d905a2d9ef8, "toy-bool-ap"),
    (0xfa3012029a654af5, "toy-fbs"),
    (0x7d06f02dce73b3cb, "bool-128-2026a"),
    (0x793def2532990488, "bool-64-2026a"),
    (0x627c622169976eca, "bool-110-unrolled"),
    (0x0a8b2165bc95ec5e, "bool-128-ternary-2026a"),
    (0x19a6b2260c27d37e, "lmk-128-2026a"),
    (0xb66f662e8f83d6d6, "lmk-128-merged-2026a"),
    (0x43b27f68832c08f8, "lmk-64-2026a"),
    (0xcee449d5e837f1a8, "ntru-128-2026a"),
    (0x1686661dc5e963d9, "ntru-64-2026a"),
    (0x534979ca2483a2c8, "ntru-small-2026a"),
    (0x1adbcc8f634df036, "fbs8-2026a"),
    (0xd041ae51d72850a6, "fbs16-2026a"),
    (0x73baa43ce4f1f7f8, "fbs8-50-2026a"),
    (0x1daed7cffd5afa13, "fbs16-50-2026a"),
    (0x1434a406b55b5b47, "n15+fbs16-50"),
    (0xe2c72e3204dc2cab, "n16+fbs16-50"),
    (0x87507a46fd093ac9, "toy-link"),
    (0x8ae6befea6a99b68, "msb16+fbs16-50"),
    (0xf3a42f5829521556, "toy-msb-link"),
    (0x8e4800ef6e2c43ca, "below-128-openfhe-std128"),
    (0x19f3101b8b8d8386, "below-128-openfhe-std128-lmkcdey"),
    (0xc09e956ccb223a7a, "below-128-openfhe-std128-ap"),
    (0x274826e7347ac123, "below-128-tfhe-lib"),
    (0xc490c26f317fd8bb, "tfhe-rs-2-2"),
];

/// What a message calls a set: its name, or the fingerprint of one that is not named.
#[cold]
pub(crate) fn set_name(fingerprint: &[u8; 16]) -> String {
    let start = start_of(fingerprint);
    let named = NAMES.iter().find(|(known, _)| *known == start);
    named.map_or_else(|| hex(fingerprint), |(_, name)| (*name).to_owned())
}

/// What a message calls the set of its own parameters: by the name alone only where the named set is meant.
#[cold]
pub(crate) fn own_set_name(name: &str, fingerprint: &[u8; 16]) -> String {
    let known = set_name(fingerprint);
    if known == name { known } else { format!("{name} ({})", hex(fingerprint)) }
}

fn start_of(fingerprint: &[u8; 16]) -> u64 {
    let mut start = [0; 8];
    start.copy_from_slice(&fingerprint[..8]);
    u64::from_be_bytes(start)
}

/// Asserts that the list has these sets and no others.
#[cfg(test)]
pub(crate) fn assert_names(sets: &[([u8; 16], &str)]) {
    let found: alloc::vec::Vec<(u64, &str)> =
        sets.iter().map(|(fingerprint, name)| (start_of(fingerprint), *name)).collect();
    let rows = found.iter().map(|(start, name)| format!("    (0x{start:016x}, {name:?}),\n"));
    assert!(found == NAMES, "write in core/src/schemes/set_names.rs:\n{}", rows.collect::<String>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_without_a_name_is_told_by_its_fingerprint() {
        assert_eq!(set_name(&[7; 16]), "07".repeat(16));
        assert_eq!(own_set_name("mine", &[7; 16]), format!("mine ({})", "07".repeat(16)));
    }
}
