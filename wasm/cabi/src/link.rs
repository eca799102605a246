//! Sets that link numbers to gates, for the owners of secret keys: keys, numbers, and the parts of evaluation keys.

use refloat::{
    Error,
    bootstrapping::{
        method::Preset,
        scheme_switching::{LinkParams, LinkSpec, Reduction},
    },
};

use crate::{ckks::CkksClient, exports::export_owner, method::Keyed, sets::Kept};

impl Keyed for LinkParams<Reduction> {
    type Spec = LinkSpec<Reduction>;
    const SECURE: &'static str = "n15+fbs16-50";
    const SECRET: &'static str = "rf_link_secret";

    fn kept() -> &'static Kept<Self> {
        static KEPT: Kept<LinkParams<Reduction>> = Kept::new();
        &KEPT
    }

    fn checked(preset: &Preset<LinkSpec<Reduction>>) -> Result<Self, Error> {
        preset.checked()
    }

    fn slots(&self) -> usize {
        self.ckks().slots()
    }

    fn part_lengths(&self) -> Vec<usize> {
        self.key_parts().iter().map(|part| part.bytes).collect()
    }
}

impl CkksClient for LinkParams<Reduction> {
    const CIPHERTEXT: &'static str = "rf_link_ciphertext";
    const PUBLIC_KEY: &'static str = "rf_link_public_key";
}

export_owner!("link", LinkParams<Reduction>);
