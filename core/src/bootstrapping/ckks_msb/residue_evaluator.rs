//! Sums and products of integers modulo n, reduced as late as their noise allows.

use alloc::format;

use super::{
    evaluator::{MsbEvaluator, one, run},
    numbers::Numbers,
    readout::Readout,
    residue::{Bounds, Residue, ResidueRing},
    rounding::Rounding,
    run::MsbRun,
};
use crate::{
    arith::{DoubleDouble, Word},
    bootstrapping::raising::KeySource,
    error::Error,
    schemes::ckks::{Ciphertext, CkksEvaluator},
    trace::Observer,
};

/// Most readings of one operand before an operation: no residue needs more than two.
const READINGS: usize = 2;

/// Computes with residues of one ring.
///
/// An operand that has become too large, too noisy or too low for an operation is read first, and the reduced one left in its
/// place: hence `&mut`. Of the ways to go on, the one with the fewest readings is taken.
pub struct ResidueEvaluator<'a, W: Word = u64> {
    evaluator: &'a MsbEvaluator<W>,
    ring: ResidueRing<W>,
    keys: &'a dyn KeySource<W>,
}

impl<'a, W: Word> ResidueEvaluator<'a, W> {
    /// An evaluator with the evaluation keys of the owner of the residues.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ring of another set.
    pub fn new(
        evaluator: &'a MsbEvaluator<W>,
        ring: &ResidueRing<W>,
        keys: &'a dyn KeySource<W>,
    ) -> Result<Self, Error> {
        let (own, other) = (evaluator.params(), ring.params());
        if own.fingerprint() != other.fingerprint() {
            return Err(Error::ParamsMismatch(format!(
                "residues in ciphertexts of {}, and an evaluator of {}; take one of the set",
                other.name(),
                own.name()
            )));
        }
        Ok(Self { evaluator, ring: ring.clone(), keys })
    }

    /// x + y.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the observer says so; [`Error::MissingKey`]; [`Error::ParamsMismatch`].
    pub fn add(
        &self,
        x: &mut Residue<W>,
        y: &mut Residue<W>,
        observer: &mut dyn Observer,
    ) -> Result<Residue<W>, Error> {
        self.combined(x, y, CkksEvaluator::add, observer)
    }

