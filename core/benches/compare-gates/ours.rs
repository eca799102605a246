//! refloat.

use std::hint::black_box;
use std::time::Instant;

use refloat::Error;
use refloat::arith::Word;
use refloat::bootstrapping::cggi::{CggiEvaluator, CggiKeys};
use refloat::params::{cggi_preset, CggiPreset};
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiParams, CggiSecretKey, Encoding, Gate};

use crate::{Contender, Row};

/// Every secure Boolean set, and those for 3 and 4 bits.
pub fn contenders() -> Result<Vec<Contender>, Error> {
    let (padded, cyclic) = (Encoding::Padded { messages: 16 }, Encoding::Cyclic { messages: 8 });
    let gates = CggiPreset::all().iter().filter(|set| set.secure() && (set.spec)().messages == 2);
    let mut contenders = gates.map(|set| gate(set.name)).collect::<Result<Vec<Contender>, Error>>()?;
    contenders.push(look_up::<u32>("fbs16", padded, Row::FourBits)?);
    contenders.push(look_up::<u64>("fbs16-50", padded, Row::FourBits)?);
    contenders.push(look_up::<u32>("fbs8", cyclic, Row::ModuloEight)?);
    contenders.push(look_up::<u64>("fbs8-50", cyclic, Row::ModuloEight)?);
    Ok(contenders)
}

/// A key pair, and the seconds that making the evaluation keys took.
fn keys<W: Word>(params: &CggiParams<W>) -> Result<(CggiSecretKey<W>, CggiEvaluator<W>, f64), Error> {
    let secret = CggiSecretKey::generate(params, &Seed::from_bytes([1; 32]));
    let start = Instant::now();
    let evaluator = CggiEvaluator::new(CggiKeys::generate(&secret)?);
    Ok((secret, evaluator, start.elapsed().as_secs_f64()))
}

fn gate(name: &str) -> Result<Contender, Error> {
    let params = cggi_preset(name)?.params()?;
    let (secret, evaluator, keys) = keys(&params)?;
    for (i, (x, y)) in (2..).zip([(false, false), (false, true), (true, false), (true, true)]) {
        let bits = secret.encrypt_bits(&[x, y], &Seed::from_bytes([i; 32]));
        let result = evaluator.gate(Gate::Nand, &[&bits[0], &bits[1]], &mut ())?;
        assert_eq!(secret.decrypt_bit(&result)?, !(x && y), "refloat {name}");
    }
    let bits = secret.encrypt_bits(&[true, true], &Seed::from_bytes([6; 32]));
    Ok(Contender {
        row: Row::Gate,
        name: format!("refloat {name}"),
        failure: format!("2^{:.0}", params.gate_failure()),
        keys,
        run: Box::new(move || {
            let result = evaluator.gate(Gate::Nand, &[black_box(&bits[0]), &bits[1]], &mut ());
            drop(black_box(result));
        }),
        seconds: Vec::new(),
    })
}

fn look_up<W: Word>(name: &str, encoding: Encoding, row: Row) -> Result<Contender, Error> {
    let params = cggi_preset(name)?.params_over::<W>()?;
    let (secret, evaluator, keys) = keys(&params)?;
    let t = encoding.messages();
    let table: Vec<u32> = (0..t).map(|m| (7 * m + m * m) % t).collect();
    let messages: Vec<u32> = (0..t).collect();
    let ciphertexts = secret.encrypt(encoding, &messages, &Seed::from_bytes([2; 32]))?;
    for (m, ciphertext) in ciphertexts.iter().enumerate() {
        let result = evaluator.look_up(ciphertext, &table, encoding, &mut ())?;
        assert_eq!(secret.decrypt(&result)?, table[m], "refloat {name} of {m}");
    }
    let ciphertext = ciphertexts[3].clone();
    Ok(Contender {
        row,
        name: format!("refloat {name}"),
        failure: format!("2^{:.0}", params.spec().log_failure),
        keys,
        run: Box::new(move || {
            drop(black_box(evaluator.look_up(black_box(&ciphertext), &table, encoding, &mut ())));
        }),
        seconds: Vec::new(),
    })
}
