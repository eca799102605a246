//! All methods of blind rotation: the key and the rotation of each.

use alloc::boxed::Box;

use super::{
    ap::Ap,
    ginx::{GinxBinary, GinxTernary, GinxTernaryKey},
    ginx_unrolled::{GinxUnrolled, GinxUnrolledKey},
    lmkcdey::Lmkcdey,
    ntru::Ntru,
    rotation::Method,
    rotation_key::RotationKey,
};
use crate::{
    arith::Word,
    schemes::cggi::{CggiParams, RotationTables},
};

/// The key of the method of a set.
pub(super) fn key_of<W: Word>(params: &CggiParams<W>) -> Box<dyn RotationKey<W>> {
    match params.tables() {
        RotationTables::GinxBinary => Box::new(GinxBinary),
        RotationTables::GinxUnrolled(_) => Box::new(GinxUnrolledKey),
        RotationTables::GinxTernary(_) => Box::new(GinxTernaryKey),
        RotationTables::Lmkcdey(automorphisms) => Box::new(Lmkcdey(automorphisms.clone())),
        RotationTables::Ntru(automorphisms) => Box::new(Ntru(automorphisms.clone())),
        RotationTables::Ap => Box::new(Ap),
    }
}

/// The rotation of the method of a set.
pub(super) fn rotation_of<W: Word>(params: &CggiParams<W>) -> Box<dyn Method<W>> {
    match params.tables() {
        RotationTables::GinxBinary => Box::new(GinxBinary),
        RotationTables::GinxUnrolled(monomials) => Box::new(GinxUnrolled(monomials.clone())),
        RotationTables::GinxTernary(roots) => Box::new(GinxTernary(roots.clone())),
        RotationTables::Lmkcdey(automorphisms) => Box::new(Lmkcdey(automorphisms.clone())),
        RotationTables::Ntru(automorphisms) => Box::new(Ntru(automorphisms.clone())),
        RotationTables::Ap => Box::new(Ap),
    }
}
