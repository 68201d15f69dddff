//! [`Engine`]: from a reader to decoded chunks, in order. [`Decoder`](super::Decoder), the record reader and
//! [`verify`](super::verify) use it.
//!
//! ```text
//!   Read ─► parser (caller's thread) ─► gathering: one chunk ─► dispatcher: batches ─► workers ─► pieces, in order
//! ```
//!
//! The parser gathers the compressed bytes of a chunk as they arrive. The workers check digests and decompress. Before the
//! engine waits for input at the end of a chunk, it delivers all pending chunks: data reaches the reader as soon as the writer
//! has flushed it.
//!
//! If the source can be read at any position, only the bytes around the chunks pass through the parser; the workers read the
//! [`bodies`] themselves, or, where a table states the places of the chunks, whole [`runs`] of them.

mod bodies;
mod buffer_pool;
mod dispatcher;
mod large;
mod member;
#[cfg(feature = "aio")]
mod poll;
mod runs;
mod settings;
mod windows;
mod worker;

pub use settings::Warning;

use super::buffered_input::{BufferedInput, Part};
use super::chunk_buffer::ChunkBuffer;
use blosc1::ChunkHeader;
use bloscpack_error::checked::to_usize;
use bloscpack_error::{Error, IoSide, Result, Side};
use bloscpack_storage::parallel::{Panicked, Pipeline};
use bloscpack_wire::{Digest, Ending, Event, Form, FormatError, Limit, ParseError, Parser};
use bodies::Bodies;
use buffer_pool::BufferPool;
use dispatcher::{Dispatcher, Next};
use large::{LARGE, LargeChunk};
use member::CurrentMember;
pub(super) use member::FirstMember;
#[cfg(feature = "aio")]
pub(super) use poll::Feed;
use runs::{Decoded, Ways};
pub(super) use settings::{Settings, Wanted};
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
pub(super) use worker::{ChunkInfo, Piece};
use worker::{Done, Job, Rest, work_all};

/// Bytes that are read at once in an async program.
const ASYNC_BUFFER_LEN: usize = 64 << 10;

/// A chunk whose bytes are arriving.
struct Gathering {
    info: ChunkInfo,
    wanted: Range<u32>,
    chunk: ChunkBuffer,
    rest: Rest,
    /// Its content, if a worker has decoded it.
    decoded: Option<Decoded>,
}

impl Gathering {
    /// Adds the next bytes, which may also lie in a window.
    fn put(&mut self, bytes: &[u8], shared: Option<Part>) -> Result<()> {
        let parts = &mut self.rest.parts;
        match shared {
            Some(mut part) => {
                // With its header, it lies in one place, unless a window ended there.
                if parts.is_empty() && part.extend_over(self.chunk.data()?) {
                    self.chunk.clear();
                }
                parts.push(part);
            }
            None if parts.is_empty() => {
                self.chunk.append(|chunk| chunk.extend_from_slice(bytes));
            }
            None => parts.push(Part::copy_of(bytes)),
        }
        Ok(())
    }
}

/// The state of an engine.
///
/// ```text
///   Reading ◄─► Draining            the input is used up for now
///   Reading ◄─► Splitting           a chunk of more than 64 MiB
///   Reading, Draining, Splitting ─► Ended, Failed, Broken
/// ```
enum State {
    /// The input arrives.
    Reading,
    /// The available input is used up, and no byte of the next chunk has arrived. Deliver the pending chunks before waiting for
    /// more.
    Draining,
    /// After the pending chunks, a large chunk is delivered in pieces.
    Splitting(Box<LargeChunk>),
    /// After the pending chunks: the end, or an error in the structure.
    Ended(std::result::Result<(), ParseError>),
    /// After the pending chunks: this error, since the source could not be read.
    Failed(Error),
    /// A chunk was lost, because its worker panicked or could not read it. Each further call returns this error.
    Broken(fn() -> Error),
}

/// The result of a turn of the engine.
#[expect(clippy::large_enum_variant, reason = "none is kept")]
pub(super) enum Turn {
    Piece(Piece),
    /// The end of the input.
    End,
    /// The caller must wait for a worker.
    Busy,
    /// The engine needs more input.
    Hungry,
}

