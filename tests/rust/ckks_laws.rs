//! Laws of CKKS against the canonical embedding by definition: encoding, encryption noise, every
//! operation on slots, exact scales, levels of one and of several primes, both words; and what each
//! mismatch is called.

use num_bigint::BigInt;
use num_complex::Complex64;
use num_traits::{Pow, Signed};
use proptest::prelude::*;
use refloat::Error;
use refloat::arith::Word;
use refloat::random::Seed;
use refloat::ring::{Automorphism, GaloisElement, Poly, centered_f64, from_integers};
use refloat::rlwe::{KeySeeds, RlweSpec, SampleBlock, SecretKey};
use refloat::schemes::ckks::{
    Ciphertext, CkksContext, CkksEvaluator, Complex, Encoder, Plaintext, PublicKey, Scale, decrypt_slots,
    encrypt, public_key_b, round_ties_even,
};
use refloat::security::{SecretDistribution, SecurityPolicy};
use refloat::trace::Counters;
use refloat::wire::{ciphertext_from_bytes, ciphertext_len, ciphertext_to_bytes};
use refloat_tests::embedding;
use refloat_tests::ring::product;
use refloat_tests::rns::{Lottery, primes};

/// Variance of a coefficient of an error: CBD(21).
const ERROR: f64 = 10.5;
/// Standard deviations that no slot of these deterministic runs may exceed: the largest of a few
/// thousand complex values, and secrets whose spectrum has peaks.
const WORST: f64 = 12.0;
const KEY_ID: [u8; 16] = *b"key of the tests";

fn spec(n: usize, levels: &[&[f64]], special: &[f64]) -> RlweSpec {
    let mut all = primes(n, &[&levels.concat(), special].concat()).into_iter();
    let mut take = |count: usize| all.by_ref().take(count).collect::<Vec<u64>>();
    let levels: Vec<Vec<u64>> = levels.iter().map(|level| take(level.len())).collect();
    let special = take(special.len());
    // One digit per level.
    let mut next = 0;
    let digits = levels.iter().map(|level| {
        next += level.len();
        (next - level.len()..next).collect()
    });
    let digits = digits.collect();
    RlweSpec {
        n,
        levels,
        special,
        digits,
        secret: SecretDistribution::Ternary,
        policy: SecurityPolicy::InsecureForTests,
    }
}

/// 31-bit words, one prime per level, scale 2^25.
fn single(n: usize) -> (RlweSpec, Scale) {
    (spec(n, &[&[30.9], &[25.0], &[25.3], &[24.8]], &[30.5]), Scale::exp2(25.0))
}

/// 31-bit words, two primes per level, scale near 2^41 and no power of two.
fn double(n: usize) -> (RlweSpec, Scale) {
    let levels: &[&[f64]] = &[&[30.0, 28.0], &[20.3, 20.8], &[20.0, 21.0], &[19.6, 21.4]];
    (spec(n, levels, &[30.9, 30.7]), Scale::from_integer(2_199_023_300_001))
}

/// 61-bit words, one prime per level, scale 2^45.
fn wide(n: usize) -> (RlweSpec, Scale) {
    (spec(n, &[&[60.0], &[45.0], &[45.2], &[44.9]], &[60.9]), Scale::exp2(45.0))
}

struct Toy<W: Word> {
    context: CkksContext<W>,
    evaluator: CkksEvaluator<W>,
    secret: SecretKey<W>,
    seeds: KeySeeds,
    relinearization: SampleBlock<W>,
    scale: Scale,
}

impl<W: Word> Toy<W> {
    fn new((spec, scale): &(RlweSpec, Scale), seed: u8) -> Self {
        let context = CkksContext::from_spec(spec).expect("a sound chain");
        let seed = Seed::from_bytes([seed; 32]);
        let secret = SecretKey::generate(context.rlwe(), &seed);
        let seeds = KeySeeds::derive(&seed);
        let top = context.rlwe().max_level();
        let relinearization = secret.relinearization_key(context.rlwe(), &seeds, top);
        Self {
            evaluator: CkksEvaluator::new(&context),
            context,
            secret,
            seeds,
            relinearization,
            scale: *scale,
        }
    }

    fn top(&self) -> usize {
        self.context.rlwe().max_level()
    }

    fn n(&self) -> usize {
        self.context.rlwe().n()
    }

    fn encrypt_at(&self, z: &[Complex64], level: usize, fresh: u8) -> Ciphertext<W> {
        let randomness = Seed::from_bytes([fresh; 32]);
        encrypt(&self.context, &self.secret, KEY_ID, &ours(z), level, self.scale, &randomness)
            .expect("slots of size one")
    }

