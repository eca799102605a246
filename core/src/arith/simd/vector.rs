//! The small set of vector operations all kernels are written in.

use crate::arith::{MachineWord, Shoup};

/// Registers of `LANES` words, and how words reach them.
pub(crate) trait Registers: Copy {
    /// The word in one lane.
    type Word: MachineWord;
    /// `[Word; LANES]`.
    type Pack: Pack<Self::Word>;
    /// The register.
    type Reg: Copy;

    /// Number of words in a register, a power of two.
    const LANES: usize;

    /// The row as packs, and the words left over.
    #[inline(always)]
    fn packs(self, row: &[Self::Word]) -> (&[Self::Pack], &[Self::Word]) {
        Self::Pack::packs(row)
    }
    /// The row as packs, and the words left over.
    #[inline(always)]
    fn packs_mut(self, row: &mut [Self::Word]) -> (&mut [Self::Pack], &mut [Self::Word]) {
        Self::Pack::packs_mut(row)
    }
    /// Reads a pack.
    fn load(self, from: &Self::Pack) -> Self::Reg;
    /// Writes a pack.
    fn store(self, to: &mut Self::Pack, x: Self::Reg);
}

/// Arithmetic that loads and stores by a vector that it holds.
pub(crate) trait OnLanes: Copy {
    /// The vector.
    type Lanes: Registers;

    /// The vector that this holds.
    fn lanes(self) -> Self::Lanes;
}

impl<A: OnLanes> Registers for A {
    type Word = <A::Lanes as Registers>::Word;
    type Pack = <A::Lanes as Registers>::Pack;
    type Reg = <A::Lanes as Registers>::Reg;

    const LANES: usize = A::Lanes::LANES;

    #[inline(always)]
    fn load(self, from: &Self::Pack) -> Self::Reg {
        self.lanes().load(from)
    }
    #[inline(always)]
    fn store(self, to: &mut Self::Pack, x: Self::Reg) {
        self.lanes().store(to, x);
    }
}

/// Implements [`Registers`]: the words in memory, the register, and the instructions that read and write it.
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
macro_rules! registers {
    ($lanes:ty: [$word:ty; $count:literal] as $reg:ty, |$from:ident| $load:expr, |$to:ident, $x:ident| $store:expr) => {
        impl $crate::arith::simd::vector::Registers for $lanes {
            type Word = $word;
            type Pack = [$word; $count];
            type Reg = $reg;

            const LANES: usize = $count;

            #[inline(always)]
            fn load(self, $from: &[$word; $count]) -> $reg {
                $load
            }
            #[inline(always)]
            fn store(self, $to: &mut [$word; $count], $x: $reg) {
                $store;
            }
        }
    };
}
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(in crate::arith) use registers;

