//! How [`Chunked`] reads slices.

use super::Chunked;
use crate::cache::{CachedChunk, Content};
use crate::geometry::{along, block_number, offset, sizes, with_range};
use crate::store::{Buffer, ChunkStore, Loaded, Want};
use crate::strided::{self, Strided, strides};
use crate::{Part, Region, relative, starts};
use blosc1::{ChunkDecoder, ChunkError};
use bloscpack_error::checked::{slice_mut, to_u64, to_usize, zeros};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::parallel;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Decompressed bytes below which a slice is read on the calling thread.
const SHARED_FROM: usize = 2 << 20;
/// The divisor of the cache size that gives the longest slice whose chunks are kept: a longer one would evict chunks that
/// others need.
const KEPT_SHARE: usize = 4;
/// Chunks that are announced at once. A hostile array may have one for each byte.
const MAX_ANNOUNCED: usize = 1 << 13;
/// Stretches of a slice per thread: with several, a slow one does not make the other threads wait.
const STRETCHES: usize = 16;
/// Bytes of decompressed chunks in memory while several threads share chunks.
const AT_ONCE: usize = 64 << 20;
/// Slices of more bytes check the header of the first chunk before they allocate memory.
const CHECKED_FROM: usize = 16 << 20;

/// A part of a slice that one thread reads, with its part of the output. The slice has one element along each axis before the
/// one that is cut, so the bands are consecutive in the output.
struct Band<'a> {
    wanted: Region,
    out: &'a mut [u8],
}

/// The memory of one thread.
struct Worker<'a> {
    buffer: Buffer<'a>,
    scratch: Vec<u8>,
    /// Whether partly read chunks are put into the cache.
    keeps: bool,
}

impl<S: ChunkStore> Chunked<S> {
    /// Reads a slice, one range per axis, into a new vector in C order.
    ///
    /// For more than 16 MiB the first chunk is checked before memory is allocated, so a made-up shape costs little.
    ///
    /// # Errors
    /// Returns the errors of [`read_into`](Self::read_into), and `Code::NoMemory` or `Code::Usage` for a slice that does not
    /// fit into memory.
    pub fn read(&self, slice: &[Range<u64>]) -> Result<Vec<u8>> {
        self.geometry.chunks.check(slice)?;
        let len = self.geometry.slice_len(slice)?;
        if len > CHECKED_FROM
            && let Some(part) = self.geometry.chunks.parts(slice).next()
        {
            self.with_worker(false, |worker| {
                self.load(&part, Want::Blocks(&[]), &mut worker.buffer)
            })?;
        }
        let mut out = zeros(to_u64(len))?;
        self.read_into(slice, &mut out)?;
        Ok(out)
    }

    /// Reads a slice, one range per axis, into `out` in C order. The length of `out` must be exactly the slice's bytes.
    ///
    /// Reads and decompresses only the chunks, or separately compressed blocks, that the slice touches. From 2 MiB of
    /// decompressed data on, several threads share the work; the call returns when all have finished. Slices of up to a quarter
    /// of the cache keep the chunks that they touch partly. After an error the content of `out` is unspecified.
    ///
    /// # Errors
    /// Returns `Code::OutOfBounds` for a slice that is not within the array, `Code::Usage` for another length of `out`,
    /// [`Code::Unsupported`] for an array of 2^64 or more chunks, any I/O error, and any damage to the chunks that the slice
    /// touches, with the number of the chunk.
    pub fn read_into(&self, slice: &[Range<u64>], out: &mut [u8]) -> Result<()> {
        let geometry = &self.geometry;
        geometry.chunks.check(slice)?;
        let (expected, found) = (geometry.slice_len(slice)?, out.len());
        if found != expected {
            let message = format!("room for a slice: {found} bytes, expected {expected}");
            return Err(Error::usage(message));
        }
        if out.is_empty() {
            return Ok(());
        }
        if geometry.chunks.count().is_none() {
            let message = format!(
                "an array of 2^64 or more chunks: {:?}",
                geometry.chunks.counts()
            );
            return Err(Error::new(Code::Unsupported, message));
        }
        let work = geometry.work(slice);
        let keeps = work <= self.cache.max_bytes() / KEPT_SHARE;
        let threads = if work < SHARED_FROM {
            1
        } else {
            self.resources.threads
        };
        self.announce(slice)?;
        let axis = slice.iter().position(|range| range.end - range.start > 1);
        let Some(axis) = axis.filter(|_| threads > 1) else {
            let wanted = slice.to_vec().into();
            return self.with_worker(keeps, |worker| self.read_band(Band { wanted, out }, worker));
        };
        let stretches = self.stretches(axis, slice, threads)?;
        // Where this axis has few chunks, others may have many.
        let is_shared =
            stretches.len() < threads && to_u64(stretches.len()) < geometry.chunks.touched(slice);
        if is_shared && !geometry.is_in_blocks {
            return self.read_shared(slice, (axis, threads, keeps), out);
        }
        let bands = bands(slice, axis, &stretches, geometry.itemsize, out)?;
        parallel::for_each(threads, bands.into_iter(), |band| {
            self.with_worker(keeps, |worker| self.read_band(band, worker))
        })
    }

