//! From a reader to decoded chunks, in order: what [`Decoder`](super::Decoder) and
//! [`verify`](super::verify()) share.
//!
//! The parser runs on the caller's thread and gathers the compressed bytes of a chunk as they
//! arrive; checking the digest and decompressing is the pipeline's work. Whatever is under way is
//! delivered before the engine waits for more input at the end of a chunk, so that a writer who
//! flushes is heard at once.
//!
//! Of a source that can be read at any position only what stands around the chunks passes through
//! the parser; the workers read the [`bodies`] themselves.

mod bodies;
mod buffer_pool;
mod settings;
mod worker;

pub use settings::Warning;

use super::buffered_input::Source;
use super::chunk_buffer::Fill;
use super::pipeline::{BATCH, Panicked, Pipeline};
use super::shared_source::Fetch;
use blosc1::{ChunkDecoder, ChunkHeader, internal::has_blocks};
use bloscpack_error::{Error, ErrorKind, IoSide, Result};
use bloscpack_wire::{
    Digest, Ending, Event, Form, FormatError, Header, Metadata, MetadataHeader, ParseError, Parser,
    Position, Section,
};
use bodies::Bodies;
use buffer_pool::{LEAST, Spares};
pub(super) use settings::{Settings, Wanted};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use worker::{Done, Job, Outcome, check, decode, work_all};
pub(super) use worker::{Piece, Place};

/// A chunk of more uncompressed bytes than this is decoded and delivered in pieces.
const GIANT: u32 = 64 << 20;
/// The least length of such a piece, but for the last.
const PIECE: u32 = 1 << 20;
/// A chunk whose bytes are arriving.
struct Gathering {
    place: Place,
    wanted: Range<u32>,
    chunk: Fill,
    /// Where its bytes are, if they do not arrive here.
    fetch: Option<Fetch>,
}

/// A chunk that is delivered piece by piece; its digest has been checked.
struct Giant {
    place: Place,
    chunk: Fill,
    left: Range<u32>,
}

pub(super) struct Engine<R> {
    source: Source<R>,
    bodies: Option<Bodies<R>>,
    parser: Parser,
    settings: Settings,
    pipeline: Pipeline<Vec<Job>, Vec<Outcome>>,
    /// Chunks for the next worker, and how many bytes they are.
    batch: Vec<Job>,
    batched: usize,
    /// Chunks done, whose turn is before those under way.
    ready: VecDeque<Outcome>,
    decoder: ChunkDecoder,
    gathering: Option<Gathering>,
    giant: Option<Giant>,
    /// Uncompressed bytes of the chunks begun.
    content: u64,
    /// Chunks begun of this member.
    chunks: u64,
    /// The input is used up, and nothing of the next chunk has been seen.
    starving: bool,
    ended: Option<std::result::Result<(), ParseError>>,
    /// The bytes of a chunk were lost with its worker: there is no way past them.
    panicked: bool,
    /// The same of a chunk whose bytes a worker could not read.
    unread: bool,
    /// The header of this member, and what its chunks hold.
    header: Option<Header>,
    form: std::result::Result<Form, FormatError>,
    spare_chunks: Spares<Fill>,
    spare_buffers: Spares<Vec<u8>>,
    pub(super) first: Option<First>,
    pub(super) warnings: Vec<Warning>,
}

/// What stands before the chunks of the first member.
pub(super) struct First {
    pub header: Header,
    pub metadata: Option<(Metadata, Option<MetadataHeader>)>,
    complete: bool,
}

impl<R> Engine<R> {
    pub(super) fn new(reader: R, settings: Settings) -> Self {
        let (limits, hashers) = (settings.limits, settings.hashers);
        let make_worker = move || {
            let mut decoder = limits.decoder();
            move |batch| work_all(&mut decoder, &hashers, batch)
        };
        let pipeline: Pipeline<_, _> = Pipeline::new(settings.threads, make_worker);
        let jobs = pipeline.capacity();
        Self {
            source: Source::new(reader),
            bodies: None,
            parser: Parser::new(limits, hashers),
            pipeline,
            batch: Vec::new(),
            batched: 0,
            ready: VecDeque::new(),
            decoder: limits.decoder(),
            settings,
            gathering: None,
            giant: None,
            content: 0,
            chunks: 0,
            starving: false,
            ended: None,
            panicked: false,
            unread: false,
            header: None,
            form: Ok(Form::Content),
            spare_chunks: Spares::new(jobs),
            spare_buffers: Spares::new(jobs),
            first: None,
            warnings: Vec::new(),
        }
    }

