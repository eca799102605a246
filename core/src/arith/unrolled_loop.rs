//! Unrolled loops.

/// Runs `body` for every `i` below `end`, one after the other; `end` is at most 16 and known when the function is compiled.
///
/// The compiler may take a loop over an array of registers for a copy of memory before it unrolls the loop, and the array
/// then stays in memory.
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
