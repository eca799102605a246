//! Sets for modular reduction that are linked to gates, for the owners of secret keys: keys, numbers, and the parts of evaluation keys.

use refloat::{
    Error,
    bootstrapping::{
        ckks_msb::RootsSpec,
        method::Preset,
        scheme_switching::{LinkParams, LinkSpec},
    },
};

use crate::{ckks::CkksClient, exports::export_owner, method::Keyed, sets::Kept};

impl Keyed for LinkParams<RootsSpec> {
    type Spec = LinkSpec<RootsSpec>;
    const SECURE: &'static str = "msb16+fbs16-50";
    const SECRET: &'static str = "rf_digit_link_secret";

    fn kept() -> &'static Kept<Self> {
        static KEPT: Kept<LinkParams<RootsSpec>> = Kept::new();
        &KEPT
    }

    fn checked(preset: &Preset<LinkSpec<RootsSpec>>) -> Result<Self, Error> {
        preset.checked()
    }

    fn slots(&self) -> usize {
        self.ckks().slots()
    }

    fn part_lengths(&self) -> Vec<usize> {
        self.key_parts().iter().map(|part| part.bytes).collect()
    }
}

impl CkksClient for LinkParams<RootsSpec> {
    const CIPHERTEXT: &'static str = "rf_digit_link_ciphertext";
    const PUBLIC_KEY: &'static str = "rf_digit_link_public_key";
}

export_owner!("digit_link", LinkParams<RootsSpec>);