/// Reads an input and decodes its chunks.
pub(super) struct Engine<R> {
    input: BufferedInput<R>,
    bodies: Option<Bodies<R>>,
    ways: Ways,
    /// The next chunk, if a worker has decoded it.
    decoded: Option<Decoded>,
    parser: Parser,
    settings: Settings,
    state: State,
    member: CurrentMember,
    /// Uncompressed bytes of the chunks begun.
    content: u64,
    gathering: Option<Gathering>,
    dispatcher: Dispatcher,
    chunk_buffers: BufferPool<ChunkBuffer>,
    content_buffers: BufferPool<Vec<u8>>,
    first: Option<FirstMember>,
    pub(super) warnings: Vec<Warning>,
    /// Errors of ended members that describe an array of another length than their content.
    pub(super) wrong_arrays: Vec<ParseError>,
}

impl<R> Engine<R> {
    pub(super) fn new(reader: R, settings: Settings) -> Self {
        let (limits, hashers) = (settings.options.limits, settings.options.hashers.clone());
        let parser = Parser::new(limits, hashers.clone());
        let make_worker = move || {
            let mut decoder = limits.decoder();
            let hashers = hashers.clone();
            move |batch| work_all(&mut decoder, &hashers, batch)
        };
        let mut pipeline = Pipeline::new(settings.options.codec_threads(), make_worker);
        if let Some(crew) = &settings.crew {
            pipeline = pipeline.on(Arc::clone(crew));
        }
        let jobs = pipeline.capacity();
        let state = match settings.options.members {
            Some(0) => State::Ended(Ok(())),
            _ => State::Reading,
        };
        Self {
            input: match settings.crew {
                // Use a small buffer: there may be thousands of connections.
                Some(_) => BufferedInput::with_buffer(reader, ASYNC_BUFFER_LEN),
                None => BufferedInput::new(reader),
            },
            bodies: None,
            ways: Ways::Closed,
            decoded: None,
            parser,
            settings,
            state,
            member: CurrentMember {
                header: None,
                form: Ok(Form::Content),
                chunks: 0,
                content_at: 0,
                array: None,
            },
            content: 0,
            gathering: None,
            dispatcher: Dispatcher::new(pipeline),
            chunk_buffers: BufferPool::new(jobs),
            content_buffers: BufferPool::new(jobs),
            first: None,
            warnings: Vec::new(),
            wrong_arrays: Vec::new(),
        }
    }

    pub(super) fn get_ref(&self) -> &R {
        self.input.get_ref()
    }

    pub(super) fn get_mut(&mut self) -> &mut R {
        self.input.get_mut()
    }

    pub(super) fn total_in(&self) -> u64 {
        self.input.total()
    }

    pub(super) fn into_inner(self) -> R {
        self.input.into_inner()
    }

    /// The reader, and the bytes that were read from it and not parsed.
    pub(super) fn into_parts(self) -> (R, Vec<u8>) {
        self.input.into_parts()
    }

    /// Waits for the worker on which the next piece depends.
    #[cfg(feature = "tokio")]
    pub(super) fn wait(&mut self) {
        self.dispatcher.wait();
    }

    /// Takes input, after [`Turn::Hungry`].
    #[cfg(feature = "tokio")]
    pub(super) fn feed(&mut self, input: &mut impl bytes::Buf) {
        self.input.feed(input);
    }

    pub(super) fn members(&self) -> u64 {
        self.parser.members()
    }

    /// Uncompressed bytes of the chunks begun so far.
    pub(super) fn content(&self) -> u64 {
        self.content
    }
    /// Takes a piece from a finished job, and its buffer for reuse. After a read error of the worker, the engine is broken.
    fn deliver(&mut self, done: Done) -> Result<Piece> {
        let done = self.take_piece(done);
        if done.chunk.capacity() > 0 {
            self.chunk_buffers.put(done.chunk);
        }
        if done.piece.is_err() {
            self.state = State::Broken(unreadable);
        }
        done.piece
    }

    /// The part of the chunk that begins at `content` which the range of the options includes, if any.
    fn wanted(&self, content: u64, nbytes: u32) -> Option<Range<u32>> {
        let Some(range) = &self.settings.options.range else {
            return Some(0..nbytes);
        };
        // The subtraction saturates: positions before the chunk are its beginning. Positions past the chunk are its end.
        let inside = |at: u64| match u32::try_from(at.saturating_sub(content)) {
            Ok(at) => at.min(nbytes),
            Err(_) => nbytes,
        };
        let wanted = inside(range.start)..inside(range.end);
        (!wanted.is_empty()).then_some(wanted)
    }
}

