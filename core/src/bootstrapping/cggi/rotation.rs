//! Blind rotation: what the methods have in common.

use alloc::{boxed::Box, vec::Vec};

use super::{accumulator::Accumulator, test_vector::TestVector};
use crate::{
    arith::Word,
    rlwe::{
        lwe::{Exponents, Grid},
        rgsw::ProductScratch,
    },
    schemes::cggi::CggiParams,
    trace::Counters,
};

/// How a method turns the accumulator by the samples of its key: a list of steps that depends on the public masks alone, with at most one
/// product each.
pub(super) trait BlindRotation<W: Word>: Clone + Send + Sync + 'static {
    /// The masks that the method can rotate by.
    const GRID: Grid;

    /// One step of a rotation.
    type Step: Copy + Send + Sync;

    /// The form in which the method keeps the sample that it turns.
    type Accumulator: Accumulator<W>;

    /// The steps of a rotation.
    fn plan(&self, params: &CggiParams<W>, exponents: &Exponents) -> Vec<Self::Step>;

    /// The accumulator before the first step.
    fn start(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents)
    -> Self::Accumulator;

    /// Does one step.
    fn step(&self, step: Self::Step, accumulator: &mut Self::Accumulator, with: With<'_, W>);
}

/// What every step of a rotation needs.
pub(super) struct With<'a, W: Word> {
    pub params: &'a CggiParams<W>,
    /// All samples of the key, those of each product prepared.
    pub key: &'a [W],
    pub scratch: &'a mut ProductScratch<W>,
    pub counters: &'a mut Counters,
}

/// A [`BlindRotation`] with its types of steps and accumulator hidden.
pub(super) trait Method<W: Word> {
    /// The masks it can rotate by.
    fn grid(&self) -> Grid;

    /// Plans the rotation of `test` by the exponents.
    fn begin(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> Rotation<W>;
}

impl<W: Word, R: BlindRotation<W>> Method<W> for R {
    fn grid(&self) -> Grid {
        R::GRID
    }

    fn begin(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> Rotation<W> {
        Rotation(Box::new(Begun {
            method: self.clone(),
            steps: self.plan(params, exponents),
            done: 0,
            accumulator: self.start(params, test, exponents),
            scratch: params.rgsw().scratch(),
        }))
    }
}

/// A rotation that has begun. Its method, steps and accumulator fit together by type, and its users need not know the types.
pub struct Rotation<W: Word>(Box<dyn Rotating<W>>);

trait Rotating<W: Word>: Send + Sync {
    fn progress(&self) -> (usize, usize);
    fn advance(&mut self, params: &CggiParams<W>, key: &[W], steps: usize, counters: &mut Counters);
    fn parts(&self, params: &CggiParams<W>) -> [Vec<W>; 2];
}

struct Begun<W: Word, R: BlindRotation<W>> {
    method: R,
    steps: Vec<R::Step>,
    done: usize,
    accumulator: R::Accumulator,
    scratch: ProductScratch<W>,
}

impl<W: Word> Rotation<W> {
    /// Steps done, and steps in all.
    pub fn progress(&self) -> (usize, usize) {
        self.0.progress()
    }

    /// Whether all steps are done.
    pub fn is_done(&self) -> bool {
        let (done, total) = self.progress();
        done == total
    }

    /// Does the next `steps` steps, or as many as are left; `key` is all samples, those of each product prepared.
    pub(super) fn advance(
        &mut self,
        params: &CggiParams<W>,
        key: &[W],
        steps: usize,
        counters: &mut Counters,
    ) {
        self.0.advance(params, key, steps, counters);
    }

    /// Both parts of the sample that is being turned, coefficient domain.
    pub fn parts(&self, params: &CggiParams<W>) -> [Vec<W>; 2] {
        self.0.parts(params)
    }
}

impl<W: Word, R: BlindRotation<W>> Rotating<W> for Begun<W, R> {
    fn progress(&self) -> (usize, usize) {
        (self.done, self.steps.len())
    }

    fn advance(&mut self, params: &CggiParams<W>, key: &[W], steps: usize, counters: &mut Counters) {
        let end = self.steps.len().min(self.done + steps);
        for &step in &self.steps[self.done..end] {
            let with = With { params, key, scratch: &mut self.scratch, counters };
            self.method.step(step, &mut self.accumulator, with);
        }
        self.done = end;
    }

    fn parts(&self, params: &CggiParams<W>) -> [Vec<W>; 2] {
        self.accumulator.parts(params)
    }
}
