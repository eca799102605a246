//! The modulus chain of a parameter set with everything precomputed per level.

use alloc::{format, sync::Arc, vec::Vec};

use super::{identifier::identifier, sample::SampleBlock};
use crate::{
    arith::{Deferred, Shoup, Word},
    error::Error,
    ring::{Basis, Cyclotomic, Extension, ModDown, Scratch, SmallPoly, Source},
    security::{self, Instance, SecretDistribution, SecurityPolicy, SecurityReport},
};

/// Moduli of a hybrid key-switching chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RlweSpec {
    /// Ring degree N, a power of two except in rings of odd index.
    pub n: usize,
    /// Odd part m' of the index of the ring: 1 for X^N + 1; or the index, if that is odd: see [`Cyclotomic::new`].
    pub odd_part: u64,
    /// Primes of each level, level 0 first; a level may be a product of several primes, which are
    /// always dropped together.
    pub levels: Vec<Vec<u64>>,
    /// Special primes, whose product is P.
    pub special: Vec<u64>,
    /// Gadget digits: disjoint sets of positions in the concatenated list of level primes, covering it, ordered by their smallest member so
    /// that the digits of a level are a prefix. A digit's product should stay some bits below P, or key-switching noise dominates.
    pub digits: Vec<Vec<usize>>,
    /// How the main secret is drawn: [`SecretDistribution::Ternary`] or [`SecretDistribution::Sparse`].
    pub secret: SecretDistribution,
    /// Security policy the main secret must meet at modulus Q P.
    pub policy: SecurityPolicy,
}

impl RlweSpec {
    /// 16 bytes that identify the chain: BLAKE3 over all its numbers and the policy.
    pub fn fingerprint(&self) -> [u8; 16] {
        let mut h = blake3::Hasher::new_derive_key("refloat 2026-11-21 chain parameters v1");
        let mut word = |x: u64| {
            h.update(&x.to_le_bytes());
        };
        word(self.n as u64);
        word(self.levels.len() as u64);
        for level in self.levels.iter().chain([&self.special]) {
            word(level.len() as u64);
            for &p in level {
                word(p);
            }
        }
        word(self.digits.len() as u64);
        for digit in &self.digits {
            word(digit.len() as u64);
            for &i in digit {
                word(i as u64);
            }
        }
        h.update(self.policy.name().as_bytes());
        if let SecretDistribution::Sparse { weight } = self.secret {
            h.update(b"/sparse/");
            h.update(&weight.to_le_bytes());
        }
        if self.odd_part != 1 {
            h.update(b"/odd part/");
            h.update(&self.odd_part.to_le_bytes());
        }
        identifier(&h)
    }
}

/// The checked form of [`RlweSpec`] with its tables; cheap to clone.
///
/// Levels are indices: a method that does not return a `Result` panics for a level that the chain does not
/// have. The schemes check the levels they are given.
pub struct RlweContext<W: Word>(Arc<Inner<W>>);

impl<W: Word> Clone for RlweContext<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

struct Inner<W: Word> {
    spec: RlweSpec,
    security: SecurityReport,
    p: Basis<W>,
    /// P modulo each prime of Q.
    p_mod_q: Vec<Shoup<W>>,
    levels: Vec<Level<W>>,
}

struct Level<W: Word> {
    q: Basis<W>,
    qp: Basis<W>,
    /// Gadget digits that have a prime here.
    digits: usize,
    tables: Deferred<LevelTables<W>>,
}

/// Tables of one level, made when they are first used.
pub(super) struct LevelTables<W: Word> {
    pub q: Basis<W>,
    pub qp: Basis<W>,
    /// Gadget digits, restricted to the primes of the level.
    pub digits: Vec<Extension<W>>,
    pub mod_down: ModDown<W>,
    pub rescale: Option<ModDown<W>>,
    pub mod_down_rescale: Option<ModDown<W>>,
}