impl<R: Read> Engine<R> {
    /// The next piece of the content, or `None` at the end of the input.
    ///
    /// # Errors
    /// Returns any error of reading, after which the call may be repeated unless a worker was reading. Errors in the structure
    /// and of a worker that panicked are permanent.
    pub(super) fn next(&mut self) -> Result<Option<Piece>> {
        loop {
            match self.turn(false)? {
                Turn::Piece(piece) => return Ok(Some(piece)),
                Turn::End => return Ok(None),
                Turn::Busy => self.dispatcher.wait(),
                Turn::Hungry => self.read_more()?,
            }
        }
    }

    /// Reads more input, unless pending chunks must be delivered before it waits.
    fn read_more(&mut self) -> Result<()> {
        if self.bodies.is_some() {
            // Reading a file does not wait for a writer.
            return self.read_file();
        }
        if matches!(self.state, State::Draining) {
            self.state = State::Reading;
        } else if self.gathering.is_none() && self.dispatcher.is_busy() {
            self.state = State::Draining;
            return Ok(());
        }
        if self.dispatcher.send() {
            // The rest of this chunk may take any time: deliver earlier chunks now.
            if self.input.was_short() {
                self.state = State::Draining;
            }
            return Ok(());
        }
        if !self.input.fill().reading()? {
            self.end_of_input();
        }
        Ok(())
    }
}

impl<R> Engine<R> {
    /// Works until a piece is ready, or until it must wait for input or a worker. If `is_hurried`, it delivers the pending
    /// chunks before it asks for input.
    pub(super) fn turn(&mut self, is_hurried: bool) -> Result<Turn> {
        loop {
            let is_hurried = match self.state {
                State::Broken(fail) => return Err(fail()),
                State::Reading => is_hurried,
                State::Draining | State::Splitting(_) | State::Ended(_) | State::Failed(_) => true,
            };
            match self.dispatcher.next(is_hurried) {
                Next::Done(Ok(done)) => return self.deliver(done).map(Turn::Piece),
                Next::Done(Err(Panicked)) => {
                    self.state = State::Broken(|| Panicked.into());
                    continue;
                }
                Next::Due => return Ok(Turn::Busy),
                Next::Nothing => {}
            }
            match &self.state {
                State::Splitting(_) => self.send_piece()?,
                State::Ended(Ok(())) => return Ok(Turn::End),
                State::Ended(Err(error)) => return Err(error.clone().into()),
                State::Failed(_) => return Err(self.fail()),
                State::Reading | State::Draining | State::Broken(_) => {
                    if self.advance()? {
                        return Ok(Turn::Hungry);
                    }
                }
            }
        }
    }

    /// Handles one event of the parser. Returns true if it needs more input.
    fn advance(&mut self) -> Result<bool> {
        let mut unused = self.input.unused()?;
        let event = self.parser.parse(&mut unused);
        let left = unused.len();
        let is_first_chunk = matches!(event, Ok(Event::ChunksBegin));
        match event {
            Ok(Event::ChunkData(data)) => {
                let here = self.gathering.as_mut();
                // A worker fetches the whole rest of its chunk, even if the source has grown and the bytes also arrive here.
                if let Some(gathering) = here.filter(|gathering| gathering.rest.fetch.is_none()) {
                    let (shared, len) = (self.input.share(data.len(), left), data.len());
                    let is_copied = shared.is_none();
                    gathering.put(data, shared)?;
                    if is_copied {
                        self.input.copied(len);
                    }
                }
            }
            Ok(Event::NeedInput) => {
                self.input.keep(0);
                return Ok(true);
            }
            Ok(Event::Header(header)) => self.begin_member(header),
            Ok(Event::Metadata(metadata, header)) => self.put_metadata(metadata, header),
            Ok(Event::ChunksBegin) => self.begin_chunks(),
            Ok(Event::Chunk(header, bytes)) => self.begin_chunk(header, &bytes)?,
            Ok(Event::ChunkEnd(digest)) => {
                self.end_chunk(digest);
                // After a large chunk, the range ends with its last piece.
                if !matches!(self.state, State::Splitting(_)) {
                    self.end_of_range();
                }
            }
            Ok(Event::MemberEnd) => self.end_member(),
            // A missing end mark before another member is also an error, or that member would be lost silently.
            Err(error) => {
                self.gathering = None;
                self.state = State::Ended(Err(error));
            }
        }
        self.input.keep(left);
        if is_first_chunk {
            self.unread()?;
        }
        self.skip_body()?;
        Ok(false)
    }

