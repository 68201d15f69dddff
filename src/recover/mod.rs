//! [`recover`]: every sound chunk of a damaged file, into a new one.
//!
//! ```text
//!   ReadAt ─► scan (members, sound chunks, damage) ─► kind (content or records)
//!          ─► content, numbering (losses and their positions) ─► salvage (check, decode)
//!          ─► collector (report, empty records) ─► output (SeekEncoder, SeekRecordWriter)
//! ```

mod block_layout;
mod budget;
mod collector;
mod content;
mod head;
mod kind;
mod links;
mod member;
mod notes;
mod numbering;
mod output;
mod output_options;
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
use super::walk::Walk;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{Cursor, ReadAt};
use bloscpack_wire::{
    Checksum, Event, FormatError, Hashers, Limits, NumpyArray, ParseError, Position, Section,
};
use collector::{Collector, Discard};
use content::Stretch;
use kind::{MemberKind, kinds};
use member::FoundMember;
use output::OutputFile;
use probe::Probe;
use salvage::{Salvage, SalvageSink};
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
    let mut findings = ScanResult::of(source, options)?;
    let has_records = findings.has_records()?;
    let is_hopeless = |member: &FoundMember| member.sound == 0 && !member.is_sound_and_empty();
    if findings.members.iter().all(is_hopeless) {
        if !holds_nothing(source, &options.limits)? {
            return Err(findings.into_error());
        }
        // No chunks, and trailing bytes that are tolerated.
        findings.members.iter_mut().for_each(FoundMember::empty);
    }
    let array_lost = !has_records && findings.drop_torn_array(source, options)?;
    let metadata_lost = has_records && findings.drop_odd_metadata();
    let output = OutputFile::new(target, findings.builder(source, options, has_records)?);
    let mut taker = findings.collector(output, options).only(has_records);
    taker.recovery.array_lost = array_lost;
    taker.recovery.metadata_lost |= array_lost || metadata_lost;
    findings.salvage(source, options, &mut taker)?;
    if taker.recovery.damages.is_empty() {
        taker.recovery.contradiction(source, &options.limits)?;
    }
    if taker.recovery.chunks == 0 && !taker.recovery.damages.is_empty() {
        let first = taker.recovery.damages.into_iter().next();
        return Err(first.map_or_else(|| FormatError::Empty.into(), |damage| damage.error));
    }
    taker.output.finish()?;
    Ok(taker.recovery)
}

