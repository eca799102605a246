//! From nodes to steps: levels, noise and keys of each.

use alloc::{collections::BTreeMap, format, vec::Vec};

use super::{
    super::{Bootstraps, MAX_STEPS, Operation, Program, Value, graph::limit, rotations::KnownRotations},
    IntegerShape, IntegerTarget, integer,
    steps::{Action, Register, Step},
};
use crate::{
    arith::Word,
    circuits::polynomial::{self, Polynomial, PolynomialBasis},
    error::Error,
    schemes::ckks::Complex,
};

/// Largest integer by which values are multiplied without taking a level.
const LARGEST_INTEGER: i64 = 16;

/// Noise in roundings that a value may have where it is bootstrapped: what a product leaves is 2.
const SETTLED: f64 = 2.2;

/// Collects steps.
pub(super) struct Planner<'t, W: Word> {
    target: &'t IntegerTarget<W>,
    bootstraps: Bootstraps,
    pub steps: Vec<Step>,
    /// Values that were bootstrapped, and what they became.
    refreshed: BTreeMap<Register, Register>,
    known: KnownRotations,
}

/// Where a result would stand, if it can.
type Place = Option<(usize, f64)>;

impl<'t, W: Word> Planner<'t, W> {
    pub fn new(target: &'t IntegerTarget<W>, bootstraps: Bootstraps) -> Self {
        Self {
            target,
            bootstraps,
            steps: Vec::new(),
            refreshed: BTreeMap::new(),
            known: KnownRotations::default(),
        }
    }

