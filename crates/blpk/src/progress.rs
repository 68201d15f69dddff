//! The progress bar on standard error.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{
    BinaryBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
    TermLike,
};

use bloscpack_open::Options;

use crate::args::When;
use crate::interrupt;
use crate::session::Session;

/// No bar is shown before this time.
const DELAY: Duration = Duration::from_millis(700);

const WITH_TOTAL: &str = "{bar:30} {percent:>3}% {binary_bytes}/{binary_total_bytes} {rate} {left}";
const WITHOUT_TOTAL: &str = "{spinner} {binary_bytes} {rate}";

/// The number of bytes read so far, shown as a bar if the work takes long. Clones share the count.
#[derive(Clone, Debug)]
pub struct Progress(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Unset while it is unknown.
    total: OnceLock<u64>,
    /// `None` if no bar is wanted.
    begun: Option<Instant>,
    delay: Duration,
    done: AtomicU64,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    /// Begins to count, for a bar of `total` bytes if the options and the terminal allow one.
    pub fn new(session: &Session, total: Option<u64>) -> Self {
        let (wanted, delay) = match session.progress {
            When::Always => (true, Duration::ZERO),
            When::Auto => (!session.quiet && io::stderr().is_terminal(), DELAY),
            When::Never => (false, DELAY),
        };
        let progress = Self(Arc::new(Inner {
            total: OnceLock::new(),
            begun: wanted.then(Instant::now),
            delay,
            done: AtomicU64::new(0),
            bar: OnceLock::new(),
        }));
        progress.set_total(total);
        progress
    }

    /// Sets the number of bytes to read, unless it is already set.
    pub fn set_total(&self, total: Option<u64>) {
        // A file of unknown length reports the length 0.
        if let Some(total) = total.filter(|&total| total > 0) {
            self.0.total.get_or_init(|| total);
        }
    }

    /// Counts `bytes` more.
    pub fn advance(&self, bytes: u64) {
        let Some(begun) = self.0.begun else { return };
        self.0.done.fetch_add(bytes, Ordering::Relaxed);
        if self.0.bar.get().is_some() || begun.elapsed() >= self.0.delay {
            let bar = self.0.bar.get_or_init(|| self.0.draw());
            bar.set_position(self.0.done.load(Ordering::Relaxed));
        }
    }

    /// Begins again at 0.
    pub fn restart(&self) {
        self.0.done.store(0, Ordering::Relaxed);
    }

    /// Removes the bar. Call this before printing.
    pub fn finish(&self) {
        self.0.clear();
    }
}

/// The options for opening inputs. Reads count as progress, and fail after a request to stop.
pub fn options(session: &Session) -> (Options, Progress) {
    let progress = Progress::new(session, None);
    let shown = progress.clone();
    let options = session.array_options().watch(move |bytes, total| {
        interrupt::check()?;
        shown.set_total(total);
        shown.advance(bytes);
        Ok(())
    });
    (options, progress)
}

impl Inner {
    fn clear(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }

    fn draw(&self) -> ProgressBar {
        let target = if io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::term_like_with_hz(Box::new(OneLine), 2)
        };
        let total = self.total.get().copied();
        let template = if total.is_some() {
            WITH_TOTAL
        } else {
            WITHOUT_TOTAL
        };
        let elapsed = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        let bar = ProgressBar::with_draw_target(total, target).with_elapsed(elapsed);
        if let Ok(style) = ProgressStyle::with_template(template) {
            // Our own estimates count from the beginning of the work, indicatif's from the first drawing.
            let style = style.with_key("rate", rate).with_key("left", left);
            bar.set_style(style.progress_chars("=> "));
        }
        bar
    }
}

/// The bytes per second since the work began.
fn rate(state: &ProgressState, to: &mut dyn fmt::Write) {
    let milliseconds = state.elapsed().as_millis().max(1);
    let rate = u128::from(state.pos()) * 1000 / milliseconds;
    let _ = write!(
        to,
        "{}/s",
        BinaryBytes(u64::try_from(rate).unwrap_or(u64::MAX))
    );
}

/// The time left at this rate.
fn left(state: &ProgressState, to: &mut dyn fmt::Write) {
    let rest = state.len().unwrap_or(0).saturating_sub(state.pos());
    let seconds =
        u128::from(rest) * state.elapsed().as_millis() / (u128::from(state.pos().max(1)) * 1000);
    let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
    let _ = write!(to, "{:#}", HumanDuration(Duration::from_secs(seconds)));
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The bar of `--progress always` on a standard error that is not a terminal: one line, overwritten by carriage returns.
#[derive(Debug)]
struct OneLine;

impl TermLike for OneLine {
    fn width(&self) -> u16 {
        80
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        writeln!(io::stderr(), "{text}")
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        write!(io::stderr(), "{text}")
    }

    fn clear_line(&self) -> io::Result<()> {
        write!(io::stderr(), "\r")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}
