//! Questions about the order of numbers in steps: the stages between two places where the ciphertexts can be looked at.

use alloc::{format, vec, vec::Vec};

use super::{
    evaluator::LinkEvaluator,
    order::pairs,
    phase::Phase,
    questions::{answer_level, bits_of_rank, orders_by_gates, planned, range},
    stages,
};
use crate::{
    bootstrapping::raising::ReductionSpec,
    circuits::program::{Asked, Bounds, Order, Readings},
    error::Error,
    par,
    schemes::{cggi::CggiCiphertext, ckks::Ciphertext},
    trace::{Counters, Observer, StageEvent, emit},
};

/// Where a run stands.
pub enum OrderState {
    /// Before the first step: numbers in slots.
    Input(Ciphertext<u64>),
    /// The numbers of the questions as phases.
    Numbers(Vec<Phase>),
    /// Within a stage of independent rotations, of which some are done, so that others see the progress.
    Rotating(Rotations),
    /// The ranks are there: for each number, how many of the others it is at least as large as.
    Ranks,
    /// The value of a table for each rank, or signs, as bits.
    Bits(Vec<CggiCiphertext<u64>>),
    /// All answers are there.
    Done,
    /// Ended by an error.
    Failed,
}

/// Independent rotations of a stage, on their way.
pub struct Rotations {
    work: Work,
    count: usize,
    done: Vec<CggiCiphertext<u64>>,
}

impl Rotations {
    fn new(work: Work, count: usize) -> Self {
        Self { work, count, done: Vec::with_capacity(count) }
    }

    /// How many results there are, and how many there will be.
    pub fn progress(&self) -> (usize, usize) {
        (self.done.len(), self.count)
    }
}

/// What rotations are done for.
enum Work {
    /// The signs of numbers.
    Signs(Vec<Phase>),
    /// Whether one of a pair is at least as large as the other.
    Pairs(Vec<Phase>, Vec<(usize, usize)>),
    /// The values of a table for ranks.
    LookUps,
}

impl Work {
    fn stage(&self) -> &'static str {
        match self {
            Self::Signs(_) | Self::Pairs(..) => stages::COMPARE,
            Self::LookUps => stages::LOOK_UP,
        }
    }
}

/// Questions that the same comparisons answer, driven from outside: between two steps the caller may look, wait or drop it.
pub struct OrderRun<R: ReductionSpec> {
    evaluator: LinkEvaluator<R>,
    orders: Vec<Order>,
    ranks: Vec<CggiCiphertext<u64>>,
    /// The bit of the answer to the next question that is looked up next: bits of ranks come back one after the other.
    place: u32,
    /// The answer to the next question, as far as its bits have come back.
    sum: Option<Ciphertext<u64>>,
    answers: Vec<Ciphertext<u64>>,
    state: OrderState,
}

impl<R: ReductionSpec> OrderRun<R> {
    /// Checks the questions and the numbers; nothing is computed yet.
    ///
    /// # Errors
    /// As the plan of a program with these nodes: [`Error::InvalidArgument`] for readings that are not questions about an order, for
    /// questions about different numbers, or about more than the set takes; [`Error::ScaleMismatch`], [`Error::LevelMismatch`],
    /// [`Error::ParamsMismatch`] for a ciphertext that does not fit; [`Error::Limit`] for a grid that the noise does not allow.
    pub fn new(
        evaluator: &LinkEvaluator<R>,
        x: &Ciphertext<u64>,
        readings: Readings<'_>,
    ) -> Result<Self, Error> {
        evaluator.check_numbers(x)?;
        planned(evaluator.params(), x.scale(), readings)?;
        Ok(Self {
            evaluator: evaluator.clone(),
            orders: orders_by_gates(readings.list)?,
            ranks: Vec::new(),
            place: 0,
            sum: None,
            answers: Vec::new(),
            state: OrderState::Input(x.clone()),
        })
    }

    /// Where the run stands.
    pub fn state(&self) -> &OrderState {
        &self.state
    }

    /// The bounds of the numbers that are compared.
    pub(super) fn bounds(&self) -> Bounds {
        self.orders.first().map_or(Bounds::Signed, |order| order.bounds)
    }

    /// The ranks, once there are any.
    pub fn ranks(&self) -> &[CggiCiphertext<u64>] {
        &self.ranks
    }

    /// The answers so far, in the order of the questions: at the scale of the set and the level that a plan gives them.
    pub fn answers(&self) -> &[Ciphertext<u64>] {
        &self.answers
    }

    /// The question that was answered last.
    pub fn answered(&self) -> Option<Order> {
        self.orders.get(self.answers.len().checked_sub(1)?).copied()
    }

    /// The question that is answered next, and the bit of its answer; `None` when all are.
    pub fn question(&self) -> Option<(Order, u32)> {
        self.orders.get(self.answers.len()).map(|order| (*order, self.place))
    }

    /// Does the work up to the next state, and reports its stages; true when the run is finished. A stage of many rotations takes several
    /// steps, each of a few rotations on every thread.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the observer breaks. After an error the run is over.
    pub fn step(&mut self, observer: &mut dyn Observer) -> Result<bool, Error> {
        let state = core::mem::replace(&mut self.state, OrderState::Failed);
        self.state = self.next(state, observer)?;
        Ok(matches!(self.state, OrderState::Done))
    }