impl<W: Word> LevelTables<W> {
    /// Brings row `i` of a polynomial modulo Q_l from evaluation domain to the form that the conversion of its digit takes.
    pub(super) fn prepare(&self, i: usize, row: &mut [W], scratch: &mut Scratch<W>) {
        self.q.row(i).inverse(row, scratch);
        for digit in &self.digits {
            if let Some(place) = digit.own().iter().position(|&own| own == i) {
                digit.prepare(place, row);
            }
        }
    }

    /// The digits of a polynomial modulo Q_l given by prepared rows.
    pub(super) fn sources<'a>(&'a self, prepared: &'a [W]) -> Vec<Source<'a, W>> {
        let n = self.q.n();
        let row = |&i: &usize| &prepared[i * n..(i + 1) * n];
        self.digits.iter().map(|digit| digit.source(digit.own().iter().map(row).collect())).collect()
    }
}

impl<W: Word> RlweContext<W> {
    /// Checks the chain and builds its tables.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming what is wrong: degree, a prime, or the digits;
    /// [`Error::Insecure`] if the modulus is too large for the degree under the policy.
    pub fn new(spec: &RlweSpec) -> Result<Self, Error> {
        let of_odd_index =
            Cyclotomic::of_odd_index(spec.odd_part).is_some_and(|ring| ring.degree() == spec.n);
        if !(spec.n.is_power_of_two() || of_odd_index) || spec.n < 8 || spec.n > 1 << 17 {
            return Err(Error::InvalidArgument(format!(
                "ring degree {}; take a power of two from 8 to 131072, or the degree of an index that is a product of two or three odd primes",
                spec.n
            )));
        }
        if spec.levels.is_empty() || spec.levels.iter().any(Vec::is_empty) || spec.special.is_empty() {
            return Err(Error::InvalidArgument(
                "a chain with a level without primes, or without a special prime; give each level at least one prime, and the chain one special prime"
                    .into(),
            ));
        }
        if spec.levels.len() > 256 {
            return Err(Error::InvalidArgument(format!(
                "{} levels; a chain has at most 256, numbered by one byte on the wire",
                spec.levels.len()
            )));
        }
        let primes: Vec<u64> = spec.levels.iter().flatten().copied().collect();
        check_digits(&spec.digits, primes.len())?;
        check_secret(spec)?;
        let security = check_security(spec)?;
        let all: Vec<u64> = primes.iter().chain(&spec.special).copied().collect();
        let whole = Basis::over(Cyclotomic::new(spec.n, spec.odd_part)?, &all)?;
        let q = whole.prefix(primes.len());
        let p = whole.select(primes.len()..all.len());
        let p_mod_q = (0..q.len())
            .map(|i| {
                let m = q.modulus(i);
                m.shoup(p.primes().fold(W::ONE, |acc, x| m.mul(acc, m.reduce_u64(x))))
            })
            .collect();
        let mut levels = Vec::with_capacity(spec.levels.len());
        let mut here = 0;
        for group in &spec.levels {
            let below = here;
            here += group.len();
            let q = q.prefix(here);
            levels.push(Level {
                qp: q.concat(&p),
                digits: spec.digits.iter().filter(|digit| digit.iter().any(|&i| i < here)).count(),
                tables: Deferred::new(|| level_tables(&q, &p, &spec.digits, below)),
                q,
            });
        }
        Ok(Self(Arc::new(Inner { spec: spec.clone(), security, p, p_mod_q, levels })))
    }

    /// The specification this context was built from.
    pub fn spec(&self) -> &RlweSpec {
        &self.0.spec
    }

    /// Estimated security of the main secret.
    pub fn security(&self) -> &SecurityReport {
        &self.0.security
    }

    /// Ring degree N.
    pub fn n(&self) -> usize {
        self.0.spec.n
    }

