//! Textbook BGV over big integers, a small set with its keys, and small sets for bootstrapping.

use num_bigint::BigInt;
use num_integer::Integer;
use refloat::arith::Word;
use refloat::bootstrapping::bgv::{Approach, BgvSpec, EphemeralSpec};
use refloat::circuits::digit_removal::AllDigits;
use refloat::random::Seed;
use refloat::ring::{GaloisElement, centered_f64};
use refloat::rlwe::{EncapsulationDigits, GaloisKeys, KeySeeds, RlweSpec, SampleBlock, SecretKey};
use refloat::schemes::bgv::{
    BgvCiphertext, BgvContext, BgvEvaluator, PlaintextSpec, PrimePower, decrypt, encrypt,
};

use crate::chain::{KEY_ID, spec, spec_of_odd_index, spec_of_two_axes};
use crate::ring::{Poly, centred, negacyclic_product, product};
use crate::rns::to_big;

/// Textbook BGV: components modulo Q whose phase is f m modulo P.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Textbook {
    /// Q.
    pub q: BigInt,
    /// P.
    pub p: BigInt,
    /// Component i multiplies s^i; centred.
    pub parts: Vec<Poly>,
}

impl Textbook {
    fn of(q: &BigInt, p: &BigInt, parts: Vec<Poly>) -> Self {
        let reduce = |part: Poly| part.iter().map(|x| centred(x, q)).collect();
        Self { q: q.clone(), p: p.clone(), parts: parts.into_iter().map(reduce).collect() }
    }

    /// The library's ciphertext times P.
    ///
    /// # Panics
    /// Never.
    pub fn from_scaled<W: Word>(x: &BgvCiphertext<W>) -> Self {
        let q = product(&x.parts()[0].basis().primes().collect::<Vec<_>>());
        let p = BigInt::from(x.ring().value());
        let times = |part: Poly| part.iter().map(|c| c * &p).collect();
        Self::of(&q, &p, x.parts().iter().map(|part| times(to_big(&part.clone().into_coeff()))).collect())
    }

    /// The sum.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        let add = |(x, y): (&Poly, &Poly)| x.iter().zip(y).map(|(x, y)| x + y).collect();
        Self::of(&self.q, &self.p, self.parts.iter().zip(&other.parts).map(add).collect())
    }

    /// The product in three components, of two ciphertexts in two components.
    ///
    /// # Panics
    /// For another number of components.
    #[must_use]
    pub fn multiply(&self, other: &Self) -> Self {
        self.multiply_in(other, negacyclic_product)
    }

    /// [`Self::multiply`] with the product of a ring.
    ///
    /// # Panics
    /// For another number of components.
    #[must_use]
    pub fn multiply_in(&self, other: &Self, times: impl Fn(&[BigInt], &[BigInt]) -> Poly) -> Self {
        let ([b, a], [d, c]) = (self.parts.as_slice(), other.parts.as_slice()) else {
            panic!("two components")
        };
        let cross: Poly = times(b, c).iter().zip(times(a, d)).map(|(x, y)| x + y).collect();
        Self::of(&self.q, &self.p, vec![times(b, d), cross, times(a, c)])
    }

    /// Modulo Q/d: (c - delta)/d with the smallest delta that is c modulo d and 0 modulo P.
    ///
    /// # Panics
    /// Unless d divides Q.
    #[must_use]
    pub fn switch(&self, d: &BigInt) -> Self {
        assert!((&self.q % d) == BigInt::ZERO, "a divisor of the modulus");
        let over_p = self.p.modinv(d).expect("coprime");
        let divide = |c: &BigInt| {
            let delta = centred(&(c * &over_p), d) * &self.p;
            assert!(delta.mod_floor(&self.p) == BigInt::ZERO && (c - &delta).mod_floor(d) == BigInt::ZERO);
            (c - delta) / d
        };
        Self::of(
            &(&self.q / d),
            &self.p,
            self.parts.iter().map(|part| part.iter().map(divide).collect()).collect(),
        )
    }

    /// sum_i parts_i s^i, centred.
    #[must_use]
    pub fn phase(&self, s: &[BigInt]) -> Poly {
        self.phase_in(s, negacyclic_product)
    }

    /// [`Self::phase`] with the product of a ring.
    #[must_use]
    pub fn phase_in(&self, s: &[BigInt], times: impl Fn(&[BigInt], &[BigInt]) -> Poly) -> Poly {
        let mut sum = vec![BigInt::ZERO; s.len()];
        for part in self.parts.iter().rev() {
            sum = times(&sum, s);
            sum.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        sum.iter().map(|x| centred(x, &self.q)).collect()
    }
}

