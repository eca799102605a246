//! From nodes to steps: levels, factors, noise and keys of each.

use alloc::format;

use super::{
    super::{
        Operation, Program, Value,
        lower::key_for,
        operands::{Constant, SumsAndProducts},
        steps::register_of,
    },
    numbers::{integer, integers_of, missing},
    placing::Planner,
    steps::{Action, Register},
};
use crate::{
    arith::Word,
    circuits::polynomial::{self, Polynomial, PolynomialEvaluator},
    error::Error,
    schemes::{
        bgv::BgvShape,
        evaluator::{Label, Leveled},
    },
    trace::Counters,
};

/// Largest integer by which values are multiplied without taking a level.
const LARGEST_INTEGER: i64 = 16;

impl<W: Word> Planner<'_, W> {
    /// Pushes the steps of a node and gives the register of its value; `None` for a constant.
    pub fn node(
        &mut self,
        program: &Program,
        index: usize,
        registers: &[Option<Register>],
        (input, inputs): (usize, &[BgvShape]),
    ) -> Result<Option<Register>, Error> {
        let of = |x: Value| register_of(program, registers, x);
        Ok(Some(match &program.nodes()[index].operation {
            Operation::Input => self.input(index, input, &inputs[input])?,
            Operation::Constant(numbers) => {
                super::super::reading::fits(numbers.len(), self.target.context.slots(), "numbers")?;
                numbers.iter().try_for_each(|&z| integer(z).map(drop))?;
                return Ok(None);
            }
            Operation::Rotate(x, steps) => self.rotate(index, of(*x)?, i64::from(*steps))?,
            Operation::Conjugate(x) => self.swap(index, of(*x)?)?,
            Operation::Polynomial(x, p) => self.polynomial(index, of(*x)?, p)?,
            operation @ (Operation::LinearTransform(..) | Operation::Digits(..)) => {
                return Err(missing(operation));
            }
            Operation::Bootstrap(x) => self.refresh(index, of(*x)?)?,
            Operation::Output(x) => of(*x)?,
            Operation::Add(..) | Operation::Subtract(..) | Operation::Multiply(..) | Operation::Negate(_) => {
                return self.sum_or_product(program, index, registers);
            }
        }))
    }

    fn input(&mut self, node: usize, input: usize, shape: &BgvShape) -> Result<Register, Error> {
        let ring = self.target.context.message_modulus().ring();
        let (own, top) = (shape.factor.ring(), self.target.top());
        if own != ring || shape.level > top || shape.components != 2 {
            return Err(Error::InvalidArgument(format!(
                "a ciphertext at level {} with {} components and plaintexts modulo {}^{}; programs take levels up to {top}, 2 \
                 components and plaintexts modulo {}^{}",
                shape.level,
                shape.components,
                own.prime(),
                own.exponent(),
                ring.prime(),
                ring.exponent()
            )));
        }
        let shape = self.rehearsal.checked(*shape)?;
        self.push(node, Action::Input(input), shape)
    }

    fn sum(
        &mut self,
        node: usize,
        (x, y): (Register, Register),
        action: fn(Register, Register) -> Action,
    ) -> Result<Register, Error> {
        self.placed(node, &[x, y], &|planner, own| {
            let (mut x, mut y) = (own[0], own[1]);
            let (a, b) = (planner.shape(x), planner.shape(y));
            if a.factor != b.factor {
                // The higher operand takes the other's factor. At equal levels the noisier one does, and drops a level.
                let first = (a.level, a.noise) > (b.level, b.noise);
                let (high, from, to) = if first { (&mut x, a, b) } else { (&mut y, b, a) };
                let level = to.level.min(from.level.checked_sub(1).ok_or_else(|| {
                    Error::LevelMismatch(
                        "its operands are at level 0 with different factors, and it takes a level to make them equal; \
                         bootstrap one of them first"
                            .into(),
                    )
                })?);
                *high = planner.settle(node, *high, level, to.factor)?;
            }
            let shape = planner.rehearsal.add_to(planner.shape(x), &planner.shape(y))?;
            planner.push(node, action(x, y), shape)
        })
    }

    fn add_number(&mut self, node: usize, x: Register, number: i64) -> Result<Register, Error> {
        self.placed(node, &[x], &|planner, own| {
            let shape = planner.rehearsal.add_constant(&planner.shape(own[0]), number)?;
            planner.push(node, Action::AddNumber(own[0], number), shape)
        })
    }

    fn multiply_number(&mut self, node: usize, x: Register, number: i64) -> Result<Register, Error> {
        let ring = self.target.context.message_modulus().ring();
        let number = ring.centered(ring.reduce_signed(number));
        if number.abs() <= LARGEST_INTEGER {
            return self.multiply_integer(node, x, number);
        }
        self.placed(node, &[x], &|planner, own| {
            let own = own[0];
            let level = level_below(1, planner.shape(own).level)?;
            let factor = planner.target.factor(level);
            let shape = planner.rehearsal.multiple(&planner.shape(own), number, level, factor)?;
            planner.push(node, Action::Times(own, number), shape)
        })
    }

    fn rotate(&mut self, node: usize, x: Register, steps: i64) -> Result<Register, Error> {
        let target = self.target;
        if steps.rem_euclid(target.columns() as i64) == 0 {
            return Ok(self.latest(x));
        }
        self.placed(node, &[x], &|planner, own| {
            let mut shape = planner.shape(own[0]);
            let hops = target.keys.rotation(&mut planner.known, shape.level, steps)?;
            for _ in &hops {
                shape = planner.rehearsal.automorphism(&shape)?;
            }
            planner.push(node, Action::Rotate(own[0], hops), shape)
        })
    }

    fn swap(&mut self, node: usize, x: Register) -> Result<Register, Error> {
        self.placed(node, &[x], &|planner, own| {
            let shape = planner.shape(own[0]);
            key_for("that exchanges the rows", planner.target.keys.inversion, shape.level)?;
            let shape = planner.rehearsal.automorphism(&shape)?;
            planner.push(node, Action::Swap(own[0]), shape)
        })
    }

    fn polynomial(&mut self, node: usize, x: Register, p: &Polynomial) -> Result<Register, Error> {
        let p = integers_of(p)?;
        if let [constant] | [constant, _] = *p.coefficients() {
            let slope = p.coefficients().get(1).copied().unwrap_or_default();
            let line = self.multiply_number(node, x, slope)?;
            return self.add_number(node, line, constant);
        }
        let key = self.relinearization("a polynomial")?;
        let plan = polynomial::Plan::new(core::slice::from_ref(&p))?;
        self.placed(node, &[x], &|planner, own| {
            let shape = planner.shape(own[0]);
            key_for("of relinearisation", Some(key), shape.level)?;
            let level = level_below(plan.levels(), shape.level)?;
            let polynomials = PolynomialEvaluator::new(&planner.rehearsal, &key);
            let values = polynomials.evaluate_planned(&plan, &shape, planner.target.factor(level))?;
            planner.push(node, Action::Polynomial(own[0], node), values[0])
        })
    }

    fn relinearization(&self, what: &str) -> Result<usize, Error> {
        self.target.keys.relinearization.ok_or_else(|| {
            Error::MissingKey(format!("{what} takes the relinearisation key, and there is none; make one"))
        })
    }
}

