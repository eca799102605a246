//! Programs on sets that link numbers to gates: those of numbers, and questions about their order.

use alloc::{format, sync::Arc, vec::Vec};
use core::fmt;

use super::{evaluator::LinkEvaluator, params::LinkParams, range::Range, secret::LinkSecretKey};
use crate::{
    bootstrapping::{
        Method,
        ckks_conventional::Reduction,
        method::{NumberSecret, SlotMode},
        program,
    },
    circuits::program::{
        Asked, Bounds, DigitReader, InputShape, Order, Plan, PlannedDigits, Reading, Readings, Target,
    },
    error::Error,
    random::Seed,
    schemes::{
        cggi::CggiCiphertext,
        ckks::{Ciphertext, CkksEvaluator, Private, Scale},
        log2_sum,
    },
    trace::{Observer, StageInfo},
};

/// Rotations that take about as long as a bootstrap of numbers.
const ROTATIONS_A_PASS: usize = 90;

impl LinkParams<Reduction> {
    /// What programs are planned for: those of numbers, and questions about their order.
    ///
    /// # Errors
    /// None for a set that was validated.
    pub fn program_target(&self) -> Result<Target, Error> {
        Ok(self.ckks().program_target()?.with_digits(Arc::new(Reader(self.clone()))))
    }
}

/// What plans need to know of a set.
struct Reader(LinkParams<Reduction>);

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "orders of {}", self.0.name())
    }
}

impl DigitReader for Reader {
    fn plan(&self, scale: Scale, readings: Readings<'_>) -> Result<PlannedDigits, Error> {
        let params = &self.0;
        let orders = orders(readings.list)?;
        for order in &orders {
            let most = if order.asked == Asked::Sign { params.most_bits() } else { params.most_ranked() };
            if order.count as usize > most {
                return Err(Error::InvalidArgument(format!(
                    "{} of {} numbers; {} takes {most} at once",
                    order.kind(),
                    order.count,
                    params.name()
                )));
            }
        }
        let Some(first) = orders.first() else {
            return Err(Error::InvalidArgument("no question about an order; ask one".into()));
        };
        let comparison = params.comparison(range(first), scale)?;
        // Bits come back above the levels of messages.
        let level = params.output_level().min(params.ckks().levels().output);
        let results = orders.iter().map(|_| InputShape { level, scale: params.ckks().scale() }).collect();
        let count = first.count as usize;
        let tables_of_each: usize = orders.iter().map(tables).sum();
        // The bits of several signs of the same numbers come back once.
        let raises = tables_of_each.max(1);
        let comparisons = if first.asked == Asked::Sign { count } else { count * (count - 1) / 2 };
        let rotations = comparisons * comparison.rotations() + count * tables_of_each;
        let limit = params.spec().log_failure;
        let least_distance = match comparison.range() {
            // Every rotation keeps the limit whatever the distance.
            Range::Grid { .. } => 0.0,
            _ => comparison.least_distance(limit).ok_or_else(|| {
                let (kind, name) = (first.kind(), params.name());
                Error::Limit(format!("{kind} of {count} numbers: {name} orders none with 2^{limit}"))
            })?,
        };
        let wrong = if first.asked == Asked::Sign {
            comparison.log2_wrong(least_distance) + libm::log2(count as f64)
        } else {
            params.check_ranks(count)?;
            params.log2_wrong_ranks(&comparison, count, tables_of_each, least_distance)
        };
        let raise = params.ckks().log2_failure();
        let failures = raise.map(|raise| log2_sum(&[wrong, raise + libm::log2(raises as f64)]));
        Ok(PlannedDigits {
            level: params.input_level(),
            results,
            known: alloc::vec![None; orders.len()],
            passes: raises + rotations.div_ceil(ROTATIONS_A_PASS),
            held: alloc::vec![params.ckks().levels().output; orders.len() + 3 + samples_held(params, comparisons)],
            log_failure: failures,
            least_distance,
        })
    }
}

/// How many ciphertexts of numbers take as much memory as the samples of so many comparisons do, beside the numbers in coefficients and
/// both halves of quotients: those of the phases, of their comparisons, and of a power of two of them that are packed, each of which
/// becomes two rows of the ring while it is still there.
fn samples_held(params: &LinkParams<Reduction>, comparisons: usize) -> usize {
    let level = params.ckks().levels().output;
    let ciphertext = 2 * params.ckks().ckks().rlwe().q(level).len() * params.ckks().n();
    let samples = 2 * comparisons + 6 * comparisons.next_power_of_two();
    (samples * params.cggi().n()).div_ceil(ciphertext)
}

/// Tables that are looked up of each rank.
fn tables(order: &Order) -> usize {
    match order.asked {
        Asked::Sign => 0,
        Asked::Rank => bits_of_rank(order) as usize,
        Asked::Argmax | Asked::Argmin | Asked::Top(_) => 1,
    }
}

/// Bits of the ranks of so many numbers.
fn bits_of_rank(order: &Order) -> u32 {
    u32::BITS - (order.count - 1).leading_zeros()
}