    /// Verifies a chunk: reads it from the store, even if it is cached, and decompresses all of it. Returns the bytes of its
    /// elements that are inside the array.
    ///
    /// # Errors
    /// Returns any I/O error, and any damage to the chunk.
    pub fn check(&self, number: u64) -> Result<u64> {
        let chunks = &self.geometry.chunks;
        let part = chunks.part(chunks.position(number), &chunks.whole());
        self.with_worker(false, |worker| {
            let Worker {
                buffer, scratch, ..
            } = worker;
            if let Loaded::Blosc { header, .. } = self.load(&part, Want::Whole, buffer)? {
                scratch.resize(to_usize(header.nbytes), 0);
                self.decoding(number, |decoder| {
                    Ok(decoder.decode(buffer.bytes(), scratch)?)
                })?;
            }
            Ok(part.region.bytes(to_u64(self.geometry.itemsize)))
        })
    }

    /// Announces the chunks of a slice to the store, except the cached ones.
    fn announce(&self, slice: &[Range<u64>]) -> Result<()> {
        let chunks = &self.geometry.chunks;
        let parts = chunks.parts(slice).take(MAX_ANNOUNCED);
        let parts = parts.filter(|part| !self.cache.contains(part.number));
        self.store.announce(&mut parts.map(|part| {
            let extent = chunks.extent(&part.at);
            // Most of the chunk is wanted if the slice covers half of its elements.
            let is_most = part.region.bytes(1) >= extent.bytes(1).div_ceil(2);
            (part.number, is_most)
        }))
    }

