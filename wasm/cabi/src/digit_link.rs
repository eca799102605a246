//! Sets for modular reduction that are linked to gates, for the owners of secret keys: keys, numbers, and the parts of evaluation keys.

use refloat::bootstrapping::{ckks_msb::RootsSpec, scheme_switching::LinkParams};

use crate::{ckks::CkksClient, exports::export_owner, method::keyed};

keyed!(LinkParams<RootsSpec>, secure: "msb16+fbs16-50", secret: "rf_digit_link_secret", slots: |params: &Self| params.ckks().slots());

impl CkksClient for LinkParams<RootsSpec> {
    const CIPHERTEXT: &'static str = "rf_digit_link_ciphertext";
    const PUBLIC_KEY: &'static str = "rf_digit_link_public_key";
}

export_owner!("digit_link", LinkParams<RootsSpec>);
