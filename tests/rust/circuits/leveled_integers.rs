//! Polynomials on a scheme other than CKKS: integers modulo p^k in the clear that carry the labels a BGV ciphertext has,
//! units modulo p^k, and refuse to be added at two of them.

use refloat::Error;
use refloat::circuits::polynomial::{Parity, Plan, Polynomial, PolynomialEvaluator};
use refloat::schemes::evaluator::{Label, Leveled};
use refloat::trace::Counters;
use refloat_tests::rns::Lottery;

/// A unit f modulo P: the ciphertext of the plaintext m holds f m.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Factor {
    f: u64,
    modulus: u64,
}

fn times(x: u64, y: u64, modulus: u64) -> u64 {
    (u128::from(x) * u128::from(y) % u128::from(modulus)) as u64
}

fn inverse(x: u64, modulus: u64) -> u64 {
    let (mut r, mut s) = ([i128::from(modulus), i128::from(x)], [0i128, 1]);
    while r[1] != 0 {
        let q = r[0] / r[1];
        (r, s) = ([r[1], r[0] - q * r[1]], [s[1], s[0] - q * s[1]]);
    }
    assert_eq!(r[0], 1, "{x} is not a unit modulo {modulus}");
    s[0].rem_euclid(i128::from(modulus)) as u64
}

impl Label for Factor {
    fn mul(self, other: Self) -> Self {
        assert_eq!(self.modulus, other.modulus);
        Self { f: times(self.f, other.f, self.modulus), ..self }
    }

    fn div(self, other: Self) -> Self {
        self.mul(Self { f: inverse(other.f, self.modulus), ..self })
    }
}

/// Slots in the clear, each times the factor.
#[derive(Debug, Clone)]
struct Clear {
    payload: Vec<u64>,
    level: usize,
    factor: Factor,
    components: usize,
}

/// Arithmetic modulo P = p^k on a chain of primes, one per level.
struct ClearEvaluator {
    modulus: u64,
    primes: Vec<u64>,
}

/// The highest level of ciphertexts it relinearises.
struct Key(usize);

impl ClearEvaluator {
    fn new(modulus: u64, levels: usize) -> Self {
        // Of any size: they only have to be units modulo P.
        let primes =
            [1_000_003, 998_244_353, 1_073_479_681, 5_767_169, 2_013_265_921, 7_340_033].into_iter().cycle();
        Self { modulus, primes: primes.take(levels + 1).collect() }
    }

    fn unit(&self, f: u64) -> Factor {
        Factor { f: f % self.modulus, modulus: self.modulus }
    }

    fn top(&self) -> usize {
        self.primes.len() - 1
    }

    fn encrypt(&self, slots: &[u64], factor: Factor) -> Clear {
        let payload = slots.iter().map(|&x| times(x % self.modulus, factor.f, self.modulus)).collect();
        Clear { payload, level: self.top(), factor, components: 2 }
    }

    fn decrypt(&self, x: &Clear) -> Vec<u64> {
        let f = inverse(x.factor.f, self.modulus);
        x.payload.iter().map(|&x| times(x, f, self.modulus)).collect()
    }

    fn residue(&self, c: i64) -> u64 {
        c.rem_euclid(self.modulus as i64) as u64
    }

    fn add_scaled(&self, sum: &mut Clear, x: &Clear, c: u64) {
        for (sum, &x) in sum.payload.iter_mut().zip(&x.payload) {
            *sum = (*sum + times(c, x, self.modulus)) % self.modulus;
        }
        sum.components = sum.components.max(x.components);
    }
}

fn same_label(x: Factor, y: Factor) -> Result<(), Error> {
    if x == y {
        return Ok(());
    }
    Err(Error::ScaleMismatch(format!("factors {} and {} modulo {}", x.f, y.f, x.modulus)))
}

impl Leveled for ClearEvaluator {
    type Ciphertext = Clear;
    type Coefficient = i64;
    type Label = Factor;
    type RelinearizationKey = Key;

    fn level(&self, x: &Clear) -> usize {
        x.level
    }

    fn label(&self, x: &Clear) -> Factor {
        x.factor
    }

    fn label_of_level(&self, level: usize) -> Factor {
        assert!(level > 0, "nothing is below level 0");
        self.unit(self.primes[level])
    }

    fn at_label(&self, x: Clear, label: Factor) -> Result<Clear, Error> {
        same_label(x.factor, label)?;
        Ok(x)
    }

