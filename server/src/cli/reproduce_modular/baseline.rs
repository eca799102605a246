//! Table 10, the baseline that digits are compared with: bits by an approximate sign.
//!
//! A bit of x comes from the sign of 2x - 1, by compositions of f(x) = (35 x - 35 x^3 + 21 x^5 - 5 x^7) / 16, which is 1 at 1 and
//! flat there (Drucker et al., Journal of Cryptology, 2024). 2x minus that bit has the next bit. For a number near the middle, the
//! compositions do not reach a sign: its bit is neither 0 nor 1. The paper does not say how many compositions it uses.

use std::time::Instant;

use refloat::Error;
use refloat::bootstrapping::ckks_conventional::{
    ConventionalBootstrapper, ConventionalEvaluator, ConventionalKeys, ConventionalSecretKey,
};
use refloat::bootstrapping::program::ProgramMethod;
use refloat::circuits::polynomial::{Polynomial, PolynomialBasis};
use refloat::circuits::program::{Bootstraps, Builder, InputShape, Plan, Program};
use refloat::params::conventional_preset;
use refloat::schemes::ckks::Complex;

use super::bits::{BITS, Published, Tally};
use super::{Input, Request, Row, Set, System, resident};
use crate::cli::failure::Failure;
use crate::cli::keyfiles::fresh_seed;
use crate::cli::measure;
use crate::cli::output::Output;
use crate::cli::progress;

const PUBLISHED: Published = Published { seconds: 385.0, bits: [10.0, 23.6], number: [10.0, 11.0] };

/// How a bit is made of 2x - 1.
#[derive(Debug, Clone, Copy)]
struct Sign {
    /// Compositions of f.
    compositions: usize,
    /// Compositions of 3 x^2 - 2 x^3 after those.
    cleanings: usize,
}

/// Those whose share of failures lies on both sides of the published one.
const SIGNS: [Sign; 3] = [
    Sign { compositions: 6, cleanings: 0 },
    Sign { compositions: 7, cleanings: 0 },
    Sign { compositions: 6, cleanings: 2 },
];

impl Sign {
    /// The highest bits of a number in [0, 1), one output each.
    fn extraction(self, bits: usize) -> Result<Program, Error> {
        let polynomial =
            |coefficients: &[f64]| Polynomial::new(PolynomialBasis::Monomial, coefficients.iter().copied());
        let sixteenths = [0.0, 35.0, 0.0, -35.0, 0.0, 21.0, 0.0, -5.0];
        let step = polynomial(&sixteenths.map(|c| c / 16.0))?;
        // (1 + f) / 2.
        let mut halved = sixteenths.map(|c| c / 32.0);
        halved[0] = 0.5;
        let (last, cleaning) = (polynomial(&halved)?, polynomial(&[0.0, 0.0, 3.0, -2.0])?);
        let mut builder = Builder::new();
        let one = builder.constant([1.0]);
        let mut x = builder.input("x");
        for i in 0..bits {
            let twice = builder.add(x, x);
            let mut bit = builder.subtract(twice, one);
            for _ in 1..self.compositions {
                bit = builder.polynomial(bit, &step);
            }
            bit = builder.polynomial(bit, &last);
            for _ in 0..self.cleanings {
                bit = builder.polynomial(bit, &cleaning);
            }
            builder.output(&format!("bit {}", i + 1), bit);
            x = builder.subtract(twice, bit);
        }
        builder.finish()
    }
}

