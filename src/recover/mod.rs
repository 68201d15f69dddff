//! [`recover`]: every sound chunk of a damaged file, into a new one.
//!
//! ```text
//!   ReadAt ─► scan (members, sound chunks, damage) ─► kind (content or records)
//!          ─► content, numbering (what is lost, and where) ─► salvage (check, decode)
//!          ─► taker (report, empty records) ─► output (SeekEncoder, SeekRecordWriter)
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

use super::walk::Walk;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{Cursor, ReadAt};
use bloscpack_wire::{
    Checksum, Event, FormatError, Hashers, Limits, NumpyArray, ParseError, Position, Section,
};
use collector::{Nothing, Taking};
use content::Piece;
use kind::{Kind, kinds};
use member::Member;
use output::Target;
use probe::Probe;
use salvage::{Salvage, Taker};
use std::io::{Read, Seek, Write};

/// Zeros written for each byte of the source, at the most: a header of 32 bytes may count any number
/// of chunks.
const MOST_ZEROS: u64 = 1 << 16;

/// How [`recover`] works.
///
/// ```
/// use bloscpack::RecoverOptions;
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
    /// Whether zeros take the place of lost content, so that the rest keeps its positions; false by
    /// default. Records keep their numbers in any case. What is lost at an unknown length is not filled, and neither is more than 64 KiB for
    /// each byte of the source.
    pub fn fill(mut self, fill: bool) -> Self {
        self.fill = fill;
        self
    }

    /// Threads that decode and compress; one by default, which is the caller's own. The scan is
    /// done by one in any case.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// What the source may ask for. A chunk over a limit is lost.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// What computes digests.
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.hashers = hashers;
        self
    }
}

/// Writes a new file with the content of every sound chunk of a damaged one, in the order in which
/// they lie.
///
/// A chunk is sound if its digest holds and it decodes, or, where there is no digest, if it decodes
/// and its lengths agree. Sound chunks are found behind damaged headers, metadata, tables and
/// chunks, by their headers and digests; what lies inside of a sound chunk is data, even if it
/// looks like a file. The new file has layout V3 with offsets, and chunk size, typesize, filter,
/// compressor, checksum and metadata of the old one as far as those could be read. Of a
/// concatenation, the contents follow each other, and the first metadata is kept.
///
/// Of a file of records, a new one is made with the records under their numbers: in the place of
/// each lost record stands an empty one, which [`Lost::records`] names. Packed chunks say which
/// records they have; where each record is a chunk, table and count of the old file tell. Where
/// nothing tells how many are lost, those behind may get lower numbers, and
/// [`Recovery::records_lost`] is nothing. The new file is of layout V3, too, and as packed as the old
/// one. Where header and metadata are lost, packed chunks are still known for what they are, and so
/// are records of different lengths; records that are all of one length look like one content, and
/// become it, with [`header_lost`](Recovery::header_lost). Members of a concatenation that hold no
/// records where the first ones do, or the other way round, are left out and reported.
///
/// Metadata that describes a NumPy array goes with the whole array only: where the content is not
/// as long as the shape says, that metadata is dropped, since readers would give wrong arrays.
/// [`fill`](RecoverOptions::fill) keeps the length.
///
/// The source is read twice: once to find the chunks, once to decode them; and twice as often where
/// the metadata describes an array; packed chunks are read once more for their heads. Memory is that
/// of an encoder and a decoder, and 24 bytes a chunk, 40 more if it is packed; of records, the
/// largest chunk as a whole.
///
/// ```
/// use bloscpack::{Encoder, RecoverOptions, decompress, recover};
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
/// Those of source and target; what is wrong with the source if nothing at all can be recovered;
/// [`Unsupported`](bloscpack_error::Category::Unsupported) for records that are packed in a way that is not
/// known. Nothing has then been written.
pub fn recover<S, W>(source: &S, target: W, options: &RecoverOptions) -> Result<Recovery>
where
    S: ReadAt + ?Sized,
    W: Read + Write + Seek,
{
    // The output says of its own errors that they are those of the target.
    save(&source, target, options).reading()
}

