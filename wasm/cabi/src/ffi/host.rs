//! Memory and entropy of a program made by Emscripten. It has only C's allocator: two allocators that grow the same memory would not know
//! of each other.

use std::alloc::{GlobalAlloc, Layout};

unsafe extern "C" {
    fn memalign(align: usize, size: usize) -> *mut u8;
    fn free(pointer: *mut u8);
    fn getentropy(out: *mut u8, length: usize) -> i32;
}

struct HostAllocator;

#[global_allocator]
static ALLOCATOR: HostAllocator = HostAllocator;

// SAFETY: `memalign` gives memory of the requested size and alignment, or NULL, and `free` takes it back.
unsafe impl GlobalAlloc for HostAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the alignment of a layout is a power of two, and 16 is one too.
        unsafe { memalign(layout.align().max(16), layout.size()) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, _layout: Layout) {
        // SAFETY: by the contract of this function the memory came from `alloc`, that is, from `memalign`.
        unsafe { free(pointer) }
    }
}

/// Fills 32 bytes with entropy; false if there is none.
pub fn entropy(out: &mut [u8; 32]) -> bool {
    // SAFETY: the array has the stated length, and is shorter than the 256 bytes that one call can give.
    unsafe { getentropy(out.as_mut_ptr(), out.len()) == 0 }
}
