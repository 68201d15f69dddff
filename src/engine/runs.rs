//! [`Runs`]: chunks whose places a table states. The workers read, check and decode them before the parser sees their headers.
//!
//! ```text
//!  table ─► runs of chunks ─► workers: read, check, decode ─► header and digest ─► parser ─► the decoded chunk
//! ```
//!
//! Nothing but 16 bytes of header and a digest passes through the caller's thread. The parser compares them with everything
//! else as it would in a stream, so that an input has the same errors, whichever way it is read. Wherever a chunk is not
//! what the table says, the runs end, and the parser reads on.

use super::buffer_pool::BufferPool;
use super::large::LARGE;
use super::{Engine, State};
use crate::buffered_input::BUFFER_LEN;
use crate::chunk_buffer::ChunkBuffer;
use crate::shared_source::Fetch;
use blosc1::{ChunkDecoder, ChunkHeader, HEADER_LEN};
use bloscpack_error::checked::{in_memory, slice_mut, to_u64, to_usize};
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::parallel::{BATCH, Panicked, Pipeline};
use bloscpack_wire::{Checksum, Digest, FormatError, Hashers};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Compressed bytes of a run, so that reads are few and large.
const READ: u64 = (1 << 20) + (64 << 10);
/// Uncompressed bytes of a run, so that its memory is bounded where data compresses well, and what is decoded stays in the
/// processor's cache until it is delivered.
const CONTENT: usize = 2 << 20;

/// A chunk that a worker has decoded.
pub(super) struct Decoded {
    header: [u8; HEADER_LEN],
    digest: Vec<u8>,
    pub buffer: Vec<u8>,
    pub len: usize,
    pub result: std::result::Result<(), FormatError>,
}

/// Chunks for a worker.
struct Run {
    fetch: Fetch,
    /// The bytes from each chunk to the next one.
    lens: Vec<u64>,
    /// Whether more than the last one and its digest may lie there.
    is_last: bool,
    checksum: Checksum,
}

/// The chunks of a run, up to the first that is not what the table says.
struct Read {
    chunks: Vec<Decoded>,
    is_whole: bool,
}

/// Buffers for content that were used: a worker takes one when it decodes, so that few are in use at once. Fresh memory costs more
/// than decoding into it.
#[derive(Clone)]
struct Spare(Arc<Mutex<BufferPool<Vec<u8>>>>);

impl Spare {
    fn take(&self, wanted: usize) -> Vec<u8> {
        let spare = self.0.lock().ok();
        spare.map_or_else(Vec::new, |mut spare| spare.take(wanted))
    }

    fn put(&self, buffer: Vec<u8>) {
        if let Ok(mut spare) = self.0.lock() {
            spare.put(buffer);
        }
    }
}

/// Chunks that are read by their places.
pub(super) struct Runs {
    pipeline: Pipeline<Run, Result<Read>>,
    ready: VecDeque<Decoded>,
    /// Whether chunks are missing after those that are ready, since they have more content than a run may have.
    is_cut: bool,
    /// The first chunk that no worker has been told to read.
    next: u64,
    /// The most bytes of a run.
    most: u64,
    /// Runs that were taken: no more than these are read ahead, so that a reader of a few bytes costs little.
    taken: usize,
    spare: Spare,
}

/// Whether the chunks of a member are read in runs.
pub(super) enum Ways {
    /// From the next chunk on, if the table has its place.
    Open,
    Running(Box<Runs>),
    /// The parser reads the rest.
    Closed,
}

impl<R> Engine<R> {
    /// Whether the chunks after the present one can be read in runs.
    pub(super) fn may_run(&self) -> bool {
        matches!(self.ways, Ways::Open) && self.span(self.member.chunks).is_some()
    }

