//! What programs on integers are planned for: a chain with its keys.

use alloc::{collections::BTreeMap, vec::Vec};

use crate::{
    arith::Word,
    error::Error,
    ring::GaloisElement,
    schemes::{
        bgv::{BgvContext, Factor},
        evaluator::Label,
    },
};

/// Levels, factors and keys of a set. Only what is public about keys: they need not be there.
#[derive(Clone)]
pub struct IntegerTarget<W: Word = u64> {
    pub(super) context: BgvContext<W>,
    /// By level up to the highest of messages: the factor of values.
    factors: Vec<Factor>,
    pub(super) relinearization: Option<usize>,
    /// Left rotations of the rows there are keys for, with their levels.
    pub(super) rotations: BTreeMap<i64, usize>,
    pub(super) swap: Option<usize>,
    /// Levels of the input and of the result.
    pub(super) bootstrapping: Option<(usize, usize)>,
}

impl<W: Word> IntegerTarget<W> {
    /// Messages of the set at levels up to `top`; no keys.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a level that the chain does not have.
    pub fn new(context: &BgvContext<W>, top: usize) -> Result<Self, Error> {
        context.rlwe().check_level(top)?;
        let mut factors = alloc::vec![Factor::one(context.message_modulus().ring()); top + 1];
        for level in (1..=top).rev() {
            // What the product of two comes to.
            factors[level - 1] = factors[level].mul(factors[level]).div(context.level_factor(level));
        }
        Ok(Self {
            context: context.clone(),
            factors,
            relinearization: None,
            rotations: BTreeMap::new(),
            swap: None,
            bootstrapping: None,
        })
    }

    /// With a relinearisation key for ciphertexts up to a level.
    #[must_use]
    pub fn with_relinearization(mut self, level: usize) -> Self {
        self.relinearization = Some(level);
        self
    }

    /// With Galois keys, each for ciphertexts up to a level.
    #[must_use]
    pub fn with_galois(mut self, elements: impl IntoIterator<Item = (GaloisElement, usize)>) -> Self {
        let n = self.context.rlwe().n();
        let by_value: BTreeMap<u64, usize> =
            elements.into_iter().map(|(element, level)| (element.value(), level)).collect();
        let mut power = 1u64;
        for steps in 0..n / 2 {
            if let (1.., Some(&level)) = (steps, by_value.get(&power)) {
                self.rotations.insert(steps as i64, level);
            }
            power = power * 5 % (2 * n as u64);
        }
        self.swap = by_value.get(&GaloisElement::conjugation(n).value()).copied().or(self.swap);
        self
    }

    /// With bootstrapping from level `input` (or above) to the highest level of messages.
    #[must_use]
    pub fn with_bootstrapping(mut self, input: usize) -> Self {
        self.bootstrapping = Some((input, self.top()));
        self
    }

    /// Highest level of messages.
    pub fn top(&self) -> usize {
        self.factors.len() - 1
    }

    /// Slots of a row, of which there are two.
    pub fn columns(&self) -> usize {
        self.context.slots() / 2
    }

    /// The factor of values at a level of messages.
    pub(super) fn factor(&self, level: usize) -> Factor {
        self.factors[level]
    }
}
