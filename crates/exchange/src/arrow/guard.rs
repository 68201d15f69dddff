//! The boundary to the Arrow and Parquet crates, where their panics become errors.

use crate::error::one_line;
use crate::format::Format;
use bloscpack_error::{Code, Error, Result};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread will be caught by this crate and become an error.
///
/// The crates that read Arrow and Parquet panic on some damaged files. This crate then returns an error, but the program's
/// panic hook has already printed a message. To avoid that, ask in the hook:
///
/// ```
/// let print = std::panic::take_hook();
/// std::panic::set_hook(Box::new(move |panic| {
///     if !bloscpack_exchange::catches_panics() {
///         print(panic);
///     }
/// }));
/// ```
#[must_use]
pub fn catches_panics() -> bool {
    IS_GUARDED.get()
}

/// Runs code of another crate. A panic becomes [`Code::Damaged`].
pub(super) fn guarded<T>(format: Format, run: impl FnOnce() -> Result<T>) -> Result<T> {
    let was_guarded = IS_GUARDED.replace(true);
    // Unfinished work is dropped with the reader or writer: nothing is read after an error.
    let done = catch_unwind(AssertUnwindSafe(run));
    IS_GUARDED.set(was_guarded);
    done.unwrap_or_else(|panic| {
        let why = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(why), _) => (*why).to_owned(),
            (None, Some(why)) => why.clone(),
            (None, None) => "no reason given".to_owned(),
        };
        let why = one_line(why);
        Err(Error::new(
            Code::Damaged,
            format!("{format}: damaged, or not supported by its reader, which panicked: {why}"),
        ))
    })
}
