//! The samples of the evaluation keys, made from the secret key one at a time.

use core::ops::Range;

use zeroize::Zeroizing;

use super::{layout::SwitchingKeyId, secret::ConventionalSecretKey};
use crate::{
    arith::Word,
    ring::{Eval, Poly},
    rlwe::{GadgetTarget, LinkSecret, Pair, SampleBlock, switching_sample},
};

/// Takes a sample and its index in the key.
type Sink<'a, W> = dyn FnMut(usize, Pair<W>) + 'a;

impl<W: Word> ConventionalSecretKey<W> {
    /// Makes the samples `range` of a switching key in order and hands each to `sink`: a caller that sends or stores them
    /// needs memory for one.
    pub(crate) fn for_each_sample(&self, key: SwitchingKeyId, range: Range<usize>, sink: &mut Sink<'_, W>) {
        let (params, main) = (self.params(), &self.main);
        let (rlwe, layout) = (params.ckks().rlwe(), params.layout());
        let (level, special) = (layout.level(key), layout.special(key));
        match (key, &self.ephemeral, params.encapsulation()) {
            (SwitchingKeyId::Relinearization, ..) => {
                let s = main.modulo_q(rlwe.q(level));
                let (square, v) = (Zeroizing::new(s.mul(&s)), main.modulo_qp(rlwe.qp(level), special));
                self.switching_samples(key, range, &square, &v, sink);
            }
            (SwitchingKeyId::Galois { element, .. }, ..) => {
                let v = main.galois_target(rlwe, level, element);
                self.switching_samples(key, range, main.eval(), &v, sink);
            }
            (SwitchingKeyId::ToEphemeral, Some(sparse), Some(context)) => {
                let all = sparse.encapsulation_samples(context, main, &self.seeds, layout.code(key));
                for (index, sample) in all.into_iter().enumerate().filter(|(i, _)| range.contains(i)) {
                    sink(index, sample);
                }
            }
            (SwitchingKeyId::FromEphemeral, Some(sparse), _) => {
                let u = Zeroizing::new(sparse.small().to_poly(rlwe.q(level)).into_eval());
                let v = main.modulo_qp(rlwe.qp(level), special);
                self.switching_samples(key, range, &u, &v, sink);
            }
            // A set without an ephemeral secret lists no keys of one.
            (SwitchingKeyId::ToEphemeral | SwitchingKeyId::FromEphemeral, ..) => {}
        }
    }

    /// A whole switching key.
    pub(super) fn switching_key(&self, key: SwitchingKeyId) -> SampleBlock<W> {
        let layout = self.params().layout();
        let samples = layout.samples(key);
        let mut out = SampleBlock::zero(layout.basis(key), layout.special(key), samples);
        self.for_each_sample(key, 0..samples, &mut |index, sample| out.set(index, &sample));
        out
    }

    /// KSK(u -> v).
    fn switching_samples(
        &self,
        key: SwitchingKeyId,
        range: Range<usize>,
        u: &Poly<W, Eval>,
        v: &Poly<W, Eval>,
        sink: &mut Sink<'_, W>,
    ) {
        let layout = self.params().layout();
        let (level, block) = (layout.level(key), layout.code(key));
        for digit in range {
            let target = GadgetTarget { level, digit };
            sink(digit, switching_sample(layout.rlwe, &self.seeds, (block, digit), target, u, v));
        }
    }
}
