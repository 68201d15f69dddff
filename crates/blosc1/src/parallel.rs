//! Shares the blocks of one chunk among threads.
//!
//! Threads are started for each chunk and end with it; there is no pool. Blocks are given out one
//! at a time, so a slow thread takes fewer of them.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::ChunkError;
use super::block_encoder::{BlockEncoder, Job};
use super::output::{Growing, Output};
use super::scratch::to_u32;

/// The most threads for one chunk, as in C-Blosc.
const MAX_THREADS: usize = 256;

/// The number of other threads when `count` threads are requested in total.
pub(super) fn helpers(count: usize) -> usize {
    count.clamp(1, MAX_THREADS) - 1
}

/// Runs `work` with `own` on this thread and with each of `helpers` on another. Returns the results
/// in this order, or the first error in this order.
///
/// If a thread cannot be started, its result is the default of `T`, and the others do its part.
///
/// # Errors
///
/// Returns the errors of `work`, and [`ChunkError::Bug`] if it panics on another thread.
pub(super) fn share<C: Send, T: Default + Send>(
    own: &mut C,
    helpers: &mut [C],
    work: impl Fn(&mut C) -> Result<T, ChunkError> + Sync,
) -> Result<Vec<T>, ChunkError> {
    let work = &work;
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for helper in helpers {
            threads.push(thread::Builder::new().spawn_scoped(scope, move || work(helper)));
        }
        let mut results = vec![work(own)];
        let what = "a thread that works on a chunk has panicked";
        results.extend(threads.into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or(Err(ChunkError::Bug { what })),
            Err(_) => Ok(T::default()),
        }));
        results.into_iter().collect()
    })
}

/// The blocks of a chunk that no thread has taken yet, each with its place in the output.
pub(super) struct Queue<I>(Mutex<I>);

impl<I: Iterator> Queue<I> {
    pub fn new(blocks: I) -> Self {
        Self(Mutex::new(blocks))
    }

    /// The next block; `None` if all are taken.
    pub fn next(&self) -> Option<I::Item> {
        let mut blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.next()
    }
}

/// A block that a thread has encoded, and its bytes in that thread's part.
struct Encoded {
    block: u32,
    bytes: Range<usize>,
}

/// Appends the streams of all blocks, which `own` and `helpers` encode, and completes the block
/// table.
///
/// Each thread collects its blocks in its own vector; they are copied to `out` in the order of the
/// blocks, so the chunk does not depend on the threads. Returns the length of the chunk, or `None`
/// if the streams do not fit `room`.
pub(super) fn encode(
    job: &Job<'_>,
    own: &mut BlockEncoder,
    helpers: &mut [BlockEncoder],
    room: usize,
    out: &mut impl Output,
) -> Result<Option<u32>, ChunkError> {
    let next = AtomicU32::new(0);
    // Bytes of all streams so far, without the length and one byte of each.
    let used = AtomicUsize::new(0);
    let parts = share(own, helpers, |encoder| {
        encode_part(job, encoder, &next, &used, room)
    })?;
    if used.into_inner() > room {
        return Ok(None);
    }
    let encoders = [own].into_iter().chain(helpers.iter_mut());
    let mut all = Vec::new();
    for (encoder, part) in encoders.zip(parts) {
        let bytes: &[u8] = &encoder.part;
        all.extend(part.into_iter().map(|encoded| (encoded, bytes)));
    }
    all.sort_unstable_by_key(|(encoded, _)| encoded.block);
    for (Encoded { block, bytes }, part) in all {
        out.note_start(block)?;
        let what = "a thread has encoded less than it says";
        out.append(part.get(bytes).ok_or(ChunkError::Bug { what })?)?;
    }
    to_u32(out.written()).map(Some)
}

/// Encodes blocks until none are left, or they no longer fit `room`.
fn encode_part(
    job: &Job<'_>,
    encoder: &mut BlockEncoder,
    next: &AtomicU32,
    used: &AtomicUsize,
    room: usize,
) -> Result<Vec<Encoded>, ChunkError> {
    let mut part = std::mem::take(&mut encoder.part);
    let mut compressed = std::mem::take(&mut encoder.compressed);
    part.clear();
    let mut out = Growing::new(&mut part, &mut compressed);
    let mut encoded = Vec::new();
    let result = loop {
        let block = next.fetch_add(1, Ordering::Relaxed);
        if block >= job.layout.nblocks() || used.load(Ordering::Relaxed) > room {
            break Ok(());
        }
        let start = out.written();
        let mut left = room;
        match encoder.encode(job, block, &mut left, &mut out) {
            Ok(true) => {
                used.fetch_add(room - left, Ordering::Relaxed);
            }
            Ok(false) => {
                used.store(room + 1, Ordering::Relaxed);
                break Ok(());
            }
            Err(error) => break Err(error),
        }
        let bytes = start..out.written();
        encoded.push(Encoded { block, bytes });
    };
    encoder.part = part;
    encoder.compressed = compressed;
    result.map(|()| encoded)
}
