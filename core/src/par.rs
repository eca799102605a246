//! Loops that may run on several threads: rayon under feature `parallel`, plain loops otherwise.
//!
//! Results never depend on the number of threads: every item is computed from its index alone
//! and stored in its own place.

use alloc::vec::Vec;

/// `[f(0), …, f(count - 1)]`, in order.
#[cfg(feature = "parallel")]
pub fn map<R: Send>(count: usize, f: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    use rayon::prelude::*;
    (0..count).into_par_iter().map(f).collect()
}

/// `[f(0), …, f(count - 1)]`, in order.
#[cfg(not(feature = "parallel"))]
pub fn map<R: Send>(count: usize, f: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    (0..count).map(f).collect()
}

/// [`map`] for functions that may fail: the error of the smallest failing index, so that the
/// outcome does not depend on the schedule. Items are taken one by one, by whichever thread is free: they are
/// milliseconds each where this is used, and a thread that was held up keeps none from the others.
pub fn try_map<R: Send, E: Send>(
    count: usize,
    f: impl Fn(usize) -> Result<R, E> + Sync + Send,
) -> Result<Vec<R>, E> {
    one_by_one(count, f).into_iter().collect()
}

#[cfg(feature = "parallel")]
fn one_by_one<R: Send>(count: usize, f: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    use rayon::prelude::*;
    (0..count).into_par_iter().with_max_len(1).map(f).collect()
}

#[cfg(not(feature = "parallel"))]
fn one_by_one<R: Send>(count: usize, f: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    map(count, f)
}

/// Calls `f(i, chunk)` for the `i`-th chunk of `chunk` items (the last one may be shorter).
/// A `chunk` of zero counts as one.
pub fn for_each_chunk_mut<T: Send>(data: &mut [T], chunk: usize, f: impl Fn(usize, &mut [T]) + Sync + Send) {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        data.par_chunks_mut(chunk.max(1)).enumerate().for_each(|(i, part)| f(i, part));
    }
    #[cfg(not(feature = "parallel"))]
    {
        for (i, part) in data.chunks_mut(chunk.max(1)).enumerate() {
            f(i, part);
        }
    }
}

/// [`for_each_chunk_mut`] with memory that `f` may use as it likes: made by `memory` once for every run of chunks that one
/// thread does, so that it holds anything at first.
pub fn for_each_chunk_with<T: Send, M>(
    data: &mut [T],
    chunk: usize,
    memory: impl Fn() -> M + Sync + Send,
    f: impl Fn(&mut M, usize, &mut [T]) + Sync + Send,
) {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        let chunks = data.par_chunks_mut(chunk.max(1)).enumerate();
        chunks.for_each_init(memory, |memory, (i, part)| f(memory, i, part));
    }
    #[cfg(not(feature = "parallel"))]
    {
        let mut memory = memory();
        for (i, part) in data.chunks_mut(chunk.max(1)).enumerate() {
            f(&mut memory, i, part);
        }
    }
}

/// [`for_each_chunk_with`] for the chunks of two slices of one length: calls `f(memory, i, x, y)`.
pub fn for_each_pair_with<T: Send, M>(
    x: &mut [T],
    y: &mut [T],
    chunk: usize,
    memory: impl Fn() -> M + Sync + Send,
    f: impl Fn(&mut M, usize, &mut [T], &mut [T]) + Sync + Send,
) {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        let pairs = x.par_chunks_mut(chunk.max(1)).zip(y.par_chunks_mut(chunk.max(1)));
        pairs.enumerate().for_each_init(memory, |memory, (i, (x, y))| f(memory, i, x, y));
    }
    #[cfg(not(feature = "parallel"))]
    each_pair_with(x, y, chunk, memory, f);
}

fn each_pair_with<T, M>(
    x: &mut [T],
    y: &mut [T],
    chunk: usize,
    memory: impl Fn() -> M,
    f: impl Fn(&mut M, usize, &mut [T], &mut [T]),
) {
    let mut memory = memory();
    let pairs = x.chunks_mut(chunk.max(1)).zip(y.chunks_mut(chunk.max(1)));
    pairs.enumerate().for_each(|(i, (x, y))| f(&mut memory, i, x, y));
}

/// Rows from this many words on are worth a task each.
const ROW_TASK: usize = 1 << 15;

/// [`for_each_chunk_mut`] for the rows of a polynomial: short ones stay on this thread, where starting a task would
/// cost as much as the work.
pub fn for_each_row_mut<T: Send>(data: &mut [T], n: usize, f: impl Fn(usize, &mut [T]) + Sync + Send) {
    if n >= ROW_TASK {
        for_each_chunk_mut(data, n, f);
    } else {
        data.chunks_mut(n.max(1)).enumerate().for_each(|(i, row)| f(i, row));
    }
}

/// [`for_each_chunk_with`] for the rows of a polynomial, as [`for_each_row_mut`].
pub fn for_each_row_with<T: Send, M>(
    data: &mut [T],
    n: usize,
    memory: impl Fn() -> M + Sync + Send,
    f: impl Fn(&mut M, usize, &mut [T]) + Sync + Send,
) {
    if n >= ROW_TASK {
        for_each_chunk_with(data, n, memory, f);
    } else {
        let mut memory = memory();
        data.chunks_mut(n.max(1)).enumerate().for_each(|(i, row)| f(&mut memory, i, row));
    }
}

/// [`for_each_row_with`] for rows of `n` words that belong together: one item for each prime.
pub fn for_each_limb_with<T: Send, M>(
    limbs: &mut [T],
    n: usize,
    memory: impl Fn() -> M + Sync + Send,
    f: impl Fn(&mut M, usize, &mut T) + Sync + Send,
) {
    if n >= ROW_TASK {
        for_each_chunk_with(limbs, 1, memory, |memory, i, limb| {
            for limb in limb {
                f(memory, i, limb);
            }
        });
    } else {
        let mut memory = memory();
        limbs.iter_mut().enumerate().for_each(|(i, limb)| f(&mut memory, i, limb));
    }
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

/// [`for_each_pair_with`] for the rows of two polynomials, as [`for_each_row_mut`].
pub fn for_each_row_pair_with<T: Send, M>(
    x: &mut [T],
    y: &mut [T],
    n: usize,
    memory: impl Fn() -> M + Sync + Send,
    f: impl Fn(&mut M, usize, &mut [T], &mut [T]) + Sync + Send,
) {
    if n >= ROW_TASK {
        for_each_pair_with(x, y, n, memory, f);
    } else {
        each_pair_with(x, y, n, memory, f);
    }
}

/// `(a(), b())`, possibly at the same time.
#[cfg(feature = "parallel")]
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    rayon::join(a, b)
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
