//! [`ChunkCompressor`]: compresses chunks on several threads, and passes them to a sink in order.

use crate::chunk_buffer::ChunkBuffer;
use crate::shared_source::Fetch;
use blosc1::{ChunkEncoder, ChunkError, ChunkSettings};
use bloscpack_error::checked::{slice, to_u64, to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel::{Crew, Panicked, Pipeline};
use bloscpack_wire::{Checksum, Hashers};
use std::sync::Arc;
#[cfg(feature = "aio")]
use std::task::{Context, Poll, ready};

/// How chunks are compressed.
#[derive(Clone)]
pub(crate) struct ChunkOptions {
    pub chunk: ChunkSettings,
    pub checksum: Checksum,
    /// The limit on the uncompressed bytes of a chunk.
    pub longest: u32,
    pub hashers: Hashers,
    pub threads: usize,
    /// The threads that compress instead of the encoder's own.
    pub crew: Option<Arc<Crew>>,
}

/// Takes the compressed chunks with their digests, in order.
pub(crate) trait ChunkSink {
    /// Takes chunks without gaps between them, and the position in `chunks` at which each ends.
    fn put(&mut self, chunks: &[u8], ends: &[usize]) -> Result<()>;

    /// Receives the settings that were chosen by the data, before the first chunk.
    fn tuned(&mut self, _settings: &ChunkSettings) -> Result<()> {
        Ok(())
    }
}

/// The data of some chunks for a worker, with the buffer for the result.
#[derive(Default)]
pub(crate) struct Batch {
    pub data: ChunkBuffer,
    /// The range of the source that the worker reads, if the data has not been read.
    pub fetch: Option<Fetch>,
    /// Uncompressed bytes of each chunk. Their sum is the length of the data.
    pub lens: Vec<usize>,
    chunks: Vec<u8>,
    ends: Vec<usize>,
}

impl Batch {
    fn clear(&mut self) {
        self.data.clear();
        self.fetch = None;
        self.lens.clear();
        self.chunks.clear();
        self.ends.clear();
    }
}

/// A batch that a worker has finished, with the result.
struct Done {
    batch: Batch,
    result: Result<()>,
}

/// Compresses batches on several threads, and passes the chunks to a sink in the order of the batches.
pub(crate) struct ChunkCompressor {
    pipeline: Pipeline<Batch, Done>,
    /// An error has left a gap in the output. No chunk may follow.
    is_broken: bool,
    spare: Vec<Batch>,
    done: Totals,
}

/// A number of chunks, and their uncompressed bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub chunks: u64,
    pub bytes: u64,
}

impl ChunkCompressor {
    pub(crate) fn new(options: &ChunkOptions) -> Result<Self> {
        // Refuse wrong settings here: the workers would report them for each chunk.
        ChunkEncoder::new(options.chunk)?;
        let ChunkOptions {
            chunk,
            checksum,
            hashers,
            threads,
            crew,
            ..
        } = options.clone();
        hashers.check()?;
        let make_worker = move || {
            let mut encoder = ChunkEncoder::new(chunk);
            let hashers = hashers.clone();
            move |batch| work(&mut encoder, checksum, &hashers, batch)
        };
        let pipeline = Pipeline::new(threads, make_worker);
        Ok(Self {
            pipeline: match crew {
                Some(crew) => pipeline.on(crew),
                None => pipeline,
            },
            is_broken: false,
            spare: Vec::new(),
            done: Totals::default(),
        })
    }