    pub(super) fn source(&mut self) -> &mut Source<R> {
        &mut self.source
    }

    pub(super) fn get_ref(&self) -> &R {
        self.source.get_ref()
    }

    pub(super) fn total_in(&self) -> u64 {
        self.source.total()
    }

    pub(super) fn into_inner(self) -> R {
        self.source.into_inner()
    }

    pub(super) fn members(&self) -> u64 {
        self.parser.members()
    }

    /// Gives back the buffer of a piece.
    pub(super) fn recycle(&mut self, buffer: Vec<u8>) {
        self.spare_buffers.put(buffer);
    }

    fn done(&mut self, done: Done) -> Result<Piece> {
        self.spare_chunks.put(done.chunk);
        self.unread |= done.piece.is_err();
        done.piece.reading()
    }

    /// Those bytes of the chunk that begins at `content` which are wanted, if any.
    fn wanted(&self, content: u64, nbytes: u32) -> Option<Range<u32>> {
        let Some(range) = &self.settings.range else {
            return Some(0..nbytes);
        };
        let inside = |at: u64| {
            u32::try_from(at.saturating_sub(content))
                .unwrap_or(nbytes)
                .min(nbytes)
        };
        let wanted = inside(range.start)..inside(range.end);
        (!wanted.is_empty()).then_some(wanted)
    }
}

impl<R: Read> Engine<R> {
    /// The next piece of the content, or nothing at the end of the input.
    ///
    /// # Errors
    /// Reading failed, and may be tried again unless it was a worker who read; or the structure is broken or a worker panicked,
    /// which stays so.
    pub(super) fn next(&mut self) -> Result<Option<Piece>> {
        loop {
            if self.panicked {
                return Err(Error::new(ErrorKind::Panicked, None));
            }
            if self.unread {
                let gone = "a chunk could not be read, so that nothing follows";
                return Err(io::Error::other(gone)).reading();
            }
            match self.ready.pop_front() {
                Some(Ok(done)) => return self.done(done).map(Some),
                Some(Err(Panicked)) => {
                    self.panicked = true;
                    continue;
                }
                None => {}
            }
            let hurried = self.starving || self.giant.is_some() || self.ended.is_some();
            if hurried {
                self.send();
            }
            let done = if hurried || self.pipeline.is_full() {
                self.pipeline.next()
            } else {
                self.pipeline.next_ready()
            };
            if let Some(done) = done {
                self.panicked |= done.is_err();
                self.ready = done.unwrap_or_default().into();
                continue;
            }
            if let Some(giant) = self.giant.take() {
                return Ok(Some(self.next_of(giant)));
            }
            match &self.ended {
                Some(Ok(())) => return Ok(None),
                Some(Err(error)) => return Err(error.clone().into()),
                None => self.advance()?,
            }
        }
    }

    /// Reads up to the chunks of the first member.
    pub(super) fn read_first(&mut self) -> Result<&First> {
        while self.ended.is_none() && !self.first.as_ref().is_some_and(|first| first.complete) {
            self.advance()?;
        }
        match (&self.first, &self.ended) {
            (Some(first), _) if first.complete => Ok(first),
            (_, Some(Err(error))) => Err(error.clone().into()),
            // Allowed to end before its first chunk.
            (Some(first), _) => Ok(first),
            (None, _) => Err(FormatError::Empty.into()),
        }
    }

