//! [`verify`] and [`verify_at`]: every chunk checked and decoded, every damage reported.

pub use super::damages::Damage;

use super::checked::to_u64;
use super::damages::{RecoverOptions, Recovery, examine, holds_chunks};
use super::engine::{ChunkInfo, Engine, Piece, Settings, Wanted, Warning};
use super::read_options::ReadOptions;
use super::records::{Numbers, RecordTally};
use bloscpack_error::{Error, ErrorKind, IoSide, Result};
use bloscpack_storage::{Cursor, ReadAt};
use bloscpack_wire::{FormatError, Limits, ParseError, Section};
use std::io::Read;
use std::ops::Range;

/// The result of [`verify`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Number of members.
    pub members: u64,
    /// Number of chunks, damaged ones included.
    pub chunks: u64,
    /// Uncompressed bytes of the sound chunks.
    pub bytes: u64,
    /// Records in the sound chunks; 0 if the chunks hold no records.
    pub records: u64,
    /// All damages, in the order of their positions; none if the input is sound.
    pub damages: Vec<Damage>,
    /// Things that are unusual but not wrong.
    pub warnings: Vec<Warning>,
    /// The structure is broken where the last damage is.
    is_stopped: bool,
    tally: RecordTally,
    /// Indices of the damages whose records are not known yet.
    open: Vec<usize>,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }
}

/// Reads all of an input, checks and decodes every chunk, and continues after a damaged one.
///
/// Damage to the structure (a header, a table, the length of a chunk) is the last that can be found, since from there on it
/// is not known where chunks begin; [`verify_at`] continues after it.
///
/// ```
/// use bloscpack::{Limits, verify::verify};
/// let mut file = bloscpack::compress(&[1; 5000])?;
/// assert!(verify(file.as_slice(), Limits::default(), 1)?.is_sound());
/// *file.last_mut().unwrap() ^= 1;
/// let report = verify(file.as_slice(), Limits::default(), 1)?;
/// assert_eq!(report.damages.len(), 1);
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Returns any error of the reader, and that of a worker that panicked. Damage to the input is in the report.
pub fn verify<R: Read>(reader: R, limits: Limits, threads: usize) -> Result<Report> {
    verify_with(reader, &ReadOptions::new().limits(limits).threads(threads))
}

