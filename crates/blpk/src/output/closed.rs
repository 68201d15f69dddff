//! Whether standard output was closed when the process began.
//!
//! Before `main`, the standard library opens `/dev/null` in the place of a closed stream, so that no other file gets its number. What
//! is written there is lost without an error. Parents that discard output open it in the same way, so that nothing can tell the two
//! apart later on.

#![allow(unsafe_code, reason = "a function that runs before main")]

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: each entry of this section is a function that is called once, by the C library, before `main`. This one needs nothing that
// the standard library sets up there.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = look;

extern "C" fn look() {
    let is_closed = rustix::io::fcntl_getfd(io::stdout()).is_err();
    WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// The error of writing to standard output that was closed.
pub fn check() -> io::Result<()> {
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(rustix::io::Errno::BADF.into());
    }
    Ok(())
}
