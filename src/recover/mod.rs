//! [`recover`]: every sound chunk of a damaged file, into a new one.
//!
//! ```text
//!   ReadAt ─► scan (members, sound chunks, damage) ─► kind (content or records)
//!          ─► gaps (losses and their positions) ─► salvage (check, decode)
//!          ─► collector (report, empty records) ─► output (SeekEncoder, SeekRecordWriter)
//! ```

mod blocks;
mod budget;
mod collector;
mod gaps;
mod head;
mod kind;
mod links;
mod member;
mod output;
mod probe;
mod report;
mod salvage;
mod scan;
mod search;
mod table;
mod trailing;
mod window;

pub use report::{Lost, Recovery};
pub(super) use trailing::holds_chunks;

use super::checked::to_u64;
use super::damage::Damage;
use super::walk::Walk;
use bloscpack_error::{Error, ErrorKind, IoSide, Result};
use bloscpack_storage::{Cursor, ReadAt};
use bloscpack_wire::{
    Event, FormatError, Hashers, Limits, MetadataPlace, NumpyArray, ParseError, Position, Section,
};
use collector::{Collector, ContentOutput};
use head::PartDamage;
use kind::MemberKind;
use member::FoundMember;
use output::OutputFile;
use probe::Probe;
use salvage::Salvage;
use std::io::{Read, Seek, Write};

/// The most zeros that are written for each byte of the source: a header of 32 bytes may count any number of chunks.
const MOST_ZEROS: u64 = 1 << 16;

/// Options of [`recover`].
///
/// ```
/// use bloscpack::recover::RecoverOptions;
/// let options = RecoverOptions::default().fill(true).threads(4);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct RecoverOptions {
    limits: Limits,
    hashers: Hashers,
    threads: usize,
    fill: bool,
}

impl Default for RecoverOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            hashers: Hashers::default(),
            threads: 1,
            fill: false,
        }
    }
}

impl RecoverOptions {
    /// Whether zeros take the place of lost content, so that the rest keeps its positions; false by default. Records keep
    /// their numbers in any case. A loss of unknown length is not filled, and neither is one of more than 64 KiB for each
    /// byte of the source.
    ///
    /// ```
    /// use bloscpack::{Encoder, decompress, recover::{RecoverOptions, recover}};
    /// use std::io::{Cursor, Write};
    /// let mut encoder = Encoder::builder().chunk_size(1000).write_to(Vec::new())?;
    /// encoder.write_all(&[7; 3000])?;
    /// let mut file = encoder.finish()?;
    /// file[50] ^= 1; // in the first chunk
    ///
    /// let mut saved = Cursor::new(Vec::new());
    /// let recovery = recover(&file, &mut saved, &RecoverOptions::default().fill(true))?;
    /// assert_eq!(recovery.lost[0].content, Some(0..1000));
    /// assert_eq!(decompress(saved.get_ref())?, [[0; 1000], [7; 1000], [7; 1000]].concat());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fill(mut self, fill: bool) -> Self {
        self.fill = fill;
        self
    }

    /// Threads that decode and compress; one by default, which is the caller's own. The scan always uses one.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// How much memory and work the source may demand. A chunk over a limit is lost.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The implementations that compute digests.
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.hashers = hashers;
        self
    }
}

