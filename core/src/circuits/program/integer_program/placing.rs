//! Room for results: where levels or the room for noise run out, operands are rescaled, or bootstrapped if that is allowed.

use alloc::{collections::BTreeMap, format, vec::Vec};

use super::{
    super::{Bootstraps, MAX_STEPS, graph::limit, rotations::KnownRotations},
    IntegerBootstrap, IntegerTarget,
    steps::{Action, Register, Step},
};
use crate::{
    arith::Word,
    error::Error,
    schemes::{
        bgv::{BgvShape, Factor, Rehearsal},
        evaluator::Label,
    },
};

/// Pushes the steps of an operation on operands as they are.
type Build<'b, 't, W> = dyn Fn(&mut Planner<'t, W>, &[Register]) -> Result<Register, Error> + 'b;

/// Collects steps.
pub(super) struct Planner<'t, W: Word> {
    pub target: &'t IntegerTarget<W>,
    pub rehearsal: Rehearsal<W>,
    bootstraps: Bootstraps,
    pub steps: Vec<Step>,
    /// Number of steps that bootstrap.
    pub refreshes: usize,
    /// Values that were bootstrapped, and what they became.
    refreshed: BTreeMap<Register, Register>,
    pub known: KnownRotations,
}

impl<'t, W: Word> Planner<'t, W> {
    pub fn new(target: &'t IntegerTarget<W>, bootstraps: Bootstraps) -> Self {
        Self {
            target,
            rehearsal: Rehearsal::new(&target.context),
            bootstraps,
            steps: Vec::new(),
            refreshes: 0,
            refreshed: BTreeMap::new(),
            known: KnownRotations::default(),
        }
    }

    /// The same value, bootstrapped if the plan has done that.
    pub fn latest(&self, register: Register) -> Register {
        self.refreshed.get(&register).copied().unwrap_or(register)
    }

    pub fn shape(&self, x: Register) -> BgvShape {
        self.steps[x].shape
    }

    pub fn push(&mut self, node: usize, action: Action, shape: BgvShape) -> Result<Register, Error> {
        limit(self.steps.len() + 1, MAX_STEPS, "steps")?;
        self.steps.push(Step { node, action, shape });
        Ok(self.steps.len() - 1)
    }

    /// A value brought down to a level and a factor.
    pub fn settle(
        &mut self,
        node: usize,
        x: Register,
        level: usize,
        factor: Factor,
    ) -> Result<Register, Error> {
        let shape = self.rehearsal.multiple(&self.shape(x), 1, level, factor)?;
        self.push(node, Action::Times(x, 1), shape)
    }

    /// The bootstrap of the target, if the plan may insert bootstraps.
    fn inserted(&self) -> Option<IntegerBootstrap> {
        self.target.bootstrapping.filter(|_| self.bootstraps == Bootstraps::WhereNeeded)
    }

    /// Whether a value may be left as it is: if bootstraps may be inserted, it must still be possible to bootstrap it.
    fn lives(&self, x: BgvShape) -> bool {
        self.inserted().is_none_or(|bootstrap| self.can_be_refreshed(x, &bootstrap))
    }

    /// Whether a bootstrap takes a value, as it is or rescaled.
    pub fn can_be_refreshed(&self, mut x: BgvShape, bootstrap: &IntegerBootstrap) -> bool {
        while x.noise > bootstrap.takes && x.level > bootstrap.input {
            match self.rehearsal.rescale(&x) {
                Ok(below) => x = below,
                Err(_) => return false,
            }
        }
        x.level >= bootstrap.input && x.noise <= bootstrap.takes
    }

    pub fn refresh(&mut self, node: usize, register: Register) -> Result<Register, Error> {
        let x = self.latest(register);
        if x != register {
            return Ok(x);
        }
        let bootstrap = self.target.bootstrapping.ok_or_else(|| {
            Error::MissingKey(
                "it takes a bootstrap, and there are no bootstrapping keys here; use a set that bootstraps"
                    .into(),
            )
        })?;
        let BgvShape { level, noise, .. } = self.shape(x);
        if level < bootstrap.input {
            return Err(Error::LevelMismatch(format!(
                "a bootstrap of this set begins at level {}, and its operand is at level {level}, where nothing can refresh it any \
                 more; bootstrap before the product that led there, or encrypt the inputs at a higher level",
                bootstrap.input
            )));
        }
        let mut operand = x;
        while self.shape(operand).noise > bootstrap.takes {
            let own = self.shape(operand);
            if own.level == bootstrap.input {
                return Err(Error::Limit(format!(
                    "the noise of its operand could reach 2^{:.1} at level {level}, and a bootstrap takes up to 2^{:.1} at level {}; \
                     bootstrap before the sums that made it large",
                    libm::log2(noise),
                    libm::log2(bootstrap.takes),
                    bootstrap.input
                )));
            }
            // A bootstrap takes any factor, so the value keeps the one that the division leaves.
            let factor = own.factor.div(self.target.context.level_factor(own.level));
            operand = self.settle(node, operand, own.level - 1, factor)?;
        }
        let out = self.push(node, Action::Refresh(operand), self.target.refreshed(&bootstrap))?;
        self.refreshes += 1;
        if self.bootstraps == Bootstraps::WhereNeeded {
            self.refreshed.insert(x, out);
        }
        Ok(out)
    }

