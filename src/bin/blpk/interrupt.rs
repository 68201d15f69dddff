//! Ctrl-C and termination: what was begun is taken away, and the status is 130.

use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::status::INTERRUPTED;

/// Temporary files that exist now.
///
/// Whoever creates, renames or removes one holds the lock meanwhile. So the handler never sees a
/// file that is not listed, and never removes what has just got its final name.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The list of temporary files, locked.
pub fn pending() -> MutexGuard<'static, Vec<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
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
    let pending = pending();
    for path in pending.iter() {
        let _ = fs::remove_file(path);
    }
    // Still locked: nothing is renamed between the removal and the end.
    process::exit(INTERRUPTED);
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
