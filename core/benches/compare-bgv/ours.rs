//! refloat.

use refloat::{
    Error,
    bootstrapping::bgv::{BgvBootstrapper, BgvKeys, BgvPreset, BgvSecretKey},
    circuits::linear_transform::PlaintextStorage,
    random::Seed,
};

use crate::{Operations, PRIME, least, message, rotated, wrong};

/// Operations at the level where a bootstrap of `bgv15` ends.
pub fn operations(rounds: usize) -> Result<Operations, Error> {
    let params = BgvPreset::named("bgv15")?.params()?;
    let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
    let keys = BgvKeys::generate(&secret)?;
    let bootstrapper = BgvBootstrapper::new(&params, PlaintextStorage::Evaluated)?;
    let (values, level, bgv) = (message(params.n()), params.levels().output, bootstrapper.bgv());
    let decrypt = |x: &_| Ok::<_, Error>(secret.decrypt(x)?.reveal_to_key_owner().clone());
    let (encrypt, x) = least(rounds, || secret.encrypt(&values, level, &Seed::from_bytes([2; 32])));
    let x = x?;
    let (add, sum) = least(rounds, || bgv.add(&x, &x));
    let (multiply, square) = least(rounds, || bootstrapper.multiply(&x, &x, &keys));
    let (rotate, turned) = least(rounds, || bgv.rotate(&x, 1, &keys));
    let wrong = wrong(&decrypt(&sum?)?, |i| 2 * values[i] % PRIME)
        + wrong(&decrypt(&square?)?, |i| values[i] * values[i] % PRIME)
        + wrong(&decrypt(&turned?)?, |i| rotated(&values, i));
    let log_q = params.context().rlwe().q(level).log2();
    Ok(Operations { name: "refloat bgv15", log_q, encrypt, add, multiply, rotate, wrong })
}