/// The rows of a set's baseline.
pub(super) fn rows(set: Set, request: &Request, output: &Output) -> Result<Vec<Row>, Failure> {
    let name = match set {
        Set::Own | Set::Paper => "drucker16",
        Set::Toy => "toy-conventional10-slots-first",
    };
    let params = conventional_preset(name)?.params()?;
    let plan = resident(&params, request.budget)?;
    let spinner = progress::spinner(output, &format!("{name}: making keys"));
    let secret = ConventionalSecretKey::generate(&params, &fresh_seed()?);
    let keys = ConventionalKeys::generate(&secret)?;
    let evaluator = ConventionalEvaluator::new(&params, plan.storage())?;
    let method = ConventionalBootstrapper { evaluator: &evaluator, keys: &keys };
    let (pool, target) = (measure::pool(1)?, params.program_target()?);
    let mut rows = Vec::new();
    for sign in SIGNS {
        let Sign { compositions, cleanings } = sign;
        spinner
            .set_message(format!("{name}: Table 10, {compositions} compositions and {cleanings} cleanings"));
        let program = sign.extraction(BITS)?;
        let (mut tally, mut bootstraps) = (Tally::default(), 0);
        for _ in 0..request.runs {
            let input = Input::draw(System::Boot, 1.0, params.slots(), &fresh_seed()?);
            let slots: Vec<Complex> = input.values.iter().map(|&x| Complex::new(x, 0.0)).collect();
            let x = secret.encrypt(&slots, params.levels().output, &fresh_seed()?)?;
            let plan = Plan::new(&program, &target, &[InputShape::of(&x)], Bootstraps::WhereNeeded)?;
            bootstraps = plan.bootstraps();
            let began = Instant::now();
            let results = pool.install(|| method.run_program(&plan, &[x], &mut ()))?;
            let seconds = began.elapsed().as_secs_f64();
            let decrypt = |bit| -> Result<Vec<f64>, Failure> {
                Ok(secret.decrypt(bit)?.reveal_to_key_owner().iter().map(|z| z.re).collect())
            };
            let bits = results.iter().map(decrypt).collect::<Result<Vec<_>, _>>()?;
            tally.add(&bits, &input.values, seconds);
        }
        let what = format!("by {compositions} compositions of a sign and {cleanings} cleanings");
        let note = format!("{bootstraps} bootstraps; published: 1.00 %, of compositions that are not said");
        rows.extend(tally.rows(name, 0, params.slots(), &PUBLISHED, (&what, &note)));
    }
    spinner.finish_and_clear();
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the clear, on a grid of numbers: 2.3 % of the bits with six compositions, 1.05 % with seven, 1.03 % with six and two
    /// cleanings.
    #[test]
    fn so_many_bits_fail_in_the_clear() {
        let slots = 1 << 13;
        let values: Vec<Complex> =
            (0..slots).map(|i| Complex::new((f64::from(i as u32) + 0.37) / slots as f64, 0.0)).collect();
        for (sign, share) in SIGNS.into_iter().zip([0.023, 0.0105, 0.0103]) {
            let outputs = sign.extraction(1).unwrap().evaluate(slots, std::slice::from_ref(&values)).unwrap();
            let off = |z: &&Complex| (z.re - z.re.round()).abs() > 0.5f64.powi(BITS as i32);
            let found = outputs[0].iter().filter(off).count() as f64 / slots as f64;
            assert!((found / share - 1.0).abs() < 0.1, "{sign:?}: {found}, {share} expected");
        }
        // Far from the middles, all ten bits are right.
        let sign = SIGNS[2];
        let value = f64::from(0b10_1101_0010) / 1024.0 + 0.4 / 1024.0;
        let outputs = sign.extraction(BITS).unwrap().evaluate(1, &[vec![Complex::new(value, 0.0)]]).unwrap();
        let bits: Vec<f64> = outputs.iter().map(|bit| bit[0].re.round()).collect();
        assert_eq!(bits, [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn the_toy_set_gives_rows() {
        let request = Request { tables: vec![10], sets: vec![], runs: 1, budget: None };
        let rows = rows(Set::Toy, &request, &Output::new(true)).unwrap();
        assert_eq!(rows.len(), 2 * SIGNS.len());
        for row in rows.iter().step_by(2) {
            let percent: f64 = row.note.split(' ').next().unwrap().parse().unwrap();
            // Slots are drawn anew: the few whose bits are off by 1 move the mean from run to run.
            assert!((0.3..5.0).contains(&percent) && row.mean_bits > Some(6.5), "{row:?}");
        }
    }
}
