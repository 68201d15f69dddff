//! The global options, ready for use.

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::thread;

use bloscpack::Limits;

use crate::args::{Global, MAX_THREADS, When};
use crate::message;

/// What holds for the whole run, whatever the subcommand.
#[derive(Debug)]
pub struct Session {
    /// Overwrite, and write binary data to a terminal.
    pub force: bool,
    /// Threads to compress or decompress with.
    pub threads: usize,
    /// What a file may ask for.
    pub limits: Limits,
    /// Whether to show a bar.
    pub progress: When,
    /// Neither warnings nor a bar.
    pub quiet: bool,
    verbose: bool,
    debug: bool,
}

impl Session {
    /// Takes the options over and asks the system for what they leave open.
    pub fn new(global: &Global) -> Self {
        let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let mut limits = Limits::default();
        for limit in &global.limits {
            limit.apply(&mut limits);
        }
        let session = Self {
            force: global.force,
            threads: global.nthreads.unwrap_or_else(cores).min(MAX_THREADS),
            limits,
            progress: global.progress,
            quiet: global.quiet,
            verbose: global.verbose || global.debug,
            debug: global.debug,
        };
        session.debug(format_args!("using {} threads", session.threads));
        session
    }

    /// Tells about the work, if asked to.
    pub fn verbose(&self, text: impl Display) {
        if self.verbose {
            message::note(text);
        }
    }

    /// Tells about details, if asked to.
    pub fn debug(&self, text: impl Display) {
        if self.debug {
            message::note(text);
        }
    }

    /// Warns, unless asked not to.
    pub fn warning(&self, text: impl Display) {
        if !self.quiet {
            message::warning(text);
        }
    }
}
