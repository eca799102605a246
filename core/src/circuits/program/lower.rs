//! From nodes to steps: levels, scales and keys of each.

use alloc::{collections::BTreeMap, format, vec::Vec};

use super::{
    Bootstraps, InputShape, Known, MAX_STEPS, Modular, Operation, Program, Refreshed, Target, Value,
    graph::limit,
    known,
    operands::{Constant, SumsAndProducts},
    reading::fits,
    rotations::KnownRotations,
    scales::check_number,
    steps::{Action, Register, Step, register_of},
};
use crate::{
    circuits::{
        linear_transform::{BabyGiantSteps, Diagonals},
        polynomial::{self, Polynomial, PolynomialBasis},
    },
    error::Error,
    schemes::ckks::{Complex, Scale},
};

/// Largest integer by which values are multiplied without taking a level.
const LARGEST_INTEGER: f64 = 256.0;

/// Collects steps.
pub(super) struct Planner<'t> {
    pub target: &'t Target,
    bootstraps: Bootstraps,
    pub steps: Vec<Step>,
    /// Number of steps that bootstrap.
    refreshes: usize,
    /// Values that were bootstrapped, and what they became.
    refreshed: BTreeMap<Register, Register>,
    known: KnownRotations,
    /// Nodes whose value was read together with that of an earlier one.
    pub read: BTreeMap<usize, Register>,
    /// Which nodes outputs need, once it was asked for.
    pub needed: Option<Vec<bool>>,
    /// Number of passes that read digits.
    pub digit_passes: usize,
    /// log2 of the probability that each reading is wrong, where it is known, and the least distance of numbers for it.
    pub failures: Vec<(Option<f64>, f64)>,
    /// Modelled seconds of the readings.
    pub seconds: f64,
    /// What is known of the values of nodes.
    pub bounds: Vec<Option<Known>>,
    /// For steps that read digits, the levels of the values they hold beside their result.
    pub held: Vec<(Register, Vec<usize>)>,
}

impl<'t> Planner<'t> {
    pub fn new(target: &'t Target, bootstraps: Bootstraps) -> Self {
        Self {
            target,
            // Bootstraps that keep numbers modulo 1 change all others, and only the program knows which numbers they keep.
            bootstraps: if target.modular.is_some() { Bootstraps::AsWritten } else { bootstraps },
            steps: Vec::new(),
            refreshes: 0,
            refreshed: BTreeMap::new(),
            known: KnownRotations::default(),
            read: BTreeMap::new(),
            needed: None,
            digit_passes: 0,
            failures: Vec::new(),
            seconds: 0.0,
            bounds: Vec::new(),
            held: Vec::new(),
        }
    }

    /// A planner that knows only one value, to try something out.
    pub fn trial(&self, register: Register) -> Self {
        let mut out = Self::new(self.target, self.bootstraps);
        out.steps.push(Step { action: Action::Input(0), ..self.steps[register].clone() });
        out
    }

    /// Bootstraps so far.
    pub fn bootstraps(&self) -> usize {
        self.refreshes
    }

    /// The same value, bootstrapped if the plan has done that.
    pub fn latest(&self, register: Register) -> Register {
        self.refreshed.get(&register).copied().unwrap_or(register)
    }

    /// The level below which no value may fall: that of the target, or the input level of bootstraps if they may be inserted.
    fn floor(&self) -> usize {
        match (self.bootstraps, self.target.bootstrapping) {
            (Bootstraps::WhereNeeded, Some((input, _))) => input.max(self.target.floor),
            _ => self.target.floor,
        }
    }

    /// Levels that an operation can take right after a bootstrap, if bootstraps may be put in.
    pub fn levels_after_bootstrap(&self) -> Option<usize> {
        match (self.bootstraps, self.target.bootstrapping) {
            (Bootstraps::WhereNeeded, Some((input, output))) => Some(output.saturating_sub(input)),
            _ => None,
        }
    }

    /// Number of levels left to a value.
    pub fn levels(&self, register: Register) -> usize {
        self.steps[register].level.saturating_sub(self.floor())
    }

