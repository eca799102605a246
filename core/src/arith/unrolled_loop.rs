//! Unrolled loops.

/// `body` for every `i` below `end`, which is at most 16 and known when the function is compiled, one after the other.
///
/// A loop over an array of registers, even one that is unrolled in the end, may be taken for a copy of memory before that,
/// and the array then stays in memory.
macro_rules! unrolled {
    ($i:ident < $end:expr, $body:block) => {
        $crate::arith::unrolled_loop::unrolled!(@each $i, $end, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@each $i:ident, $end:expr, $body:block, $($value:literal)*) => {
        $(
            if $value < $end {
                let $i: usize = $value;
                $body
            }
        )*
    };
}
pub(crate) use unrolled;