/// Questions that the same comparisons answer.
fn orders(readings: &[&Reading]) -> Result<Vec<Order>, Error> {
    let order = |reading: &&Reading| match reading {
        Reading::Order(order) => Ok(*order),
        other => Err(Error::InvalidArgument(format!(
            "{} reads digits, and this set compares; take keys of a set for modular reduction",
            other.kind()
        ))),
    };
    let orders = readings.iter().map(order).collect::<Result<Vec<_>, _>>()?;
    if orders.iter().any(|order| !orders[0].shares_comparisons(order)) {
        return Err(Error::InvalidArgument("questions of different numbers; ask them apart".into()));
    }
    Ok(orders)
}

/// Where numbers lie that a question is about, as gates compare them. A sign compares with 0, and no number is further than 1 from it.
fn range(order: &Order) -> Range {
    match order.bounds {
        _ if order.asked == Asked::Sign => Range::Unit,
        Bounds::Signed => Range::Signed,
        Bounds::Unit => Range::Unit,
        Bounds::Grid(bits) => Range::Grid { bits },
    }
}

/// An evaluator with its keys as a [`Method`]: bootstraps are those of numbers.
pub struct LinkBootstrapper {
    evaluator: LinkEvaluator<Reduction>,
}

impl LinkBootstrapper {
    /// With an evaluator.
    pub fn new(evaluator: LinkEvaluator<Reduction>) -> Self {
        Self { evaluator }
    }

    /// Evaluates a plan that was made for [`LinkParams::program_target`].
    ///
    /// # Errors
    /// As [`Plan::run`]; [`Error::ParamsMismatch`] for keys that are not those of the inputs' owner.
    pub fn run_program(
        &self,
        plan: &Plan<'_>,
        inputs: &[Ciphertext<u64>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<u64>>, Error> {
        let keys = self.evaluator.keys().ckks();
        program::check_owner(keys, inputs)?;
        program::run(plan, self, Some(keys.relinearization()), Some(keys), inputs, observer)
    }

    /// The answer to one question, of numbers whose ranks are known if it takes them.
    fn answer(
        &self,
        order: &Order,
        ranks: &[CggiCiphertext<u64>],
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<u64>, Error> {
        let evaluator = &self.evaluator;
        if order.asked != Asked::Rank {
            let bits = evaluator.look_up_ranks(ranks, |rank| order.is_meant(rank as u32), observer)?;
            return evaluator.to_slots(&bits, observer);
        }
        // Bit by bit: what comes back is bits.
        let ckks = evaluator.ckks().ckks();
        let mut sum: Option<Ciphertext<u64>> = None;
        for place in 0..bits_of_rank(order) {
            let bits = evaluator.look_up_ranks(ranks, |rank| rank >> place & 1 == 1, observer)?;
            let slots = ckks.multiply_integer(&evaluator.to_slots(&bits, observer)?, 1 << place)?;
            sum = Some(match sum {
                Some(sum) => ckks.add(&sum, &slots)?,
                None => slots,
            });
        }
        sum.ok_or_else(|| Error::InvalidArgument("the rank of one number; take two".into()))
    }
}

impl Method<u64> for LinkBootstrapper {
    fn params_id(&self) -> [u8; 16] {
        self.evaluator.params().fingerprint()
    }

    fn ckks(&self) -> &CkksEvaluator<u64> {
        self.evaluator.ckks().ckks()
    }

    fn input_level(&self) -> usize {
        self.evaluator.params().ckks().levels().input
    }

    fn output_level(&self) -> usize {
        self.evaluator.params().ckks().levels().output
    }

    fn stages(&self) -> &[StageInfo] {
        self.evaluator.params().ckks().stages()
    }

    fn bootstrap(&self, x: &Ciphertext<u64>, observer: &mut dyn Observer) -> Result<Ciphertext<u64>, Error> {
        self.evaluator.ckks().bootstrap(x, self.evaluator.keys().ckks(), observer)
    }

    fn read_digits(
        &self,
        x: &Ciphertext<u64>,
        readings: Readings<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<u64>>, Error> {
        let orders = orders(readings.list)?;
        let Some(first) = orders.first() else { return Ok(Vec::new()) };
        let slots: Vec<usize> = (0..first.count as usize).collect();
        let numbers = self.evaluator.extract(x, &slots, range(first), observer)?;
        if first.asked == Asked::Sign {
            let bits = self.evaluator.all_above(&numbers, 0.0, observer)?;
            return Ok(alloc::vec![self.evaluator.to_slots(&bits, observer)?; orders.len()]);
        }
        let ranks = self.evaluator.ranks(&numbers, observer)?;
        orders.iter().map(|order| self.answer(order, &ranks, observer)).collect()
    }
}

impl NumberSecret<u64> for LinkSecretKey<Reduction> {
    fn encrypt_numbers(
        &self,
        numbers: &[f64],
        mode: SlotMode,
        level: usize,
        randomness: &Seed,
    ) -> Result<Ciphertext<u64>, Error> {
        self.ckks().encrypt_numbers(numbers, mode, level, randomness)
    }

    fn decrypt_numbers(
        &self,
        ciphertext: &Ciphertext<u64>,
        mode: SlotMode,
    ) -> Result<Private<Vec<f64>>, Error> {
        self.ckks().decrypt_numbers(ciphertext, mode)
    }
}