impl<W: Word> SumsAndProducts for Planner<'_, W> {
    fn add(&mut self, node: usize, x: Register, y: Register) -> Result<Register, Error> {
        self.sum(node, (x, y), Action::Add)
    }

    fn subtract(&mut self, node: usize, x: Register, y: Register) -> Result<Register, Error> {
        self.sum(node, (x, y), Action::Subtract)
    }

    fn multiply(&mut self, node: usize, x: Register, y: Register) -> Result<Register, Error> {
        let key = self.relinearization("a product of ciphertexts")?;
        self.placed(node, &[x, y], &|planner, own| {
            let (mut x, mut y) = (own[0], own[1]);
            let (a, b) = (planner.shape(x), planner.shape(y));
            let level = a.level.min(b.level);
            key_for("of relinearisation", Some(key), level)?;
            level_below(1, level)?;
            if a.level != b.level {
                // Bring the higher operand to the factor for which the product, once rescaled, has the usual factor of its level.
                let product =
                    planner.target.factor(level - 1).mul(planner.target.context.level_factor(level));
                let (high, low) = if a.level > b.level { (&mut x, b) } else { (&mut y, a) };
                let factor = product.div(low.factor);
                if planner.shape(*high).factor != factor {
                    *high = planner.settle(node, *high, level, factor)?;
                }
            }
            let product = planner.rehearsal.tensor(&planner.shape(x), &planner.shape(y))?;
            let shape = planner.rehearsal.reduce(&product, &key, &mut Counters::default())?;
            planner.push(node, Action::Multiply(x, y), shape)
        })
    }

    fn multiply_integer(&mut self, node: usize, x: Register, factor: i64) -> Result<Register, Error> {
        if factor == 1 {
            return Ok(self.latest(x));
        }
        self.placed(node, &[x], &|planner, own| {
            let shape = planner.rehearsal.multiply_integer(&planner.shape(own[0]), factor)?;
            planner.push(node, Action::MultiplyInteger(own[0], factor), shape)
        })
    }

    fn add_constant(&mut self, node: usize, x: Register, constant: Constant<'_>) -> Result<Register, Error> {
        let (constant, numbers) = constant;
        if let [number] = *numbers {
            return self.add_number(node, x, integer(number)?);
        }
        self.placed(node, &[x], &|planner, own| {
            let shape = planner.rehearsal.add_plain(&planner.shape(own[0]))?;
            planner.push(node, Action::AddConstant(own[0], constant), shape)
        })
    }

    fn multiply_constant(&mut self, node: usize, x: Register, by: Constant<'_>) -> Result<Register, Error> {
        let (constant, numbers) = by;
        if let [number] = *numbers {
            return self.multiply_number(node, x, integer(number)?);
        }
        self.placed(node, &[x], &|planner, own| {
            let own = own[0];
            let level = level_below(1, planner.shape(own).level)?;
            let before = planner.target.factor(level).mul(planner.target.context.level_factor(level + 1));
            let product = planner.rehearsal.multiply_plain(&planner.shape(own), before)?;
            let shape = planner.rehearsal.rescale(&product)?;
            planner.push(node, Action::MultiplyConstant(own, constant), shape)
        })
    }
}

/// The level `count` below `level`; an error if there is none.
fn level_below(count: usize, level: usize) -> Result<usize, Error> {
    level.checked_sub(count).ok_or_else(|| {
        let levels = if count == 1 { "a level".into() } else { format!("{count} levels") };
        Error::LevelMismatch(format!(
            "it takes {levels}, and there are {level} below its operands; bootstrap them first"
        ))
    })
}