/// As [`verify`], with other hashers.
///
/// # Errors
/// Returns the same errors as [`verify`], and [`FormatError::Hasher`] for a hasher that fits no file.
pub fn verify_with<R: Read>(reader: R, options: &ReadOptions) -> Result<Report> {
    options.hashers.check()?;
    let mut engine = Engine::new(
        reader,
        Settings {
            limits: options.limits,
            hashers: options.hashers.clone(),
            threads: options.threads,
            wanted: Wanted::Chunks,
            ..Settings::default()
        },
    );
    let mut report = Report::default();
    loop {
        match engine.next() {
            Ok(Some(piece)) => {
                let buffer = report.add(piece)?;
                engine.recycle(buffer);
            }
            Ok(None) => {
                report.end_member();
                break;
            }
            Err(error) if error.is_format() => {
                report.damages.push(Damage::of(error));
                report.is_stopped = true;
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

/// As [`verify`], for a source that can be read at any position: after damage to the structure it continues as far as sound
/// chunks can be found. Bytes after the last chunk are damage if there are sound chunks among them.
///
/// A sound source costs no more than with [`verify`]; one whose structure is damaged is read up to three times.
///
/// ```
/// use bloscpack::{Encoder, Limits, verify::verify_at};
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
/// Returns the same errors as [`verify`].
pub fn verify_at<S: ReadAt + ?Sized>(source: &S, limits: Limits, threads: usize) -> Result<Report> {
    verify_at_with(source, &ReadOptions::new().limits(limits).threads(threads))
}

/// As [`verify_at`], with other hashers.
///
/// # Errors
/// Returns the same errors as [`verify_with`].
pub fn verify_at_with<S: ReadAt + ?Sized>(source: &S, options: &ReadOptions) -> Result<Report> {
    let mut report = verify_with(Cursor::new(source), options)?;
    if report.is_stopped && source.size().reading()? > 0 {
        let examined = RecoverOptions::default()
            .limits(options.limits)
            .hashers(options.hashers.clone())
            .threads(options.threads);
        let found = examine(&source, &examined).reading()?;
        // If nothing is found, it is likely not a damaged file but one of another kind.
        if found.chunks > 0 {
            report.continue_with(found);
        }
    } else {
        report.check_trailing(&source, options).reading()?;
    }
    Ok(report)
}

impl Report {
    /// Reports bytes after the last chunk as damage if there are sound chunks among them.
    fn check_trailing<S: ReadAt>(&mut self, source: &S, options: &ReadOptions) -> Result<()> {
        let size = source.size()?;
        let (limits, hashers) = (&options.limits, &options.hashers);
        for warning in std::mem::take(&mut self.warnings) {
            match warning {
                Warning::Trailing(trailing)
                    if holds_chunks(source, trailing.position.byte, limits, hashers)? =>
                {
                    let (error, position) = (FormatError::HiddenChunks, trailing.position);
                    let damage = Damage::of(ParseError { error, position }.into());
                    self.damages.push(damage.in_bytes(position.byte..size));
                }
                other => self.warnings.push(other),
            }
        }
        Ok(())
    }

    /// Adds the chunks and damages that a scan found after the last damage.
    fn continue_with(&mut self, found: Recovery) {
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
        self.chunks = found.chunks + to_u64(damaged);
        self.bytes = found.bytes;
        self.records = found.records;
        self.members = self.members.max(found.members);
        // The scan has found all the rest again, and has better knowledge of where it ends.
        let place = |damage: &Damage| damage.bytes.clone().unwrap_or(0..0);
        let before = self.damages.last().map(place);
        self.damages = found.damages;
        let is_other_end = |before: &Range<u64>| {
            let mut places = self.damages.iter().map(place);
            let ends_here = before.end == stopped_at;
            ends_here && places.any(|place| place.start == before.start && place.end != before.end)
        };
        if before.as_ref().is_some_and(is_other_end) {
            // Only a damaged length led there.
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

    /// Counts a piece, and returns its buffer.
    fn add(&mut self, piece: Piece) -> Result<Vec<u8>> {
        if self.tally.is_new(&piece.info) {
            self.end_member();
        }
        match self.count(&piece)? {
            Ok(()) => self.bytes += to_u64(piece.len),
            Err(error) => self.damaged(piece.info, error),
        }
        Ok(piece.buffer)
    }

    /// Counts the records of the chunk that a piece begins. The inner error is damage.
    fn count(&mut self, piece: &Piece) -> Result<std::result::Result<(), FormatError>> {
        if piece.info.is_first_piece {
            self.chunks += 1;
        }
        if let (true, Ok(())) = (piece.info.is_first_piece, &piece.result) {
            match self.tally.sound(&piece.info, piece.bytes()?) {
                Ok(lost) => self.settle(lost),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(piece.result.clone())
    }

    fn damaged(&mut self, info: ChunkInfo, error: FormatError) {
        let records = if info.is_first_piece {
            self.tally.damaged(&info)
        } else {
            self.tally.take_back()
        };
        if records.is_none() {
            self.open.push(self.damages.len());
        }
        let bytes = bytes_of(&info, &error);
        let position = info.position;
        self.damages.push(Damage {
            error: ParseError { error, position }.into(),
            bytes: Some(bytes),
            content: Some(info.content),
            records,
        });
    }

    /// Notes the lost records in the damages of which they were not known.
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
                self.damages.push(Damage::of(error.into()));
            }
        }
    }
}

/// Member and number of the wrong entry of a table, if that is the error.
fn entry_of(error: &Error) -> Option<(u64, u64)> {
    let ErrorKind::Format(FormatError::Offset { entry, .. }) = error.kind() else {
        return None;
    };
    Some((error.position()?.member, *entry))
}

/// The bytes of a damaged chunk, and of its digest if that may be the damaged part.
fn bytes_of(info: &ChunkInfo, error: &FormatError) -> Range<u64> {
    let digest_len = match error {
        FormatError::Digest(mismatch) => mismatch.checksum.digest_len(),
        _ => 0,
    };
    let from = info.position.byte;
    // The chunk was read from there, so that it ends within the input.
    from..from + u64::from(info.header.ctbytes) + to_u64(digest_len)
}
