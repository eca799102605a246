//! Messages that a promise of precision must hold for: random ones, and those with structure, whose coefficients are not
//! small or whose errors add up.

use alloc::vec::Vec;

use crate::arith::complex::Complex;

/// A message and its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedMessage {
    /// What the slots hold, for people.
    pub name: &'static str,
    /// One value a slot.
    pub slots: Vec<Complex>,
}

/// Messages of complex slots with parts in \[-1, 1\]: uniform in the square, uniform in \[0, 1\], constants, ramps, one slot
/// alone, alternating ones, a picture, the unit circle, and corners. The largest coefficient that any message has, sqrt(2)
/// times its largest part, is that of alternating corners.
pub fn complex_messages(slots: usize, seed: u64) -> Vec<NamedMessage> {
    let mut random = Uniform(seed);
    let square = (0..slots).map(|_| Complex::new(random.signed(), random.signed())).collect();
    let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let turn = |i: usize| Complex::root_of_unity(i as u64, slots as u64);
    let corner = |i: usize| Complex::new(sign(i / 2), sign(i));
    let mut messages = alloc::vec![NamedMessage { name: "uniform in the square", slots: square }];
    messages.extend(real_messages(slots, seed.wrapping_add(1)));
    let mut add = |name, value: &dyn Fn(usize) -> Complex| {
        messages.push(NamedMessage { name, slots: (0..slots).map(value).collect() });
    };
    add("all 1 + i", &|_| Complex::new(1.0, 1.0));
    add("alternating 1 + i, -1 - i", &|i| Complex::new(sign(i), sign(i)));
    add("the four corners in turn", &corner);
    add("unit circle", &turn);
    messages
}

/// Those of [`complex_messages`] that are real.
pub fn real_messages(slots: usize, seed: u64) -> Vec<NamedMessage> {
    let mut random = Uniform(seed);
    let signed: Vec<f64> = (0..slots).map(|_| random.signed()).collect();
    let share = |i: usize| i as f64 / slots as f64;
    let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let mut messages = Vec::new();
    let mut add = |name, value: &dyn Fn(usize) -> f64| {
        let slots = (0..slots).map(|i| Complex::new(value(i), 0.0)).collect();
        messages.push(NamedMessage { name, slots });
    };
    add("uniform in [-1, 1]", &|i| signed[i]);
    add("uniform in [0, 1]", &|i| signed[i].abs());
    add("all 0", &|_| 0.0);
    add("all 0.25", &|_| 0.25);
    add("all 1", &|_| 1.0);
    add("all -1", &|_| -1.0);
    add("ramp from -1 to 1", &|i| 2.0 * share(i) - 1.0);
    add("ramp from 0 to 1", &share);
    add("one 1", &|i| f64::from(u8::from(i == slots / 3)));
    add("alternating 1, -1", &sign);
    add("halves of 1 and -1", &|i| sign(2 * i / slots));
    add("a picture", &|i| pixel(i, slots));
    messages
}

/// Messages of bits: random ones, constants, alternating ones, and one bit alone.
pub fn bit_messages(slots: usize, seed: u64) -> Vec<NamedMessage> {
    let mut random = Uniform(seed);
    let drawn: Vec<bool> = (0..slots).map(|_| random.signed() > 0.0).collect();
    let message = |name, bit: &dyn Fn(usize) -> bool| {
        let slots = (0..slots).map(|i| Complex::new(f64::from(u8::from(bit(i))), 0.0)).collect();
        NamedMessage { name, slots }
    };
    alloc::vec![
        message("random bits", &|i| drawn[i]),
        message("all 0", &|_| false),
        message("all 1", &|_| true),
        message("alternating 0, 1", &|i| i % 2 == 1),
        message("one 1", &|i| i == slots / 3),
    ]
}

/// A disc on a gradient, with values in \[0, 1\].
fn pixel(i: usize, slots: usize) -> f64 {
    let width = 1usize << (slots.ilog2() / 2);
    let (x, y) = ((i % width) as f64 / width as f64, (i / width) as f64 / (slots / width) as f64);
    let inside = (x - 0.5) * (x - 0.5) + (y - 0.5) * (y - 0.5) < 0.09;
    if inside { 1.0 } else { 0.5 * (x + y) }
}

/// Numbers from Steele, Lea and Flood's splitmix64: for messages, not for secrets.
struct Uniform(u64);

impl Uniform {
    fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        // 53 bits over [0, 2), less 1.
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
