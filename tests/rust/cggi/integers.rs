//! Encrypted integers of more bits than one look-up takes: digits, floor, sign, comparison, over all inputs.

use std::sync::OnceLock;

use refloat::bootstrapping::cggi::{CggiEvaluator, CggiKeys};
use refloat::params::cggi_preset;
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiCiphertext, CggiParams, CggiSecretKey, CggiSpec, Encoding};

/// Bits of the integers.
const WIDTH: u32 = 10;

struct World {
    secret: CggiSecretKey<u64>,
    evaluator: CggiEvaluator<u64>,
}

/// The toy set in a smaller ring, with the prime, the digits and the rotation of `fbs16-50`.
fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let toy = (cggi_preset("toy-fbs").unwrap().spec)();
        let wide = (cggi_preset("fbs16-50").unwrap().spec)();
        let CggiSpec { method, prime, base_log, digits, .. } = wide;
        let spec = CggiSpec {
            log_n: 9,
            method,
            prime,
            base_log,
            digits,
            switch_base_log: 1,
            switch_digits: 18,
            ..toy
        };
        let params = CggiParams::new(&spec).unwrap();
        let secret = CggiSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        let evaluator = CggiEvaluator::new(CggiKeys::generate(&secret).unwrap());
        World { secret, evaluator }
    })
}

fn residues(width: u32) -> Encoding {
    Encoding::Cyclic { messages: 1 << width }
}

fn encrypt(width: u32, values: &[u32]) -> Vec<CggiCiphertext<u64>> {
    world().secret.encrypt(residues(width), values, &Seed::from_bytes([2; 32])).unwrap()
}

#[test]
fn integers_come_back_whatever_their_width() {
    let World { secret, evaluator } = world();
    for width in [7, 12, 15] {
        let values: Vec<u32> = [0, 1, (1 << (width - 1)) - 1, 1 << (width - 1), (1 << width) - 1].into();
        let encrypted = encrypt(width, &values);
        for (&value, x) in values.iter().zip(&encrypted) {
            assert_eq!((secret.decrypt(x), x.encoding()), (Ok(value), residues(width)));
            let low = evaluator.low_bits(x, 3).unwrap();
            assert_eq!((secret.decrypt(&low), low.encoding()), (Ok(value % 8), residues(3)));
        }
        let sum = evaluator.weighted_sum(&[(3, &encrypted[4]), (-1, &encrypted[1])], 5).unwrap();
        assert_eq!(secret.decrypt(&sum), Ok(1));
    }
    for messages in [0, 1, 65, 100, 1 << 16] {
        let refused = secret.encrypt(Encoding::Cyclic { messages }, &[0], &Seed::from_bytes([2; 32]));
        assert_eq!(refused.unwrap_err().code(), "INVALID_ARGUMENT");
    }
}

#[test]
fn digits_of_every_integer() {
    let World { secret, evaluator } = world();
    let values: Vec<u32> = (0..1 << WIDTH).collect();
    for (&value, x) in values.iter().zip(&encrypt(WIDTH, &values)) {
        // Three digits of 3 bits and one of the bit that is left.
        let digits = evaluator.digits(x, 3, Encoding::Padded { messages: 8 }, &mut ()).unwrap();
        let found: Vec<u32> = digits.iter().map(|digit| secret.decrypt(digit).unwrap()).collect();
        assert_eq!(found, [value % 8, value / 8 % 8, value / 64 % 8, value / 512], "{value}");
    }
}

#[test]
fn floor_and_sign_of_every_integer() {
    let World { secret, evaluator } = world();
    let values: Vec<u32> = (0..1 << WIDTH).collect();
    for (&value, x) in values.iter().zip(&encrypt(WIDTH, &values)) {
        if value % 9 == 0 {
            let floor = evaluator.floor(x, 3, &mut ()).unwrap();
            assert_eq!((secret.decrypt(&floor), floor.encoding()), (Ok(value / 8), residues(WIDTH - 3)));
        }
        let negative = evaluator.is_negative(x, &mut ()).unwrap();
        assert_eq!(secret.decrypt_bit(&negative), Ok(value >= 1 << (WIDTH - 1)), "{value}");
    }
}

#[test]
fn integers_are_compared() {
    let World { secret, evaluator } = world();
    let edges = [0, 1, 2, 255, 256, 510, 511];
    let x = encrypt(WIDTH, &edges);
    for (&a, x) in edges.iter().zip(&x) {
        for (&b, y) in edges.iter().zip(&encrypt(WIDTH, &edges)) {
            let less = evaluator.less(x, y, &mut ()).unwrap();
            assert_eq!(secret.decrypt_bit(&less), Ok(a < b), "{a} < {b}");
        }
    }
    for (i, j) in [(3, 3), (3, 4), (4, 3), (0, 6)] {
        let equal = evaluator.equal(&x[i], &encrypt(WIDTH, &edges)[j], &mut ()).unwrap();
        assert_eq!(secret.decrypt_bit(&equal), Ok(i == j));
    }
}

#[test]
fn what_is_too_noisy_or_of_another_kind_is_refused() {
    let World { secret, evaluator } = world();
    let x = &encrypt(WIDTH, &[600])[0];
    let code = |outcome: Result<CggiCiphertext<u64>, refloat::Error>| outcome.unwrap_err().code();
    assert_eq!(code(evaluator.floor(x, WIDTH, &mut ())), "INVALID_ARGUMENT");
    assert_eq!(code(evaluator.low_bits(x, 0)), "INVALID_ARGUMENT");
    assert_eq!(code(evaluator.low_bits(x, WIDTH + 1)), "INVALID_ARGUMENT");
    assert!(evaluator.digits(x, 0, Encoding::Padded { messages: 8 }, &mut ()).is_err());
    assert!(evaluator.digits(x, 4, Encoding::Padded { messages: 8 }, &mut ()).is_err());
    let integer = secret.encrypt(Encoding::Padded { messages: 8 }, &[1], &Seed::from_bytes([3; 32])).unwrap();
    assert_eq!(code(evaluator.is_negative(&integer[0], &mut ())), "INVALID_ARGUMENT");
    // The noise of a bootstrap is beyond a unit of 15 bits, and the promise of the set with it.
    let long = &encrypt(15, &[600])[0];
    assert_eq!(code(evaluator.floor(long, 3, &mut ())), "LIMIT");
    assert_eq!(code(evaluator.is_negative(long, &mut ())), "LIMIT");
}
