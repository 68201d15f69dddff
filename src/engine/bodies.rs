//! Sources that are read at positions. The workers read large chunks, and [`runs`](super::runs) of small ones whose places a table
//! states; other chunks arrive in windows that several threads read ahead.

use super::runs::Ways;
use super::settings::Settings;
use super::windows::Windows;
use super::{Engine, State};
use crate::shared_source::Fetch;
use crate::walk::AHEAD;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::SharedSource;
use bloscpack_storage::{ReadAt, SourceReader};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

/// The least length of a body that a worker reads itself.
const WORTH_FETCHING: u64 = 1 << 20;
/// The least length of an unused body that is skipped; shorter ones are read.
const WORTH_SKIPPING: u64 = 32 << 10;

/// A source that the workers read at positions, while the engine's reader returns its bytes in order.
pub(super) struct Bodies<R> {
    pub source: SharedSource,
    /// From the first byte of the reader to the end that the source had when reading began.
    pub extent: Range<u64>,
    /// Moves the reader to a byte of the source.
    pub seek: fn(&mut R, u64) -> io::Result<()>,
    /// Bytes to read at once.
    pub ahead: usize,
    /// The windows that are read ahead, once a chunk has proved short.
    pub windows: Option<Windows>,
}

impl<S: ReadAt + 'static> Engine<SourceReader<Arc<S>>> {
    /// An engine whose workers read the source. The first member begins at the byte `from`.
    pub(crate) fn at(source: Arc<S>, from: u64, settings: Settings) -> Result<Self> {
        let extent = from..source.size().reading()?.max(from);
        let mut reader = SourceReader::new(Arc::clone(&source));
        reader.seek(SeekFrom::Start(from)).reading()?;
        let mut engine = Self::new(reader, settings);
        let seek = |reader: &mut SourceReader<Arc<S>>, place| {
            reader.seek(SeekFrom::Start(place)).map(|_| ())
        };
        engine.bodies = Some(Bodies {
            source,
            extent,
            seek,
            ahead: usize::MAX,
            windows: None,
        });
        engine.ways = Ways::Open;
        Ok(engine)
    }
}

impl<R> Engine<R> {
    /// Skips the body of a chunk that has just begun, if its worker reads it or the range of the options excludes it.
    pub(super) fn skip_body(&mut self) -> Result<()> {
        let left = self.parser.body_left();
        if left > 0
            && let Some(gathering) = &mut self.gathering
            && let Some(decoded) = gathering.decoded.take()
        {
            self.pass(&decoded)?;
            if let Some(gathering) = &mut self.gathering {
                gathering.decoded = Some(decoded);
            }
            return Ok(());
        }
        let may_run = self.may_run();
        let digest_len = self.parser.header().checksum.digest_len();
        let Some(bodies) = &mut self.bodies else {
            return Ok(());
        };
        let is_worth = match self.gathering {
            // Runs begin right after a digest.
            Some(_) if may_run => left > 0,
            // Do not read bytes again that windows read ahead.
            Some(_) => left >= WORTH_FETCHING && bodies.windows.is_none(),
            None => left >= WORTH_SKIPPING,
        };
        if !is_worth {
            return Ok(());
        }
        let unused = self.input.unused()?;
        let there = to_u64(unused.len());
        if there >= left {
            return Ok(());
        }
        bodies.windows = None;
        bodies.ahead = match (may_run, digest_len) {
            (false, _) => AHEAD,
            (true, 0) => usize::MAX,
            (true, len) => len,
        };
        // All bytes read so far are used here: the rest of the body begins at the next one.
        let begin = bodies.extent.start + self.input.total();
        let rest = left - there;
        let here = self.gathering.as_mut();
        if let Some(gathering) = here.filter(|gathering| gathering.rest.fetch.is_none()) {
            gathering.put(unused, None)?;
            self.input.copied(unused.len());
            gathering.rest.fetch = Some(Fetch {
                source: Arc::clone(&bodies.source),
                bytes: begin..begin + rest,
            });
        }
        self.parser.skip(there);
        self.input.keep(0);
        // Do not skip past the end: those bytes are missing. The subtraction saturates, since a source that has grown may have
        // been read past this end.
        let far = rest.min(bodies.extent.end.saturating_sub(begin));
        (bodies.seek)(self.input.get_mut(), begin + far).reading()?;
        self.input.passed(self.parser.skip(far));
        Ok(())
    }
}

impl<R: Read> Engine<R> {
    /// Reads more of a source that can be read at any position.
    pub(super) fn read_file(&mut self) -> Result<()> {
        if self.next_of_run()? {
            return Ok(());
        }
        let Some(bodies) = &mut self.bodies else {
            return Err(Error::bug("a source without positions"));
        };
        let most = std::mem::replace(&mut bodies.ahead, usize::MAX);
        let here = bodies.extent.start + self.input.total();
        if most == usize::MAX && self.input.total() > 0 && here < bodies.extent.end {
            let threads = self.settings.options.codec_threads();
            let windows = bodies.windows.get_or_insert_with(|| {
                Windows::new(&bodies.source, here..bodies.extent.end, threads)
            });
            match windows.next() {
                Ok(Some(window)) => {
                    if !window.is_full {
                        // The source has become shorter: read on as long as bytes follow.
                        (bodies.windows, bodies.extent.end) = (None, here);
                    }
                    let end = here + to_u64(window.bytes.len());
                    (bodies.seek)(self.input.get_mut(), end).reading()?;
                    if self.input.take(window.bytes) {
                        return Ok(());
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    self.gathering = None;
                    self.state = State::Failed(error);
                    return Ok(());
                }
            }
        }
        if !self.input.fill_up_to(most).reading()? {
            self.end_of_input();
        }
        Ok(())
    }
}
