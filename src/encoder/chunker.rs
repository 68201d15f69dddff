//! [`Chunker`]: from bytes to chunks of one size.

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
    /// Data of chunks that are compressed together.
    batch_size: usize,
    /// Data of the chunks that are being filled.
    filling: Batch,
    /// The number of bytes that was announced beforehand. It determines which chunk is the last.
    promised: Option<u64>,
    total_in: u64,
    /// A flush ends a chunk early.
    is_interactive: bool,
    /// Everything up to the last chunk that a flush has ended.
    flushed: Totals,
    /// A chunk shorter than the others has been sent on its way: it is the last.
    is_closed: bool,
    tuning: Tuning,
}

/// Where the settings come from.
enum Tuning {
    /// They were given.
    Given,
    /// The first data decides.
    Pending(AutoTune),
    /// A crew looks at the first data.
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

    /// The same with settings that the first data decides.
    pub(super) fn choosing(mut self, auto: Option<AutoTune>) -> Self {
        self.tuning = auto.map_or(Tuning::Given, Tuning::Pending);
        self
    }

    /// The same with chunks that a flush ends early.
    pub(super) fn interactive(mut self, is_interactive: bool) -> Self {
        self.is_interactive = is_interactive;
        self
    }

    /// Chooses now, by the data of the first chunk so far, unless the choice was made.
    pub(super) fn tune(&mut self, sink: &mut impl ChunkSink) -> Result<Option<&Tuned>> {
        self.compressor.check()?;
        self.settle(AutoTune::by_data, sink)?;
        Ok(self.tuned())
    }

    /// The choice, once it was made.
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
        // The room is used up only after the last announced byte.
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
                // A reader that claims more than there was room for would make the header wrong.
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
                // There may be nothing more for a while.
                self.hand_on(sink)?;
            }
        }
    }

    /// Takes these bytes of a source. The threads that compress whole chunks also read them; the bytes before and after
    /// those, and the last chunk, are read here.
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
        // The last announced chunk has to wait for `finish`.
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
        // Errors of the threads that read are reported here, and not later.
        self.compressor.drain(sink)?;
        Ok(self.total_in - before)
    }

    /// Reads in order. After an error nothing can follow, since it would not be where it belongs; the same holds for an
    /// error of a thread that reads.
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

    /// Sends full chunks on their way once there are enough of them, unless the last announced one is among them: it waits
    /// for `finish`, so that a dropped encoder never leaves output that looks complete.
    fn make_room(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        self.compressor.check()?;
        if self.filling.data.len() < self.batch_size || self.promised == Some(self.total_in) {
            return Ok(());
        }
        self.submit(self.batch_size, sink)
    }

    /// Sends all full chunks on their way, except for the last announced one.
    fn hand_on(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        let mut there = self.filling.data.len();
        if self.promised == Some(self.total_in) {
            // Holds back the last byte. Saturates without any bytes.
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

    /// Submits the filled batch, which is or will be this many bytes long.
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

    /// Chooses settings by the data of the first chunk, or by the data that `choose` looks at, unless the choice was made.
    fn settle(
        &mut self,
        choose: impl FnOnce(&AutoTune, &[u8]) -> Result<Tuned>,
        sink: &mut impl ChunkSink,
    ) -> Result<()> {
        let Tuning::Pending(auto) = &self.tuning else {
            return Ok(());
        };
        // At most one chunk: their number depends on how the data was split into calls.
        let data = self.filling.data.data()?;
        let first = slice(data, 0..data.len().min(self.chunk_size))?;
        let settled = choose(auto, first)
            .and_then(|tuned| Ok((auto.settle(&tuned, sink)?, Tuning::Chosen(tuned))));
        let result = settled.map(|(compressor, tuning)| {
            self.compressor = compressor;
            self.tuning = tuning;
        });
        if result.is_err() {
            // The bytes before the chunks may be torn.
            self.tuning = Tuning::Given;
            self.compressor.break_off();
        }
        result
    }

    /// Hands on all chunks that are full, and if it is interactive also the one that is being filled.
    pub(crate) fn flush(&mut self, sink: &mut impl ChunkSink) -> Result<()> {
        self.begin_flush(sink)?;
        self.compressor.drain(sink)
    }

    /// Sends on its way what a flush hands on: at most one batch.
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

    /// All that was taken in, in chunks.
    fn expected(&self) -> Totals {
        let bytes = self.total_in;
        let since = (bytes - self.flushed.bytes).div_ceil(to_u64(self.chunk_size));
        let chunks = self.flushed.chunks + since;
        Totals { chunks, bytes }
    }

    /// Hands on all that is left; `may_be_empty` allows a member without any chunk.
    ///
    /// # Errors
    /// Returns any error of the sink; [`Code::WrongSize`](bloscpack_error::Code::WrongSize) if fewer bytes arrived than were announced; a bug if
    /// not all of them came out.
    pub(crate) fn finish(&mut self, may_be_empty: bool, sink: &mut impl ChunkSink) -> Result<()> {
        let expected = self.begin_finish(may_be_empty, sink)?;
        self.end(expected, sink)
    }

    /// Sends all that is left on its way, at most one batch, and returns what is then to be handed on in all.
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

    /// Hands on all that is under way, and checks it.
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
