//! [`RecordChunker`]: makes chunks from records, one for each record or one for many.

use crate::encoder::{Batch, ChunkCompressor, ChunkOptions, ChunkSink, Totals};
use blosc1::MAX_NBYTES;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel::BATCH;
use bloscpack_wire::{
    FormatError, Limit, Packing,
    internal::{Pack, most_packed},
};
#[cfg(feature = "aio")]
use std::task::{Context, Poll};

/// The most chunks in one batch, for chunks so small that the batch would otherwise grow without bound.
const BATCH_CHUNKS: usize = 4096;

/// Makes chunks of records and has them compressed.
pub(crate) struct RecordChunker {
    compressor: ChunkCompressor,
    packing: Option<Packing>,
    /// The limit on the uncompressed bytes of a chunk.
    longest: u32,
    /// The length of the longest record.
    most: u32,
    /// The records of the packed chunk that is being filled.
    pack: Pack,
    /// Chunks that have not been submitted.
    batch: Batch,
    /// All chunks so far, including those in `batch`.
    made: Totals,
    /// The numbers of the first and the next record.
    first: u64,
    records: u64,
    /// Number of records in chunks.
    in_chunks: u64,
    /// The number of records that was announced beforehand.
    promised: Option<u64>,
}

/// Bytes of a chunk in addition to its only record.
fn overhead(packing: Option<Packing>) -> u32 {
    packing.map_or(0, |_| MAX_NBYTES - most_packed())
}

impl RecordChunker {
    /// A chunker whose first record has the number `first`.
    pub(crate) fn new(
        options: &ChunkOptions,
        packing: Option<Packing>,
        first: u64,
        promised: Option<u64>,
    ) -> Result<Self> {
        // With a limit below the overhead, no record fits, and `close` refuses the chunk of an empty one.
        let longest = options.longest.min(MAX_NBYTES);
        let most = longest.saturating_sub(overhead(packing));
        Ok(Self {
            compressor: ChunkCompressor::new(options)?,
            packing,
            longest: options.longest,
            most,
            pack: Pack::default(),
            batch: Batch::default(),
            made: Totals::default(),
            first,
            records: first,
            in_chunks: 0,
            promised,
        })
    }

    /// The number of the next record.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Takes a record. A record that is refused changes nothing.
    pub(crate) fn push(&mut self, record: &[u8], sink: &mut impl ChunkSink) -> Result<()> {
        self.compressor.check()?;
        let length = self.length_of(record)?;
        let Some(given) = self.records.checked_add(1) else {
            return Err(Error::usage(
                "the file already has the maximum number of records",
            ));
        };
        if let Some(promised) = self.promised.filter(|promised| given > *promised) {
            self.compressor.break_off();
            return Err(Error::wrong_count(promised, given));
        }
        if let Some(packing) = self.packing {
            if !self.pack.is_empty() && !self.pack.has_room(length, packing) {
                self.close(sink)?;
            }
            self.pack.push(record, length);
        } else {
            // The last record waits for `finish`: a dropped writer must not leave output that looks complete.
            self.make_room(record.len(), self.promised == Some(given), sink)?;
            self.add(record.len(), 1, |data| data.extend_from_slice(record))?;
        }
        self.records = given;
        Ok(())
    }

    #[inline]
    fn length_of(&self, record: &[u8]) -> Result<u32> {
        match u32::try_from(record.len()) {
            Ok(length) if length <= self.most => Ok(length),
            _ => Err(self.too_long(record.len())),
        }
    }

    #[cold]
    fn too_long(&self, len: usize) -> Error {
        let (most, number) = (MAX_NBYTES - overhead(self.packing), self.records);
        let in_chunk = to_u64(len) + u64::from(overhead(self.packing));
        match FormatError::check_write(Limit::Chunk, in_chunk, self.longest.into()) {
            Err(error) if to_u64(len) <= most.into() => error.into(),
            _ => Error::usage(format!(
                "record {number} has {len} bytes and exceeds the maximum record length of {most} bytes"
            )),
        }
    }

    /// Ends the packed chunk that is being filled.
    fn close(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        let count = self.pack.count().into();
        let first = self.first + self.in_chunks;
        let (len, longest) = (to_u64(self.pack.len()), self.longest.into());
        FormatError::check_write(Limit::Chunk, len, longest)?;
        let pack = std::mem::take(&mut self.pack);
        self.make_room(pack.len(), false, sink)?;
        self.add(pack.len(), count, |data| pack.encode(first, data))?;
        self.pack = pack;
        self.pack.clear();
        Ok(())
    }

    /// Adds a chunk of `len` bytes with this many records to the batch.
    fn add(&mut self, len: usize, records: u64, append: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let before = self.batch.data.len();
        self.batch.data.append(append);
        let added = self.batch.data.len() - before;
        if added != len {
            self.compressor.break_off();
            let why = format!("{records} records take {added} bytes of a chunk instead of {len}");
            return Err(Error::bug(why));
        }
        self.batch.lens.push(len);
        self.made.chunks += 1;
        self.made.bytes += to_u64(len);
        self.in_chunks += records;
        Ok(())
    }

