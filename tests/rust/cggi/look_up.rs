//! Functional bootstrapping: every table kind over all messages, at demonstration size.

use std::sync::OnceLock;

use refloat::bootstrapping::cggi::{CggiEvaluator, CggiKeys};
use refloat::params::cggi_preset;
use refloat::random::{Seed, Stream};
use refloat::schemes::cggi::{CggiCiphertext, CggiSecretKey, Encoding};

struct World {
    secret: CggiSecretKey,
    evaluator: CggiEvaluator,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params = cggi_preset("toy-fbs").unwrap().params().unwrap();
        let secret = CggiSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        let evaluator = CggiEvaluator::new(CggiKeys::generate(&secret).unwrap());
        World { secret, evaluator }
    })
}

fn coin(purpose: u64) -> Stream {
    Seed::from_bytes([2; 32]).derive("refloat test: tables", &[purpose]).stream()
}

fn random_table(coin: &mut Stream, entries: u32, below: u32) -> Vec<u32> {
    (0..entries).map(|_| coin.below(below)).collect()
}

/// All messages of an encoding, encrypted.
fn all(encoding: Encoding) -> Vec<CggiCiphertext> {
    let messages: Vec<u32> = (0..encoding.messages()).collect();
    world().secret.encrypt(encoding, &messages, &Seed::from_bytes([3; 32])).unwrap()
}

fn padded(messages: u32) -> Encoding {
    Encoding::Padded { messages }
}

fn cyclic(messages: u32) -> Encoding {
    Encoding::Cyclic { messages }
}

/// Looks up every message and compares.
fn check(input: Encoding, table: &[u32], output: Encoding) {
    let World { secret, evaluator } = world();
    for (m, x) in (0..).zip(all(input)) {
        let out = evaluator.look_up(&x, table, output, &mut ()).unwrap();
        assert_eq!(out.encoding(), output);
        assert_eq!(secret.decrypt(&out), Ok(table[m as usize]), "{input:?} {m} by {table:?} to {output:?}");
    }
}

#[test]
fn any_table_of_integers_with_padding() {
    let mut coin = coin(1);
    for t in [2, 3, 4, 5, 8, 11, 16] {
        for output in [padded(2), padded(t), padded(16), cyclic(7), cyclic(16), Encoding::Bit] {
            check(padded(t), &random_table(&mut coin, t, output.messages()), output);
        }
    }
}

#[test]
fn odd_tables_of_residues_take_one_rotation() {
    let World { evaluator, .. } = world();
    for t in [2u32, 4, 8, 16] {
        // 3 m + 1 modulo t: opposite entries are t/2 apart for odd factors, and their sum is not constant;
        // the sign and its multiples are odd.
        let sign: Vec<u32> = (0..t).map(|m| u32::from(m < t / 2)).collect();
        for output in [Encoding::Bit, padded(2), cyclic(4)] {
            let x = &all(cyclic(t))[0];
            assert!(evaluator.look_up_run(x, &sign, output).is_ok());
            check(cyclic(t), &sign, output);
        }
        let mut coin = coin(t.into());
        let upper = random_table(&mut coin, t / 2, t);
        let table: Vec<u32> = upper.iter().copied().chain(upper.iter().map(|&x| (t - x) % t)).collect();
        assert!(evaluator.look_up_run(&all(cyclic(t))[0], &table, cyclic(t)).is_ok());
        check(cyclic(t), &table, cyclic(t));
    }
    for table in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        for output in [Encoding::Bit, padded(2), padded(9), cyclic(3)] {
            check(Encoding::Bit, &table, output);
        }
    }
}

#[test]
fn any_table_of_residues() {
    let mut coin = coin(5);
    let World { secret, evaluator } = world();
    for t in [3, 4, 5, 8, 13, 16] {
        for output in [padded(t), cyclic(t), Encoding::Bit] {
            check(cyclic(t), &random_table(&mut coin, t, output.messages()), output);
        }
        for (m, x) in (0..).zip(all(cyclic(t))) {
            let out = evaluator.add_padding(&x, &mut ()).unwrap();
            assert_eq!((secret.decrypt(&out), out.encoding()), (Ok(m), padded(t)));
        }
    }
    let x = &all(cyclic(4))[0];
    assert_eq!(evaluator.look_up_run(x, &[0, 0, 0, 1], padded(2)).err().unwrap().code(), "INVALID_ARGUMENT");
}

