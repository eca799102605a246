//! The raise in two halves.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use refloat::Error;
use refloat::arith::Word;
use refloat::ring::SmallPoly;
use refloat::rlwe::{
    EncapsulationContext, EncapsulationDigits, EphemeralPair, LinkSecret, ModRaise, Pair, RlweSpec,
    SampleBlock, SparseSecret,
};
use refloat::trace::Counters;
use refloat_tests::ring::{centred, negacyclic_product, poly, product};
use refloat_tests::rns::{Lottery, to_big};

use super::{
    encapsulation::sparse,
    setup::{Keys, assert_within, spec},
};

const N: usize = 256;
const WEIGHT: usize = 32;

/// A chain with an ephemeral secret, both its keys and the raise.
struct Setup<W: Word> {
    keys: Keys<W>,
    encapsulation: EncapsulationContext<W>,
    sparse: SparseSecret,
    there: SampleBlock<W>,
    back: SampleBlock<W>,
    raise: ModRaise<W>,
}

impl<W: Word> Setup<W> {
    fn new(chain: &RlweSpec, digits: EncapsulationDigits) -> Self {
        let keys = Keys::<W>::new(chain, 60);
        let encapsulation =
            EncapsulationContext::new(N, &chain.levels[0], chain.special[0], digits).expect("sound");
        let sparse = sparse(N, WEIGHT);
        let samples = sparse.encapsulation_samples(&encapsulation, &keys.secret, &keys.seeds, [3; 4]);
        let mut there = SampleBlock::zero(encapsulation.q0p(), 1, samples.len());
        samples.iter().enumerate().for_each(|(j, sample)| there.set(j, sample));
        let top = keys.context.max_level();
        let back = sparse.raise_key(&keys.context, &keys.secret, &keys.seeds, top);
        let raise = ModRaise::new(&keys.context);
        Self { keys, encapsulation, sparse, there, back, raise }
    }

    fn q0(&self) -> BigInt {
        product(&self.keys.context.spec().levels[0])
    }

    /// A ciphertext without noise, of uniform coefficients.
    fn uniform(&self, lottery: &mut Lottery) -> (Pair<W>, Vec<BigInt>) {
        let half = self.q0().to_i64().expect("62 bits") / 2;
        let message: Vec<i64> = (0..N).map(|_| (lottery.word() % (2 * half as u64)) as i64 - half).collect();
        (self.keys.exact(0, &message, lottery), poly(&message))
    }

    fn to_ephemeral(&self, x: Pair<W>) -> EphemeralPair<W> {
        let key = Some((&self.encapsulation, &self.there));
        self.raise.to_ephemeral(x, key, &mut Counters::default()).expect("at level 0")
    }

    /// b + a s of centred residues, over the integers.
    fn phase(&self, x: &EphemeralPair<W>) -> Vec<BigInt> {
        integer_phase(x, self.sparse.small())
    }
}

fn integer_phase<W: Word>(x: &EphemeralPair<W>, secret: &SmallPoly) -> Vec<BigInt> {
    let [b, a] = x.parts().map(to_big);
    let small: Vec<i64> = secret.coefficients().iter().map(|&c| c.into()).collect();
    b.into_iter().zip(negacyclic_product(&a, &poly(&small))).map(|(b, a)| b + a).collect()
}

fn wide() -> Setup<u64> {
    let chain = spec(N, &[&[50.0], &[45.0], &[45.1]], &[52.0], &[&[0], &[1], &[2]]);
    Setup::new(&chain, EncapsulationDigits::Balanced { count: 1 })
}

fn narrow() -> Setup<u32> {
    let chain = spec(N, &[&[25.0, 26.0], &[28.0]], &[30.0], &[&[0], &[1], &[2]]);
    Setup::new(&chain, EncapsulationDigits::PerPrime)
}

