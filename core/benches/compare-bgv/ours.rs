//! refloat.

use refloat::{
    Error,
    bootstrapping::bgv::{BgvBootstrapper, BgvKeys, BgvParams, BgvPreset, BgvSecretKey},
    circuits::linear_transform::PlaintextStorage,
    random::Seed,
};

use crate::{Bootstrap, Operations, PRIME, least, message, rotated, wrong};

struct Set {
    params: BgvParams,
    secret: BgvSecretKey,
    keys: BgvKeys<u64>,
    bootstrapper: BgvBootstrapper,
}

fn set(name: &str) -> Result<Set, Error> {
    let params = BgvPreset::named(name)?.params()?;
    let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
    let keys = secret.evaluation_keys()?;
    let bootstrapper = BgvBootstrapper::new(&params, PlaintextStorage::Evaluated)?;
    Ok(Set { params, secret, keys, bootstrapper })
}

/// At the level where a bootstrap of `bgv15` ends.
pub fn operations(rounds: usize) -> Result<Operations, Error> {
    let Set { params, secret, keys, bootstrapper } = set("bgv15")?;
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

/// `toy-bgv10`, insecure.
pub fn bootstrap(rounds: usize) -> Result<Bootstrap, Error> {
    let Set { params, secret, keys, bootstrapper } = set("toy-bgv10")?;
    let values = message(params.n());
    let exhausted = secret.encrypt(&values, params.levels().input, &Seed::from_bytes([2; 32]))?;
    let (seconds, fresh) = least(rounds, || bootstrapper.bootstrap(&exhausted, &keys, &mut ()));
    let fresh = fresh?;
    let wrong = wrong(secret.decrypt(&fresh)?.reveal_to_key_owner(), |i| values[i]);
    let log_q = params.context().rlwe().q(params.context().rlwe().max_level()).log2();
    Ok(Bootstrap {
        name: "refloat toy-bgv10",
        slots: params.n(),
        log_q,
        seconds,
        capacity: fresh.capacity(),
        wrong,
    })
}
