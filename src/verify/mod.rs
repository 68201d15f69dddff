//! [`verify`] and [`verify_at`]: every chunk checked and decoded, every damage reported.

mod stop;
mod verifier;

pub use super::damages::Damage;

use super::damages::{Finding, Recovery, examine, holds_chunks};
use super::engine::Warning;
use crate::Options;
use bloscpack_error::{IoSide, Result};
use bloscpack_storage::{ReadAhead, ReadAt, SourceReader};
use bloscpack_wire::{FormatError, ParseError};
use std::io::Read;
use std::ops::Range;
use stop::Stop;
use verifier::Verifier;

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
    /// Things that are unusual but not wrong.
    pub warnings: Vec<Warning>,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damage_count == 0
    }
}

/// Takes each damage.
type Take<'a> = &'a mut dyn FnMut(Damage) -> Result<()>;

/// Reads all of an input, checks and decodes every chunk, and continues after a damaged one. Each damage is passed to `take` in
/// the order of the positions, so that a report of any length takes no memory.
///
/// Damage to the structure (a header, a table, the length of a chunk) is the last that can be found, since from there on it
/// is not known where chunks begin; [`verify_at`] continues after it. In a run of more than a thousand damaged chunks of packed
/// records, only the last thousand damages contain the numbers of the records that the run has lost.
///
/// ```
/// use bloscpack::{Options, verify::verify};
/// let mut file = bloscpack::compress(&[1; 5000])?;
/// assert!(verify(file.as_slice(), &Options::new(), |_| Ok(()))?.is_sound());
/// *file.last_mut().unwrap() ^= 1;
/// let mut damages = Vec::new();
/// let report = verify(file.as_slice(), &Options::new(), |damage| {
///     damages.push(damage.error.to_string());
///     Ok(())
/// })?;
/// assert_eq!(report.damage_count, 1);
/// assert!(damages[0].starts_with("chunk 0 (byte "), "{damages:?}");
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Returns any error of the reader, that of a worker that panicked, those of `take`, and [`FormatError::Hasher`] for a hasher
/// that fits no file. Damage to the input is in the report.
pub fn verify<R: Read>(
    reader: R,
    options: &Options,
    mut take: impl FnMut(Damage) -> Result<()>,
) -> Result<Report> {
    let mut count = 0;
    let mut take = |damage| {
        count += 1;
        take(damage)
    };
    let (mut report, stop) = Verifier::run(reader, options, &mut take)?;
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
/// use bloscpack::{Encoder, Options, verify::verify_at};
/// use std::io::Write;
/// let mut encoder = Encoder::builder().chunk_size(1000).write_to(Vec::new())?;
/// encoder.write_all(&[1; 5000])?;
/// let mut file = encoder.finish()?;
/// file[34] ^= 8; // the header of the first chunk
/// let mut bytes = Vec::new();
/// let report = verify_at(&file, &Options::new(), |damage| {
///     bytes.extend(damage.error.position().map(|place| place.byte));
///     Ok(())
/// })?;
/// assert_eq!(bytes, [32]);
/// assert_eq!(report.bytes, 4000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`verify`].
pub fn verify_at<S: ReadAt + ?Sized>(
    source: &S,
    options: &Options,
    mut take: impl FnMut(Damage) -> Result<()>,
) -> Result<Report> {
    let mut count = 0;
    let mut report = check(&source, options, &mut |damage| {
        count += 1;
        take(damage)
    })?;
    report.damage_count = count;
    Ok(report)
}

fn check<S: ReadAt>(source: &S, options: &Options, take: Take<'_>) -> Result<Report> {
    let walk =
        |take: Take<'_>| Verifier::run(SourceReader::new(ReadAhead::new(source, 0)), options, take);
    let scan = |take: Take<'_>| {
        let scanned = examine(source, options, &mut |found| match found {
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
        None => report.hidden(source, options).reading()?,
    };
    kept.pass(take, walk)?;
    last.map_or(Ok(()), take)?;
    Ok(report)
}

impl Report {
    /// Bytes after the last chunk, as damage, if there are sound chunks among them.
    fn hidden<S: ReadAt>(&mut self, source: &S, options: &Options) -> Result<Option<Damage>> {
        let trailing = self.warnings.iter().enumerate();
        let mut trailing = trailing.filter_map(|(index, warning)| match warning {
            Warning::Trailing(trailing) => Some((index, trailing.position)),
            _ => None,
        });
        let Some((index, position)) = trailing.next() else {
            return Ok(None);
        };
        if !holds_chunks(source, position.byte, &options.limits, &options.hashers)? {
            return Ok(None);
        }
        self.warnings.remove(index);
        let error = FormatError::HiddenChunks;
        let damage = Damage::from(bloscpack_error::Error::from(ParseError { error, position }));
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
        if self.is_over {
            self.damages = Vec::new()
        } else {
            self.damages.push(damage)
        }
        Ok(())
    }

    /// Passes all damages on, which `again` finds again if there were too many.
    fn pass<T>(self, take: Take<'_>, again: impl FnOnce(Take<'_>) -> Result<T>) -> Result<()> {
        if self.is_over {
            again(take).map(drop)
        } else {
            self.damages.into_iter().try_for_each(take)
        }
    }
}

/// The bytes of a damage; empty at the beginning if they are unknown.
fn place(damage: &Damage) -> Range<u64> {
    damage.bytes.clone().unwrap_or(0..0)
}
