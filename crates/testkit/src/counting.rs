//! An allocator that counts what each thread has taken.
#![allow(unsafe_code, reason = "an allocator is unsafe by its nature")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The allocator. A test program that wants figures declares it:
///
/// ```ignore
/// #[global_allocator]
/// static ALLOCATOR: testkit::counting::Counting = testkit::counting::Counting;
/// ```
pub struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// Adds to, or subtracts from, the live bytes of this thread.
fn count(change: isize) {
    // A thread that is exiting no longer has counters, and they are not needed.
    let _ = LIVE.try_with(|live| {
        live.set(live.get().wrapping_add(change));
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
}

// SAFETY: all calls go to the system's allocator as they came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps to the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps to the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller keeps to the contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may be there at once.
        count(size.cast_signed());
        count(-layout.size().cast_signed());
        // SAFETY: the caller keeps to the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs `work` and returns the peak of its additional memory in bytes.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = work();
    (result, usize::try_from(PEAK.get() - before).unwrap_or(0))
}
