//! [`Salvage`]: reads, checks and decodes the sound chunks that a scan found, on several threads, in order.

use super::content::{Gap, Stretch};
use super::probe::SoundChunk;
use crate::checked::{in_memory, len_of, slice, slice_mut, to_u64, to_usize};
use crate::indexed::digest_of;
use blosc1::internal::has_blocks;
use blosc1::{ChunkDecoder, ChunkHeader};
use bloscpack_error::{Error, ErrorKind, Result};
use bloscpack_storage::ReadAt;
use bloscpack_storage::parallel::Pipeline;
use bloscpack_wire::{Checksum, FormatError, Hashers, Limit, Limits, Section};
use std::collections::VecDeque;
use std::ops::Range;

/// A chunk of more uncompressed bytes than this is decoded on the caller's thread, in pieces.
const LARGE: u32 = 64 << 20;
/// A chunk of fewer uncompressed bytes than this is decoded by the caller's thread.
const SMALL: u32 = 4 << 10;
/// The least length of such a piece, except for the last.
const PIECE: u32 = 1 << 20;
/// Bytes read before more room is taken.
const READ: usize = 1 << 20;

/// Takes the content.
pub(super) trait SalvageSink {
    /// Whether the sink accepts this member. If not, the sink has reported that.
    fn accepts(&mut self, member: usize, bytes: Range<u64>) -> bool;
    /// The next bytes of the content.
    fn data(&mut self, member: usize, bytes: &[u8]) -> Result<()>;
    /// A chunk is complete.
    fn chunk(&mut self, chunk: &PendingChunk) -> Result<()>;
    /// Something is missing here.
    fn gap(&mut self, member: usize, gap: Gap) -> Result<()>;
    /// A part is damaged that no content depends on.
    fn part_damage(
        &mut self,
        member: usize,
        bytes: Range<u64>,
        section: Section,
        error: FormatError,
    );
    /// A member has more chunks than it counts.
    fn uncounted(&mut self, member: usize);
    /// A member, whose head is here, is complete.
    fn end(&mut self, member: usize, head: Range<u64>) -> Result<()>;
}

struct Job {
    chunk: Vec<u8>,
    checksum: Checksum,
    nbytes: u32,
    buffer: Vec<u8>,
}

struct Done {
    job: Job,
    /// The inner error is damage, the outer one a bug.
    result: Result<std::result::Result<(), FormatError>>,
}

/// A chunk that was submitted and not handed on.
pub(super) struct PendingChunk {
    pub member: usize,
    pub found: SoundChunk,
    checksum: Checksum,
    pub number: Option<u64>,
}

impl PendingChunk {
    /// The gap that this chunk leaves if it cannot be decoded although its digest is right.
    pub(super) fn gap(&self, error: FormatError) -> Gap {
        Gap {
            bytes: self.found.bytes(self.checksum),
            number: self.number,
            chunks: Some(1),
            len: Some(self.found.nbytes.into()),
            is_short: false,
            section: Section::Chunk,
            error,
        }
    }
}

pub(super) struct Salvage<'a, S> {
    source: &'a S,
    limits: Limits,
    hashers: Hashers,
    pipeline: Pipeline<Job, Done>,
    pending: VecDeque<PendingChunk>,
    spare: Vec<Job>,
}

impl<'a, S: ReadAt> Salvage<'a, S> {
    pub(super) fn new(source: &'a S, limits: Limits, hashers: Hashers, threads: usize) -> Self {
        let make_worker = move || {
            let mut decoder = limits.decoder();
            move |job| work(&mut decoder, &hashers, job)
        };
        Self {
            source,
            limits,
            hashers,
            pipeline: Pipeline::new(threads, make_worker),
            pending: VecDeque::new(),
            spare: Vec::new(),
        }
    }

    /// Hands on the content of a member.
    pub(super) fn member(
        &mut self,
        member: usize,
        checksum: Checksum,
        stretches: Vec<Stretch>,
        taker: &mut impl SalvageSink,
    ) -> Result<()> {
        let mut next = Some(0);
        for stretch in stretches {
            let number = next;
            next = stretch.number_after(next);
            match stretch {
                Stretch::Gap(gap) => {
                    self.drain(taker)?;
                    taker.gap(member, *gap)?;
                }
                Stretch::Chunk(found) => {
                    let pending = PendingChunk {
                        member,
                        found,
                        checksum,
                        number,
                    };
                    self.chunk(pending, taker)?;
                }
            }
        }
        self.drain(taker)
    }

    fn chunk(&mut self, pending: PendingChunk, taker: &mut impl SalvageSink) -> Result<()> {
        let nbytes = pending.found.nbytes;
        let (found, limit) = (nbytes.into(), self.limits.chunk.into());
        if found > limit {
            let error = FormatError::Limit {
                limit: Limit::Chunk,
                found,
                allowed: limit,
            };
            self.drain(taker)?;
            return taker.gap(pending.member, pending.gap(error));
        }
        if nbytes > LARGE {
            self.drain(taker)?;
            return self.large(&pending, taker);
        }
        while self.pipeline.is_full() {
            self.take(taker)?;
        }
        let mut job = self.spare.pop().unwrap_or_else(|| Job {
            chunk: Vec::new(),
            checksum: Checksum::None,
            nbytes: 0,
            buffer: Vec::new(),
        });
        self.read(&pending, &mut job.chunk)?;
        (job.checksum, job.nbytes) = (pending.checksum, nbytes);
        // Handing over a small one would cost more than the work.
        match nbytes {
            0..SMALL => self.pipeline.submit_here(job),
            _ => self.pipeline.submit(job),
        }
        self.pending.push_back(pending);
        Ok(())
    }