    /// Lets the parser tell one thing, reading once if need be.
    fn advance(&mut self) -> Result<()> {
        let mut input = self.source.unused();
        let event = self.parser.parse(&mut input);
        let left = input.len();
        match event {
            Ok(Event::ChunkData(data)) => {
                let here = self.gathering.as_mut();
                // What is fetched comes as a whole, even where the source has grown meanwhile.
                if let Some(gathering) = here.filter(|gathering| gathering.fetch.is_none()) {
                    gathering
                        .chunk
                        .append(|chunk| chunk.extend_from_slice(data));
                }
            }
            Ok(Event::NeedInput) => return self.read_more(),
            Ok(Event::Header(header)) => {
                self.form = Form::of(&header, None);
                self.chunks = 0;
                self.header = Some(header.clone());
                self.first.get_or_insert(First {
                    header,
                    metadata: None,
                    complete: false,
                });
            }
            Ok(Event::Metadata(metadata, header)) => {
                if let Some(own) = &self.header {
                    self.form = Form::of(own, Some(&metadata));
                }
                if let Some(first) = self.first.as_mut().filter(|first| !first.complete) {
                    first.metadata = Some((metadata, header));
                }
            }
            Ok(Event::ChunksBegin) => {
                if let Some(first) = &mut self.first {
                    first.complete = true;
                }
                self.end_of_range();
                self.check_form();
            }
            Ok(Event::Chunk(header, bytes)) => self.begin_chunk(header, &bytes),
            Ok(Event::ChunkEnd(digest)) => {
                self.end_chunk(digest)?;
                self.end_of_range();
            }
            Ok(Event::MemberEnd) => self.check_empty(),
            // Even where only the last word of a member is missing: another one follows it, and
            // would be lost in silence.
            Err(error) => {
                self.gathering = None;
                self.ended = Some(Err(error));
            }
        }
        self.source.keep(left);
        self.pass_body()
    }

    /// Stops at a member whose chunks hold something else than is wanted.
    fn check_form(&mut self) {
        match (self.settings.wanted.check(&self.form), &self.form) {
            (Err(error), _) => self.end_at_metadata(error),
            (Ok(()), Err(error)) => {
                let error = error.clone();
                let position = self.metadata_place();
                let error = ParseError { error, position };
                self.warnings.push(Warning::UnknownPacking(error));
            }
            (Ok(()), Ok(_)) => {}
        }
    }

    /// Refuses a member that counts records and has no chunk: whoever counts what the chunks hold
    /// never hears of it.
    fn check_empty(&mut self) {
        let counted = self.form.as_ref().ok().and_then(Form::count);
        if let (Wanted::Records | Wanted::Chunks, Some(count @ 1..), 0) =
            (self.settings.wanted, counted, self.chunks)
        {
            self.end_at_metadata(FormatError::record_count(count, 0));
        }
    }

    fn metadata_place(&self) -> Position {
        Position {
            byte: self.parser.member_at(),
            member: self.parser.members().saturating_sub(1),
            chunk: None,
            section: Section::Metadata,
        }
    }

    fn end_at_metadata(&mut self, error: FormatError) {
        let position = self.metadata_place();
        self.ended = Some(Err(ParseError { error, position }));
    }

    /// All input is used. Before waiting for more, what is under way is delivered if the writer
    /// may be doing the same.
    fn read_more(&mut self) -> Result<()> {
        self.source.keep(0);
        if let Some(bodies) = &mut self.bodies {
            let most = std::mem::replace(&mut bodies.ahead, usize::MAX);
            // A file never lets anybody wait.
            if !self.source.fill_up_to(most).reading()? {
                let result = self.parser.finish();
                self.end(result);
            }
            return Ok(());
        }
        let busy = self.pipeline.under_way() > 0 || !self.batch.is_empty();
        if !self.starving && self.gathering.is_none() && busy {
            self.starving = true;
            return Ok(());
        }
        self.starving = false;
        if !self.batch.is_empty() {
            // Nothing tells when the rest of this chunk comes: those before it need not wait.
            self.send();
            self.starving = self.source.was_short();
            return Ok(());
        }
        if !self.source.fill().reading()? {
            let result = self.parser.finish();
            self.end(result);
        }
        Ok(())
    }

    fn end(&mut self, result: std::result::Result<Ending, ParseError>) {
        self.gathering = None;
        self.ended = Some(match result {
            Ok(ending) => {
                self.warnings.extend(ending.trailing.map(Warning::Trailing));
                Ok(())
            }
            Err(error) if self.settings.allow_unterminated && error.error.is_unended() => {
                self.warnings.push(Warning::Unended(error));
                Ok(())
            }
            Err(error) => Err(error),
        });
    }