    /// Words of a polynomial modulo one prime, see [`Cyclotomic::width`].
    pub fn width(&self) -> usize {
        self.0.p.n()
    }

    /// The ring.
    pub fn ring(&self) -> Cyclotomic {
        self.0.p.ring()
    }

    /// Highest level.
    pub fn max_level(&self) -> usize {
        self.0.levels.len() - 1
    }

    /// Q_l.
    pub fn q(&self, level: usize) -> &Basis<W> {
        &self.0.levels[level].q
    }

    /// Q_l P.
    pub fn qp(&self, level: usize) -> &Basis<W> {
        &self.0.levels[level].qp
    }

    /// P.
    pub fn special(&self) -> &Basis<W> {
        &self.0.p
    }

    /// P modulo each prime of Q.
    pub fn special_mod_q(&self) -> &[Shoup<W>] {
        &self.0.p_mod_q
    }

    /// Number of gadget digits that have a prime at `level`.
    pub fn digit_count(&self, level: usize) -> usize {
        self.0.levels[level].digits
    }

    /// x mod Q_l P -> round(x / P) mod Q_l.
    pub fn mod_down(&self, level: usize) -> &ModDown<W> {
        &self.level(level).mod_down
    }

    /// x mod Q_l -> round(x / q_l) mod Q_(l-1), where q_l is the product of the level's primes.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at level 0 and above the highest.
    pub fn rescale(&self, level: usize) -> Result<&ModDown<W>, Error> {
        self.existing(level)?.rescale.as_ref().ok_or_else(|| no_level_below(level))
    }

    /// x mod Q_l P -> round(x / (P q_l)) mod Q_(l-1): one division, one rounding.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at level 0 and above the highest.
    pub fn mod_down_rescale(&self, level: usize) -> Result<&ModDown<W>, Error> {
        self.existing(level)?.mod_down_rescale.as_ref().ok_or_else(|| no_level_below(level))
    }

    /// The level a key of this chain was made at; `None` for a key of another chain.
    pub fn key_level(&self, key: &SampleBlock<W>) -> Option<usize> {
        let special = self.0.p.len();
        let at = |level: &Level<W>| key.basis().same_as(&level.qp);
        self.0.levels.iter().position(at).filter(|&level| key.q_len() + special == self.qp(level).len())
    }

    /// The level at which a switching key of this chain (one gadget vector) was made; `None` for any other key.
    pub(crate) fn switching_key_level(&self, key: &SampleBlock<W>) -> Option<usize> {
        self.key_level(key).filter(|&level| key.samples() == self.digit_count(level))
    }

    /// An error unless the chain has this level.
    pub(crate) fn check_level(&self, level: usize) -> Result<(), Error> {
        let max = self.max_level();
        if level <= max {
            return Ok(());
        }
        Err(Error::LevelMismatch(format!(
            "level {level} is above the chain's highest, {max}; take at most that"
        )))
    }

    fn existing(&self, level: usize) -> Result<&LevelTables<W>, Error> {
        self.check_level(level).map(|()| self.level(level))
    }

    pub(super) fn level(&self, level: usize) -> &LevelTables<W> {
        let below = level.checked_sub(1).map_or(0, |below| self.q(below).len());
        let inner = &self.0;
        let Level { q, tables, .. } = &inner.levels[level];
        tables.get(|| level_tables(q, &inner.p, &inner.spec.digits, below))
    }
}

fn no_level_below(level: usize) -> Error {
    Error::LevelMismatch(format!(
        "level {level} has no level below to rescale into; bootstrap the ciphertext first"
    ))
}

fn check_secret(spec: &RlweSpec) -> Result<(), Error> {
    match spec.secret {
        SecretDistribution::Ternary => Ok(()),
        SecretDistribution::Sparse { weight } if weight > 0 && weight as usize <= spec.n => Ok(()),
        other => Err(Error::InvalidArgument(format!(
            "the main secret of a chain is uniform ternary, or sparse with 1 to {} non-zero coefficients; {other} is \
             neither",
            spec.n
        ))),
    }
}

