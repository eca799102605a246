//! Links between the secrets of two rings.

use refloat::arith::{Modulus, Word};
use refloat::random::Seed;
use refloat::ring::{Basis, Coeff, Eval, Poly, SmallPoly, centered_f64, from_integers, switch_modulus};
use refloat::rlwe::lwe::LweSample;
use refloat::rlwe::{
    EncapsulationContext, EncapsulationDigits, KeySeeds, LinkSecret, PaddedSecret, Pair, SampleBlock,
    SparseSecret, link_samples,
};
use refloat::trace::Counters;
use refloat_tests::rns::{Lottery, primes};

use super::setup::{ERROR, assert_within, mean_square};

const N: usize = 512;
const SMALL: usize = 128;

fn ternary(n: usize, seed: u8) -> SmallPoly {
    SmallPoly::ternary(n, &mut Seed::from_bytes([seed; 32]).stream())
}

fn weight(z: &SmallPoly) -> f64 {
    z.coefficients().iter().map(|&c| f64::from(c).powi(2)).sum()
}

/// (m - a s, a) modulo one prime with uniform a.
fn exact<W: Word>(q: &Basis<W>, s: &SmallPoly, message: &[i64], lottery: &mut Lottery) -> Pair<W> {
    let a = lottery.poly(q).into_eval();
    let mut b = from_integers(q, message).into_eval();
    b.sub_assign(&a.mul(&s.to_poly(q).into_eval()));
    Pair { b, a }
}

fn message() -> Vec<i64> {
    (0..N as i64).map(|t| (t * 37) % 20_011 - 10_005).collect()
}

/// A ciphertext of `from` after the link to `to`.
fn linked<W: Word>(
    context: &EncapsulationContext<W>,
    x: &Pair<W>,
    (from, to): (&SmallPoly, &impl LinkSecret),
    seed: u8,
) -> [Poly<W, Coeff>; 2] {
    let seeds = KeySeeds::derive(&Seed::from_bytes([seed; 32]));
    let mut key = SampleBlock::zero(context.q0p(), 1, context.digit_count());
    let samples = link_samples(context, from, to, &seeds, [5; 4]);
    samples.iter().enumerate().for_each(|(j, sample)| key.set(j, sample));
    context.apply(x, &key, &mut Counters::default()).into()
}

/// Base and special prime of these sizes, and balanced digits.
fn context<W: Word>(bits: [f64; 2], count: usize) -> EncapsulationContext<W> {
    let primes = primes(N, &bits);
    let digits = EncapsulationDigits::Balanced { count };
    EncapsulationContext::new(N, &primes[..1], primes[1], digits).expect("sound")
}

/// The variance of the digits' spread, of the key's errors and of the division by p'.
fn expected_noise<W: Word>(context: &EncapsulationContext<W>, to: &SmallPoly) -> f64 {
    let [q0, special] = [0, 1].map(|i| context.q0p().modulus(i).value_u64() as f64);
    // Whole digits but for the last, which covers what is left.
    let (base, whole) = (f64::from(context.digit_bits()).exp2(), context.digit_count() - 1);
    let squares = whole as f64 * base.powi(2) + (q0 / base.powi(whole as i32)).powi(2);
    squares / 12.0 * N as f64 * ERROR / special.powi(2) + (1.0 + weight(to)) / 12.0
}

fn link_noise<W: Word, T: LinkSecret>(bits: [f64; 2], digits: usize, secrets: impl Fn(u8) -> (SmallPoly, T)) {
    let context = context::<W>(bits, digits);
    let (mut lottery, trials) = (Lottery::new(31), 12);
    let (mut measured, mut expected) = (0.0, 0.0);
    for trial in 0..trials {
        let (from, to) = secrets(trial);
        let x = exact(context.q0(), &from, &message(), &mut lottery);
        let [b, a] = linked(&context, &x, (&from, &to), 100 + trial);
        let mut phase = a.into_eval().mul(&to.small().to_poly(context.q0()).into_eval());
        phase.add_assign(&b.into_eval());
        let phase = centered_f64(&phase.into_coeff());
        let noise: Vec<f64> = phase.iter().zip(message()).map(|(x, m)| x - m as f64).collect();
        measured += mean_square(&noise) / f64::from(trials);
        expected += expected_noise(&context, to.small()) / f64::from(trials);
    }
    assert_within(measured, expected, &format!("{bits:?}, {digits} digits"));
}