#[test]
fn several_tables_for_one_rotation() {
    let World { secret, evaluator } = world();
    let mut coin = coin(7);
    // The squared differences of neighbouring entries multiply the noise: not as many outputs as one look-up could have.
    for (t, outputs) in [(2, 2), (4, 4), (5, 3), (8, 8), (16, 8)] {
        let tables: Vec<Vec<u32>> = (0..5).map(|_| random_table(&mut coin, t, outputs)).collect();
        let tables: Vec<&[u32]> = tables.iter().map(Vec::as_slice).collect();
        for (m, x) in all(padded(t)).iter().enumerate() {
            let out = evaluator.look_up_many(x, &tables, padded(outputs), &mut ()).unwrap();
            for (table, out) in tables.iter().zip(out) {
                assert_eq!(secret.decrypt(&out), Ok(table[m]), "{m} by {table:?}");
            }
        }
    }
    let x = &all(cyclic(4))[0];
    assert!(evaluator.look_up_many(x, &[&[0, 1, 2, 3]], padded(4), &mut ()).is_err());
}

#[test]
fn functions_of_two_integers() {
    let World { secret, evaluator } = world();
    let accepting = evaluator.clone().accepting(-64.0);
    let times: Vec<u32> = (0..16).map(|s| (s % 4) * (s / 4) % 4).collect();
    let x = secret.encrypt(padded(16), &[0, 1, 2, 3], &Seed::from_bytes([10; 32])).unwrap();
    let y = secret.encrypt(padded(16), &[0, 1, 2, 3], &Seed::from_bytes([11; 32])).unwrap();
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            // 17 times the noise: more than the set promises to bear.
            let error = evaluator.look_up_two(x, y, 4, &times, padded(16), &mut ()).unwrap_err();
            assert_eq!(error.code(), "LIMIT");
            let out = accepting.look_up_two(x, y, 4, &times, padded(16), &mut ()).unwrap();
            assert_eq!(secret.decrypt(&out), Ok((i * j % 4) as u32));
            let sum = evaluator.weighted_sum(&[(2, x), (3, y)], 1).unwrap();
            let expected = (2 * i + 3 * j + 1) as u32;
            if expected < 16 {
                assert_eq!((secret.decrypt(&sum), sum.weight()), (Ok(expected), 13));
            }
        }
    }
}

#[test]
fn residues_add_modulo_their_number() {
    let World { secret, evaluator } = world();
    let x = all(cyclic(16));
    let sum = evaluator.weighted_sum(&[(1, &x[9]), (3, &x[5]), (-1, &x[2])], 11).unwrap();
    assert_eq!(secret.decrypt(&sum), Ok((9 + 15 + 16 - 2 + 11) % 16));
}

#[test]
fn what_breaks_the_promise_or_the_types_is_refused() {
    let World { secret, evaluator } = world();
    let x = all(padded(16));
    let identity: Vec<u32> = (0..16).collect();
    let noisy = evaluator.weighted_sum(&[(200, &x[0])], 0).unwrap();
    let error = evaluator.look_up(&noisy, &identity, padded(16), &mut ()).unwrap_err();
    assert_eq!(error.code(), "LIMIT", "{error}");
    assert!(evaluator.clone().accepting(0.0).look_up(&noisy, &identity, padded(16), &mut ()).is_ok());
    assert_eq!(evaluator.weighted_sum(&[(i64::MIN, &x[0])], 0).unwrap_err().code(), "LIMIT");
    let code = |outcome: Result<CggiCiphertext, refloat::Error>| outcome.unwrap_err().code();
    assert_eq!(code(evaluator.look_up(&x[0], &identity[..15], padded(16), &mut ())), "INVALID_ARGUMENT");
    assert_eq!(code(evaluator.look_up(&x[0], &identity, padded(15), &mut ())), "INVALID_ARGUMENT");
    assert_eq!(code(evaluator.look_up(&x[0], &identity, padded(100), &mut ())), "INVALID_ARGUMENT");
    assert_eq!(code(evaluator.weighted_sum(&[], 0)), "INVALID_ARGUMENT");
    assert_eq!(code(evaluator.weighted_sum(&[(1, &x[0])], 16)), "INVALID_ARGUMENT");
    let other = all(padded(8));
    assert_eq!(code(evaluator.weighted_sum(&[(1, &x[0]), (1, &other[0])], 0)), "INVALID_ARGUMENT");
    let bit = secret.encrypt_bit(true, &Seed::from_bytes([12; 32]));
    assert_eq!(code(evaluator.weighted_sum(&[(1, &bit)], 0)), "INVALID_ARGUMENT");
    assert_eq!(code(evaluator.add_padding(&x[0], &mut ())), "INVALID_ARGUMENT");
}
