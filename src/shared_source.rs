//! [`Fetch`]: bytes of a source that several threads read at once.

use bloscpack_error::Result;
use bloscpack_error::checked::{in_memory, len_of, to_u64};
use bloscpack_storage::{SharedSource, SourceReader};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// A range of a source that has not been read yet.
#[derive(Clone)]
pub(super) struct Fetch {
    pub source: SharedSource,
    pub bytes: Range<u64>,
}

impl Fetch {
    /// Length of the range.
    pub(super) fn len(&self) -> Result<usize> {
        in_memory(len_of(&self.bytes))
    }

    /// Reads bytes into the front of `room`, as many as the source returns at once. The first `done` bytes of the range were
    /// read before.
    pub(super) fn read(&self, done: usize, room: &mut [u8]) -> io::Result<usize> {
        // Saturates: every position past the end of the source is the end.
        let at = self.bytes.start.saturating_add(to_u64(done));
        loop {
            match self.source.read_at(at, room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) if !room.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
                // A wrong source may return more than `room` has place for.
                result => return result.map(|len| len.min(room.len())),
            }
        }
    }
}

/// A reader of these bytes of a source, in order.
pub(super) fn in_order(
    source: &SharedSource,
    bytes: Range<u64>,
) -> io::Result<impl io::Read + use<>> {
    use io::{Read as _, Seek as _};
    let mut reader = SourceReader::new(Arc::clone(source));
    reader.seek(io::SeekFrom::Start(bytes.start))?;
    Ok(reader.take(len_of(&bytes)))
}