    /// The result of `build` on the operands. If there is no room for it, they are rescaled first; if that is not enough, they are
    /// bootstrapped one by one, the one with the fewest levels first.
    pub fn placed(
        &mut self,
        node: usize,
        operands: &[Register],
        build: &Build<'_, 't, W>,
    ) -> Result<Register, Error> {
        loop {
            let own: Vec<Register> = operands.iter().map(|&x| self.latest(x)).collect();
            let error = match self.built(node, &own, build) {
                Ok(out) => return Ok(out),
                Err(error) => error,
            };
            let exhausted = matches!(error, Error::LevelMismatch(_) | Error::Limit(_));
            match self.most_exhausted(&own).filter(|_| exhausted) {
                Some(x) => self.refresh(node, x)?,
                None => return Err(self.explained(error, &own)),
            };
        }
    }

    /// The operand to bootstrap first, if any gains by it.
    fn most_exhausted(&self, own: &[Register]) -> Option<Register> {
        let bootstrap = self.inserted()?;
        let all = own.iter().map(|&x| (self.shape(x), x));
        let gains = all.filter(|(shape, _)| {
            shape.level >= bootstrap.input
                && (shape.level < self.target.top() || shape.noise > bootstrap.leaves)
        });
        let order = |x: &BgvShape, y: &BgvShape| x.level.cmp(&y.level).then(y.noise.total_cmp(&x.noise));
        gains.min_by(|(x, _), (y, _)| order(x, y)).map(|(_, x)| x)
    }

    /// Builds the operation without bootstraps; a failure leaves no steps behind.
    fn built(&mut self, node: usize, own: &[Register], build: &Build<'_, 't, W>) -> Result<Register, Error> {
        // If an operand can no longer be bootstrapped, its result need not be either.
        let last = own.iter().any(|&x| !self.lives(self.shape(x)));
        let (begin, mut operands, mut failed) = (self.steps.len(), own.to_vec(), None);
        loop {
            let before = self.steps.len();
            let error = match build(self, &operands) {
                Ok(out) if last || self.lives(self.shape(out)) => return Ok(out),
                Ok(out) => self.outlived(out),
                Err(error) => error,
            };
            self.steps.truncate(before);
            let noisy = matches!(error, Error::Limit(_));
            let error = failed.get_or_insert(error).clone();
            if !(noisy && self.rescaled(node, &mut operands)?) {
                self.steps.truncate(begin);
                return Err(error);
            }
        }
    }

    /// Brings each operand that would have less noise there down a level; true if there was one.
    fn rescaled(&mut self, node: usize, operands: &mut [Register]) -> Result<bool, Error> {
        let mut below: BTreeMap<Register, Register> = BTreeMap::new();
        for x in operands {
            let BgvShape { level, noise, .. } = self.shape(*x);
            if !below.contains_key(x) && level > 0 {
                let factor = self.target.factor(level - 1);
                let shape = self.rehearsal.multiple(&self.shape(*x), 1, level - 1, factor);
                if let Some(shape) = shape.ok().filter(|shape| shape.noise < noise) {
                    below.insert(*x, self.push(node, Action::Times(*x, 1), shape)?);
                }
            }
            *x = below.get(x).copied().unwrap_or(*x);
        }
        Ok(!below.is_empty())
    }

    /// The error for a result that could no longer be bootstrapped.
    fn outlived(&self, out: Register) -> Error {
        let (shape, bootstrap) = (self.shape(out), self.inserted());
        let input = bootstrap.map_or(0, |bootstrap| bootstrap.input);
        if shape.level < input {
            return Error::LevelMismatch(format!(
                "its result would be at level {}, and a bootstrap begins at {input}, so that nothing could refresh it; bootstrap earlier, \
                 or, if it is only decrypted, have no bootstraps put in: `--as-written` on the command line, `as-written` in a page, \
                 Bootstraps::AsWritten in Rust",
                shape.level
            ));
        }
        Error::Limit(format!(
            "the noise of its result could reach 2^{:.1} at level {}, and a bootstrap takes up to 2^{:.1} at level {input}; bootstrap \
             before the sums that made it large, or, if the result is only decrypted, have no bootstraps put in: `--as-written` on the \
             command line, `as-written` in a page, Bootstraps::AsWritten in Rust",
            libm::log2(shape.noise),
            shape.level,
            libm::log2(bootstrap.map_or(0.0, |bootstrap| bootstrap.takes)),
        ))
    }

    /// The error, with advice added if levels are missing.
    fn explained(&self, error: Error, own: &[Register]) -> Error {
        let Error::LevelMismatch(text) = error else { return error };
        let lowest = own.iter().map(|&x| self.shape(x).level).min().unwrap_or_default();
        let top = self.target.top();
        Error::LevelMismatch(match (self.inserted(), self.target.bootstrapping) {
            (Some(IntegerBootstrap { input, .. }), _) if lowest < input => format!(
                "{text}; bootstraps begin at level {input}, and an operand is at level {lowest}: encrypt the inputs at a higher level"
            ),
            (Some(IntegerBootstrap { input, .. }), _) => format!(
                "{text}; a bootstrap of this set leaves {} levels, from {top} to {input}, where the next one begins: take an \
                 operation that needs no more, or a set with more levels",
                top - input
            ),
            (None, Some(_)) => format!(
                "{text}; encrypt the inputs at a higher level, bootstrap before, or ask for bootstraps where they are needed"
            ),
            (None, None) => {
                format!("{text}; encrypt the inputs at a higher level, or take a set that bootstraps")
            }
        })
    }
}
