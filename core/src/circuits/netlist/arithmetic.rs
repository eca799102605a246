//! Adders and comparators of unsigned integers, bit 0 the least significant.
//!
//! A carry is the majority of two bits and the carry before it, and the majority is one
//! bootstrapping. The ripple forms take the carries one after another. The prefix forms compute for
//! blocks of bits the pair (carry out without a carry in, carry out with one); the majority of that
//! pair and a carry in is the carry out again, so a pair behaves like a pair of bits and two
//! blocks are joined by two majorities. Sklansky's tree ("Conditional-sum addition logic", 1960)
//! then takes log2 n levels.

use alloc::{format, vec::Vec};

use super::{Bit, Builder, Gate, Netlist};
use crate::error::Error;

/// Most bits of an operand.
pub const MAX_WIDTH: usize = 1024;

/// How carries travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One after another: the fewest gates.
    Ripple,
    /// By a prefix tree: the fewest levels.
    Prefix,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 2] = [Self::Ripple, Self::Prefix];
}

/// Inputs `a[..]`, `b[..]`; outputs `sum[0..width]` and `carry`.
///
/// # Errors
/// [`Error::InvalidArgument`] unless `width` is 1 to [`MAX_WIDTH`].
pub fn adder(width: usize, form: Form) -> Result<Netlist, Error> {
    check(width)?;
    let mut builder = Builder::new();
    let (a, b) = (builder.inputs("a", width), builder.inputs("b", width));
    let (sum, carry) = add(&mut builder, &a, &b, Bit::Constant(false), form);
    builder.outputs("sum", &sum);
    builder.output("carry", carry);
    builder.finish()
}

/// Inputs `a[..]`, `b[..]`; outputs `lt` (a < b), `eq` (a = b) and `gt` (a > b).
///
/// # Errors
/// [`Error::InvalidArgument`] unless `width` is 1 to [`MAX_WIDTH`].
pub fn comparator(width: usize, form: Form) -> Result<Netlist, Error> {
    check(width)?;
    let mut builder = Builder::new();
    let (a, b) = (builder.inputs("a", width), builder.inputs("b", width));
    let [lt, eq, gt] = compare(&mut builder, &a, &b, form);
    builder.output("lt", lt);
    builder.output("eq", eq);
    builder.output("gt", gt);
    builder.finish()
}

/// The [`adder`] or the [`comparator`], by its name.
///
/// # Errors
/// As theirs; [`Error::InvalidArgument`] for another name.
pub fn named(name: &str, width: usize, form: Form) -> Result<Netlist, Error> {
    match name {
        "adder" => adder(width, form),
        "comparator" => comparator(width, form),
        other => Err(Error::InvalidArgument(format!(
            "{other:?} is not a circuit that is built from a width; take \"adder\" or \"comparator\""
        ))),
    }
}

/// a + b + carry: the sum's bits, as many as the shorter operand has, and the carry out.
pub fn add(builder: &mut Builder, a: &[Bit], b: &[Bit], carry: Bit, form: Form) -> (Vec<Bit>, Bit) {
    let mut carries: Vec<Bit> = [carry].into();
    let pairs: Vec<(Bit, Bit)> = a.iter().copied().zip(b.iter().copied()).collect();
    match form {
        Form::Ripple => {
            for &(x, y) in &pairs {
                let before = carries[carries.len() - 1];
                carries.push(builder.maj3(x, y, before));
            }
        }
        Form::Prefix => carries.extend(prefix_carries(builder, &pairs, carry)),
    }
    let sum = pairs.iter().zip(&carries).map(|(&(x, y), &carry)| builder.xor3(x, y, carry)).collect();
    (sum, carries[pairs.len()])
}

/// Whether a < b, a = b, a > b.
pub fn compare(builder: &mut Builder, a: &[Bit], b: &[Bit], form: Form) -> [Bit; 3] {
    // b - a - 1 is b + (not a), whose carry out says b > a; with a carry in, b >= a.
    let pairs: Vec<(Bit, Bit)> = a.iter().zip(b).map(|(&x, &y)| (builder.not(x), y)).collect();
    let (lt, le) = match form {
        Form::Ripple => {
            pairs.iter().fold((Bit::Constant(false), Bit::Constant(true)), |(lt, le), &(x, y)| {
                (builder.maj3(x, y, lt), builder.maj3(x, y, le))
            })
        }
        Form::Prefix => whole(builder, &pairs),
    };
    let eq = builder.gate(Gate::AndNotA, &[lt, le]);
    [lt, eq, builder.not(le)]
}

/// Bits in a row, as far as carries are concerned: with a carry in, its carry out is the majority
/// of x, y and that carry.
#[derive(Clone, Copy)]
struct Block {
    x: Bit,
    y: Bit,
    /// Whether x is known to imply y: then x is the carry out without a carry in, y with one.
    ordered: bool,
}

impl Block {
    fn bits(&(x, y): &(Bit, Bit)) -> Self {
        Self { x, y, ordered: false }
    }

    fn carry(self, builder: &mut Builder, carry: Bit) -> Bit {
        builder.maj3(self.x, self.y, carry)
    }

    /// The carries out without a carry in and with one.
    fn carries(self, builder: &mut Builder) -> (Bit, Bit) {
        if self.ordered {
            return (self.x, self.y);
        }
        (builder.and(self.x, self.y), builder.or(self.x, self.y))
    }