fn halves_keep_the_message<W: Word>(setup: &Setup<W>) {
    let (mut lottery, q0) = (Lottery::new(51), setup.q0());
    let (x, message) = setup.uniform(&mut lottery);
    let pair = setup.to_ephemeral(x.clone());
    let phase = setup.phase(&pair);
    let most_turns = WEIGHT.div_ceil(2);
    for (phase, m) in phase.iter().zip(&message) {
        let noise = centred(&(phase - m), &q0);
        assert!(noise.abs() < BigInt::from(300), "noise {noise}");
        let turns = (phase - m - noise) / &q0;
        assert!(turns.abs() <= BigInt::from(most_turns + 1), "{turns} times q_0");
    }
    let context = &setup.keys.context;
    let top = context.max_level();
    for level in 0..=top {
        let raised = setup
            .raise
            .from_ephemeral(&pair, level, Some(&setup.back), &mut Counters::default())
            .expect("keys of the chain");
        assert!(raised.b.basis().same_as(context.q(level)));
        let bound = 6.0 * setup.keys.switching_variance(level).sqrt();
        let primes: Vec<u64> = context.spec().levels[..=level].concat();
        let modulus = product(&primes);
        for (found, expected) in to_big(&setup.keys.phase(&raised).into_coeff()).iter().zip(&phase) {
            let noise = centred(&(found - expected), &modulus).to_f64().expect("finite");
            assert!(noise.abs() < bound, "level {level}: noise {noise}, at most {bound}");
        }
    }
    let beyond = setup.raise.from_ephemeral(&pair, top + 1, Some(&setup.back), &mut Counters::default());
    assert!(matches!(beyond, Err(Error::LevelMismatch(_))));

    // Without an ephemeral secret: the same integers, exactly.
    let pair = setup.raise.to_ephemeral(x, None, &mut Counters::default()).expect("at level 0");
    let raised = setup.raise.from_ephemeral(&pair, top, None, &mut Counters::default()).expect("no key");
    let expected = integer_phase(&pair, setup.keys.secret.small());
    assert_eq!(to_big(&setup.keys.phase(&raised).into_coeff()), expected);
    let noiseless: Vec<BigInt> = expected.iter().map(|phase| centred(phase, &q0)).collect();
    assert_eq!(noiseless, message.iter().map(|m| centred(m, &q0)).collect::<Vec<_>>());
}

#[test]
fn the_halves_of_a_raise_keep_the_message_modulo_q0() {
    halves_keep_the_message(&wide());
    halves_keep_the_message(&narrow());
}

fn a_division_is_exact<W: Word>(setup: &Setup<W>, divisor: u64) {
    let (mut lottery, context) = (Lottery::new(55), &setup.keys.context);
    let top = context.max_level();
    let q = product(&context.q(top).primes().collect::<Vec<_>>());
    let pair = setup.to_ephemeral(setup.uniform(&mut lottery).0);
    let phase = setup.phase(&pair);
    let mut counters = Counters::default();
    let raised = setup.raise.from_ephemeral_over(&pair, divisor, Some(&setup.back), &mut counters);
    let raised = raised.expect("keys of the chain");
    assert!(raised.b.basis().same_as(context.q(top)));
    let bound = 6.0 * setup.keys.switching_variance(top).sqrt();
    // Times the divisor, the phase is the integers that were raised plus the divisor times the noise of a key.
    for (found, expected) in to_big(&setup.keys.phase(&raised).into_coeff()).iter().zip(&phase) {
        let difference = centred(&(found * divisor - expected), &q);
        assert!((&difference % divisor) == BigInt::ZERO, "{difference} is not a multiple of {divisor}");
        let noise = (difference / divisor).to_f64().expect("finite");
        assert!(noise.abs() < bound, "noise {noise}, at most {bound}");
    }
    // Without a key, nothing else.
    let pair =
        setup.raise.to_ephemeral(setup.uniform(&mut lottery).0, None, &mut counters).expect("at level 0");
    let raised = setup.raise.from_ephemeral_over(&pair, divisor, None, &mut counters).expect("no key");
    let expected = integer_phase(&pair, setup.keys.secret.small());
    for (found, expected) in to_big(&setup.keys.phase(&raised).into_coeff()).iter().zip(&expected) {
        assert_eq!(&centred(&(found * divisor), &q), expected);
    }
    for prime in context.q(top).primes() {
        let refused = setup.raise.from_ephemeral_over(&pair, prime, None, &mut counters);
        assert!(matches!(refused, Err(Error::InvalidArgument(text)) if text.contains(&prime.to_string())));
    }
}

#[test]
fn a_raise_over_an_integer_is_the_raise_times_its_inverse() {
    for divisor in [1, 257, 65537 * 65537, 786_433] {
        a_division_is_exact(&wide(), divisor);
        a_division_is_exact(&narrow(), divisor);
    }
}

fn pairs_are_linear<W: Word>(setup: &Setup<W>) {
    let (mut lottery, q0) = (Lottery::new(52), setup.q0());
    let pairs: Vec<EphemeralPair<W>> =
        (0..2).map(|_| setup.to_ephemeral(setup.uniform(&mut lottery).0)).collect();
    let [x, y] = [0, 1].map(|i| setup.phase(&pairs[i]));
    for k in [0, 1, -1, 32, 1 << 20, -(1 << 40)] {
        let combined = pairs[0].clone().multiply_integer(k).subtract(&pairs[1]).expect("one modulus");
        for ((found, x), y) in setup.phase(&combined).iter().zip(&x).zip(&y) {
            assert_eq!(centred(found, &q0), centred(&(x * k - y), &q0), "{k}");
        }
    }
}