    fn check_operand(&self, x: &Clear, key: &Key, _: Factor) -> Result<(), Error> {
        if x.components != 2 {
            return Err(Error::InvalidArgument("not relinearised".into()));
        }
        if key.0 < x.level {
            return Err(Error::LevelMismatch(format!("key of level {}, ciphertext at {}", key.0, x.level)));
        }
        Ok(())
    }

    fn empty_sum(&self, like: &Clear, level: usize, label: Factor) -> Clear {
        Clear { payload: vec![0; like.payload.len()], level, factor: label, components: 2 }
    }

    fn add_constant_assign(&self, sum: &mut Clear, &c: &i64) -> Result<(), Error> {
        let shift = times(self.residue(c), sum.factor.f, self.modulus);
        sum.payload.iter_mut().for_each(|x| *x = (*x + shift) % self.modulus);
        Ok(())
    }

    fn add_multiple_assign(&self, sum: &mut Clear, x: &Clear, &c: &i64) -> Result<(), Error> {
        if x.level < sum.level {
            return Err(Error::LevelMismatch(format!("{} is below {}", x.level, sum.level)));
        }
        let ratio = sum.factor.div(x.factor).f;
        self.add_scaled(sum, x, times(self.residue(c), ratio, self.modulus));
        Ok(())
    }

    fn multiply_integer_assign(&self, x: &mut Clear, k: i64) -> Result<(), Error> {
        let k = self.residue(k);
        x.payload.iter_mut().for_each(|x| *x = times(*x, k, self.modulus));
        Ok(())
    }

    fn add_to(&self, mut x: Clear, y: &Clear) -> Result<Clear, Error> {
        same_label(x.factor, y.factor)?;
        x.level = x.level.min(y.level);
        self.add_scaled(&mut x, y, 1);
        Ok(x)
    }

    fn tensor(&self, x: &Clear, y: &Clear) -> Result<Clear, Error> {
        if (x.components, y.components) != (2, 2) {
            return Err(Error::InvalidArgument("not relinearised".into()));
        }
        let payload = x.payload.iter().zip(&y.payload).map(|(&x, &y)| times(x, y, self.modulus)).collect();
        Ok(Clear { payload, level: x.level.min(y.level), factor: x.factor.mul(y.factor), components: 3 })
    }

    fn reduce(&self, x: &Clear, key: &Key, counters: &mut Counters) -> Result<Clear, Error> {
        if x.level == 0 || key.0 < x.level {
            return Err(Error::LevelMismatch(format!("level {}, key of level {}", x.level, key.0)));
        }
        counters.key_switch += u64::from(x.components == 3);
        let q = self.label_of_level(x.level);
        let by = inverse(q.f, self.modulus);
        let payload = x.payload.iter().map(|&x| times(x, by, self.modulus)).collect();
        Ok(Clear { payload, level: x.level - 1, factor: x.factor.div(q), components: 2 })
    }
}

/// By Horner's rule.
fn value(p: &Polynomial<i64>, x: u64, modulus: u64) -> u64 {
    p.coefficients()
        .iter()
        .rev()
        .fold(0, |sum, &c| (times(sum, x, modulus) + c.rem_euclid(modulus as i64) as u64) % modulus)
}

fn random(degree: usize, parity: Parity, modulus: u64, lottery: &mut Lottery) -> Polynomial<i64> {
    let half = (modulus / 2) as i64;
    let coefficient = |i| {
        let c = (lottery.word() % modulus) as i64 - half;
        if !parity.allows(i) {
            0
        } else if i == degree {
            // The leading one is not zero.
            c | 1
        } else {
            c
        }
    };
    Polynomial::of_integers((0..=degree).map(coefficient)).expect("not empty")
}

/// Modulus and slots: all residues of small ones.
fn moduli(lottery: &mut Lottery) -> Vec<(u64, Vec<u64>)> {
    let mut cases: Vec<(u64, Vec<u64>)> =
        [2, 9, 257, 3u64.pow(5)].into_iter().map(|m| (m, (0..m).collect())).collect();
    for modulus in [17u64.pow(4), 65537 * 65537, 786_433 * 786_433] {
        let edges = [0, 1, 2, modulus / 2, modulus - 1];
        cases.push((modulus, edges.into_iter().chain((0..20).map(|_| lottery.word() % modulus)).collect()));
    }
    cases
}

