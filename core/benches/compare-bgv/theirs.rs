//! Arithmetic of fhe.rs (BFV) and of Lattigo (BGV), a Go program.

use std::{error::Error, path::Path, process::Command};

use fhe::bfv::{
    BfvParametersBuilder, Ciphertext, Encoding, EvaluationKeyBuilder, Plaintext, RelinearizationKey,
    SecretKey,
};
use fhe_traits::{FheDecoder, FheDecrypter, FheEncoder, FheEncrypter};

use crate::{Operations, PRIME, least, message, rotated, wrong};

/// Five primes of 57 or 58 bits; no special primes, as the library has it.
pub fn fhe_rs(rounds: usize) -> Result<Operations, Box<dyn Error>> {
    let sizes = [58, 58, 57, 57, 57];
    let params = BfvParametersBuilder::new()
        .set_degree(1 << 15)
        .set_plaintext_modulus(PRIME)
        .set_moduli_sizes(&sizes)
        .build_arc()?;
    let mut rng = rand::rng();
    let secret = SecretKey::random(&params, &mut rng);
    let relinearization = RelinearizationKey::new(&secret, &mut rng)?;
    let rotations = EvaluationKeyBuilder::new(&secret)?.enable_column_rotation(1)?.build(&mut rng)?;
    let values = message(params.degree());
    let (encrypt, x) = least(rounds, || {
        let plaintext = Plaintext::try_encode(&values, Encoding::simd(), &params)?;
        let x: Ciphertext = secret.try_encrypt(&plaintext, &mut rng)?;
        Ok::<_, fhe::Error>(x)
    });
    let x = x?;
    let (add, sum) = least(rounds, || &x + &x);
    let (multiply, square) = least(rounds, || {
        let mut square = &x * &x;
        relinearization.relinearizes(&mut square)?;
        Ok::<_, fhe::Error>(square)
    });
    let (rotate, turned) = least(rounds, || rotations.rotates_columns_by(&x, 1));
    let decrypt = |x: &Ciphertext| {
        let plaintext = secret.try_decrypt(x)?;
        Vec::<u64>::try_decode(&plaintext, Encoding::simd())
    };
    let wrong = wrong(&decrypt(&sum)?, |i| 2 * values[i] % PRIME)
        + wrong(&decrypt(&square?)?, |i| values[i] * values[i] % PRIME)
        + wrong(&decrypt(&turned?)?, |i| rotated(&values, i));
    let log_q = params.moduli().iter().map(|&q| (q as f64).log2()).sum();
    Ok(Operations { name: "fhe.rs 0.1.1 (BFV)", log_q, encrypt, add, multiply, rotate, wrong })
}

/// A chain of primes as `bgv15` has it below the end of a bootstrap, and its three special ones.
pub fn lattigo(rounds: usize) -> Result<Operations, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("lattigo");
    let output =
        Command::new("go").args(["run", ".", "-rounds", &rounds.to_string()]).current_dir(folder).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let field = |name: &str| -> Result<f64, Box<dyn Error>> {
        let after = text.split_once(&format!("\"{name}\":")).ok_or_else(|| format!("no {name} in {text}"))?.1;
        let end = after.find([',', '}']).unwrap_or(after.len());
        Ok(after[..end].parse()?)
    };
    Ok(Operations {
        name: "Lattigo 6.2 (BGV)",
        log_q: field("log_q")?,
        encrypt: field("encrypt")?,
        add: field("add")?,
        multiply: field("multiply")?,
        rotate: field("rotate")?,
        wrong: field("wrong")? as usize,
    })
}
