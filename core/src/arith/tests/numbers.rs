//! Single residues, primes, large integers, complex numbers.

use super::{Random, primes_for};
use crate::arith::complex::{Complex, SpecialFft};
use crate::arith::{Modulus, Word, bigint, primes};

fn residues_against_wide_integers<W: Word>() {
    let mut random = Random::new(1);
    let mut moduli = primes_for::<W>(2);
    moduli.extend([3, 5, 9].map(|p| Modulus::<W>::new(p).unwrap()));
    moduli.push(Modulus::new((1 << W::MAX_MODULUS_BITS) - 1).unwrap());
    for m in &moduli {
        let p = m.value_u64();
        let wide_p = u128::from(p);
        let mut samples = vec![0, 1, 2 % p, p - 1, p - 2, p / 2, p / 2 + 1];
        samples.extend((0..50).map(|_| random.below(p)));
        for &a in &samples {
            let word = W::from_u64(a);
            assert_eq!(m.neg(word).to_u64(), (p - a) % p);
            let centered = m.centered(word);
            assert!(2 * i128::from(centered) > -i128::from(p) && 2 * i128::from(centered) <= i128::from(p));
            assert_eq!(i128::from(centered).rem_euclid(i128::from(p)), i128::from(a));
            let shoup = m.shoup(word);
            for &b in &samples {
                let other = W::from_u64(b);
                let (wide_a, wide_b) = (u128::from(a), u128::from(b));
                assert_eq!(u128::from(m.add(word, other).to_u64()), (wide_a + wide_b) % wide_p);
                assert_eq!(u128::from(m.sub(word, other).to_u64()), (wide_a + wide_p - wide_b) % wide_p);
                assert_eq!(u128::from(m.mul(word, other).to_u64()), wide_a * wide_b % wide_p);
                assert_eq!(u128::from(m.mul_shoup(other, &shoup).to_u64()), wide_a * wide_b % wide_p);
            }
            // Any word may be multiplied by a Shoup factor, not only residues.
            let any = random.next() >> (64 - W::BITS);
            for any in [any, u64::MAX >> (64 - W::BITS)] {
                let expected = u128::from(any) * u128::from(a) % wide_p;
                assert_eq!(u128::from(m.mul_shoup(W::from_u64(any), &shoup).to_u64()), expected);
            }
        }
        for x in [0, 1, p - 1, p, p + 1, 2 * p, u64::MAX, u64::MAX - 1, 1 << 63, random.next(), random.next()]
        {
            assert_eq!(m.reduce_u64(x).to_u64(), x % p);
            let signed = x as i64;
            assert_eq!(
                i128::from(m.reduce_i64(signed).to_u64()),
                i128::from(signed).rem_euclid(i128::from(p))
            );
            for y in [0, 1, p, u64::MAX, random.next()] {
                let wide = (u128::from(x) << 64) | u128::from(y);
                assert_eq!(u128::from(m.reduce_u128(wide).to_u64()), wide % wide_p);
                let signed = wide as i128;
                assert_eq!(i128::from(m.reduce_i128(signed).to_u64()), signed.rem_euclid(i128::from(p)));
            }
        }
        if primes::is_prime(p) {
            assert_eq!(m.inv(W::ZERO), None);
            for &a in samples.iter().filter(|&&a| a != 0) {
                let inverse = m.inv(W::from_u64(a)).unwrap();
                assert_eq!(m.mul(inverse, W::from_u64(a)), W::ONE);
            }
        }
        assert!((m.log2() - (p as f64).log2()).abs() < 1e-12);
    }
}

#[test]
fn residues_u32() {
    residues_against_wide_integers::<u32>();
}

#[test]
fn residues_u64() {
    residues_against_wide_integers::<u64>();
}

#[test]
fn unusable_moduli_are_refused() {
    for p in [0, 1, 2, 4, 1 << 31, (1 << 31) + 1, u64::MAX] {
        assert!(Modulus::<u32>::new(p).is_err(), "{p}");
    }
    for p in [0, 1, 2, 4, 1 << 61, (1 << 61) + 1, u64::MAX] {
        assert!(Modulus::<u64>::new(p).is_err(), "{p}");
    }
}