    /// The answers, in the order of the questions.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if steps are left.
    pub fn finish(self) -> Result<Vec<Ciphertext<u64>>, Error> {
        match self.state {
            OrderState::Done => Ok(self.answers),
            _ => Err(Error::InvalidArgument(format!(
                "{} of {} questions are answered; do the steps that are left",
                self.answers.len(),
                self.orders.len()
            ))),
        }
    }

    fn next(&mut self, state: OrderState, observer: &mut dyn Observer) -> Result<OrderState, Error> {
        let Some((order, place)) = self.question() else { return Ok(OrderState::Done) };
        let evaluator = &self.evaluator;
        Ok(match state {
            OrderState::Input(x) => {
                let slots: Vec<usize> = (0..order.count as usize).collect();
                OrderState::Numbers(evaluator.extract(&x, &slots, range(&order), observer)?)
            }
            OrderState::Numbers(numbers) => {
                let (work, count) = if order.asked == Asked::Sign {
                    let count = numbers.len();
                    (Work::Signs(numbers), count)
                } else {
                    evaluator.check_ranked(&numbers)?;
                    let pairs = pairs(numbers.len());
                    let count = pairs.len();
                    (Work::Pairs(numbers, pairs), count)
                };
                emit(observer, &StageEvent::Enter { stage: work.stage() })?;
                self.rotate(Rotations::new(work, count), (order, place), observer)?
            }
            OrderState::Ranks => {
                let work = Work::LookUps;
                emit(observer, &StageEvent::Enter { stage: work.stage() })?;
                self.rotate(Rotations::new(work, self.ranks.len()), (order, place), observer)?
            }
            OrderState::Rotating(rotations) => self.rotate(rotations, (order, place), observer)?,
            OrderState::Bits(bits) => {
                let slots = evaluator.to_slots(&bits, observer)?;
                self.add(order, &slots)?;
                if self.question().is_some() { OrderState::Ranks } else { OrderState::Done }
            }
            done @ OrderState::Done => done,
            OrderState::Failed => {
                return Err(Error::InvalidArgument("the run ended with an error; start another one".into()));
            }
        })
    }

    /// Does a few more rotations of a stage that was entered, on all threads.
    fn rotate(
        &mut self,
        mut rotations: Rotations,
        (order, place): (Order, u32),
        observer: &mut dyn Observer,
    ) -> Result<OrderState, Error> {
        let (evaluator, ranks) = (&self.evaluator, &self.ranks);
        let (stage, first, total) = (rotations.work.stage(), rotations.done.len(), rotations.count);
        let work = |i: usize| match &rotations.work {
            Work::Signs(numbers) => evaluator.above(&numbers[i], 0.0, &mut ()),
            Work::Pairs(numbers, pairs) => evaluator.compare_pair(numbers, pairs[i]),
            Work::LookUps => evaluator.look_up_rank(&ranks[i], |rank| is_set(&order, place, rank as u32)),
        };
        let batch = par::try_map(stages::batch().min(total - first), |i| work(first + i))?;
        rotations.done.extend(batch);
        let done = rotations.done.len();
        emit(observer, &StageEvent::Progress { stage, done, total })?;
        if done < total {
            return Ok(OrderState::Rotating(rotations));
        }
        let log_q = evaluator.params().cggi().modulus().log2();
        let counters = Counters::default();
        emit(observer, &StageEvent::Exit { stage, level: 0, log_q, log_scale: log_q, counters })?;
        if let Work::Pairs(numbers, _) = &rotations.work {
            self.ranks = evaluator.ranks_of(numbers.len(), &rotations.done)?;
            return Ok(OrderState::Ranks);
        }
        Ok(OrderState::Bits(rotations.done))
    }

    /// Adds bits that came back to the answer to a question.
    fn add(&mut self, order: Order, slots: &Ciphertext<u64>) -> Result<(), Error> {
        let ckks = self.evaluator.ckks().ckks();
        let slots = ckks.drop_to_level(slots, answer_level(self.evaluator.params()))?;
        if order.asked == Asked::Sign {
            // All questions of a run are the same one.
            self.answers = vec![slots; self.orders.len()];
            return Ok(());
        }
        let sum = match (order.asked, self.sum.take()) {
            (Asked::Rank, sum) => {
                let weighted = ckks.multiply_integer(&slots, 1 << self.place)?;
                match sum {
                    Some(sum) => ckks.add(&sum, &weighted)?,
                    None => weighted,
                }
            }
            _ => slots,
        };
        if order.asked == Asked::Rank && self.place + 1 < bits_of_rank(&order) {
            self.sum = Some(sum);
            self.place += 1;
        } else {
            self.answers.push(sum);
            self.place = 0;
        }
        Ok(())
    }
}

/// The value of a table for a rank: its bit at `place`, or whether the question means this rank.
pub(super) fn is_set(order: &Order, place: u32, rank: u32) -> bool {
    if order.asked == Asked::Rank { rank >> place & 1 == 1 } else { order.is_meant(rank) }
}
