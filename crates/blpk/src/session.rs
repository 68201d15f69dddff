//! The global options, ready for use.

use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

#[cfg(feature = "remote")]
use bloscpack_remote::{Remote, RemoteOptions};
#[cfg(feature = "remote")]
use std::sync::OnceLock;

use bloscpack::{Limits, Options, storage::parallel::processors};

use crate::args::{Global, MAX_THREADS, When};
#[cfg(feature = "remote")]
use crate::failure::{About as _, Failure};
use crate::message;
#[cfg(feature = "remote")]
use crate::status::Status;
use crate::text::count;
use bloscpack::wire::internal::to_u64;

/// Bytes of cached chunks for each dataset, and of changed chunks for each frame.
const CACHE: usize = 64 << 20;

/// The longest time that a change waits for readers of a file or dataset.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(600);

/// The settings of a run, for all subcommands.
#[derive(Debug)]
pub struct Session {
    /// Overwrite files, and write binary data to a terminal.
    pub force: bool,
    /// Threads that compress or decompress.
    pub threads: usize,
    /// Limits on the input.
    pub limits: Limits,
    /// Whether to show a progress bar.
    pub progress: When,
    /// Print neither warnings nor a progress bar.
    pub quiet: bool,
    verbose: bool,
    debug: bool,
    begun: Instant,
    /// The opener of URLs, made from `remote_options` when it is first needed.
    #[cfg(feature = "remote")]
    remote: OnceLock<Remote>,
    #[cfg(feature = "remote")]
    remote_options: RemoteOptions,
}

impl Session {
    /// The settings from the options. The system sets missing ones.
    pub fn new(global: &Global) -> Self {
        let mut limits = Limits::default();
        for limit in &global.limits {
            limit.apply(&mut limits);
        }
        let threads = global.nthreads.unwrap_or_else(processors).min(MAX_THREADS);
        let session = Self {
            force: global.force,
            threads,
            limits,
            progress: global.progress,
            quiet: global.quiet,
            verbose: global.verbose || global.debug,
            debug: global.debug,
            begun: Instant::now(),
            #[cfg(feature = "remote")]
            remote: OnceLock::new(),
            #[cfg(feature = "remote")]
            remote_options: global
                .store
                .iter()
                .fold(RemoteOptions::new(), |options, (key, value)| {
                    options.set(key, value)
                }),
        };
        session.debug(format_args!("using {}", count(to_u64(threads), "thread")));
        session
    }

    /// The opener of URLs.
    #[cfg(feature = "remote")]
    pub fn remote(&self) -> Result<&Remote, Failure> {
        if self.remote.get().is_none() {
            let remote = Remote::new(self.remote_options.clone());
            let _ = self.remote.set(remote.about("URLs")?);
        }
        let remote = self.remote.get();
        remote.ok_or_else(|| Failure::new(Status::Failed, "URLs cannot be read"))
    }

    /// The options for reading files, on one thread.
    pub fn options(&self) -> Options {
        Options::new().limits(self.limits)
    }

    /// The options for reading and writing datasets and frames, on all threads.
    pub fn array_options(&self) -> Options {
        self.options().threads(self.threads).cache(CACHE)
    }

    /// Limits on written files: the default limits of readers, which `--limit` can raise but not lower.
    pub fn write_limits(&self) -> Limits {
        self.limits.max(Limits::default())
    }

    /// Prints a note if `--verbose` is given.
    pub fn verbose(&self, text: impl Display) {
        if self.verbose {
            message::note(text);
        }
    }

    /// Prints a note unless `--quiet` is given.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            message::note(text);
        }
    }

    /// Reports finished work and its duration if `--verbose` is given.
    pub fn done(&self, text: impl Display) {
        self.verbose(format_args!("{text} in {:.2?}", self.begun.elapsed()));
    }

    /// Prints advice on a terminal, or if `--verbose` is given, but not into the logs of scripts.
    pub fn advice(&self, text: impl Display) {
        if self.verbose || (!self.quiet && io::stderr().is_terminal()) {
            message::note(text);
        }
    }

    /// Prints details if `--debug` is given.
    pub fn debug(&self, text: impl Display) {
        if self.debug {
            message::note(text);
        }
    }

    /// Prints a warning unless `--quiet` is given.
    pub fn warning(&self, text: impl Display) {
        if !self.quiet {
            message::warning(text);
        }
    }

    /// Prints warnings about a file.
    pub fn warnings(&self, name: &str, warnings: &[impl Display]) {
        for warning in warnings {
            self.warning(format_args!("{name}: {warning}"));
        }
    }
}