    /// Stops where nothing that is wanted comes any more.
    fn end_of_range(&mut self) {
        let range = self.settings.range.as_ref();
        if range.is_some_and(|range| range.end <= self.content) {
            self.ended = Some(Ok(()));
        }
    }

    fn begin_chunk(&mut self, header: ChunkHeader, bytes: &[u8]) {
        let content = self.content;
        self.content = content.saturating_add(header.nbytes.into());
        self.chunks = self.chunks.saturating_add(1);
        let Some(wanted) = self.wanted(content, header.nbytes) else {
            return;
        };
        let room = usize::try_from(header.ctbytes).unwrap_or(usize::MAX);
        let mut chunk = self.spare_chunks.take(room);
        chunk.clear();
        chunk.put(bytes);
        let place = Place {
            position: self.parser.position(),
            content: content..self.content,
            header,
            form: self.form.as_ref().ok().copied(),
            first: true,
        };
        self.gathering = Some(Gathering {
            place,
            wanted,
            chunk,
            fetch: None,
        });
    }

    fn end_chunk(&mut self, digest: Digest) -> Result<()> {
        let Some(Gathering {
            place,
            wanted,
            chunk,
            fetch,
        }) = self.gathering.take()
        else {
            return Ok(());
        };
        let checksum = self.parser.header().checksum;
        let len = wanted.end.saturating_sub(wanted.start);
        let giant = len > GIANT;
        let room = usize::try_from(len).unwrap_or(usize::MAX);
        let buffer = self.spare_buffers.take(room);
        let mut job = Job {
            place,
            checksum,
            digest,
            chunk,
            fetch,
            failed: None,
            wanted,
            buffer,
        };
        if !giant {
            self.add(job);
            return Ok(());
        }
        if let Err(error) = job.fetch() {
            // Told in its turn; to try once more might go well, and nobody would decode what came of it.
            job.failed = Some(error);
            self.add(job);
            return Ok(());
        }
        match check(&self.settings.hashers, &job) {
            Ok(()) => {
                self.giant = Some(Giant {
                    place: job.place,
                    chunk: job.chunk,
                    left: job.wanted,
                })
            }
            Err(_) => {
                // The pipeline will say the same; there is no need to have room for its bytes.
                job.wanted.end = job.wanted.start;
                self.add(job);
            }
        }
        Ok(())
    }

    /// Puts a chunk among those for the next worker, and sends them once they are worth it.
    fn add(&mut self, job: Job) {
        let header = &job.place.header;
        let bytes = usize::try_from(header.nbytes.max(header.ctbytes)).unwrap_or(usize::MAX);
        self.batched = self.batched.saturating_add(bytes.max(LEAST));
        self.batch.push(job);
        if self.batched >= BATCH {
            self.send();
        }
    }

    /// Sends the chunks that are there to a worker.
    fn send(&mut self) {
        if !self.batch.is_empty() {
            self.pipeline.submit(std::mem::take(&mut self.batch));
        }
        self.batched = 0;
    }

    /// Decodes the next piece of a giant, whole blocks if it can be.
    fn next_of(&mut self, giant: Giant) -> Piece {
        let Giant {
            mut place,
            chunk,
            left,
        } = giant;
        let step = match place.header.blocksize {
            0 => PIECE,
            _ if !has_blocks(chunk.data()) => PIECE,
            block => block.saturating_mul(PIECE.div_ceil(block)),
        };
        let to_border = step - left.start % step;
        let end = left.start.saturating_add(to_border).min(left.end);
        let len = end.saturating_sub(left.start);
        let room = usize::try_from(len).unwrap_or(usize::MAX);
        let buffer = self.spare_buffers.take(room);
        let mut piece = decode(
            &mut self.decoder,
            place.clone(),
            chunk.data(),
            left.start..end,
            buffer,
        );
        piece.place.content.start = piece.place.content.start.saturating_add(left.start.into());
        place.first = false;
        if end < left.end && piece.result.is_ok() {
            self.giant = Some(Giant {
                place,
                chunk,
                left: end..left.end,
            });
        }
        piece
    }
}