    /// Refuses to continue after a gap.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_broken {
            return Err(Error::usage(
                "an earlier error left the output incomplete; this encoder cannot be used any further",
            ));
        }
        Ok(())
    }

    /// Refuses all further chunks.
    pub(crate) fn break_off(&mut self) {
        self.is_broken = true;
    }

    /// Submits a batch to the workers, and leaves an empty one in its place. Waits if all workers are busy.
    pub(crate) fn submit(&mut self, batch: &mut Batch, sink: &mut impl ChunkSink) -> Result<()> {
        while self.pipeline.is_full() {
            self.take(sink)?;
        }
        let mut next = self.spare.pop().unwrap_or_default();
        next.clear();
        self.pipeline.submit(std::mem::replace(batch, next));
        while let Some(done) = self.pipeline.next_ready() {
            self.put(done, sink)?;
        }
        Ok(())
    }

    /// Waits for all submitted batches, and passes them on.
    pub(crate) fn drain(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        while self.take(sink)? {}
        Ok(())
    }

    /// As [`drain`](Self::drain), at the end, and checks that all chunks and bytes have been passed on.
    ///
    /// # Errors
    /// Returns any error of [`drain`](Self::drain), and a bug if the totals differ from the expected ones.
    pub(crate) fn finish(&mut self, expected: Totals, sink: &mut impl ChunkSink) -> Result<()> {
        self.drain(sink)?;
        if self.done != expected {
            self.break_off();
            let done = self.done;
            let why = format!("handed on {done:?}, where {expected:?} were taken in");
            return Err(Error::bug(why));
        }
        Ok(())
    }

    /// Passes on finished batches until a batch can be submitted without waiting or, with `is_all`, until none is left. If a
    /// batch is not finished yet, the task is woken later.
    #[cfg(feature = "aio")]
    pub(crate) fn poll_room(
        &mut self,
        is_all: bool,
        task: &Context<'_>,
        sink: &mut impl ChunkSink,
    ) -> Poll<Result<()>> {
        loop {
            let done = if is_all || self.pipeline.is_full() {
                ready!(self.pipeline.poll_next(task))
            } else {
                self.pipeline.next_ready()
            };
            match done {
                Some(done) => self.put(done, sink)?,
                None => return Poll::Ready(Ok(())),
            }
        }
    }

    /// Waits for the oldest batch and passes it on. Returns false if none was submitted.
    fn take(&mut self, sink: &mut impl ChunkSink) -> Result<bool> {
        match self.pipeline.next() {
            Some(done) => self.put(done, sink).map(|()| true),
            None => Ok(false),
        }
    }

    fn put(
        &mut self,
        done: std::result::Result<Done, Panicked>,
        sink: &mut impl ChunkSink,
    ) -> Result<()> {
        // Until the sink has taken the batch, the output has a gap.
        self.is_broken = true;
        let Done { batch, result } = done.map_err(|_| Error::panicked())?;
        result?;
        check_ends(&batch.ends, batch.lens.len(), batch.chunks.len())?;
        sink.put(&batch.chunks, &batch.ends)?;
        self.done.chunks += to_u64(batch.lens.len());
        self.done.bytes += to_u64(batch.data.len());
        self.is_broken = false;
        self.spare.push(batch);
        Ok(())
    }
}

/// Checks that there are `chunks` ends, ascending, and that the last one is the end of the bytes.
fn check_ends(ends: &[usize], chunks: usize, len: usize) -> Result<()> {
    let is_whole = ends.last().copied().unwrap_or(0) == len;
    if is_whole && ends.len() == chunks && ends.is_sorted_by(|one, next| one < next) {
        return Ok(());
    }
    let found = ends.len();
    Err(Error::bug(format!(
        "{found} ends of {chunks} chunks, the last one at {:?} of {len} bytes",
        ends.last()
    )))
}

/// Processes a batch: fetches its data if necessary, then compresses and hashes each chunk.
fn work(
    encoder: &mut std::result::Result<ChunkEncoder, ChunkError>,
    checksum: Checksum,
    hashers: &Hashers,
    mut batch: Batch,
) -> Done {
    let result = match encoder {
        Ok(encoder) => compress(encoder, checksum, hashers, &mut batch),
        Err(error) => Err(error.clone().into()),
    };
    Done { batch, result }
}

