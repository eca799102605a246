//! Hybrid key switching: decompose once, multiply by as many keys as wanted (hoisting), divide by P.

use alloc::{vec, vec::Vec};

use super::{
    context::{LevelTables, RlweContext},
    sample::SampleBlock,
};
use crate::{
    arith::{KeyProduct, LeftRows, Word, in_lines, line, row_to_lines, whole_row},
    par,
    ring::{Automorphism, Basis, Eval, Extension, Poly, Scratch, Source},
    trace::Counters,
};

/// Words of both components of a switched polynomial that are finished together.
const SWITCHED: usize = 4096;

/// What is done with the words from `start` on of both components modulo prime `limb`: `f(limb, start, [b, a])`.
type Then<'a, W> = dyn Fn(usize, usize, [&mut [W]; 2]) + Sync + 'a;

/// A pair (b, a) of polynomials modulo the same basis, evaluation domain.
#[derive(Clone)]
pub struct Pair<W: Word> {
    /// First component.
    pub b: Poly<W, Eval>,
    /// Second component: multiplies the secret.
    pub a: Poly<W, Eval>,
}

impl<W: Word> Pair<W> {
    /// (0, 0).
    pub fn zero(basis: &Basis<W>) -> Self {
        Self { b: Poly::zero(basis), a: Poly::zero(basis) }
    }

    /// Sets both components to zero.
    pub fn set_zero(&mut self) {
        self.b.set_zero();
        self.a.set_zero();
    }

    /// For each prime of `basis`, the rows of all pairs, `[b, a]`: loops over primes can write to all pairs at once.
    pub(crate) fn limbs_mut<'a>(pairs: &'a mut [Self], basis: &Basis<W>) -> Vec<Vec<[&'a mut [W]; 2]>> {
        let mut limbs: Vec<Vec<_>> = (0..basis.len()).map(|_| Vec::with_capacity(pairs.len())).collect();
        for pair in pairs {
            let rows = pair.b.rows_mut().zip(pair.a.rows_mut());
            limbs.iter_mut().zip(rows).for_each(|(limb, ((_, b), (_, a)))| limb.push([b, a]));
        }
        limbs
    }

    /// self += other.
    pub fn add_assign(&mut self, other: &Self) {
        self.b.add_assign(&other.b);
        self.a.add_assign(&other.a);
    }

    /// X -> X^g on both components.
    #[must_use]
    pub fn automorphism(&self, g: &Automorphism) -> Self {
        Self { b: self.b.automorphism(g), a: self.a.automorphism(g) }
    }

    /// self += sigma_g(other).
    pub fn automorphism_add_assign(&mut self, other: &Self, g: &Automorphism) {
        let basis = self.b.basis().clone();
        let kernels = basis.kernels();
        self.b.for_each_row_pair_mut(&mut self.a, |i, b, a| {
            let m = basis.modulus(i);
            kernels.permute_add_assign(m, b, other.b.row(i), g.permutation());
            kernels.permute_add_assign(m, a, other.a.row(i), g.permutation());
        });
    }
}

/// The gadget digits of a polynomial modulo Q_l, extended to Q_l P, evaluation domain: for each limb the rows of all
/// digits, in lines. Reusable: decomposing into it again needs no new memory.
pub struct Digits<W: Word> {
    level: usize,
    count: usize,
    n: usize,
    data: Vec<W>,
    coefficients: Vec<W>,
}

impl<W: Word> Default for Digits<W> {
    fn default() -> Self {
        Self { level: 0, count: 0, n: 0, data: Vec::new(), coefficients: Vec::new() }
    }
}

impl<W: Word> Digits<W> {
    /// The level of the polynomial.
    pub fn level(&self) -> usize {
        self.level
    }

    /// Number of digits.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Digit `digit` modulo prime `limb` of Q_l P.
    pub fn row(&self, limb: usize, digit: usize) -> Vec<W> {
        let size = self.count * self.n;
        whole_row(&self.data[limb * size..(limb + 1) * size], self.n, digit)
    }

    /// The rows of all digits modulo prime `limb`, and their step.
    pub(crate) fn rows(&self, limb: usize) -> (Vec<&[W]>, usize) {
        let size = self.count * self.n;
        in_lines(&self.data[limb * size..(limb + 1) * size], self.n)
    }
}