/// A context with its keys.
pub struct BgvChain<W: Word> {
    /// The parameter set.
    pub context: BgvContext<W>,
    /// Its evaluator.
    pub evaluator: BgvEvaluator<W>,
    /// The secret key.
    pub secret: SecretKey<W>,
    /// Seeds of evaluation keys.
    pub seeds: KeySeeds,
    /// Relinearisation key of the highest level.
    pub relinearization: SampleBlock<W>,
}

impl<W: Word> BgvChain<W> {
    /// One prime of the given size per level, digits of `alpha` primes, plaintexts modulo `prime`^`exponent` up to `largest`.
    ///
    /// # Panics
    /// If there are not enough primes, or the set is not sound.
    pub fn new(
        n: usize,
        (levels, special, alpha): (&[f64], &[f64], usize),
        (prime, exponent, largest): (u64, u32, u32),
    ) -> Self {
        let all: Vec<usize> = (0..levels.len()).collect();
        let digits: Vec<&[usize]> = all.chunks(alpha).collect();
        let spec = spec(n, &levels.chunks(1).collect::<Vec<_>>(), special, &digits);
        Self::of(&spec, PlaintextSpec { prime, exponent, largest_exponent: largest })
    }

    /// A chain with the keys of the tests.
    ///
    /// # Panics
    /// If the set is not sound.
    pub fn of(spec: &RlweSpec, plaintexts: PlaintextSpec) -> Self {
        let context = BgvContext::from_spec(spec, plaintexts).expect("a sound set");
        Self::seeded(&context, 29)
    }

    /// A chain with the keys that a seed of 32 equal bytes gives.
    pub fn seeded(context: &BgvContext<W>, seed: u8) -> Self {
        let seed = Seed::from_bytes([seed; 32]);
        let secret = SecretKey::generate(context.rlwe(), &seed);
        let seeds = KeySeeds::derive(&seed);
        let relinearization = secret.relinearization_key(context.rlwe(), &seeds, context.rlwe().max_level());
        Self {
            evaluator: BgvEvaluator::new(context),
            context: context.clone(),
            secret,
            seeds,
            relinearization,
        }
    }

    /// The highest level.
    pub fn top(&self) -> usize {
        self.context.rlwe().max_level()
    }

    /// Keys of these rotations, and of the exchange of rows, at the highest level.
    ///
    /// # Panics
    /// Never.
    pub fn galois_keys(&self, rotations: &[i64]) -> GaloisKeys<W> {
        let ring = self.context.rlwe().ring();
        self.keys_of(rotations.iter().map(|&steps| ring.rotation(steps)).chain([ring.inversion()]))
    }

    /// Keys of these automorphisms, at the highest level.
    ///
    /// # Panics
    /// Never.
    pub fn keys_of(&self, elements: impl IntoIterator<Item = GaloisElement>) -> GaloisKeys<W> {
        let rlwe = self.context.rlwe();
        let mut keys = GaloisKeys::new(rlwe.n());
        for g in elements {
            keys.insert(rlwe, g, self.secret.galois_key(rlwe, &self.seeds, rlwe.max_level(), g))
                .expect("a key of this chain");
        }
        keys
    }

    /// Encrypts at a level with the randomness that a number gives.
    ///
    /// # Panics
    /// For slots that do not fit.
    pub fn encrypt(&self, slots: &[u64], level: usize, randomness: u64) -> BgvCiphertext<W> {
        let randomness = Seed::from_bytes([31; 32]).derive("test", &[randomness]);
        encrypt(&self.context, &self.secret, KEY_ID, slots, level, &randomness).expect("slots that fit")
    }

    /// Decrypts.
    ///
    /// # Panics
    /// For a ciphertext of another set.
    pub fn decrypt(&self, x: &BgvCiphertext<W>) -> Vec<u64> {
        decrypt(&self.context, &self.secret, KEY_ID, x).expect("our own").reveal_to_key_owner().clone()
    }

    /// The noise: coefficients of the phase of the textbook form over P.
    pub fn noise(&self, x: &BgvCiphertext<W>) -> Vec<f64> {
        let basis = x.parts()[0].basis();
        let s = self.secret.modulo_q(basis);
        let mut phase = refloat::ring::Poly::zero(basis);
        for part in x.parts().iter().rev() {
            phase.mul_assign(&s);
            phase.add_assign(part);
        }
        let mut phase = phase.into_coeff();
        phase.mul_integer_assign(x.ring().value() as i64);
        let p = x.ring().value() as f64;
        centered_f64(&phase).into_iter().map(|x| x / p).collect()
    }
}

