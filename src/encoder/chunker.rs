//! [`Chunker`]: cuts bytes into chunks of one size.
//!
//! ```text
//!   write, read_from ─► filling (one batch: as many chunks as make 128 KiB, or one larger chunk) ─► workers ─► sink
//!   read_at ─► ranges of the source, which the workers read ──────────────────────────────────────► workers ─► sink
//! ```

#[cfg(feature = "aio")]
mod poll;

use super::auto::AutoTune;
use super::chunk_compressor::{Batch, ChunkCompressor, ChunkOptions, ChunkSink, Totals};
use crate::shared_source::{Fetch, in_order};
use blosc1::Tuned;
use bloscpack_error::checked::{len_of, slice, slice_mut, to_u64, to_usize};
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::SharedSource;
use bloscpack_storage::parallel::BATCH;
#[cfg(feature = "aio")]
use poll::Trial;
use std::io::{self, Read};
use std::iter::repeat_n;
use std::ops::Range;
use std::sync::Arc;

/// Cuts data into chunks and has them compressed.
pub(crate) struct Chunker {
    compressor: ChunkCompressor,
    chunk_size: usize,
    /// Bytes of data that are compressed together.
    batch_size: usize,
    /// The batch that is being filled.
    filling: Batch,
    /// The number of bytes that was announced beforehand, from which the last chunk follows.
    promised: Option<u64>,
    total_in: u64,
    /// A flush ends a chunk early.
    is_interactive: bool,
    /// Chunks and bytes up to the last flush.
    flushed: Totals,
    /// A short chunk has been submitted, which is the last.
    is_closed: bool,
    tuning: Tuning,
}

/// The origin of the settings.
enum Tuning {
    /// The caller has set them.
    Given,
    /// The first data will decide.
    Pending(AutoTune),
    /// The crew examines the first data.
    #[cfg(feature = "aio")]
    Trying(Trial),
    /// The first data has decided.
    Chosen(Tuned),
}

impl Chunker {
    pub(crate) fn new(
        options: &ChunkOptions,
        chunk_size: u32,
        promised: Option<u64>,
    ) -> Result<Self> {
        let chunk_size = to_usize(chunk_size);
        let Some(together) = BATCH.checked_div(chunk_size) else {
            return Err(Error::bug("chunks of no bytes"));
        };
        Ok(Self {
            compressor: ChunkCompressor::new(options)?,
            chunk_size,
            batch_size: chunk_size * together.max(1),
            filling: Batch::default(),
            promised,
            total_in: 0,
            is_interactive: false,
            flushed: Totals::default(),
            is_closed: false,
            tuning: Tuning::Given,
        })
    }

    /// The same chunker, with settings that the first data decides.
    pub(super) fn choosing(mut self, auto: Option<AutoTune>) -> Self {
        self.tuning = auto.map_or(Tuning::Given, Tuning::Pending);
        self
    }

    /// The same chunker, in which a flush ends the current chunk.
    pub(super) fn interactive(mut self, is_interactive: bool) -> Self {
        self.is_interactive = is_interactive;
        self
    }

    /// Chooses now, by the data of the first chunk so far, unless the choice has been made.
    pub(super) fn tune(&mut self, sink: &mut impl ChunkSink) -> Result<Option<&Tuned>> {
        self.compressor.check()?;
        self.settle(AutoTune::by_data, sink)?;
        Ok(self.tuned())
    }

    /// The choice, once it has been made.
    pub(super) fn tuned(&self) -> Option<&Tuned> {
        match &self.tuning {
            Tuning::Chosen(tuned) => Some(tuned),
            _ => None,
        }
    }

    pub(crate) fn total_in(&self) -> u64 {
        self.total_in
    }

    /// Uncompressed bytes of every chunk except the last.
    pub(crate) fn chunk_size(&self) -> Result<u32> {
        let size = self.chunk_size;
        u32::try_from(size).map_err(|_| Error::bug(format!("chunks of {size} bytes")))
    }

    /// Takes some of these bytes, at least one.
    pub(crate) fn write(&mut self, data: &[u8], sink: &mut impl ChunkSink) -> Result<usize> {
        self.make_room(sink)?;
        let room = self.filling.data.room(self.batch_size)?;
        let len = room.len().min(data.len());
        slice_mut(room, 0..len)?.copy_from_slice(slice(data, 0..len)?);
        self.filling.data.filled(len)?;
        // Without room, all announced bytes are taken: count one more, which is an error.
        self.count(len.max(1))?;
        Ok(len)
    }

