//! Comparison, ranks, argmax: on samples, all pairs at once.

use alloc::{format, vec::Vec};

use super::{
    comparison::difference_encoding, evaluator::LinkEvaluator, phase::Phase, range::Range,
    slots_to_gates::drift_of, stages,
};
use crate::{
    bootstrapping::raising::ReductionSpec,
    error::{Error, hex},
    rlwe::lwe::LweSample,
    schemes::cggi::{CggiCiphertext, Encoding},
    trace::Observer,
};

impl<R: ReductionSpec> LinkEvaluator<R> {
    /// x >= y as a bit. On a grid the answer is exact; otherwise numbers that are close, or equal, may be ordered either way
    /// ([`super::LinkParams::comparison`]).
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for phases of another key; [`Error::InvalidArgument`] for phases of different ranges,
    /// [`Error::ScaleMismatch`] of different scales; [`Error::Limit`] for a grid too fine for the promise of the set at that scale;
    /// [`Error::Cancelled`] if the observer says so.
    pub fn at_least(
        &self,
        x: &Phase,
        y: &Phase,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<u64>, Error> {
        self.check_phases(&[x, y])?;
        self.compare(x, y, Encoding::Bit, observer)
    }

    /// x >= `threshold` as a bit, as exact as [`Self::at_least`]; on a grid the threshold is rounded up to it.
    ///
    /// # Errors
    /// As [`Self::at_least`]; [`Error::InvalidArgument`] for a threshold out of the range of x.
    pub fn above(
        &self,
        x: &Phase,
        threshold: f64,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<u64>, Error> {
        self.check_phases(&[x])?;
        let least = if x.range == Range::Signed { -1.0 } else { 0.0 };
        if !(least..=1.0).contains(&threshold) {
            return Err(Error::InvalidArgument(format!(
                "a threshold of {threshold} for numbers from {least} to 1; take one of these"
            )));
        }
        let p = self.params().cggi().modulus();
        let exact = match x.range {
            Range::Grid { bits } => {
                libm::ldexp(libm::ceil(libm::ldexp(threshold, bits as i32)), -(bits as i32))
            }
            _ => threshold,
        };
        // The threshold is moved by the same factor as the numbers.
        let turns = x.range.turns() * exact * (1.0 + drift_of(self.params(), x.scale));
        let phase = p.reduce_i64(libm::round(turns * p.value_u64() as f64) as i64);
        let sample = LweSample::trivial(self.params().cggi().n(), phase);
        let constant = Phase { sample, range: x.range, scale: x.scale, key_id: x.key_id };
        self.compare(x, &constant, Encoding::Bit, observer)
    }

    /// [`Self::above`] for many numbers at once.
    ///
    /// # Errors
    /// As [`Self::above`].
    pub fn all_above(
        &self,
        numbers: &[Phase],
        threshold: f64,
        observer: &mut dyn Observer,
    ) -> Result<Vec<CggiCiphertext<u64>>, Error> {
        self.on_gates(stages::COMPARE, numbers.len(), observer, |i| {
            self.above(&numbers[i], threshold, &mut ())
        })
    }

    /// The rank of each number: how many of the others are smaller, from 0 to the length of `numbers` less 1. Of equal numbers on a grid
    /// the one that comes first has the higher rank, so all ranks differ.
    ///
    /// # Errors
    /// As [`Self::at_least`]; [`Error::InvalidArgument`] for fewer than two numbers, or more than
    /// [`super::LinkParams::most_ranked`].
    pub fn ranks(
        &self,
        numbers: &[Phase],
        observer: &mut dyn Observer,
    ) -> Result<Vec<CggiCiphertext<u64>>, Error> {
        self.check_ranked(numbers)?;
        let pairs = pairs(numbers.len());
        let work = |k: usize| self.compare_pair(numbers, pairs[k]);
        let larger = self.on_gates(stages::COMPARE, pairs.len(), observer, work)?;
        self.ranks_of(numbers.len(), &larger)
    }

    /// Checks that these numbers can be ranked.
    pub(super) fn check_ranked(&self, numbers: &[Phase]) -> Result<(), Error> {
        let (count, most) = (numbers.len(), self.params().most_ranked());
        if !(2..=most).contains(&count) {
            return Err(Error::InvalidArgument(format!(
                "{count} numbers to rank; {} ranks 2 to {most} of them: split them into groups, and rank the first of each again",
                self.params().name()
            )));
        }
        self.check_phases(&numbers.iter().collect::<Vec<_>>())
    }

    /// Whether the first of a pair is at least as large as the second, in the encoding of ranks, for numbers that were checked.
    pub(super) fn compare_pair(
        &self,
        numbers: &[Phase],
        (i, j): (usize, usize),
    ) -> Result<CggiCiphertext<u64>, Error> {
        self.compare(&numbers[i], &numbers[j], self.params().rank_encoding(), &mut ())
    }

    /// The ranks of `count` numbers, from the comparisons of their [`pairs`].
    pub(super) fn ranks_of(
        &self,
        count: usize,
        larger: &[CggiCiphertext<u64>],
    ) -> Result<Vec<CggiCiphertext<u64>>, Error> {
        let pairs = pairs(count);
        let rank = |i: usize| {
            // c_ij for the pairs in which i comes first, and 1 - c_ji for the others.
            let own = pairs.iter().zip(larger).filter(|((a, b), _)| *a == i || *b == i);
            let terms: Vec<_> = own.map(|((a, _), bit)| (if *a == i { 1 } else { -1 }, bit)).collect();
            self.cggi().weighted_sum(&terms, i as u32)
        };
        (0..count).map(rank).collect()
    }

    /// Bits that say for each number whether `wanted` accepts its rank: one rotation more for each number.
    ///
    /// # Errors
    /// As [`Self::ranks`].
    pub fn ranked(
        &self,
        numbers: &[Phase],
        wanted: impl Fn(usize) -> bool + Sync + Send,
        observer: &mut dyn Observer,
    ) -> Result<Vec<CggiCiphertext<u64>>, Error> {
        let ranks = self.ranks(numbers, observer)?;
        self.look_up_ranks(&ranks, wanted, observer)
    }

    /// Bits that say for each rank whether `wanted` accepts it.
    ///
    /// # Errors
    /// As [`Self::ranks`]; [`Error::InvalidArgument`] for ciphertexts that hold no ranks.
    pub fn look_up_ranks(
        &self,
        ranks: &[CggiCiphertext<u64>],
        wanted: impl Fn(usize) -> bool + Sync + Send,
        observer: &mut dyn Observer,
    ) -> Result<Vec<CggiCiphertext<u64>>, Error> {
        self.on_gates(stages::LOOK_UP, ranks.len(), observer, |i| self.look_up_rank(&ranks[i], &wanted))
    }

    /// Whether `wanted` accepts a rank, as a bit.
    pub(super) fn look_up_rank(
        &self,
        rank: &CggiCiphertext<u64>,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<CggiCiphertext<u64>, Error> {
        let table: Vec<u32> = (0..self.params().most_ranked()).map(|rank| u32::from(wanted(rank))).collect();
        self.cggi().look_up(rank, &table, Encoding::Bit, &mut ())
    }

    /// One bit for each number: 1 for the largest, and 0 for the others. Where the largest two are too close, none or both may be 1; on a
    /// grid exactly one bit is 1, for the first of equal numbers.
    ///
    /// # Errors
    /// As [`Self::ranks`].
    pub fn argmax(
        &self,
        numbers: &[Phase],
        observer: &mut dyn Observer,
    ) -> Result<Vec<CggiCiphertext<u64>>, Error> {
        self.ranked(numbers, |rank| rank + 1 == numbers.len(), observer)
    }

    /// One bit for each number: 1 for the smallest; on a grid for the last of equal numbers.
    ///
    /// # Errors
    /// As [`Self::ranks`].
    pub fn argmin(
        &self,
        numbers: &[Phase],
        observer: &mut dyn Observer,
    ) -> Result<Vec<CggiCiphertext<u64>>, Error> {
        self.ranked(numbers, |rank| rank == 0, observer)
    }

    /// One bit for each number: 1 for the `count` largest.
    ///
    /// # Errors
    /// As [`Self::ranks`]; [`Error::InvalidArgument`] for a count of 0, or above the length of `numbers`.
    pub fn top(
        &self,
        numbers: &[Phase],
        count: usize,
        observer: &mut dyn Observer,
    ) -> Result<Vec<CggiCiphertext<u64>>, Error> {
        if !(1..=numbers.len()).contains(&count) {
            return Err(Error::InvalidArgument(format!(
                "the {count} largest of {} numbers; take 1 to {}",
                numbers.len(),
                numbers.len()
            )));
        }
        self.ranked(numbers, |rank| rank + count >= numbers.len(), observer)
    }

    /// Independent rotations, reported as one stage.
    fn on_gates<T: Send>(
        &self,
        stage: &'static str,
        count: usize,
        observer: &mut dyn Observer,
        work: impl Fn(usize) -> Result<T, Error> + Sync + Send,
    ) -> Result<Vec<T>, Error> {
        let log_p = self.params().cggi().modulus().log2();
        let all = |_: &mut _, observer: &mut dyn Observer| stages::run_all(stage, count, observer, work);
        stages::run(stage, observer, all, |_| (0, log_p, log_p))
    }

    /// x >= y in an encoding, for phases that were checked.
    fn compare(
        &self,
        x: &Phase,
        y: &Phase,
        output: Encoding,
        observer: &mut dyn Observer,
    ) -> Result<CggiCiphertext<u64>, Error> {
        let params = self.params().cggi();
        let mut difference = x.sample.clone();
        difference.add_multiple(params.modulus(), -1, &y.sample);
        let Range::Grid { bits } = x.range else {
            return self.cggi().sign_of_phase(difference, output, observer);
        };
        let plan = self.params().sign_plan(bits, x.scale)?;
        let weight = libm::ceil(self.params().difference_noise()) as u32;
        let difference =
            CggiCiphertext::new(params, x.key_id, difference_encoding(bits), weight, difference)?;
        self.cggi().look_up_sign(&difference, &plan, [1, 0], output, observer)
    }

    fn check_phases(&self, phases: &[&Phase]) -> Result<(), Error> {
        let own = self.keys().cggi().key_id();
        for phase in phases {
            if phase.key_id != own {
                return Err(Error::ParamsMismatch(format!(
                    "a phase of key {}, and evaluation keys of {}; use objects of one key",
                    hex(&phase.key_id),
                    hex(&own)
                )));
            }
            if !phase.scale.matches(phases[0].scale) {
                return Err(Error::ScaleMismatch(format!(
                    "numbers of ciphertexts at scales 2^{:.6} and 2^{:.6} are compared; bring both to one scale first",
                    phases[0].scale.log2(),
                    phase.scale.log2()
                )));
            }
            if phase.range != phases[0].range {
                return Err(Error::InvalidArgument(format!(
                    "numbers that lie in {:?} and in {:?} are compared; extract both for one range",
                    phases[0].range, phase.range
                )));
            }
        }
        Ok(())
    }
}

/// The pairs of `count` numbers, ordered by their first one.
pub(super) fn pairs(count: usize) -> Vec<(usize, usize)> {
    (0..count).flat_map(|i| (i + 1..count).map(move |j| (i, j))).collect()
}