    /// Lends a thread its buffers.
    fn with_worker<T>(
        &self,
        keeps: bool,
        act: impl FnOnce(&mut Worker<'_>) -> Result<T>,
    ) -> Result<T> {
        self.resources.with_bytes(|own| {
            self.resources.with_bytes(|scratch| {
                let mut worker = Worker {
                    buffer: Buffer::new(std::mem::take(own), self.store.file()),
                    scratch: std::mem::take(scratch),
                    keeps,
                };
                let done = act(&mut worker);
                (*own, *scratch) = (worker.buffer.into_vec(), worker.scratch);
                done
            })
        })
    }

    fn read_band(&self, band: Band<'_>, worker: &mut Worker<'_>) -> Result<()> {
        let Band { wanted, out } = band;
        let out_strides = strides(&sizes(&wanted)?, self.geometry.itemsize);
        let origin = starts(&wanted);
        for part in self.geometry.chunks.parts(&wanted) {
            let to = Strided {
                bytes: &mut *out,
                start: offset(&part.region, &origin, &out_strides)?,
                strides: &out_strides,
            };
            self.read_part(&part, to, worker)?;
        }
        Ok(())
    }

    /// Reads the part of a slice that one chunk contains.
    fn read_part(
        &self,
        part: &Part,
        to: Strided<'_, &mut [u8]>,
        worker: &mut Worker<'_>,
    ) -> Result<()> {
        let inside = relative(&part.region, &part.origin);
        if let Some(chunk) = self.cache.get(part.number) {
            self.complete(&chunk, part, &inside, worker)?;
            return self.copy_from(&chunk, part, &inside, to, worker);
        }
        let is_whole = part.region == self.geometry.chunks.extent(&part.at);
        let blocks = self.wanted(&inside, self.known_block())?;
        let want = self.want(blocks.as_deref());
        let loaded = self.load(part, want, &mut worker.buffer)?;
        if worker.keeps && !is_whole && self.store.may_keep(part.number) {
            // The first read decompresses into scratch memory: most blocks are used once, and new memory for each costs more.
            // If all chunks are in one file, single blocks can be read again.
            let keeps_bytes = self.store.file().is_none();
            let chunk = CachedChunk::new(loaded, &worker.buffer, keeps_bytes);
            self.cache.put(part.number, &Arc::new(chunk));
        }
        let (bytes, scratch) = (worker.buffer.bytes(), &mut worker.scratch);
        let geometry = &self.geometry;
        let header = match loaded {
            Loaded::Fill => return strided::fill(&sizes(&inside)?, bytes, to),
            Loaded::Data => return self.copy_data(bytes, &inside, to),
            Loaded::Blosc { header, .. } => header,
        };
        let Some(plain) = &geometry.plain else {
            scratch.resize(geometry.block_len, 0);
            return self.decoding(part.number, |decoder| {
                each_block(self, &inside, to, |number, copy| {
                    decoder.decode_block(bytes, number, scratch)?;
                    copy(scratch)
                })
            });
        };
        let (begin, lens) = (
            offset(&inside, &vec![0; inside.len()], plain)?,
            sizes(&inside)?,
        );
        let itemsize = geometry.itemsize;
        if let Some(len) = strided::contiguous(&lens, itemsize, &[plain, to.strides]) {
            let out = slice_mut(to.bytes, to.start..to.start + len)?;
            return self.decoding(part.number, |decoder| {
                if begin == 0 && len == to_usize(header.nbytes) {
                    decoder.decode(bytes, out)?;
                } else {
                    let start = u32::try_from(begin).map_err(|_| too_far(begin))?;
                    decoder.decode_range(bytes, start, out)?;
                }
                Ok(())
            });
        }
        scratch.resize(to_usize(header.nbytes), 0);
        self.decoding(part.number, |decoder| {
            let blocks = self.wanted(&inside, to_usize(header.blocksize))?;
            match blocks.filter(|_| !is_whole || want != Want::Whole) {
                None => {
                    decoder.decode(bytes, scratch)?;
                }
                Some(blocks) => {
                    let block_len = to_usize(header.blocksize);
                    for block in blocks {
                        let at = to_usize(block) * block_len;
                        let end = (at + block_len).min(scratch.len());
                        decoder.decode_block(bytes, block, slice_mut(scratch, at..end)?)?;
                    }
                }
            }
            Ok(())
        })?;
        self.copy_data(scratch, &inside, to)
    }

    /// Loads a chunk, and checks that the store returned the number of bytes that the geometry requires.
    fn load(&self, part: &Part, want: Want<'_>, buffer: &mut Buffer<'_>) -> Result<Loaded> {
        let (store, number) = (&self.store, part.number);
        let loaded = store.load(number, want, buffer)?;
        let (found, expected) = match loaded {
            Loaded::Fill => (buffer.bytes().len(), self.geometry.itemsize),
            Loaded::Data => (buffer.bytes().len(), self.geometry.data_len(&part.at)?),
            // A writer that was killed before it flushed may leave a last chunk that is too long.
            Loaded::Blosc { header, .. } => {
                let expected = self.geometry.data_len(&part.at)?;
                (to_usize(header.nbytes).min(expected), expected)
            }
        };
        if found == expected {
            Ok(loaded)
        } else {
            let message = format!("a store gave {found} bytes, expected {expected}");
            Err(store.located(number, Error::bug(message)))
        }
    }

    /// Uncompressed bytes of a block, if that is known before a chunk is read; otherwise 0.
    fn known_block(&self) -> usize {
        if self.geometry.is_in_blocks {
            self.geometry.block_len
        } else {
            0
        }
    }

    /// What to request of the store: these blocks, or the whole chunk if all blocks or unknown ones are needed.
    fn want<'b>(&self, blocks: Option<&'b [u32]>) -> Want<'b> {
        let count = self.geometry.blocks.count();
        match blocks {
            Some(blocks) if Some(to_u64(blocks.len())) != count => Want::Blocks(blocks),
            _ => Want::Whole,
        }
    }

    /// The numbers of the compressed blocks, each `block_len` bytes, that a part of a chunk touches, ascending; `None` if
    /// `block_len` is 0.
    fn wanted(&self, inside: &[Range<u64>], block_len: usize) -> Result<Option<Vec<u32>>> {
        let geometry = &self.geometry;
        if block_len == 0 {
            return Ok(None);
        }
        let Some(plain) = &geometry.plain else {
            let blocks = geometry.blocks.positions(inside);
            let blocks = blocks.map(|at| block_number(geometry.blocks.number(&at)));
            return blocks.collect::<Result<_>>().map(Some);
        };
        let begin = offset(inside, &vec![0; inside.len()], plain)?;
        let mut blocks: Vec<u32> = Vec::new();
        strided::runs(&sizes(inside)?, geometry.itemsize, &[plain], |[at], len| {
            let first = (begin + at) / block_len;
            let end = (begin + at + len).div_ceil(block_len);
            for block in first..end {
                let block = block_number(to_u64(block))?;
                if blocks.last().is_none_or(|last| *last < block) {
                    blocks.push(block);
                }
            }
            Ok::<_, Error>(())
        })?;
        Ok(Some(blocks))
    }

    /// Reads a chunk for the cache, and decompresses the blocks of a part.
    fn kept(
        &self,
        part: &Part,
        inside: &[Range<u64>],
        worker: &mut Worker<'_>,
    ) -> Result<Arc<CachedChunk>> {
        let blocks = self.wanted(inside, self.known_block())?;
        let want = self.want(blocks.as_deref());
        let loaded = self.load(part, want, &mut worker.buffer)?;
        let chunk = Arc::new(CachedChunk::new(loaded, &worker.buffer, true));
        if let Some(blocks) = self.wanted(inside, chunk.block_len())? {
            let bytes = worker.buffer.bytes();
            self.decoding(part.number, |decoder| {
                chunk.decode(&blocks, bytes, decoder)?;
                Ok(())
            })?;
        }
        if worker.keeps {
            self.cache.put(part.number, &chunk);
        }
        Ok(chunk)
    }

    /// Decompresses the blocks of a part that a cached chunk lacks.
    fn complete(
        &self,
        chunk: &CachedChunk,
        part: &Part,
        inside: &[Range<u64>],
        worker: &mut Worker<'_>,
    ) -> Result<()> {
        let wanted = self.wanted(inside, chunk.block_len())?;
        let missing = chunk.missing(&wanted.unwrap_or_default());
        if missing.is_empty() {
            return Ok(());
        }
        let bytes = match chunk.content() {
            Content::Blosc(bytes) => bytes,
            _ => {
                self.load(part, Want::Blocks(&missing), &mut worker.buffer)?;
                worker.buffer.bytes()
            }
        };
        let grown = self.decoding(part.number, |decoder| {
            Ok(chunk.decode(&missing, bytes, decoder)?)
        })?;
        self.cache.grown(part.number, grown);
        Ok(())
    }

    /// Copies a part of a chunk to the output. The blocks of the part are decompressed.
    fn copy_from(
        &self,
        chunk: &CachedChunk,
        part: &Part,
        inside: &[Range<u64>],
        to: Strided<'_, &mut [u8]>,
        worker: &mut Worker<'_>,
    ) -> Result<()> {
        let geometry = &self.geometry;
        match chunk.content() {
            Content::Fill(element) => return strided::fill(&sizes(inside)?, element, to),
            Content::Data(data) => return self.copy_data(data, inside, to),
            _ => {}
        }
        let no_block = |number| Error::bug(format!("block {number} is not decompressed"));
        match (&geometry.plain, chunk.content()) {
            // A chunk without separate blocks can be decoded at any position.
            (plain, Content::Blosc(bytes)) if chunk.block_len() == 0 => {
                let scratch = &mut worker.scratch;
                self.decoding(part.number, |decoder| match plain {
                    Some(plain) => each_run(self, plain, inside, to, |from, out| {
                        let start = u32::try_from(from).map_err(|_| too_far(from))?;
                        decoder.decode_range(bytes, start, out)?;
                        Ok(())
                    }),
                    None => {
                        scratch.resize(geometry.block_len, 0);
                        each_block(self, inside, to, |number, copy| {
                            decoder.decode_block(bytes, number, scratch)?;
                            copy(scratch)
                        })
                    }
                })
            }
            (Some(plain), _) => {
                each_run(self, plain, inside, to, |from, out| chunk.read(from, out))
            }
            (None, _) => each_block(self, inside, to, |number, copy| {
                copy(chunk.block(number).ok_or_else(|| no_block(number))?)
            }),
        }
    }

    /// Copies a part of a chunk from its uncompressed data.
    fn copy_data(
        &self,
        data: &[u8],
        inside: &[Range<u64>],
        to: Strided<'_, &mut [u8]>,
    ) -> Result<()> {
        let geometry = &self.geometry;
        let Some(plain) = &geometry.plain else {
            return each_block(self, inside, to, |number, copy| {
                let begin = to_usize(number) * geometry.block_len;
                let block = data.get(begin..begin + geometry.block_len);
                copy(block.ok_or_else(|| Error::bug(format!("no block {number} in a chunk")))?)
            });
        };
        let from = Strided {
            bytes: data,
            start: offset(inside, &vec![0; inside.len()], plain)?,
            strides: plain,
        };
        strided::copy(&sizes(inside)?, geometry.itemsize, from, to)
    }

    /// Lends a decoder, and adds the position of the chunk to its errors.
    fn decoding<T>(
        &self,
        chunk: u64,
        act: impl FnOnce(&mut ChunkDecoder) -> std::result::Result<T, Failure>,
    ) -> Result<T> {
        let done = self.resources.with_decoder(self.context, act);
        done.map_err(|failure| match failure {
            Failure::Chunk(error) => self.store.located(chunk, error.into()),
            Failure::Other(error) => error,
        })
    }

    /// Reads a slice whose first axis has fewer chunks than there are threads: several threads decompress chunks, then several
    /// threads copy from all of them.
    fn read_shared(
        &self,
        slice: &[Range<u64>],
        (axis, threads, keeps): (usize, usize, bool),
        out: &mut [u8],
    ) -> Result<()> {
        let geometry = &self.geometry;
        let at_once = (AT_ONCE / geometry.chunk_len.max(1)).max(threads);
        let len = slice.get(axis).map_or(0, |range| range.end - range.start);
        let step = len.div_ceil(to_u64(threads)).max(1);
        let mut parts = geometry.chunks.parts(slice);
        loop {
            let some: Vec<(Part, OnceLock<Arc<CachedChunk>>)> = parts
                .by_ref()
                .take(at_once)
                .map(|part| (part, OnceLock::new()))
                .collect();
            if some.is_empty() {
                return Ok(());
            }
            parallel::for_each(threads, some.iter(), |(part, place)| {
                let inside = relative(&part.region, &part.origin);
                let chunk =
                    self.with_worker(keeps, |worker| match self.cache.get(part.number) {
                        Some(chunk) => {
                            self.complete(&chunk, part, &inside, worker)?;
                            Ok(chunk)
                        }
                        None => self.kept(part, &inside, worker),
                    })?;
                let _ = place.set(chunk);
                Ok::<_, Error>(())
            })?;
            let ranges = slice.get(axis).into_iter().flat_map(|range| {
                let mut begin = range.start;
                std::iter::from_fn(move || {
                    let stretch = begin..begin.saturating_add(step).min(range.end);
                    begin = stretch.end;
                    (!stretch.is_empty()).then_some(stretch)
                })
            });
            let stretches: Vec<Range<u64>> = ranges.collect();
            let bands = bands(slice, axis, &stretches, geometry.itemsize, out)?;
            parallel::for_each(threads, bands.into_iter(), |Band { wanted, out }| {
                let out_strides = strides(&sizes(&wanted)?, geometry.itemsize);
                let origin = starts(&wanted);
                self.with_worker(keeps, |worker| {
                    for (part, chunk) in &some {
                        let region = crate::common(&part.region, &wanted);
                        if region.iter().any(Range::is_empty) {
                            continue;
                        }
                        let to = Strided {
                            bytes: &mut *out,
                            start: offset(&region, &origin, &out_strides)?,
                            strides: &out_strides,
                        };
                        let chunk = chunk
                            .get()
                            .ok_or_else(|| Error::bug("a chunk was not read"))?;
                        let inside = relative(&region, &part.origin);
                        self.copy_from(chunk, part, &inside, to, worker)?;
                    }
                    Ok(())
                })
            })?;
        }
    }

    /// Cuts one axis of a slice into stretches that do not share decompressed data: whole chunks, or groups of blocks if there
    /// are few chunks and blocks are compressed separately.
    fn stretches(
        &self,
        axis: usize,
        slice: &[Range<u64>],
        threads: usize,
    ) -> Result<Vec<Range<u64>>> {
        let geometry = &self.geometry;
        let whole = slice.get(axis).ok_or_else(|| Error::bug("no such axis"))?;
        // The slice is not empty, so chunks and blocks are not empty either.
        let chunk = along(geometry.chunks.chunk_shape(), axis)?.max(1);
        let block = along(geometry.blocks.chunk_shape(), axis)?.max(1);
        let chunks = whole.end.div_ceil(chunk) - whole.start / chunk;
        let by_blocks = geometry.is_in_blocks && chunks / 2 < to_u64(threads);
        // A few rows of blocks per thread suffice; more stretches would read the headers of chunks too often.
        let blocks = (whole.end - whole.start).div_ceil(block);
        let group = (blocks / 4 / to_u64(threads).max(1)).max(1);
        let several = chunks.div_ceil(to_u64(threads * STRETCHES)).max(1);
        let mut stretches = Vec::new();
        let mut begin = whole.start;
        while begin < whole.end {
            let of_chunk = begin / chunk * chunk;
            let end = if by_blocks {
                let row = (begin - of_chunk) / block;
                (of_chunk + (row + group) * block).min(of_chunk + chunk)
            } else {
                // Saturates past the end of the slice.
                of_chunk.saturating_add(chunk.saturating_mul(several))
            };
            let end = end.min(whole.end);
            stretches.push(begin..end);
            begin = end;
        }
        Ok(stretches)
    }
}