/// Writes a new file with the content of every sound chunk of a damaged one, in the order of their positions.
///
/// A chunk is sound if its digest is right and it decodes, or, without a digest, if it decodes and its lengths agree. Sound
/// chunks are found after damaged headers, metadata, tables and chunks, by their headers and digests. The bytes inside of a
/// sound chunk are data, even if they look like a file.
///
/// The new file has layout V3 with offsets. It keeps the chunk size, typesize, filter, compressor, checksum and metadata of
/// the old file as far as they can be read. A concatenation becomes one file with the contents of all members and the first
/// metadata.
///
/// A file of records becomes a new one in which the records keep their numbers: each lost record is replaced by an empty
/// one, and [`Lost::records`] contains its number. Packed chunks contain the numbers of their records; if each record is a
/// chunk, the numbers follow from the table and the count of the old file. If the number of lost records is unknown, later
/// ones may be renumbered, and [`Recovery::records_lost`] is `None`. The new file has layout V3, too, and is packed like the
/// old one. If header and metadata are lost, packed chunks are still recognized, and so are records of different lengths; records that all have the
/// same length look like one content and become one, with [`header_lost`](Recovery::header_lost). Members of a concatenation
/// that do not hold records although the first ones do, or the other way round, are left out and reported.
///
/// Metadata that describes a NumPy array is only kept with the whole array: if the content does not have the length of the
/// shape, the metadata is dropped, since readers would return wrong arrays. [`fill`](RecoverOptions::fill) keeps the length.
///
/// The source is read twice: once to find the chunks, once to decode them; twice as often if the metadata describes an array;
/// and packed chunks once more for their heads. Memory is that of an encoder and a decoder, and 24 bytes for each chunk, 40
/// more if it is packed; for records, also all of the largest chunk.
///
/// ```
/// use bloscpack::{Encoder, decompress, recover::{RecoverOptions, recover}};
/// use std::io::{Cursor, Write};
/// let mut encoder = Encoder::builder().chunk_size(1000).write_to_file(Cursor::new(Vec::new()))?;
/// encoder.write_all(&[7; 5000])?;
/// let mut file = encoder.finish()?.into_inner();
///
/// file[..32].fill(0); // the header
/// let mut whole = Cursor::new(Vec::new());
/// let recovery = recover(&file, &mut whole, &RecoverOptions::default())?;
/// assert!(recovery.header_lost);
/// assert_eq!(recovery.chunks, 5);
/// assert_eq!(decompress(whole.get_ref())?, [7; 5000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns any error of the source, on [`Side::Source`](bloscpack_error::Side::Source), and of the target, on
/// [`Side::Target`](bloscpack_error::Side::Target). If nothing can be recovered, returns the error that is in the
/// source, and [`Unsupported`](bloscpack_error::Category::Unsupported) for records that are packed in an unknown way; nothing
/// has then been written.
pub fn recover<S, W>(source: &S, target: W, options: &RecoverOptions) -> Result<Recovery>
where
    S: ReadAt + ?Sized,
    W: Read + Write + Seek,
{
    // Errors of the output are already marked as those of the target.
    save(&source, target, options).reading()
}

fn save<S, W>(source: &S, target: W, options: &RecoverOptions) -> Result<Recovery>
where
    S: ReadAt,
    W: Read + Write + Seek,
{
    let mut found = ScanResult::of(source, options)?;
    let has_records = found.has_records()?;
    let is_hopeless = |member: &FoundMember| member.sound == 0 && !member.is_sound_and_empty();
    if found.members.iter().all(is_hopeless) {
        let walked = walk(source, &options.limits)?;
        if !matches!(walked, Ok(has_chunks) if !has_chunks) {
            let recovery = found.examine(source, options)?;
            return Err(first_error(recovery));
        }
        // No chunks, and trailing bytes that are tolerated.
        found.members.iter_mut().for_each(FoundMember::empty);
    }
    let array_lost = !has_records && found.drop_torn_array(source, options)?;
    let metadata_lost = has_records && found.drop_odd_metadata();
    let builder = found.builder(source, options, has_records)?;
    let output = OutputFile::Waiting(target, builder, 0);
    let (mut recovery, output) = found.salvage(source, options, output, Some(has_records))?;
    recovery.array_lost = array_lost;
    recovery.metadata_lost |= array_lost || metadata_lost;
    if recovery.damages.is_empty()
        && let Err(error) = walk(source, &options.limits)?
    {
        // It keeps a reader from reading chunks that are all sound: a table or a header contradicts them.
        let section = error.position().map(|position| position.section);
        // A wrong entry is found where its chunk begins.
        let is_entry = matches!(error.kind(), ErrorKind::Format(FormatError::Offset { .. }));
        recovery.offsets_lost |= is_entry || section == Some(Section::Offsets);
        recovery.damage(Damage::of(error));
    }
    if recovery.chunks == 0 && !recovery.damages.is_empty() {
        return Err(first_error(recovery));
    }
    output.finish()?;
    Ok(recovery)
}

fn first_error(recovery: Recovery) -> Error {
    let first = recovery.damages.into_iter().next();
    first.map_or_else(|| FormatError::Empty.into(), |damage| damage.error)
}

