//! What the holder of the secret keys sees between two steps: phases on the circle, ranks, bits, and answers in slots.

use alloc::vec::Vec;

use super::{
    questions::range,
    run::{OrderRun, OrderState, is_set},
    secret::LinkSecretKey,
    stages,
};
use crate::{
    bootstrapping::{
        StageView, ViewKind,
        ckks_conventional::{ConventionalRun, Reduction},
        raising::ReductionSpec,
    },
    circuits::program::{Asked, Bounds, Order},
    error::Error,
    schemes::ckks::{Ciphertext, Complex},
};

impl LinkSecretKey<Reduction> {
    /// Decrypts the state of a bootstrap of numbers, as the key of the slots does.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] if the run is under another key.
    pub fn view(
        &self,
        run: &ConventionalRun<'_, u64>,
        message: &[Complex],
    ) -> Result<Option<StageView>, Error> {
        self.ckks().view(run, message)
    }
}

impl<R: ReductionSpec> LinkSecretKey<R> {
    /// Decrypts the state of a run: the numbers in slots, beside `message`; their phases in turns; the ranks, and the bits looked up from
    /// them, one value for each number; and the last answer. Missing numbers are zero. `None` after an error.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] if the run is under another key.
    pub fn view_order(&self, run: &OrderRun<R>, message: &[Complex]) -> Result<Option<StageView>, Error> {
        let slots =
            |x: &Ciphertext<u64>| Ok::<_, Error>(self.ckks().decrypt(x)?.reveal_to_key_owner().clone());
        let mut message = message.to_vec();
        message.resize(self.params().ckks().slots(), Complex::ZERO);
        if let Bounds::Grid(bits) = run.bounds() {
            // Equal numbers stay equal, whatever the noise of a message that was decrypted.
            let steps = libm::exp2(f64::from(bits));
            for x in &mut message {
                *x = Complex::from(libm::rint(x.re * steps) / steps);
            }
        }
        let asked = run.question();
        let view = |stage, kind, unit, values, expected| {
            Ok(Some(StageView { stage, kind, track: None, node: None, unit, values, expected }))
        };
        match (run.state(), asked) {
            (OrderState::Input(x), _) => {
                view(stages::SLOTS_TO_BASE, ViewKind::Slots, 1.0, slots(x)?, message)
            }
            (OrderState::Numbers(numbers), Some((order, _))) => {
                let phase = |number| self.inspect_phase(number).map(Complex::from);
                let values = numbers.iter().map(phase).collect::<Result<Vec<_>, _>>()?;
                let unit = range(&order).turns();
                let expected =
                    message.iter().take(numbers.len()).map(|x| Complex::from(x.re * unit)).collect();
                view(stages::TO_GATES, ViewKind::Phases, unit, values, expected)
            }
            (OrderState::Ranks, Some((order, 0))) if run.answers().is_empty() => {
                let rank = |rank| Ok::<_, Error>(Complex::from(f64::from(self.cggi().decrypt(rank)?)));
                let values = run.ranks().iter().map(rank).collect::<Result<Vec<_>, _>>()?;
                view(stages::COMPARE, ViewKind::Slots, 1.0, values, ranks(order, &message))
            }
            (OrderState::Bits(bits), Some((order, place))) => {
                let bit = |bit| Complex::from(f64::from(u8::from(bit)));
                let values = self.cggi().decrypt_bits(bits)?.into_iter().map(bit).collect();
                let expected = if order.asked == Asked::Sign {
                    first(order, order.of(&message))
                } else {
                    ranks(order, &message)
                        .iter()
                        .map(|rank| bit(is_set(&order, place, rank.re as u32)))
                        .collect()
                };
                let stage = if order.asked == Asked::Sign { stages::COMPARE } else { stages::LOOK_UP };
                view(stage, ViewKind::Slots, 1.0, values, expected)
            }
            (OrderState::Ranks, Some((_, 0))) | (OrderState::Done, _) => {
                let Some(answer) = run.answers().last() else { return Ok(None) };
                let Some(order) = run.answered() else { return Ok(None) };
                view(stages::READ_BITS, ViewKind::Slots, 1.0, slots(answer)?, order.of(&message))
            }
            _ => Ok(None),
        }
    }
}

/// The exact ranks of the numbers of a question.
fn ranks(order: Order, message: &[Complex]) -> Vec<Complex> {
    first(order, Order { asked: Asked::Rank, ..order }.of(message))
}

fn first(order: Order, mut answers: Vec<Complex>) -> Vec<Complex> {
    answers.truncate(order.count as usize);
    answers
}
