//! Conventional bootstrapping at 128-bit size: all 16384 slots of `n15` refreshed, multiplied until they are exhausted, and
//! refreshed again. Takes 5 GB of memory.

use refloat::bootstrapping::ckks_conventional::{
    ConventionalEvaluator, ConventionalKeys, ConventionalSecretKey,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::params::conventional_preset;
use refloat::random::Seed;
use refloat::schemes::ckks::{Ciphertext, Complex};
use refloat_tests::chain::{distance, some_slots};

#[test]
fn n15_is_refreshed_multiplied_and_refreshed_again() {
    let preset = conventional_preset("n15").unwrap();
    let params = preset.params().unwrap();
    assert!(preset.secure() && params.security().bits >= 128.0);
    let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
    let keys = ConventionalKeys::generate(&secret).unwrap();
    let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated).unwrap();
    let decrypt = |x: &Ciphertext<u64>| secret.decrypt(x).unwrap().reveal_to_key_owner().clone();
    let refresh = |x: &Ciphertext<u64>| evaluator.bootstrap(x, &keys, &mut ()).unwrap();
    let levels = *params.levels();

    let encrypt =
        |values: &[Complex]| secret.encrypt(values, levels.input, &Seed::from_bytes([2; 32])).unwrap();

    let values = some_slots(params.slots(), 1);
    let refreshed = refresh(&encrypt(&values));
    assert_eq!((refreshed.level(), levels.left()), (levels.output, 2));
    let found = decrypt(&refreshed);
    let mean = found.iter().zip(&values).map(|(&a, &b)| (a - b).abs()).sum::<f64>() / values.len() as f64;
    let bits = [-mean.log2(), -distance(&found, &values).log2()];
    println!("n15: {bits:?} bits in the mean and in the worst slot");
    let [promised_mean, promised_worst] = preset.promised.bits;
    assert!(bits[0] >= promised_mean && bits[1] >= promised_worst, "{bits:?}");

    // Squares stay in the unit disc if the numbers do.
    let mut expected: Vec<Complex> =
        values.iter().map(|z| z.scale(core::f64::consts::FRAC_1_SQRT_2)).collect();
    let mut x = refresh(&encrypt(&expected));
    while x.level() > levels.input {
        x = evaluator.multiply(&x, &x, &keys).unwrap();
        for z in &mut expected {
            *z = *z * *z;
        }
    }
    assert!(distance(&decrypt(&x), &expected) < 1e-3);
    assert!(distance(&decrypt(&refresh(&x)), &expected) < 1e-3);
}
