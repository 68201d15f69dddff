//! Chunks compressed by several threads, and handed on in order.

use crate::chunk_buffer::Fill;
use crate::pipeline::Pipeline;
use crate::shared_source::Fetch;
use blosc1::{ChunkEncoder, ChunkError, ChunkSettings};
use bloscpack_error::{Error, ErrorKind, IoSide, Result};
use bloscpack_wire::{Checksum, Hashers};

/// How chunks are made.
#[derive(Clone, Copy)]
pub(crate) struct Recipe {
    pub chunk: ChunkSettings,
    pub checksum: Checksum,
    pub hashers: Hashers,
    pub threads: usize,
}

/// Takes the chunks with their digests, in order.
pub(crate) trait Sink {
    /// Takes some chunks that lie one behind the other, and where each of them ends.
    fn put(&mut self, chunks: &[u8], ends: &[usize]) -> Result<()>;

    /// Hears before the first chunk how chunks are made, where the data was to decide that.
    fn tuned(&mut self, _settings: &ChunkSettings) -> Result<()> {
        Ok(())
    }
}

/// The data of some chunks on its way through a worker, with the buffer for the result.
#[derive(Default)]
pub(crate) struct Batch {
    pub data: Fill,
    /// Where the worker gets the data, if it is not there.
    pub fetch: Option<Fetch>,
    /// Where the data of each chunk but the last ends.
    pub cuts: Vec<usize>,
    chunks: Vec<u8>,
    ends: Vec<usize>,
}

impl Batch {
    fn clear(&mut self) {
        self.data.clear();
        self.fetch = None;
        self.cuts.clear();
        self.chunks.clear();
        self.ends.clear();
    }
}

struct Done {
    batch: Batch,
    result: Result<()>,
}

pub(crate) struct Line {
    pipeline: Pipeline<Batch, Done>,
    /// An error has left a gap: nothing may follow it.
    broken: bool,
    spare: Vec<Batch>,
}

impl Line {
    pub(crate) fn new(recipe: &Recipe) -> Result<Self> {
        // Settings out of range are told here, and not chunk by chunk.
        ChunkEncoder::new(recipe.chunk)?;
        let Recipe {
            chunk,
            checksum,
            hashers,
            threads,
        } = *recipe;
        let make_worker = move || {
            let mut encoder = ChunkEncoder::new(chunk);
            move |batch| work(&mut encoder, checksum, &hashers, batch)
        };
        Ok(Self {
            pipeline: Pipeline::new(threads, make_worker),
            broken: false,
            spare: Vec::new(),
        })
    }

    /// Refuses to go on behind a gap.
    pub(crate) fn check(&self) -> Result<()> {
        if self.broken {
            return Err(Error::usage(
                "an error has left a gap in the output: it cannot be continued",
            ));
        }
        Ok(())
    }

    /// Nothing may follow any more.
    pub(crate) fn break_off(&mut self) {
        self.broken = true;
    }

    /// Sends a batch on its way, and leaves an empty one in its place.
    pub(crate) fn submit(&mut self, batch: &mut Batch, sink: &mut impl Sink) -> Result<()> {
        while self.pipeline.is_full() {
            self.take(sink)?;
        }
        let mut next = self.spare.pop().unwrap_or_default();
        next.clear();
        self.pipeline.submit(std::mem::replace(batch, next));
        while let Some(done) = self.pipeline.next_ready() {
            self.put(
                done.map_err(|_| Error::new(ErrorKind::Panicked, None)),
                sink,
            )?;
        }
        Ok(())
    }

    /// Waits for all that is under way, and hands it on.
    pub(crate) fn drain(&mut self, sink: &mut impl Sink) -> Result<()> {
        while self.take(sink)? {}
        Ok(())
    }

    /// Waits for the oldest batch and hands it on; false if none is under way.
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
        // Only a batch that has arrived leaves the encoder whole.
        self.broken = true;
        let Done { batch, result } = done?;
        result?;
        sink.put(&batch.chunks, &batch.ends)?;
        self.broken = false;
        self.spare.push(batch);
        Ok(())
    }
}

/// What a worker does with a batch: fetch its data if it is not there, compress each chunk, then hash it.
fn work(
    encoder: &mut std::result::Result<ChunkEncoder, ChunkError>,
    checksum: Checksum,
    hashers: &Hashers,
    mut batch: Batch,
) -> Done {
    let result = match encoder {
        Ok(encoder) => press(encoder, checksum, hashers, &mut batch),
        Err(error) => Err(error.clone().into()),
    };
    Done { batch, result }
}

fn press(
    encoder: &mut ChunkEncoder,
    checksum: Checksum,
    hashers: &Hashers,
    batch: &mut Batch,
) -> Result<()> {
    if let Some(fetch) = batch.fetch.take() {
        batch.data.fetch(&fetch).reading()?;
    }
    let data = batch.data.data();
    let cuts = batch.cuts.iter().copied().chain([data.len()]);
    let mut from = 0;
    for to in cuts {
        let begin = batch.chunks.len();
        encoder.encode(data.get(from..to).unwrap_or_default(), &mut batch.chunks)?;
        let digest = hashers.digest(checksum, batch.chunks.get(begin..).unwrap_or_default());
        batch.chunks.extend_from_slice(digest.as_bytes());
        batch.ends.push(batch.chunks.len());
        from = to;
    }
    Ok(())
}
