//! Recovery: writes every sound chunk of a damaged file into a new one.
//!
//! ```text
//!   ReadAt ─► search for headers and sound chunks ─► content or records? ─► decode ─┬─► new file (V3, with offsets)
//!                                                                                   └─► findings: damages and losses
//! ```
//!
//! The source is never changed. [`verify_at`](crate::verify::verify_at) finds the same damages without writing.

mod output;

pub use super::damages::{Finding, Lost, Recovery};
use crate::Options;

use super::damages::{Damage, Findings, FoundMember, Take};
use super::walk::Walk;
use bloscpack_error::{Code, Error, IoSide, Result};
use bloscpack_storage::{ReadAt, SourceReader};
use bloscpack_wire::{
    Event, Form, FormatError, FormatVersion, Header, Metadata, NumpyArray, Section,
};
use output::OutputFile;
use std::io::{Read, Seek, Write};

/// Writes a new file with the content of every sound chunk of a damaged one, in the order of their positions. It passes each
/// damage and each loss to `take`, each kind in order; a report of any length takes no memory.
///
/// A chunk is sound if its digest is right and it decodes, or, without a digest, if it decodes and its lengths agree. Sound
/// chunks after damaged headers, metadata, tables and chunks are found by their own headers and digests. The bytes inside a
/// sound chunk are data, even if they look like a Bloscpack file.
///
/// **Content.** The new file has layout V3 with an offset table. It keeps chunk size, typesize, filter, compressor, checksum
/// and metadata of the old file as far as they can be read. Concatenated members become one file with the contents of all
/// members and the first metadata. Lost content is left out, or replaced by zeros with [`fill`](Options::fill).
///
/// **Records.** The new file has layout V3 and is packed like the old one. Records keep their numbers: an empty record replaces
/// each lost one, and [`Lost::records`] contains its number. Packed chunks contain the numbers of their records; if each record
/// is a chunk, the numbers follow from offset table and count of the old file. If the number of lost records is unknown, later
/// records may be renumbered, and [`Recovery::records_lost`] is `None`. If header and metadata are lost, packed chunks and
/// records of different lengths are still recognized. Records of equal lengths then look like one content and become one; see
/// [`header_lost`](Recovery::header_lost). If the first members contain records, members of content are left out and reported,
/// and vice versa.
///
/// **NumPy arrays.** Metadata that describes an array is kept only with the whole array: if the length of the content does not
/// fit the shape, the metadata is dropped, since readers would return wrong arrays. [`fill`](Options::fill) keeps the length.
///
/// The source is read twice, to find and to decode the chunks; four times if the metadata describes an array; and packed chunks
/// once more for their heads. Memory is as for an encoder and a decoder, plus 24 bytes for each chunk, 40 more if it is packed,
/// about 350 for each damage and 650 for each member; for records, also the whole largest chunk. The target may be a file that
/// is open for reading and writing.
///
/// ```
/// use bloscpack::{Encoder, Options, decompress, recover::{Finding, recover}};
/// use std::io::{Cursor, Write};
/// let mut encoder = Encoder::builder().chunk_size(1000).write_to_file(Cursor::new(Vec::new()))?;
/// encoder.write_all(&[7; 5000])?;
/// let mut file = encoder.finish()?.into_inner();
///
/// file[..32].fill(0); // the header
/// let mut whole = Cursor::new(Vec::new());
/// let mut damages = Vec::new();
/// let recovery = recover(&file, &mut whole, &Options::new(), |found| {
///     if let Finding::Damage(damage) = found {
///         damages.push(damage.error.to_string());
///     }
///     Ok(())
/// })?;
/// assert!(recovery.header_lost);
/// assert!(damages[0].starts_with("header (byte 0): not a Bloscpack file"), "{damages:?}");
/// assert_eq!(recovery.chunks, 5);
/// assert_eq!(decompress(whole.get_ref())?, [7; 5000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns any error of the source, on [`Side::Source`](bloscpack_error::Side::Source), and of the target, on
/// [`Side::Target`](bloscpack_error::Side::Target), and an error of `take`, which ends the recovery. If no chunk can be
/// recovered, returns the first error in the source; for records that are packed in an unknown way, returns
/// [`Unsupported`](bloscpack_error::Category::Unsupported). In both cases nothing has been written.
pub fn recover<S, W>(
    source: &S,
    target: W,
    options: &Options,
    mut take: impl FnMut(Finding) -> Result<()>,
) -> Result<Recovery>
where
    S: ReadAt + ?Sized,
    W: Read + Write + Seek,
{
    // Errors of the output are already on the side of the target.
    save(&source, target, options, &mut take).reading()
}