    fn encrypt(&self, z: &[Complex64], fresh: u8) -> Ciphertext<W> {
        self.encrypt_at(z, self.top(), fresh)
    }

    fn decrypt(&self, x: &Ciphertext<W>) -> Vec<Complex64> {
        let slots = decrypt_slots(&self.context, &self.secret, KEY_ID, x).expect("our own");
        slots.reveal_to_key_owner().iter().map(|z| Complex64::new(z.re, z.im)).collect()
    }

    fn plain(&self, z: &[Complex64], level: usize) -> Plaintext<W> {
        self.evaluator.encode(&ours(z), level, self.scale).expect("slots of size one")
    }

    fn galois(&self, g: &Automorphism, level: usize) -> SampleBlock<W> {
        self.secret.galois_key(self.context.rlwe(), &self.seeds, level, g.element())
    }

    /// Slot size of a coefficient variance at the base scale.
    fn slot(&self, variance: f64) -> f64 {
        (self.n() as f64 * variance).sqrt() / self.scale.to_f64()
    }

    fn weight(&self) -> f64 {
        self.secret.small().coefficients().iter().map(|&c| f64::from(c).powi(2)).sum()
    }

    fn rounding(&self) -> f64 {
        (1.0 + self.weight()) / 12.0
    }

    fn switching(&self, level: usize) -> f64 {
        let spec = self.context.rlwe().spec();
        let size = |primes: &[u64]| primes.iter().map(|&p| p as f64).product::<f64>();
        let squares: f64 = spec.levels[..=level].iter().map(|p| size(p).powi(2)).sum();
        squares / 12.0 * self.n() as f64 * ERROR / size(&spec.special).powi(2) + self.rounding()
    }

    fn assert_holds(&self, x: &Ciphertext<W>, expected: &[Complex64], deviation: f64, what: &str) {
        let found = self.decrypt(x);
        assert_eq!(found.len(), expected.len());
        for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
            let error = (found - expected).norm();
            let allowed = WORST * deviation;
            assert!(error <= allowed, "{what}, slot {k}: {found} is not {expected}: {error:e} > {allowed:e}");
        }
    }
}

fn ours(z: &[Complex64]) -> Vec<Complex> {
    z.iter().map(|z| Complex { re: z.re, im: z.im }).collect()
}

fn theirs(z: &[Complex]) -> Vec<Complex64> {
    z.iter().map(|z| Complex64::new(z.re, z.im)).collect()
}

fn slots(count: usize, lottery: &mut Lottery) -> Vec<Complex64> {
    (0..count).map(|_| Complex64::new(lottery.unit(), lottery.unit())).collect()
}

fn pairwise(
    x: &[Complex64],
    y: &[Complex64],
    f: impl Fn(Complex64, Complex64) -> Complex64,
) -> Vec<Complex64> {
    x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect()
}

fn largest(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().fold(0.0, |m, x| if x.is_nan() { x } else { m.max(x.abs()) })
}

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

