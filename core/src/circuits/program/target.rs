//! What programs are planned for: a chain with its keys, and inputs, as numbers.

use alloc::{collections::BTreeMap, sync::Arc, vec::Vec};

use super::{
    DigitOrders, DigitReader,
    rotations::{KeyLevels, KnownRotations},
};
use crate::{
    arith::Word,
    error::Error,
    ring::GaloisElement,
    schemes::ckks::{Ciphertext, CkksContext, Scale},
};

/// Levels, scales and keys of a set. It holds only public facts about keys; the keys themselves are not needed.
#[derive(Debug, Clone)]
pub struct Target {
    /// By level up to the highest of messages: the product of the primes of the level.
    pub(super) primes: Vec<Scale>,
    /// By level: log2 of the modulus.
    pub(super) log_q: Vec<f64>,
    /// By level: bytes of a ciphertext in memory.
    pub(super) bytes: Vec<u64>,
    /// By level: the scale of results.
    pub(super) scales: Vec<Scale>,
    /// Rotations are those of the ring's slots, conjugation is the inversion, and the period is the slots of a message.
    pub(super) keys: KeyLevels,
    /// Levels of the input and of the result of a bootstrap.
    pub(super) bootstrapping: Option<(usize, usize)>,
    pub(super) refreshed: Refreshed,
    pub(super) modular: Option<Modular>,
    /// log2 of the probability that a bootstrap fails.
    pub(super) log_failure: Option<f64>,
    /// Level below which no value falls.
    pub(super) floor: usize,
    pub(super) digits: Option<Arc<dyn DigitReader>>,
    /// How orders are told by digits, on sets that tell them by gates too.
    pub(super) orders: Option<DigitOrders>,
    n: usize,
}

/// How far the scale of a level may be from that of the set, as a ratio.
const DRIFT: f64 = 1.05;