/// Why a chunk was not decoded.
enum Failure {
    /// Its content is invalid.
    Chunk(ChunkError),
    /// Another error, which has its position already.
    Other(Error),
}

impl From<ChunkError> for Failure {
    fn from(error: ChunkError) -> Self {
        Self::Chunk(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

fn too_far(at: usize) -> Error {
    Error::bug(format!("byte {at} of a chunk"))
}

/// Cuts a slice and the output into parts that threads can read independently.
fn bands<'a>(
    slice: &[Range<u64>],
    axis: usize,
    stretches: &[Range<u64>],
    itemsize: usize,
    out: &'a mut [u8],
) -> Result<Vec<Band<'a>>> {
    let lens = sizes(slice)?;
    let after = lens.iter().skip(axis + 1);
    // At most the length of the output.
    let step: usize = itemsize * after.product::<usize>();
    let mut bands = Vec::with_capacity(stretches.len());
    let mut rest = out;
    for range in stretches {
        let len = to_u64(step) * (range.end - range.start);
        let split = usize::try_from(len)
            .ok()
            .and_then(|len| std::mem::take(&mut rest).split_at_mut_checked(len));
        let (out, later) =
            split.ok_or_else(|| Error::bug(format!("no {len} bytes for {range:?}")))?;
        let wanted = with_range(slice, axis, range.clone())?;
        bands.push(Band { wanted, out });
        rest = later;
    }
    match rest.len() {
        0 => Ok(bands),
        len => Err(Error::bug(format!("{len} bytes of a slice in no part"))),
    }
}

/// Receives the bytes of a block.
type TakeBlock<'a, E> = &'a mut dyn FnMut(&[u8]) -> std::result::Result<(), E>;

/// Visits the blocks that a part of a chunk touches. `read` gets the number of a block, and passes its bytes on.
fn each_block<S, E: From<Error>>(
    array: &Chunked<S>,
    inside: &[Range<u64>],
    to: Strided<'_, &mut [u8]>,
    mut read: impl FnMut(u32, TakeBlock<'_, E>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let geometry = &array.geometry;
    let Strided {
        bytes,
        start,
        strides,
    } = to;
    let first = starts(inside);
    for Part {
        number,
        origin,
        region,
        ..
    } in geometry.blocks.parts(inside)
    {
        read(block_number(number)?, &mut |block| {
            let from = Strided {
                bytes: block,
                start: offset(&region, &origin, &geometry.block_strides)?,
                strides: &geometry.block_strides,
            };
            let to = Strided {
                bytes: &mut *bytes,
                start: start + offset(&region, &first, strides)?,
                strides,
            };
            Ok(strided::copy(
                &sizes(&region)?,
                geometry.itemsize,
                from,
                to,
            )?)
        })?;
    }
    Ok(())
}

/// Visits the contiguous runs of bytes of a part of a chunk whose elements are in C order.
fn each_run<S, E: From<Error>>(
    array: &Chunked<S>,
    plain: &[usize],
    inside: &[Range<u64>],
    to: Strided<'_, &mut [u8]>,
    mut read: impl FnMut(usize, &mut [u8]) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let begin = offset(inside, &vec![0; inside.len()], plain)?;
    let strides = [plain, to.strides];
    strided::runs(
        &sizes(inside)?,
        array.geometry.itemsize,
        &strides,
        |[from, at], len| {
            let at = to.start + at;
            read(begin + from, slice_mut(to.bytes, at..at + len)?)
        },
    )
}
