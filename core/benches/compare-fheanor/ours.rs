//! refloat.

use refloat::{
    Error,
    bootstrapping::bgv::{BgvBootstrapper, BgvKeys, BgvPreset, BgvSecretKey, published_sets},
    circuits::linear_transform::PlaintextStorage,
    random::Seed,
    schemes::bgv::BgvCiphertext,
};

use crate::{Measured, least, message, timed};

/// A bootstrap from the lowest level of an input; product and automorphism at the level where it ends.
pub fn run(set: &str, rounds: usize) -> Result<Measured, Error> {
    let published = published_sets().iter().find(|preset| preset.name == set);
    let params = published.map_or_else(|| BgvPreset::named(set)?.params(), BgvPreset::params)?;
    let context = params.context();
    let (setup, made) = timed(|| {
        let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        let keys = BgvKeys::generate(&secret)?;
        let bootstrapper = BgvBootstrapper::new(&params, PlaintextStorage::Evaluated)?;
        Ok::<_, Error>((secret, keys, bootstrapper))
    });
    let (secret, keys, bootstrapper) = made?;
    // Of slots of several numbers, a thin bootstrap refreshes the first.
    let (slots, modulus) = (context.slots(), params.messages());
    let mut values = vec![0; params.n()];
    for (slot, value) in values.chunks_mut(context.slot_degree()).zip(message(slots, modulus.value())) {
        slot[0] = value;
    }
    let x = secret.encrypt(&values, params.levels().input, &Seed::from_bytes([2; 32]))?;
    let (bootstrap, fresh) = least(rounds, || bootstrapper.bootstrap(&x, &keys, &mut ()));
    let fresh = fresh?;
    let (multiply, square) = least(rounds, || bootstrapper.multiply(&fresh, &fresh, &keys));
    let square = square?;
    // Any automorphism that has a key at this level.
    let (element, _) = params
        .galois_elements()
        .find(|&(_, level)| level >= fresh.level())
        .ok_or_else(|| Error::InvalidArgument("no automorphism at the level of a result".into()))?;
    let automorphism = |x: &BgvCiphertext| bootstrapper.bgv().automorphism(x, element, &keys);
    let (rotate, turned) = least(rounds, || automorphism(&fresh));
    // The same automorphism of a message that was never bootstrapped.
    let direct = secret.encrypt(&values, fresh.level(), &Seed::from_bytes([3; 32]))?;
    let expected = automorphism(&direct)?;
    let decrypt = |x: &_| Ok::<_, Error>(secret.decrypt(x)?.reveal_to_key_owner().clone());
    let differing =
        |found: &[u64], expected: &[u64]| found.iter().zip(expected).filter(|(x, y)| x != y).count();
    let squares: Vec<u64> = values.iter().map(|&x| modulus.mul(x, x)).collect();
    let wrong = differing(&decrypt(&fresh)?, &values)
        + differing(&decrypt(&square)?, &squares)
        + differing(&decrypt(&turned?)?, &decrypt(&expected)?);
    let budget = |x: &BgvCiphertext| {
        let noise = secret.noise(x)?;
        let largest = noise.reveal_to_key_owner().iter().fold(0f64, |largest, x| largest.max(x.abs()));
        Ok::<_, Error>(x.log_q() - (2.0 * x.ring().value() as f64 * largest).log2())
    };
    Ok(Measured {
        name: format!("refloat {set}, modulo {}", modulus.value()),
        security: params.security().statement.clone(),
        degree: params.n(),
        log_q: params.log_qp(),
        log_ephemeral: params.log_q0_p(),
        slots,
        setup,
        bootstrap,
        multiply,
        rotate,
        budget: [budget(&x)?, budget(&fresh)?, budget(&square)?],
        wrong,
    })
}
