//! Loops that may run on several threads: rayon under feature `parallel`, plain loops otherwise.
//!
//! Results never depend on the number of threads: every item is computed from its index alone
//! and stored in its own place.
//!
//! The code that splits work is compiled once, and calls the body of a loop through a pointer. Otherwise every loop would bring rayon's
//! machinery anew into the crate that compiles it, which is much code for the small cost of a call.

use alloc::vec::Vec;
use core::ops::AddAssign;

#[cfg(feature = "parallel")]
use threaded::each_part;

/// `[f(0), …, f(count - 1)]`, in order.
pub fn map<R: Send>(count: usize, f: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    filled(count, usize::MAX, f)
}

/// [`map`] for functions that may fail: the error of the smallest failing index, so that the outcome does not depend on the schedule. Free
/// threads take items one by one: items take milliseconds each where this is used, and a thread that is held up keeps none from the others.
pub fn try_map<R: Send, E: Send>(
    count: usize,
    f: impl Fn(usize) -> Result<R, E> + Sync + Send,
) -> Result<Vec<R>, E> {
    filled(count, 1, f).into_iter().collect()
}

/// [`try_map`] for functions that also count what they do: each call counts from zero, and its count is added to `total`.
pub fn try_map_counted<R: Send, S: Default + AddAssign + Send, E: Send>(
    count: usize,
    total: &mut S,
    f: impl Fn(usize, &mut S) -> Result<R, E> + Sync + Send,
) -> Result<Vec<R>, E> {
    let counted = try_map(count, |i| {
        let mut own = S::default();
        Ok((f(i, &mut own)?, own))
    })?;
    let take = |(result, own)| {
        *total += own;
        result
    };
    Ok(counted.into_iter().map(take).collect())
}

/// [`map`], where a thread takes at most `most` items in a row.
#[cfg(feature = "parallel")]
fn filled<R: Send>(count: usize, most: usize, f: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    let mut results: Vec<Option<R>> = (0..count).map(|_| None).collect();
    each_part(results.iter_mut(), most, || (), |(), i, result| **result = Some(f(i)));
    results.into_iter().map(|result| result.expect("every item has been computed")).collect()
}

#[cfg(not(feature = "parallel"))]
fn filled<R>(count: usize, _: usize, f: impl Fn(usize) -> R) -> Vec<R> {
    (0..count).map(f).collect()
}

/// Calls `f(i, chunk)` for the `i`-th chunk of `chunk` items (the last one may be shorter).
/// A `chunk` of zero counts as one.
pub fn for_each_chunk_mut<T: Send>(data: &mut [T], chunk: usize, f: impl Fn(usize, &mut [T]) + Sync + Send) {
    for_each_chunk_with(data, chunk, || (), |(), i, part| f(i, part));
}

/// [`for_each_chunk_mut`] with scratch memory for `f`. `memory` makes it once for every run of chunks on one thread, so `f` may find
/// anything in it.
pub fn for_each_chunk_with<T: Send, M>(
    data: &mut [T],
    chunk: usize,
    memory: impl Fn() -> M + Sync + Send,
    f: impl Fn(&mut M, usize, &mut [T]) + Sync + Send,
) {
    each_part(data.chunks_mut(chunk.max(1)), usize::MAX, memory, |memory, i, part| f(memory, i, part));
}

/// Rows of at least this many words are worth a task each.
const ROW_TASK: usize = 1 << 15;

/// [`for_each_chunk_mut`] for the rows of a polynomial: short ones stay on this thread, where starting a task would
/// cost as much as the work.
pub fn for_each_row_mut<T: Send>(data: &mut [T], n: usize, f: impl Fn(usize, &mut [T]) + Sync + Send) {
    for_each_row_with(data, n, || (), |(), i, row| f(i, row));
}

/// [`for_each_chunk_with`] for the rows of a polynomial, as [`for_each_row_mut`].
pub fn for_each_row_with<T: Send, M>(
    data: &mut [T],
    n: usize,
    memory: impl Fn() -> M + Sync + Send,
    f: impl Fn(&mut M, usize, &mut [T]) + Sync + Send,
) {
    each_row(data.chunks_mut(n.max(1)), n, memory, |memory, i, row| f(memory, i, row));
}

/// [`for_each_row_with`] for rows of `n` words that belong together: one item for each prime.
pub fn for_each_limb_with<T: Send, M>(
    limbs: &mut [T],
    n: usize,
    memory: impl Fn() -> M + Sync + Send,
    f: impl Fn(&mut M, usize, &mut T) + Sync + Send,
) {
    each_row(limbs.iter_mut(), n, memory, |memory, i, limb| f(memory, i, limb));
}

/// [`for_each_row_pair_with`] without the memory.
pub fn for_each_row_pair_mut<T: Send>(
    x: &mut [T],
    y: &mut [T],
    n: usize,
    f: impl Fn(usize, &mut [T], &mut [T]) + Sync + Send,
) {
    for_each_row_pair_with(x, y, n, || (), |(), i, x, y| f(i, x, y));
}