/// Finds the damages, decides which metadata can be kept, and writes the new file.
fn save<S, W>(source: &S, target: W, options: &Options, take: Take<'_>) -> Result<Recovery>
where
    S: ReadAt,
    W: Read + Write + Seek,
{
    let mut found = Findings::of(source, options)?;
    let has_records = found.has_records()?;
    let is_hopeless = |member: &FoundMember| member.sound == 0 && !member.is_sound_and_empty();
    if found.members.iter().all(is_hopeless) {
        let walked = walk(source, options)?;
        if !matches!(walked, Ok(has_chunks) if !has_chunks) {
            return Err(first_error(found.examine(source, options, take)?));
        }
        // A sound file without chunks, with trailing bytes that readers tolerate.
        found.members.iter_mut().for_each(FoundMember::empty);
    }
    let array_lost = !has_records && drop_torn_array(&mut found, source, options)?;
    let metadata_lost = drop_odd_metadata(&mut found, has_records);
    let builder = output::builder(&found, source, options, has_records)?;
    let output = OutputFile::Waiting(Box::new((target, builder)), 0);
    let (mut recovery, output) =
        found.salvage(source, options, (output, Some(has_records)), take)?;
    recovery.array_lost = array_lost;
    recovery.metadata_lost |= array_lost || metadata_lost;
    if recovery.damage_count == 0
        && let Err(error) = walk(source, options)?
    {
        // All chunks are sound, but a header or a table contradicts them, so that a reader would fail.
        let section = error.position().map(|position| position.section);
        // A wrong entry is found where its chunk begins.
        let is_entry = error.code() == Code::Offsets;
        recovery.offsets_lost |= is_entry || section == Some(Section::Offsets);
        recovery.damage(Damage::from(error));
        recovery.pending.drain(..).try_for_each(take)?;
    }
    if recovery.chunks == 0 && recovery.damage_count > 0 {
        return Err(first_error(recovery));
    }
    output.finish()?;
    Ok(recovery)
}

fn first_error(recovery: Recovery) -> Error {
    let first = recovery.first_error();
    first.unwrap_or_else(|| FormatError::Empty.into())
}

/// Whether a source whose structure is sound has chunks; the inner error is damage.
fn walk<S: ReadAt>(source: &S, options: &Options) -> Result<std::result::Result<bool, Error>> {
    let mut has_chunks = false;
    let mut outcome = Walk::of_file(SourceReader::new(source), &options.limits, &options.hashers)?;
    let outcome = outcome.run(|event, _| {
        has_chunks |= matches!(event, Event::Chunk(..));
    });
    match outcome {
        Ok(ending) => Ok(ending.map(|_| has_chunks).map_err(Error::from)),
        Err(error) if error.is_format() => Ok(Err(error)),
        Err(error) => Err(error),
    }
}

/// Drops metadata that the new file cannot have: for records, metadata that is not a JSON object; for content, metadata that
/// declares packed records. Returns whether any was dropped.
fn drop_odd_metadata(found: &mut Findings, has_records: bool) -> bool {
    let header = Header::new(FormatVersion::V3);
    let is_odd = |metadata: &mut Metadata| {
        if has_records {
            !metadata.is_object()
        } else {
            Form::of(&header, Some(metadata)).is_err()
        }
    };
    let all = found.members.iter_mut().map(|member| &mut member.metadata);
    let odd = all.filter_map(|all| all.take_if(is_odd));
    odd.count() > 0
}

/// Drops the metadata of an array if the length of the content does not fit its shape, which readers would trust. Returns
/// whether it was dropped.
///
/// To learn the length of the sound content, all of it is decoded once.
fn drop_torn_array<S: ReadAt>(found: &mut Findings, source: &S, options: &Options) -> Result<bool> {
    let mut members = found.members.iter();
    let array = match members.find_map(|member| member.metadata.as_ref().map(NumpyArray::of)) {
        None | Some(Ok(None)) => return Ok(false),
        Some(Ok(Some(array))) => Some(array),
        // An array of an unknown dtype has an unknown length: keep its metadata only if nothing is missing.
        Some(Err(_)) => None,
    };
    let mut is_filled = true;
    let sound = Findings::of(source, options)?.examine(source, options, &mut |found| {
        is_filled &= !matches!(found, Finding::Lost(Lost { filled: false, .. }));
        Ok(())
    })?;
    let is_whole = match array {
        Some(array) => array.content_len() == sound.written,
        None => !sound.uncounted && is_filled,
    };
    let lost = found.members.iter_mut().filter(|_| !is_whole);
    lost.for_each(|member| member.metadata = None);
    Ok(!is_whole)
}