/// Whether a source is sound, and has no chunks.
fn holds_nothing<S: ReadAt>(source: &S, limits: &Limits) -> Result<bool> {
    let mut has_chunks = false;
    let outcome = Walk::of_file(Cursor::new(source), limits)?.run(|event, _| {
        has_chunks |= matches!(event, Event::Chunk(..));
    });
    match outcome {
        Ok(ending) => Ok(ending.is_ok() && !has_chunks),
        Err(error) if error.is_format() => Ok(false),
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
    /// The kind of each member.
    kinds: Vec<MemberKind>,
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
        let kinds = kinds(&mut probe, &mut members)?;
        Ok(Self {
            members,
            kinds,
            size,
        })
    }

    /// Whether records or content are to be recovered. The first member whose kind is known decides.
    fn has_records(&self) -> Result<bool> {
        let all = || self.members.iter().zip(&self.kinds);
        let decides =
            |(member, _): &(&FoundMember, &MemberKind)| member.header.is_some() && member.sound > 0;
        let first = all().find(decides);
        let first = first.or_else(|| all().find(|(member, _)| member.sound > 0));
        match first.or_else(|| all().next()) {
            Some((_, MemberKind::Unknown(error))) => Err(error.clone().into()),
            Some((_, kind)) => Ok(kind.has_records()),
            None => Ok(false),
        }
    }

    /// Takes everything that a salvage finds.
    fn collector<O: collector::ContentOutput>(
        &mut self,
        output: O,
        options: &RecoverOptions,
    ) -> Collector<O> {
        let (recovery, most_zeros) = (self.begin(), self.most_zeros(options));
        let kinds = std::mem::take(&mut self.kinds);
        Collector::new(output, recovery, kinds, self.size).most_zeros(most_zeros)
    }

    /// Drops metadata that records cannot have since it is not a JSON object. Returns whether there was any.
    fn drop_odd_metadata(&mut self) -> bool {
        let mut is_any = false;
        for member in &mut self.members {
            let metadata = member.metadata.as_ref();
            if metadata.is_some_and(|metadata| !metadata.is_object()) {
                member.metadata = None;
                is_any = true;
            }
        }
        is_any
    }

    /// Finds all damages, and how much is sound, without writing anything.
    fn examine<S: ReadAt>(mut self, source: &S, options: &RecoverOptions) -> Result<Recovery> {
        let mut taker = self.collector(Discard, options);
        self.salvage(source, options, &mut taker)?;
        Ok(taker.recovery)
    }

    fn most_zeros(&self, options: &RecoverOptions) -> u64 {
        // Saturates: no amount reaches a bound above `u64::MAX`.
        match options.fill {
            true => self.size.saturating_mul(MOST_ZEROS),
            false => 0,
        }
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
            for member in &mut self.members {
                member.metadata = None;
            }
        }
        Ok(!is_whole)
    }

    /// The reason why nothing can be recovered.
    fn into_error(mut self) -> Error {
        let Some(mut member) = self.members.drain(..).next() else {
            return FormatError::Empty.into();
        };
        if let Some(damage) = std::mem::take(&mut member.damages).into_iter().next() {
            return at(damage.error, damage.bytes.start, 0, None, damage.section);
        }
        let stretches = content::stretches(&mut member, self.size).into_iter();
        let gap = stretches.into_iter().find_map(|stretch| match stretch {
            Stretch::Gap(gap) => Some(gap),
            Stretch::Chunk(_) => None,
        });
        match gap {
            Some(gap) => at(gap.error, gap.bytes.start, 0, gap.number, gap.section),
            None => FormatError::Empty.into(),
        }
    }

    /// The part of the report that is known before any chunk is decoded: all except for damages among the chunks.
    fn begin(&mut self) -> Recovery {
        let mut recovery = Recovery {
            members: to_u64(self.members.len()),
            chunks_lost: Some(0),
            records_lost: Some(0),
            content: Some(0),
            ..Recovery::default()
        };
        for ((number, member), kind) in (0..).zip(&self.members).zip(&self.kinds) {
            let header = member.header.as_ref();
            if member.digest_len() == 0 {
                recovery.bare.push(number);
            }
            recovery.header_lost |= header.is_none();
            // The metadata of records describes them.
            let is_declared = header.is_some_and(|header| header.varlen);
            let lacks_metadata = !is_declared && member.metadata.is_none();
            recovery.metadata_lost |= kind.has_records() && lacks_metadata;
            recovery.is_changing |= member.is_changing;
            recovery.metadata_lost |= member
                .damages
                .iter()
                .any(|damage| damage.section == Section::Metadata)
                || header.is_some_and(|header| {
                    header.metadata != bloscpack_wire::MetadataPlace::Absent
                        && member.metadata.is_none()
                });
            recovery.offsets_lost |= member
                .damages
                .iter()
                .any(|damage| damage.section == Section::Offsets);
        }
        recovery
    }

    /// Hands on all content and reports all damage, in the order of their positions.
    fn salvage<S: ReadAt>(
        self,
        source: &S,
        options: &RecoverOptions,
        taker: &mut impl SalvageSink,
    ) -> Result<()> {
        let mut salvage = Salvage::new(source, options.limits, options.hashers, options.threads);
        let starts: Vec<_> = self.members.iter().map(|member| member.at).collect();
        for (index, mut member) in self.members.into_iter().enumerate() {
            let next = starts.get(index + 1).copied();
            let all = member.at..next.unwrap_or(self.size);
            if !taker.accepts(index, all) {
                continue;
            }
            let mut is_told = false;
            for damage in std::mem::take(&mut member.damages) {
                is_told |= damage.section == Section::Offsets;
                taker.part_damage(index, damage.bytes, damage.section, damage.error);
            }
            if let Some(id) = member.wrong_checksum_id() {
                let error = FormatError::Field {
                    name: "checksum id",
                    found: id.into(),
                    expected: "that of the digests after the chunks",
                };
                let bytes = member.at..member.first_at;
                taker.part_damage(index, bytes, Section::Header, error);
            }
            let checksum = member.checksum.unwrap_or(Checksum::None);
            let stretches = if member.has_records {
                numbering::stretches(&mut member, self.size)
            } else {
                content::stretches(&mut member, self.size)
            };
            let counted = member.count;
            let is_over = counted.is_some_and(|counted| counted < content::accounted(&stretches));
            if let Some(error) = content::wrong_entry(&member, &stretches).filter(|_| !is_told) {
                let bytes = member.at..member.first_at;
                taker.part_damage(index, bytes, Section::Offsets, error);
            }
            salvage.member(index, checksum, stretches, taker)?;
            taker.end(index, member.at..member.first_at)?;
            report_end(&member, index, self.size, is_over, taker);
        }
        Ok(())
    }
}

/// Reports chunks that a member does not count, and bytes after its last chunk.
fn report_end(
    member: &FoundMember,
    index: usize,
    size: u64,
    is_over: bool,
    taker: &mut impl SalvageSink,
) {
    if let Some(counted) = member.count.filter(|counted| *counted < member.sound) {
        let end = member.trailing.as_ref().map_or(size, |bytes| bytes.start);
        let error = FormatError::UncountedChunk { counted };
        taker.part_damage(index, end..end, Section::Trailer, error);
    }
    if is_over {
        taker.uncounted(index);
    }
    if let Some(bytes) = member.trailing.clone()
        && !content::tolerates_trailing(member)
    {
        taker.part_damage(index, bytes, Section::Trailer, FormatError::Trailing);
    }
}

fn at(error: FormatError, byte: u64, member: usize, chunk: Option<u64>, section: Section) -> Error {
    let position = Position {
        byte,
        member: to_u64(member),
        chunk,
        section,
    };
    ParseError { error, position }.into()
}