    /// Pushes the steps of a node and gives the register of its value; `None` for a constant.
    pub fn node(
        &mut self,
        program: &Program,
        index: usize,
        registers: &[Option<Register>],
        (input, inputs): (usize, &[InputShape]),
    ) -> Result<Option<Register>, Error> {
        // Bounds of what is read from digits come from the set that reads them.
        self.bounds.resize(self.bounds.len().max(program.nodes().len()), None);
        self.bounds[index] = known::of_node(program, index, &self.bounds).or(self.bounds[index]);
        let of = |x: Value| register_of(program, registers, x);
        Ok(Some(match &program.nodes()[index].operation {
            Operation::Input => {
                let InputShape { level, scale } = inputs[input];
                self.push(index, Action::Input(input), level.min(self.target.top()), scale)?
            }
            Operation::Constant(numbers) => {
                fits(numbers.len(), self.target.slots(), "numbers")?;
                return Ok(None);
            }
            Operation::Rotate(x, steps) => self.rotate(index, of(*x)?, i64::from(*steps))?,
            Operation::Conjugate(x) => {
                let x = self.latest(of(*x)?);
                let Step { level, scale, .. } = self.steps[x];
                key_for("of conjugation", self.target.keys.inversion, level)?;
                self.push(index, Action::Conjugate(x), level, scale)?
            }
            Operation::Polynomial(x, p) => self.polynomial(index, of(*x)?, p)?,
            Operation::LinearTransform(x, matrix) => self.transform(index, of(*x)?, matrix)?,
            Operation::Bootstrap(x) => self.refresh(index, of(*x)?)?,
            Operation::Digits(x, _) => match self.read.get(&index) {
                Some(&register) => register,
                None => self.digits(program, index, *x, of(*x)?)?,
            },
            Operation::Output(x) => of(*x)?,
            Operation::Add(..) | Operation::Subtract(..) | Operation::Multiply(..) | Operation::Negate(_) => {
                return self.sum_or_product(program, index, registers);
            }
        }))
    }

    pub fn push(
        &mut self,
        node: usize,
        action: Action,
        level: usize,
        scale: Scale,
    ) -> Result<Register, Error> {
        limit(self.steps.len() + 1, MAX_STEPS, "steps")?;
        let log_q = self.target.log_q[level];
        if !(1.0..log_q - 1.0).contains(&scale.log2()) {
            return Err(Error::ScaleMismatch(format!(
                "a value at scale 2^{:.1} would stand at level {level}, whose modulus is 2^{log_q:.1}; encrypt at a smaller \
                 scale, or use the scale of the set",
                scale.log2()
            )));
        }
        self.refreshes += usize::from(matches!(action, Action::Refresh(_)));
        self.steps.push(Step { node, action, level, scale });
        Ok(self.steps.len() - 1)
    }

    /// The value with at least `count` levels left, bootstrapped if it has fewer and bootstraps may be inserted.
    pub fn with_levels(&mut self, node: usize, register: Register, count: usize) -> Result<Register, Error> {
        let x = self.latest(register);
        if self.levels(x) >= count {
            return Ok(x);
        }
        match self.levels_after_bootstrap() {
            Some(after) if after >= count => self.refresh(node, x),
            Some(after) => Err(Error::LevelMismatch(format!(
                "it takes {count} levels, and a bootstrap of this set leaves {after}; take a set with more"
            ))),
            None => Err(Error::LevelMismatch(format!(
                "it takes {count} levels, and its operand is at level {}; encrypt the inputs at a higher level, {}",
                self.steps[x].level,
                match (self.target.bootstrapping, self.target.modular) {
                    (_, Some(_)) =>
                        "or bootstrap before, which keeps numbers in (-1/2, 1/2), and is put in nowhere by itself",
                    (Some(_), None) => "bootstrap before, or ask for bootstraps where they are needed",
                    (None, None) => "or take a set that bootstraps",
                }
            ))),
        }
    }

    pub fn refresh(&mut self, node: usize, register: Register) -> Result<Register, Error> {
        let x = self.latest(register);
        if x != register {
            return Ok(x);
        }
        let x = self.at_scale_of_bootstraps(node, x)?;
        let level = self.steps[x].level;
        match self.target.bootstrapping {
            Some((input, output)) if level >= input => {
                let scale = match self.target.refreshed {
                    Refreshed::OfSet => self.target.scale(output),
                    Refreshed::OfInput => self.steps[x].scale,
                    Refreshed::At(scale) => scale,
                };
                let out = self.push(node, Action::Refresh(x), output, scale)?;
                if self.bootstraps == Bootstraps::WhereNeeded {
                    self.refreshed.insert(x, out);
                }
                Ok(out)
            }
            Some((input, _)) => Err(Error::LevelMismatch(format!(
                "a bootstrap of this set begins at level {input}, and its operand is at level {level}; encrypt the inputs \
                 at a higher level"
            ))),
            None => Err(Error::MissingKey(
                "it takes a bootstrap, and there are no bootstrapping keys here; use a set that bootstraps"
                    .into(),
            )),
        }
    }