#[test]
fn integer_polynomials_are_evaluated_at_one_label_everywhere() {
    let mut lottery = Lottery::new(15);
    for (modulus, slots) in moduli(&mut lottery) {
        for degree in [0, 1, 2, 3, 4, 7, 8, 15, 31, 36, 61, 100, 127, 128, 200] {
            for parity in [Parity::General, Parity::Even, Parity::Odd] {
                if !parity.allows(degree) {
                    continue;
                }
                let p = random(degree, parity, modulus, &mut lottery);
                let evaluator = ClearEvaluator::new(modulus, p.levels() + 1);
                let key = Key(evaluator.top());
                let unit = |lottery: &mut Lottery| loop {
                    let f = lottery.word() % modulus;
                    if num_integer::gcd(f, modulus) == 1 {
                        return evaluator.unit(f);
                    }
                };
                let (own, target) = (unit(&mut lottery), unit(&mut lottery));
                let x = evaluator.encrypt(&slots, own);
                let polynomials = PolynomialEvaluator::new(&evaluator, &key);
                let plan = Plan::new(std::slice::from_ref(&p)).expect("one polynomial");
                let mut counters = Counters::default();
                let planned = polynomials.evaluate_planned_counted(&plan, &x, target, &mut counters);
                let y = planned.expect("enough levels").swap_remove(0);
                let expected: Vec<u64> = slots.iter().map(|&x| value(&p, x, modulus)).collect();
                assert_eq!(evaluator.decrypt(&y), expected, "degree {degree}, modulo {modulus}");
                assert_eq!((y.level, y.factor), (x.level - p.levels(), target));
                assert_eq!(counters.key_switch, plan.key_switches() as u64);
            }
        }
    }
}

#[test]
fn integer_polynomials_share_powers() {
    let (modulus, mut lottery) = (65537, Lottery::new(16));
    let polynomials: Vec<_> =
        [40, 17, 3, 0].map(|degree| random(degree, Parity::General, modulus, &mut lottery)).into();
    let evaluator = ClearEvaluator::new(modulus, 7);
    let (key, slots) = (Key(7), (0..50).map(|_| lottery.word() % modulus).collect::<Vec<_>>());
    let x = evaluator.encrypt(&slots, evaluator.unit(7));
    let values = PolynomialEvaluator::new(&evaluator, &key)
        .evaluate_many(&polynomials, &x, evaluator.unit(11))
        .expect("enough levels");
    for (p, y) in polynomials.iter().zip(&values) {
        let expected: Vec<u64> = slots.iter().map(|&x| value(p, x, modulus)).collect();
        assert_eq!(evaluator.decrypt(y), expected);
        assert_eq!(y.level, 7 - p.levels());
    }
    let alone = polynomials.iter().map(|p| Plan::new(std::slice::from_ref(p)).expect("one").key_switches());
    assert!(Plan::new(&polynomials).expect("polynomials").key_switches() < alone.sum::<usize>());
}

#[test]
fn what_does_not_fit_is_refused() {
    let evaluator = ClearEvaluator::new(257, 3);
    let x = evaluator.encrypt(&[1, 2, 3], evaluator.unit(5));
    let other = evaluator.encrypt(&[1, 2, 3], evaluator.unit(6));
    // The oracle itself: it would see a circuit that adds at two labels.
    assert!(matches!(evaluator.add_to(x.clone(), &other), Err(Error::ScaleMismatch(_))));
    assert!(matches!(evaluator.at_label(x.clone(), evaluator.unit(6)), Err(Error::ScaleMismatch(_))));
    let evaluate = |degree: usize, x: &Clear, key: usize| {
        let p = Polynomial::of_integers((0..=degree as i64).map(|i| i + 1)).expect("not empty");
        PolynomialEvaluator::new(&evaluator, &Key(key)).evaluate(&p, x, evaluator.unit(1))
    };
    assert!(evaluate(7, &x, 3).is_ok());
    assert!(matches!(evaluate(8, &x, 3), Err(Error::LevelMismatch(_))));
    assert!(matches!(evaluate(7, &x, 2), Err(Error::LevelMismatch(_))));
    let product = evaluator.tensor(&x, &other).expect("two components each");
    assert!(matches!(evaluate(2, &product, 3), Err(Error::InvalidArgument(_))));
    assert!(Polynomial::of_integers([]).is_err());
    assert_eq!(Polynomial::of_integers([1, 2, 0, 0]).expect("not empty").degree(), 1);
}