/// Least number of noise coefficients that are compared with a law: their deviation is that of all to a hundredth of a bit. They come
/// from several keys, since all noise under one key shares the length of its secret.
pub const SAMPLES: usize = 10_000;

/// log2 of the deviation of numbers from 0.
pub fn log_deviation(x: &[f64]) -> f64 {
    0.5 * (x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64).log2()
}

/// A set of 64 slots of integers modulo 257 for thin bootstrapping, no security: three products between bootstraps, digits up to
/// `bound` of an ephemeral secret of weight 32. Its primes fit words of 32 bits.
///
/// # Panics
/// If there are not enough primes.
pub fn tiny(bound: u32) -> BgvSpec {
    tiny_by(Approach::Raised, bound, 32)
}

/// [`tiny`] with digits read from other numbers, and of an ephemeral secret of another weight.
///
/// # Panics
/// As [`tiny`].
pub fn tiny_by(approach: Approach, bound: u32, weight: u32) -> BgvSpec {
    one_axis((64, 257), (approach, bound, weight))
}

/// [`tiny_by`] with another number of slots and another prime. Only those modulo 257 have primes that fit words of 32 bits.
///
/// # Panics
/// As [`tiny`].
pub fn one_axis((n, prime): (usize, u64), (approach, bound, weight): (Approach, u32, u32)) -> BgvSpec {
    let one = (prime as f64 / 257.0).log2();
    let two = 2.0 * one;
    let removal = removal_levels(approach, bound, 1);
    let (maps, products) = (vec![16.5 + one; 2], vec![18.0 + one; 3]);
    let (squares, back) = (vec![26.0 + two; removal], vec![25.5 + two; 2]);
    let levels = [vec![29.0 + two], maps, products, squares, back].concat();
    let special = [30.0 + two, 30.2 + two, 29.5];
    let all: Vec<usize> = (0..levels.len()).collect();
    let digits: Vec<&[usize]> = all.chunks(2).collect();
    let chain = spec(n, &levels.chunks(1).collect::<Vec<_>>(), &special, &digits);
    BgvSpec { name: "tiny".into(), general: false, ..of_chain(chain, prime, (approach, bound, weight)) }
}

/// A set of a ring of two axes, given by its degree and odd part, for general bootstrapping modulo p, no security: two products between
/// bootstraps, digits up to 9 of an ephemeral secret of weight 8, which are never larger. Its levels have `spare` bits more than those
/// of a ring of degree 32 and index 80 need, where its primes fit words of 32 bits.
///
/// # Panics
/// If there are not enough primes.
pub fn two_axes(place: (usize, u64), prime: u64, spare: f64) -> BgvSpec {
    two_axes_by(Approach::Raised, 9, place, prime, spare)
}

/// [`two_axes`] with digits up to `bound` read from other numbers.
///
/// # Panics
/// As [`two_axes`].
pub fn two_axes_by(approach: Approach, bound: u32, place: (usize, u64), prime: u64, spare: f64) -> BgvSpec {
    let one = (prime as f64).log2() + spare;
    let two = one + (prime as f64).log2();
    let removal = removal_levels(approach, bound, 1);
    // Digits that are apart become coefficients modulo p^e.
    let map = if approach == Approach::Multiples { two + 16.8 } else { one + 13.5 };
    let (products, maps, squares, back) =
        (vec![one + 13.0; 2], vec![map; 2], vec![two + 17.2; removal], vec![two + 16.8; 2]);
    let levels = [vec![two + 16.5], products, maps, squares, back].concat();
    let chain = spec_of_two_axes(place, &levels, &[two + 17.3, two + 17.4, two + 17.5, 29.5], 2);
    BgvSpec { name: "two axes".into(), ..of_chain(chain, prime, (approach, bound, bound - 1)) }
}

/// A set for general bootstrapping modulo a prime, with two stages to a map. The last special prime of the chain is that of the ephemeral
/// secret, which has the given weight and digits up to the given bound.
fn of_chain(mut chain: RlweSpec, prime: u64, (approach, bound, weight): (Approach, u32, u32)) -> BgvSpec {
    let digits = EncapsulationDigits::Balanced { count: 3 };
    let ephemeral = chain.special.pop().expect("a prime more");
    BgvSpec {
        name: String::new(),
        chain,
        general: true,
        prime,
        exponent: 1,
        digit_exponent: digit_exponent(approach),
        approach,
        bound,
        slots_to_coeffs: 2,
        coeffs_to_slots: 2,
        ephemeral: EphemeralSpec { weight, prime: ephemeral, digits },
    }
}

