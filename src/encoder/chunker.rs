//! From bytes to chunks of one size.

use super::auto::Auto;
use super::chunk_compressor::{Batch, Line, Recipe, Sink};
use crate::pipeline::BATCH;
use crate::shared_source::{Fetch, Shared, in_order};
use blosc1::Tuned;
use bloscpack_error::{Error, ErrorKind, IoSide, Result};
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

pub(crate) struct Stage {
    line: Line,
    chunk_size: usize,
    /// Data of chunks that go down the line together.
    batch_size: usize,
    /// Data of the chunks that are being filled.
    filling: Batch,
    /// Bytes promised beforehand, and with that, which chunk is the last.
    promised: Option<u64>,
    total_in: u64,
    /// Settings that wait for the first data, and then why they are as they are.
    auto: Option<Auto>,
    tuned: Option<Tuned>,
}

impl Stage {
    pub(crate) fn new(recipe: &Recipe, chunk_size: u32, promised: Option<u64>) -> Result<Self> {
        let chunk_size = usize::try_from(chunk_size).unwrap_or(usize::MAX).max(1);
        let together = (BATCH / chunk_size).max(1);
        Ok(Self {
            line: Line::new(recipe)?,
            chunk_size,
            batch_size: chunk_size.saturating_mul(together),
            filling: Batch::default(),
            promised,
            total_in: 0,
            auto: None,
            tuned: None,
        })
    }

    /// The same with settings that the first data decides.
    pub(super) fn choosing(mut self, auto: Option<Auto>) -> Self {
        self.auto = auto;
        self
    }

    /// Chooses now, by what there is of the first chunk, if that is still to be done.
    pub(super) fn tune(&mut self, sink: &mut impl Sink) -> Result<Option<&Tuned>> {
        self.line.check()?;
        self.settle(Auto::by_data, sink)?;
        Ok(self.tuned())
    }

    /// What was chosen, once the first data is there.
    pub(super) fn tuned(&self) -> Option<&Tuned> {
        self.tuned.as_ref()
    }

    pub(crate) fn total_in(&self) -> u64 {
        self.total_in
    }

    /// Takes some of these bytes, at least one.
    pub(crate) fn write(&mut self, data: &[u8], sink: &mut impl Sink) -> Result<usize> {
        self.make_room(sink)?;
        let room = self.filling.data.room(self.batch_size);
        let len = room.len().min(data.len());
        if let (Some(to), Some(from)) = (room.get_mut(..len), data.get(..len)) {
            to.copy_from_slice(from);
        }
        self.filling.data.filled(len);
        // No room is left only behind the last byte promised.
        self.count(len.max(1))?;
        Ok(len)
    }