#[test]
fn primality() {
    let sieve: Vec<u64> = (2..2000u64).filter(|&x| (2..x).all(|d| x % d != 0)).collect();
    assert_eq!((0..2000).filter(|&x| primes::is_prime(x)).collect::<Vec<_>>(), sieve);
    // Carmichael numbers, and the largest 64-bit prime with its neighbours.
    for composite in [561, 41041, 825_265, 3_215_031_751, 3_825_123_056_546_413_051, u64::MAX] {
        assert!(!primes::is_prime(composite), "{composite}");
    }
    assert!(primes::is_prime(18_446_744_073_709_551_557));
    assert!(primes::is_prime((1 << 61) - 1));
}

#[test]
fn transform_primes_alternate_and_are_distinct() {
    for (bits, two_n) in
        [(28.45f64, 1 << 14), (30.99, 1 << 12), (60.0, 1 << 17), (61.0, 1 << 14), (2.0, 2), (14.3, 1 << 10)]
    {
        let centre = bits.exp2();
        let found: Vec<u64> = primes::ntt_primes(bits, two_n).take(40).collect();
        let mut sorted = found.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), found.len());
        assert!(found.iter().all(|&p| primes::is_prime(p) && p % two_n == 1 % two_n && p < 1 << 61));
        // No prime between the extremes is skipped.
        let (low, high) = (sorted[0], *sorted.last().unwrap());
        let between =
            (0..=(high - low) / two_n).map(|k| low + k * two_n).filter(|&p| primes::is_prime(p)).count();
        assert_eq!(between, found.len());
        if bits < 60.5 && bits > 20.0 {
            assert!(found.iter().step_by(2).all(|&p| p as f64 > centre));
            assert!(found.iter().skip(1).step_by(2).all(|&p| p as f64 <= centre));
        }
    }
    assert_eq!(primes::ntt_primes(30.0, 0).next(), None);
    assert_eq!(primes::ntt_primes(f64::NAN, 4).next(), None);
    assert_eq!(primes::ntt_primes(62.0, 4).next(), None);
    assert_eq!(primes::ntt_primes(3.0, u64::MAX).next(), None);
    assert!(primes::ntt_primes(61.0, 1 << 40).all(|p| p < 1 << 61));
}

#[test]
fn roots_have_their_order() {
    let m = Modulus::<u32>::new(12289).unwrap();
    for order in [1u64, 2, 3, 4, 6, 12, 4096, 12288] {
        let root = primes::primitive_root(&m, order).unwrap();
        let first = (1..=order).find(|&e| m.pow(root, e) == 1).unwrap();
        assert_eq!(first, order);
    }
    for order in [0, 5, 8192, u64::MAX] {
        assert!(primes::primitive_root(&m, order).is_err());
    }
}

#[test]
fn large_integers() {
    let mut random = Random::new(3);
    let moduli: Vec<Modulus<u64>> =
        primes::ntt_primes(59.5, 1 << 10).take(9).map(|p| Modulus::new(p).unwrap()).collect();
    let crt = bigint::Crt::new(&moduli).unwrap();
    let factors: Vec<u64> = moduli.iter().map(Modulus::value_u64).collect();
    let log2: f64 = factors.iter().map(|&p| (p as f64).log2()).sum();
    assert!((bigint::log2(crt.product()) - log2).abs() < 1e-9);
    assert!((bigint::log2(&bigint::product(&factors[..1])) - (factors[0] as f64).log2()).abs() < 1e-12);
    assert!(moduli.iter().all(|m| bigint::rem(crt.product(), m) == 0));
    for _ in 0..50 {
        let residues: Vec<u64> = factors.iter().map(|&p| random.below(p)).collect();
        let value = crt.reconstruct(&residues);
        assert!(bigint::cmp(&value, crt.product()).is_lt());
        let back: Vec<u64> = moduli.iter().map(|m| bigint::rem(&value, m)).collect();
        assert_eq!(back, residues);
        let (negative, magnitude) = crt.reconstruct_centered(&residues);
        assert!(bigint::cmp(&bigint::sub(crt.product(), &magnitude), &magnitude).is_gt());
        for (m, &residue) in moduli.iter().zip(&residues) {
            let r = bigint::rem(&magnitude, m);
            assert_eq!(if negative { m.neg(r) } else { r }, residue);
        }
    }
    for x in [0i64, 1, -1, i64::MAX, i64::MIN + 1, -123_456_789] {
        let residues: Vec<u64> = moduli.iter().map(|m| m.reduce_i64(x)).collect();
        assert!((crt.reconstruct_f64(&residues) - x as f64).abs() <= f64::EPSILON * (x as f64).abs());
        assert_eq!(crt.reconstruct_centered(&residues).1.first().copied().unwrap_or(0), x.unsigned_abs());
    }
    assert!(bigint::Crt::new(&[moduli[0], moduli[1], moduli[0]]).is_err());
    assert_eq!(bigint::product(&[]), [1]);
    assert_eq!(bigint::to_f64(&[]).to_bits(), 0f64.to_bits());
    assert_eq!(bigint::to_f64(&[0, 1]).to_bits(), 2f64.powi(64).to_bits());
}