/// Compresses each chunk of a batch, appends its digest, and compares the lengths with the header.
fn compress(
    encoder: &mut ChunkEncoder,
    checksum: Checksum,
    hashers: &Hashers,
    batch: &mut Batch,
) -> Result<()> {
    if let Some(fetch) = batch.fetch.take() {
        batch.data.fetch(&fetch)?;
    }
    let mut rest = batch.data.data()?;
    for len in &batch.lens {
        let (data, tail) = rest.split_at_checked(*len).ok_or_else(|| {
            let left = rest.len();
            Error::bug(format!(
                "a chunk of {len} bytes of data, where {left} are left"
            ))
        })?;
        let begin = batch.chunks.len();
        let header = encoder.encode(data, &mut batch.chunks)?;
        let chunk = slice(&batch.chunks, begin..batch.chunks.len())?;
        if (to_usize(header.nbytes), to_usize(header.ctbytes)) != (data.len(), chunk.len()) {
            return Err(Error::bug(format!(
                "a chunk of {} bytes says that it has {} with {} bytes of data, where {len} went in",
                chunk.len(),
                header.ctbytes,
                header.nbytes
            )));
        }
        let digest = hashers.stored_digest(checksum, chunk)?;
        batch.chunks.extend_from_slice(digest.as_bytes());
        batch.ends.push(batch.chunks.len());
        rest = tail;
    }
    if !rest.is_empty() {
        let left = rest.len();
        return Err(Error::bug(format!(
            "{left} bytes of data belong to no chunk"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloscpack_error::Code;

    /// Collects the chunks.
    #[derive(Default)]
    struct Taken(Vec<u8>);

    impl ChunkSink for Taken {
        fn put(&mut self, chunks: &[u8], _: &[usize]) -> Result<()> {
            self.0.extend_from_slice(chunks);
            Ok(())
        }
    }

    fn compressor(threads: usize) -> ChunkCompressor {
        ChunkCompressor::new(&ChunkOptions {
            chunk: ChunkSettings::default(),
            checksum: Checksum::Crc32,
            longest: u32::MAX,
            hashers: Hashers::default(),
            threads,
            crew: None,
        })
        .unwrap()
    }

    fn batch(lens: &[usize]) -> Batch {
        let mut batch = Batch::default();
        batch.data.put(&[7; 1000]).unwrap();
        batch.lens.extend_from_slice(lens);
        batch
    }

    #[track_caller]
    fn assert_bug(result: Result<()>) {
        let error = result.unwrap_err();
        assert_eq!(error.code(), Code::Bug, "{error:?}");
    }

    #[test]
    fn wrong_lengths_are_bugs_after_which_nothing_follows() {
        let wrong: [&[usize]; 6] = [
            &[],
            &[999],
            &[1001],
            &[400, 500],
            &[400, 700],
            &[usize::MAX, 1],
        ];
        for threads in [1, 2] {
            for lens in wrong {
                let (mut compressor, mut sink) = (compressor(threads), Taken::default());
                let submitted = compressor.submit(&mut batch(lens), &mut sink);
                assert_bug(submitted.and_then(|()| compressor.drain(&mut sink)));
                assert!(sink.0.is_empty(), "{lens:?}");
                assert!(compressor.check().is_err(), "{lens:?}");
            }
        }
    }

    #[test]
    fn right_lengths_are_none() {
        let (mut compressor, mut sink) = (compressor(1), Taken::default());
        compressor
            .submit(&mut batch(&[400, 600]), &mut sink)
            .unwrap();
        compressor.submit(&mut batch(&[1000]), &mut sink).unwrap();
        let (chunks, bytes) = (3, 2000);
        compressor
            .finish(Totals { chunks, bytes }, &mut sink)
            .unwrap();
    }

    #[test]
    fn wrong_totals_are_bugs_at_the_end() {
        for (chunks, bytes) in [(1, 1000), (3, 1000), (2, 999), (2, 1001), (0, 0)] {
            let (mut compressor, mut sink) = (compressor(1), Taken::default());
            compressor
                .submit(&mut batch(&[400, 600]), &mut sink)
                .unwrap();
            assert_bug(compressor.finish(Totals { chunks, bytes }, &mut sink));
            assert!(compressor.check().is_err());
        }
    }

    #[test]
    fn ends_that_are_not_those_of_the_chunks_are_bugs() {
        assert!(check_ends(&[10, 25], 2, 25).is_ok());
        assert!(check_ends(&[], 0, 0).is_ok());
        let wrong: [(&[usize], usize, usize); 6] = [
            (&[10, 25], 2, 26),
            (&[10, 25], 3, 25),
            (&[25, 10], 2, 25),
            (&[30, 25], 2, 25),
            (&[10, 10], 2, 10),
            (&[], 0, 1),
        ];
        for (ends, chunks, len) in wrong {
            assert_bug(check_ends(ends, chunks, len));
        }
    }
}
