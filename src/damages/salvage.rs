//! [`Salvage`]: reads, checks and decodes the sound chunks that a scan has found, on several threads, in order.

use super::collector::{Collector, ContentOutput};
use super::gaps::PendingChunk;
use super::probe::pieces;
use super::span::{Gap, Span};
use super::{at, damage_of};
use crate::Options;
use crate::indexed::{ChunkExtent, Fetcher};
use blosc1::ChunkHeader;
use bloscpack_error::checked::to_usize;
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_storage::parallel::Pipeline;
use bloscpack_wire::{FormatError, Limit, Limits, Section};
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;

/// A chunk of more uncompressed bytes than this is decoded on the caller's thread, in pieces.
const LARGE: u32 = 64 << 20;
/// A chunk of fewer uncompressed bytes than this is decoded by the caller's thread.
const SMALL: u32 = 4 << 10;

/// A chunk for a worker, with the buffer for its content.
struct Job {
    extent: ChunkExtent,
    chunk: Bytes,
    buffer: Vec<u8>,
}

/// Passes the chunks of each member to a collector, member by member.
pub(super) struct Salvage<'a, S, O> {
    pub source: &'a S,
    limits: Limits,
    fetcher: Arc<Fetcher>,
    pipeline: Pipeline<Job, Result<Vec<u8>>>,
    pending: VecDeque<PendingChunk>,
    pub collector: Collector<'a, O>,
}

impl<'a, S: ReadAt, O: ContentOutput> Salvage<'a, S, O> {
    pub(super) fn new(source: &'a S, options: &Options, collector: Collector<'a, O>) -> Self {
        let limits = options.limits;
        let fetcher = Arc::new(Fetcher::new(options.hashers.clone(), limits, true));
        let shared = Arc::clone(&fetcher);
        let make_worker = move || {
            let fetcher = Arc::clone(&shared);
            move |mut job: Job| {
                fetcher.decode_part(&job.extent, &job.chunk, None, &mut job.buffer)?;
                Ok(job.buffer)
            }
        };
        Self {
            source,
            limits,
            fetcher,
            pipeline: Pipeline::new(options.codec_threads(), make_worker),
            pending: VecDeque::new(),
            collector,
        }
    }

    /// Passes on the content and the gaps of a member.
    pub(super) fn member(&mut self, spans: Vec<Span>) -> Result<()> {
        let mut next = Some(0);
        for span in spans {
            let number = next;
            next = span.number_after(next);
            match span {
                Span::Gap(gap) => self.gap(*gap)?,
                Span::Chunk(found) => self.chunk(PendingChunk { found, number })?,
            }
            self.collector.pass()?;
        }
        self.drain()
    }

    /// Passes on a gap, after everything before it.
    fn gap(&mut self, gap: Gap) -> Result<()> {
        self.drain()?;
        self.collector.gap(gap)
    }

    /// Reads and checks a chunk, and submits it to a worker. A chunk that is over a limit or has become damaged is a gap.
    fn chunk(&mut self, pending: PendingChunk) -> Result<()> {
        let nbytes = pending.found.nbytes;
        let (found, allowed) = (nbytes.into(), self.limits.chunk.into());
        if found > allowed {
            let limit = Limit::Chunk;
            return self.gap(pending.gap(FormatError::Limit {
                limit,
                found,
                allowed,
            }));
        }
        while self.pipeline.is_full() {
            self.take()?;
        }
        let extent = ChunkExtent {
            position: at(
                pending.found.at,
                self.collector.member,
                pending.number,
                Section::Chunk,
            ),
            end: pending.found.end(),
            checksum: pending.found.by,
            allows_spare: false,
        };
        // Check the digest again: the source may have changed since the scan.
        let fetched = self
            .fetcher
            .fetch_extent(self.source, &extent, Some(nbytes));
        let (header, chunk) = match fetched {
            Ok(fetched) => fetched,
            Err(error) => return self.gap(pending.gap(damage_of(error)?)),
        };
        if nbytes > LARGE {
            self.drain()?;
            return self.large(&pending, &extent, &header, &chunk);
        }
        let job = Job {
            extent,
            chunk,
            buffer: vec![0; to_usize(nbytes)],
        };
        // Handing a small chunk to another thread takes longer than decoding it.
        match nbytes {
            0..SMALL => self.pipeline.submit_here(job),
            _ => self.pipeline.submit(job),
        }
        self.pending.push_back(pending);
        Ok(())
    }

    /// Waits for all submitted chunks, and passes them on.
    fn drain(&mut self) -> Result<()> {
        while !self.pending.is_empty() {
            self.take()?;
        }
        Ok(())
    }

    /// Waits for the oldest chunk and passes it on.
    fn take(&mut self) -> Result<()> {
        let (Some(pending), Some(done)) = (self.pending.pop_front(), self.pipeline.next()) else {
            return Err(Error::bug("a chunk that was submitted has no result"));
        };
        match done.map_err(|_| Error::panicked())? {
            Ok(data) => {
                self.collector.data(&data)?;
                self.collector.chunk(&pending)
            }
            Err(error) => self.collector.gap(pending.gap(damage_of(error)?)),
        }
    }

    /// Decodes a large chunk twice: first to check that all of it decodes, then to pass it on.
    fn large(
        &mut self,
        pending: &PendingChunk,
        extent: &ChunkExtent,
        header: &ChunkHeader,
        chunk: &[u8],
    ) -> Result<()> {
        let mut buffer = Vec::new();
        for is_for_real in [false, true] {
            for (from, len) in pieces(header, chunk) {
                buffer.resize(len, 0);
                let skip = Some(to_usize(from));
                let decoded = self.fetcher.decode_part(extent, chunk, skip, &mut buffer);
                if let Err(error) = decoded {
                    return self.collector.gap(pending.gap(damage_of(error)?));
                }
                if is_for_real {
                    self.collector.data(&buffer)?;
                }
            }
        }
        self.collector.chunk(pending)
    }
}
