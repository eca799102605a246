//! Hints to the caches.

/// Asks for the words to be brought into the caches, a cache line at a time.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) fn prefetch<T>(words: &[T]) {
    words.chunks(64 / size_of::<T>()).for_each(|line| prefetch_at(line.as_ptr()));
}

/// Asks for the cache line of any address.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch_at<T>(address: *const T) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint to the caches, which needs no more than SSE and has no effect besides, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
}

/// Asks for the cache line of any address to be brought into the second-level cache: more lines can be on their way there
/// than to the first.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn prefetch_far<T>(address: *const T) {
    use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: as above.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(address.cast()) };
}

/// Asks for the cache line of any address.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn prefetch_at<T>(address: *const T) {
    // SAFETY: a hint to the caches, which has no effect besides, whatever the address.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
}

/// As above, into the second-level cache.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(crate) fn prefetch_far<T>(address: *const T) {
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("prfm pldl2keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
}

/// There is no such instruction.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
pub(crate) fn prefetch_far<T>(_address: *const T) {}

/// There is no such instruction.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn prefetch<T>(_words: &[T]) {}
