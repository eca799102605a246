//! The encoder against the canonical embedding.

use num_complex::Complex64;
use refloat::schemes::ckks::{Complex, Encoder, Scale, round_ties_even};
use refloat_tests::embedding;
use refloat_tests::rns::Lottery;

use super::setup::{WORST, largest, ours, pairwise, refused, slots, theirs};

#[test]
fn the_encoder_is_the_canonical_embedding() {
    let mut lottery = Lottery::new(1);
    for log_n in 3..=10 {
        let n = 1usize << log_n;
        let encoder = Encoder::new(n).expect("a power of two");
        let z = slots(n / 2, &mut lottery);
        let bound = log_n as f64 * 2f64.powi(-50);
        let size = largest(z.iter().map(|z| z.norm()));
        let coefficients = encoder.coefficients(&ours(&z)).expect("they fit");
        let exact = embedding::coefficients(&z);
        let error = largest(coefficients.iter().zip(&exact).map(|(x, y)| x - y));
        assert!(error <= bound * size, "N = {n}: {error:e}");
        // Back, from coefficients of size one: slots as large as sqrt(N).
        let p: Vec<f64> = (0..n).map(|_| lottery.unit()).collect();
        let (found, exact) = (encoder.decode(&p, Scale::new(4.0)), embedding::slots(&p));
        let size = largest(exact.iter().map(|z| z.norm()));
        let error = largest(theirs(&found).iter().zip(&exact).map(|(x, y)| (x * 4.0 - y).norm()));
        assert!(error <= bound * size, "N = {n}: {error:e}");
    }
}

#[test]
fn encoding_rounds_coefficients_and_decoding_returns_slots() {
    let mut lottery = Lottery::new(2);
    for (log_n, log_scale) in [(3, 20.0), (6, 40.0), (10, 22.15), (13, 30.0), (15, 50.0)] {
        let (n, scale) = (1usize << log_n, Scale::exp2(log_scale));
        let encoder = Encoder::new(n).expect("a power of two");
        let z = slots(n / 2, &mut lottery);
        let real = encoder.coefficients(&ours(&z)).expect("they fit");
        let integers = encoder.encode(&ours(&z), scale).expect("they fit");
        for (&i, &x) in integers.iter().zip(&real) {
            assert!((i as f64 - x * scale.to_f64()).abs() <= 0.5 + 2f64.powi(-20), "{i} from {x}");
        }
        let doubles: Vec<f64> = integers.iter().map(|&i| i as f64).collect();
        let back = theirs(&encoder.decode(&doubles, scale));
        let rounding = WORST * (n as f64 / 12.0).sqrt() / scale.to_f64() + f64::from(log_n) * 2f64.powi(-50);
        assert!(largest(pairwise(&back, &z, |x, y| x - y).iter().map(|e| e.norm())) <= rounding, "N = {n}");
        // Fewer values mean zeros in the other slots.
        let mut padded = z[..2].to_vec();
        padded.resize(n / 2, Complex64::new(0.0, 0.0));
        assert_eq!(encoder.encode(&ours(&z[..2]), scale), encoder.encode(&ours(&padded), scale));
    }
    let encoder = Encoder::new(16).expect("a power of two");
    let i = encoder.encode(&[Complex { re: 0.0, im: 3.0 }; 8], Scale::new(1.0)).expect("small");
    assert_eq!(i, [0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0], "3i is 3 X^(N/2)");
}

#[test]
fn rounding_is_to_nearest_and_ties_to_even() {
    let near = [(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, 0.0), (-1.5, -2.0), (0.49, 0.0), (7.51, 8.0)];
    for (x, rounded) in near {
        assert_eq!(round_ties_even(x).to_bits() << 1, f64::to_bits(rounded) << 1, "{x}");
    }
    let mut lottery = Lottery::new(3);
    for _ in 0..20_000 {
        // Every size of number, halves included.
        let x =
            (lottery.word() as i64 >> (lottery.word() % 64)) as f64 / (1u64 << (lottery.word() % 12)) as f64;
        assert_eq!(round_ties_even(x).to_bits() << 1, x.round_ties_even().to_bits() << 1, "{x}");
    }
    for x in [2f64.powi(51) + 0.5, 2f64.powi(51) + 1.5, 2f64.powi(52) - 0.5, 2f64.powi(53) + 2.0] {
        assert_eq!((round_ties_even(x), round_ties_even(-x)), (x.round_ties_even(), -x.round_ties_even()));
    }
}

#[test]
fn the_encoder_refuses_what_it_cannot_hold() {
    let encoder = Encoder::new(16).expect("a power of two");
    let (one, scale) = ([Complex { re: 1.0, im: 0.0 }; 9], Scale::new(1024.0));
    refused(encoder.encode(&one, scale), "INVALID_ARGUMENT", &["9 values", "8 slots"]);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let z = [one[0], Complex { re: 0.0, im: bad }];
        refused(encoder.encode(&z, scale), "INVALID_ARGUMENT", &["value 1", "not a finite number"]);
    }
    let huge = [Complex { re: f64::MAX, im: 0.0 }];
    refused(encoder.encode(&huge, scale), "INVALID_ARGUMENT", &["2^61"]);
    refused(
        encoder.encode(&[Complex { re: 2f64.powi(61), im: 0.0 }; 8], Scale::new(1.0)),
        "INVALID_ARGUMENT",
        &["2^61.0"],
    );
    assert!(encoder.encode(&[Complex { re: 2f64.powi(60), im: 0.0 }; 8], Scale::new(1.0)).is_ok());
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(encoder.encode(&one[..1], Scale::new(bad)), "INVALID_ARGUMENT", &["scale", "positive"]);
    }
    for n in [0, 1, 3, 1000] {
        refused(Encoder::new(n), "INVALID_ARGUMENT", &[&n.to_string()]);
    }
}
