//! Modular reduction in CKKS, for the owners of secret keys: keys, numbers, and the parts of evaluation keys.

use refloat::{
    Error,
    bootstrapping::{
        ckks_msb::{MsbParams, MsbSpec},
        method::Preset,
    },
};

use crate::{ckks::CkksClient, exports::export_owner, method::Keyed, sets::Kept};

impl Keyed for MsbParams {
    type Spec = MsbSpec;
    const SECURE: &'static str = "msb16";
    const SECRET: &'static str = "rf_msb_secret";

    fn kept() -> &'static Kept<Self> {
        static KEPT: Kept<MsbParams> = Kept::new();
        &KEPT
    }

    fn checked(preset: &Preset<MsbSpec>) -> Result<Self, Error> {
        preset.checked()
    }

    fn slots(&self) -> usize {
        self.slots()
    }

    fn part_lengths(&self) -> Vec<usize> {
        self.key_parts().iter().map(|part| part.bytes).collect()
    }
}

impl CkksClient for MsbParams {
    const CIPHERTEXT: &'static str = "rf_msb_ciphertext";
    const PUBLIC_KEY: &'static str = "rf_msb_public_key";
}

export_owner!("msb", MsbParams);
