//! Ctrl-C and termination: what was begun is taken away, and the status is 130.
//!
//! Outputs are temporary files, which the handler removes by itself. A file that is changed in its
//! place is another matter: only who changes it knows when it may be let go of. Such work is
//! [`begin`](Orderly::begin)-ed here, and asked to end; a second signal ends it at once, which its
//! journal allows.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::status::Status;

/// Temporary files and directories that exist now.
///
/// Whoever creates, renames or removes one holds the lock meanwhile. So the handler never sees a
/// file that is not listed, and never removes what has just got its final name.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether there is work that ends in order.
static ORDERLY: AtomicBool = AtomicBool::new(false);
/// Whether it was asked to end.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Wakes who waits for input.
static ALARM: Mutex<Option<Alarm>> = Mutex::new(None);

/// What wakes a thread that waits for input.
pub type Alarm = Box<dyn FnMut() + Send>;

/// The list of temporary files, locked.
pub fn pending() -> MutexGuard<'static, Vec<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work that ends in order when it is asked to, as long as this lives.
#[derive(Debug)]
pub struct Orderly(());

impl Orderly {
    /// Begins such work.
    pub fn begin() -> Self {
        ORDERLY.store(true, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Orderly {
    fn drop(&mut self) {
        ORDERLY.store(false, Ordering::SeqCst);
    }
}

/// Whether the work was asked to end.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// An error if the work was asked to end.
pub fn check() -> io::Result<()> {
    if is_asked() {
        return Err(io::Error::other(Asked));
    }
    Ok(())
}

/// Whether an error is that of [`check`].
pub fn is_cause_of(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Asked>())
}

/// What [`check`] fails with.
#[derive(Debug)]
struct Asked;

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Asked {}

/// What is called when the work is asked to end.
pub fn set_alarm(alarm: Option<Alarm>) {
    *ALARM.lock().unwrap_or_else(PoisonError::into_inner) = alarm;
}

/// Handles SIGINT, SIGTERM and SIGHUP from now on.
///
/// Under `nohup` nothing is installed: the three signals can only be taken together, and a hangup
/// that the user asked to ignore must not end the work.
pub fn install() {
    if !hangup_is_ignored() {
        // A failure leaves the system's own handling, which at worst leaves a temporary file.
        let _ = ctrlc::set_handler(stop);
    }
}

fn stop() {
    if ORDERLY.load(Ordering::SeqCst) && !ASKED.swap(true, Ordering::SeqCst) {
        let mut alarm = ALARM.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(alarm) = alarm.as_mut() {
            alarm();
        }
        return;
    }
    let pending = pending();
    for path in pending.iter() {
        // A new dataset is a directory.
        if fs::remove_file(path).is_err() {
            let _ = fs::remove_dir_all(path);
        }
    }
    // Still locked: nothing is renamed between the removal and the end.
    process::exit(Status::Interrupted.code().into());
}

/// Whether SIGHUP, signal 1, was ignored by whoever started this process. Only Linux tells.
fn hangup_is_ignored() -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else {
        return false;
    };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 != 0)
}
