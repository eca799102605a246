//! The encapsulation under a sparse secret.

use num_bigint::BigInt;
use refloat::arith::Word;
use refloat::ring::{SmallPoly, centered_f64};
use refloat::rlwe::{EncapsulationContext, EncapsulationDigits, LinkSecret, SampleBlock, SparseSecret};
use refloat::trace::Counters;
use refloat_tests::ring::{centred, product};
use refloat_tests::rns::{Lottery, primes};

use super::setup::{ERROR, Keys, assert_within, mean_square, spec};

fn encapsulation_digits_are_exact<W: Word>(q0: &[f64], digits: EncapsulationDigits) {
    let n = 32;
    let all = primes(n, &[q0, &[30.0]].concat());
    let (q0, special) = all.split_at(q0.len());
    let context = EncapsulationContext::<W>::new(n, q0, special[0], digits).expect("sound");
    let modulus = product(q0);
    let mut lottery = Lottery::new(17);
    let half = (&modulus - 1i64) / 2i64;
    let mut values: Vec<BigInt> = [0i64, 1, -1].map(BigInt::from).into();
    values.extend([half.clone(), -&half, half - 1i64]);
    values.resize_with(n, || lottery.centred(&modulus));
    let a = refloat_tests::rns::from_big(context.q0(), &values);
    let found = context.decompose(&a);
    assert_eq!(found.len(), context.digit_count());
    let w = context.digit_bits();
    for (t, value) in values.iter().enumerate() {
        if digits == EncapsulationDigits::PerPrime {
            for (&p, digit) in q0.iter().zip(&found) {
                assert_eq!(BigInt::from(digit[t]), centred(value, &p.into()));
            }
        } else {
            let sum: BigInt = found.iter().rev().fold(BigInt::ZERO, |sum, digit| (sum << w) + digit[t]);
            assert_eq!(sum, *value, "digits of {value}");
        }
        // Balanced: at most half the base, the last one a carry more.
        let largest = 1i64 << (w - 1);
        assert!(found.iter().all(|digit| digit[t].abs() <= largest + 1), "{value}");
    }
}

#[test]
fn encapsulation_digits_recompose_exactly() {
    for count in [1, 2, 3, 5, 16] {
        encapsulation_digits_are_exact::<u32>(&[26.7], EncapsulationDigits::Balanced { count });
        encapsulation_digits_are_exact::<u64>(&[60.9], EncapsulationDigits::Balanced { count });
        encapsulation_digits_are_exact::<u32>(&[8.0], EncapsulationDigits::Balanced { count });
    }
    encapsulation_digits_are_exact::<u32>(&[26.7], EncapsulationDigits::PerPrime);
    encapsulation_digits_are_exact::<u32>(&[20.0, 21.0, 31.0], EncapsulationDigits::PerPrime);
}

/// h coefficients ± 1, spread out.
pub fn sparse(n: usize, h: usize) -> SparseSecret {
    let mut coefficients = vec![0i8; n];
    for k in 0..h {
        coefficients[k * n / h + k % 5] = if k % 3 == 0 { -1 } else { 1 };
    }
    SparseSecret::new(SmallPoly::from_coefficients(coefficients))
}

fn encapsulation_noise<W: Word>(q0: &[f64], special: f64, digits: EncapsulationDigits) {
    let (n, h) = (512, 31);
    let chain = spec(n, &[q0, &[25.0]], &[special, 30.0], &[&(0..=q0.len()).collect::<Vec<_>>()]);
    let (base, prime) = (&chain.levels[0], chain.special[0]);
    let context = EncapsulationContext::<W>::new(n, base, prime, digits).expect("sound");
    // The spread of uniform digits: the whole base but for the last, which covers what is left.
    let count = context.digit_count();
    let whole = base.iter().map(|&p| p as f64).product::<f64>();
    let width = |j: usize| match digits {
        EncapsulationDigits::PerPrime => base[j] as f64,
        EncapsulationDigits::Balanced { .. } if j + 1 < count => f64::from(context.digit_bits()).exp2(),
        EncapsulationDigits::Balanced { .. } => whole / (f64::from(context.digit_bits()) * j as f64).exp2(),
    };
    let squares: f64 = (0..count).map(|j| width(j).powi(2)).sum();
    let expected = squares / 12.0 * n as f64 * ERROR / (prime as f64).powi(2) + (1.0 + h as f64) / 12.0;
    let mut lottery = Lottery::new(18);
    let mut measured = 0.0;
    let trials = 12;
    for trial in 0..trials {
        let keys = Keys::<W>::new(&chain, 80 + trial);
        let secret = sparse(n, h);
        let samples = secret.encapsulation_samples(&context, &keys.secret, &keys.seeds, [3; 4]);
        let mut key = SampleBlock::zero(context.q0p(), 1, count);
        samples.iter().enumerate().for_each(|(j, sample)| key.set(j, sample));
        let message: Vec<i64> = (0..n as i64).map(|t| (t * 37) % 1001 - 500).collect();
        let x = keys.exact(0, &message, &mut lottery);
        let mut counters = Counters::default();
        let (b, a) = context.apply(&x, &key, &mut counters);
        let mut phase = a.into_eval().mul(&secret.small().to_poly(context.q0()).into_eval());
        phase.add_assign(&b.into_eval());
        let phase = centered_f64(&phase.into_coeff());
        let noise: Vec<f64> = phase.iter().zip(&message).map(|(x, &m)| x - m as f64).collect();
        measured += mean_square(&noise) / f64::from(trials);
        assert_eq!(counters.key_switch, 1);
    }
    assert_within(measured, expected, &format!("{digits:?}, {} primes", q0.len()));
}

#[test]
fn encapsulated_ciphertexts_decrypt_under_the_sparse_secret() {
    encapsulation_noise::<u32>(&[27.0], 28.0, EncapsulationDigits::Balanced { count: 1 });
    encapsulation_noise::<u32>(&[27.0], 15.5, EncapsulationDigits::Balanced { count: 2 });
    encapsulation_noise::<u32>(&[24.0], 14.0, EncapsulationDigits::Balanced { count: 3 });
    encapsulation_noise::<u32>(&[20.0, 21.0], 22.0, EncapsulationDigits::PerPrime);
    encapsulation_noise::<u64>(&[50.0], 52.0, EncapsulationDigits::Balanced { count: 1 });
}