/// The gadget digits of a polynomial, made prime by prime, see [`RlweContext::digits_apart`].
pub(crate) struct DigitsApart<'a, W: Word> {
    tables: &'a LevelTables<W>,
    x: &'a Poly<W, Eval>,
    sources: Vec<Source<'a, W>>,
}

impl<W: Word> DigitsApart<'_, W> {
    /// Words of memory that the digits of one prime take.
    pub(crate) fn memory(&self) -> usize {
        self.sources.len() * digit_width::<W>(self.x.basis().n())
    }

    /// All digits modulo prime `limb` of Q_l P, evaluation domain. They are made in `memory`, except a row that x has itself.
    pub(crate) fn rows<'b>(
        &'b self,
        limb: usize,
        memory: &'b mut [W],
        scratch: &mut Scratch<W>,
    ) -> Vec<&'b [W]> {
        let (n, basis) = (self.x.basis().n(), &self.tables.qp);
        let digits = self.tables.digits.iter().zip(&self.sources);
        let memory = memory.chunks_exact_mut(digit_width::<W>(n));
        let row = |((digit, source), row): ((&Extension<W>, &Source<'_, W>), &'b mut [W])| {
            let Some(target) = digit.target(limb) else { return self.x.row(limb) };
            let row = &mut row[..n];
            source.row_into(target, row);
            basis.row(limb).forward(row, scratch);
            &*row
        };
        digits.zip(memory).map(row).collect()
    }
}

/// Words from a digit to the next: a little more than a power of two, because a power of two suits neither a cache nor its prefetcher.
fn digit_width<W>(n: usize) -> usize {
    n + 17 * line::<W>()
}

impl<W: Word> LevelTables<W> {
    /// The words from `start` on of <digits, key> modulo prime `limb`, given whole rows of all digits.
    fn multiply_block(
        &self,
        (limb, start): (usize, usize),
        digits: &[&[W]],
        key: &SampleBlock<W>,
        out: [&mut [W]; 2],
    ) {
        let own = self.q.len();
        let key = key.limb(if limb < own { limb } else { key.q_len() + limb - own });
        let key = key.range(0, digits.len()).from(start);
        let product = KeyProduct { out, lhs: LeftRows::whole(digits).from(start), key };
        self.qp.kernels().key_products(self.qp.modulus(limb), &mut [product], false);
    }

    /// Counts the work of one product of digits with a key.
    fn count_switch(&self, counters: &mut Counters) {
        counters.limb_mac += (2 * self.digits.len() * self.qp.len()) as u64;
        counters.key_switch += 1;
    }
}

impl<W: Word> RlweContext<W> {
    /// Decomposes x modulo Q_l: l inverse transforms, a centred base conversion per digit, and one
    /// transform for every row a digit does not own.
    pub fn decompose(&self, level: usize, x: &Poly<W, Eval>, counters: &mut Counters) -> Digits<W> {
        let mut out = Digits::default();
        self.decompose_into(level, x, &mut out, counters);
        out
    }

    /// [`Self::decompose`] into memory used before.
    pub fn decompose_into(
        &self,
        level: usize,
        x: &Poly<W, Eval>,
        out: &mut Digits<W>,
        counters: &mut Counters,
    ) {
        let tables = self.level(level);
        let (n, count, limbs) = (self.width(), tables.digits.len(), tables.qp.len());
        debug_assert!(x.basis().same_as(&tables.q));
        (out.level, out.count, out.n) = (level, count, n);
        out.coefficients.clear();
        out.coefficients.extend_from_slice(x.data());
        out.data.resize(limbs * count * n, W::ZERO);
        par::for_each_chunk_with(&mut out.coefficients, n, Scratch::default, |scratch, i, row| {
            tables.prepare(i, row, scratch);
        });
        let sources = tables.sources(&out.coefficients);
        let memory = || (vec![W::ZERO; n], Scratch::default());
        par::for_each_chunk_with(&mut out.data, count * n, memory, |(row, scratch), limb, lines| {
            for (j, (digit, source)) in tables.digits.iter().zip(&sources).enumerate() {
                match digit.target(limb) {
                    None => row_to_lines(x.row(limb), (j, count), lines),
                    Some(target) => {
                        source.row_into(target, row);
                        tables.qp.row(limb).forward(row, scratch);
                        row_to_lines(row, (j, count), lines);
                    }
                }
            }
        });
        let own: usize = tables.digits.iter().map(|d| d.own().len()).sum();
        counters.ntt += (tables.q.len() + count * limbs - own) as u64;
    }