#[test]
fn ephemeral_pairs_are_multiplied_and_subtracted_modulo_q0() {
    pairs_are_linear(&wide());
    pairs_are_linear(&narrow());
}

/// Over the integers: the phase of a product with k and k times the phase differ by the multiples of q0 that were taken off, and these are
/// no larger than they can be.
#[test]
fn multiples_are_what_a_product_takes_off() {
    let (setup, mut lottery) = (wide(), Lottery::new(56));
    let q0 = setup.q0();
    let pair = setup.to_ephemeral(setup.uniform(&mut lottery).0);
    let before = setup.phase(&pair);
    let largest = q0.to_u64().expect("50 bits") - 1;
    for k in [1, 2, 45, 65537, (1 << 40) + 1, largest] {
        let taken = pair.clone().multiples_taken_off(k).expect("one prime");
        for part in taken.parts().map(to_big).concat() {
            assert!(part.abs() * 2 <= BigInt::from(k), "{part} of a product with {k}");
        }
        let after = setup.phase(&pair.clone().multiply_integer(k as i64));
        for ((before, after), taken) in before.iter().zip(&after).zip(setup.phase(&taken)) {
            assert_eq!(after - before * k, taken * &q0, "{k}");
        }
    }
    for k in [0, largest + 1, u64::MAX] {
        let Err(Error::InvalidArgument(text)) = pair.clone().multiples_taken_off(k) else { panic!("{k}") };
        assert!(text.contains(&k.to_string()) && text.contains(&largest.to_string()), "{text}");
    }
    let other = narrow();
    let composite = other.to_ephemeral(other.uniform(&mut lottery).0);
    assert!(matches!(composite.multiples_taken_off(3), Err(Error::InvalidArgument(_))));
}

#[test]
fn discretised_phases_lie_on_the_grid() {
    let (setup, mut lottery) = (wide(), Lottery::new(53));
    let q0 = setup.q0();
    let number = |x: &BigInt| centred(x, &q0).to_f64().expect("finite");
    for grid in [1, 2, 3, 32, 1000, 1 << 15, 1 << 24] {
        let unit = q0.to_f64().expect("finite") / grid as f64;
        let (mut squares, trials) = (0.0, 40);
        for _ in 0..trials {
            let pair = setup.to_ephemeral(setup.uniform(&mut lottery).0);
            let rounded = pair.clone().discretise(grid).expect("a grid");
            for (before, after) in setup.phase(&pair).iter().zip(setup.phase(&rounded)) {
                let point = number(&after) / unit;
                // Grid points are integers, each half a unit off at most.
                let off = (point - point.round()).abs() * unit;
                assert!(off <= (WEIGHT + 1) as f64 / 2.0 + 1.0, "{off} off a grid of {grid}");
                squares += (number(&(after - before)) / unit).powi(2) / f64::from(trials) / N as f64;
            }
        }
        // The secret is evenly spaced, so that neighbours move alike: with 6269, the sum of squares of the coefficients of
        // 1 + s s*, the mean square of 40 N of them deviates by sqrt(2 * 6269 / (40 N)) / 33 = 3.4 %, and the bound is more
        // than four times that. On a coarse grid the phase moves by more than q_0.
        if grid >= 32 {
            assert_within(squares, (1.0 + WEIGHT as f64) / 12.0, &format!("a grid of {grid}"));
        }
    }
}

#[test]
fn raises_that_do_not_fit_are_refused() {
    let (setup, mut lottery) = (wide(), Lottery::new(54));
    let (x, _) = setup.uniform(&mut lottery);
    let pair = setup.to_ephemeral(x.clone());
    for grid in [0, 1 << 26] {
        assert!(matches!(pair.clone().discretise(grid), Err(Error::InvalidArgument(_))), "{grid}");
    }
    let (other, mut counters) = (narrow(), Counters::default());
    let composite = other.to_ephemeral(other.uniform(&mut lottery).0);
    assert!(matches!(composite.discretise(8), Err(Error::InvalidArgument(_))));
    let high = setup.keys.exact(1, &[5; N], &mut lottery);
    assert!(matches!(setup.raise.to_ephemeral(high, None, &mut counters), Err(Error::LevelMismatch(_))));
    // Each key where the other one belongs.
    let wrong = Some((&setup.encapsulation, &setup.back));
    assert!(matches!(setup.raise.to_ephemeral(x, wrong, &mut counters), Err(Error::ParamsMismatch(_))));
    let wrong = setup.raise.from_ephemeral(&pair, 1, Some(&setup.there), &mut counters);
    assert!(matches!(wrong, Err(Error::ParamsMismatch(_))));
    let [b, _] = pair.parts();
    let q = setup.keys.context.q(1);
    let a = lottery.poly(q);
    assert!(matches!(EphemeralPair::new(b.clone(), a), Err(Error::ParamsMismatch(_))));
}