    /// Takes everything from the reader, without a copy in between.
    pub(crate) fn read_from<R: Read>(
        &mut self,
        reader: &mut R,
        sink: &mut impl ChunkSink,
    ) -> Result<u64> {
        let before = self.total_in;
        loop {
            self.make_room(sink)?;
            let mut extra = [0];
            let room = self.filling.data.room(self.batch_size)?;
            // After the last announced byte, checks whether the reader has more.
            let is_full = room.is_empty();
            let room: &mut [u8] = if is_full { &mut extra } else { room };
            let most = room.len();
            let len = match reader.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // A wrong reader may return more than the room has place for, which would make the header wrong.
                result => result.reading()?.min(most),
            };
            if len == 0 {
                return Ok(self.total_in - before);
            }
            if !is_full {
                self.filling.data.filled(len)?;
            }
            self.count(len)?;
            if len < most {
                // The next read may have to wait: compress what is complete.
                self.hand_on(sink)?;
            }
        }
    }

    /// Takes these bytes of a source. The threads that compress whole batches also read them. The caller's thread reads the
    /// bytes up to the first whole batch, the bytes after the last one, and the last chunk.
    pub(crate) fn read_at(
        &mut self,
        source: &SharedSource,
        bytes: Range<u64>,
        sink: &mut impl ChunkSink,
    ) -> Result<u64> {
        let before = self.total_in;
        let step = to_u64(self.batch_size);
        let Range { start: mut at, end } = bytes;
        let begun = to_u64(self.filling.data.len());
        if begun == 0 && at < end {
            self.settle(|auto, _| auto.by_source(source, &(at..end)), sink)?;
        }
        if begun > 0 {
            let border = at + (step - begun).min(len_of(&(at..end)));
            at += self.read_part(source, at..border, sink)?;
            if at < border {
                return Ok(self.total_in - before);
            }
            self.make_room(sink)?;
        }
        // The last announced chunk waits for `finish`.
        let promised = self.promised;
        let has_more = |total: u64| match promised {
            Some(promised) => promised.checked_sub(total).is_some_and(|left| left > step),
            None => true,
        };
        while self.filling.data.len() == 0 && len_of(&(at..end)) > step && has_more(self.total_in) {
            self.compressor.check()?;
            let next = at + step;
            self.filling.fetch = Some(Fetch {
                source: Arc::clone(source),
                bytes: at..next,
            });
            self.count(self.batch_size)?;
            self.submit(self.batch_size, sink)?;
            at = next;
        }
        self.read_part(source, at..end, sink)?;
        // Report read errors of the threads here, not in a later call.
        self.compressor.drain(sink)?;
        Ok(self.total_in - before)
    }

    /// Reads in order. After an error, all further data is refused, as after a read error of a worker: it would be in the
    /// wrong place.
    fn read_part(
        &mut self,
        source: &SharedSource,
        bytes: Range<u64>,
        sink: &mut impl ChunkSink,
    ) -> Result<u64> {
        let mut reader = in_order(source, bytes).reading()?;
        let result = self.read_from(&mut reader, sink);
        if result.is_err() {
            self.compressor.break_off();
        }
        result
    }

    /// Counts bytes that were taken in, and refuses more than were announced.
    fn count(&mut self, len: usize) -> Result<()> {
        self.total_in += to_u64(len);
        let given = self.total_in;
        match self.promised {
            Some(promised) if given > promised => {
                self.compressor.break_off();
                Err(Error::wrong_size(promised, given))
            }
            _ => Ok(()),
        }
    }

    /// Submits the batch if it is full, unless it contains the last announced chunk. That one waits for `finish`: a dropped
    /// encoder must not leave output that looks complete.
    fn make_room(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        self.compressor.check()?;
        if self.filling.data.len() < self.batch_size || self.promised == Some(self.total_in) {
            return Ok(());
        }
        self.submit(self.batch_size, sink)
    }

    /// Submits all full chunks except the last announced one.
    fn hand_on(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        let mut there = self.filling.data.len();
        if self.promised == Some(self.total_in) {
            // Hold back the last byte. Saturates at 0 bytes.
            there = there.saturating_sub(1);
        }
        let full = there - there % self.chunk_size;
        if full == 0 {
            return Ok(());
        }
        let rest = self.filling.data.split_off(full)?;
        self.submit(full, sink)?;
        self.filling.data.put(&rest)
    }

    /// Submits the batch, which is this many bytes long, or will be once its worker has read them.
    fn submit(&mut self, len: usize, sink: &mut impl ChunkSink) -> Result<()> {
        if self.is_closed {
            self.compressor.break_off();
            return Err(Error::bug("a chunk after the last one"));
        }
        let rest = len % self.chunk_size;
        let full = repeat_n(self.chunk_size, len / self.chunk_size);
        self.filling.lens.extend(full);
        if rest > 0 || len == 0 {
            self.filling.lens.push(rest);
            self.is_closed = !self.is_interactive;
        }
        self.settle(AutoTune::by_data, sink)?;
        self.compressor.submit(&mut self.filling, sink)
    }

    /// Chooses settings by the data of the first chunk, or by other data in `choose`, unless the choice has been made.
    fn settle(
        &mut self,
        choose: impl FnOnce(&AutoTune, &[u8]) -> Result<Tuned>,
        sink: &mut impl ChunkSink,
    ) -> Result<()> {
        let Tuning::Pending(auto) = &self.tuning else {
            return Ok(());
        };
        // Use one chunk at most, so that the choice does not depend on how the data was split into calls.
        let data = self.filling.data.data()?;
        let first = slice(data, 0..data.len().min(self.chunk_size))?;
        let settled = choose(auto, first)
            .and_then(|tuned| Ok((auto.settle(&tuned, sink)?, Tuning::Chosen(tuned))));
        let result = settled.map(|(compressor, tuning)| {
            self.compressor = compressor;
            self.tuning = tuning;
        });
        if result.is_err() {
            // The bytes before the chunks may be written in part.
            self.tuning = Tuning::Given;
            self.compressor.break_off();
        }
        result
    }

    /// Passes on all full chunks and, if the chunker is interactive, the current one.
    pub(crate) fn flush(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        self.begin_flush(sink)?;
        self.compressor.drain(sink)
    }

    /// Submits the chunks of a flush, at most one batch.
    pub(crate) fn begin_flush(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        self.compressor.check()?;
        let there = self.filling.data.len();
        if self.is_interactive && there > 0 {
            self.submit(there, sink)?;
            self.flushed = self.expected();
        } else {
            self.hand_on(sink)?;
        }
        Ok(())
    }

    /// The chunks and bytes that all data so far results in.
    fn expected(&self) -> Totals {
        let bytes = self.total_in;
        let since = (bytes - self.flushed.bytes).div_ceil(to_u64(self.chunk_size));
        let chunks = self.flushed.chunks + since;
        Totals { chunks, bytes }
    }

    /// Passes on all chunks that are left; `may_be_empty` allows a member without any chunk.
    ///
    /// # Errors
    /// Returns any error of the sink, [`Code::WrongSize`](bloscpack_error::Code::WrongSize) if fewer bytes arrived than were
    /// announced, and a bug if not all of them were passed on.
    pub(crate) fn finish(&mut self, may_be_empty: bool, sink: &mut impl ChunkSink) -> Result<()> {
        let expected = self.begin_finish(may_be_empty, sink)?;
        self.end(expected, sink)
    }

    /// Submits the rest, at most one batch, and returns the totals that the sink must have received in the end.
    pub(crate) fn begin_finish(
        &mut self,
        may_be_empty: bool,
        sink: &mut impl ChunkSink,
    ) -> Result<Totals> {
        let given = self.total_in;
        if let Some(promised) = self.promised.filter(|promised| *promised != given) {
            return Err(Error::wrong_size(promised, given));
        }
        self.make_room(sink)?;
        self.settle(AutoTune::by_data, sink)?;
        let has_none = given == 0 && !may_be_empty;
        if self.filling.data.len() > 0 || has_none {
            self.submit(self.filling.data.len(), sink)?;
        }
        let mut expected = self.expected();
        if has_none {
            expected.chunks = 1;
        }
        Ok(expected)
    }

    /// Waits for all submitted batches, passes them on, and checks the totals.
    pub(crate) fn end(&mut self, expected: Totals, sink: &mut impl ChunkSink) -> Result<()> {
        self.compressor.finish(expected, sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Encoder;
    use blosc1::ChunkSettings;
    use bloscpack_error::{Category, Code};
    use bloscpack_wire::{Checksum, Hashers};
    use std::io::Write;

    /// Takes chunks and forgets them.
    struct Nowhere;

    impl ChunkSink for Nowhere {
        fn put(&mut self, _: &[u8], _: &[usize]) -> Result<()> {
            Ok(())
        }
    }

    fn chunker(chunk_size: u32) -> Result<Chunker> {
        let options = ChunkOptions {
            chunk: ChunkSettings::default(),
            checksum: Checksum::Crc32,
            longest: u32::MAX,
            hashers: Hashers::default(),
            threads: 1,
            crew: None,
        };
        Chunker::new(&options, chunk_size, None)
    }

    #[track_caller]
    fn assert_bug<T>(result: Result<T>) {
        let error = result.map(|_| ()).unwrap_err();
        assert_eq!(error.code(), Code::Bug, "{error:?}");
    }

    #[test]
    fn a_wrong_cut_a_wrong_length_or_a_wrong_count_is_never_finished() {
        let plant: [fn(&mut Chunker) -> Result<()>; 6] = [
            // A cut before the end of a chunk, and after it.
            |chunker| chunker.submit(9, &mut Nowhere),
            |chunker| chunker.submit(11, &mut Nowhere),
            // A length of a chunk that is not that of its data.
            |chunker| {
                chunker.filling.lens.push(1);
                Ok(())
            },
            // A byte too many, and one too few, in the count.
            |chunker| {
                chunker.total_in += 1;
                Ok(())
            },
            |chunker| {
                chunker.total_in -= 1;
                Ok(())
            },
            // Data that gets lost.
            |chunker| {
                chunker.filling.data.clear();
                Ok(())
            },
        ];
        for plant in plant {
            let mut chunker = chunker(10).unwrap();
            assert_eq!(chunker.write(&[7; 25], &mut Nowhere).unwrap(), 25);
            let planted = plant(&mut chunker);
            let more = planted.and_then(|()| chunker.write(&[7; 25], &mut Nowhere).map(|_| ()));
            assert_bug(more.and_then(|()| chunker.finish(true, &mut Nowhere)));
        }
        let mut chunker = chunker(10).unwrap();
        chunker.write(&[7; 50], &mut Nowhere).unwrap();
        chunker.finish(true, &mut Nowhere).unwrap();
        assert_bug(self::chunker(0));
    }

    #[test]
    fn nothing_follows_a_chunk_that_is_not_full() {
        let mut chunker = chunker(10).unwrap();
        chunker.filling.data.put(&[7; 9]).unwrap();
        chunker.submit(9, &mut Nowhere).unwrap();
        chunker.filling.data.put(&[7; 10]).unwrap();
        assert_bug(chunker.submit(10, &mut Nowhere));
        assert!(chunker.compressor.check().is_err());
    }

    fn promised(bytes: u64) -> Encoder<Vec<u8>> {
        let options = Encoder::builder().chunk_size(10).size(bytes);
        options.write_to(Vec::new()).unwrap()
    }

    #[test]
    fn more_than_was_promised_is_an_error_however_it_comes() {
        for (size, given) in [(0, 1), (5, 6), (10, 11), (10, 40), (20, 21)] {
            let data = vec![1; given];
            let error = promised(size).read_from(data.as_slice()).unwrap_err();
            assert!(error.code() == Code::WrongSize, "{size} {given}");
            let error = promised(size).write_all(&data).unwrap_err();
            assert_eq!(
                Error::from(error).category(),
                Category::Failed,
                "{size} {given}"
            );
        }
    }

    #[test]
    fn what_was_promised_ends_at_the_border_of_a_chunk_too() {
        for size in [0u8, 9, 10, 20] {
            let mut encoder = promised(size.into());
            let data = vec![1; size.into()];
            assert_eq!(encoder.read_from(data.as_slice()).unwrap(), u64::from(size));
            assert_eq!(crate::decompress(&encoder.finish().unwrap()).unwrap(), data);
        }
    }

    #[test]
    fn a_reader_that_claims_too_much_is_not_believed() {
        /// Reads left, and how much there was room for.
        struct Boaster(u8, usize);
        impl Read for &mut Boaster {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                if self.0 == 0 {
                    return Ok(0);
                }
                self.0 -= 1;
                self.1 += buf.len();
                Ok(buf.len() + 5)
            }
        }
        let target = io::Cursor::new(Vec::new());
        let options = Encoder::builder().chunk_size(10);
        let mut encoder = options.write_to_file(target).unwrap();
        let mut boaster = Boaster(3, 0);
        let count = encoder.read_from(&mut boaster).unwrap();
        assert_eq!(count, boaster.1 as u64);
        let file = encoder.finish().unwrap().into_inner();
        assert_eq!(crate::decompress(&file).unwrap(), vec![0; boaster.1]);
    }

    #[test]
    fn fewer_than_were_promised_are_an_error_of_finish() {
        for (size, given) in [(1, 0), (6, 5), (11, 10), (20, 10)] {
            let mut encoder = promised(size);
            encoder.write_all(&vec![1; given]).unwrap();
            let error = encoder.finish().unwrap_err();
            assert_eq!(error.category(), Category::Failed, "{size} {given}");
        }
    }
}