    /// The digits of a polynomial modulo Q_l, made prime by prime when they are multiplied and never stored.
    ///
    /// `memory` is used again by the next polynomial.
    pub(crate) fn digits_apart<'a>(
        &'a self,
        level: usize,
        x: &'a Poly<W, Eval>,
        memory: &'a mut Vec<W>,
        counters: &mut Counters,
    ) -> DigitsApart<'a, W> {
        let tables = self.level(level);
        debug_assert!(x.basis().same_as(&tables.q));
        memory.clear();
        memory.extend_from_slice(x.data());
        par::for_each_row_with(memory, self.width(), Scratch::default, |scratch, i, row| {
            tables.prepare(i, row, scratch);
        });
        let own: usize = tables.digits.iter().map(|d| d.own().len()).sum();
        counters.ntt += (tables.q.len() + tables.digits.len() * tables.qp.len() - own) as u64;
        DigitsApart { tables, x, sources: tables.sources(memory) }
    }

    /// `out` = <digits, key> modulo Q_l P, or += if `accumulate`. The key may live at a higher level than the digits, and may
    /// hold several gadget vectors one after the other: `digits` are taken in order.
    ///
    /// Not divided by P; apply [`RlweContext::mod_down`] once all terms are in.
    pub fn key_product(
        &self,
        digits: &[&Digits<W>],
        key: &SampleBlock<W>,
        out: &mut Pair<W>,
        accumulate: bool,
        counters: &mut Counters,
    ) {
        let tables = self.level(digits[0].level);
        let (count, per_vector, q_here) = (tables.digits.len(), key.samples() / digits.len(), tables.q.len());
        // Digits are ordered so that those of a lower level come first in each gadget vector of a key
        // of a higher one. They are adjacent if the levels agree, and one run per vector otherwise.
        let run = if count == per_vector { digits.len() } else { 1 };
        out.b.for_each_row_pair_mut(&mut out.a, |limb, out_b, out_a| {
            let rows = key.limb(if limb < q_here { limb } else { key.q_len() + limb - q_here });
            for (i, run) in digits.chunks(run).enumerate() {
                let lhs: Vec<&[W]> = run.iter().flat_map(|digits| digits.rows(limb).0).collect();
                let key = rows.range(i * per_vector, lhs.len());
                let out = [&mut *out_b, &mut *out_a];
                let lhs = LeftRows::lines(&lhs, digits[0].rows(limb).1);
                let product = KeyProduct { out, lhs, key };
                let (kernels, m) = (tables.qp.kernels(), tables.qp.modulus(limb));
                kernels.key_products(m, &mut [product], accumulate || i > 0);
            }
        });
        counters.limb_mac += (2 * digits.len() * count * tables.qp.len()) as u64;
        counters.key_switch += digits.len() as u64;
    }

    /// <digits of x, key> modulo Q_l P, not divided by P: [`Self::decompose`] and [`Self::key_product`] in one, for a
    /// polynomial that is multiplied by one key. The digits of a prime are multiplied while they are in a cache, and
    /// never stored.
    pub fn switch(
        &self,
        x: &Poly<W, Eval>,
        level: usize,
        key: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Pair<W> {
        let mut out = Pair::zero(self.qp(level));
        self.switch_into(x, level, key, &mut out, counters);
        out
    }

    /// [`Self::switch`] into memory used before.
    pub fn switch_into(
        &self,
        x: &Poly<W, Eval>,
        level: usize,
        key: &SampleBlock<W>,
        out: &mut Pair<W>,
        counters: &mut Counters,
    ) {
        self.switch_then(x, level, key, out, &|_, _, _| (), counters);
    }

    /// [`Self::switch_into`] that calls `then` for some words of both components modulo each prime as soon as they are
    /// computed: what is added to them finds them in a cache.
    pub(crate) fn switch_then(
        &self,
        x: &Poly<W, Eval>,
        level: usize,
        key: &SampleBlock<W>,
        out: &mut Pair<W>,
        then: &Then<'_, W>,
        counters: &mut Counters,
    ) {
        let tables = self.level(level);
        let mut prepared = Vec::new();
        let digits = self.digits_apart(level, x, &mut prepared, counters);
        let memory = || (vec![W::ZERO; digits.memory()], Scratch::default());
        out.b.for_each_row_pair_with(&mut out.a, memory, |(memory, scratch), limb, out_b, out_a| {
            let lhs = digits.rows(limb, memory, scratch);
            let blocks = out_b.chunks_mut(SWITCHED).zip(out_a.chunks_mut(SWITCHED));
            for (i, (b, a)) in blocks.enumerate() {
                let start = i * SWITCHED;
                tables.multiply_block((limb, start), &lhs, key, [&mut *b, &mut *a]);
                then(limb, start, [b, a]);
            }
        });
        tables.count_switch(counters);
    }

    /// total += sigma_g(<digits of x, key> + (b, 0)) modulo Q_l P: [`Self::switch`] of x modulo Q_l and the automorphism that the
    /// key is for. Words of the product go on to the sum while they are in a cache, and are never stored.
    pub(crate) fn switch_onto(
        &self,
        total: &mut Pair<W>,
        (b, x): (&Poly<W, Eval>, &Poly<W, Eval>),
        level: usize,
        (g, key): (&Automorphism, &SampleBlock<W>),
        counters: &mut Counters,
    ) {
        let tables = self.level(level);
        let (n, kernels) = (self.width(), tables.qp.kernels());
        // An automorphism takes an aligned block of evaluations from one aligned block of one row. Rows shorter than a block trade
        // places and are taken all at once. So are those of rings of odd index, whose words are shifted around.
        let whole = self.ring().columns() < SWITCHED || self.ring().odd_index().is_some();
        let width = if whole { n } else { SWITCHED };
        let mut prepared = Vec::new();
        let digits = self.digits_apart(level, x, &mut prepared, counters);
        let rows = || [vec![W::ZERO; digits.memory()], vec![W::ZERO; n], vec![W::ZERO; n]];
        let memory = || (rows(), Scratch::default());
        total.b.for_each_row_pair_with(&mut total.a, memory, |(memory, scratch), limb, out_b, out_a| {
            let (m, [digit_rows, own_b, own_a]) = (tables.qp.modulus(limb), memory);
            let lhs = digits.rows(limb, digit_rows, scratch);
            let blocks = out_b.chunks_mut(width).zip(out_a.chunks_mut(width));
            for ((out_b, out_a), from) in blocks.zip(g.permutation().chunks(width)) {
                let start = from[0] as usize / from.len() * from.len();
                let origin = start..start + from.len();
                let product = [&mut own_b[origin.clone()], &mut own_a[origin.clone()]];
                tables.multiply_block((limb, start), &lhs, key, product);
                kernels.add_assign(m, &mut own_b[origin.clone()], &b.row(limb)[origin]);
                kernels.permute_add_assign(m, out_b, own_b, from);
                kernels.permute_add_assign(m, out_a, own_a, from);
            }
        });
        tables.count_switch(counters);
    }

    /// out += P x, given x modulo Q_l and out modulo Q_l P.
    pub fn add_special_multiple(&self, out: &mut Poly<W, Eval>, x: &Poly<W, Eval>) {
        let basis = out.basis().clone();
        out.for_each_row_mut(|i, row| {
            if i < x.basis().len() {
                let special = &self.special_mod_q()[i..=i];
                basis.kernels().add_multiples(basis.modulus(i), row, &[x.row(i)], special);
            }
        });
    }

    /// round(pair / P) modulo Q_l.
    pub fn divide_by_special(&self, level: usize, pair: Pair<W>, counters: &mut Counters) -> Pair<W> {
        let down = self.mod_down(level);
        counters.ntt += 2 * down.ntts();
        let (b, a) = par::join(|| down.apply(pair.b), || down.apply(pair.a));
        Pair { b, a }
    }

    /// [`Self::divide_by_special`] into memory used before; the dividend is consumed in place.
    pub fn divide_by_special_into(
        &self,
        level: usize,
        pair: &mut Pair<W>,
        out: &mut Pair<W>,
        counters: &mut Counters,
    ) {
        let down = self.mod_down(level);
        counters.ntt += 2 * down.ntts();
        down.apply_into(&mut pair.b, &mut out.b);
        down.apply_into(&mut pair.a, &mut out.a);
    }

    /// x -> sigma_g(x) with a key for g: the pair (b, a) under s becomes sigma_g(b + a s) under s.
    pub fn automorphism(
        &self,
        level: usize,
        x: &Pair<W>,
        g: &Automorphism,
        key: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Pair<W> {
        let mut out = self.switch(&x.a, level, key, counters);
        self.add_special_multiple(&mut out.b, &x.b);
        self.divide_by_special(level, out.automorphism(g), counters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arith::primes::ntt_primes,
        random::{Seed, Stream},
        ring::{Cyclotomic, uniform_rows},
        rlwe::{KeySeeds, RlweSpec, SecretKey},
        security::{SecretDistribution, SecurityPolicy},
    };

    /// Two levels of a prime each, which are two digits, and one special prime.
    fn context(n: usize, odd_part: u64) -> RlweContext<u64> {
        let ring = Cyclotomic::new(n, odd_part).expect("a ring");
        let primes: Vec<u64> = ntt_primes(45.0, ring.divisor_of_primes()).take(3).collect();
        RlweContext::new(&RlweSpec {
            n,
            odd_part,
            levels: vec![vec![primes[0]], vec![primes[1]]],
            special: vec![primes[2]],
            digits: vec![vec![0], vec![1]],
            secret: SecretDistribution::Ternary,
            policy: SecurityPolicy::InsecureForTests,
        })
        .expect("a chain")
    }

    fn random(basis: &Basis<u64>, stream: &mut Stream) -> Poly<u64, Eval> {
        Poly::from_rows(basis, uniform_rows(basis, stream))
    }

    /// Rings with several blocks a row, with several rows a block, and with rows of one block.
    #[test]
    fn a_switch_onto_a_sum_is_a_switch_an_automorphism_and_a_sum() {
        for (n, odd) in [
            (1 << 10, 1),
            (1 << 14, 1),
            (1 << 9, 5),
            (1 << 13, 5),
            (1 << 14, 5),
            (1 << 14, 3),
            (1 << 14, 17),
            (24, 35),
        ] {
            let context = context(n, odd);
            let (ring, mut stream) = (context.ring(), Seed::from_bytes([5; 32]).stream());
            let seed = Seed::from_bytes([6; 32]);
            let (secret, seeds) = (SecretKey::generate(&context, &seed), KeySeeds::derive(&seed));
            let turned = ring.rotation(3);
            // 3 generates the units modulo every odd part but 3 itself.
            let power = if ring.odd_index().is_some() {
                ring.element(3).expect("a unit")
            } else {
                ring.of_second_axis(if odd == 3 { 2 } else { 3 }).expect("a unit")
            };
            for element in [turned, ring.inversion(), power, ring.combine(turned, power)] {
                let g = Automorphism::over(ring, element);
                for level in [0, 1] {
                    let key = secret.galois_key(&context, &seeds, level, element);
                    let (x, b) =
                        (random(context.q(level), &mut stream), random(context.qp(level), &mut stream));
                    let mut total = Pair {
                        b: random(context.qp(level), &mut stream),
                        a: random(context.qp(level), &mut stream),
                    };
                    let (mut expected, mut counters) = (total.clone(), Counters::default());
                    let mut switched = context.switch(&x, level, &key, &mut counters);
                    switched.b.add_assign(&b);
                    expected.automorphism_add_assign(&switched, &g);
                    context.switch_onto(&mut total, (&b, &x), level, (&g, &key), &mut counters);
                    let same = total.b.data() == expected.b.data() && total.a.data() == expected.a.data();
                    assert!(same, "degree {n}, odd part {odd}, level {level}, exponent {}", element.value());
                }
            }
        }
    }
}