    /// This block above another one.
    fn above(self, builder: &mut Builder, low: Self) -> Self {
        let (without, with) = low.carries(builder);
        Self { x: self.carry(builder, without), y: self.carry(builder, with), ordered: true }
    }
}

/// The carries out of bits 0, 1, ..., with a carry into bit 0.
fn prefix_carries(builder: &mut Builder, pairs: &[(Bit, Bit)], carry: Bit) -> Vec<Bit> {
    // The block that ends at each bit and begins where the tree says, and its carry if it begins at bit 0.
    let mut blocks: Vec<Block> = pairs.iter().map(Block::bits).collect();
    let mut carries: Vec<Option<Bit>> = alloc::vec![None; pairs.len()];
    if let (Some(first), Some(block)) = (carries.first_mut(), blocks.first()) {
        *first = Some(block.carry(builder, carry));
    }
    let mut half = 1;
    while half < pairs.len() {
        // The upper half of every 2 half bits is joined to the last of the lower half.
        for bit in (0..pairs.len()).filter(|bit| bit & half != 0) {
            let below = (bit & !(half - 1)) - 1;
            match carries[below] {
                Some(carry) => carries[bit] = Some(blocks[bit].carry(builder, carry)),
                None => blocks[bit] = blocks[bit].above(builder, blocks[below]),
            }
        }
        half *= 2;
    }
    carries.into_iter().flatten().collect()
}

/// The carries out of all bits, without a carry in and with one.
fn whole(builder: &mut Builder, pairs: &[(Bit, Bit)]) -> (Bit, Bit) {
    let mut blocks: Vec<Block> = pairs.iter().map(Block::bits).collect();
    while blocks.len() > 1 {
        blocks = blocks
            .chunks(2)
            .map(|chunk| match *chunk {
                [low, high] => high.above(builder, low),
                _ => chunk[0],
            })
            .collect();
    }
    blocks.first().map_or((Bit::Constant(false), Bit::Constant(true)), |block| block.carries(builder))
}

fn check(width: usize) -> Result<(), Error> {
    if (1..=MAX_WIDTH).contains(&width) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!("operands of {width} bits; take 1 to {MAX_WIDTH}")))
}

#[cfg(test)]
mod tests {
    use super::super::Clear;
    use super::*;

    fn bits(value: usize, width: usize) -> impl Iterator<Item = bool> {
        (0..width).map(move |i| value >> i & 1 == 1)
    }

    fn integer(bits: &[bool]) -> usize {
        bits.iter().rev().fold(0, |value, &bit| 2 * value + usize::from(bit))
    }

    #[test]
    fn small_widths_are_right_for_all_operands() {
        for (width, form) in (1..=5).flat_map(|width| Form::ALL.map(|form| (width, form))) {
            let (adder, comparator) =
                (adder(width, form).unwrap().plan(), comparator(width, form).unwrap().plan());
            for x in 0..1usize << (2 * width) {
                let (a, b) = (x % (1 << width), x >> width);
                let inputs: Vec<bool> = bits(a, width).chain(bits(b, width)).collect();
                let sum = adder.run(&Clear, &inputs, &mut ()).unwrap();
                assert_eq!(integer(&sum), a + b, "{a} + {b}, {width} bits, {form:?}");
                let order = comparator.run(&Clear, &inputs, &mut ()).unwrap();
                assert_eq!(order, [a < b, a == b, a > b], "{a} ? {b}, {width} bits, {form:?}");
            }
        }
    }

    #[test]
    fn odd_widths_and_carries_in_are_right_too() {
        let mut state = 7usize;
        for (width, form) in (6..=33).flat_map(|width| Form::ALL.map(|form| (width, form))) {
            let mut builder = Builder::new();
            let (a, b) = (builder.inputs("a", width), builder.inputs("b", width));
            let carry = builder.input("c");
            let (sum, out) = add(&mut builder, &a, &b, carry, form);
            builder.outputs("s", &sum);
            builder.output("out", out);
            let plan = builder.finish().unwrap().plan();
            for _ in 0..40 {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                // Every third pair adds up to all ones, so that the carry goes all the way.
                let mask = (1 << width) - 1;
                let x = (state >> 20) & mask;
                let y = if state.is_multiple_of(3) { !x & mask } else { (state >> 27) & mask };
                let c = state & 8 != 0;
                let inputs: Vec<bool> = bits(x, width).chain(bits(y, width)).chain([c]).collect();
                let found = plan.run(&Clear, &inputs, &mut ()).unwrap();
                assert_eq!(integer(&found), x + y + usize::from(c), "{width} bits, {form:?}");
            }
        }
    }

    #[test]
    fn sizes_are_as_designed() {
        let size = |netlist: Result<Netlist, Error>| {
            let plan = netlist.unwrap().plan();
            (plan.bootstraps(), plan.depth())
        };
        assert_eq!(size(adder(8, Form::Ripple)), (16, 8));
        assert_eq!(size(comparator(8, Form::Ripple)), (17, 9));
        assert_eq!(size(adder(8, Form::Prefix)), (32, 5));
        assert_eq!(size(comparator(8, Form::Prefix)), (23, 5));
        assert_eq!(size(adder(64, Form::Prefix)).1, 8);
        assert!(adder(0, Form::Ripple).is_err() && comparator(MAX_WIDTH + 1, Form::Prefix).is_err());
    }
}