fn padded(trial: u8) -> (SmallPoly, PaddedSecret) {
    (ternary(N, trial), PaddedSecret::new(&ternary(SMALL, 50 + trial), N).expect("it fits"))
}

fn sparse_of_spread(trial: u8) -> (SmallPoly, SparseSecret) {
    let mut stream = Seed::from_bytes([70 + trial; 32]).stream();
    let sparse = SmallPoly::sparse_ternary(N, 32, &mut stream);
    (ternary(SMALL, trial).spread(N / SMALL), SparseSecret::new(sparse))
}

#[test]
fn links_lead_to_the_other_secret_with_the_noise_of_the_formula() {
    link_noise::<u64, _>([30.0, 22.0], 1, padded);
    link_noise::<u64, _>([30.0, 15.0], 2, padded);
    link_noise::<u32, _>([28.0, 24.0], 1, padded);
    link_noise::<u64, _>([42.0, 60.0], 1, sparse_of_spread);
    link_noise::<u64, _>([42.0, 20.0], 3, sparse_of_spread);
}

/// A coefficient modulo q0 of a large ring as an LWE sample modulo p under a short key: modulus switch, link, extraction,
/// modulus switch.
#[test]
fn coefficients_become_samples_of_a_short_key() {
    let link = context::<u64>([30.0, 22.0], 1);
    let all = primes(N, &[42.0, 27.0]);
    let q0 = Basis::<u64>::new(N, &all[..1]).expect("a prime");
    let p = Modulus::<u32>::new(all[1]).expect("a prime");
    let (s, z) = (ternary(N, 1), ternary(SMALL, 2));
    let to = PaddedSecret::new(&z, N).expect("it fits");
    let mut lottery = Lottery::new(32);
    // In turns, k / 1000.
    let turns: Vec<f64> = (0..N).map(|t| ((t * 37) % 1000) as f64 / 1000.0).collect();
    let scaled: Vec<i64> = turns.iter().map(|t| (t * all[0] as f64) as i64).collect();
    let x = exact(&q0, &s, &scaled, &mut lottery);
    let down = |part: Poly<u64, Eval>| {
        let row = switch_modulus(part.into_coeff().row(0), q0.modulus(0), link.q0().modulus(0));
        Poly::<u64, Coeff>::from_rows(link.q0(), row).into_eval()
    };
    let x = Pair { b: down(x.b), a: down(x.a) };
    let [b, a] = linked(&link, &x, (&s, &to), 9);
    let rows = [&b, &a].map(|part| switch_modulus(part.row(0), link.q0().modulus(0), &p));
    let rounding = (1.0 + weight(&s)) / 12.0 + expected_noise(&link, &z);
    let link_q = link.q0().modulus(0).value_u64() as f64;
    let sigma =
        (rounding / link_q.powi(2) + (1.0 + weight(&z)) / 12.0 / (p.value_u64() as f64).powi(2)).sqrt();
    let mut squares = 0.0;
    for (index, &expected) in turns.iter().enumerate() {
        let sample = LweSample::extract_prefix(&p, [&rows[0], &rows[1]], index, SMALL);
        let product: i64 =
            sample.a.iter().zip(z.coefficients()).map(|(&a, &z)| i64::from(a) * i64::from(z)).sum();
        let phase = (i64::from(sample.b) + product).rem_euclid(p.value_u64() as i64);
        let error = phase as f64 / p.value_u64() as f64 - expected;
        squares += (error - error.round()).powi(2) / N as f64;
    }
    assert_within(squares, sigma.powi(2), "from CKKS to LWE");
}

#[test]
fn secrets_are_padded_and_spread() {
    let z = ternary(SMALL, 3);
    let padded = PaddedSecret::new(&z, N).expect("it fits");
    let (own, rest) = padded.small().coefficients().split_at(SMALL);
    assert!(own == z.coefficients() && rest == [0; N - SMALL]);
    assert!(PaddedSecret::new(&ternary(N, 3), SMALL).is_err());
    let spread = z.spread(4);
    assert_eq!(spread.coefficients().len(), N);
    for (i, &c) in spread.coefficients().iter().enumerate() {
        assert_eq!(c, if i % 4 == 0 { z.coefficients()[i / 4] } else { 0 });
    }
}