    /// Forgets the bytes of the first chunk of a member, if it can be read in a run.
    pub(super) fn unread(&mut self) -> Result<()> {
        let there = to_u64(self.input.unused()?.len());
        let ends = self
            .bodies
            .as_ref()
            .map(|bodies| bodies.extent.end - bodies.extent.start);
        let follows = ends.is_some_and(|end| end > self.input.total());
        if follows && self.may_run() && self.is_here(self.input.total() - there) {
            self.input.unread();
            return self.catch_up();
        }
        Ok(())
    }

    /// Whether the next chunk begins at this byte.
    fn is_here(&self, byte: u64) -> bool {
        let span = self.span(self.member.chunks);
        span.and_then(|(place, _)| self.parser.member_at().checked_add(place)) == Some(byte)
    }

    /// The place of a chunk in the member, and the length up to the next one, if a worker may read it. After the last one, it is
    /// the length up to the end of the source, if that is near: no more than the member has had so far, so that many members
    /// in one source are not read many times.
    fn span(&self, chunk: u64) -> Option<(u64, u64)> {
        if self.settings.options.range.is_some() {
            return None;
        }
        let offsets = self.parser.offsets();
        let begin = offsets.get(chunk)?;
        let len = match offsets.get(chunk.checked_add(1)?) {
            // The entries of a table ascend.
            Some(end) => end - begin,
            None => self.left_from(begin).filter(|&left| left <= begin)?,
        };
        let most = match self.parser.header().chunk_size {
            // An incompressible chunk is longer than its content by its header and its table.
            Some(size) if size <= LARGE => (u64::from(size) * 2).max(READ),
            Some(_) => return None,
            None => READ,
        };
        (len <= most).then_some((begin, len))
    }

    /// Bytes from a place in the member to the end of the source.
    fn left_from(&self, place: u64) -> Option<u64> {
        let extent = &self.bodies.as_ref()?.extent;
        let from = (extent.start + self.parser.member_at()).checked_add(place)?;
        extent.end.checked_sub(from)
    }

    /// Runs that begin with the next chunk, if that begins here.
    fn runs(&self, most: u64) -> Option<Box<Runs>> {
        let options = &self.settings.options;
        if !self.is_here(self.input.total()) {
            return None;
        }
        let (limits, hashers) = (options.limits, options.hashers.clone());
        let threads = options.codec_threads();
        // The buffers of two runs for each thread: one is decoded into while another is delivered.
        let pool = BufferPool::new(threads.saturating_mul(2 * CONTENT / BATCH));
        let spare = Spare(Arc::new(Mutex::new(pool)));
        let of_workers = spare.clone();
        let make_worker = move || {
            let mut worker = Worker {
                decoder: limits.decoder(),
                hashers: hashers.clone(),
                most: limits.chunk.min(LARGE),
                chunk: ChunkBuffer::default(),
                spare: of_workers.clone(),
            };
            move |run| worker.read(&run)
        };
        Some(Box::new(Runs {
            pipeline: Pipeline::new(threads, make_worker).with_caller(),
            ready: VecDeque::new(),
            is_cut: false,
            next: self.member.chunks,
            most,
            taken: 0,
            spare,
        }))
    }

    /// Takes back the buffer of a piece.
    pub(crate) fn recycle(&mut self, buffer: Vec<u8>) {
        match &self.ways {
            Ways::Running(runs) => runs.spare.put(buffer),
            Ways::Open | Ways::Closed => self.content_buffers.put(buffer),
        }
    }