/// Whether a source whose structure is sound has chunks; the inner error is damage.
fn walk<S: ReadAt>(source: &S, limits: &Limits) -> Result<std::result::Result<bool, Error>> {
    let mut has_chunks = false;
    let outcome = Walk::of_file(Cursor::new(source), limits)?.run(|event, _| {
        has_chunks |= matches!(event, Event::Chunk(..));
    });
    match outcome {
        Ok(ending) => Ok(ending.map(|_| has_chunks).map_err(Error::from)),
        Err(error) if error.is_format() => Ok(Err(error)),
        Err(error) => Err(error),
    }
}

/// All damages of a source, and the number and the bytes of its sound chunks.
pub(super) fn examine<S: ReadAt>(source: &S, limits: Limits, threads: usize) -> Result<Recovery> {
    let options = RecoverOptions::default().limits(limits).threads(threads);
    ScanResult::of(source, &options)?.examine(source, &options)
}

/// The members that a scan found.
struct ScanResult {
    members: Vec<FoundMember>,
    size: u64,
}

impl ScanResult {
    fn of<S: ReadAt>(source: &S, options: &RecoverOptions) -> Result<Self> {
        let size = source.size()?;
        if size == 0 {
            return Err(FormatError::Empty.into());
        }
        let mut members = scan::scan(source, options.limits, options.hashers)?;
        let mut probe = Probe::new(source, options.limits, options.hashers)?;
        kind::find(&mut probe, &mut members)?;
        Ok(Self { members, size })
    }

    /// Whether records or content are to be recovered. The first member whose kind is known decides.
    fn has_records(&self) -> Result<bool> {
        let sound = || self.members.iter().filter(|member| member.sound > 0);
        let first = sound().find(|member| member.header.is_some());
        let first = first.or_else(|| sound().next());
        match first.or(self.members.first()).map(|member| &member.kind) {
            Some(MemberKind::Unknown(error)) => Err(error.clone().into()),
            kind => Ok(kind.is_some_and(MemberKind::has_records)),
        }
    }

    /// Drops metadata that records cannot have since it is not a JSON object. Returns whether there was any.
    fn drop_odd_metadata(&mut self) -> bool {
        let all = self.members.iter_mut().map(|member| &mut member.metadata);
        let odd = all.filter_map(|all| all.take_if(|metadata| !metadata.is_object()));
        odd.count() > 0
    }

    /// Drops the metadata of an array that will not have the length of its shape, which readers would trust. Returns whether it
    /// did.
    ///
    /// The length of the sound content is known only after all of it was decoded once.
    fn drop_torn_array<S: ReadAt>(&mut self, source: &S, options: &RecoverOptions) -> Result<bool> {
        let mut all = self
            .members
            .iter()
            .filter_map(|member| member.metadata.as_ref());
        let array = match all.next().map(NumpyArray::of) {
            None | Some(Ok(None)) => return Ok(false),
            Some(Ok(Some(array))) => Some(array),
            // An array of an unknown type has an unknown length, so nothing may be missing.
            Some(Err(_)) => None,
        };
        let found = Self::of(source, options)?.examine(source, options)?;
        let is_whole = match array {
            Some(array) => array.content_len() == found.written,
            None => !found.uncounted && found.lost.iter().all(|lost| lost.filled),
        };
        if !is_whole {
            self.members
                .iter_mut()
                .for_each(|member| member.metadata = None);
        }
        Ok(!is_whole)
    }

    /// The part of the report that is known before any chunk is decoded: all except for damages among the chunks.
    fn begin(&self) -> Recovery {
        let mut recovery = Recovery {
            members: to_u64(self.members.len()),
            chunks_lost: Some(0),
            records_lost: Some(0),
            content: Some(0),
            ..Recovery::default()
        };
        for (number, member) in (0..).zip(&self.members) {
            let header = member.header.as_ref();
            let is_damaged = |section| {
                member
                    .damages
                    .iter()
                    .any(|damage| damage.section == section)
            };
            let lacks_metadata = member.metadata.is_none();
            // The metadata of records describes them.
            let is_declared = header.is_some_and(|header| header.varlen);
            let had_metadata = header
                .is_some_and(|header| header.metadata != MetadataPlace::Absent)
                || (member.kind.has_records() && !is_declared);
            if member.digest_len() == 0 {
                recovery.bare.push(number);
            }
            recovery.header_lost |= header.is_none();
            recovery.is_changing |= member.is_changing;
            recovery.metadata_lost |=
                (had_metadata && lacks_metadata) || is_damaged(Section::Metadata);
            recovery.offsets_lost |= is_damaged(Section::Offsets);
        }
        recovery
    }

