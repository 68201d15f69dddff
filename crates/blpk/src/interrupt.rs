//! Ctrl-C and termination: unfinished outputs are removed, and the process dies of the signal. A shell loop that waits for it
//! then stops as well.
//!
//! Outputs are temporary files, which the handler removes by itself. For a file that is changed in place, only the code that
//! changes it knows when to stop. Such work holds a [`Deferred`], and the handler only asks it to stop. A second signal ends the
//! process at once; the journal keeps the file consistent.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The number of the signal of Ctrl-C.
const SIGINT: i32 = 2;

/// The existing temporary files and directories.
///
/// Code that creates, renames or removes one holds this lock. The list is therefore complete when the handler reads it, and the
/// handler never removes a file that has just got its final name.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether a signal has arrived, even before the thread that handles signals has run.
static ARRIVED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// Whether there is work that must stop by itself.
static DEFERRED: AtomicBool = AtomicBool::new(false);
/// Whether this work was asked to stop.
static REQUESTED: AtomicBool = AtomicBool::new(false);
/// The signal to end the process with.
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
/// Ctrl-C also ends the process that writes into our pipe, and the end of the pipe completes the output. This function therefore
/// waits until a signal that has already arrived is handled, which ends the process.
pub fn completing() -> MutexGuard<'static, Vec<PathBuf>> {
    let is_set = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
    while is_set(&ARRIVED) && !is_set(&DEFERRED) && !is_set(&REQUESTED) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    pending()
}

/// While this value exists, a signal asks the work to stop and does not end the process.
#[derive(Debug)]
pub struct Deferred(());

impl Deferred {
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

/// Whether an error comes from [`check`].
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

/// Sets the function to call when the work is asked to stop.
pub fn set_waker(waker: Waker) {
    *WAKER.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
}

/// Starts to handle SIGINT, SIGTERM and SIGHUP, except signals that were ignored when the process started: `nohup` ignores SIGHUP,
/// and a shell ignores SIGINT for background commands of a script.
#[cfg(unix)]
pub fn install() {
    use signal_hook::consts::{SIGHUP, SIGTERM};
    let ignored = ignored_signals();
    let wanted = [SIGHUP, SIGINT, SIGTERM];
    let wanted = wanted
        .into_iter()
        .filter(|signal| ignored & (1 << (signal - 1)) == 0);
    // Without a handler, the process ends anyway, and at worst leaves a temporary file.
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

/// Starts to handle Ctrl-C.
#[cfg(not(unix))]
pub fn install() {
    // Without a handler, the process ends anyway, and at worst leaves a temporary file.
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

/// Ends the process with the received signal, or with the exit status 128 plus its number.
pub fn end() -> ! {
    let signal = SIGNAL.load(Ordering::SeqCst);
    #[cfg(unix)]
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    process::exit(128 + signal)
}

/// The ignored signals as a bit mask, with signal 1 in the lowest bit. Only Linux reports them.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
