//! What circuits ask of a scheme whose ciphertexts have levels.

use core::fmt;

use crate::{error::Error, trace::Counters};

/// The factor by which a ciphertext multiplies its plaintext: a scale in CKKS, a unit modulo the plaintext modulus in BGV.
///
/// Labels are an abelian group: a product of ciphertexts has the product of their labels.
pub trait Label: Copy + fmt::Debug + Send + Sync {
    /// self · other.
    #[must_use]
    fn mul(self, other: Self) -> Self;

    /// self / other.
    #[must_use]
    fn div(self, other: Self) -> Self;
}

/// Arithmetic on ciphertexts that go down one level whenever they are rescaled, and carry a label.
///
/// Ciphertexts are added at equal labels only. A circuit therefore chooses labels from its result backward: for a sum at label L one level
/// below, it makes the sum at L times [`Self::label_of_level`] and rescales it.
pub trait Leveled: Sync {
    /// Two components, or three between a product and its relinearisation.
    type Ciphertext: Clone + Send + Sync;
    /// A constant that is multiplied with or added to all plaintexts of a ciphertext.
    type Coefficient;
    /// See [`Label`].
    type Label: Label;
    /// The key that relinearisation takes.
    type RelinearizationKey: Sync;

    /// Level: rescalings left.
    fn level(&self, x: &Self::Ciphertext) -> usize;

    /// The label.
    fn label(&self, x: &Self::Ciphertext) -> Self::Label;

    /// The label that rescaling from `level`, at least 1, divides by: the label of the primes it drops.
    fn label_of_level(&self, level: usize) -> Self::Label;

    /// x, whose label equals `label` up to the rounding of labels, at exactly that label.
    ///
    /// # Errors
    /// [`Error::ScaleMismatch`] or [`Error::PlaintextMismatch`] if the labels differ.
    fn at_label(&self, x: Self::Ciphertext, label: Self::Label) -> Result<Self::Ciphertext, Error>;

    /// Checks that products of x can be relinearised by the key, and that sums of them can have the label `target`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if x itself was not relinearised; [`Error::ParamsMismatch`] and
    /// [`Error::LevelMismatch`] for a key of another set or of a lower level; [`Error::PlaintextMismatch`] for a label of other
    /// plaintexts.
    fn check_operand(
        &self,
        x: &Self::Ciphertext,
        key: &Self::RelinearizationKey,
        target: Self::Label,
    ) -> Result<(), Error>;

    /// Zero without randomness, of the same set and key as `like`: it hides nothing.
    fn empty_sum(&self, like: &Self::Ciphertext, level: usize, label: Self::Label) -> Self::Ciphertext;

    /// sum += c, for ciphertexts of any number of components.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another set; [`Error::InvalidArgument`] for a constant that the
    /// scheme does not have.
    fn add_constant_assign(&self, sum: &mut Self::Ciphertext, c: &Self::Coefficient) -> Result<(), Error>;

    /// sum += c x, for x with any label, at the level of the sum or above.
    ///
    /// # Errors
    /// As [`Self::add_constant_assign`]; [`Error::LevelMismatch`] if x is at a lower level;
    /// [`Error::ScaleMismatch`] where the labels leave too few bits of c.
    fn add_multiple_assign(
        &self,
        sum: &mut Self::Ciphertext,
        x: &Self::Ciphertext,
        c: &Self::Coefficient,
    ) -> Result<(), Error>;

    /// sum += the sum of all c x, as [`Self::add_multiple_assign`] adds them one by one.
    ///
    /// # Errors
    /// As [`Self::add_multiple_assign`].
    fn add_multiples_assign(
        &self,
        sum: &mut Self::Ciphertext,
        terms: &[(&Self::Ciphertext, &Self::Coefficient)],
    ) -> Result<(), Error> {
        terms.iter().try_for_each(|(x, c)| self.add_multiple_assign(sum, x, c))
    }

    /// x *= k, at the same label.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another set.
    fn multiply_integer_assign(&self, x: &mut Self::Ciphertext, k: i64) -> Result<(), Error>;

    /// x + y at the lower of the two levels, in the memory of x; equal labels required.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`]; [`Error::ScaleMismatch`] or [`Error::PlaintextMismatch`] if the labels differ.
    fn add_to(&self, x: Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// The product in three components, at the lower of the two levels.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`]; [`Error::InvalidArgument`] if an operand was not relinearised.
    fn tensor(&self, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// Two components, one level down: relinearised if there are three, and rescaled, by one division. Schemes implement it, and circuits
    /// call it and count the work for the run they are part of.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at level 0; as [`Self::check_operand`] for the key.
    fn reduce(
        &self,
        x: &Self::Ciphertext,
        key: &Self::RelinearizationKey,
        counters: &mut Counters,
    ) -> Result<Self::Ciphertext, Error>;
}
