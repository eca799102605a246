//! Sets that link numbers to gates, for the owners of secret keys: keys, numbers, and the parts of evaluation keys.

use refloat::bootstrapping::scheme_switching::{LinkParams, Reduction};

use crate::{ckks::CkksClient, exports::export_owner, method::keyed};

keyed!(LinkParams<Reduction>, secure: "n15+fbs16-50", secret: "rf_link_secret", slots: |params: &Self| params.ckks().slots());

impl CkksClient for LinkParams<Reduction> {
    const CIPHERTEXT: &'static str = "rf_link_ciphertext";
    const PUBLIC_KEY: &'static str = "rf_link_public_key";
}

export_owner!("link", LinkParams<Reduction>);