    /// Gives the parser the header of the next chunk that a worker has decoded. Returns false if the parser is to read on.
    pub(super) fn next_of_run(&mut self) -> Result<bool> {
        let mut runs = match std::mem::replace(&mut self.ways, Ways::Closed) {
            Ways::Closed => return Ok(false),
            Ways::Running(runs) => runs,
            Ways::Open => match self.runs(READ) {
                Some(runs) => runs,
                None => {
                    self.ways = Ways::Open;
                    return Ok(false);
                }
            },
        };
        if self.dispatcher.is_busy() {
            // The chunks before the runs are delivered first.
            (self.state, self.ways) = (State::Draining, Ways::Running(runs));
            return Ok(true);
        }
        self.state = State::Reading;
        loop {
            if let Some(decoded) = runs.ready.pop_front() {
                self.input.put(&decoded.header)?;
                self.decoded = Some(decoded);
                self.ways = Ways::Running(runs);
                return Ok(true);
            }
            if runs.is_cut {
                // Shorter runs from here on.
                self.catch_up()?;
                match self.runs(runs.most / 4) {
                    Some(shorter) => runs = shorter,
                    None => return Ok(false),
                }
            }
            self.submit(&mut runs);
            match runs.pipeline.next() {
                Some(Ok(Ok(read))) if !read.chunks.is_empty() => {
                    runs.taken += 1;
                    runs.is_cut = !read.is_whole;
                    runs.ready = read.chunks.into();
                }
                None | Some(Ok(Ok(_))) => return self.catch_up().map(|()| false),
                Some(Ok(Err(error))) => {
                    self.state = State::Failed(error);
                    return Ok(true);
                }
                Some(Err(Panicked)) => {
                    self.state = State::Broken(|| Panicked.into());
                    return Ok(true);
                }
            }
        }
    }

    /// Moves the reader to where the parser is.
    fn catch_up(&mut self) -> Result<()> {
        let here = self.input.total();
        let Some(bodies) = &mut self.bodies else {
            return Ok(());
        };
        // A short read: a fault further on must not take along the chunks before it.
        (bodies.windows, bodies.ahead) = (None, BUFFER_LEN);
        (bodies.seek)(self.input.get_mut(), bodies.extent.start + here).reading()
    }

    /// Tells the workers to read as many runs as may be under way.
    fn submit(&mut self, runs: &mut Runs) {
        let header = self.parser.header();
        let (checksum, size) = (header.checksum, header.chunk_size);
        while !runs.pipeline.is_full() && runs.pipeline.under_way() <= runs.taken {
            let (mut begin, mut all, mut lens) = (0, 0, Vec::new());
            while let Some((place, len)) = self.span(runs.next) {
                let count = to_u64(lens.len());
                let content = size.map_or(0, |size| u64::from(size) * (count + 1));
                if count == 0 {
                    begin = place;
                } else if all + len > runs.most || content > to_u64(CONTENT) {
                    break;
                }
                all += len;
                lens.push(len);
                runs.next += 1;
            }
            let Some(bodies) = self.bodies.as_ref().filter(|_| !lens.is_empty()) else {
                return;
            };
            // Saturates: what is past the end of the source cannot be read.
            let from = bodies.extent.start + self.parser.member_at();
            let from = from.saturating_add(begin);
            let source = Arc::clone(&bodies.source);
            let bytes = from..from.saturating_add(all);
            let is_last = self.parser.offsets().get(runs.next).is_none();
            runs.pipeline.submit(Run {
                fetch: Fetch { source, bytes },
                lens,
                is_last,
                checksum,
            });
        }
    }

    /// Passes the body and the digest of a chunk that a worker has decoded.
    pub(super) fn pass(&mut self, decoded: &Decoded) -> Result<()> {
        let body = self.parser.body_left();
        self.input.passed(self.parser.skip(body));
        self.input.put(&decoded.digest)
    }
}

/// What reads, checks and decodes runs, on one of the threads.
struct Worker {
    decoder: ChunkDecoder,
    hashers: Hashers,
    /// The most content of a chunk.
    most: u32,
    /// The compressed bytes of the run.
    chunk: ChunkBuffer,
    spare: Spare,
}