/// [`for_each_row_with`] for the rows of two polynomials of one shape: calls `f(memory, i, x, y)`.
pub fn for_each_row_pair_with<T: Send, M>(
    x: &mut [T],
    y: &mut [T],
    n: usize,
    memory: impl Fn() -> M + Sync + Send,
    f: impl Fn(&mut M, usize, &mut [T], &mut [T]) + Sync + Send,
) {
    let pairs = x.chunks_mut(n.max(1)).zip(y.chunks_mut(n.max(1)));
    each_row(pairs, n, memory, |memory, i, (x, y)| f(memory, i, x, y));
}

/// Calls `f` for each row of `n` words, on this thread alone if rows are short.
fn each_row<P: Send, M>(
    rows: impl Iterator<Item = P>,
    n: usize,
    memory: impl Fn() -> M + Sync + Send,
    f: impl Fn(&mut M, usize, &mut P) + Sync + Send,
) {
    if n >= ROW_TASK {
        each_part(rows, usize::MAX, memory, f);
    } else {
        each_in_turn(rows, memory, f);
    }
}

fn each_in_turn<P, M>(
    parts: impl Iterator<Item = P>,
    memory: impl Fn() -> M,
    f: impl Fn(&mut M, usize, &mut P),
) {
    let mut memory = memory();
    parts.enumerate().for_each(|(i, mut part)| f(&mut memory, i, &mut part));
}

#[cfg(not(feature = "parallel"))]
fn each_part<P, M>(
    parts: impl Iterator<Item = P>,
    _: usize,
    memory: impl Fn() -> M,
    f: impl Fn(&mut M, usize, &mut P),
) {
    each_in_turn(parts, memory, f);
}

/// `(a(), b())`, possibly at the same time.
#[cfg(feature = "parallel")]
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    let (mut a, mut b) = (Some(a), Some(b));
    let (mut x, mut y) = (None, None);
    threaded::both(&mut || x = a.take().map(|a| a()), &mut || y = b.take().map(|b| b()));
    let (Some(x), Some(y)) = (x, y) else { unreachable!("both have run") };
    (x, y)
}

/// `(a(), b())`, possibly at the same time.
#[cfg(not(feature = "parallel"))]
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    (a(), b())
}

/// Number of threads the loops may use: the current rayon pool's, or 1.
pub fn threads() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    return 1;
}

/// The parts that use rayon.
#[cfg(feature = "parallel")]
mod threaded {
    use alloc::boxed::Box;
    use alloc::vec::Vec;
    use std::sync::{Mutex, PoisonError};

    use rayon::prelude::*;

    /// Calls `f(memory, i, part)` for the `i`-th part. A thread takes at most `most` of them in a row.
    pub fn each_part<P: Send, M>(
        parts: impl Iterator<Item = P>,
        most: usize,
        memory: impl Fn() -> M + Sync + Send,
        f: impl Fn(&mut M, usize, &mut P) + Sync + Send,
    ) {
        // Nobody waits for these locks: each is taken once. They give a part to whichever thread gets its index.
        let parts: Vec<Mutex<P>> = parts.map(Mutex::new).collect();
        let (parts, f) = (&parts, &f);
        hand_out(parts.len(), most, &|| {
            let mut memory = memory();
            Box::new(move |i| f(&mut memory, i, &mut parts[i].lock().unwrap_or_else(PoisonError::into_inner)))
        });
    }

    /// Processes items, given their indices.
    type Worker<'a> = Box<dyn FnMut(usize) + 'a>;

    /// Gives every index below `count` to a worker; `begin` makes a worker for every run of items on one thread.
    fn hand_out<'a>(count: usize, most: usize, begin: &(dyn Fn() -> Worker<'a> + Sync + 'a)) {
        (0..count).into_par_iter().with_max_len(most).for_each_init(begin, |worker, i| worker(i));
    }

    /// Calls both, possibly at the same time.
    pub fn both(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
        rayon::join(a, b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn map_keeps_order() {
        assert_eq!(map(1000, |i| i * i), (0..1000).map(|i| i * i).collect::<Vec<_>>());
    }

    #[test]
    fn try_map_reports_the_first_failure() {
        let failed: Result<Vec<usize>, usize> = try_map(100, |i| if i % 7 == 6 { Err(i) } else { Ok(i) });
        assert_eq!(failed, Err(6));
        assert_eq!(try_map(3, Ok::<_, ()>), Ok(alloc::vec![0, 1, 2]));
    }

    #[test]
    fn chunks_see_their_index() {
        let mut data = [0usize; 10];
        for_each_chunk_mut(&mut data, 4, |i, part| part.fill(i + 1));
        assert_eq!(data, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3]);
        for_each_chunk_mut(&mut data, 0, |i, part| part.fill(i));
        assert_eq!(data, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(join(|| 1, || "b"), (1, "b"));
        assert!(threads() >= 1);
    }
}