/// Modular arithmetic on the words of registers. A value of the implementing type proves that the CPU has the instructions; it carries
/// no data.
///
/// Every method is inlined into the `#[target_feature]` function of the backend.
pub(crate) trait Vector: Registers + Send + Sync + 'static {
    /// A fixed factor per lane in Shoup form.
    type Factor: Copy;

    /// Lazy butterflies hold words up to `2 * 2^ROUGH_BITS p` and need `p < 2^LAZY_BITS`.
    const LAZY_BITS: u32;
    /// 1 or 2: [`mul_rough`](Self::mul_rough) gives words below `2^ROUGH_BITS p`.
    const ROUGH_BITS: u32 = 1;

    /// The same word in every lane.
    fn splat(self, x: Self::Word) -> Self::Reg;
    /// Sum modulo the word size.
    fn add(self, a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// Difference modulo the word size.
    fn sub(self, a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// `x < c ? x : x - c`. For 64-bit lanes, `x` and `c` are below `2^63`.
    fn reduce_once(self, x: Self::Reg, c: Self::Reg) -> Self::Reg;
    /// `d + c` where the difference `d` has wrapped around, `d` elsewhere; the true difference is in `[-c, c)`
    /// and `c` at most `2^61` (`2^31` in 32-bit lanes).
    fn correct(self, d: Self::Reg, c: Self::Reg) -> Self::Reg;
    /// `x > bound ? x + addend : x`, modulo the word size; `x` and `bound` have a clear top bit.
    fn add_if_greater(self, x: Self::Reg, bound: Self::Reg, addend: Self::Reg) -> Self::Reg;
    /// `floor(x / 2^bits)`, for fewer `bits` than a lane has.
    fn shift_right(self, x: Self::Reg, bits: u32) -> Self::Reg;
    /// The bits that are set in both.
    fn and(self, a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// The same factor in every lane.
    fn factor(self, w: &Shoup<Self::Word>) -> Self::Factor;
    /// A factor in each lane, from the two halves of Shoup forms.
    fn factors(self, values: Self::Reg, quotients: Self::Reg) -> Self::Factor;
    /// A word in `[0, 2p)` congruent to `a w`, for any word `a` (below `4p` if lanes are narrower than words).
    fn mul_lazy(self, a: Self::Reg, w: &Self::Factor, p: Self::Reg) -> Self::Reg;
    /// A word in `[0, 2^ROUGH_BITS p)` congruent to `a w`, for any word `a` (below `4p` if lanes are narrower than words).
    #[inline(always)]
    fn mul_rough(self, a: Self::Reg, w: &Self::Factor, p: Self::Reg) -> Self::Reg {
        self.mul_lazy(a, w, p)
    }
}

/// The words of one register.
pub(crate) trait Pack<W>: Copy {
    /// A row as packs, and the words left over.
    fn packs(row: &[W]) -> (&[Self], &[W]);
    /// A row as packs, and the words left over.
    fn packs_mut(row: &mut [W]) -> (&mut [Self], &mut [W]);
}

impl<W: MachineWord, const LANES: usize> Pack<W> for [W; LANES] {
    #[inline(always)]
    fn packs(row: &[W]) -> (&[Self], &[W]) {
        row.as_chunks()
    }
    #[inline(always)]
    fn packs_mut(row: &mut [W]) -> (&mut [Self], &mut [W]) {
        row.as_chunks_mut()
    }
}

/// A register of one word.
impl<W: MachineWord> Pack<W> for W {
    #[inline(always)]
    fn packs(row: &[W]) -> (&[W], &[W]) {
        (row, &[])
    }
    #[inline(always)]
    fn packs_mut(row: &mut [W]) -> (&mut [W], &mut [W]) {
        (row, &mut [])
    }
}

/// Squares of words, for transforms.
pub(crate) trait Transpose<const R: usize>: Vector {
    /// Transposes every run of `LANES` registers, `LANES` words each; `R` is a multiple of `LANES`.
    fn transpose(self, tile: [Self::Reg; R]) -> [Self::Reg; R];
}

/// Double-word sums and conversions, for backends that gain from them.
pub(crate) trait Products: Vector {
    /// `LANES` double words.
    type Acc: Copy;
    /// `LANES` numbers of type `f64`.
    type Real: Copy;

    /// Zeros.
    fn acc_zero(self) -> Self::Acc;
    /// Words as double words.
    fn acc_from(self, x: Self::Reg) -> Self::Acc;
    /// `acc + a b`.
    fn acc_mul_add(self, acc: Self::Acc, a: Self::Reg, b: Self::Reg) -> Self::Acc;
    /// Low and high words.
    fn acc_split(self, acc: Self::Acc) -> (Self::Reg, Self::Reg);
    /// Low and high words of `x + bias` for `LANES` signed integers; the sums are in `[0, 2^64)`.
    fn split_biased(self, x: &[i64], bias: u64) -> (Self::Reg, Self::Reg);
    /// Zeros.
    fn real_zero(self) -> Self::Real;
    /// `sum + y factor`, rounded twice; words are below `2^MAX_MODULUS_BITS`.
    fn real_mul_add(self, sum: Self::Real, y: Self::Reg, factor: f64) -> Self::Real;
    /// `floor(x + 1/2)` for `0 <= x < 2^31 - 1`.
    fn real_round(self, x: Self::Real) -> Self::Reg;
    /// `x[perm[j] - origin]` for `LANES` indices; panics on an index outside `x`. An automorphism takes the words of a pack from one
    /// pack: indices that differ only in their low bits are worth a path of their own.
    fn gather(self, x: &[Self::Word], perm: &[u32], origin: u32) -> Self::Reg;
}

/// Arithmetic on registers of `f64`. Loads and stores move 64-bit words unchanged.
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
))]
pub(crate) trait Reals: Registers<Word = u64> {
    /// The same number in every lane.
    fn splat(self, x: f64) -> Self::Reg;
    /// `a + b`.
    fn add(self, a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// `a - b`.
    fn sub(self, a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// `a b`.
    fn mul(self, a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// The nearest integer.
    fn round(self, x: Self::Reg) -> Self::Reg;
    /// `x - a b`, rounded once.
    fn sub_mul(self, x: Self::Reg, a: Self::Reg, b: Self::Reg) -> Self::Reg;
    /// `a b - quotient p`, where `high` is `a b`, rounded, and all results are exact.
    fn remainder(
        self,
        high: Self::Reg,
        ab: (Self::Reg, Self::Reg),
        quotient: Self::Reg,
        p: Self::Reg,
    ) -> Self::Reg;
    /// Words below 2^52 as numbers.
    fn of_words(self, x: Self::Reg) -> Self::Reg;
    /// Integers below 2^52 as words, those below 0 after adding `p`.
    fn to_words(self, x: Self::Reg, p: Self::Reg) -> Self::Reg;
    /// Transposes two squares, each of four registers.
    fn transpose(self, tile: [Self::Reg; 8]) -> [Self::Reg; 8];
}

/// Sums of products that are reduced by a power of two (Montgomery).
pub(crate) trait Montgomery: Vector {
    /// A sum in each lane.
    type Sum: Copy;

    /// log2 of the radix. Factors are below it.
    const RADIX_BITS: u32;

    /// Zeros.
    fn sum_zero(self) -> Self::Sum;
    /// `sum + a b`.
    fn sum_mul_add(self, sum: Self::Sum, a: Self::Reg, b: Self::Reg) -> Self::Sum;
    /// `(sum + m p) / radix` with `m = sum negative_inverse mod radix`.
    fn sum_redc(self, sum: Self::Sum, negative_inverse: Self::Reg, p: Self::Reg) -> Self::Reg;
}

/// Sums are double words.
impl<V: Redc> Montgomery for V {
    type Sum = V::Acc;

    const RADIX_BITS: u32 = V::Word::BITS;

    #[inline(always)]
    fn sum_zero(self) -> V::Acc {
        self.acc_zero()
    }
    #[inline(always)]
    fn sum_mul_add(self, sum: V::Acc, a: V::Reg, b: V::Reg) -> V::Acc {
        self.acc_mul_add(sum, a, b)
    }
    #[inline(always)]
    fn sum_redc(self, sum: V::Acc, negative_inverse: V::Reg, p: V::Reg) -> V::Reg {
        self.acc_redc(sum, negative_inverse, p)
    }
}

/// Montgomery reduction of double words, for lanes of 32 bits.
pub(crate) trait Redc: Products {
    /// `(acc + m p) / 2^BITS` with `m = acc negative_inverse mod 2^BITS`; the sum fits a double word.
    fn acc_redc(self, acc: Self::Acc, negative_inverse: Self::Reg, p: Self::Reg) -> Self::Reg;
}
