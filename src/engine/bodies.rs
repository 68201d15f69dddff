//! Chunks whose bytes the workers read themselves.

use super::Engine;
use super::settings::Settings;
use crate::shared_source::{Fetch, Shared};
use bloscpack_error::{IoSide, Result};
use bloscpack_storage::{Cursor, ReadAt};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

/// Shorter bodies are not worth a read of their own.
const WORTH_FETCHING: u64 = 32 << 10;
/// How much is read at once behind a body that was passed over: a digest and the header of the next chunk, mostly.
const AHEAD: usize = 512;

/// A source that is read at positions, behind the reader that gives its bytes in order.
pub(super) struct Bodies<R> {
    source: Shared,
    /// The first byte that the reader gave, and where the source ended when the reading began.
    extent: Range<u64>,
    /// Moves the reader forward.
    pass: fn(&mut R, u64) -> io::Result<()>,
    /// How much to read at once.
    pub ahead: usize,
}

impl<S: ReadAt + Send + Sync + 'static> Engine<Cursor<Arc<S>>> {
    /// An engine whose workers read the source from the byte `from` on.
    pub(crate) fn at(source: Arc<S>, from: u64, settings: Settings) -> Result<Self> {
        let extent = from..source.size().reading()?.max(from);
        let mut cursor = Cursor::new(Arc::clone(&source));
        cursor.seek(SeekFrom::Start(from)).reading()?;
        let mut engine = Self::new(cursor, settings);
        let pass = |cursor: &mut Cursor<Arc<S>>, count: u64| {
            let here = cursor.stream_position()?;
            let to = SeekFrom::Start(here.saturating_add(count));
            cursor.seek(to).map(|_| ())
        };
        engine.bodies = Some(Bodies {
            source,
            extent,
            pass,
            ahead: usize::MAX,
        });
        Ok(engine)
    }
}

impl<R: Read> Engine<R> {
    /// Passes over the body of a chunk that has just begun, if its worker is to read it or nobody wants it.
    pub(super) fn pass_body(&mut self) -> Result<()> {
        let left = self.parser.body_left();
        let Some(bodies) = &mut self.bodies else {
            return Ok(());
        };
        if left == 0 {
            return Ok(());
        }
        let unused = self.source.unused();
        let there = u64::try_from(unused.len()).unwrap_or(u64::MAX);
        if left < WORTH_FETCHING || there >= left {
            return Ok(());
        }
        bodies.ahead = AHEAD;
        // Where the rest of the body begins, of which all that was read is used here.
        let begin = bodies.extent.start.saturating_add(self.source.total());
        let rest = left.saturating_sub(there);
        let here = self.gathering.as_mut();
        if let Some(gathering) = here.filter(|gathering| gathering.fetch.is_none()) {
            gathering.chunk.put(unused);
            gathering.fetch = Some(Fetch {
                source: Arc::clone(&bodies.source),
                bytes: begin..begin.saturating_add(rest),
            });
        }
        self.parser.skip(there);
        self.source.keep(0);
        // What lies behind the end was not passed over but is missing.
        let far = rest.min(bodies.extent.end.saturating_sub(begin));
        (bodies.pass)(self.source.get_mut(), far).reading()?;
        self.source.passed(self.parser.skip(far));
        Ok(())
    }
}
