//! From bytes to compressed chunks with their digests, in order.

use super::plan::Plan;
use crate::blosc::{ChunkEncoder, ChunkError};
use crate::error::{Error, ErrorKind, Result};
use crate::file::pipeline::Pipeline;
use crate::wire::{Checksum, Hashers};
use std::io::{self, Read};

/// Room taken for the data of a chunk before it arrives, at the most.
const FIRST_ROOM: usize = 1 << 20;

/// A chunk's bytes on their way through a worker, with the buffer for the result.
struct Job {
    data: Vec<u8>,
    packed: Vec<u8>,
}

struct Done {
    job: Job,
    result: std::result::Result<(), ChunkError>,
}

/// Takes the chunks with their digests, in order.
pub(super) trait Sink {
    fn put(&mut self, chunk: &[u8]) -> io::Result<()>;
}

pub(super) struct Stage {
    pipeline: Pipeline<Job, Done>,
    chunk_size: usize,
    /// Data of the chunk that is being filled.
    filling: Vec<u8>,
    /// Bytes promised beforehand, and with that, which chunk is the last.
    promised: Option<u64>,
    total_in: u64,
    /// An error has left a gap: nothing may follow it.
    broken: bool,
    spare_jobs: Vec<Job>,
}

impl Stage {
    pub(super) fn new(plan: &Plan) -> Result<Self> {
        // Settings out of range are told here, and not chunk by chunk.
        ChunkEncoder::new(plan.chunk.clone())?;
        let (settings, checksum, hashers) = (plan.chunk.clone(), plan.checksum(), plan.hashers);
        let make_worker = move || {
            let mut encoder = ChunkEncoder::new(settings.clone());
            move |job| work(&mut encoder, checksum, &hashers, job)
        };
        Ok(Self {
            pipeline: Pipeline::new(plan.threads, make_worker),
            chunk_size: usize::try_from(plan.chunk_size).unwrap_or(usize::MAX),
            filling: Vec::new(),
            promised: plan.size,
            total_in: 0,
            broken: false,
            spare_jobs: Vec::new(),
        })
    }

    pub(super) fn total_in(&self) -> u64 {
        self.total_in
    }

    /// Takes some of these bytes, at least one.
    pub(super) fn write(&mut self, data: &[u8], sink: &mut impl Sink) -> Result<usize> {
        self.make_room(sink)?;
        let room = self.chunk_size.saturating_sub(self.filling.len());
        let piece = data.get(..room).unwrap_or(data);
        self.count(piece.len())?;
        if self.filling.capacity() == 0 {
            self.filling.reserve(self.chunk_size.min(FIRST_ROOM));
        }
        self.filling.extend_from_slice(piece);
        Ok(piece.len())
    }

    /// Takes all that the reader has, without a copy in between.
    pub(super) fn read_from<R: Read>(
        &mut self,
        reader: &mut R,
        sink: &mut impl Sink,
    ) -> Result<u64> {
        let before = self.total_in;
        loop {
            self.make_room(sink)?;
            let room = self.chunk_size.saturating_sub(self.filling.len());
            let limit = u64::try_from(room).unwrap_or(u64::MAX);
            let len = reader.by_ref().take(limit).read_to_end(&mut self.filling)?;
            self.count(len)?;
            if len < room {
                return Ok(self.total_in.saturating_sub(before));
            }
        }
    }

    fn count(&mut self, len: usize) -> Result<()> {
        self.total_in = self
            .total_in
            .saturating_add(u64::try_from(len).unwrap_or(0));
        match self.promised {
            Some(promised) if self.total_in > promised => {
                self.broken = true;
                Err(Error::new(
                    ErrorKind::WrongSize {
                        promised,
                        given: self.total_in,
                    },
                    None,
                ))
            }
            _ => Ok(()),
        }
    }

    /// Sends a full chunk on its way, unless it is the last one promised: that waits for
    /// `finish`, so that what is dropped before never looks complete.
    fn make_room(&mut self, sink: &mut impl Sink) -> Result<()> {
        if self.broken {
            return Err(Error::usage(
                "an error has left a gap in the output: it cannot be continued",
            ));
        }
        if self.filling.len() < self.chunk_size || self.promised == Some(self.total_in) {
            return Ok(());
        }
        self.submit(sink)
    }

    fn submit(&mut self, sink: &mut impl Sink) -> Result<()> {
        while self.pipeline.is_full() {
            self.take(sink)?;
        }
        let Job { data, mut packed } = self.spare_jobs.pop().unwrap_or(Job {
            data: Vec::new(),
            packed: Vec::new(),
        });
        let data = std::mem::replace(&mut self.filling, data);
        self.filling.clear();
        packed.clear();
        self.pipeline.submit(Job { data, packed });
        while let Some(done) = self.pipeline.next_ready() {
            self.put(
                done.map_err(|_| Error::new(ErrorKind::Panicked, None)),
                sink,
            )?;
        }
        Ok(())
    }

    /// Waits for the oldest chunk and hands it on; false if none is under way.
    fn take(&mut self, sink: &mut impl Sink) -> Result<bool> {
        let Some(done) = self.pipeline.next() else {
            return Ok(false);
        };
        self.put(
            done.map_err(|_| Error::new(ErrorKind::Panicked, None)),
            sink,
        )?;
        Ok(true)
    }

    fn put(&mut self, done: Result<Done>, sink: &mut impl Sink) -> Result<()> {
        // Only a chunk that has arrived leaves the encoder whole.
        self.broken = true;
        let Done { job, result } = done?;
        result?;
        sink.put(&job.packed)?;
        self.broken = false;
        self.spare_jobs.push(job);
        Ok(())
    }

    /// Hands on all chunks that are full.
    pub(super) fn flush(&mut self, sink: &mut impl Sink) -> Result<()> {
        self.make_room(sink)?;
        while self.take(sink)? {}
        Ok(())
    }

    /// Hands on all that is left; `may_be_empty` allows a member without any chunk.
    pub(super) fn finish(&mut self, may_be_empty: bool, sink: &mut impl Sink) -> Result<()> {
        if let Some(promised) = self.promised
            && promised != self.total_in
        {
            let given = self.total_in;
            return Err(Error::new(ErrorKind::WrongSize { promised, given }, None));
        }
        self.make_room(sink)?;
        if !self.filling.is_empty() || (self.total_in == 0 && !may_be_empty) {
            self.submit(sink)?;
        }
        while self.take(sink)? {}
        Ok(())
    }
}

/// What a worker does with a chunk: compress, then hash.
fn work(
    encoder: &mut std::result::Result<ChunkEncoder, ChunkError>,
    checksum: Checksum,
    hashers: &Hashers,
    mut job: Job,
) -> Done {
    let result = encoder.as_mut().map_err(|error| error.clone());
    let result = result
        .and_then(|encoder| encoder.encode(&job.data, &mut job.packed))
        .map(|_| ());
    let digest = hashers.digest(checksum, &job.packed);
    job.packed.extend_from_slice(digest.as_bytes());
    Done { job, result }
}