    /// A value at the scale that bootstraps take.
    fn at_scale_of_bootstraps(&mut self, node: usize, x: Register) -> Result<Register, Error> {
        let (Some((input, _)), Some(Modular { scale, drift, .. })) =
            (self.target.bootstrapping, self.target.modular)
        else {
            return Ok(x);
        };
        let Step { level, scale: own, .. } = self.steps[x];
        if libm::fabs(own.div(scale).to_f64() - 1.0) <= drift {
            return Ok(x);
        }
        if level > input {
            return self.adjusted(node, x, level - 1, scale);
        }
        Err(Error::ScaleMismatch(format!(
            "a bootstrap of this set takes numbers at scale 2^{:.6}, and its operand is at 2^{:.6} and level {level}; a level more, \
             and it is brought there",
            scale.log2(),
            own.log2()
        )))
    }

    pub fn sum(
        &mut self,
        node: usize,
        x: Register,
        y: Register,
        action: fn(Register, Register) -> Action,
    ) -> Result<Register, Error> {
        let (x, y) = self.aligned(node, x, y)?;
        let level = self.steps[x].level.min(self.steps[y].level);
        self.push(node, action(x, y), level, self.steps[x].scale)
    }

    pub fn add_number(&mut self, node: usize, x: Register, number: Complex) -> Result<Register, Error> {
        let x = self.latest(x);
        let Step { level, scale, .. } = self.steps[x];
        check_number(number.abs(), scale)?;
        self.push(node, Action::AddNumber(x, number), level, scale)
    }

    fn rotate(&mut self, node: usize, x: Register, steps: i64) -> Result<Register, Error> {
        let x = self.latest(x);
        let Step { level, scale, .. } = self.steps[x];
        let hops = self.composition(level, steps)?;
        if hops.is_empty() {
            return Ok(x);
        }
        self.push(node, Action::Rotate(x, hops), level, scale)
    }

    fn composition(&mut self, level: usize, steps: i64) -> Result<Vec<i64>, Error> {
        self.target.keys.rotation(&mut self.known, level, steps)
    }

    fn transform(&mut self, node: usize, x: Register, matrix: &Diagonals) -> Result<Register, Error> {
        fits(matrix.slots(), self.target.slots(), "slots of a matrix")?;
        let x = self.with_levels(node, x, 1)?;
        let from = self.steps[x].level;
        let scale = self.target.scale(from - 1);
        let entries = matrix.shifts().into_iter().map(|k| largest(matrix.get(k).unwrap_or_default()));
        check_number(entries.fold(0.0, f64::max), self.factor_scale(x, from - 1, scale)?)?;
        let steps = rotations(matrix, self.target.n() / 2);
        let order = (self.target.n() / 2) as i64;
        let own = |step: &i64| {
            self.target.keys.rotations.get(&step.rem_euclid(order)).is_some_and(|&level| level >= from)
        };
        let compositions = if steps.iter().all(own) {
            None
        } else {
            let mut all = BTreeMap::new();
            for step in steps {
                all.insert(step, self.composition(from, step)?);
            }
            Some(all)
        };
        self.push(node, Action::Transform(x, node, compositions), from - 1, scale)
    }

    fn polynomial(&mut self, node: usize, x: Register, p: &Polynomial) -> Result<Register, Error> {
        if p.degree() == 0 {
            let zero = self.multiply_integer(node, x, 0)?;
            return self.add_number(node, zero, p.coefficients()[0].to_complex());
        }
        let plan = polynomial::Plan::new(core::slice::from_ref(p))?;
        let interval = match p.basis() {
            PolynomialBasis::Chebyshev { from, to } if p.basis() != PolynomialBasis::UNIT => Some((from, to)),
            _ => None,
        };
        if self.levels_after_bootstrap().is_none() {
            self.with_levels(node, x, plan.levels() + usize::from(interval.is_some()))?;
        }
        let mut t = self.latest(x);
        if let Some((from, to)) = interval {
            let (slope, middle) = (2.0 / (to - from), -(from + to) / (to - from));
            t = self.combine(node, alloc::vec![(t, slope.into())], middle.into())?;
        }
        if plan.levels() > self.levels(t)
            && self.levels_after_bootstrap().is_some_and(|after| after < plan.levels())
        {
            return self.expand(node, t, p);
        }
        if let [constant, slope] = *p.coefficients() {
            return self.combine(node, alloc::vec![(t, slope.to_complex())], constant.to_complex());
        }
        let t = self.with_levels(node, t, plan.levels())?;
        let top = self.steps[t].level;
        key_for("of relinearisation", self.target.keys.relinearization, top)?;
        let level = top - plan.levels();
        self.push(node, Action::Polynomial(t, node), level, self.target.scale(level))
    }
}

