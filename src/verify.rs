//! [`verify`] and [`verify_at`]: every chunk checked and decoded, every damage reported.

pub use super::damages::Damage;

use super::checked::to_u64;
use super::damages::{Finding, Recovery, examine, holds_chunks};
use super::engine::{ChunkInfo, Engine, Piece, Settings, Wanted, Warning};
use super::records::{Numbers, RecordTally};
use bloscpack_error::{Error, ErrorKind, IoSide, Result};
use bloscpack_storage::{Cursor, ReadAt};
use bloscpack_wire::{FormatError, Limits, ParseError, Section};
use std::collections::VecDeque;
use std::io::Read;
use std::ops::Range;

/// Damages that wait for the numbers of their records, or that are kept until it is known how the source is to be read.
const KEPT: usize = 1000;

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
    /// Number of damages.
    pub damage_count: u64,
    /// All damages, in the order of their positions; none if the input is sound, and none after [`verify_with`] and
    /// [`verify_at_with`], which pass them on.
    pub damages: Vec<Damage>,
    /// Things that are unusual but not wrong.
    pub warnings: Vec<Warning>,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damage_count == 0
    }

    /// A report with all damages that a verification passes on.
    fn with_all(verify: impl FnOnce(Take<'_>) -> Result<Self>) -> Result<Self> {
        let mut damages = Vec::new();
        let mut report = verify(&mut |damage| {
            damages.push(damage);
            Ok(())
        })?;
        report.damages = damages;
        Ok(report)
    }
}

/// Takes each damage.
type Take<'a> = &'a mut dyn FnMut(Damage) -> Result<()>;

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
    Report::with_all(|take| verify_with(reader, limits, threads, take))
}

/// As [`verify`], but passes each damage to `take` instead of keeping it: a report of any length takes no memory.
///
/// In a run of more than a thousand damaged chunks of packed records, only the last thousand damages contain the numbers of
/// the records that the run has lost.
///
/// ```
/// use bloscpack::verify::verify_with;
/// let mut file = bloscpack::compress(&[1; 5000])?;
/// *file.last_mut().unwrap() ^= 1;
/// let report = verify_with(file.as_slice(), Default::default(), 1, |damage| {
///     println!("{}", damage.error);
///     Ok(())
/// })?;
/// assert_eq!(report.damage_count, 1);
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of [`verify`], and those of `take`.
pub fn verify_with<R: Read>(
    reader: R,
    limits: Limits,
    threads: usize,
    mut take: impl FnMut(Damage) -> Result<()>,
) -> Result<Report> {
    let mut count = 0;
    let mut take = |damage| {
        count += 1;
        take(damage)
    };
    let (mut report, stop) = Verifier::run(reader, limits, threads, &mut take)?;
    stop.map_or(Ok(()), take)?;
    report.damage_count = count;
    Ok(report)
}

/// As [`verify`], for a source that can be read at any position: after damage to the structure it continues as far as sound
/// chunks can be found. Bytes after the last chunk are damage if there are sound chunks among them.
///
/// A sound source costs no more than with [`verify`]; one whose structure is damaged is read up to three times, and one with
/// more than a thousand damages once or twice more.
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
    Report::with_all(|take| verify_at_with(source, limits, threads, take))
}

/// As [`verify_at`], but passes each damage to `take` as [`verify_with`] does.
///
/// ```
/// use bloscpack::verify::verify_at_with;
/// let file = bloscpack::compress(&[1; 5000])?;
/// let report = verify_at_with(&file, Default::default(), 1, |_| Ok(()))?;
/// assert!(report.is_sound());
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of [`verify`], and those of `take`.
pub fn verify_at_with<S: ReadAt + ?Sized>(
    source: &S,
    limits: Limits,
    threads: usize,
    mut take: impl FnMut(Damage) -> Result<()>,
) -> Result<Report> {
    let mut count = 0;
    let mut report = check(&source, limits, threads, &mut |damage| {
        count += 1;
        take(damage)
    })?;
    report.damage_count = count;
    Ok(report)
}