    /// Submits the batch if a chunk of `len` bytes does not fit into it, or with `is_alone` in any case.
    fn make_room(&mut self, len: usize, is_alone: bool, sink: &mut impl ChunkSink) -> Result<()> {
        let is_full = self.batch.data.len() + len > BATCH;
        if is_alone || is_full || self.batch.lens.len() >= BATCH_CHUNKS {
            self.send(sink)?;
        }
        Ok(())
    }

    /// Submits the batch, unless it is empty.
    fn send(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        if self.batch.lens.is_empty() {
            return Ok(());
        }
        self.compressor.submit(&mut self.batch, sink)
    }

    /// Passes on all pushed records except the last one of an announced number.
    pub(crate) fn flush(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        self.begin_flush(sink)?;
        self.compressor.drain(sink)
    }

    /// Submits the chunks of a flush, at most two batches.
    pub(crate) fn begin_flush(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        self.compressor.check()?;
        if !self.pack.is_empty() {
            self.close(sink)?;
        }
        let is_last = self.packing.is_none() && self.promised == Some(self.records);
        if !is_last {
            self.send(sink)?;
        }
        Ok(())
    }

    /// As [`ChunkCompressor::poll_room`].
    #[cfg(feature = "aio")]
    pub(crate) fn poll_room(
        &mut self,
        is_all: bool,
        task: &Context<'_>,
        sink: &mut impl ChunkSink,
    ) -> Poll<Result<()>> {
        self.compressor.poll_room(is_all, task, sink)
    }

    /// Passes on all records that are left.
    ///
    /// # Errors
    /// Returns any error of the sink, [`Code::WrongCount`](bloscpack_error::Code::WrongCount) if fewer records arrived than
    /// were announced, and a bug if not all of them were passed on.
    pub(crate) fn finish(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        self.begin_finish(sink)?;
        self.end(sink)
    }

    /// Submits the rest, at most two batches.
    pub(crate) fn begin_finish(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        let given = self.records;
        if let Some(promised) = self.promised.filter(|promised| *promised != given) {
            return Err(Error::wrong_count(promised, given));
        }
        self.begin_flush(sink)?;
        self.send(sink)
    }

    /// Waits for all submitted batches, passes them on, and checks the totals.
    pub(crate) fn end(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        let given = self.records;
        if self.first + self.in_chunks != given {
            self.compressor.break_off();
            let (first, found) = (self.first, self.in_chunks);
            let why = format!("{found} records from {first} on are in chunks, and {given} is next");
            return Err(Error::bug(why));
        }
        self.compressor.finish(self.made, sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc1::ChunkSettings;
    use bloscpack_error::Code;
    use bloscpack_wire::{Checksum, Hashers};

    /// Takes chunks and forgets them.
    struct Nowhere;

    impl ChunkSink for Nowhere {
        fn put(&mut self, _: &[u8], _: &[usize]) -> Result<()> {
            Ok(())
        }
    }

    fn begun(packing: Option<Packing>) -> RecordChunker {
        let options = ChunkOptions {
            chunk: ChunkSettings::default(),
            checksum: Checksum::Crc32,
            longest: u32::MAX,
            hashers: Hashers::default(),
            threads: 1,
            crew: None,
        };
        let mut chunker = RecordChunker::new(&options, packing, 5, None).unwrap();
        for record in ["one", "", "three"] {
            chunker.push(record.as_bytes(), &mut Nowhere).unwrap();
        }
        chunker
    }

    #[test]
    fn a_wrong_cut_a_wrong_length_or_a_wrong_count_is_never_finished() {
        let plants: [fn(&mut RecordChunker); 6] = [
            |chunker| chunker.records += 1,
            |chunker| chunker.in_chunks += 1,
            |chunker| chunker.made.chunks += 1,
            |chunker| chunker.made.bytes += 1,
            |chunker| chunker.batch.lens.push(3),
            |chunker| chunker.batch.data.clear(),
        ];
        for packing in [None, Packing::new(64)] {
            for (number, plant) in plants.into_iter().enumerate() {
                let mut chunker = begun(packing);
                chunker.pack.push(&[7; 60], 60);
                if packing.is_some() {
                    chunker.records += 1;
                    chunker.close(&mut Nowhere).unwrap();
                } else {
                    chunker.pack.clear();
                }
                plant(&mut chunker);
                let error = chunker.finish(&mut Nowhere).unwrap_err();
                assert!(error.code() == Code::Bug, "{number}: {error:?}");
                assert!(chunker.compressor.check().is_err(), "{number}");
            }
            begun(packing).finish(&mut Nowhere).unwrap();
        }
    }

    #[test]
    fn a_chunk_of_another_length_than_its_records_is_a_bug() {
        let mut chunker = begun(None);
        let error = chunker.add(3, 1, |data| data.extend_from_slice(b"four"));
        assert_eq!(error.unwrap_err().code(), Code::Bug);
        assert!(chunker.finish(&mut Nowhere).is_err());
    }
}
