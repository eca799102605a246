//! The transforms between slots and coefficients as products of sparse layers: the layers of each stage, and its shape.

use alloc::{collections::BTreeSet, format, vec, vec::Vec};

use super::babies_giants::Step;
use crate::error::Error;

/// The layer that combines two rows x and y to x + i y and x - i y. Every other layer is named by its block size in slots and combines
/// pairs within blocks.
pub(super) const COMBINE: usize = 1;

/// The layers `first`, 2 `first`, .., `slots`.
///
/// # Errors
/// [`Error::InvalidArgument`] unless `slots` is a power of two from 2 to 2^17.
pub(super) fn upward(slots: usize, first: usize) -> Result<Vec<usize>, Error> {
    if !slots.is_power_of_two() || !(2..=1 << 17).contains(&slots) {
        return Err(Error::InvalidArgument(format!(
            "the transform of {slots} slots; their number is a power of two from 2 to 131072"
        )));
    }
    Ok((first.trailing_zeros()..=slots.trailing_zeros()).map(|log| 1 << log).collect())
}

/// The same from the last to the first.
pub(super) fn downward(slots: usize, first: usize) -> Result<Vec<usize>, Error> {
    let mut layers = upward(slots, first)?;
    layers.reverse();
    Ok(layers)
}

/// The layers of each stage, spread as evenly as they can be.
///
/// # Errors
/// [`Error::InvalidArgument`] for no stage, and more than there are layers.
pub(super) fn divided(stages: usize, layers: &[usize]) -> Result<Vec<&[usize]>, Error> {
    if stages == 0 || stages > layers.len() {
        return Err(Error::InvalidArgument(format!(
            "{stages} stages for {} layers; take 1 to {} stages",
            layers.len(),
            layers.len()
        )));
    }
    let mut rest = layers;
    let stage = |left: usize| {
        let (own, others) = rest.split_at(rest.len().div_ceil(left));
        rest = others;
        own
    };
    Ok((1..=stages).rev().map(stage).collect())
}

/// The products of the layers of each stage, in the order in which they are applied; `after(a, b)` is the map b, then a.
///
/// # Errors
/// As [`divided`]; those of `layer` and `after`.
pub(super) fn merged<M>(
    stages: usize,
    layers: &[usize],
    layer: impl Fn(usize) -> Result<M, Error>,
    after: impl Fn(&M, &M) -> Result<M, Error>,
) -> Result<Vec<M>, Error> {
    let product = |layers: &[usize]| {
        let mut product = layer(layers[0])?;
        for &m in &layers[1..] {
            product = after(&layer(m)?, &product)?;
        }
        Ok(product)
    };
    divided(stages, layers)?.into_iter().map(product).collect()
}

/// The steps of the product of some layers, with rotations in (-slots/2, slots/2], and the slots after which its diagonals repeat:
/// the largest block.
pub(super) fn shape(slots: usize, layers: &[usize]) -> (BTreeSet<Step>, usize) {
    let mut steps = BTreeSet::from([Step::IDENTITY]);
    for &m in layers {
        let half = m as i64 / 2;
        let own = match m {
            COMBINE => vec![Step::IDENTITY, Step { rotation: 0, inverted: true }],
            _ => vec![Step::IDENTITY, Step::rotation(half), Step::rotation(-half)],
        };
        let canonical = |step: Step| Step { rotation: centred(step.rotation, slots as i64), ..step };
        steps = steps.iter().flat_map(|&k| own.iter().map(move |&o| canonical(k.combine(o)))).collect();
    }
    (steps, layers.iter().copied().max().unwrap_or(slots))
}

/// k modulo `slots`, in (-slots/2, slots/2].
fn centred(k: i64, slots: i64) -> i64 {
    let k = k.rem_euclid(slots);
    if k > slots / 2 { k - slots } else { k }
}