fn check<S: ReadAt>(source: &S, limits: Limits, threads: usize, take: Take<'_>) -> Result<Report> {
    let walk = |take: Take<'_>| Verifier::run(Cursor::new(source), limits, threads, take);
    let scan = |take: Take<'_>| {
        let scanned = examine(source, limits, threads, &mut |found| match found {
            Finding::Damage(damage) => take(damage),
            Finding::Lost(_) => Ok(()),
        });
        scanned.reading()
    };
    let mut kept = Kept::default();
    let (mut report, stop) = walk(&mut |damage| kept.add(damage))?;
    let last = match stop {
        Some(stop) if source.size().reading()? > 0 => {
            let (mut stop, mut found) = (Stop::new(stop, kept.last.clone()), Kept::default());
            let totals = scan(&mut |damage| {
                stop.look(&damage);
                found.add(damage)
            })?;
            // If nothing is found, it is likely not a damaged file but one of another kind.
            if totals.chunks > 0 {
                report.count(&totals, stop.damaged);
                found.pass(&mut |damage| stop.pass(damage, take), scan)?;
                stop.put(take)?;
                return Ok(report);
            }
            stop.damage
        }
        Some(stop) => Some(stop),
        None => report.hidden(source, &limits).reading()?,
    };
    kept.pass(take, walk)?;
    last.map_or(Ok(()), take)?;
    Ok(report)
}

impl Report {
    /// Bytes after the last chunk, as damage, if there are sound chunks among them.
    fn hidden<S: ReadAt>(&mut self, source: &S, limits: &Limits) -> Result<Option<Damage>> {
        let trailing = self.warnings.iter().enumerate();
        let mut trailing = trailing.filter_map(|(index, warning)| match warning {
            Warning::Trailing(trailing) => Some((index, trailing.position)),
            _ => None,
        });
        let Some((index, position)) = trailing.next() else {
            return Ok(None);
        };
        if !holds_chunks(source, position.byte, limits)? {
            return Ok(None);
        }
        self.warnings.remove(index);
        let error = FormatError::HiddenChunks;
        let damage = Damage::of(ParseError { error, position }.into());
        Ok(Some(damage.in_bytes(position.byte..source.size()?)))
    }

    /// Counts what a scan found where the structure is damaged, with so many damaged chunks.
    fn count(&mut self, found: &Recovery, damaged: u64) {
        self.chunks = found.chunks + damaged;
        self.bytes = found.bytes;
        self.records = found.records;
        self.members = self.members.max(found.members);
    }
}

/// The first damages, and the place of the last.
#[derive(Default)]
struct Kept {
    damages: Vec<Damage>,
    is_over: bool,
    last: Option<Range<u64>>,
}

impl Kept {
    fn add(&mut self, damage: Damage) -> Result<()> {
        self.last = Some(place(&damage));
        self.is_over |= self.damages.len() == KEPT;
        match self.is_over {
            true => self.damages = Vec::new(),
            false => self.damages.push(damage),
        }
        Ok(())
    }

    /// Passes all damages on, which `again` finds again if there were too many.
    fn pass<T>(self, take: Take<'_>, again: impl FnOnce(Take<'_>) -> Result<T>) -> Result<()> {
        match self.is_over {
            true => again(take).map(drop),
            false => self.damages.into_iter().try_for_each(take),
        }
    }
}

/// The damage to the structure at which a walk ended, among the damages that a scan finds.
struct Stop {
    /// Nothing once it was passed on.
    damage: Option<Damage>,
    at: u64,
    entry: Option<(u64, u64)>,
    /// The place of the last damage before it.
    before: Option<Range<u64>>,
    /// Only a damaged length led there.
    is_led_astray: bool,
    /// It is in or at the end of one of them.
    is_part: bool,
    /// The number of the first that is the same.
    same: Option<u64>,
    /// How many are before it.
    index: u64,
    seen: u64,
    passed: u64,
    /// How many are in chunks.
    damaged: u64,
}