fn check_security(spec: &RlweSpec) -> Result<SecurityReport, Error> {
    // This holds in a ring of two axes too. Written in its basis, a sample there is N equations under a secret drawn as elsewhere, each
    // with a uniform row, because every element of the dual basis generates the codifferent modulo q. That the rows of a sample depend on
    // each other is not counted, as elsewhere. The error is one that is independent in every coefficient, as elsewhere, less another that
    // coefficients share (see `SmallPoly::error_in`). Samples of independent errors are what is estimated, and anybody can subtract such a
    // shared error from them: samples with it are no easier. All of this holds in the powerful basis of an odd index: for an axis of order
    // p the dual elements are z^-j (1 - z^(j + 1)) / p for 0 <= j < p - 1, and 1 - z^(j + 1) differs from 1 - z by a unit. The degree of
    // such a ring counts as the next lower power of two: plain LWE of more dimensions is no easier. Under a sparse secret of the same
    // weight that is so because zeros can be appended to a secret and its coefficients permuted, and under a ternary one because more of it
    // can be drawn. This says nothing of rings: SECURITY.md lists what is assumed.
    let primes = spec.levels.iter().flatten().chain(&spec.special);
    security::check(
        &[Instance {
            name: if spec.secret == SecretDistribution::Ternary {
                "dense key at Q P"
            } else {
                "main key at Q P"
            },
            // For a ring of odd index, the next lower power of two.
            log_n: spec.n.ilog2(),
            secret: spec.secret,
            log_modulus: primes.map(|&p| libm::log2(p as f64)).sum(),
            sigma: SmallPoly::ERROR_SIGMA,
        }],
        spec.policy,
    )
}

fn check_digits(digits: &[Vec<usize>], primes: usize) -> Result<(), Error> {
    let mut seen = alloc::vec![false; primes];
    for &i in digits.iter().flatten() {
        match seen.get_mut(i) {
            Some(s) if !*s => *s = true,
            Some(_) => {
                return Err(Error::InvalidArgument(format!(
                    "prime {i} is in two gadget digits; leave it in one"
                )));
            }
            None => {
                return Err(Error::InvalidArgument(format!(
                    "a gadget digit names prime {i}, the chain has {primes}; count them from 0"
                )));
            }
        }
    }
    match seen.iter().position(|s| !s) {
        Some(i) => Err(Error::InvalidArgument(format!("prime {i} is in no gadget digit; put it into one"))),
        None if digits.iter().any(Vec::is_empty) => {
            Err(Error::InvalidArgument("a gadget digit is empty; leave it out".into()))
        }
        None if !digits.is_sorted_by_key(|d| d.iter().min()) => Err(Error::InvalidArgument(
            "gadget digits are not in the order of their smallest primes; sort them".into(),
        )),
        None => Ok(()),
    }
}

/// Tables of the level whose modulus is Q_l = `q`, with `below` primes under it.
fn level_tables<W: Word>(q: &Basis<W>, p: &Basis<W>, digits: &[Vec<usize>], below: usize) -> LevelTables<W> {
    let qp = q.concat(p);
    let digits = digits
        .iter()
        .filter_map(|members| {
            let own: Vec<usize> = members.iter().copied().filter(|&i| i < q.len()).collect();
            (!own.is_empty()).then(|| Extension::new(&qp, own))
        })
        .collect();
    let lower = q.prefix(below);
    let dropped = q.select(below..q.len());
    let has_lower = below > 0;
    LevelTables {
        mod_down: ModDown::new(q, p),
        rescale: has_lower.then(|| ModDown::new(&lower, &dropped)),
        mod_down_rescale: has_lower.then(|| ModDown::new(&lower, &dropped.concat(p))),
        q: q.clone(),
        qp,
        digits,
    }
}