    /// Bootstraps so far.
    pub fn refreshes(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step.action, Action::Refresh(_))).count()
    }

    /// The same value, bootstrapped if the plan has done that.
    pub fn latest(&self, register: Register) -> Register {
        self.refreshed.get(&register).copied().unwrap_or(register)
    }

    fn level(&self, x: Register) -> usize {
        self.steps[x].level
    }

    fn noise(&self, x: Register) -> f64 {
        self.steps[x].noise
    }

    /// The most noise of a value that is bootstrapped as it is.
    fn settled(&self) -> f64 {
        SETTLED * self.target.context.noise().rounding()
    }

    fn p(&self) -> f64 {
        self.target.context.message_modulus().ring().value() as f64
    }

    /// Noise after a division by the primes of a level.
    fn rescaled(&self, noise: f64, level: usize) -> f64 {
        self.target.context.noise().rescaled(noise, self.target.context.level_divisor(level))
    }

    /// Whether a value may stay there: where bootstraps may be put in, it can be bootstrapped yet.
    fn lives(&self, level: usize, noise: f64) -> bool {
        match (self.bootstraps, self.target.bootstrapping) {
            (Bootstraps::WhereNeeded, Some((input, _))) => {
                level > input || (level == input && noise <= self.settled())
            }
            _ => true,
        }
    }

    fn push(&mut self, node: usize, action: Action, level: usize, noise: f64) -> Result<Register, Error> {
        limit(self.steps.len() + 1, MAX_STEPS, "steps")?;
        self.steps.push(Step { node, action, level, noise });
        Ok(self.steps.len() - 1)
    }

    fn settle(&mut self, node: usize, x: Register, level: usize) -> Result<Register, Error> {
        let noise = self.rescaled(self.noise(x) * self.p() / 2.0, level + 1);
        self.push(node, Action::Settle(x), level, noise)
    }

    fn refresh(&mut self, node: usize, register: Register) -> Result<Register, Error> {
        let x = self.latest(register);
        if x != register {
            return Ok(x);
        }
        let (input, output) = self.target.bootstrapping.ok_or_else(|| {
            Error::MissingKey(
                "it takes a bootstrap, and there are no bootstrapping keys here; use a set that bootstraps"
                    .into(),
            )
        })?;
        let level = self.level(x);
        if level < input {
            return Err(Error::LevelMismatch(format!(
                "a bootstrap of this set begins at level {input}, and its operand is at level {level}; encrypt the inputs at a \
                 higher level"
            )));
        }
        let mut operand = x;
        if self.noise(x) > self.settled() {
            if level == input {
                return Err(Error::Limit(format!(
                    "its operand has noise of {:.1} roundings at level {level}, and a bootstrap takes {SETTLED}; bootstrap before \
                     the sums that made it large",
                    self.noise(x) / self.target.context.noise().rounding()
                )));
            }
            operand = self.settle(node, x, level - 1)?;
        }
        let out = self.push(node, Action::Refresh(operand), output, self.settled())?;
        if self.bootstraps == Bootstraps::WhereNeeded {
            self.refreshed.insert(x, out);
        }
        Ok(out)
    }

    /// Pushes what `place` finds room for; where it finds none, the operands are bootstrapped first, if that may be.
    fn placed(
        &mut self,
        node: usize,
        operands: &[Register],
        place: impl Fn(&Self, &[Register]) -> Place,
        action: impl FnOnce(&[Register]) -> Action,
    ) -> Result<Register, Error> {
        let mut own: Vec<Register> = operands.iter().map(|&x| self.latest(x)).collect();
        let fits = |planner: &Self, own: &[Register]| {
            place(planner, own).filter(|&(level, noise)| planner.lives(level, noise))
        };
        let mut found = fits(self, &own);
        if found.is_none()
            && self.bootstraps == Bootstraps::WhereNeeded
            && self.target.bootstrapping.is_some()
        {
            for x in &mut own {
                *x = self.refresh(node, *x)?;
            }
            found = fits(self, &own);
        }
        let (level, noise) = found.ok_or_else(|| {
            let levels: Vec<usize> = operands.iter().map(|&x| self.level(self.latest(x))).collect();
            Error::LevelMismatch(format!(
                "no level is left for it at levels {levels:?} of its operands; encrypt the inputs at a higher level, bootstrap \
                 before, or ask for bootstraps where they are needed"
            ))
        })?;
        let down = own.iter().map(|&x| self.level(x)).min().unwrap_or_default();
        for x in &mut own {
            if operands.len() > 1 && self.level(*x) > down {
                *x = self.settle(node, *x, down)?;
            }
        }
        let action = action(&own);
        self.push(node, action, level, noise)
    }

    /// Level and noise of two values brought to one level.
    fn together(&self, x: Register, y: Register) -> (usize, f64, f64) {
        let level = self.level(x).min(self.level(y));
        let noise = |x: Register| {
            if self.level(x) > level {
                self.rescaled(self.noise(x) * self.p() / 2.0, level + 1)
            } else {
                self.noise(x)
            }
        };
        (level, noise(x), noise(y))
    }

    fn sum(
        &mut self,
        node: usize,
        (x, y): (Register, Register),
        action: fn(Register, Register) -> Action,
    ) -> Result<Register, Error> {
        let place = |planner: &Self, own: &[Register]| {
            let (level, a, b) = planner.together(own[0], own[1]);
            Some((level, a + b))
        };
        self.placed(node, &[x, y], place, |own| action(own[0], own[1]))
    }

    fn multiply(&mut self, node: usize, x: Register, y: Register) -> Result<Register, Error> {
        let key = self.target.relinearization.ok_or_else(|| {
            Error::MissingKey(
                "a product of ciphertexts takes the relinearisation key, and there is none".into(),
            )
        })?;
        let product = move |planner: &Self, level: usize, a: f64, b: f64| {
            let switch = planner.target.context.noise().key_switch(level);
            planner.rescaled(planner.p() * a * b + switch, level)
        };
        // What is noisy is rescaled before, where there are levels for it.
        let (mut x, mut y) = (self.latest(x), self.latest(y));
        let (level, a, b) = self.together(x, y);
        if level > 1 && product(self, level, a, b) > 2.0 * self.settled() {
            let settled = |noise: f64| self.rescaled(noise * self.p() / 2.0, level);
            if self.lives(level - 2, product(self, level - 1, settled(a), settled(b))) {
                let same = x == y;
                x = self.settle(node, x, level - 1)?;
                y = if same { x } else { self.settle(node, y, level - 1)? };
            }
        }
        let place = move |planner: &Self, own: &[Register]| {
            let (level, a, b) = planner.together(own[0], own[1]);
            (1..=key).contains(&level).then(|| (level - 1, product(planner, level, a, b)))
        };
        self.placed(node, &[x, y], place, |own| Action::Multiply(own[0], own[1]))
    }

    /// The steps of a node; none for a constant.
    pub fn node(
        &mut self,
        program: &Program,
        index: usize,
        registers: &[Option<Register>],
        (input, inputs): (usize, &[IntegerShape]),
    ) -> Result<Option<Register>, Error> {
        let of = |x: Value| {
            registers[x.index()].ok_or_else(|| {
                Error::InvalidArgument(format!("{} is no ciphertext", program.describe(x.index())))
            })
        };
        let numbers = |x: Value| program.constant(x);
        Ok(Some(match &program.nodes()[index].operation {
            Operation::Input => {
                let only_bootstrapped = program.only_bootstrapped(index);
                self.input(index, input, &inputs[input], only_bootstrapped)?
            }
            Operation::Constant(numbers) => {
                super::super::clear::fits(numbers.len(), self.target.context.slots(), "numbers")?;
                numbers.iter().try_for_each(|&z| integer(z).map(drop))?;
                return Ok(None);
            }
            Operation::Add(x, y) => match (numbers(*x), numbers(*y)) {
                (Some(_), _) => self.add_constant(index, of(*y)?, *x)?,
                (_, Some(_)) => self.add_constant(index, of(*x)?, *y)?,
                _ => self.sum(index, (of(*x)?, of(*y)?), Action::Add)?,
            },
            Operation::Subtract(x, y) => match (numbers(*x), numbers(*y)) {
                (Some(_), _) => {
                    let negative = self.multiply_integer(index, of(*y)?, -1)?;
                    self.add_constant(index, negative, *x)?
                }
                (_, Some(_)) => {
                    // -(-x + c): there is no subtraction of constants.
                    let negative = self.multiply_integer(index, of(*x)?, -1)?;
                    let sum = self.add_constant(index, negative, *y)?;
                    self.multiply_integer(index, sum, -1)?
                }
                _ => self.sum(index, (of(*x)?, of(*y)?), Action::Subtract)?,
            },
            Operation::Multiply(x, y) => match (numbers(*x), numbers(*y)) {
                (Some(numbers), _) => self.multiply_constant(index, of(*y)?, (*x, numbers))?,
                (_, Some(numbers)) => self.multiply_constant(index, of(*x)?, (*y, numbers))?,
                _ => self.multiply(index, of(*x)?, of(*y)?)?,
            },
            Operation::Negate(x) => self.multiply_integer(index, of(*x)?, -1)?,
            Operation::Rotate(x, steps) => self.rotate(index, of(*x)?, i64::from(*steps))?,
            Operation::Conjugate(x) => self.swap(index, of(*x)?)?,
            Operation::Polynomial(x, p) => self.polynomial(index, of(*x)?, p)?,
            operation @ (Operation::LinearTransform(..) | Operation::Digits(..)) => {
                return Err(missing(operation));
            }
            Operation::Bootstrap(x) => self.refresh(index, of(*x)?)?,
            Operation::Output(x) => of(*x)?,
        }))
    }

    /// An input, at a level of messages and with the factor of its level, unless it is `only_bootstrapped`.
    fn input(
        &mut self,
        node: usize,
        input: usize,
        shape: &IntegerShape,
        only_bootstrapped: bool,
    ) -> Result<Register, Error> {
        let ring = self.target.context.message_modulus().ring();
        let (level, top) = (shape.level, self.target.top());
        if shape.factor.ring() != ring || level > top {
            return Err(Error::InvalidArgument(format!(
                "a ciphertext at level {level} with plaintexts modulo {}^{}; programs take levels up to {top} and plaintexts modulo {}^{}",
                shape.factor.ring().prime(),
                shape.factor.ring().exponent(),
                ring.prime(),
                ring.exponent()
            )));
        }
        let x = self.push(node, Action::Input(input), level, shape.noise)?;
        if shape.factor == self.target.factor(level) || only_bootstrapped {
            return Ok(x);
        }
        // Of another computation: a level, or a bootstrap, makes its factor that of its level.
        let bootstrapped = self.target.bootstrapping.is_some_and(|(input, _)| level == input);
        if bootstrapped && self.bootstraps == Bootstraps::WhereNeeded {
            return self.refresh(node, x);
        }
        if level == 0 {
            return Err(Error::LevelMismatch(
                "it has another factor than values of level 0, and no level is left to change it; bootstrap it first".into(),
            ));
        }
        self.settle(node, x, level - 1)
    }

    fn add_constant(&mut self, node: usize, x: Register, constant: Value) -> Result<Register, Error> {
        // A plaintext counts with its fraction of P.
        let model = self.target.context.noise();
        let fraction = model.of_polynomial(core::iter::repeat_n(0.5, self.target.context.slots()));
        let place = |planner: &Self, own: &[Register]| {
            Some((planner.level(own[0]), planner.noise(own[0]) + fraction))
        };
        self.placed(node, &[x], place, |own| Action::AddConstant(own[0], constant))
    }

    fn multiply_integer(&mut self, node: usize, x: Register, factor: i64) -> Result<Register, Error> {
        let by = factor.unsigned_abs() as f64;
        let place =
            |planner: &Self, own: &[Register]| Some((planner.level(own[0]), planner.noise(own[0]) * by));
        self.placed(node, &[x], place, |own| Action::MultiplyInteger(own[0], factor))
    }

    fn multiply_constant(
        &mut self,
        node: usize,
        x: Register,
        (constant, numbers): (Value, &[Complex]),
    ) -> Result<Register, Error> {
        let ring = self.target.context.message_modulus().ring();
        let all = numbers
            .iter()
            .map(|&z| Ok(ring.reduce_signed(integer(z)?)))
            .collect::<Result<Vec<u64>, Error>>()?;
        if let [number] = all[..]
            && ring.centered(number).abs() <= LARGEST_INTEGER
        {
            return self.multiply_integer(node, x, ring.centered(number));
        }
        // One number has P/2 at most for its only coefficient, others as many as there are slots.
        let model = self.target.context.noise();
        let count = if all.len() == 1 { 1 } else { self.target.context.slots() };
        let by = model.of_polynomial(core::iter::repeat_n(self.p() / 2.0, count));
        let place = |planner: &Self, own: &[Register]| {
            let level = planner.level(own[0]);
            (level > 0).then(|| (level - 1, planner.rescaled(planner.noise(own[0]) * by, level)))
        };
        self.placed(node, &[x], place, |own| Action::MultiplyConstant(own[0], constant))
    }

    fn rotate(&mut self, node: usize, x: Register, steps: i64) -> Result<Register, Error> {
        let x = self.latest(x);
        let (level, columns) = (self.level(x), self.target.columns());
        // A bootstrap in front would not be lower: keys for this level serve every level it may have.
        let from = self.target.bootstrapping.map_or(level, |(_, output)| output.max(level));
        let hops = [from, level]
            .into_iter()
            .find_map(|level| self.known.of((&self.target.rotations, columns), level, steps));
        let hops = hops.ok_or_else(|| {
            let keys = self.target.rotations.iter().filter(|&(_, &own)| own >= level).map(|(steps, _)| steps);
            let keys: Vec<&i64> = keys.take(24).collect();
            Error::MissingKey(format!(
                "a rotation by {steps} at level {level} cannot be composed of those there are keys for: {keys:?}; make keys for \
                 the powers of two"
            ))
        })?;
        if hops.is_empty() {
            return Ok(x);
        }
        let count = hops.len() as f64;
        self.switched(node, x, count, |x| Action::Rotate(x, hops))
    }

    fn swap(&mut self, node: usize, x: Register) -> Result<Register, Error> {
        let level = self.level(self.latest(x));
        match self.target.swap {
            Some(own) if own >= level => self.switched(node, x, 1.0, Action::Swap),
            _ => Err(Error::MissingKey(format!(
                "it takes the key that exchanges the rows at level {level}, and there is none; make one"
            ))),
        }
    }

    fn switched(
        &mut self,
        node: usize,
        x: Register,
        count: f64,
        action: impl FnOnce(Register) -> Action,
    ) -> Result<Register, Error> {
        let place = |planner: &Self, own: &[Register]| {
            let (level, model) = (planner.level(own[0]), planner.target.context.noise());
            Some((level, planner.noise(own[0]) + count * (model.key_switch(level) + model.rounding())))
        };
        self.placed(node, &[x], place, |own| action(own[0]))
    }

    fn polynomial(&mut self, node: usize, x: Register, p: &Polynomial) -> Result<Register, Error> {
        let p = integers_of(p)?;
        let plan = polynomial::Plan::new(core::slice::from_ref(&p))?;
        let (levels, key) = (plan.levels(), self.target.relinearization.unwrap_or_default());
        if levels > 1 && key == 0 {
            return Err(Error::MissingKey(
                "a polynomial takes the relinearisation key, and there is none".into(),
            ));
        }
        let place = |planner: &Self, own: &[Register]| {
            let level = planner.level(own[0]);
            let usable = level >= levels.max(1) && (levels < 2 || level <= key);
            // The last sum is of products that were rescaled once.
            usable.then(|| (level - levels, planner.settled()))
        };
        self.placed(node, &[x], place, |own| Action::Polynomial(own[0], node))
    }
}

/// Coefficients of a polynomial of a program.
pub(super) fn coefficients(p: &Polynomial) -> Result<Vec<i64>, Error> {
    if p.basis() != PolynomialBasis::Monomial {
        return Err(Error::InvalidArgument(
            "Chebyshev polynomials have no meaning modulo a prime; write the polynomial in powers of x"
                .into(),
        ));
    }
    p.coefficients().iter().map(|c| integer(c.to_complex())).collect()
}

/// A polynomial of a program over the integers.
pub(super) fn integers_of(p: &Polynomial) -> Result<Polynomial<i64>, Error> {
    Polynomial::of_integers(coefficients(p)?)
}

/// The failure of an operation that is of other numbers.
pub(super) fn missing(operation: &Operation) -> Error {
    Error::InvalidArgument(format!(
        "programs on integers have no {}; write it with products, rotations and constants",
        operation.kind()
    ))
}