/// Levels that reading a digit beside messages modulo p^`exponent` takes: those of its degree.
fn removal_levels(approach: Approach, bound: u32, exponent: u32) -> usize {
    let width = 2 * bound + 1;
    let degree = match approach {
        Approach::Beside { .. } => width * width - 2,
        Approach::Raised | Approach::Multiples => (exponent + 1) * width - 1,
    };
    degree.ilog2() as usize + 1
}

/// One digit, or none where there is a step.
fn digit_exponent(approach: Approach) -> u32 {
    u32::from(!matches!(approach, Approach::Beside { .. }))
}

/// A set of a ring of odd index for bootstrapping modulo p^r, general or thin, no security: two products between bootstraps, digits up to 9
/// of an ephemeral secret of weight 4, which are never larger.
///
/// # Panics
/// If there are not enough primes.
pub fn odd_index(place: (u64, u64, u32), general: bool) -> BgvSpec {
    odd_index_by(Approach::Raised, place, general)
}

/// [`odd_index`] with digits read from other numbers.
///
/// # Panics
/// As [`odd_index`].
pub fn odd_index_by(approach: Approach, (index, prime, exponent): (u64, u64, u32), general: bool) -> BgvSpec {
    let bound = 9;
    let one = f64::from(exponent) * (prime as f64).log2();
    let two = one + (prime as f64).log2();
    let removal = removal_levels(approach, bound, exponent);
    // Digits that are apart become coefficients modulo p^e.
    let map = if general && approach == Approach::Multiples { two + 20.0 } else { one + 16.0 };
    let (maps, products) = (vec![map; 2], vec![one + 14.0; 2]);
    // Coordinates have more noise than the slots that they are unpacked from.
    let (squares, back) = (vec![two + if general { 16.0 } else { 13.0 }; removal], vec![two + 20.0; 2]);
    let messages = if general { [products, maps] } else { [maps, products] }.concat();
    let levels = [vec![two + 20.0], messages, squares, back].concat();
    let special = [two + 20.5, two + 21.0, two + 21.5, 32.0];
    let chain = spec_of_odd_index(index, &levels, &special, 2);
    BgvSpec { name: "odd index".into(), general, exponent, ..of_chain(chain, prime, (approach, bound, 4)) }
}

/// A set modulo a power of 2 in a ring of odd index, whose digits of four bits are read one after the other; three products between
/// bootstraps.
///
/// # Panics
/// If there are not enough primes.
pub fn bits(index: u64, exponent: u32, general: bool) -> BgvSpec {
    small_prime(2, 4, index, exponent, general)
}

/// [`bits`] for a small prime and `digits` of its digits, for I up to 7.
///
/// # Panics
/// As [`bits`].
pub fn small_prime(prime: u64, digits: u32, index: u64, exponent: u32, general: bool) -> BgvSpec {
    let bound = 7;
    let all =
        PrimePower::new(prime, exponent + digits).and_then(|ring| AllDigits::small(ring, digits, bound));
    // One level for each product, and a division.
    let removal = vec![37.0; all.expect("digits").levels() + 1];
    let (maps, products) = (vec![36.0; 2], vec![36.0; 3]);
    let messages = if general { [products, maps] } else { [maps, products] }.concat();
    let levels = [vec![38.0], messages, removal, vec![38.0; 2]].concat();
    let chain = spec_of_odd_index(index, &levels, &[39.0, 39.5, 40.0, 32.0], 2);
    // 16 uniform numbers, four or eight for a coefficient: their sum exceeds 7.5 only in the corners.
    let weight = if index == 255 { 2 } else { 4 };
    BgvSpec {
        name: format!("digits of {prime}, index {index}"),
        general,
        exponent,
        digit_exponent: digits,
        ..of_chain(chain, prime, (Approach::Raised, bound as u32, weight))
    }
}

/// Messages modulo p of every kind that a bootstrap should keep, each with `count` coefficients or slots; `random` is the first.
pub fn messages_of_every_kind(p: u64, count: usize, random: &[u64]) -> Vec<Vec<u64>> {
    let of = |f: &dyn Fn(usize) -> u64| (0..count).map(|i| f(i) % p).collect();
    vec![
        of(&|i| random[i]),
        of(&|_| 0),
        of(&|_| 1),
        of(&|_| p - 1),
        of(&|_| p / 2),
        of(&|i| i as u64),
        of(&|i| u64::from(i == 0)),
    ]
}
