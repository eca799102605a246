//! Memory that transforms work in.

use alloc::{vec, vec::Vec};

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::arith::Word;

/// Memory of transforms, for one thread. It grows to what the first transform needs, nothing in rings of one axis, and is wiped when
/// dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Scratch<W: Zeroize>(Vec<W>);

impl<W: Zeroize> Default for Scratch<W> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<W: Word> Scratch<W> {
    /// `count` words of any contents.
    pub(super) fn words(&mut self, count: usize) -> &mut [W] {
        if self.0.len() < count {
            self.0.zeroize();
            self.0 = vec![W::ZERO; count];
        }
        &mut self.0[..count]
    }
}