#[test]
fn roots_of_unity_are_exact_to_the_last_places() {
    for log in [0, 1, 2, 3, 4, 10, 16] {
        let order = 1u64 << log;
        for k in 0..order.min(2000) {
            let w = Complex::root_of_unity(k, order);
            let angle = std::f64::consts::TAU * (k as f64 / order as f64);
            assert!((w.re - angle.cos()).abs() < 8e-16 && (w.im - angle.sin()).abs() < 8e-16);
            assert!((w.norm_sqr() - 1.0).abs() < 4.5e-16);
            // Symmetries hold exactly, which a table of naive sines would not give.
            assert_eq!(Complex::root_of_unity(order - k, order), w.conj());
        }
    }
    assert_eq!(Complex::root_of_unity(1, 4), Complex::I);
    assert_eq!(Complex::root_of_unity(2, 4), -Complex::ONE);
}

#[test]
fn special_transform_against_the_definition() {
    let mut random = Random::new(4);
    for n in [2usize, 4, 8, 64, 512] {
        let fft = SpecialFft::new(n).unwrap();
        let slots = n / 2;
        assert_eq!(fft.slots(), slots);
        let coefficients: Vec<f64> = (0..n).map(|_| random.real()).collect();
        let packed: Vec<Complex> =
            (0..slots).map(|k| Complex::new(coefficients[k], coefficients[k + slots])).collect();
        let mut values = packed.clone();
        fft.forward(&mut values);
        let mut exponent = 1;
        for value in &values {
            let mut expected = Complex::ZERO;
            for (k, &c) in coefficients.iter().enumerate() {
                expected += Complex::root_of_unity(exponent * k as u64, 2 * n as u64).scale(c);
            }
            assert!((*value - expected).abs() < 1e-14 * n as f64, "{value:?} {expected:?}");
            exponent = exponent * 5 % (2 * n as u64);
        }
        fft.inverse(&mut values);
        for (value, expected) in values.iter().zip(&packed) {
            assert!((*value - *expected).abs() < 2e-15);
        }
    }
    for n in [0, 1, 3, 1 << 21] {
        assert!(SpecialFft::<Complex>::new(n).is_err());
    }
}

#[test]
fn special_transform_is_accurate_at_full_size() {
    let n = 1 << 16;
    let fft = SpecialFft::new(n).unwrap();
    let mut random = Random::new(5);
    let original: Vec<Complex> = (0..n / 2).map(|_| Complex::new(random.real(), random.real())).collect();
    let mut values = original.clone();
    fft.forward(&mut values);
    fft.inverse(&mut values);
    let rms = |x: &[Complex]| (x.iter().map(|z| z.norm_sqr()).sum::<f64>() / x.len() as f64).sqrt();
    let errors: Vec<Complex> = values.iter().zip(&original).map(|(a, b)| *a - *b).collect();
    // About half a unit in the last place per stage, adding up as a random walk.
    assert!(rms(&errors) < 1e-15 * rms(&original), "{}", rms(&errors) / rms(&original));
}
