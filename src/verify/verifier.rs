//! [`Verifier`]: reads an input in order, counts sound chunks, and passes damages on.

use super::{KEPT, Report, Take};
use crate::damages::Damage;
use crate::engine::{ChunkInfo, Engine, Piece};
use crate::records::{Numbers, RecordTally};
use bloscpack_error::Result;
use bloscpack_error::checked::to_u64;
use bloscpack_wire::{FormatError, ParseError};
use std::collections::VecDeque;
use std::io::Read;
use std::ops::Range;

/// Counts the chunks of an engine, and passes damages on.
pub(super) struct Verifier<'a> {
    report: Report,
    tally: RecordTally,
    /// Damages whose records are not known yet.
    open: VecDeque<Damage>,
    take: Take<'a>,
}

impl<'a> Verifier<'a> {
    /// Reads all of an input. The damage to the structure at which reading ended is returned, not passed on.
    pub(super) fn run<R: Read>(
        mut engine: Engine<R>,
        take: Take<'a>,
    ) -> Result<(Report, Option<Damage>)> {
        let mut verifier = Self {
            report: Report::default(),
            tally: RecordTally::default(),
            open: VecDeque::new(),
            take,
        };
        let stop = loop {
            let next = engine.next();
            for error in engine.wrong_arrays.drain(..) {
                (verifier.take)(Damage::from(bloscpack_error::Error::from(error)))?;
            }
            match next {
                Ok(Some(piece)) => {
                    let buffer = verifier.add(piece)?;
                    engine.recycle(buffer);
                }
                Ok(None) => {
                    verifier.end_member()?;
                    break None;
                }
                Err(error) if error.is_format() => {
                    verifier.settle(None)?;
                    break Some(Damage::from(error));
                }
                Err(error) => return Err(error),
            }
        };
        let mut report = verifier.report;
        report.members = engine.members();
        report.records = verifier.tally.records;
        report.warnings = std::mem::take(&mut engine.warnings);
        Ok((report, stop))
    }

    /// Counts a piece, and returns its buffer.
    fn add(&mut self, piece: Piece) -> Result<Vec<u8>> {
        if self.tally.is_new(&piece.info) {
            self.end_member()?;
        }
        match self.count(&piece)? {
            Ok(()) => self.report.bytes += to_u64(piece.len),
            Err(error) => self.damaged(piece.info, error)?,
        }
        Ok(piece.buffer)
    }

    /// Counts the records of a chunk whose first piece this is. The inner error is damage.
    fn count(&mut self, piece: &Piece) -> Result<std::result::Result<(), FormatError>> {
        if piece.info.is_first_piece {
            self.report.chunks += 1;
        }
        if let (true, Ok(())) = (piece.info.is_first_piece, &piece.result) {
            match self.tally.sound(&piece.info, piece.bytes()?) {
                Ok(lost) => self.settle(lost)?,
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(piece.result.clone())
    }

    /// Reports a damaged chunk, or keeps the damage until the numbers of its records are known.
    fn damaged(&mut self, info: ChunkInfo, error: FormatError) -> Result<()> {
        let records = if info.is_first_piece {
            self.tally.damaged(&info)
        } else {
            self.tally.take_back()
        };
        let bytes = bytes_of(&info, &error);
        let position = info.position;
        let damage = Damage {
            error: ParseError { error, position }.into(),
            bytes: Some(bytes),
            content: Some(info.content),
            records,
        };
        if !self.tally.is_open() {
            return (self.take)(damage);
        }
        self.open.push_back(damage);
        if self.open.len() > KEPT {
            self.open.pop_front().map_or(Ok(()), &mut *self.take)
        } else {
            Ok(())
        }
    }

    /// Passes on the damages that have waited for the numbers of their records.
    fn settle(&mut self, records: Option<Numbers>) -> Result<()> {
        for mut damage in self.open.drain(..) {
            damage.records.clone_from(&records);
            (self.take)(damage)?;
        }
        Ok(())
    }

    /// Ends a member: its last damages get the numbers of their records, and the count is compared with the metadata.
    fn end_member(&mut self) -> Result<()> {
        match self.tally.end() {
            Ok(records) => self.settle(records),
            Err(error) => {
                self.settle(None)?;
                (self.take)(Damage::from(bloscpack_error::Error::from(error)))
            }
        }
    }
}

/// The bytes of a damaged chunk, with its digest if the digest may be the damaged part.
fn bytes_of(info: &ChunkInfo, error: &FormatError) -> Range<u64> {
    let digest_len = match error {
        FormatError::Digest(mismatch) => mismatch.checksum.digest_len(),
        _ => 0,
    };
    let from = info.position.byte;
    // The chunk has been read, so it ends within the input.
    from..from + u64::from(info.header.ctbytes) + to_u64(digest_len)
}