    /// Ends with the error of a source that could not be read.
    fn fail(&mut self) -> Error {
        match std::mem::replace(&mut self.state, State::Broken(unreadable)) {
            State::Failed(error) => error,
            _ => Error::bug("the error of a source without one"),
        }
    }

    /// Ends the input.
    pub(super) fn end_of_input(&mut self) {
        self.gathering = None;
        self.state = State::Ended(match self.parser.finish() {
            Ok(Ending { trailing, .. }) => {
                self.warnings.extend(trailing.map(Warning::Trailing));
                Ok(())
            }
            Err(error) if self.settings.options.allow_unterminated && error.error.is_unended() => {
                self.warnings.push(Warning::Unended(error));
                Ok(())
            }
            Err(error) => Err(error),
        });
    }

    /// Stops after the last byte of the range in the options.
    fn end_of_range(&mut self) {
        let range = self.settings.options.range.as_ref();
        if range.is_some_and(|range| range.end <= self.content) {
            self.state = State::Ended(Ok(()));
        }
    }

    /// Begins to gather a chunk, unless the range of the options excludes it.
    fn begin_chunk(&mut self, header: ChunkHeader, bytes: &[u8]) -> Result<()> {
        let begin = self.content;
        let end = begin.checked_add(header.nbytes.into());
        self.content = end.ok_or_else(|| self.too_long())?;
        self.member.chunks += 1;
        let Some(wanted) = self.wanted(begin, header.nbytes) else {
            return Ok(());
        };
        let decoded = self.decoded.take();
        let mut chunk = ChunkBuffer::default();
        if decoded.is_none() {
            chunk = self.chunk_buffers.take(to_usize(header.ctbytes));
            chunk.clear();
            chunk.put(bytes)?;
        }
        let info = ChunkInfo {
            position: self.parser.position(),
            content: begin..self.content,
            header,
            form: self.member.form.as_ref().ok().copied(),
            is_first_piece: true,
        };
        self.gathering = Some(Gathering {
            info,
            wanted,
            chunk,
            rest: Rest::default(),
            decoded,
        });
        Ok(())
    }

    /// The error for headers that count more bytes than there are positions.
    fn too_long(&self) -> Error {
        let error = FormatError::Limit {
            limit: Limit::Total,
            found: u64::MAX,
            allowed: self.settings.options.limits.total,
        };
        let position = self.parser.position();
        ParseError { error, position }.into()
    }

    /// Passes the gathered chunk to the workers. A large chunk is delivered in pieces.
    fn end_chunk(&mut self, digest: Digest) {
        let Some(Gathering {
            info,
            wanted,
            chunk,
            rest,
            decoded,
        }) = self.gathering.take()
        else {
            return;
        };
        if let Some(decoded) = decoded {
            let piece = Piece {
                info,
                buffer: decoded.buffer,
                len: decoded.len,
                result: decoded.result,
            };
            self.dispatcher.add_done(Done {
                chunk,
                piece: Ok(piece),
            });
            return;
        }
        let checksum = self.parser.header().checksum;
        let len = wanted.end - wanted.start;
        let is_large = len > LARGE;
        let job = Job {
            info,
            checksum,
            digest: Some(digest),
            chunk,
            rest,
            wanted,
            buffer: if is_large {
                Vec::new()
            } else {
                self.content_buffers.take(to_usize(len))
            },
        };
        if is_large {
            self.state = State::Splitting(Box::new(job.into()));
        } else {
            self.dispatcher.add(job);
        }
    }
}

/// The error of all calls after a worker could not read a chunk.
fn unreadable() -> Error {
    let what = "an earlier chunk could not be read; this reader cannot be used any further";
    Error::from(io::Error::other(what)).on(Side::Source)
}
