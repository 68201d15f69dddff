//! [`BytesHome`]: a contiguous frame that is only read.

use super::{Home, Stored};
use crate::meta::Outline;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Object, ReadAt};

/// A contiguous frame in anything that can be read at any position.
pub(crate) struct BytesHome {
    source: Box<dyn Object>,
    chunks_at: u64,
    chunks_end: u64,
}

impl BytesHome {
    pub(crate) fn new(source: Box<dyn Object>, outline: &Outline) -> Self {
        let chunks_at = outline.header_len();
        Self {
            source,
            chunks_at,
            chunks_end: chunks_at.saturating_add(outline.header.section_len),
        }
    }
}

/// For whoever would change a frame that is only read.
fn read_only() -> Error {
    Error::usage("this frame was opened for reading only: open it with `edit` to change it")
}

impl Home for BytesHome {
    fn chunk(&self, at: u64) -> Result<Stored<'_>> {
        let start = self.chunks_at.saturating_add(at);
        Ok(Stored::within(&*self.source, start, self.chunks_end))
    }

    fn put(&mut self, _: &[u8]) -> Result<u64> {
        Err(read_only())
    }

    fn discard(&mut self, _: u64, _: u64) -> Result<()> {
        Err(read_only())
    }

    fn commit(&mut self, _: &mut Outline) -> Result<()> {
        Err(read_only())
    }

    fn is_writable(&self) -> bool {
        false
    }

    fn strangers(&self, outline: &Outline) -> Result<Vec<String>> {
        super::file::behind(self.source.size()?, outline)
    }
}
