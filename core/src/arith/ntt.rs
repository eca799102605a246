//! Tables of the negacyclic number-theoretic transform.

use super::{
    MachineWord, Modulus, Shoup,
    deferred::Deferred,
    primes::{is_prime, primitive_root},
    simd::lanes::{lane_counts, real_lanes},
};
use crate::error::Error;
use alloc::{format, vec, vec::Vec};

/// Twiddle factors of the transform modulo `X^n + 1` and one prime `p = 1 mod 2n`.
///
/// The transform is done by [`Kernels`](super::Kernels). Its evaluation order is bit-reversed:
/// output `j` is the polynomial at `psi^(2 brev(j) + 1)`, where `psi` is
/// [`primitive_root`]`(p, 2n)` and `brev` reverses `log2 n` bits.
///
/// The factors are computed when they are first used.
#[derive(Clone, Debug)]
pub struct NttTable<W> {
    modulus: Modulus<W>,
    n: usize,
    psi: W,
    forward: Deferred<Twiddles<W>>,
    inverse: Deferred<Twiddles<W>>,
    scale: Shoup<W>,
    scaled_root: Shoup<W>,
}

/// The twiddle factors of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Twiddles<W> {
    /// `root^brev(j)` for `j < n`: entry `m + i` belongs to group `i` of the stage with `m` groups.
    natural: Factors<W>,
    /// For each number of lanes in use, the factors of the stages within a register.
    narrow: Vec<(usize, Factors<W>)>,
    #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code))]
    /// The natural and the narrow factors for transforms in double precision: bits of `f64`, of a factor at most `p/2` in size and of its
    /// ratio to `p`.
    real: Option<[Factors<W>; 2]>,
}

/// Most bits of the primes of transforms in double precision. These take the place of the transforms of words with the same
/// number of lanes.
pub(crate) const REAL_BITS: u32 = 50;

/// Shoup forms, values and quotients apart.
#[derive(Clone, Debug)]
pub(crate) struct Factors<W> {
    pub(crate) values: Vec<W>,
    pub(crate) quotients: Vec<W>,
}

impl<W: MachineWord> NttTable<W> {
    /// Tables for degree `n`, a power of two of at least 2 with `2n | p - 1`.
    pub fn new(modulus: Modulus<W>, n: usize) -> Result<Self, Error> {
        if !n.is_power_of_two() || !(2..=1 << 20).contains(&n) {
            return Err(Error::InvalidArgument(format!(
                "ring degree {n} is not a power of two in [2, 2^20]; take one that is"
            )));
        }
        let not_prime = || {
            Error::InvalidArgument(format!(
                "modulus {} is not prime; take a prime that is 1 modulo twice the ring degree",
                modulus.value()
            ))
        };
        if !is_prime(modulus.value_u64()) {
            return Err(not_prime());
        }
        let psi = primitive_root(&modulus, 2 * n as u64)?;
        let psi_inverse = modulus.inv(psi).ok_or_else(not_prime)?;
        let scale = modulus.inv(modulus.reduce_u64(n as u64)).ok_or_else(not_prime)?;
        let scaled_root = modulus.mul(scale, modulus.pow(psi_inverse, n as u64 / 2));
        let forward = Deferred::new(|| Twiddles::forward(&modulus, psi, n));
        Ok(Self {
            inverse: Deferred::new(|| {
                Twiddles::inverse(&modulus, forward.get(|| Twiddles::forward(&modulus, psi, n)))
            }),
            forward,
            scale: modulus.shoup(scale),
            scaled_root: modulus.shoup(scaled_root),
            modulus,
            n,
            psi,
        })
    }

    /// The ring degree.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The prime.
    pub fn modulus(&self) -> &Modulus<W> {
        &self.modulus
    }

    /// A square root of -1: the value of `X^(n/2)` at outputs `j < n/2`; at the others the value is its negative.
    pub fn imaginary_unit(&self) -> W {
        // The factor of the first stage: psi^brev(1).
        self.forward().natural().values[1]
    }

    /// Powers of `psi`.
    #[inline]
    pub(crate) fn forward(&self) -> &Twiddles<W> {
        self.forward.get(|| Twiddles::forward(&self.modulus, self.psi, self.n))
    }

    /// Powers of `psi^-1`.
    #[inline]
    pub(crate) fn inverse(&self) -> &Twiddles<W> {
        self.inverse.get(|| Twiddles::inverse(&self.modulus, self.forward()))
    }

    /// `n^-1`.
    pub(crate) fn scale(&self) -> &Shoup<W> {
        &self.scale
    }

