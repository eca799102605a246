//! Stage 1: slots to coefficients, one level, baby-step giant-step with double hoisting.

use alloc::{vec, vec::Vec};

use super::{keys::CommonKeys, params::ShipParams};
use crate::{
    arith::{Word, complex::Complex},
    error::Error,
    par,
    ring::{Automorphism, from_integers},
    rlwe::Pair,
    schemes::ckks::Scale,
    trace::Counters,
};

/// The matrix V, `V[k][j] = zeta^(5^k j)`, as encoded diagonals for one input scale.
///
/// `out = sum_g rotate_(g bs)( sum_j d'_(g,j) · rotate_j(z) )`, with
/// `d'_(g,j)[k] = V[k'][(k' + g bs + j) mod S]`, `k' = k - g bs`. Diagonals are encoded with scale
/// q0 qs / (gamma · input scale), which makes the scale of the coefficients exactly q0 / gamma.
pub struct SlotsToCoeffs<W: Word> {
    scale: Scale,
    input_scale: Scale,
    /// zeta^t, t < 2N.
    roots: Vec<Complex>,
    /// 5^k modulo 2N.
    powers: Vec<u32>,
    /// `[group]` of `[limb][baby][n]`, if kept.
    groups: Vec<Vec<W>>,
}

impl<W: Word> SlotsToCoeffs<W> {
    /// Prepares the map for ciphertexts of one scale. `keep` holds all encoded diagonals in memory
    /// (S (2 + K) N words); otherwise each group is encoded when it is used.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the scale leaves no bit for the diagonals.
    pub fn new(params: &ShipParams<W>, input_scale: Scale, keep: bool) -> Result<Self, Error> {
        let n = params.n();
        let levels = &params.spec().levels;
        let moduli = Scale::product(levels[0].iter().chain(&levels[1]).copied());
        let scale = moduli.div(Scale::new(params.spec().gamma)).div(input_scale);
        if scale.to_f64() < 2.0 {
            return Err(Error::ScaleMismatch(alloc::format!(
                "a ciphertext of scale 2^{:.2} leaves scale 2^{:.2} to the slots-to-coefficients matrix; rescale \
                 it towards 2^{:.2}",
                input_scale.log2(),
                scale.log2(),
                params.spec().log_scale
            )));
        }
        let mut power = 1usize;
        let powers = (0..params.slots())
            .map(|_| {
                let here = power as u32;
                power = power * 5 % (2 * n);
                here
            })
            .collect();
        let mut out = Self {
            scale,
            input_scale,
            roots: (0..2 * n as u64).map(|t| Complex::root_of_unity(t, 2 * n as u64)).collect(),
            powers,
            groups: Vec::new(),
        };
        if keep {
            let (_, giant) = params.bsgs();
            out.groups = par::try_map(giant, |g| out.encode_group(params, g))?;
        }
        Ok(out)
    }

    /// The ciphertext scale the diagonals were made for.
    pub fn input_scale(&self) -> Scale {
        self.input_scale
    }

    /// `[limb][baby][n]` of one group, modulo q0 qs P.
    fn encode_group(&self, params: &ShipParams<W>, group: usize) -> Result<Vec<W>, Error> {
        let basis = params.ckks().rlwe().qp(params.input_level());
        let (n, s, (baby, _)) = (params.n(), params.slots(), params.bsgs());
        let mut out = vec![W::ZERO; basis.len() * baby * n];
        for j in 0..baby {
            let shift = group * baby;
            let slots: Vec<Complex> = (0..s)
                .map(|k| {
                    let row = (k + s - shift) & (s - 1);
                    let column = (row + shift + j) & (s - 1);
                    self.roots[(self.powers[row] as usize * column) & (2 * n - 1)]
                })
                .collect();
            let coefficients = params.ckks().encoder().encode(&slots, self.scale)?;
            let diagonal = from_integers(basis, &coefficients).into_eval();
            for limb in 0..basis.len() {
                let start = (limb * baby + j) * n;
                out[start..start + n].copy_from_slice(diagonal.row(limb));
            }
        }
        Ok(out)
    }

    /// Slots to coefficients: (b, a) at level 1 to (b, a) modulo q0.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn apply(
        &self,
        params: &ShipParams<W>,
        x: &Pair<W>,
        keys: &CommonKeys<W>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        let level = params.input_level();
        let rlwe = params.ckks().rlwe();
        let (n, (baby, giant)) = (params.n(), params.bsgs());
        let basis = rlwe.qp(level);
        // Baby steps, times P: one decomposition serves them all.
        let digits = rlwe.decompose(level, &x.a, counters);
        let steps: Vec<(Pair<W>, Counters)> = par::map(baby, |j| {
            let mut counters = Counters::default();
            let mut out = Pair::zero(basis);
            if j == 0 {
                rlwe.add_special_multiple(&mut out.a, &x.a);
                rlwe.add_special_multiple(&mut out.b, &x.b);
                return (out, counters);
            }
            rlwe.key_product(&[&digits], &keys.rotations[j - 1], &mut out, false, &mut counters);
            rlwe.add_special_multiple(&mut out.b, &x.b);
            (out.automorphism(&Automorphism::rotation(n, j as i64)), counters)
        });
        // Giant steps are independent; each gives a summand modulo q0 qs P.
        let groups = par::try_map(giant, |g| {
            let mut counters = Counters::default();
            let encoded;
            let diagonals = if let Some(kept) = self.groups.get(g) {
                kept
            } else {
                encoded = self.encode_group(params, g)?;
                &encoded
            };
            let mut sum = Pair::zero(basis);
            for limb in 0..basis.len() {
                let start = limb * baby * n;
                let lhs: Vec<&[W]> = diagonals[start..start + baby * n].chunks_exact(n).collect();
                let b: Vec<&[W]> = steps.iter().map(|(s, _)| s.b.row(limb)).collect();
                let a: Vec<&[W]> = steps.iter().map(|(s, _)| s.a.row(limb)).collect();
                let (m, kernels) = (basis.modulus(limb), basis.kernels());
                kernels.inner_product(m, sum.b.row_mut(limb), &lhs, &b, false);
                kernels.inner_product(m, sum.a.row_mut(limb), &lhs, &a, false);
            }
            counters.limb_mac += (2 * baby * basis.len()) as u64;
            if g > 0 {
                let down = rlwe.mod_down(level);
                counters.ntt += down.ntts();
                let a = down.apply(sum.a);
                let digits = rlwe.decompose(level, &a, &mut counters);
                let mut out = Pair::zero(basis);
                let key = &keys.rotations[baby - 2 + g];
                rlwe.key_product(&[&digits], key, &mut out, false, &mut counters);
                out.b.add_assign(&sum.b);
                sum = out.automorphism(&Automorphism::rotation(n, (g * baby) as i64));
            }
            Ok::<_, Error>((sum, counters))
        })?;
        let mut total = Pair::zero(basis);
        for (_, work) in &steps {
            *counters += *work;
        }
        for (sum, work) in &groups {
            total.add_assign(sum);
            *counters += *work;
        }
        // One division by P qs at the end: one rounding for the whole map.
        let down = rlwe.mod_down_rescale(level)?;
        counters.ntt += 2 * down.ntts();
        let (b, a) = par::join(|| down.apply(total.b), || down.apply(total.a));
        Ok(Pair { b, a })
    }
}
