//! Where the methods that raise the modulus differ: the function that removes I from x = m/q0 + I.

use alloc::vec::Vec;
use core::fmt;

use super::spec::RaisingSpec;
use crate::{bootstrapping::method::Promise, error::Error, trace::StageInfo};

/// The numbers of a reduction of x = m/q0 + I in slots, |x| at most K, and what the rest of a set takes from them.
pub trait ReductionSpec: Clone + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// Context of the fingerprints of sets.
    const FINGERPRINT: &'static str;
    /// Label of the seeds of key sets.
    const KEY_SET: &'static str;
    /// Largest absolute value of the parts of messages that are encrypted for it.
    const LARGEST_MESSAGE: f64;
    /// Whether numbers far above 1 go through slots-to-coefficients, whose errors grow with the size of the numbers.
    const LARGE_NUMBERS: bool = false;

    /// The reduction with its polynomials.
    type Fitted: Send + Sync;

    /// Fits the polynomials.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers out of range, or a fit that does not converge.
    fn fitted(&self) -> Result<Self::Fitted, Error>;

    /// Levels it takes before results leave it: those between coefficients-to-slots and messages.
    fn levels(&self) -> usize;

    /// K, above every quotient |I|.
    fn range(&self) -> u32;

    /// Whether it takes the key of the conjugation.
    fn conjugates(&self) -> bool;

    /// log2 of q0 over the scale of a raised message for which it is made: the room between neighbouring multiples of q0.
    fn log_message_ratio(&self) -> u32;

    /// Whether it fits the rest of a set.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming both sides.
    fn check(spec: &RaisingSpec<Self>) -> Result<(), Error>;

    /// The stages of a set in order.
    fn stages(spec: &RaisingSpec<Self>) -> Vec<StageInfo>;

    /// What the named set with these numbers promises of a bootstrap; `None` where there is none.
    fn promise(spec: &RaisingSpec<Self>) -> Option<Promise>;

    /// Every number, for fingerprints: six words, and one that is last of all.
    fn words(&self) -> ([u64; 6], Option<u64>);
}
