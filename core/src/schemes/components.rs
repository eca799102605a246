//! What ciphertexts over ring-LWE have in common: components by powers of the secret, modulo a prefix of the chain.

use alloc::{format, vec::Vec};

use crate::{
    arith::Word,
    error::Error,
    ring::{Basis, Eval, Poly},
    rlwe::Pair,
};

/// Accessors of a ciphertext with the fields `fingerprint`, `key_id` and `parts` of words `$word`, to be used inside its `impl`.
macro_rules! of_ciphertext {
    ($word:ident) => {
        $crate::schemes::identity::identified!();

        /// Number of components: 2, or 3 before relinearisation.
        pub fn components(&self) -> usize {
            self.parts.len()
        }

        /// Components, evaluation domain.
        pub fn parts(&self) -> &[$crate::ring::Poly<$word, $crate::ring::Eval>] {
            &self.parts
        }

        pub(crate) fn two_parts(
            &self,
        ) -> Result<[&$crate::ring::Poly<$word, $crate::ring::Eval>; 2], $crate::error::Error> {
            $crate::schemes::components::two(&self.parts)
        }

        pub(crate) fn pair(&self) -> Result<$crate::rlwe::Pair<$word>, $crate::error::Error> {
            $crate::schemes::components::pair(&self.parts)
        }

        /// The ciphertext without its components, and these as a pair.
        pub(crate) fn into_pair(mut self) -> Result<(Self, $crate::rlwe::Pair<$word>), $crate::error::Error> {
            let pair = $crate::schemes::components::into_pair(core::mem::take(&mut self.parts))?;
            Ok((self, pair))
        }

        pub(crate) fn identity(&self) -> $crate::schemes::identity::Identity {
            $crate::schemes::identity::Identity { fingerprint: self.fingerprint, key_id: self.key_id }
        }
    };
}
pub(crate) use of_ciphertext;

/// The two components of a ciphertext that was relinearised.
pub(crate) fn two<W: Word>(parts: &[Poly<W, Eval>]) -> Result<[&Poly<W, Eval>; 2], Error> {
    let [b, a] = parts else { return Err(not_two(parts.len())) };
    Ok([b, a])
}

/// Copies of the two components as a pair.
pub(crate) fn pair<W: Word>(parts: &[Poly<W, Eval>]) -> Result<Pair<W>, Error> {
    let [b, a] = two(parts)?;
    Ok(Pair { b: b.clone(), a: a.clone() })
}

/// The two components as a pair, without a copy.
pub(crate) fn into_pair<W: Word>(parts: Vec<Poly<W, Eval>>) -> Result<Pair<W>, Error> {
    let [b, a] = <[_; 2]>::try_from(parts).map_err(|parts| not_two(parts.len()))?;
    Ok(Pair { b, a })
}

fn not_two(components: usize) -> Error {
    Error::InvalidArgument(format!(
        "the operation takes ciphertexts of two components, and this has {components} components; relinearise it first"
    ))
}

/// The three components of a product that was not relinearised.
pub(crate) fn three<W: Word>(parts: &[Poly<W, Eval>]) -> Result<[&Poly<W, Eval>; 3], Error> {
    let [d0, d1, d2] = parts else {
        let components = parts.len();
        return Err(Error::InvalidArgument(format!(
            "relinearisation takes three components, got {components}; give it a product that was not relinearised"
        )));
    };
    Ok([d0, d1, d2])
}

/// Applies `op` component by component modulo `basis`; `others` may have more primes. Components that `parts` lacks count as 0.
pub(crate) fn combine<W: Word>(
    parts: &mut Vec<Poly<W, Eval>>,
    others: &[Poly<W, Eval>],
    basis: &Basis<W>,
    op: impl Fn(&mut Poly<W, Eval>, &Poly<W, Eval>),
) {
    while parts.len() < others.len() {
        parts.push(Poly::zero(basis));
    }
    parts.iter_mut().zip(others).for_each(|(part, other)| op(part, other));
}

/// The components modulo fewer primes.
pub(crate) fn truncated<W: Word>(parts: &[Poly<W, Eval>], basis: &Basis<W>) -> Vec<Poly<W, Eval>> {
    parts.iter().map(|part| part.truncated_to(basis)).collect()
}

/// Checks that a ciphertext at level `own` can be added to a sum at level `sum`.
pub(crate) fn check_summand(own: usize, sum: usize) -> Result<(), Error> {
    if own >= sum {
        return Ok(());
    }
    Err(Error::LevelMismatch(format!(
        "a ciphertext at level {own} cannot be added to a sum at level {sum}; drop the sum to level {own}"
    )))
}

/// Checks that a ciphertext at level `own` can be brought to `level` by forgetting primes.
pub(crate) fn check_lower(own: usize, level: usize) -> Result<(), Error> {
    if level <= own {
        return Ok(());
    }
    Err(Error::LevelMismatch(format!("cannot raise a ciphertext from level {own} to {level}; bootstrap it")))
}
