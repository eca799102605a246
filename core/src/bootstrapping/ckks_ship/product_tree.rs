//! Stage 5: the product of all factors, one level per layer.

use alloc::vec::Vec;

use super::params::ShipParams;
use crate::{
    arith::Word,
    error::Error,
    par,
    ring::{Eval, Poly},
    rlwe::{Pair, SampleBlock},
    schemes::ckks::{Ciphertext, CkksEvaluator, Scale},
    trace::Counters,
};

/// A layer of the tree: node 0 carries the plaintext factor, the others are products of leaves.
pub struct Layer<W: Word> {
    /// Layers already multiplied: 0 for the leaves.
    pub depth: usize,
    /// The plaintext leaf, present until the first layer is multiplied.
    pub(super) plain: Option<Poly<W, Eval>>,
    /// Ciphertext nodes in order (without the plaintext leaf).
    pub nodes: Vec<Ciphertext<W>>,
}

impl<W: Word> Layer<W> {
    /// Nodes of the layer, the plaintext leaf included.
    pub fn len(&self) -> usize {
        self.nodes.len() + usize::from(self.plain.is_some())
    }

    /// True for a layer without nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Node 2i times node 2i + 1 for every i, relinearised and rescaled by one division each; the
    /// plaintext leaf needs no relinearisation. Nodes are independent and run in parallel.
    ///
    /// # Errors
    /// [`Error::ScaleMismatch`] if a scale departs from the tracked one: a bug, reported rather than
    /// decrypted wrongly.
    pub fn multiply(
        self,
        params: &ShipParams<W>,
        evaluator: &CkksEvaluator<W>,
        relinearization: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Result<Self, Error> {
        let depth = self.depth + 1;
        let (plain, mut nodes) = (self.plain, self.nodes);
        // The plaintext's partner moves to the front, so that pairs line up.
        let first = plain.map(|p| (p, nodes.remove(0)));
        let offset = usize::from(first.is_some());
        let pairs = offset + nodes.len() / 2;
        let nodes = par::try_map_counted(pairs, counters, |i, counters| {
            let out = match &first {
                Some((plain, factor)) if i == 0 => {
                    let mut product = factor.clone();
                    product.parts.iter_mut().for_each(|part| part.mul_assign(plain));
                    product.scale = product.scale.mul(params.root_scale(0));
                    let level = product.level();
                    counters.ntt += 2 * params.ckks().rlwe().rescale(level)?.ntts();
                    evaluator.rescale(&product)?
                }
                _ => {
                    let at = 2 * (i - offset);
                    let product = evaluator.tensor(&nodes[at], &nodes[at + 1])?;
                    evaluator.relinearize_rescale_counted(&product, relinearization, counters)?
                }
            };
            let expected = if i == 0 { params.root_scale(depth) } else { params.node_scale(depth) };
            check_scale(out.scale(), expected)?;
            Ok::<_, Error>(out)
        })?;
        Ok(Self { depth, plain: None, nodes })
    }
}

fn check_scale(is: Scale, expected: Scale) -> Result<(), Error> {
    if is.matches(expected) {
        return Ok(());
    }
    Err(Error::ScaleMismatch(alloc::format!(
        "a tree node has scale 2^{:.9}, the chain says 2^{:.9}; give factors of this set",
        is.log2(),
        expected.log2()
    )))
}

/// A leaf as a ciphertext.
pub(super) fn leaf<W: Word>(params: &ShipParams<W>, key_id: [u8; 16], pair: Pair<W>) -> Ciphertext<W> {
    Ciphertext {
        fingerprint: params.fingerprint(),
        key_id,
        level: params.max_level(),
        scale: params.node_scale(0),
        parts: alloc::vec![pair.b, pair.a],
    }
}
