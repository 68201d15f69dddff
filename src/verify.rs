//! [`verify`] and [`verify_at`]: every chunk checked and decoded, every damage reported.

use super::engine::{Engine, Piece, Place, Settings, Wanted, Warning};
use super::records::{Numbers, Tally};
use super::recover::{Recovery, examine, holds_chunks};
use bloscpack_error::{Error, ErrorKind, IoSide, Result};
use bloscpack_storage::{Cursor, ReadAt};
use bloscpack_wire::{FormatError, Limits, ParseError, Section};
use std::io::Read;
use std::ops::Range;

/// Something wrong with an input.
#[derive(Debug)]
#[non_exhaustive]
pub struct Damage {
    /// What is wrong, with chunk, byte and section.
    pub error: Error,
    /// Which bytes of the input it takes up, where that is known: those of a chunk with its digest,
    /// say. Nothing is missing between bytes if there are none of it left.
    pub bytes: Option<Range<u64>>,
    /// Which of the uncompressed bytes are lost, counted over all members, where that is known.
    pub content: Option<Range<u64>>,
    /// Which records are lost, or among which those of it are, where chunks hold records; counted
    /// over all members, and where that is known.
    pub records: Option<Range<u64>>,
}

/// What [`verify`] found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// Members seen.
    pub members: u64,
    /// Chunks checked, damaged ones included.
    pub chunks: u64,
    /// Uncompressed bytes of the sound chunks.
    pub bytes: u64,
    /// Records in the sound chunks; 0 where chunks hold none.
    pub records: u64,
    /// All that is wrong, in order of place; nothing if the input is sound.
    pub damages: Vec<Damage>,
    /// What is odd without being wrong.
    pub warnings: Vec<Warning>,
    /// The structure is broken where the last damage is.
    stopped: bool,
    tally: Tally,
    /// Damages whose records are not known yet, by their place among them.
    open: Vec<usize>,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }
}

/// Reads all of an input, checks and decodes every chunk, and goes on behind a damaged one.
///
/// Damage to the structure (a header, a table, the length of a chunk) is the last that can be
/// found, since from there on nothing tells where chunks begin; [`verify_at`] goes on behind it.
///
/// ```
/// use bloscpack::{Limits, verify};
/// let mut file = bloscpack::compress(&[1; 5000])?;
/// assert!(verify(file.as_slice(), Limits::default(), 1)?.is_sound());
/// *file.last_mut().unwrap() ^= 1;
/// let report = verify(file.as_slice(), Limits::default(), 1)?;
/// assert_eq!(report.damages.len(), 1);
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Those of the reader, and a worker that panicked. What is wrong with the input is in the report.
pub fn verify<R: Read>(reader: R, limits: Limits, threads: usize) -> Result<Report> {
    let mut engine = Engine::new(
        reader,
        Settings {
            limits,
            threads,
            wanted: Wanted::Chunks,
            ..Settings::default()
        },
    );
    let mut report = Report {
        members: 0,
        chunks: 0,
        bytes: 0,
        records: 0,
        damages: Vec::new(),
        warnings: Vec::new(),
        stopped: false,
        tally: Tally::default(),
        open: Vec::new(),
    };
    loop {
        match engine.next() {
            Ok(Some(piece)) => {
                let buffer = report.add(piece);
                engine.recycle(buffer);
            }
            Ok(None) => {
                report.end_member();
                break;
            }
            Err(error) if error.is_format() => {
                report.damages.push(Damage {
                    error,
                    bytes: None,
                    content: None,
                    records: None,
                });
                report.stopped = true;
                break;
            }
            Err(error) => return Err(error),
        }
    }
    report.members = engine.members();
    report.records = report.tally.records;
    report.warnings = std::mem::take(&mut engine.warnings);
    Ok(report)
}

/// As [`verify`], for a source that can be read at any position: behind damage to the structure it
/// goes on, as far as sound chunks can be found. Bytes behind the last chunk are damage if there are
/// sound chunks among them.
///
/// A sound source costs no more than with [`verify`]; one whose structure is damaged is read up to
/// three times.
///
/// ```
/// use bloscpack::{Encoder, Limits, verify_at};
/// use std::io::Write;
/// let mut encoder = Encoder::builder().chunk_size(1000).write_to(Vec::new())?;
/// encoder.write_all(&[1; 5000])?;
/// let mut file = encoder.finish()?;
/// file[34] ^= 8; // the header of the first chunk
/// let report = verify_at(&file, Limits::default(), 1)?;
/// assert_eq!(report.damages.len(), 1);
/// assert_eq!(report.damages[0].error.position().map(|place| place.byte), Some(32));
/// assert_eq!(report.bytes, 4000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As for [`verify`].
pub fn verify_at<S: ReadAt + ?Sized>(source: &S, limits: Limits, threads: usize) -> Result<Report> {
    let mut report = verify(Cursor::new(source), limits, threads)?;
    if report.stopped && source.size().reading()? > 0 {
        let found = examine(&source, limits, threads).reading()?;
        // Where nothing is found, it is likely no damaged file but another kind.
        if found.chunks > 0 {
            report.go_on(found);
        }
    } else {
        report.look_behind(&source, &limits).reading()?;
    }
    Ok(report)
}