    fn drain(&mut self, taker: &mut impl SalvageSink) -> Result<()> {
        while !self.pending.is_empty() {
            self.take(taker)?;
        }
        Ok(())
    }

    /// Waits for the oldest chunk and hands it on.
    fn take(&mut self, taker: &mut impl SalvageSink) -> Result<()> {
        let (Some(pending), Some(done)) = (self.pending.pop_front(), self.pipeline.next()) else {
            return Err(Error::bug("a chunk that was submitted has no result"));
        };
        let Done { job, result } = done.map_err(|_| Error::new(ErrorKind::Panicked, None))?;
        match result? {
            Ok(()) => {
                let data = slice(&job.buffer, 0..to_usize(job.nbytes))?;
                taker.data(pending.member, data)?;
                taker.chunk(&pending)?;
            }
            Err(error) => taker.gap(pending.member, pending.gap(error))?,
        }
        self.spare.push(job);
        Ok(())
    }

    /// Reads a chunk and its digest. Memory follows the bytes that are read.
    fn read(&self, pending: &PendingChunk, chunk: &mut Vec<u8>) -> Result<()> {
        let bytes = pending.found.bytes(pending.checksum);
        let len = in_memory(len_of(&bytes))?;
        chunk.clear();
        while chunk.len() < len {
            let from = chunk.len();
            let to = from + READ.min(len - from);
            chunk.resize(to, 0);
            let room = slice_mut(chunk, from..to)?;
            self.source
                .read_exact_at(bytes.start + to_u64(from), room)?;
        }
        Ok(())
    }

    /// Decodes a large chunk twice: first to see that all of it decodes.
    fn large(&mut self, pending: &PendingChunk, taker: &mut impl SalvageSink) -> Result<()> {
        let mut chunk = Vec::new();
        self.read(pending, &mut chunk)?;
        let mut decoder = self.limits.decoder();
        let checked = check(&self.hashers, pending.checksum, &mut chunk)?;
        let header = match checked.and_then(|()| parse(&chunk, pending.found.nbytes)) {
            Ok(header) => header,
            Err(error) => return taker.gap(pending.member, pending.gap(error)),
        };
        let mut buffer = Vec::new();
        for is_for_real in [false, true] {
            let mut at = 0u32;
            while at < header.nbytes {
                let len = step(&header, &chunk).min(header.nbytes - at);
                buffer.resize(to_usize(len), 0);
                if let Err(error) = decoder.decode_range(&chunk, at, &mut buffer) {
                    return taker.gap(pending.member, pending.gap(error.into()));
                }
                if is_for_real {
                    taker.data(pending.member, &buffer)?;
                }
                at += len;
            }
        }
        taker.chunk(pending)
    }
}

/// Whole blocks that make a piece.
fn step(header: &ChunkHeader, chunk: &[u8]) -> u32 {
    match header.blocksize {
        0 => PIECE,
        _ if !has_blocks(chunk) => PIECE,
        block => block * PIECE.div_ceil(block),
    }
}

fn work(decoder: &mut ChunkDecoder, hashers: &Hashers, mut job: Job) -> Done {
    let checked = check(hashers, job.checksum, &mut job.chunk);
    let result = checked.and_then(|checked| match checked {
        Ok(()) => decode(decoder, &mut job),
        Err(error) => Ok(Err(error)),
    });
    Done { job, result }
}

/// Decodes a chunk whose digest is right. The inner error is damage.
fn decode(
    decoder: &mut ChunkDecoder,
    job: &mut Job,
) -> Result<std::result::Result<(), FormatError>> {
    let len = to_usize(job.nbytes);
    if job.buffer.len() < len {
        job.buffer = vec![0; len];
    }
    let room = slice_mut(&mut job.buffer, 0..len)?;
    let decoded = parse(&job.chunk, job.nbytes)
        .and_then(|_| decoder.decode(&job.chunk, room).map_err(FormatError::from));
    Ok(decoded.map(|_| ()))
}

/// Takes the digest off and checks it again, since the source may have changed after the scan. The inner error is damage.
fn check(
    hashers: &Hashers,
    checksum: Checksum,
    chunk: &mut Vec<u8>,
) -> Result<std::result::Result<(), FormatError>> {
    let Some(len) = chunk.len().checked_sub(checksum.digest_len()) else {
        let why = format!("{} bytes of a chunk with its digest", chunk.len());
        return Err(Error::bug(why));
    };
    let digest = digest_of(&chunk.split_off(len))?;
    let computed = hashers.digest(checksum, chunk);
    Ok(FormatError::check_digest(checksum, digest, computed))
}

/// The header of a chunk that had this many bytes when it was found. The source may have changed since.
fn parse(chunk: &[u8], nbytes: u32) -> std::result::Result<ChunkHeader, FormatError> {
    let bytes = chunk.first_chunk().ok_or(FormatError::Cut {
        found: 0,
        expected: 16,
    })?;
    let header = ChunkHeader::parse(bytes)?;
    if header.nbytes != nbytes {
        return Err(FormatError::ChunkSize {
            found: header.nbytes,
            expected: nbytes,
        });
    }
    Ok(header)
}
