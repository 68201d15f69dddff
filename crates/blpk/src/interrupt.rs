//! Ctrl-C and termination: unfinished outputs are removed, and the process ends by the signal, so that the shell that
//! waits for it ends its loop, too.
//!
//! Outputs are temporary files, which the handler removes by itself. A file that is changed in place is different: only
//! the code that changes it knows when it can be let go. Such work holds a [`Deferred`], and the handler only asks it to
//! stop. A second signal ends the process at once, which the journal of the file allows.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// Ctrl-C, by its number.
const SIGINT: i32 = 2;

/// Temporary files and directories that exist now.
///
/// Code that creates, renames or removes one holds the lock meanwhile. So the handler never sees a file that is not
/// listed, and never removes one that has just got its final name.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether a signal has arrived, which the thread that handles signals may not know yet.
static ARRIVED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// Whether there is work that has to stop by itself.
static DEFERRED: AtomicBool = AtomicBool::new(false);
/// Whether it was asked to stop.
static REQUESTED: AtomicBool = AtomicBool::new(false);
/// The signal that was the first.
static SIGNAL: AtomicI32 = AtomicI32::new(SIGINT);
/// Wakes the thread that waits for input.
static WAKER: Mutex<Option<Waker>> = Mutex::new(None);

/// Wakes a thread that waits for input.
pub type Waker = Box<dyn FnMut() + Send>;

/// The list of temporary files, locked.
pub fn pending() -> MutexGuard<'static, Vec<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The list, locked to give an output its name.
///
/// Ctrl-C reaches the writer of a pipe, too, whose end completes the output. So a signal that has arrived by then is handled first,
/// which ends the process.
pub fn completing() -> MutexGuard<'static, Vec<PathBuf>> {
    let is_set = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
    while is_set(&ARRIVED) && !is_set(&DEFERRED) && !is_set(&REQUESTED) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    pending()
}

/// While this lives, a signal asks the work to stop and does not end the process.
#[derive(Debug)]
pub struct Deferred(());

impl Deferred {
    /// Begins such work.
    pub fn begin() -> Self {
        DEFERRED.store(true, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        DEFERRED.store(false, Ordering::SeqCst);
    }
}

/// Whether the work was asked to stop.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// Returns an error if the work was asked to stop.
pub fn check() -> io::Result<()> {
    if is_requested() {
        Err(io::Error::other(Interrupted))
    } else {
        Ok(())
    }
}

/// Whether an error is that of [`check`].
pub fn is_cause_of(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.is::<Interrupted>())
}

/// The error of [`check`].
#[derive(Debug)]
struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Sets what is called when the work is asked to stop.
pub fn set_waker(waker: Waker) {
    *WAKER.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
}

/// Handles SIGINT, SIGTERM and SIGHUP from now on, except those that were ignored when the process started: `nohup` ignores SIGHUP,
/// and a shell SIGINT for what a script starts in the background.
#[cfg(unix)]
pub fn install() {
    use signal_hook::consts::{SIGHUP, SIGTERM};
    let ignored = ignored_signals();
    let wanted = [SIGHUP, SIGINT, SIGTERM];
    let wanted = wanted
        .into_iter()
        .filter(|signal| ignored & (1 << (signal - 1)) == 0);
    // Without our handler, the system's own at worst leaves a temporary file.
    let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted.clone()) else {
        return;
    };
    let handle = move || signals.forever().for_each(stop);
    let thread = std::thread::Builder::new().name("signals".into());
    if thread.spawn(handle).is_ok() {
        for signal in wanted {
            let _ = signal_hook::flag::register(signal, Arc::clone(&ARRIVED));
        }
    }
}

/// Handles Ctrl-C from now on.
#[cfg(not(unix))]
pub fn install() {
    // Without our handler, the system's own at worst leaves a temporary file.
    let _ = ctrlc::set_handler(|| stop(SIGINT));
}

fn stop(signal: i32) {
    SIGNAL.store(signal, Ordering::SeqCst);
    if DEFERRED.load(Ordering::SeqCst) && !REQUESTED.swap(true, Ordering::SeqCst) {
        let mut waker = WAKER.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wake) = waker.as_mut() {
            wake();
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
    // The list is still locked, so nothing is renamed between the removal and the end.
    end();
}

/// Ends the process by the signal that it got, or by an exit status that says the same.
pub fn end() -> ! {
    let signal = SIGNAL.load(Ordering::SeqCst);
    #[cfg(unix)]
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    process::exit(128 + signal)
}

/// The signals that the process ignores, signal 1 in the lowest bit. Only Linux reports them.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