impl Report {
    /// Bytes behind the last chunk mean nothing, unless there are chunks among them.
    fn look_behind<S: ReadAt>(&mut self, source: &S, limits: &Limits) -> Result<()> {
        let size = source.size()?;
        for warning in std::mem::take(&mut self.warnings) {
            match warning {
                Warning::Trailing(trailing)
                    if holds_chunks(source, trailing.position.byte, limits)? =>
                {
                    let (error, position) = (FormatError::HiddenChunks, trailing.position);
                    self.damages.push(Damage {
                        error: ParseError { error, position }.into(),
                        bytes: Some(position.byte..size),
                        content: None,
                        records: None,
                    });
                }
                other => self.warnings.push(other),
            }
        }
        Ok(())
    }

    /// Takes in what was found behind the last damage.
    fn go_on(&mut self, found: Recovery) {
        let Some(mut stop) = self.damages.pop() else {
            return;
        };
        let stopped_at = stop.error.position().map_or(0, |position| position.byte);
        let is_chunk = |damage: &&Damage| {
            let position = damage.error.position();
            let in_chunk = position.is_some_and(|place| place.section == Section::Chunk);
            in_chunk && damage.bytes.as_ref().is_some_and(|bytes| !bytes.is_empty())
        };
        let damaged = found.damages.iter().filter(is_chunk).count();
        self.chunks = found
            .chunks
            .saturating_add(u64::try_from(damaged).unwrap_or(0));
        self.bytes = found.bytes;
        self.records = found.records;
        self.members = self.members.max(found.members);
        // The scan has found all the rest again, and knows better where it ends.
        let place = |damage: &Damage| damage.bytes.clone().unwrap_or(0..0);
        let before = self.damages.last().map(place);
        self.damages = found.damages;
        let is_other_end = |before: &Range<u64>| {
            let mut places = self.damages.iter().map(place);
            let ends_here = before.end == stopped_at;
            ends_here && places.any(|place| place.start == before.start && place.end != before.end)
        };
        if before.as_ref().is_some_and(is_other_end) {
            // Only a damaged length had led there.
            return;
        }
        let stopped_by = entry_of(&stop.error);
        let is_same = |damage: &&mut Damage| {
            let is_entry = stopped_by.is_some() && entry_of(&damage.error) == stopped_by;
            is_entry || place(damage).start == stopped_at
        };
        let at_it = self.damages.iter_mut().find(is_same);
        if let Some(same) = at_it {
            std::mem::swap(&mut same.error, &mut stop.error);
            return;
        }
        let is_part =
            |damage: &Damage| (place(damage).start..=place(damage).end).contains(&stopped_at);
        if !self.damages.iter().any(is_part) {
            let before = |damage: &Damage| place(damage).start < stopped_at;
            let at = self.damages.partition_point(before);
            self.damages.insert(at, stop);
        }
    }

    /// Counts a piece and gives back its buffer.
    fn add(&mut self, piece: Piece) -> Vec<u8> {
        if self.tally.is_new(&piece.place) {
            self.end_member();
        }
        let result = self.count(&piece);
        let Piece {
            place, buffer, len, ..
        } = piece;
        match result {
            Ok(()) => self.bytes = self.bytes.saturating_add(u64::try_from(len).unwrap_or(0)),
            Err(error) => self.damaged(place, error),
        }
        buffer
    }

    /// Counts the records of the chunk that a piece begins; gives what is wrong with it.
    fn count(&mut self, piece: &Piece) -> std::result::Result<(), FormatError> {
        if piece.place.first {
            self.chunks = self.chunks.saturating_add(1);
        }
        piece.result.clone()?;
        if piece.place.first {
            let lost = self.tally.sound(&piece.place, piece.bytes())?;
            self.settle(lost);
        }
        Ok(())
    }

    fn damaged(&mut self, place: Place, error: FormatError) {
        let records = if place.first {
            self.tally.damaged(&place)
        } else {
            self.tally.spoilt()
        };
        if records.is_none() {
            self.open.push(self.damages.len());
        }
        let bytes = bytes_of(&place, &error);
        let position = place.position;
        self.damages.push(Damage {
            error: ParseError { error, position }.into(),
            bytes: Some(bytes),
            content: Some(place.content),
            records,
        });
    }

    /// Notes which records are lost by the damages of which that was not known.
    fn settle(&mut self, records: Option<Numbers>) {
        for index in self.open.drain(..) {
            if let Some(damage) = self.damages.get_mut(index) {
                damage.records.clone_from(&records);
            }
        }
    }

    fn end_member(&mut self) {
        match self.tally.end() {
            Ok(records) => self.settle(records),
            Err(error) => {
                self.settle(None);
                self.damages.push(Damage {
                    error: error.into(),
                    bytes: None,
                    content: None,
                    records: None,
                });
            }
        }
    }
}

/// Member and number of the entry of a table that is wrong, if it is that.
fn entry_of(error: &Error) -> Option<(u64, u64)> {
    let ErrorKind::Format(FormatError::Offset { entry, .. }) = error.kind() else {
        return None;
    };
    Some((error.position()?.member, *entry))
}

/// The bytes of a damaged chunk, and of its digest if that may be what is damaged.
fn bytes_of(place: &Place, error: &FormatError) -> Range<u64> {
    let digest_len = match error {
        FormatError::Digest(mismatch) => mismatch.checksum.digest_len(),
        _ => 0,
    };
    let from = place.position.byte;
    let end = from
        .saturating_add(place.header.ctbytes.into())
        .saturating_add(u64::try_from(digest_len).unwrap_or(0));
    from..end
}
