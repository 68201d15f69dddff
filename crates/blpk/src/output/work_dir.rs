//! A directory for an output that is made by code that needs a path.

use std::fs::File;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use super::{Output, Sink, temporary};
use crate::interrupt::{self, Deferred};

/// A private directory next to the output. While this lives, Ctrl-C asks the work to stop.
#[derive(Debug)]
pub struct WorkDir {
    dir: TempDir,
    _deferred: Deferred,
}

impl WorkDir {
    /// Its path.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

impl Output {
    /// Makes a directory for a file that [`adopt`](Self::adopt) takes over.
    pub fn work_dir(&self) -> io::Result<WorkDir> {
        let deferred = Deferred::begin();
        let mut pending = interrupt::pending();
        let dir = match &self.sink {
            Sink::Atomic(file) => temporary().tempdir_in(file.folder()),
            Sink::Direct(_) | Sink::Object(_) => temporary().tempdir(),
        }?;
        pending.push(dir.path().to_owned());
        Ok(WorkDir {
            dir,
            _deferred: deferred,
        })
    }

    /// Takes over a file that was made in a [`WorkDir`], in place of what would have been written.
    pub fn adopt(&mut self, made: &Path) -> io::Result<()> {
        match &mut self.sink {
            Sink::Atomic(file) => file.adopt(made),
            Sink::Object(file) => file.adopt(made),
            Sink::Direct(_) => io::copy(&mut File::open(made)?, self).map(|_| ()),
        }
    }
}