fn refused<T>(result: Result<T, Error>, code: &str, sides: &[&str]) {
    let error = result.err().unwrap_or_else(|| panic!("accepted; {code} expected, naming {sides:?}"));
    assert_eq!(error.code(), code, "{error}");
    for side in sides {
        assert!(error.to_string().contains(side), "{error:?} does not name {side:?}");
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

/// b + a s, centred, less the encoded message: the error in each coefficient.
fn errors<W: Word>(toy: &Toy<W>, x: &Ciphertext<W>, z: &[Complex64]) -> Vec<f64> {
    let q = toy.context.rlwe().q(x.level());
    let mut phase = x.parts()[1].mul(&toy.secret.modulo_q(q));
    phase.add_assign(&x.parts()[0]);
    let message = toy.context.encoder().encode(&ours(z), x.scale()).expect("it fitted before");
    phase.sub_assign(&from_integers(q, &message).into_eval());
    centered_f64(&phase.into_coeff())
}

fn encryption_noise<W: Word>(chain: &(RlweSpec, Scale)) {
    let mut lottery = Lottery::new(4);
    let (mut secret, mut public, mut expected) = (0.0, 0.0, 0.0);
    let trials = 8;
    for trial in 0..trials {
        let toy = Toy::<W>::new(chain, trial);
        let z = slots(toy.context.slots(), &mut lottery);
        let level = usize::from(trial) % (toy.top() + 1);
        let e = errors(&toy, &toy.encrypt_at(&z, level, 100 + trial), &z);
        assert!(largest(e.iter().copied()) <= 21.0 && e.iter().any(|&e| e != 0.0));
        secret += e.iter().map(|e| e * e).sum::<f64>() / e.len() as f64;

        let b = public_key_b(&toy.context, &toy.secret, &toy.seeds, toy.top());
        let key = PublicKey::new(&toy.context, KEY_ID, toy.top(), b, toy.seeds.public()).expect("our own");
        assert_eq!((key.level(), key.key_id()), (toy.top(), KEY_ID));
        let randomness = Seed::from_bytes([200 + trial; 32]);
        let x = key.encrypt(&toy.context, &ours(&z), level, toy.scale, &randomness).expect("our own");
        let e = errors(&toy, &x, &z);
        public += e.iter().map(|e| e * e).sum::<f64>() / e.len() as f64;
        // v e + e_0 + e_1 s, v uniform ternary.
        expected += ERROR * (2.0 * toy.n() as f64 / 3.0 + 1.0 + toy.weight());
        toy.assert_holds(&x, &z, toy.slot(expected / f64::from(trial + 1)), "public key");
    }
    let ratio = secret / (f64::from(trials) * ERROR);
    assert!((0.93..1.07).contains(&ratio), "secret key: {ratio} of the formula");
    let ratio = public / expected;
    assert!((0.85..1.15).contains(&ratio), "public key: {ratio} of the formula");
}

#[test]
fn fresh_noise_is_that_of_the_formulas() {
    encryption_noise::<u32>(&single(512));
    encryption_noise::<u64>(&wide(512));
}

fn operations_act_on_slots<W: Word>(chain: &(RlweSpec, Scale), seed: u8) {
    let toy = Toy::<W>::new(chain, seed);
    let (ev, top) = (&toy.evaluator, toy.top());
    let mut lottery = Lottery::new(seed.into());
    let count = toy.context.slots();
    let (x, y) = (slots(count, &mut lottery), slots(count, &mut lottery));
    let (cx, cy) = (toy.encrypt(&x, 1), toy.encrypt_at(&y, top - 1, 2));
    let fresh = toy.slot(ERROR);
    let encoding = toy.slot(1.0 / 12.0);
    let fresh_pair = 2.0 * fresh + 2.0 * encoding;
    toy.assert_holds(&cx, &x, fresh + encoding, "encryption");
    let sum = ev.add(&cx, &cy).expect("same key and scale");
    assert_eq!(sum.level(), top - 1, "the lower of the two");
    toy.assert_holds(&sum, &pairwise(&x, &y, |x, y| x + y), fresh_pair, "sum");
    let difference = ev.sub(&cy, &cx).expect("same key and scale");
    toy.assert_holds(&difference, &pairwise(&x, &y, |x, y| y - x), fresh_pair, "difference");
    toy.assert_holds(&ev.negate(&cx), &pairwise(&x, &x, |x, _| -x), fresh + encoding, "negation");

    // Plaintexts of the same level and of a higher one.
    for level in [top, top - 1] {
        let (plain, c) = (toy.plain(&y, top), ev.drop_to_level(&cx, level).expect("lower"));
        assert_eq!((c.level(), c.scale()), (level, cx.scale()));
        toy.assert_holds(&c, &x, fresh + encoding, "lower level");
        let sum = ev.add_plain(&c, &plain).expect("same scale");
        toy.assert_holds(&sum, &pairwise(&x, &y, |x, y| x + y), fresh_pair, "plain sum");
        let product = ev.mul_plain(&c, &plain).expect("a level below");
        assert_eq!(product.scale(), c.scale().mul(plain.scale));
        let xy = pairwise(&x, &y, |x, y| x * y);
        // Each side's error meets factors of size up to sqrt(2).
        toy.assert_holds(&product, &xy, 1.5 * fresh_pair, "plain product");
        let rescaled = ev.rescale(&product).expect("not at level 0");
        assert_eq!((rescaled.level(), rescaled.components()), (level - 1, 2));
        let rounding = (toy.n() as f64 * toy.rounding()).sqrt() / rescaled.scale().to_f64();
        toy.assert_holds(&rescaled, &xy, 1.5 * fresh_pair + rounding, "rescaled product");
    }

    products_act_on_slots(&toy, (&x, &cx), (&y, &cy), fresh_pair);

    // Automorphisms, at the level of the key and below it.
    for steps in [0, 1, 3, -1, count as i64 / 2] {
        let g = Automorphism::rotation(toy.n(), steps);
        let key = toy.galois(&g, top);
        for c in [&cx, &ev.drop_to_level(&cx, 0).expect("lower")] {
            let rotated = ev.automorphism(c, &g, &key, &mut Counters::default()).expect("the key is there");
            let mut expected = x.clone();
            expected.rotate_left(steps.rem_euclid(count as i64) as usize);
            let noise = fresh + encoding + toy.slot(toy.switching(c.level()));
            toy.assert_holds(&rotated, &expected, noise, "rotation");
        }
    }
    let g = Automorphism::conjugation(toy.n());
    let conjugate = ev.automorphism(&cx, &g, &toy.galois(&g, top), &mut Counters::default());
    let noise = fresh + encoding + toy.slot(toy.switching(top));
    toy.assert_holds(
        &conjugate.expect("the key is there"),
        &pairwise(&x, &x, |x, _| x.conj()),
        noise,
        "conj",
    );
}

fn products_act_on_slots<W: Word>(
    toy: &Toy<W>,
    (x, cx): (&[Complex64], &Ciphertext<W>),
    (y, cy): (&[Complex64], &Ciphertext<W>),
    fresh_pair: f64,
) {
    let (ev, level) = (&toy.evaluator, cy.level());
    let xy = pairwise(x, y, |x, y| x * y);
    let product = ev.multiply(cx, cy).expect("same key");
    assert_eq!((product.components(), product.level()), (3, level));
    assert_eq!(product.scale(), cx.scale().mul(cy.scale()));
    toy.assert_holds(&product, &xy, 1.5 * fresh_pair, "product of three components");
    // Three components add to two, on either side.
    let lone = ev.mul_plain(cx, &toy.plain(y, cx.level())).expect("a plaintext of the level");
    let twice = pairwise(&xy, &xy, |x, _| x * 2.0);
    for (left, right) in [(&product, &lone), (&lone, &product)] {
        let sum = ev.add(left, right).expect("same scale");
        assert_eq!(sum.components(), 3);
        toy.assert_holds(&sum, &twice, 3.0 * fresh_pair, "mixed sum");
        let nothing = vec![Complex64::new(0.0, 0.0); x.len()];
        toy.assert_holds(
            &ev.sub(left, right).expect("same scale"),
            &nothing,
            3.0 * fresh_pair,
            "mixed difference",
        );
    }
    let switching = |scale: Scale| (toy.n() as f64 * toy.switching(level)).sqrt() / scale.to_f64();
    let relinearized = ev.relinearize(&product, &toy.relinearization).expect("three components");
    assert_eq!((relinearized.components(), relinearized.scale()), (2, product.scale()));
    let noise = 1.5 * fresh_pair + switching(product.scale());
    toy.assert_holds(&relinearized, &xy, noise, "relinearised");
    let separate = ev.rescale(&relinearized).expect("not at level 0");
    let merged = ev.multiply_rescale(cx, cy, &toy.relinearization, &mut Counters::default());
    let merged = merged.expect("not at level 0");
    assert_eq!((merged.level(), merged.scale()), (level - 1, separate.scale()));
    let rounding = (toy.n() as f64 * toy.rounding()).sqrt() / merged.scale().to_f64();
    toy.assert_holds(&separate, &xy, noise + rounding, "relinearised, then rescaled");
    toy.assert_holds(&merged, &xy, noise + rounding, "relinearised and rescaled at once");
    // One rounding instead of two: they differ by less than one in each coefficient of each part.
    for (one, two) in merged.parts().iter().zip(separate.parts()) {
        let mut difference = one.clone();
        difference.sub_assign(two);
        assert!(largest(centered_f64(&difference.into_coeff())) <= 1.0);
    }
}

#[test]
fn operations_on_ciphertexts_act_on_slots() {
    operations_act_on_slots::<u32>(&single(64), 11);
    operations_act_on_slots::<u32>(&double(64), 12);
    operations_act_on_slots::<u64>(&double(64), 13);
    operations_act_on_slots::<u64>(&wide(64), 14);
    operations_act_on_slots::<u32>(&single(8), 15);
    operations_act_on_slots::<u64>(&wide(1024), 16);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_circuit_of_depth_one_holds(start: u64, steps in -40i64..40, level in 1usize..4, seed: u8) {
        let toy = Toy::<u32>::new(&double(16), seed);
        let mut lottery = Lottery::new(start);
        let (x, y, z) = (slots(8, &mut lottery), slots(8, &mut lottery), slots(8, &mut lottery));
        let g = Automorphism::rotation(16, steps);
        let key = toy.galois(&g, level);
        let ev = &toy.evaluator;
        let counters = &mut Counters::default();
        // rot(x y + z p), p = x too, with z p at the product's scale.
        let (cx, cy, cz) = (toy.encrypt_at(&x, level, 1), toy.encrypt_at(&y, 3, 2), toy.encrypt(&z, 3));
        let product = ev.multiply(&cx, &cy)?;
        let sum = ev.add(&product, &ev.mul_plain(&cz, &toy.plain(&x, 3))?)?;
        let flat = ev.rescale(&ev.relinearize(&sum, &toy.relinearization)?)?;
        let out = ev.automorphism(&flat, &g, &key, counters)?;
        prop_assert_eq!(out.level(), level - 1);
        let mut expected: Vec<_> = (0..8).map(|i| x[i] * y[i] + z[i] * x[i]).collect();
        expected.rotate_left(steps.rem_euclid(8) as usize);
        let rounding = (16.0 * (2.0 * toy.switching(level) + toy.rounding())).sqrt() / out.scale().to_f64();
        toy.assert_holds(&out, &expected, 8.0 * toy.slot(ERROR) + rounding, "circuit");
    }
}

/// Exactly: a double as an integer over 2^1100.
fn exact(x: f64) -> BigInt {
    let (bits, sign) = (x.abs().to_bits(), if x < 0.0 { -1 } else { 1 });
    let exponent = (bits >> 52) as i32;
    let mantissa = (bits & ((1 << 52) - 1)) | (u64::from(exponent > 0) << 52);
    (BigInt::from(mantissa) * sign) << (exponent.max(1) - 1075 + 1100)
}

fn scales_are_exact<W: Word>(chain: &(RlweSpec, Scale)) {
    let toy = Toy::<W>::new(chain, 21);
    let mut lottery = Lottery::new(21);
    let z: Vec<Complex64> = slots(toy.context.slots(), &mut lottery).iter().map(|z| z / z.norm()).collect();
    let mut x = toy.encrypt(&z, 1);
    let (mut numerator, mut denominator) = (exact(toy.scale.to_f64()) >> 1100u32, BigInt::from(1));
    let mut expected = z.clone();
    for level in (1..=toy.top()).rev() {
        x = toy
            .evaluator
            .multiply_rescale(&x, &x, &toy.relinearization, &mut Counters::default())
            .expect("a level");
        numerator = Pow::pow(numerator, 2u32);
        denominator = Pow::pow(denominator, 2u32) * product(&chain.0.levels[level]);
        expected = expected.iter().map(|z| z * z).collect();
        let (high, low) = x.scale().parts();
        // |scale · denominator - numerator| <= numerator 2^-95, over 2^1100.
        let difference: BigInt = (exact(high) + exact(low)) * &denominator - (&numerator << 1100u32);
        assert!(difference.abs() << 95u32 <= &numerator << 1100u32, "scale at level {}", x.level());
    }
    assert_eq!(x.level(), 0);
    // The powers of two nearby would be off by the ratio of the scales.
    let (scale, depth) = (x.scale().to_f64(), toy.top() as f64);
    let noise = toy.slot(ERROR) * 2f64.powf(depth)
        + 2f64.powf(depth + 1.0) * (toy.n() as f64 * (toy.rounding() + toy.switching(toy.top()))).sqrt()
            / scale;
    assert!(noise < 1e-2, "the test has room: {noise}");
    toy.assert_holds(&x, &expected, noise, "the eighth power");
}

#[test]
fn scales_stay_exact_at_any_depth() {
    scales_are_exact::<u32>(&double(32));
    scales_are_exact::<u64>(&double(32));
    scales_are_exact::<u64>(&wide(32));
    scales_are_exact::<u32>(&single(32));
}

/// Residues and decryptions of a circuit with every operation.
fn transcript<W: Word>(chain: &(RlweSpec, Scale)) -> (Vec<u64>, Vec<[u64; 2]>) {
    let toy = Toy::<W>::new(chain, 31);
    let mut lottery = Lottery::new(31);
    let (x, y) = (slots(16, &mut lottery), slots(16, &mut lottery));
    let b = public_key_b(&toy.context, &toy.secret, &toy.seeds, toy.top());
    let key = PublicKey::new(&toy.context, KEY_ID, toy.top(), b, toy.seeds.public()).expect("our own");
    let randomness = Seed::from_bytes([7; 32]);
    let cy = key.encrypt(&toy.context, &ours(&y), toy.top(), toy.scale, &randomness).expect("our own");
    let counters = &mut Counters::default();
    let g = Automorphism::rotation(32, 5);
    let ev = &toy.evaluator;
    let product =
        ev.multiply_rescale(&toy.encrypt(&x, 1), &cy, &toy.relinearization, counters).expect("a level");
    let rotated = ev.automorphism(&product, &g, &toy.galois(&g, toy.top()), counters).expect("the key");
    let out = ev.sub(&ev.negate(&rotated), &product).expect("same scale");
    let out = ev.rescale(&ev.mul_plain(&out, &toy.plain(&y, 2)).expect("a level")).expect("a level");
    let residues = out.parts().iter().flat_map(Poly::data).map(|x| x.to_u64()).collect();
    (residues, toy.decrypt(&out).iter().map(|z| [z.re.to_bits(), z.im.to_bits()]).collect())
}

#[test]
fn both_words_compute_the_same_ciphertexts_and_decryptions() {
    for chain in [single(32), double(32)] {
        let (narrow, wide) = (transcript::<u32>(&chain), transcript::<u64>(&chain));
        assert!(narrow.0 == wide.0 && narrow.1 == wide.1);
        assert!(narrow.0.iter().any(|&x| x > 0));
    }
}

#[test]
fn ciphertexts_that_do_not_belong_together_are_told_apart() {
    let (toy, other) = (Toy::<u64>::new(&double(32), 41), Toy::<u64>::new(&wide(32), 41));
    let z = [Complex64::new(0.5, 0.0)];
    let (ours_, theirs_) = (toy.encrypt(&z, 1), other.encrypt(&z, 1));
    let ev = &toy.evaluator;
    let hex = |bytes: [u8; 16]| format!("{:032x}", u128::from_be_bytes(bytes));
    let sets = [hex(toy.context.fingerprint()), hex(other.context.fingerprint())];
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let counters = &mut Counters::default();
    let g = Automorphism::conjugation(32);
    refused(ev.add(&ours_, &theirs_), "PARAMS_MISMATCH", &sets);
    refused(ev.sub(&theirs_, &ours_), "PARAMS_MISMATCH", &sets);
    refused(ev.multiply(&ours_, &theirs_), "PARAMS_MISMATCH", &sets);
    // Both of another set than the evaluator's.
    refused(ev.add(&theirs_, &theirs_), "PARAMS_MISMATCH", &sets);
    refused(ev.multiply(&theirs_, &theirs_), "PARAMS_MISMATCH", &sets);
    refused(ev.rescale(&theirs_), "PARAMS_MISMATCH", &sets);
    refused(ev.drop_to_level(&theirs_, 0), "PARAMS_MISMATCH", &sets);
    refused(ev.add_plain(&theirs_, &toy.plain(&z, 3)), "PARAMS_MISMATCH", &sets);
    refused(ev.mul_plain(&theirs_, &toy.plain(&z, 3)), "PARAMS_MISMATCH", &sets);
    refused(ev.automorphism(&theirs_, &g, &toy.galois(&g, 3), counters), "PARAMS_MISMATCH", &sets);
    let foreign = other.evaluator.multiply(&theirs_, &theirs_).expect("its own");
    refused(ev.relinearize(&foreign, &toy.relinearization), "PARAMS_MISMATCH", &sets);
    // Another key of the same set.
    let stranger = [0xabu8; 16];
    let randomness = Seed::from_bytes([1; 32]);
    let strange =
        encrypt(&toy.context, &toy.secret, stranger, &ours(&z), 3, toy.scale, &randomness).expect("fits");
    let keys = [hex(KEY_ID), hex(stranger)];
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    refused(ev.add(&ours_, &strange), "PARAMS_MISMATCH", &keys);
    refused(ev.multiply(&strange, &ours_), "PARAMS_MISMATCH", &keys);
    refused(decrypt_slots(&toy.context, &toy.secret, KEY_ID, &strange), "PARAMS_MISMATCH", &keys);
    refused(decrypt_slots(&toy.context, &toy.secret, KEY_ID, &theirs_), "PARAMS_MISMATCH", &sets);
    // The secret of another chain.
    let sizes = ["degree 32", "bits"];
    refused(decrypt_slots(&toy.context, &other.secret, KEY_ID, &ours_), "PARAMS_MISMATCH", &sizes);
    let fresh = encrypt(&toy.context, &other.secret, KEY_ID, &ours(&z), 3, toy.scale, &randomness);
    refused(fresh, "PARAMS_MISMATCH", &sizes);
}

#[test]
fn plaintexts_keys_levels_and_scales_that_do_not_fit_are_refused() {
    let (toy, other) = (Toy::<u64>::new(&double(32), 42), Toy::<u64>::new(&wide(64), 42));
    let z = [Complex64::new(0.5, 0.0)];
    let (x, ev, counters) = (toy.encrypt(&z, 1), &toy.evaluator, &mut Counters::default());
    // Levels.
    let low = toy.plain(&z, 1);
    refused(ev.add_plain(&x, &low), "LEVEL_MISMATCH", &["level 1", "level 3"]);
    refused(ev.mul_plain(&x, &low), "LEVEL_MISMATCH", &["level 1", "level 3"]);
    let bottom = ev.drop_to_level(&x, 0).expect("lower");
    refused(ev.drop_to_level(&bottom, 2), "LEVEL_MISMATCH", &["level 0", "to 2"]);
    refused(ev.rescale(&bottom), "LEVEL_MISMATCH", &["level 0"]);
    refused(ev.multiply_rescale(&bottom, &x, &toy.relinearization, counters), "LEVEL_MISMATCH", &["level 0"]);
    refused(ev.encode(&ours(&z), 4, toy.scale), "LEVEL_MISMATCH", &["level 4", "highest, 3"]);
    refused(ev.encode(&ours(&z), usize::MAX, toy.scale), "LEVEL_MISMATCH", &["highest, 3"]);
    let randomness = Seed::from_bytes([1; 32]);
    let above = encrypt(&toy.context, &toy.secret, KEY_ID, &ours(&z), 4, toy.scale, &randomness);
    refused(above, "LEVEL_MISMATCH", &["level 4", "highest, 3"]);
    // Plaintexts of another set, and one whose level was altered.
    refused(
        ev.add_plain(&x, &Plaintext { scale: x.scale(), ..other.plain(&z, 3) }),
        "PARAMS_MISMATCH",
        &["degree 64", "degree 32"],
    );
    refused(ev.mul_plain(&x, &other.plain(&z, 3)), "PARAMS_MISMATCH", &["degree 64", "degree 32"]);
    for level in [0, 2, 9] {
        let altered = Plaintext { level, ..toy.plain(&z, 3) };
        refused(ev.mul_plain(&x, &altered), "PARAMS_MISMATCH", &[&format!("level {level}"), "0 to 3"]);
    }
    // Scales.
    let sum = ev.add(&x, &ev.mul_plain(&x, &toy.plain(&z, 3)).expect("a level"));
    refused(sum, "SCALE_MISMATCH", &["2^41.000000", "2^82.000000"]);
    let plain = ev.encode(&ours(&z), 3, Scale::exp2(30.0)).expect("fits");
    refused(ev.add_plain(&x, &plain), "SCALE_MISMATCH", &["2^41.000000", "2^30.000000"]);
    // Components.
    let three = ev.multiply(&x, &x).expect("its own");
    refused(ev.relinearize(&x, &toy.relinearization), "INVALID_ARGUMENT", &["three components", "got 2"]);
    refused(ev.multiply(&three, &x), "INVALID_ARGUMENT", &["3 components", "relinearised"]);
    let g = Automorphism::conjugation(32);
    refused(ev.automorphism(&three, &g, &toy.galois(&g, 3), counters), "INVALID_ARGUMENT", &["3 components"]);
    // Switching keys: of a lower level, of another set, of another shape.
    refused(ev.automorphism(&x, &g, &toy.galois(&g, 1), counters), "LEVEL_MISMATCH", &["level 1", "level 3"]);
    let low_key = toy.secret.relinearization_key(toy.context.rlwe(), &toy.seeds, 2);
    let elsewhere = Automorphism::conjugation(64);
    let mismatched = ev.automorphism(&x, &elsewhere, &toy.galois(&g, 3), counters);
    refused(mismatched, "INVALID_ARGUMENT", &["degree 64", "degree 32"]);
    refused(ev.relinearize(&three, &low_key), "LEVEL_MISMATCH", &["level 2", "level 3"]);
    refused(ev.relinearize(&three, &other.relinearization), "PARAMS_MISMATCH", &["degree 64", "degree 32"]);
    refused(ev.multiply_rescale(&x, &x, &other.relinearization, counters), "PARAMS_MISMATCH", &["degree 64"]);
    let shape = SampleBlock::zero(toy.context.rlwe().qp(3), 2, 1);
    refused(ev.relinearize(&three, &shape), "PARAMS_MISMATCH", &["1 samples"]);
    let shape = SampleBlock::zero(toy.context.rlwe().qp(3), 1, 4);
    refused(ev.relinearize(&three, &shape), "PARAMS_MISMATCH", &["4 samples"]);
}

#[test]
fn public_keys_that_do_not_fit_are_refused() {
    let (toy, other) = (Toy::<u64>::new(&double(32), 43), Toy::<u64>::new(&wide(64), 43));
    let z = ours(&[Complex64::new(0.5, 0.0)]);
    let randomness = Seed::from_bytes([1; 32]);
    let b = public_key_b(&toy.context, &toy.secret, &toy.seeds, 2);
    let new = |level, b| PublicKey::new(&toy.context, KEY_ID, level, b, toy.seeds.public());
    refused(new(3, b.clone()), "LEVEL_MISMATCH", &["6 primes", "level 3 has 8"]);
    refused(new(4, b.clone()), "LEVEL_MISMATCH", &["level 4", "highest, 3"]);
    let key = new(2, b).expect("the level of the component");
    let encrypt = |context, level| key.encrypt(context, &z, level, toy.scale, &randomness);
    refused(encrypt(&toy.context, 3), "LEVEL_MISMATCH", &["level 3", "level 2"]);
    refused(encrypt(&other.context, 2), "PARAMS_MISMATCH", &["degree 32", "degree 64"]);
    assert!(encrypt(&toy.context, 0).is_ok());
}

#[test]
fn messages_too_large_for_their_modulus_are_refused() {
    // 2^58 at level 0, and every level adds some 41 bits.
    let toy = Toy::<u64>::new(&double(32), 44);
    let one = vec![Complex { re: 1.0, im: 0.0 }; 16];
    let randomness = Seed::from_bytes([1; 32]);
    let b = public_key_b(&toy.context, &toy.secret, &toy.seeds, 3);
    let key = PublicKey::new(&toy.context, KEY_ID, 3, b, toy.seeds.public()).expect("our own");
    for (scale, level, fits) in [(58.5, 0, false), (56.5, 0, true), (58.5, 1, true)] {
        let scale = Scale::exp2(scale);
        let secret = encrypt(&toy.context, &toy.secret, KEY_ID, &one, level, scale, &randomness);
        let public = key.encrypt(&toy.context, &one, level, scale, &randomness);
        if fits {
            for x in [secret, public] {
                let found = toy.decrypt(&x.expect("room for it"));
                assert!(found.iter().all(|z| (z - 1.0).norm() < 1e-9));
            }
        } else {
            refused(secret, "INVALID_ARGUMENT", &["2^58.5", "level 0", "higher level"]);
            refused(public, "INVALID_ARGUMENT", &["2^58.5", "level 0", "higher level"]);
        }
    }
}

#[test]
fn ciphertexts_of_every_shape_survive_the_wire() {
    // Primes of one size: two components of three primes are as long as three of two.
    let chain = (spec(32, &[&[26.9], &[26.8], &[26.7], &[26.6]], &[30.5]), Scale::exp2(20.0));
    let toy = Toy::<u32>::new(&chain, 45);
    let mut lottery = Lottery::new(45);
    let z = slots(16, &mut lottery);
    let square: Vec<Complex64> = z.iter().map(|z| z * z).collect();
    for level in 0..=toy.top() {
        let x = toy.encrypt_at(&z, level, 1);
        for (x, expected) in [(&x, &z), (&toy.evaluator.multiply(&x, &x).expect("its own"), &square)] {
            let bytes = ciphertext_to_bytes(&toy.context, x).expect("our own");
            assert_eq!(bytes.len(), ciphertext_len(&toy.context, level, x.components()));
            let back = ciphertext_from_bytes(&toy.context, &bytes).expect("our own");
            assert_eq!((back.level(), back.components(), back.scale()), (level, x.components(), x.scale()));
            assert!(back.parts().iter().zip(x.parts()).all(|(a, b)| a.data() == b.data()));
            if level > 0 {
                toy.assert_holds(&back, expected, 4.0 * toy.slot(ERROR), "from the wire");
            }
        }
    }
    let lengths = [(2, 2), (1, 3)].map(|(level, parts)| ciphertext_len(&toy.context, level, parts));
    assert_eq!(lengths[0], lengths[1], "the shapes this test is about");
}

#[test]
fn a_wrong_key_decrypts_to_noise() {
    // The opposite of every law above: without it, a decryption that ignores its key would pass.
    let (toy, other) = (Toy::<u32>::new(&single(64), 51), Toy::<u32>::new(&single(64), 52));
    let mut lottery = Lottery::new(51);
    let z = slots(32, &mut lottery);
    let found = other.decrypt(&toy.encrypt(&z, 1));
    assert!(pairwise(&found, &z, |x, y| x - y).iter().filter(|e| e.norm() > 1.0).count() > 24);
    // A rotation with the key of another element likewise.
    let g = Automorphism::rotation(64, 1);
    let wrong = Automorphism::new(64, GaloisElement::rotation(2, 64));
    let out =
        toy.evaluator.automorphism(&toy.encrypt(&z, 1), &g, &toy.galois(&wrong, 3), &mut Counters::default());
    let found = toy.decrypt(&out.expect("the shape is right"));
    let mut rotated = z.clone();
    rotated.rotate_left(1);
    assert!(pairwise(&found, &rotated, |x, y| x - y).iter().filter(|e| e.norm() > 1.0).count() > 24);
}