    /// `n^-1` times the twiddle factor of the inverse transform's last stage.
    pub(crate) fn scaled_root(&self) -> &Shoup<W> {
        &self.scaled_root
    }
}

impl<W: MachineWord> Twiddles<W> {
    /// Powers of `psi`.
    fn forward(m: &Modulus<W>, psi: W, n: usize) -> Self {
        let shift = usize::BITS - n.trailing_zeros();
        let root = m.shoup(psi);
        let mut values = vec![W::ONE; n];
        let mut power = W::ONE;
        for i in 0..n {
            values[i.reverse_bits() >> shift] = power;
            power = m.mul_shoup(power, &root);
        }
        let quotients = values.iter().map(|w| w.shoup_quotient(m.value())).collect();
        Self::arranged(m, Factors { values, quotients })
    }

    /// Powers of `psi^-1`, from those of `psi`: `psi^-i = -psi^(n - i)`, and the quotient of `p - w` is that of `w`
    /// with all bits flipped, since `p` divides no `2^BITS w`.
    fn inverse(m: &Modulus<W>, forward: &Self) -> Self {
        let Factors { values, quotients } = &forward.natural;
        let n = values.len();
        let shift = usize::BITS - n.trailing_zeros();
        let mut natural = forward.natural.clone();
        for i in 1..n {
            let (to, from) = (i.reverse_bits() >> shift, (n - i).reverse_bits() >> shift);
            natural.values[to] = m.value().wrapping_sub(values[from]);
            natural.quotients[to] = W::ZERO.wrapping_sub(W::ONE).wrapping_sub(quotients[from]);
        }
        Self::arranged(m, natural)
    }

    /// The factors in every order that transforms here read them in.
    fn arranged(m: &Modulus<W>, natural: Factors<W>) -> Self {
        let n = natural.values.len();
        let wide_enough = |lanes: usize| lanes > 1 && n >= lanes * lanes;
        let reals = if W::BITS == 64 && m.value_u64() >> REAL_BITS == 0 { real_lanes() } else { 1 };
        let real = wide_enough(reals).then(|| {
            let natural = natural.real(m);
            let narrow = natural.narrow(reals);
            [natural, narrow]
        });
        let lanes = lane_counts::<W>().into_iter().filter(|&lanes| wide_enough(lanes) && lanes != reals);
        let narrow = lanes.map(|lanes| (lanes, natural.narrow(lanes))).collect();
        Self { natural, narrow, real }
    }

    /// Entry `m + i` belongs to group `i` of the stage with `m` groups.
    #[inline(always)]
    pub(crate) fn natural(&self) -> &Factors<W> {
        &self.natural
    }

    /// The factors of the stages within registers of `lanes` words; none for rows shorter than `lanes^2`.
    ///
    /// A square is `lanes` registers; its transpose has its words `t` apart in registers `t` apart. For each
    /// square, and each `t = lanes/2, …, 1`, and each of the `lanes / (2t)` groups of the transposed
    /// registers, there is a factor for every lane.
    pub(crate) fn narrow(&self, lanes: usize) -> Option<&Factors<W>> {
        self.narrow.iter().find(|(known, _)| *known == lanes).map(|(_, factors)| factors)
    }

    /// The natural and the narrow factors for transforms in double precision, where those are in use.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub(crate) fn real(&self) -> Option<[&Factors<W>; 2]> {
        self.real.as_ref().map(|[natural, narrow]| [natural, narrow])
    }
}

impl<W: MachineWord> Factors<W> {
    fn real(&self, m: &Modulus<W>) -> Self {
        let p = m.value_u64() as f64;
        let bits = |x: f64| W::from_u64(x.to_bits());
        let values = self.values.iter().map(|&w| m.centered(w) as f64);
        Self { values: values.clone().map(bits).collect(), quotients: values.map(|w| bits(w / p)).collect() }
    }

    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> Shoup<W> {
        Shoup { value: self.values[index], quotient: self.quotients[index] }
    }

    /// See [`Twiddles::narrow`].
    fn narrow(&self, lanes: usize) -> Self {
        let registers = self.values.len() / lanes;
        let mut order = Vec::with_capacity((lanes - 1) * registers);
        for square in 0..registers / lanes {
            for groups in (0..lanes.ilog2()).map(|stage| 1 << stage) {
                for group in 0..groups {
                    let of_lane = |lane| groups * (registers + square * lanes + lane) + group;
                    order.extend((0..lanes).map(of_lane));
                }
            }
        }
        let pick = |words: &[W]| order.iter().map(|&j| words[j]).collect();
        Self { values: pick(&self.values), quotients: pick(&self.quotients) }
    }
}
