//! Reads, checks and decodes the sound chunks that a scan found, on several threads, in order.

use super::content::{Gap, Piece};
use super::probe::Found;
use super::window::len_of;
use crate::pipeline::Pipeline;
use blosc1::internal::has_blocks;
use blosc1::{ChunkDecoder, ChunkHeader};
use bloscpack_error::{Error, ErrorKind, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::Limit;
use bloscpack_wire::{Checksum, Digest, FormatError, Hashers, Limits, Section};
use std::collections::VecDeque;
use std::ops::Range;

/// A chunk of more uncompressed bytes than this is decoded on the caller's thread, in pieces.
const GIANT: u32 = 64 << 20;
/// A chunk of fewer uncompressed bytes than this is decoded by the caller's thread.
const SMALL: u32 = 4 << 10;
/// The least length of such a piece, but for the last.
const PIECE: u32 = 1 << 20;
/// Bytes read before more room is taken.
const READ: usize = 1 << 20;

/// What takes the content.
pub(super) trait Taker {
    /// Whether it takes this member; if not, it has noted so.
    fn takes(&mut self, member: usize, bytes: Range<u64>) -> bool;
    /// The next bytes of it.
    fn data(&mut self, member: usize, bytes: &[u8]) -> Result<()>;
    /// A chunk is complete.
    fn chunk(&mut self, chunk: &Pending) -> Result<()>;
    /// Something is missing here.
    fn gap(&mut self, member: usize, gap: Gap) -> Result<()>;
    /// Something is wrong that no content depends on.
    fn flaw(&mut self, member: usize, bytes: Range<u64>, section: Section, error: FormatError);
    /// It has more chunks than it counts.
    fn uncounted(&mut self, member: usize);
    /// A member, whose head lies here, is complete.
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
    result: std::result::Result<(), FormatError>,
}

/// What was submitted and not handed on.
pub(super) struct Pending {
    pub member: usize,
    pub found: Found,
    checksum: Checksum,
    pub number: Option<u64>,
}

impl Pending {
    /// As a chunk whose digest holds and that cannot be had all the same.
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
    pending: VecDeque<Pending>,
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
        pieces: Vec<Piece>,
        taker: &mut impl Taker,
    ) -> Result<()> {
        let mut next = Some(0);
        for piece in pieces {
            let number = next;
            next = piece.number_behind(next);
            match piece {
                Piece::Gap(gap) => {
                    self.drain(taker)?;
                    taker.gap(member, *gap)?;
                }
                Piece::Chunk(found) => {
                    let pending = Pending {
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

    fn chunk(&mut self, pending: Pending, taker: &mut impl Taker) -> Result<()> {
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
        if nbytes > GIANT {
            self.drain(taker)?;
            return self.giant(&pending, taker);
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
        // To hand a small one over would cost more than the work.
        match nbytes {
            0..SMALL => self.pipeline.submit_here(job),
            _ => self.pipeline.submit(job),
        }
        self.pending.push_back(pending);
        Ok(())
    }

    fn drain(&mut self, taker: &mut impl Taker) -> Result<()> {
        while !self.pending.is_empty() {
            self.take(taker)?;
        }
        Ok(())
    }

    /// Waits for the oldest chunk and hands it on.
    fn take(&mut self, taker: &mut impl Taker) -> Result<()> {
        let (Some(pending), Some(done)) = (self.pending.pop_front(), self.pipeline.next()) else {
            return Ok(());
        };
        let Done { job, result } = done.map_err(|_| Error::new(ErrorKind::Panicked, None))?;
        match result {
            Ok(()) => {
                let len = usize::try_from(job.nbytes).unwrap_or(usize::MAX);
                taker.data(pending.member, job.buffer.get(..len).unwrap_or_default())?;
                taker.chunk(&pending)?;
            }
            Err(error) => taker.gap(pending.member, pending.gap(error))?,
        }
        self.spare.push(job);
        Ok(())
    }

    /// Reads a chunk and its digest: memory follows what is there.
    fn read(&self, pending: &Pending, chunk: &mut Vec<u8>) -> Result<()> {
        let bytes = pending.found.bytes(pending.checksum);
        let len = len_of(&bytes);
        chunk.clear();
        while chunk.len() < len {
            let from = chunk.len();
            chunk.resize(from.saturating_add(READ).min(len), 0);
            let at = bytes.start.saturating_add(super::window::to_u64(from));
            let room = chunk.get_mut(from..).unwrap_or_default();
            self.source.read_exact_at(at, room)?;
        }
        Ok(())
    }

    /// Decodes a giant twice: first to see that all of it decodes.
    fn giant(&mut self, pending: &Pending, taker: &mut impl Taker) -> Result<()> {
        let mut chunk = Vec::new();
        self.read(pending, &mut chunk)?;
        let mut decoder = self.limits.decoder();
        let checked = check(&self.hashers, pending.checksum, &mut chunk);
        let header = match checked.and_then(|()| parse(&chunk, pending.found.nbytes)) {
            Ok(header) => header,
            Err(error) => return taker.gap(pending.member, pending.gap(error)),
        };
        let mut buffer = Vec::new();
        for is_for_real in [false, true] {
            let mut at = 0u32;
            while at < header.nbytes {
                let len = step(&header, &chunk).min(header.nbytes.saturating_sub(at));
                buffer.resize(usize::try_from(len).unwrap_or(usize::MAX), 0);
                if let Err(error) = decoder.decode_range(&chunk, at, &mut buffer) {
                    return taker.gap(pending.member, pending.gap(error.into()));
                }
                if is_for_real {
                    taker.data(pending.member, &buffer)?;
                }
                at = at.saturating_add(len);
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
        block => block.saturating_mul(PIECE.div_ceil(block)),
    }
}

fn work(decoder: &mut ChunkDecoder, hashers: &Hashers, mut job: Job) -> Done {
    let result = check(hashers, job.checksum, &mut job.chunk).and_then(|()| {
        parse(&job.chunk, job.nbytes)?;
        let len = usize::try_from(job.nbytes).unwrap_or(usize::MAX);
        if job.buffer.len() < len {
            job.buffer = vec![0; len];
        }
        let room = job.buffer.get_mut(..len).unwrap_or_default();
        decoder.decode(&job.chunk, room)?;
        Ok(())
    });
    Done { job, result }
}

/// Takes the digest off and checks it again: the source may have changed since the scan.
fn check(
    hashers: &Hashers,
    checksum: Checksum,
    chunk: &mut Vec<u8>,
) -> std::result::Result<(), FormatError> {
    let digest = chunk.split_off(chunk.len().saturating_sub(checksum.digest_len()));
    let digest = Digest::from_bytes(&digest).unwrap_or(Digest::EMPTY);
    FormatError::check_digest(checksum, digest, hashers.digest(checksum, chunk))
}

/// The header of a chunk that had so many bytes when it was found: the source may have changed since.
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