impl SumsAndProducts for Planner<'_> {
    fn add(&mut self, node: usize, x: Register, y: Register) -> Result<Register, Error> {
        self.sum(node, x, y, Action::Add)
    }

    fn subtract(&mut self, node: usize, x: Register, y: Register) -> Result<Register, Error> {
        self.sum(node, x, y, Action::Subtract)
    }

    fn multiply(&mut self, node: usize, x: Register, y: Register) -> Result<Register, Error> {
        self.with_levels(node, x, 1)?;
        self.with_levels(node, y, 1)?;
        let (mut x, mut y) = (self.latest(x), self.latest(y));
        let key = self.target.keys.relinearization.ok_or_else(|| {
            Error::MissingKey(
                "a product of ciphertexts takes the relinearisation key, and there is none; give it".into(),
            )
        })?;
        let lowest = self.steps[x].level.min(self.steps[y].level);
        let level = key.min(lowest);
        if level == 0 {
            return key_for("of relinearisation", Some(key), 1).map(|()| x);
        }
        // The higher operand can be brought to the scale that makes the product's scale right.
        let wanted = self.target.scale(level - 1).mul(self.target.primes[level]);
        if self.steps[x].level != self.steps[y].level {
            let (high, low) =
                if self.steps[x].level > self.steps[y].level { (&mut x, y) } else { (&mut y, x) };
            let scale = wanted.div(self.steps[low].scale);
            if self.steps[low].level == level && !self.steps[*high].scale.matches(scale) {
                *high = self.adjusted(node, *high, level, scale)?;
            }
        }
        let product = self.steps[x].scale.mul(self.steps[y].scale);
        let scale = if product.matches(wanted) { wanted } else { product };
        self.push(node, Action::Multiply(x, y), level - 1, scale.div(self.target.primes[level]))
    }

    fn multiply_integer(&mut self, node: usize, x: Register, factor: i64) -> Result<Register, Error> {
        let x = self.latest(x);
        if factor == 1 {
            return Ok(x);
        }
        let Step { level, scale, .. } = self.steps[x];
        self.push(node, Action::MultiplyInteger(x, factor), level, scale)
    }

    fn add_constant(&mut self, node: usize, x: Register, constant: Constant<'_>) -> Result<Register, Error> {
        let (constant, numbers) = constant;
        if let [number] = numbers {
            return self.add_number(node, x, *number);
        }
        let x = self.latest(x);
        let Step { level, scale, .. } = self.steps[x];
        check_number(largest(numbers), scale)?;
        self.push(node, Action::AddConstant(x, constant), level, scale)
    }

    fn multiply_constant(&mut self, node: usize, x: Register, by: Constant<'_>) -> Result<Register, Error> {
        let (constant, numbers) = by;
        if let [Complex { re, im: 0.0 }] = *numbers
            && (re - libm::trunc(re)).abs() == 0.0
            && libm::fabs(re) <= LARGEST_INTEGER
        {
            return self.multiply_integer(node, x, re as i64);
        }
        if let [number] = *numbers {
            return self.combine(node, alloc::vec![(x, number)], Complex::ZERO);
        }
        let x = self.with_levels(node, x, 1)?;
        let level = self.steps[x].level - 1;
        let scale = self.target.scale(level);
        check_number(largest(numbers), self.factor_scale(x, level, scale)?)?;
        self.push(node, Action::MultiplyConstant(x, constant), level, scale)
    }
}

/// Rotations that a matrix takes in a ring of `slots` slots.
pub(super) fn rotations(matrix: &Diagonals, slots: usize) -> Vec<i64> {
    BabyGiantSteps::of(&matrix.shifts(), slots).rotations()
}

fn largest(numbers: &[Complex]) -> f64 {
    numbers.iter().map(|z| z.abs()).fold(0.0, f64::max)
}

/// An error unless a key serves ciphertexts of a level.
pub(super) fn key_for(what: &str, key: Option<usize>, level: usize) -> Result<(), Error> {
    match key {
        Some(own) if own >= level => Ok(()),
        Some(own) => Err(Error::MissingKey(format!(
            "the key {what} serves levels up to {own}, and its operand is at level {level}; make the key at that level"
        ))),
        None => Err(Error::MissingKey(format!("it takes the key {what}, and there is none; make one"))),
    }
}