    /// Finds all damages, and how much is sound, without writing anything.
    fn examine<S: ReadAt>(self, source: &S, options: &RecoverOptions) -> Result<Recovery> {
        Ok(self.salvage(source, options, (), None)?.0)
    }

    /// Hands on all content and reports all damage, in the order of their positions. Members without records are left out, or
    /// those with records, if only one kind is wanted.
    fn salvage<S: ReadAt, O: ContentOutput>(
        self,
        source: &S,
        options: &RecoverOptions,
        output: O,
        wants_records: Option<bool>,
    ) -> Result<(Recovery, O)> {
        // Saturates: no amount reaches a bound above `u64::MAX`.
        let most_zeros = if options.fill {
            self.size.saturating_mul(MOST_ZEROS)
        } else {
            0
        };
        let collector = Collector::new(output, self.begin(), self.size, most_zeros);
        let (size, mut next) = (
            self.size,
            self.members
                .iter()
                .map(|member| member.at)
                .skip(1)
                .collect::<Vec<_>>()
                .into_iter(),
        );
        let mut salvage = Salvage::new(source, options, collector);
        for (index, mut member) in (0..).zip(self.members) {
            salvage.collector.member = index;
            let bytes = member.at..next.next().unwrap_or(size);
            let kind = std::mem::take(&mut member.kind);
            let has_records = kind.has_records();
            if let Some(wanted) = wants_records
                .filter(|wanted| *wanted != has_records || matches!(kind, MemberKind::Unknown(_)))
            {
                let why = match kind {
                    MemberKind::Unknown(error) => error.to_string(),
                    _ if wanted => "its chunks are not records".to_owned(),
                    _ => "its chunks are records".to_owned(),
                };
                salvage.collector.leave_out(bytes, &why, wanted);
                continue;
            }
            salvage.collector.begin(kind);
            report_member(member, has_records, size, &mut salvage)?;
        }
        Ok((salvage.collector.recovery, salvage.collector.output))
    }
}

/// Reports the damages of a member, and hands on its chunks.
fn report_member<S: ReadAt, O: ContentOutput>(
    mut member: FoundMember,
    has_records: bool,
    size: u64,
    salvage: &mut Salvage<'_, S, O>,
) -> Result<()> {
    let head = member.at..member.first_at;
    let part = |bytes, section, error| PartDamage {
        bytes,
        section,
        error,
    };
    let mut is_told = false;
    for damage in std::mem::take(&mut member.damages) {
        is_told |= damage.section == Section::Offsets;
        salvage.collector.part(damage);
    }
    if let Some(id) = member.wrong_checksum_id() {
        let error = FormatError::Field {
            name: "checksum id",
            found: id.into(),
            expected: "that of the digests after the chunks",
        };
        salvage
            .collector
            .part(part(head.clone(), Section::Header, error));
    }
    let spans = gaps::resolve(&mut member, has_records, size);
    let is_over = member
        .count
        .is_some_and(|counted| counted < gaps::accounted(&spans));
    if let Some(error) = gaps::wrong_entry(&member, &spans).filter(|_| !is_told) {
        salvage
            .collector
            .part(part(head.clone(), Section::Offsets, error));
    }
    salvage.member(spans)?;
    let collector = &mut salvage.collector;
    collector.end(head.start)?;
    if let Some(counted) = member.count.filter(|counted| *counted < member.sound) {
        let end = member.trailing.as_ref().map_or(size, |bytes| bytes.start);
        let error = FormatError::UncountedChunk { counted };
        collector.part(part(end..end, Section::Trailer, error));
    }
    if is_over {
        collector.uncounted();
    }
    if let Some(bytes) = member
        .trailing
        .clone()
        .filter(|_| !member.tolerates_trailing())
    {
        collector.part(part(bytes, Section::Trailer, FormatError::Trailing));
    }
    Ok(())
}

fn at(byte: u64, member: u64, chunk: Option<u64>, section: Section) -> Position {
    Position {
        byte,
        member,
        chunk,
        section,
    }
}

fn error_at(error: FormatError, position: Position) -> Error {
    ParseError { error, position }.into()
}
