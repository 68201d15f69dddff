//! Bytes of a source that several threads read at once.

use bloscpack_storage::{Cursor, ReadAt};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// A source that the threads of a pipeline share.
pub(super) type Shared = Arc<dyn ReadAt + Send + Sync>;

/// Some bytes of a source, still to be read.
#[derive(Clone)]
pub(super) struct Fetch {
    pub source: Shared,
    pub bytes: Range<u64>,
}

impl Fetch {
    /// How many bytes it is about.
    pub(super) fn len(&self) -> usize {
        let len = self.bytes.end.saturating_sub(self.bytes.start);
        usize::try_from(len).unwrap_or(usize::MAX)
    }

    /// Reads bytes into the front of `room`, as many as the source gives at once; `done` of them were read before.
    pub(super) fn read(&self, done: usize, room: &mut [u8]) -> io::Result<usize> {
        let done = u64::try_from(done).unwrap_or(u64::MAX);
        let at = self.bytes.start.saturating_add(done);
        loop {
            match self.source.read_at(at, room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) if !room.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
                // A source that claims more than there was room for would have the rest wrong.
                result => return result.map(|len| len.min(room.len())),
            }
        }
    }
}

/// A reader of these bytes of a source, in order.
pub(super) fn in_order(source: &Shared, bytes: Range<u64>) -> io::Result<impl io::Read + use<>> {
    use io::{Read as _, Seek as _};
    let mut cursor = Cursor::new(Arc::clone(source));
    cursor.seek(io::SeekFrom::Start(bytes.start))?;
    Ok(cursor.take(bytes.end.saturating_sub(bytes.start)))
}