    /// x - y.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn subtract(
        &self,
        x: &mut Residue<W>,
        y: &mut Residue<W>,
        observer: &mut dyn Observer,
    ) -> Result<Residue<W>, Error> {
        self.combined(x, y, CkksEvaluator::sub, observer)
    }

    /// The sum or the difference, which have the same bounds.
    fn combined(
        &self,
        x: &mut Residue<W>,
        y: &mut Residue<W>,
        operation: impl Fn(&CkksEvaluator<W>, &Ciphertext<W>, &Ciphertext<W>) -> Result<Ciphertext<W>, Error>,
        observer: &mut dyn Observer,
    ) -> Result<Residue<W>, Error> {
        let bounds = self.prepare(x, y, &|x, y| self.ring.sum(x, y), observer)?;
        let [x, y] = self.at_one_level(x, y)?;
        Ok(Residue { x: operation(self.evaluator.ckks(), &x, &y)?, bounds })
    }

    /// x y, one level below the lower of them.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn multiply(
        &self,
        x: &mut Residue<W>,
        y: &mut Residue<W>,
        observer: &mut dyn Observer,
    ) -> Result<Residue<W>, Error> {
        let bounds = self.prepare(x, y, &|x, y| self.ring.product(x, y), observer)?;
        let [x, y] = self.at_one_level(x, y)?;
        self.product(&x, &y, bounds)
    }

    /// x x.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn square(&self, x: &mut Residue<W>, observer: &mut dyn Observer) -> Result<Residue<W>, Error> {
        let bounds = self.prepare_one(x, &|x| self.ring.product(x, x), observer)?;
        self.product(&x.x, &x.x, bounds)
    }

    /// k x for |k| up to n/2, at the level of x.
    ///
    /// # Errors
    /// As [`Self::add`]; [`Error::InvalidArgument`] for a larger k.
    pub fn multiply_integer(
        &self,
        x: &mut Residue<W>,
        k: i64,
        observer: &mut dyn Observer,
    ) -> Result<Residue<W>, Error> {
        if k.unsigned_abs() > self.ring.half() {
            return Err(Error::InvalidArgument(format!(
                "a product with {k} modulo {}; take the residue of least absolute value, at most {}",
                self.ring.modulus(),
                self.ring.half()
            )));
        }
        let bounds = self.prepare_one(x, &|x| self.ring.multiple(x, k), observer)?;
        Ok(Residue { x: self.evaluator.ckks().multiply_integer(&x.x, k)?, bounds })
    }

    /// The residues of least absolute value, from -n/2 to n/2, at the level that the tables leave: one IntMod.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn reduce(&self, x: &Residue<W>, observer: &mut dyn Observer) -> Result<Residue<W>, Error> {
        let (ring, ckks, params) = (&self.ring, self.evaluator.ckks(), self.evaluator.params());
        let (Some(reading), Some(bounds)) = (ring.reading(x.bounds), ring.read(x.bounds)) else {
            return Err(self.stuck());
        };
        let n = ring.modulus();
        let half = DoubleDouble::ratio(ring.half() as i64, n as i64);
        let z = self.at_level(&x.x, params.levels().input)?.relabelled(params.scale());
        let z = ckks.add_constant(&z, half.into())?;
        let readout = Readout::digits(&reading.radix)?;
        let numbers = Numbers::up_to(&z, reading.largest).off_by(reading.off);
        let reading = MsbRun::new(self.evaluator, numbers, &readout, Rounding::None)?;
        let unit = ring.unit(bounds.level);
        let y = one(run(reading.with_results_at(unit)?, self.keys, observer)?)?;
        let y = ckks.add_constant(&y, (-half).into())?;
        Ok(Residue { x: y.relabelled(ring.scale(bounds.level)), bounds })
    }

    fn product(&self, x: &Ciphertext<W>, y: &Ciphertext<W>, bounds: Bounds) -> Result<Residue<W>, Error> {
        let product = self.evaluator.multiply(x, y, self.keys)?;
        Ok(Residue { x: product.relabelled(self.ring.scale(bounds.level)), bounds })
    }

    /// Reads the operands as often as `combine` needs, and returns the bounds that it gives.
    fn prepare(
        &self,
        x: &mut Residue<W>,
        y: &mut Residue<W>,
        combine: &dyn Fn(Bounds, Bounds) -> Option<Bounds>,
        observer: &mut dyn Observer,
    ) -> Result<Bounds, Error> {
        let (ways_of_x, ways_of_y) = (self.ways(x.bounds), self.ways(y.bounds));
        for count in 0..=2 * READINGS {
            // The larger operand first.
            for i in (0..=count.min(READINGS)).rev().filter(|i| count - i <= READINGS) {
                let (i, j) =
                    if x.bounds.largest < y.bounds.largest { (count - i, i) } else { (i, count - i) };
                let (Some(a), Some(b)) = (ways_of_x[i], ways_of_y[j]) else { continue };
                if let Some(bounds) = combine(a, b) {
                    self.read(x, i, observer)?;
                    self.read(y, j, observer)?;
                    return Ok(bounds);
                }
            }
        }
        Err(self.stuck())
    }

    fn prepare_one(
        &self,
        x: &mut Residue<W>,
        combine: &dyn Fn(Bounds) -> Option<Bounds>,
        observer: &mut dyn Observer,
    ) -> Result<Bounds, Error> {
        for (i, way) in self.ways(x.bounds).into_iter().enumerate() {
            if let Some(bounds) = way.and_then(combine) {
                self.read(x, i, observer)?;
                return Ok(bounds);
            }
        }
        Err(self.stuck())
    }

    /// The bounds of an operand after no reading, one, and so on.
    fn ways(&self, x: Bounds) -> [Option<Bounds>; READINGS + 1] {
        let mut ways = [Some(x); READINGS + 1];
        for i in 1..=READINGS {
            ways[i] = ways[i - 1].and_then(|x| self.ring.read(x));
        }
        ways
    }

    fn read(&self, x: &mut Residue<W>, count: usize, observer: &mut dyn Observer) -> Result<(), Error> {
        for _ in 0..count {
            *x = self.reduce(x, observer)?;
        }
        Ok(())
    }

    /// A ciphertext of integers at a lower level, at the scale of that level.
    fn at_level(&self, x: &Ciphertext<W>, level: usize) -> Result<Ciphertext<W>, Error> {
        if x.level() == level {
            return Ok(x.clone());
        }
        let ckks = self.evaluator.ckks();
        let x = ckks.drop_to_level(x, level + 1)?;
        let scale = self.ring.scale(level);
        ckks.multiply_constant_rescale(&x, DoubleDouble::ONE.into(), scale)
    }

    fn at_one_level(&self, x: &Residue<W>, y: &Residue<W>) -> Result<[Ciphertext<W>; 2], Error> {
        let level = x.x.level().min(y.x.level());
        Ok([self.at_level(&x.x, level)?, self.at_level(&y.x, level)?])
    }

    /// An error that no residue of the ring leads to, as [`ResidueRing::new`] makes sure.
    fn stuck(&self) -> Error {
        Error::InvalidArgument(format!(
            "residues modulo {} in so much noise that they cannot be reduced; take residues of this ring",
            self.ring.modulus()
        ))
    }
}