fn save<S, W>(source: &S, target: W, options: &RecoverOptions) -> Result<Recovery>
where
    S: ReadAt,
    W: Read + Write + Seek,
{
    let mut findings = Findings::of(source, options)?;
    let has_records = findings.has_records()?;
    let is_hopeless = |member: &Member| member.sound == 0 && !member.is_sound_and_empty();
    if findings.members.iter().all(is_hopeless) {
        if !holds_nothing(source, &options.limits)? {
            return Err(findings.hopeless());
        }
        // No chunks, and bytes behind them that are tolerated.
        findings.members.iter_mut().for_each(Member::empty);
    }
    let array_lost = !has_records && findings.drop_torn_array(source, options)?;
    let metadata_lost = has_records && findings.drop_odd_metadata();
    let output = Target::new(target, findings.builder(source, options, has_records)?);
    let mut taker = findings.taking(output, options).only(has_records);
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

/// Whether a source is sound as it is, and has no chunks.
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

/// All damages of a source, and what its sound chunks come to: their number and their bytes.
pub(super) fn examine<S: ReadAt>(source: &S, limits: Limits, threads: usize) -> Result<Recovery> {
    let options = RecoverOptions::default().limits(limits).threads(threads);
    Findings::of(source, &options)?.examine(source, &options)
}

/// What a scan found.
struct Findings {
    members: Vec<Member>,
    /// What their chunks hold.
    kinds: Vec<Kind>,
    size: u64,
}

impl Findings {
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

    /// Whether records are to be recovered, or content: what the first member that tells has.
    fn has_records(&self) -> Result<bool> {
        let all = || self.members.iter().zip(&self.kinds);
        let tells = |(member, _): &(&Member, &Kind)| member.header.is_some() && member.sound > 0;
        let first = all().find(tells);
        let first = first.or_else(|| all().find(|(member, _)| member.sound > 0));
        match first.or_else(|| all().next()) {
            Some((_, Kind::Unknown(error))) => Err(error.clone().into()),
            Some((_, kind)) => Ok(kind.has_records()),
            None => Ok(false),
        }
    }

    /// What takes all that a salvage finds.
    fn taking<O: collector::Output>(&mut self, output: O, options: &RecoverOptions) -> Taking<O> {
        let (recovery, most_zeros) = (self.begin(), self.most_zeros(options));
        let kinds = std::mem::take(&mut self.kinds);
        Taking::new(output, recovery, kinds, self.size).most_zeros(most_zeros)
    }

    /// Drops metadata that records cannot have, which is no JSON object; gives whether there was.
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

    /// All that is wrong, and how much there is, without writing anything.
    fn examine<S: ReadAt>(mut self, source: &S, options: &RecoverOptions) -> Result<Recovery> {
        let mut taker = self.taking(Nothing, options);
        self.salvage(source, options, &mut taker)?;
        Ok(taker.recovery)
    }

    fn most_zeros(&self, options: &RecoverOptions) -> u64 {
        let is_filled = u64::from(options.fill);
        self.size
            .saturating_mul(MOST_ZEROS)
            .saturating_mul(is_filled)
    }

    /// Drops the metadata of an array that will not be as long as its shape says, which readers
    /// would trust; gives whether it did.
    ///
    /// How much of the content there is shows only when all of it was decoded once.
    fn drop_torn_array<S: ReadAt>(&mut self, source: &S, options: &RecoverOptions) -> Result<bool> {
        let mut all = self
            .members
            .iter()
            .filter_map(|member| member.metadata.as_ref());
        let array = match all.next().map(NumpyArray::of) {
            None | Some(Ok(None)) => return Ok(false),
            Some(Ok(Some(array))) => Some(array),
            // Of some other type: nothing tells its length, so that nothing may be missing.
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

    /// Why nothing can be recovered.
    fn hopeless(mut self) -> Error {
        let Some(mut member) = self.members.drain(..).next() else {
            return FormatError::Empty.into();
        };
        let flaw = if member.flaws.is_empty() {
            None
        } else {
            Some(member.flaws.swap_remove(0))
        };
        match flaw {
            Some(flaw) => at(flaw.error, flaw.bytes.start, 0, None, flaw.section),
            None => {
                let gap = content::pieces(&mut member, self.size)
                    .into_iter()
                    .find_map(|piece| match piece {
                        Piece::Gap(gap) => Some(gap),
                        Piece::Chunk(_) => None,
                    });
                match gap {
                    Some(gap) => at(gap.error, gap.bytes.start, 0, gap.number, gap.section),
                    None => FormatError::Empty.into(),
                }
            }
        }
    }

    /// What is known before any chunk is decoded: all but what lies among the chunks.
    fn begin(&mut self) -> Recovery {
        let mut recovery = Recovery {
            members: u64::try_from(self.members.len()).unwrap_or(u64::MAX),
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
            // Records say by their metadata what they are.
            let is_told = header.is_some_and(|header| header.varlen);
            let lacks_metadata = !is_told && member.metadata.is_none();
            recovery.metadata_lost |= kind.has_records() && lacks_metadata;
            recovery.is_changing |= member.is_changing;
            recovery.metadata_lost |= member
                .flaws
                .iter()
                .any(|flaw| flaw.section == Section::Metadata)
                || header.is_some_and(|header| {
                    header.metadata != bloscpack_wire::MetadataPlace::Absent
                        && member.metadata.is_none()
                });
            recovery.offsets_lost |= member
                .flaws
                .iter()
                .any(|flaw| flaw.section == Section::Offsets);
        }
        recovery
    }

    /// Hands on all content and tells all damage, in order of place.
    fn salvage<S: ReadAt>(
        self,
        source: &S,
        options: &RecoverOptions,
        taker: &mut impl Taker,
    ) -> Result<()> {
        let mut salvage = Salvage::new(source, options.limits, options.hashers, options.threads);
        let starts: Vec<_> = self.members.iter().map(|member| member.at).collect();
        for (index, mut member) in self.members.into_iter().enumerate() {
            let behind = starts.get(index.saturating_add(1)).copied();
            let all = member.at..behind.unwrap_or(self.size);
            if !taker.takes(index, all) {
                continue;
            }
            let mut is_told = false;
            for flaw in std::mem::take(&mut member.flaws) {
                is_told |= flaw.section == Section::Offsets;
                taker.flaw(index, flaw.bytes, flaw.section, flaw.error);
            }
            if let Some(id) = member.wrong_checksum_id() {
                let error = FormatError::Field {
                    name: "checksum id",
                    found: id.into(),
                    expected: "that of the digests behind the chunks",
                };
                let bytes = member.at..member.first_at;
                taker.flaw(index, bytes, Section::Header, error);
            }
            let checksum = member.checksum.unwrap_or(Checksum::None);
            let pieces = if member.has_records {
                numbering::pieces(&mut member, self.size)
            } else {
                content::pieces(&mut member, self.size)
            };
            let (counted, sound) = (member.count, member.sound);
            let is_over = counted.is_some_and(|counted| counted < content::accounted(&pieces));
            if let Some(error) = content::wrong_entry(&member, &pieces).filter(|_| !is_told) {
                let bytes = member.at..member.first_at;
                taker.flaw(index, bytes, Section::Offsets, error);
            }
            salvage.member(index, checksum, pieces, taker)?;
            taker.end(index, member.at..member.first_at)?;
            if let Some(counted) = counted.filter(|counted| *counted < sound) {
                let end = member
                    .trailing
                    .as_ref()
                    .map_or(self.size, |bytes| bytes.start);
                let error = FormatError::UncountedChunk { counted };
                taker.flaw(index, end..end, Section::Trailer, error);
            }
            if is_over {
                taker.uncounted(index);
            }
            if let Some(bytes) = member.trailing.clone()
                && !content::tolerates_trailing(&member)
            {
                taker.flaw(index, bytes, Section::Trailer, FormatError::Trailing);
            }
        }
        Ok(())
    }
}

fn at(error: FormatError, byte: u64, member: usize, chunk: Option<u64>, section: Section) -> Error {
    let position = Position {
        byte,
        member: u64::try_from(member).unwrap_or(u64::MAX),
        chunk,
        section,
    };
    ParseError { error, position }.into()
}