impl Worker {
    fn read(&mut self, run: &Run) -> Result<Read> {
        self.chunk.clear();
        let mut chunks = Vec::with_capacity(run.lens.len());
        // The parser reports what could not be read, after the chunks before it.
        let is_read = self.chunk.fetch(&run.fetch).is_ok();
        let (mut at, mut content) = (0, 0);
        for (number, len) in run.lens.iter().enumerate() {
            let end = at + in_memory(*len)?;
            let Some(bytes) = self.chunk.data()?.get(at..end) else {
                break;
            };
            at = end;
            let Some((header, parsed, body, digest, rest)) = parts(bytes, run.checksum) else {
                break;
            };
            let may_follow = run.is_last && number + 1 == run.lens.len();
            content += u64::from(parsed.nbytes);
            let is_much = content > to_u64(CONTENT) && !chunks.is_empty();
            if (rest > 0 && !may_follow) || parsed.nbytes > self.most || is_much {
                break;
            }
            let stated = Digest::from_bytes(digest);
            let stated = stated.ok_or_else(|| Error::bug("a digest of another length"))?;
            let computed = self.hashers.digest(run.checksum, body);
            let mut decoded = Decoded {
                header: *header,
                digest: digest.to_vec(),
                buffer: Vec::new(),
                len: 0,
                result: FormatError::check_digest(run.checksum, stated, computed),
            };
            if decoded.result.is_ok() {
                decoded.len = to_usize(parsed.nbytes);
                decoded.buffer = self.spare.take(decoded.len);
                if decoded.buffer.len() < decoded.len {
                    // Fresh zeroed memory costs nothing until it is written to.
                    decoded.buffer = vec![0; decoded.len];
                }
                let room = slice_mut(&mut decoded.buffer, 0..decoded.len)?;
                let done = self.decoder.decode(body, room);
                decoded.result = done.map(|_| ()).map_err(FormatError::from);
            }
            chunks.push(decoded);
        }
        let is_whole = is_read && chunks.len() == run.lens.len();
        Ok(Read { chunks, is_whole })
    }
}

/// A chunk at the beginning of these bytes: its header, the whole of it, its digest, and the number of bytes after it.
type Parts<'a> = (&'a [u8; HEADER_LEN], ChunkHeader, &'a [u8], &'a [u8], usize);

fn parts(bytes: &[u8], checksum: Checksum) -> Option<Parts<'_>> {
    let header = bytes.first_chunk()?;
    let parsed = ChunkHeader::parse(header).ok()?;
    let (chunk, rest) = bytes.split_at_checked(to_usize(parsed.ctbytes))?;
    let (digest, rest) = rest.split_at_checked(checksum.digest_len())?;
    let is_chunk = chunk.len() >= HEADER_LEN && !parsed.is_end_mark();
    is_chunk.then_some((header, parsed, chunk, digest, rest.len()))
}

#[cfg(test)]
mod tests {
    use crate::encoder::Encoder;
    use crate::engine::{Engine, Settings, Wanted};
    use crate::{Compressor, Options};
    use std::io::{Cursor, Write};
    use std::sync::Arc;

    /// What the caller's thread reads or copies must not grow with the content: otherwise no number of threads makes it faster.
    #[test]
    fn only_numbers_pass_through_the_thread_of_the_caller() {
        for (chunk, has_table) in [
            (64 << 10, true),
            (1 << 20, true),
            (64 << 10, false),
            (1 << 20, false),
        ] {
            let options = Encoder::builder()
                .chunk_size(chunk)
                .compressor(Compressor::Lz4)
                .level(0)
                .offsets(has_table);
            let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
            encoder.write_all(&vec![7; 48 << 20]).unwrap();
            let file = Arc::new(encoder.finish().unwrap().into_inner());
            let settings = Settings::new(Wanted::Content, Options::new().threads(2));
            let mut engine = Engine::at(Arc::clone(&file), 0, settings).unwrap();
            let mut content = 0;
            while let Some(piece) = engine.next().unwrap() {
                content += piece.bytes().unwrap().len();
                engine.recycle(piece.buffer);
            }
            assert_eq!(content, 48 << 20);
            // The first and the last read, and of each chunk its header and digest, with some bytes that are read with them.
            let most = (512 << 10) + 48 * 1024;
            let handled = engine.input.handled();
            assert!(handled <= most, "{handled} of {} bytes", file.len());
        }
    }
}
