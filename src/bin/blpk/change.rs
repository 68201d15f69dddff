//! A file that is changed in its place: what `append`, `patch` and `reindex` share.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bloscpack::{Category, Editor, EditorBuilder, Error, ErrorKind};
use same_file::Handle;

use crate::input::{self, Awaited, Input, is_standard_input};
use crate::interrupt::{self, Orderly};
use crate::message::{self, Failure, quoted};
use crate::session::Session;

/// How long a change waits for those who are reading the file.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long it waits before it says so.
const SILENCE: Duration = Duration::from_secs(1);

/// The file that is to be changed. While this lives, Ctrl-C lets the change end in order.
#[derive(Debug)]
pub struct Target<'a> {
    path: &'a Path,
    _orderly: Orderly,
}

impl<'a> Target<'a> {
    /// The file at `path`, if it is one that can be changed, and none of what is read.
    pub fn find(path: &'a Path, input: Option<&Input>) -> Result<Self, Failure> {
        if is_standard_input(path) {
            return Err(Failure::usage("a file is changed in its place: name it"));
        }
        let name = quoted(path);
        let metadata = fs::metadata(path).map_err(|error| missing(path, &error))?;
        if metadata.is_dir() {
            return Err(Failure::usage(format!("{name} is a directory")));
        }
        if !metadata.is_file() {
            let title = format!("{name} is no regular file, and cannot be changed in its place");
            return Err(Failure::usage(title));
        }
        if let Some(input) = input {
            let file = Handle::from_path(path).ok();
            let source = input.file().try_clone().and_then(Handle::from_file).ok();
            if file.is_some() && file == source {
                let title = format!("input {} and {name} are the same file", input.name());
                return Err(
                    Failure::usage(title).hint("to repeat its content, decompress it first")
                );
            }
        }
        Ok(Self {
            path,
            _orderly: Orderly::begin(),
        })
    }

    /// How messages call it.
    pub fn name(&self) -> String {
        quoted(self.path)
    }

    /// Opens it, and completes a change that was interrupted.
    pub fn edit(&self, builder: EditorBuilder, session: &Session) -> Result<Editor, Failure> {
        let (name, told) = (self.name(), AtomicBool::new(session.quiet));
        let builder = builder
            .threads(session.threads)
            .limits(session.limits)
            .patience(PATIENCE)
            .while_waiting(move |waited| {
                if waited >= SILENCE && !told.swap(true, Ordering::Relaxed) {
                    message::note(format_args!("waiting for others to finish reading {name}"));
                }
                !interrupt::is_asked()
            });
        builder
            .open(self.path)
            .map_err(|error| self.blame(&error, None))
    }

    /// Finds out whose fault it is, and tells.
    pub fn blame(&self, error: &Error, source: Option<(&Input, &Awaited<'_>)>) -> Failure {
        let untouched = format!("{} is left as it was", self.name());
        let failed = error.category() == Category::Failed;
        if failed && interrupt::is_asked() {
            return Failure::interrupted().detail(untouched);
        }
        match source.filter(|(_, source)| source.has_failed()) {
            Some((input, _)) => Failure::library(input.name(), error).detail(untouched),
            None if is_denied(error) => input::failure(self.path, error).hint(
                "the file and its folder must be writable: a journal lies beside it meanwhile",
            ),
            // Whether it arrived, nobody knows: the journal does, when the file is next opened.
            None if failed && !input::is_busy(error) => input::failure(self.path, error),
            None => input::failure(self.path, error).detail(untouched),
        }
    }

    /// Says that a signal came too late.
    pub fn confirm(&self) {
        if interrupt::is_asked() {
            message::note(format_args!(
                "{}: the change was being made already, and is complete",
                self.name()
            ));
        }
    }
}

fn is_denied(error: &Error) -> bool {
    let denied = [
        io::ErrorKind::PermissionDenied,
        io::ErrorKind::ReadOnlyFilesystem,
    ];
    matches!(error.kind(), ErrorKind::Io(error) if denied.contains(&error.kind()))
}

/// Why there is no such file.
fn missing(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::io(quoted(path), error);
    match error.kind() {
        io::ErrorKind::NotFound => failure.hint("'blpk compress' makes a new file"),
        _ => failure,
    }
}
