//! Where the bytes of a frame lie: in a file, in a directory, or anywhere that can only be read.

mod bytes;
mod file;
mod folder;

use super::outline::Outline;
use blosc1::Fault;
use bloscpack_error::Result;
use bloscpack_storage::{Object, ReadAt};
use std::io;

pub(super) use bytes::BytesHome;
pub(super) use file::FileHome;
pub(super) use folder::{FolderHome, OUTLINE};

/// Refuses chunks that come to more bytes than there are, as those do that lie in one another.
pub(super) fn check_apart(used: u64, room: u64) -> Result<()> {
    match used <= room {
        true => Ok(()),
        false => {
            let what = format!("chunks of {used} bytes in {room}: they lie in one another");
            Err(crate::error::frame(Fault::Damaged, what))
        }
    }
}

/// Where a frame's chunks are read, and new ones kept until all of them become part of it.
pub(super) trait Home: Send + Sync {
    /// The bytes of a chunk.
    fn chunk(&self, at: u64) -> Result<Stored<'_>>;

    /// Keeps a new chunk, and tells where. It is no part of the frame before the next commit.
    fn put(&mut self, chunk: &[u8]) -> Result<u64>;

    /// A chunk of so many bytes is no part of the frame any more, from the next commit on.
    fn discard(&mut self, at: u64, len: u64) -> Result<()>;

    /// Makes this the frame, as a whole or not at all. Lengths in the header and places of chunks are put right.
    fn commit(&mut self, outline: &mut Outline) -> Result<()>;

    /// Whether frames here may be changed at all.
    fn is_writable(&self) -> bool;

    /// What lies beside the frame's own files, or is no part of it: names or bytes that nobody reads.
    fn strangers(&self, outline: &Outline) -> Result<Vec<String>>;
}

/// The bytes of one chunk, and of what lies behind it.
pub(super) struct Stored<'a> {
    source: Source<'a>,
    start: u64,
    /// Bytes that the chunk can have at most.
    pub room: u64,
}

enum Source<'a> {
    Shared(&'a dyn Object),
    Own(Box<dyn Object>),
}

impl<'a> Stored<'a> {
    /// From `start` on in a source that holds other chunks, too; up to `end`.
    pub(super) fn within(source: &'a dyn Object, start: u64, end: u64) -> Self {
        let room = end.saturating_sub(start);
        Self {
            source: Source::Shared(source),
            start,
            room,
        }
    }

    /// Whether it has a file of its own, which ends with it.
    pub fn is_alone(&self) -> bool {
        matches!(self.source, Source::Own(_))
    }

    /// All of a source.
    pub(super) fn whole(source: Box<dyn Object>) -> io::Result<Self> {
        let room = source.size()?;
        Ok(Self {
            source: Source::Own(source),
            start: 0,
            room,
        })
    }

    /// Where it begins in its file.
    pub(super) fn byte(&self) -> u64 {
        self.start
    }

    /// Fills `buf` with the chunk's bytes from `at` on.
    pub(super) fn read(&self, at: u64, buf: &mut [u8]) -> io::Result<()> {
        let source = match &self.source {
            Source::Shared(source) => *source,
            Source::Own(source) => &**source,
        };
        source.read_exact_at(self.start.saturating_add(at), buf)
    }
}
