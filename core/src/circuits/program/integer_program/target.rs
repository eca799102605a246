//! What programs on integers are planned for: a chain with its keys.

use alloc::{collections::BTreeMap, format, vec::Vec};

use super::super::rotations::{KeyLevels, KnownRotations};
use crate::{
    arith::Word,
    error::Error,
    ring::GaloisElement,
    schemes::{
        bgv::{BgvContext, BgvShape, Factor},
        evaluator::Label,
    },
};

/// What plans need to know of a bootstrap. Its result is at the highest level of messages, with factor 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntegerBootstrap {
    /// The lowest level of its operand.
    pub input: usize,
    /// The most noise of its operand.
    pub takes: f64,
    /// The most noise of its result.
    pub leaves: f64,
}

/// Levels, factors and keys of a set. It holds only public facts about keys; the keys themselves are not needed.
#[derive(Clone)]
pub struct IntegerTarget<W: Word = u64> {
    pub(super) context: BgvContext<W>,
    /// For each level up to the highest of messages, the factor of values unless something asks for another.
    factors: Vec<Factor>,
    /// Rotations are those of the rows, and the swap of the rows is the inversion.
    pub(super) keys: KeyLevels,
    pub(super) bootstrapping: Option<IntegerBootstrap>,
}

impl<W: Word> IntegerTarget<W> {
    /// A target for messages of the set at levels up to `top`, without keys.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a level that the chain does not have; [`Error::InvalidArgument`] for a ring of odd index, whose slots
    /// are not two rows.
    pub fn new(context: &BgvContext<W>, top: usize) -> Result<Self, Error> {
        if context.hypercube().is_some() {
            return Err(Error::InvalidArgument(format!(
                "a program for slots of a ring of the odd index {}: programs rotate and swap two rows; take a set of one or two axes",
                context.rlwe().ring().index()
            )));
        }
        context.rlwe().check_level(top)?;
        let mut factors = alloc::vec![Factor::one(context.message_modulus().ring()); top + 1];
        for level in (1..=top).rev() {
            // The factor of a rescaled product of two values.
            factors[level - 1] = factors[level].mul(factors[level]).div(context.level_factor(level));
        }
        Ok(Self {
            context: context.clone(),
            factors,
            keys: KeyLevels::none(context.slots() / 2),
            bootstrapping: None,
        })
    }

    /// With a relinearisation key for ciphertexts up to a level.
    #[must_use]
    pub fn with_relinearization(mut self, level: usize) -> Self {
        self.keys.relinearization = Some(level);
        self
    }

    /// With Galois keys, each for ciphertexts up to a level.
    #[must_use]
    pub fn with_galois(mut self, elements: impl IntoIterator<Item = (GaloisElement, usize)>) -> Self {
        let ring = self.context.rlwe().ring();
        let levels: BTreeMap<GaloisElement, usize> = elements.into_iter().collect();
        let (turn, mut element) = (ring.rotation(1), ring.rotation(0));
        for steps in 1..self.columns() {
            element = ring.combine(element, turn);
            if let Some(&level) = levels.get(&element) {
                self.keys.rotations.insert(steps as i64, level);
            }
        }
        self.keys.inversion = levels.get(&ring.inversion()).copied().or(self.keys.inversion);
        self
    }

    /// With bootstrapping.
    #[must_use]
    pub fn with_bootstrapping(mut self, bootstrap: IntegerBootstrap) -> Self {
        self.bootstrapping = Some(bootstrap);
        self
    }

    /// Left rotations of the rows that have keys, by less than a whole row, each with the highest level it is used at.
    pub fn rotations(&self) -> &BTreeMap<i64, usize> {
        &self.keys.rotations
    }

    /// The highest level at which the rows can be swapped, if they can.
    pub fn swap(&self) -> Option<usize> {
        self.keys.inversion
    }

    /// The highest level at which ciphertexts can be multiplied, if they can.
    pub fn relinearization(&self) -> Option<usize> {
        self.keys.relinearization
    }

    /// Highest level of messages.
    pub fn top(&self) -> usize {
        self.factors.len() - 1
    }

    /// Number of slots in each of the two rows.
    pub fn columns(&self) -> usize {
        self.keys.period
    }

    /// The fewest rotations with keys at a level that together make a left rotation by `steps`.
    ///
    /// # Errors
    /// [`Error::MissingKey`] if rotations with keys do not make it.
    pub fn rotation(&self, level: usize, steps: i64) -> Result<Vec<i64>, Error> {
        self.keys.rotation(&mut KnownRotations::default(), level, steps)
    }

    /// The factor of values at a level of messages.
    pub(super) fn factor(&self, level: usize) -> Factor {
        self.factors[level]
    }

    /// The shape of the result of a bootstrap.
    pub(super) fn refreshed(&self, bootstrap: &IntegerBootstrap) -> BgvShape {
        BgvShape {
            level: self.top(),
            factor: self.factor(self.top()),
            noise: bootstrap.leaves,
            components: 2,
        }
    }
}