impl Target {
    /// A target for messages of `slots` slots (which repeat if the ring has more) at `scale`, at levels up to `top`, without keys.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a level that the chain does not have; [`Error::InvalidArgument`] unless `slots` is a power of two up to
    /// the number of slots of the ring.
    pub fn new<W: Word>(
        context: &CkksContext<W>,
        slots: usize,
        top: usize,
        scale: Scale,
    ) -> Result<Self, Error> {
        let rlwe = context.rlwe();
        rlwe.check_level(top)?;
        if !slots.is_power_of_two() || slots > context.slots() {
            return Err(Error::InvalidArgument(alloc::format!(
                "messages of {slots} slots in a ring of {}; take a power of two up to that",
                context.slots()
            )));
        }
        let primes: Vec<Scale> =
            (0..=top).map(|level| Scale::product(rlwe.spec().levels[level].iter().copied())).collect();
        let scales = scales_below(top, scale, &primes);
        Ok(Self {
            log_q: (0..=top).map(|level| rlwe.q(level).log2()).collect(),
            bytes: (0..=top)
                .map(|level| (2 * rlwe.q(level).len() * rlwe.n() * size_of::<W>()) as u64)
                .collect(),
            primes,
            scales,
            keys: KeyLevels::none(slots),
            bootstrapping: None,
            refreshed: Refreshed::OfSet,
            modular: None,
            log_failure: None,
            floor: 0,
            digits: None,
            orders: None,
            n: context.rlwe().n(),
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
        let by_value: BTreeMap<u64, usize> =
            elements.into_iter().map(|(element, level)| (element.value(), level)).collect();
        let modulus = 2 * self.n as u64;
        let mut power = 1u64;
        for steps in 0..self.n / 2 {
            if let (1.., Some(&level)) = (steps, by_value.get(&power)) {
                self.keys.rotations.insert(steps as i64, level);
            }
            power = power * 5 % modulus;
        }
        let inversion = by_value.get(&GaloisElement::conjugation(self.n).value()).copied();
        self.keys.inversion = inversion.or(self.keys.inversion);
        self
    }

    /// With bootstrapping from level `input` (or above) to level `output`, whose result has the scale of the set unless
    /// [`Self::with_refreshed`] says otherwise.
    #[must_use]
    pub fn with_bootstrapping(mut self, input: usize, output: usize) -> Self {
        self.bootstrapping = Some((input, output.min(self.top())));
        self
    }

    /// With bootstraps that each fail with a probability of at most 2^`log_failure`, where that is known.
    #[must_use]
    pub fn with_failure(mut self, log_failure: Option<f64>) -> Self {
        self.log_failure = log_failure;
        self
    }

    /// With bootstraps whose results have another scale than that of the set.
    #[must_use]
    pub fn with_refreshed(mut self, scale: Refreshed) -> Self {
        self.refreshed = scale;
        self
    }

    /// With bootstraps that keep numbers modulo 1: none is inserted where levels run out, and their input has to be at a certain scale.
    #[must_use]
    pub fn with_modular_bootstraps(mut self, modular: Modular) -> Self {
        self.modular = Some(modular);
        self
    }

    /// With the scale of the set at `level`, where results of bootstraps are, and above, instead of at the top. The scales of products are
    /// derived from there.
    #[must_use]
    pub fn with_scale_at(mut self, level: usize) -> Self {
        self.scales = scales_below(level.min(self.top()), self.scale(self.top()), &self.primes);
        self
    }

    /// With a level below which no value falls: a set may have levels that nothing but its bootstrap uses.
    #[must_use]
    pub fn with_floor(mut self, level: usize) -> Self {
        self.floor = level;
        self
    }

    /// The same levels and scales without keys and bootstraps, for computing with keys of another kind.
    #[must_use]
    pub fn without_keys(mut self) -> Self {
        self.keys = KeyLevels::none(self.slots());
        self.bootstrapping = None;
        self.modular = None;
        self.log_failure = None;
        self.digits = None;
        self.orders = None;
        self
    }

    /// The lowest level at which a bootstrap takes its input; `None` without bootstraps.
    pub fn bootstraps_from(&self) -> Option<usize> {
        self.bootstrapping.map(|(input, _)| input)
    }

    /// Level below which no value falls.
    pub fn floor(&self) -> usize {
        self.floor
    }

    /// The fewest rotations with keys at a level that together make a left rotation by `steps`.
    ///
    /// # Errors
    /// [`Error::MissingKey`] if rotations with keys do not make it.
    pub fn rotation(&self, level: usize, steps: i64) -> Result<Vec<i64>, Error> {
        self.keys.rotation(&mut KnownRotations::default(), level, steps)
    }

    /// The highest level at which ciphertexts can be multiplied, if they can.
    pub fn relinearization(&self) -> Option<usize> {
        self.keys.relinearization
    }

    /// Left rotations of the ring's slots that have keys, from 1 to N/2 - 1, each with the highest level it is used at.
    pub fn rotations(&self) -> &BTreeMap<i64, usize> {
        &self.keys.rotations
    }

    /// The highest level at which ciphertexts can be conjugated, if they can.
    pub fn conjugation(&self) -> Option<usize> {
        self.keys.inversion
    }

    /// log2 of the modulus at every level, from 0 to [`Self::top`].
    pub fn log2_moduli(&self) -> &[f64] {
        &self.log_q
    }

    /// Levels of the input and of the result of a bootstrap, if there is one.
    pub fn bootstrapping(&self) -> Option<(usize, usize)> {
        self.bootstrapping
    }

    /// log2 of the probability that a bootstrap fails, where it is known.
    pub fn failure(&self) -> Option<f64> {
        self.log_failure
    }

    /// With a reader of digits.
    #[must_use]
    pub fn with_digits(mut self, reader: Arc<dyn DigitReader>) -> Self {
        self.digits = Some(reader);
        self
    }

    /// With questions about the order of numbers answered by digits too, where that is cheaper.
    #[must_use]
    pub fn with_orders_by_digits(mut self, orders: DigitOrders) -> Self {
        self.orders = Some(orders);
        self
    }

    /// The reader of digits, if there is one.
    pub fn digit_reader(&self) -> Option<Arc<dyn DigitReader>> {
        self.digits.clone()
    }

    /// Whether digits are read.
    pub fn reads_digits(&self) -> bool {
        self.digits.is_some()
    }

    /// Slots of a message.
    pub fn slots(&self) -> usize {
        self.keys.period
    }

    /// Highest level of messages.
    pub fn top(&self) -> usize {
        self.scales.len() - 1
    }

    /// Scale of results at a level; above the highest level, the scale of that.
    pub fn scale(&self, level: usize) -> Scale {
        self.scales[level.min(self.top())]
    }

    /// Ring degree N.
    pub(super) fn n(&self) -> usize {
        self.n
    }
}

/// The scale of a bootstrap's result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refreshed {
    /// The scale of the set at the level of the result.
    OfSet,
    /// The scale of the ciphertext that was bootstrapped, as with several rounds.
    OfInput,
    /// This scale.
    At(Scale),
}

/// For each level: `scale` from `anchor` up; below it the scale of a rescaled product of two values, or `scale` if the two are too far
/// apart.
fn scales_below(anchor: usize, scale: Scale, primes: &[Scale]) -> Vec<Scale> {
    let mut scales = alloc::vec![scale; primes.len()];
    for level in (1..=anchor).rev() {
        let product = scales[level].mul(scales[level]).div(primes[level]);
        let ratio = product.div(scale).to_f64();
        if (1.0 / DRIFT..=DRIFT).contains(&ratio) {
            scales[level - 1] = product;
        }
    }
    scales
}

/// Bootstraps that keep numbers modulo 1, in (-1/2, 1/2), and round them.
#[derive(Debug, Clone, Copy)]
pub struct Modular {
    /// The scale of the input of a bootstrap.
    pub scale: Scale,
    /// How far the scale of an input may be from `scale`, as a ratio less 1.
    pub drift: f64,
    /// Number of passes of each bootstrap.
    pub passes: usize,
}

/// Who places bootstraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bootstraps {
    /// The program alone: it is an error if levels run out.
    #[default]
    AsWritten,
    /// The plan too, where levels run out. A value is bootstrapped at most once, and only when an operation needs more levels
    /// than it has; polynomials too deep for the levels of one bootstrap are taken apart.
    WhereNeeded,
}

/// Level and scale of an input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InputShape {
    /// Its level.
    pub level: usize,
    /// Its scale.
    pub scale: Scale,
}

impl InputShape {
    /// The shape of a ciphertext.
    pub fn of<W: Word>(x: &Ciphertext<W>) -> Self {
        Self { level: x.level(), scale: x.scale() }
    }
}
