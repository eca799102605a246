//! Linear maps of polynomials by automorphisms, without a scheme: against products of integers, with X -> X^-1 among the
//! steps.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use refloat::Error;
use refloat::arith::Word;
use refloat::circuits::linear_transform::{BabyGiantSteps, EncodedTransform, PlaintextStorage, Step};
use refloat::ring::{centered_f64, from_integers};
use refloat::rlwe::{GaloisKeys, Pair};
use refloat::schemes::ckks::Scale;
use refloat_tests::chain::Chain;
use refloat_tests::ring::{automorphism, negacyclic_product, poly, to_f64};
use refloat_tests::rns::Lottery;

const N: usize = 64;

fn wide() -> Chain<u64> {
    Chain::new(N, &[55.0, 45.0, 45.1, 44.9], &[50.0, 50.1], 2, Scale::exp2(45.0))
}

fn narrow() -> Chain<u32> {
    Chain::new(N, &[30.9, 28.0, 28.1], &[30.8, 30.7], 1, Scale::exp2(28.0))
}

/// {1, -1} x {5^k}.
fn signed(rotations: &[i64]) -> Vec<Step> {
    rotations.iter().flat_map(|&k| [false, true].map(|inverted| Step { rotation: k, inverted })).collect()
}

/// Polynomials in X^gap, one per step.
fn diagonals(steps: &[Step], gap: usize, lottery: &mut Lottery) -> BTreeMap<Step, Vec<i64>> {
    let coefficient =
        |i: usize, word: u64| if i.is_multiple_of(gap) { (word % 2001) as i64 - 1000 } else { 0 };
    steps.iter().map(|&step| (step, (0..N).map(|i| coefficient(i, lottery.word())).collect())).collect()
}

/// The diagonals encoded, for steps divided as the library divides them.
fn encode<W: Word>(
    chain: &Chain<W>,
    diagonals: &BTreeMap<Step, Vec<i64>>,
    (level, gap): (usize, usize),
    storage: PlaintextStorage,
) -> Result<EncodedTransform<W>, Error> {
    let steps: Vec<Step> = diagonals.keys().copied().collect();
    // Half a turn may have become a negative one.
    let by_element: BTreeMap<_, _> = diagonals.iter().map(|(step, d)| (step.element(N), poly(d))).collect();
    let diagonal = |giant: Step, step: Step| {
        let back = giant.element(N).inverse(N).value() as usize;
        let turned = automorphism(&by_element[&step.element(N)], back);
        Ok(turned.iter().map(|c| i64::try_from(c).expect("small")).collect())
    };
    EncodedTransform::new(
        chain.context.rlwe(),
        level,
        BabyGiantSteps::of_steps(&steps, N / 2),
        gap,
        storage,
        diagonal,
    )
}

fn keys<W: Word>(chain: &Chain<W>, steps: &[Step]) -> GaloisKeys<W> {
    let rlwe = chain.context.rlwe();
    let mut keys = GaloisKeys::new(N);
    for element in steps.iter().map(|step| step.element(N)) {
        let key = chain.secret.galois_key(rlwe, &chain.seeds, rlwe.max_level(), element);
        keys.insert(rlwe, element, key).expect("a key of this chain");
    }
    keys
}

/// (m - a s, a) modulo Q_level.
fn exact<W: Word>(chain: &Chain<W>, level: usize, message: &[i64], lottery: &mut Lottery) -> Pair<W> {
    let q = chain.context.rlwe().q(level);
    let a = lottery.poly(q).into_eval();
    let mut b = from_integers(q, message).into_eval();
    b.sub_assign(&a.mul(&chain.secret.modulo_q(q)));
    Pair { b, a }
}

fn check<W: Word>(chain: &Chain<W>, steps: &[Step], gap: usize) {
    let (rlwe, level, mut lottery) = (chain.context.rlwe(), chain.top(), Lottery::new(41));
    let prime = rlwe.spec().levels[level][0];
    let diagonals = diagonals(steps, gap, &mut lottery);
    let message: Vec<i64> = (0..N).map(|_| (lottery.word() % prime) as i64 - (prime / 2) as i64).collect();
    let m = poly(&message);
    let mut expected = vec![BigInt::ZERO; N];
    for (step, diagonal) in &diagonals {
        let turned = automorphism(&m, step.element(N).value() as usize);
        for (sum, term) in expected.iter_mut().zip(negacyclic_product(&poly(diagonal), &turned)) {
            *sum += term;
        }
    }
    let x = exact(chain, level, &message, &mut lottery);
    let apply = |storage| {
        let transform = encode(chain, &diagonals, (level, gap), storage).expect("it fits");
        let keys = keys(chain, &transform.steps().keys());
        transform.apply(&x, &keys).expect("all keys")
    };
    let y = apply(PlaintextStorage::Evaluated);
    let mut phase = y.a.mul(&chain.secret.modulo_q(rlwe.q(level - 1)));
    phase.add_assign(&y.b);
    // Roundings of two components: a deviation of sqrt((1 + 2N/3) / 12), and key switching far below.
    let bound = 6.0 * ((1.0 + 2.0 * N as f64 / 3.0) / 12.0).sqrt();
    for (found, expected) in centered_f64(&phase.into_coeff()).iter().zip(to_f64(&expected)) {
        let error = found - expected / prime as f64;
        assert!(error.abs() < bound, "{steps:?}, X^{gap}: {found}, {error}");
    }
    let same = apply(PlaintextStorage::Coefficients);
    assert!(same.b.data() == y.b.data() && same.a.data() == y.a.data());
}

