//! Verification: checks and decodes every chunk, and reports every damage.
//!
//! | function | input | after damage to a chunk | after damage to the structure |
//! |---|---|---|---|
//! | [`verify`] | any reader, also a pipe | continues | stops: the positions of further chunks are unknown |
//! | [`verify_at`] | a source that can be read at any position | continues | searches for further sound chunks |
//!
//! Both check the headers, the seal, the metadata, the offset table, the number of chunks, the digest and the compressed data
//! of each chunk, the numbers and lengths of records, and the length of a NumPy array that the metadata describes. Nothing is
//! written. [`recover`](mod@crate::recover) saves the sound chunks of a damaged file.

mod stop;
mod verifier;

pub use super::damages::Damage;

use super::damages::{Finding, Recovery, examine, holds_chunks};
use super::engine::{Engine, Settings, Wanted, Warning};
use crate::Options;
use bloscpack_error::{IoSide, Result};
use bloscpack_storage::{ReadAhead, ReadAt, SourceReader};
use bloscpack_wire::{FormatError, ParseError};
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;
use stop::Stop;
use verifier::Verifier;

/// The most damages that are kept: until the numbers of their records are known, or until it is known how to read the source.
const KEPT: usize = 1000;

/// The totals of a verification by [`verify`] or [`verify_at`]. The damages themselves are passed to their caller.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Number of members.
    pub members: u64,
    /// Number of chunks, including damaged ones; after damage to the structure, as far as they were found.
    pub chunks: u64,
    /// Uncompressed bytes of the sound chunks.
    pub bytes: u64,
    /// Records in the sound chunks; 0 if the chunks contain no records.
    pub records: u64,
    /// Number of damages, which is how often the callback was called.
    pub damage_count: u64,
    /// Things that are unusual but not wrong, such as bytes after the last chunk.
    pub warnings: Vec<Warning>,
}

impl Report {
    /// Whether no damage was found. Warnings do not count.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damage_count == 0
    }
}

/// Receives each damage.
type Take<'a> = &'a mut dyn FnMut(Damage) -> Result<()>;

/// Reads all of an input, checks and decodes every chunk, and continues after a damaged one. It passes each damage to `take`,
/// in the order of their positions; a report of any length takes no memory.
///
/// Damage to the structure (a header, the offset table, the length of a chunk) is the last damage that is found, since the
/// positions of further chunks are unknown; [`verify_at`] continues after it. In a run of more than 1000 damaged chunks of
/// packed records, only the last 1000 damages contain the numbers of the records that the run has lost.
///
/// Of the options, `verify` uses the [threads](Options::threads), the [limits](Options::limits) and the
/// [hashers](Options::hashers). Memory is as for a [`Decoder`](crate::Decoder). A stream without its end mark is damaged,
/// whatever [`allow_unterminated`](Options::allow_unterminated) says.
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
/// Returns any error of the reader, an error of `take`, which ends the verification,
/// [`Code::Panicked`](bloscpack_error::Code::Panicked), and [`FormatError::Hasher`] for a hasher whose digests have a wrong
/// length. Damage, also an empty input and one of another format, is no error, but is passed to `take`.
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
    let engine = Engine::new(reader, settings(options)?);
    let (mut report, stop) = Verifier::run(engine, &mut take)?;
    stop.map_or(Ok(()), take)?;
    report.damage_count = count;
    Ok(report)
}

/// As [`verify`], for a source that can be read at any position: after damage to the structure it searches for
/// further sound chunks. Bytes after the last chunk are damage if they contain sound chunks.
///
/// A sound source is read once. A source whose structure is damaged is read up to three times, and one with more than 1000
/// damages once or twice more.
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
    let walk = |take: Take<'_>| {
        let reader = SourceReader::new(ReadAhead::new(source, 0));
        Verifier::run(Engine::new(reader, settings(options)?), take)
    };
    check(&source, options, walk, &mut take)
}

/// As [`verify_at`], for a source that threads share: those that check the chunks also read them, which is faster for a file.
///
/// ```
/// use bloscpack::{Options, verify::verify_source};
/// use std::sync::Arc;
/// let file = Arc::new(bloscpack::compress(&[1; 5000])?);
/// let report = verify_source(&file, &Options::new().threads(2), |_| Ok(()))?;
/// assert!(report.is_sound());
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`verify`].
pub fn verify_source<S: ReadAt + 'static>(
    source: &Arc<S>,
    options: &Options,
    mut take: impl FnMut(Damage) -> Result<()>,
) -> Result<Report> {
    let walk = |take: Take<'_>| {
        let engine = Engine::at(Arc::clone(source), 0, settings(options)?)?;
        Verifier::run(engine, take)
    };
    check(&**source, options, walk, &mut take)
}

fn settings(options: &Options) -> Result<Settings> {
    options.hashers.check()?;
    Ok(Settings::new(Wanted::Chunks, options.clone()))
}

/// Walks over a source, and looks for chunks in it where its structure is damaged.
fn check<S: ReadAt>(
    source: &S,
    options: &Options,
    walk: impl Fn(Take<'_>) -> Result<(Report, Option<Damage>)>,
    take: Take<'_>,
) -> Result<Report> {
    let mut count = 0;
    let mut counted = |damage| {
        count += 1;
        take(damage)
    };
    let mut report = check_all(source, options, walk, &mut counted)?;
    report.damage_count = count;
    Ok(report)
}

fn check_all<S: ReadAt>(
    source: &S,
    options: &Options,
    walk: impl Fn(Take<'_>) -> Result<(Report, Option<Damage>)>,
    take: Take<'_>,
) -> Result<Report> {
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
            // Without any sound chunk, it is probably a file of another format.
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
    /// Reports bytes after the last chunk as damage if they contain sound chunks.
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

    /// Takes the totals of a scan of a damaged structure, in which `damaged` chunks were found damaged.
    fn count(&mut self, found: &Recovery, damaged: u64) {
        self.chunks = found.chunks + damaged;
        self.bytes = found.bytes;
        self.records = found.records;
        self.members = self.members.max(found.members);
    }
}

/// The damages so far, up to [`KEPT`] of them, and the place of the last one.
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

    /// Passes all damages on. If there were too many, `again` finds them again.
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
