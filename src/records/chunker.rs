//! From records to chunks: one each, or many of them in one.

use crate::encoder::{Batch, Line, Recipe, Sink};
use crate::pipeline::BATCH;
use blosc1::MAX_NBYTES;
use bloscpack_error::{Error, ErrorKind, Result};
use bloscpack_wire::{
    Packing,
    records::packing::{Pack, most_packed},
};

/// Chunks that go through a worker together at the most, however small they are.
const BATCH_CHUNKS: usize = 4096;

pub(crate) struct RecordStage {
    line: Line,
    packing: Option<Packing>,
    /// Records of a chunk that may get more of them.
    pack: Pack,
    /// Chunks that wait for others.
    batch: Batch,
    waiting: usize,
    /// Records so far.
    records: u64,
    /// Records promised beforehand.
    promised: Option<u64>,
}

impl RecordStage {
    /// A stage whose first record has the number `first`.
    pub(crate) fn new(
        recipe: &Recipe,
        packing: Option<Packing>,
        first: u64,
        promised: Option<u64>,
    ) -> Result<Self> {
        Ok(Self {
            line: Line::new(recipe)?,
            packing,
            pack: Pack::default(),
            batch: Batch::default(),
            waiting: 0,
            records: first,
            promised,
        })
    }

    /// The number of the next record.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    pub(crate) fn push(&mut self, record: &[u8], sink: &mut impl Sink) -> Result<()> {
        self.line.check()?;
        let length = self.length_of(record)?;
        let number = self.records.saturating_add(1);
        if let Some(promised) = self.promised.filter(|promised| number > *promised) {
            self.line.break_off();
            let given = number;
            return Err(Error::new(ErrorKind::WrongCount { promised, given }, None));
        }
        if let Some(packing) = self.packing {
            if !self.pack.is_empty() && !self.pack.has_room(length, packing) {
                self.close(sink)?;
            }
            self.pack.push(record, length);
        } else {
            // The last one waits for `finish`, so that what is dropped before never looks complete.
            self.make_room(record.len(), self.promised == Some(number), sink)?;
            self.add(|data| data.extend_from_slice(record));
        }
        self.records = number;
        Ok(())
    }

    fn length_of(&self, record: &[u8]) -> Result<u32> {
        let most = self.packing.map_or(MAX_NBYTES, |_| most_packed());
        let length = u32::try_from(record.len()).ok();
        length.filter(|length| *length <= most).ok_or_else(|| {
            let (number, len) = (self.records, record.len());
            Error::usage(format!(
                "record {number} of {len} bytes: one may have up to {most}"
            ))
        })
    }

    /// Makes a chunk of the records that were gathered for it.
    fn close(&mut self, sink: &mut impl Sink) -> Result<()> {
        let count = u64::try_from(self.pack.count()).unwrap_or(0);
        let first = self.records.saturating_sub(count);
        let pack = std::mem::take(&mut self.pack);
        self.make_room(pack.len(), false, sink)?;
        self.add(|data| pack.encode(first, data));
        self.pack = pack;
        self.pack.clear();
        Ok(())
    }

    /// Adds a chunk to those that wait.
    fn add(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        if self.waiting > 0 {
            self.batch.cuts.push(self.batch.data.len());
        }
        self.batch.data.append(append);
        self.waiting = self.waiting.saturating_add(1);
    }

    /// Sends what waits on its way if another chunk would be too much, or is to go alone.
    fn make_room(&mut self, len: usize, alone: bool, sink: &mut impl Sink) -> Result<()> {
        let is_full = self.batch.data.len().saturating_add(len) > BATCH;
        if alone || is_full || self.waiting >= BATCH_CHUNKS {
            self.send(sink)?;
        }
        Ok(())
    }

    fn send(&mut self, sink: &mut impl Sink) -> Result<()> {
        if self.waiting > 0 {
            self.waiting = 0;
            self.line.submit(&mut self.batch, sink)?;
        }
        Ok(())
    }

    /// Hands on all that was pushed, but for the last of a promised number.
    pub(crate) fn flush(&mut self, sink: &mut impl Sink) -> Result<()> {
        self.line.check()?;
        if !self.pack.is_empty() {
            self.close(sink)?;
        }
        let is_last = self.packing.is_none() && self.promised == Some(self.records);
        if !is_last {
            self.send(sink)?;
        }
        self.line.drain(sink)
    }

    /// Hands on all that is left.
    pub(crate) fn finish(&mut self, sink: &mut impl Sink) -> Result<()> {
        if let Some(promised) = self.promised.filter(|promised| *promised != self.records) {
            let given = self.records;
            return Err(Error::new(ErrorKind::WrongCount { promised, given }, None));
        }
        self.flush(sink)?;
        self.send(sink)?;
        self.line.drain(sink)
    }
}