    /// Takes all that the reader has, without a copy in between.
    pub(crate) fn read_from<R: Read>(
        &mut self,
        reader: &mut R,
        sink: &mut impl Sink,
    ) -> Result<u64> {
        let before = self.total_in;
        loop {
            self.make_room(sink)?;
            let mut beyond = [0];
            let room = match self.filling.data.room(self.batch_size) {
                // Behind the last byte promised, a look whether there is more.
                [] => &mut beyond,
                room => room,
            };
            let most = room.len();
            let len = match reader.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // A reader that claims more than there was room for would have the header wrong.
                result => result.reading()?.min(most),
            };
            if len == 0 {
                return Ok(self.total_in.saturating_sub(before));
            }
            self.filling.data.filled(len);
            self.count(len)?;
            if len < most {
                // There may be nothing more for a while.
                self.hand_on(sink)?;
            }
        }
    }

    /// Takes these bytes of a source. The threads that compress whole chunks read them, too; what is left before
    /// and behind those, and the last chunk, is read here.
    pub(crate) fn read_at(
        &mut self,
        source: &Shared,
        bytes: Range<u64>,
        sink: &mut impl Sink,
    ) -> Result<u64> {
        let before = self.total_in;
        let step = u64::try_from(self.batch_size).unwrap_or(u64::MAX);
        let Range { start: mut at, end } = bytes;
        let begun = u64::try_from(self.filling.data.len()).unwrap_or(0);
        if begun == 0 && at < end {
            self.settle(|auto, _| auto.by_source(source, &(at..end)), sink)?;
        }
        if begun > 0 {
            let border = at.saturating_add(step.saturating_sub(begun)).min(end);
            at = at.saturating_add(self.read_part(source, at..border, sink)?);
            if at < border {
                return Ok(self.total_in.saturating_sub(before));
            }
            self.make_room(sink)?;
        }
        // The last chunk promised has to wait for `finish`.
        let promised = self.promised;
        let has_more = |total: u64| match promised {
            Some(promised) => promised.saturating_sub(total) > step,
            None => true,
        };
        while self.filling.data.len() == 0
            && end.saturating_sub(at) > step
            && has_more(self.total_in)
        {
            self.line.check()?;
            let next = at.saturating_add(step);
            self.filling.fetch = Some(Fetch {
                source: Arc::clone(source),
                bytes: at..next,
            });
            self.count(self.batch_size)?;
            self.submit(self.batch_size, sink)?;
            at = next;
        }
        self.read_part(source, at..end, sink)?;
        // What the threads have to say of the source is heard here, and not later.
        self.line.drain(sink)?;
        Ok(self.total_in.saturating_sub(before))
    }

    /// Reads in order. An error ends it all, as one of a thread that reads does: what follows would not be where it belongs.
    fn read_part(
        &mut self,
        source: &Shared,
        bytes: Range<u64>,
        sink: &mut impl Sink,
    ) -> Result<u64> {
        let result = self.read_from(&mut in_order(source, bytes).reading()?, sink);
        if result.is_err() {
            self.line.break_off();
        }
        result
    }

    fn count(&mut self, len: usize) -> Result<()> {
        self.total_in = self
            .total_in
            .saturating_add(u64::try_from(len).unwrap_or(0));
        match self.promised {
            Some(promised) if self.total_in > promised => {
                self.line.break_off();
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

    /// Sends full chunks on their way once there are enough of them, unless the last one promised is among them: that
    /// waits for `finish`, so that what is dropped before never looks complete.
    fn make_room(&mut self, sink: &mut impl Sink) -> Result<()> {
        self.line.check()?;
        if self.filling.data.len() < self.batch_size || self.promised == Some(self.total_in) {
            return Ok(());
        }
        self.submit(self.batch_size, sink)
    }

    /// Sends all chunks that are full on their way, but for the last one promised.
    fn hand_on(&mut self, sink: &mut impl Sink) -> Result<()> {
        let there = match self.promised == Some(self.total_in) {
            true => self.filling.data.len().saturating_sub(1),
            false => self.filling.data.len(),
        };
        let full = there.saturating_sub(there.checked_rem(self.chunk_size).unwrap_or(0));
        if full == 0 {
            return Ok(());
        }
        let rest = self.filling.data.split_off(full);
        self.submit(full, sink)?;
        self.filling.data.put(&rest);
        Ok(())
    }

    /// Sends on what has been filled, which is or will be so many bytes.
    fn submit(&mut self, len: usize, sink: &mut impl Sink) -> Result<()> {
        let cuts = (self.chunk_size..len).step_by(self.chunk_size);
        self.filling.cuts.extend(cuts);
        self.settle(Auto::by_data, sink)?;
        self.line.submit(&mut self.filling, sink)
    }

    /// Chooses settings by the data of the first chunk, or by whatever `choose` looks at, if that is still to be done.
    fn settle(
        &mut self,
        choose: impl FnOnce(&Auto, &[u8]) -> Result<Tuned>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Some(auto) = self.auto.take() else {
            return Ok(());
        };
        // No more than one chunk: how many there are depends on how the data came.
        let data = self.filling.data.data();
        let tuned = choose(&auto, data.get(..self.chunk_size).unwrap_or(data));
        let settled = tuned.and_then(|tuned| Ok((auto.settle(&tuned, sink)?, tuned)));
        match settled {
            Ok((line, tuned)) => {
                self.line = line;
                self.tuned = Some(tuned);
                Ok(())
            }
            Err(error) => {
                // What stands before the chunks may be torn.
                self.line.break_off();
                Err(error)
            }
        }
    }

    /// Hands on all chunks that are full.
    pub(crate) fn flush(&mut self, sink: &mut impl Sink) -> Result<()> {
        self.line.check()?;
        self.hand_on(sink)?;
        self.line.drain(sink)
    }

    /// Hands on all that is left; `may_be_empty` allows a member without any chunk.
    pub(crate) fn finish(&mut self, may_be_empty: bool, sink: &mut impl Sink) -> Result<()> {
        if let Some(promised) = self.promised
            && promised != self.total_in
        {
            let given = self.total_in;
            return Err(Error::new(ErrorKind::WrongSize { promised, given }, None));
        }
        self.make_room(sink)?;
        self.settle(Auto::by_data, sink)?;
        if self.filling.data.len() > 0 || (self.total_in == 0 && !may_be_empty) {
            self.submit(self.filling.data.len(), sink)?;
        }
        self.line.drain(sink)
    }
}

#[cfg(test)]
mod tests {
    use crate::Encoder;
    use bloscpack_error::{Category, ErrorKind};
    use std::io::Write;

    fn promised(bytes: u64) -> Encoder<Vec<u8>> {
        let options = Encoder::builder().chunk_size(10).size(bytes);
        options.write_to(Vec::new()).unwrap()
    }

    #[test]
    fn more_than_was_promised_is_an_error_however_it_comes() {
        for (size, given) in [(0, 1), (5, 6), (10, 11), (10, 40), (20, 21)] {
            let data = vec![1; given];
            let error = promised(size).read_from(data.as_slice()).unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::WrongSize { .. }),
                "{size} {given}"
            );
            let error = promised(size).write_all(&data).unwrap_err();
            assert_eq!(
                bloscpack_error::Error::from(error).category(),
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
        impl std::io::Read for &mut Boaster {
            fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                if self.0 == 0 {
                    return Ok(0);
                }
                self.0 -= 1;
                self.1 += buf.len();
                Ok(buf.len() + 5)
            }
        }
        let target = std::io::Cursor::new(Vec::new());
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
