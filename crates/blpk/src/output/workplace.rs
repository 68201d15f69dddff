//! A directory in which an output is made by something that wants a path.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::{Builder, TempDir};

use super::whole::Whole;
use super::{Growing, Output, Sink};
use crate::interrupt::{self, Orderly};

/// A private directory, beside where the output will be. While this lives, Ctrl-C lets the work end in order.
#[derive(Debug)]
pub struct Workplace {
    dir: TempDir,
    _orderly: Orderly,
}

impl Workplace {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

impl Output {
    /// A directory for what [`adopt`](Self::adopt) takes over.
    pub fn workplace(&self) -> io::Result<Workplace> {
        let orderly = Orderly::begin();
        let mut builder = Builder::new();
        builder.prefix(".blpk-").suffix(".tmp");
        let mut pending = interrupt::pending();
        let dir = match &self.sink {
            Sink::Whole(whole) => builder.tempdir_in(whole.folder()),
            Sink::Stream(_) => builder.tempdir(),
        }?;
        pending.push(dir.path().to_owned());
        Ok(Workplace {
            dir,
            _orderly: orderly,
        })
    }

    /// Takes over a file that was made in a [`Workplace`], instead of anything that is written.
    pub fn adopt(&mut self, made: &Path) -> io::Result<()> {
        if let Sink::Whole(whole) = &mut self.sink {
            return whole.adopt(made);
        }
        io::copy(&mut File::open(made)?, self).map(|_| ())
    }
}

impl Whole {
    /// Takes over another file of the same folder or one below, with the permissions that it would have had.
    fn adopt(&mut self, made: &Path) -> io::Result<()> {
        let file = File::options().read(true).write(true).open(made)?;
        file.set_permissions(self.file.get_ref().metadata()?.permissions())?;
        let pending = interrupt::pending();
        fs::rename(made, self.temporary())?;
        drop(pending);
        self.file = Growing::new(file);
        Ok(())
    }
}
