//! The interface between the worker and this module.
//!
//! ```text
//! worker -> module   room(len) -> address: the buffer for the request
//!                    call(): answers it
//!                    answer_at() -> address, answer_len(): the answer, in JSON
//! module -> worker   read(file, at, address, len) -> bytes that were read, or -1
//!                    write(address, len): exported bytes
//!                    progress(done, total); an unknown total is -1
//! ```
#![allow(
    unsafe_code,
    reason = "the border of WebAssembly, where there are only addresses"
)]

use std::cell::{Cell, RefCell};
use std::io;

mod imports {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        pub fn read(file: u32, at: f64, to: *mut u8, len: usize) -> i32;
        pub fn write(from: *const u8, len: usize);
        pub safe fn progress(done: f64, total: f64);
    }
}

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// The bytes read for this request, and how many of them were reported as progress.
    static DONE: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// Allocates the buffer for a request and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn room(len: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.resize(len, 0);
        request.as_mut_ptr()
    })
}

/// Processes the request.
#[unsafe(no_mangle)]
pub extern "C" fn call() {
    let request = REQUEST.take();
    DONE.set((0, 0));
    ANSWER.set(crate::request::answer(&request));
}

/// The address of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer_at() -> *const u8 {
    ANSWER.with_borrow(Vec::as_ptr)
}

/// The length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer_len() -> usize {
    ANSWER.with_borrow(Vec::len)
}

/// Reads from a file of the worker.
pub fn read(file: u32, at: u64, buf: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the worker writes at most `len` bytes to the address of `buf`, which has that length.
    let found = unsafe { imports::read(file, as_float(at), buf.as_mut_ptr(), buf.len()) };
    match usize::try_from(found) {
        Ok(found) if found <= buf.len() => Ok(found),
        _ => Err(io::Error::other("the browser could not read the file")),
    }
}

/// Reports progress after `bytes` more bytes were read.
pub fn progress(bytes: u64, total: Option<u64>) {
    let (before, shown) = DONE.get();
    // Saturates, because it is only for display.
    let done = before.saturating_add(bytes);
    let is_due = done - shown >= 1 << 20;
    if is_due {
        imports::progress(as_float(done), total.map_or(-1.0, as_float));
    }
    DONE.set((done, if is_due { done } else { shown }));
}

/// The worker's numbers are floats, which are exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "no file is that long")]
fn as_float(number: u64) -> f64 {
    number as f64
}

/// Passes exported bytes to the worker.
pub struct Sink;

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the worker copies `len` bytes from the address of `bytes`, which has that length.
        unsafe { imports::write(bytes.as_ptr(), bytes.len()) };
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