#[test]
fn a_transform_is_its_sum_over_automorphisms() {
    let (wide, narrow) = (wide(), narrow());
    for steps in [
        signed(&[0]),
        signed(&[-5, -1, 0, 1, 2, 3, 7]),
        signed(&(0..16).map(|k| 2 * k).collect::<Vec<_>>()),
        vec![Step { rotation: 3, inverted: true }],
        vec![Step::rotation(1), Step { rotation: -4, inverted: true }, Step { rotation: 16, inverted: true }],
    ] {
        check(&wide, &steps, 1);
        check(&narrow, &steps, 1);
    }
    // Runs of equal values longer than a line of words.
    check(&wide, &signed(&[-1, 0, 1, 2]), 16);
    check(&wide, &signed(&[-1, 0, 1, 2]), N / 2);
    check(&narrow, &signed(&[0, 1]), N / 2);
}

fn lowered_is_encoded_lower<W: Word>(chain: &Chain<W>, gap: usize, storage: PlaintextStorage) {
    let (rlwe, mut lottery) = (chain.context.rlwe(), Lottery::new(43));
    let diagonals = diagonals(&signed(&[-5, 0, 1, 2, 3]), gap, &mut lottery);
    let at = |level| encode(chain, &diagonals, (level, gap), storage).expect("it fits");
    let high = at(chain.top());
    let keys = keys(chain, &high.steps().keys());
    for level in 1..=chain.top() {
        let x =
            Pair { b: lottery.poly(rlwe.q(level)).into_eval(), a: lottery.poly(rlwe.q(level)).into_eval() };
        let lowered = high.lowered(level).expect("no higher");
        assert_eq!(lowered.level(), level);
        let [found, wanted] = [&lowered, &at(level)].map(|map| map.apply(&x, &keys).expect("all keys"));
        assert!(found.b.data() == wanted.b.data() && found.a.data() == wanted.a.data(), "level {level}");
        // Lower again.
        assert!(level == 1 || lowered.lowered(level - 1).is_ok());
        assert!(matches!(lowered.lowered(level + 1), Err(Error::LevelMismatch(_))));
    }
    assert!(matches!(high.lowered(0), Err(Error::LevelMismatch(_))));
}

#[test]
fn a_transform_serves_lower_levels() {
    for storage in [PlaintextStorage::Evaluated, PlaintextStorage::Coefficients] {
        for gap in [1, 16] {
            lowered_is_encoded_lower(&wide(), gap, storage);
            lowered_is_encoded_lower(&narrow(), gap, storage);
        }
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let chain = wide();
    let steps = signed(&[0, 1]);
    let diagonals = diagonals(&steps, 1, &mut Lottery::new(42));
    let new = |level, gap| encode(&chain, &diagonals, (level, gap), PlaintextStorage::Evaluated);
    assert!(matches!(new(0, 1), Err(Error::LevelMismatch(_))));
    assert!(matches!(new(9, 1), Err(Error::LevelMismatch(_))));
    for gap in [0, 3, N] {
        assert!(matches!(new(2, gap), Err(Error::InvalidArgument(_))), "X^{gap}");
    }
    // Coefficients between the powers that were announced, whether or not lines would be kept of them.
    for gap in [2, 16, N / 2] {
        let Err(Error::InvalidArgument(text)) = new(2, gap) else {
            panic!("dropped coefficients of X^{gap}")
        };
        assert!(text.contains(&format!("diagonals in X^{gap}")), "{text}");
    }
    let none = encode(&chain, &BTreeMap::new(), (2, 1), PlaintextStorage::Evaluated);
    assert!(matches!(none, Err(Error::InvalidArgument(_))));
    let short = EncodedTransform::new(
        chain.context.rlwe(),
        2,
        BabyGiantSteps::of_steps(&steps, N / 2),
        1,
        PlaintextStorage::Evaluated,
        |_, _| Ok(vec![1; N - 1]),
    );
    assert!(matches!(short, Err(Error::InvalidArgument(_))));
    let transform = new(2, 1).expect("it fits");
    let apply = |level, steps: &[Step]| {
        let x = exact(&chain, level, &[1; N], &mut Lottery::new(43));
        transform.apply(&x, &keys(&chain, steps))
    };
    let all = transform.steps().keys();
    assert!(apply(2, &all).is_ok());
    assert!(matches!(apply(1, &all), Err(Error::LevelMismatch(_))));
    assert!(matches!(apply(3, &all), Err(Error::LevelMismatch(_))));
    let Err(Error::MissingKey(message)) = apply(2, &all[..1]) else { panic!("a key is missing") };
    assert!(message.contains(&all[1].to_string()), "{message}");
}
