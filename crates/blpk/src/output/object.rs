//! An object at a URL, which appears when it is complete.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use bloscpack::storage::SourceReader;
use bloscpack_remote::{RemoteWriter, WriteOptions};

use super::{Replaces, SyncingFile, exists};
use crate::failure::{About as _, Failure};
use crate::input::{LOOK, look_at};
use crate::interrupt::Deferred;
use crate::progress::Progress;
use crate::remote;
use crate::session::Session;
use crate::text::quoted;

/// An object that is being made.
#[derive(Debug)]
pub struct NewObject {
    url: PathBuf,
    writer: RemoteWriter,
    /// A temporary file for data whose header is filled in at the end. `None` for data that is sent directly.
    spool: Option<SyncingFile>,
    progress: Progress,
}

impl NewObject {
    /// Begins an object. Also returns whether it replaces an existing object, which needs `-f`.
    pub fn begin(
        path: &Path,
        replaces: Replaces,
        session: &Session,
    ) -> Result<(Self, bool), Failure> {
        let (url, name) = (path.to_string_lossy(), quoted(path));
        let remote = session.remote()?;
        let options = WriteOptions::new().create_new(!session.force);
        let writer = remote.create(&url, &options).about(&name)?;
        let is_there = remote.exists(&url).about(&name)?;
        if is_there {
            let object = remote.object(&url).about(&name)?;
            let mut first = Vec::new();
            let read = SourceReader::new(&object)
                .take(LOOK)
                .read_to_end(&mut first);
            read.about(&name)?;
            let found = look_at(path, &first);
            if let Some(refusal) = replaces.refusal_of(&found, &name, session) {
                return Err(refusal);
            }
            if !session.force {
                return Err(exists(&name));
            }
        }
        let spool = match replaces {
            // Text and plain bytes are written in order.
            Replaces::Plain | Replaces::Any => None,
            Replaces::Compressed => {
                let file = tempfile::tempfile().about(&name)?;
                Some(SyncingFile::temporary(file))
            }
        };
        let object = Self {
            url: path.to_owned(),
            writer,
            spool,
            progress: Progress::new(session, None),
        };
        Ok((object, is_there))
    }

    pub fn url(&self) -> &Path {
        &self.url
    }

    /// The temporary file, if any.
    pub fn seekable(&self) -> Option<&SyncingFile> {
        self.spool.as_ref()
    }

    /// Writes some of the bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.spool {
            Some(file) => (&mut &*file).write(bytes),
            None => self.writer.write(bytes),
        }
    }

    /// Takes over a file as the content of the object.
    pub fn adopt(&mut self, made: &Path) -> io::Result<()> {
        let mut file = File::open(made)?;
        match &mut self.spool {
            Some(spool) => *spool = SyncingFile::temporary(file),
            None => drop(io::copy(&mut file, &mut self.writer)?),
        }
        Ok(())
    }

    /// Makes the object appear, and returns its length.
    pub fn commit(self) -> io::Result<u64> {
        let mut writer = self.writer;
        let Some(spool) = self.spool else {
            return writer.finish();
        };
        // A stopped upload must be cancelled at the server.
        let _deferred = Deferred::begin();
        let mut file = spool.get_ref();
        let length = file.metadata()?.len();
        file.rewind()?;
        writer.expect(length);
        self.progress.set_total(Some(length));
        let sent = remote::copy(&mut file, &mut writer, &self.progress);
        self.progress.finish();
        if sent? == length {
            writer.finish()
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}
