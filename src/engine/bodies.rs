//! Sources that can be read at any position. Several threads read small chunks ahead, in windows; the workers read large chunks
//! themselves.

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
    source: SharedSource,
    /// From the first byte of the reader to the end that the source had when reading began.
    extent: Range<u64>,
    /// Moves the reader forward.
    skip: fn(&mut R, u64) -> io::Result<()>,
    /// Bytes to read at once.
    ahead: usize,
    /// The windows that are read ahead, once a chunk has proved short.
    windows: Option<Windows>,
}

impl<S: ReadAt + Send + Sync + 'static> Engine<SourceReader<Arc<S>>> {
    /// An engine whose workers read the source. The first member begins at the byte `from`.
    pub(crate) fn at(source: Arc<S>, from: u64, settings: Settings) -> Result<Self> {
        let extent = from..source.size().reading()?.max(from);
        let mut reader = SourceReader::new(Arc::clone(&source));
        reader.seek(SeekFrom::Start(from)).reading()?;
        let mut engine = Self::new(reader, settings);
        let skip = |reader: &mut SourceReader<Arc<S>>, count: u64| {
            let here = reader.stream_position()?;
            // The skipped bytes are in the source, so the sum is a position in it.
            reader.seek(SeekFrom::Start(here + count)).map(|_| ())
        };
        engine.bodies = Some(Bodies {
            source,
            extent,
            skip,
            ahead: usize::MAX,
            windows: None,
        });
        Ok(engine)
    }
}

impl<R> Engine<R> {
    /// Skips the body of a chunk that has just begun, if its worker reads it or the range of the options excludes it.
    pub(super) fn skip_body(&mut self) -> Result<()> {
        let left = self.parser.body_left();
        let Some(bodies) = &mut self.bodies else {
            return Ok(());
        };
        let is_worth = match self.gathering {
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
        (bodies.ahead, bodies.windows) = (AHEAD, None);
        // All bytes read so far are used here: the rest of the body begins at the next one.
        let begin = bodies.extent.start + self.input.total();
        let rest = left - there;
        let here = self.gathering.as_mut();
        if let Some(gathering) = here.filter(|gathering| gathering.fetch.is_none()) {
            gathering.chunk.put(unused)?;
            gathering.fetch = Some(Fetch {
                source: Arc::clone(&bodies.source),
                bytes: begin..begin + rest,
            });
        }
        self.parser.skip(there);
        self.input.keep(0);
        // Do not skip past the end: those bytes are missing. The subtraction saturates, since a source that has grown may have
        // been read past this end.
        let far = rest.min(bodies.extent.end.saturating_sub(begin));
        (bodies.skip)(self.input.get_mut(), far).reading()?;
        self.input.passed(self.parser.skip(far));
        Ok(())
    }
}

impl<R: Read> Engine<R> {
    /// Reads more of a source that can be read at any position.
    pub(super) fn read_file(&mut self) -> Result<()> {
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
                Ok(Some(mut window)) => {
                    if !window.is_full {
                        // The source has become shorter: read on as long as bytes follow.
                        (bodies.windows, bodies.extent.end) = (None, here);
                    }
                    (bodies.skip)(self.input.get_mut(), to_u64(window.bytes.len())).reading()?;
                    if self.input.replace(&mut window.bytes) {
                        if let Some(windows) = &mut bodies.windows {
                            windows.put_back(window.bytes);
                        }
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