impl Stop {
    fn new(damage: Damage, before: Option<Range<u64>>) -> Self {
        let at = damage.error.position().map_or(0, |position| position.byte);
        Self {
            at,
            entry: entry_of(&damage.error),
            before: before.filter(|before| before.end == at),
            damage: Some(damage),
            is_led_astray: false,
            is_part: false,
            same: None,
            index: 0,
            seen: 0,
            passed: 0,
            damaged: 0,
        }
    }

    /// Learns from a damage that was found.
    fn look(&mut self, damage: &Damage) {
        let (index, place) = (self.seen, place(damage));
        self.seen += 1;
        let position = damage.error.position();
        let in_chunk = position.is_some_and(|place| place.section == Section::Chunk);
        self.damaged += u64::from(in_chunk && !place.is_empty());
        let is_other_end =
            |before: &Range<u64>| place.start == before.start && place.end != before.end;
        self.is_led_astray |= self.before.as_ref().is_some_and(is_other_end);
        let is_entry = self.entry.is_some() && entry_of(&damage.error) == self.entry;
        if is_entry || place.start == self.at {
            self.same.get_or_insert(index);
        }
        self.is_part |= (place.start..=place.end).contains(&self.at);
        if place.start < self.at {
            self.index = self.seen;
        }
    }

    /// Passes on a damage that was found, the next of those that were looked at. The scan has better knowledge of where it
    /// ends, but not of what is wrong.
    fn pass(&mut self, mut damage: Damage, take: Take<'_>) -> Result<()> {
        if self.is_led_astray {
            return take(damage);
        }
        if self.passed == self.same.unwrap_or(self.index) {
            match self.same {
                Some(_) => {
                    if let Some(stop) = self.damage.take() {
                        damage.error = stop.error;
                    }
                }
                None => self.put(take)?,
            }
        }
        self.passed += 1;
        take(damage)
    }

    /// Passes it on, if nothing else reports it.
    fn put(&mut self, take: Take<'_>) -> Result<()> {
        let is_told = self.is_led_astray || self.is_part || self.same.is_some();
        let stop = self.damage.take().filter(|_| !is_told);
        stop.map_or(Ok(()), take)
    }
}

/// The bytes of a damage; empty at the beginning if they are unknown.
fn place(damage: &Damage) -> Range<u64> {
    damage.bytes.clone().unwrap_or(0..0)
}

/// Counts what an engine delivers, and passes damages on.
struct Verifier<'a> {
    report: Report,
    tally: RecordTally,
    /// Damages whose records are not known yet.
    open: VecDeque<Damage>,
    take: Take<'a>,
}

impl<'a> Verifier<'a> {
    /// Reads all of an input. Returns the damage to the structure that ended it separately.
    fn run<R: Read>(
        reader: R,
        limits: Limits,
        threads: usize,
        take: Take<'a>,
    ) -> Result<(Report, Option<Damage>)> {
        let settings = Settings {
            limits,
            threads,
            wanted: Wanted::Chunks,
            ..Settings::default()
        };
        let mut engine = Engine::new(reader, settings);
        let mut verifier = Self {
            report: Report::default(),
            tally: RecordTally::default(),
            open: VecDeque::new(),
            take,
        };
        let stop = loop {
            match engine.next() {
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
                    break Some(Damage::of(error));
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

    /// Counts the records of the chunk that a piece begins. The inner error is damage.
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
        match self.open.len() > KEPT {
            true => self.open.pop_front().map_or(Ok(()), &mut *self.take),
            false => Ok(()),
        }
    }

    /// Passes on the damages that waited for the numbers of their records.
    fn settle(&mut self, records: Option<Numbers>) -> Result<()> {
        for mut damage in self.open.drain(..) {
            damage.records.clone_from(&records);
            (self.take)(damage)?;
        }
        Ok(())
    }

    fn end_member(&mut self) -> Result<()> {
        match self.tally.end() {
            Ok(records) => self.settle(records),
            Err(error) => {
                self.settle(None)?;
                (self.take)(Damage::of(error.into()))
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
