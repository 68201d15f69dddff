//! [`recover`]: every sound chunk of a damaged file, into a new one.
//!
//! ```text
//!   ReadAt ─► scan (members, sound chunks, damage) ─► content (what is lost, and where)
//!          ─► salvage (check, decode) ─► SeekEncoder
//! ```

mod behind;
mod content;
mod head;
mod member;
mod probe;
mod report;
mod salvage;
mod scan;
mod search;
mod shape;
mod table;
mod window;
mod work;

pub(super) use behind::holds_chunks;
pub use report::{Lost, Recovery};

use super::encoder::{Encoder, EncoderBuilder, SeekEncoder};
use super::verify::Damage;
use super::walk::Walk;
use crate::blosc::{ChunkHeader, Compressor, CompressorFormat, HEADER_LEN};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::storage::{Cursor, ReadAt};
use crate::wire::{
    Checksum, Event, FormatError, Hashers, NumpyArray, ParseError, Position, Section,
};
use content::{Gap, Piece};
use member::Member;
use salvage::{Salvage, Taker};
use std::io::{Read, Seek, Write};
use std::ops::Range;

/// Zeros written for each byte of the source, at the most: a header of 32 bytes may count any number
/// of chunks.
const MOST_ZEROS: u64 = 1 << 16;
/// Zeros written at once.
const ZEROS: [u8; 4096] = [0; 4096];

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
    /// Whether zeros take the place of what is lost, so that the rest keeps its positions; false by
    /// default. What is lost at an unknown length is not filled, and neither is more than 64 KiB for
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
/// Metadata that describes a NumPy array goes with the whole array only: where the content is not
/// as long as the shape says, that metadata is dropped, since readers would give wrong arrays.
/// [`fill`](RecoverOptions::fill) keeps the length.
///
/// The source is read twice: once to find the chunks, once to decode them; and twice as often where
/// the metadata describes an array. Memory is that of an encoder and a decoder, and 24 bytes a chunk.
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
/// [`Unsupported`](crate::Category::Unsupported) for a file of records, which are not recovered
/// yet. Nothing has then been written.
pub fn recover<S, W>(source: &S, target: W, options: &RecoverOptions) -> Result<Recovery>
where
    S: ReadAt + ?Sized,
    W: Read + Write + Seek,
{
    let mut findings = Findings::of(&source, options)?;
    if findings.members.iter().any(Member::has_records) {
        let what = "records are not recovered yet: only files of chunks of one size are".to_owned();
        return Err(FormatError::Unsupported { what }.into());
    }
    let is_hopeless = |member: &Member| member.sound == 0 && !member.is_sound_and_empty();
    if findings.members.iter().all(is_hopeless) {
        if !holds_nothing(&source, &options.limits)? {
            return Err(findings.hopeless());
        }
        // No chunks, and bytes behind them that are tolerated.
        findings.members.iter_mut().for_each(Member::empty);
    }
    let array_lost = findings.drop_torn_array(&source, options)?;
    let builder = findings.builder(&source, options)?;
    let mut taker = Writer {
        target: Target::Waiting(Some(Box::new((target, builder)))),
        most_zeros: findings.most_zeros(options),
        recovery: findings.begin(),
    };
    taker.recovery.array_lost = array_lost;
    taker.recovery.metadata_lost |= array_lost;
    findings.salvage(&source, options, &mut taker)?;
    if taker.recovery.damages.is_empty() {
        taker.recovery.contradiction(&source, &options.limits)?;
    }
    if taker.recovery.chunks == 0 && !taker.recovery.damages.is_empty() {
        let first = taker.recovery.damages.into_iter().next();
        return Err(first.map_or_else(|| FormatError::Empty.into(), |damage| damage.error));
    }
    taker.finish()
}

/// Whether a source is sound as it is, and has no chunks.
fn holds_nothing<S: ReadAt>(source: &S, limits: &Limits) -> Result<bool> {
    let mut has_chunks = false;
    let outcome = Walk::of_file(Cursor::new(source), limits)?.run(|event, _| {
        has_chunks |= matches!(event, Event::Chunk(..));
    });
    match outcome {
        Ok(ending) => Ok(ending.is_ok() && !has_chunks),
        Err(error) if matches!(error.kind(), ErrorKind::Format(_)) => Ok(false),
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
    size: u64,
}

impl Findings {
    fn of<S: ReadAt>(source: &S, options: &RecoverOptions) -> Result<Self> {
        let size = source.size()?;
        if size == 0 {
            return Err(FormatError::Empty.into());
        }
        let members = scan::scan(source, options.limits, options.hashers)?;
        Ok(Self { members, size })
    }

    /// All that is wrong, and how much there is, without writing anything.
    fn examine<S: ReadAt>(mut self, source: &S, options: &RecoverOptions) -> Result<Recovery> {
        let mut taker = Examiner {
            most_zeros: self.most_zeros(options),
            recovery: self.begin(),
        };
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
            None => found.lost.iter().all(|lost| lost.filled),
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
            content: Some(0),
            ..Recovery::default()
        };
        for (number, member) in (0..).zip(&self.members) {
            let header = member.header.as_ref();
            if member.digest_len() == 0 {
                recovery.bare.push(number);
            }
            recovery.header_lost |= header.is_none();
            recovery.is_changing |= member.is_changing;
            recovery.metadata_lost |= member
                .flaws
                .iter()
                .any(|flaw| flaw.section == Section::Metadata)
                || header.is_some_and(|header| {
                    header.metadata != crate::wire::MetadataPlace::Absent
                        && member.metadata.is_none()
                });
            recovery.offsets_lost |= member
                .flaws
                .iter()
                .any(|flaw| flaw.section == Section::Offsets);
        }
        recovery
    }

    /// How to write what was found: as it was.
    fn builder<S: ReadAt>(&self, source: &S, options: &RecoverOptions) -> Result<EncoderBuilder> {
        let mut builder = Encoder::builder()
            .threads(options.threads)
            .hashers(options.hashers);
        let metadata = self
            .members
            .iter()
            .find_map(|member| member.metadata.as_ref());
        if let Some(metadata) = metadata {
            builder = builder.metadata(metadata.clone());
        }
        let Some((member, found)) = self.members.iter().find_map(Member::first_sound) else {
            return Ok(builder);
        };
        let checksum = member.checksum.filter(|_| member.names_checksum());
        if let Some(checksum) = checksum {
            builder = builder.checksum(checksum);
        }
        let claimed = member.header.as_ref().and_then(|header| header.chunk_size);
        let claimed = claimed.filter(|size| member.chunk_size == Some(*size));
        let size = claimed.or(member.largest_sound());
        if let Some(size) = size.filter(|size| *size > 0) {
            builder = builder.chunk_size(size);
        }
        let mut bytes = [0; HEADER_LEN];
        source.read_exact_at(found.at, &mut bytes)?;
        let Ok(header) = ChunkHeader::parse(&bytes) else {
            return Ok(builder);
        };
        if let Some(compressor) = header.compressor_format().and_then(compressor) {
            builder = builder.compressor(compressor);
        }
        Ok(builder.typesize(header.typesize).filter(header.filter()))
    }

    /// Hands on all content and tells all damage, in order of place.
    fn salvage<S: ReadAt>(
        self,
        source: &S,
        options: &RecoverOptions,
        taker: &mut impl Taker,
    ) -> Result<()> {
        let mut salvage = Salvage::new(source, options.limits, options.hashers, options.threads);
        for (index, mut member) in self.members.into_iter().enumerate() {
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
            let pieces = content::pieces(&mut member, self.size);
            let (counted, sound) = (member.count, member.sound);
            if let Some(error) = content::wrong_entry(&member, &pieces).filter(|_| !is_told) {
                let bytes = member.at..member.first_at;
                taker.flaw(index, bytes, Section::Offsets, error);
            }
            salvage.member(index, checksum, pieces, taker)?;
            if let Some(counted) = counted.filter(|counted| *counted < sound) {
                let end = member
                    .trailing
                    .as_ref()
                    .map_or(self.size, |bytes| bytes.start);
                taker.flaw(
                    index,
                    end..end,
                    Section::Trailer,
                    FormatError::UncountedChunk { counted },
                );
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

/// A compressor that writes this format and is there.
fn compressor(format: CompressorFormat) -> Option<Compressor> {
    Compressor::ALL
        .into_iter()
        .find(|compressor| compressor.format() == format && compressor.is_available())
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

impl Recovery {
    /// Notes what keeps a reader from reading chunks that are all sound: a table or a header that says
    /// other things of them.
    fn contradiction<S: ReadAt>(&mut self, source: &S, limits: &Limits) -> Result<()> {
        let outcome = Walk::of_file(Cursor::new(source), limits)?.run(|_, _| {});
        let error = match outcome {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error.into(),
            Err(error) if matches!(error.kind(), ErrorKind::Format(_)) => error,
            Err(error) => return Err(error),
        };
        let section = error.position().map(|position| position.section);
        // It is where a chunk begins that an entry is found to be wrong.
        let is_entry = matches!(error.kind(), ErrorKind::Format(FormatError::Offset { .. }));
        self.offsets_lost |= is_entry || section == Some(Section::Offsets);
        self.damage(Damage {
            error,
            bytes: None,
            content: None,
        });
        Ok(())
    }

    /// Notes something wrong that no content depends on.
    fn flaw(&mut self, member: usize, bytes: Range<u64>, section: Section, error: FormatError) {
        self.offsets_lost |= section == Section::Offsets;
        self.damage(Damage {
            error: at(error, bytes.start, member, None, section),
            bytes: Some(bytes),
            content: None,
        });
    }

    /// Notes a gap, and gives how many zeros are to be written for it: all that it lacks, or none if
    /// those are more than may still be written.
    fn gap(&mut self, member: usize, gap: Gap, most_zeros: &mut u64) -> u64 {
        self.chunks_lost = self
            .chunks_lost
            .zip(gap.chunks)
            .map(|(a, b)| a.saturating_add(b));
        let content = self.content.zip(gap.len).filter(|(_, len)| *len > 0);
        let content = content.map(|(from, len)| from..from.saturating_add(len));
        let error = at(gap.error, gap.bytes.start, member, gap.number, gap.section);
        self.damage(Damage {
            error,
            bytes: Some(gap.bytes),
            content,
        });
        let is_filled = gap.len.is_some_and(|len| len <= *most_zeros);
        let zeros = self.lose(gap.len, is_filled);
        *most_zeros = most_zeros.saturating_sub(zeros);
        zeros
    }
}

/// Counts what it is given.
struct Examiner {
    most_zeros: u64,
    recovery: Recovery,
}

impl Taker for Examiner {
    fn data(&mut self, bytes: &[u8]) -> Result<()> {
        self.recovery.win(window::to_u64(bytes.len()));
        Ok(())
    }

    fn chunk(&mut self, _: u32) {
        self.recovery.chunks = self.recovery.chunks.saturating_add(1);
    }

    fn gap(&mut self, member: usize, gap: Gap) -> Result<()> {
        self.recovery.gap(member, gap, &mut self.most_zeros);
        Ok(())
    }

    fn flaw(&mut self, member: usize, bytes: Range<u64>, section: Section, error: FormatError) {
        self.recovery.flaw(member, bytes, section, error);
    }
}

/// The new file, which begins with the first bytes of content, so that none comes to be without.
enum Target<W: Read + Write + Seek> {
    Waiting(Option<Box<(W, EncoderBuilder)>>),
    Begun(Box<SeekEncoder<W>>),
}

struct Writer<W: Read + Write + Seek> {
    target: Target<W>,
    /// Zeros that may still be written in place of what is lost.
    most_zeros: u64,
    recovery: Recovery,
}

impl<W: Read + Write + Seek> Writer<W> {
    fn encoder(&mut self) -> Result<&mut SeekEncoder<W>> {
        if let Target::Waiting(waiting) = &mut self.target
            && let Some(waiting) = waiting.take()
        {
            let (target, builder) = *waiting;
            self.target = Target::Begun(Box::new(builder.write_to_file(target)?));
        }
        match &mut self.target {
            Target::Begun(encoder) => Ok(encoder),
            Target::Waiting(_) => Err(Error::usage("the target has failed before")),
        }
    }

    fn zeros(&mut self, mut count: u64) -> Result<()> {
        while count > 0 {
            let len = usize::try_from(count)
                .unwrap_or(usize::MAX)
                .min(ZEROS.len());
            self.encoder()?
                .write_all(ZEROS.get(..len).unwrap_or_default())?;
            count = count.saturating_sub(window::to_u64(len));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Recovery> {
        self.encoder()?;
        if let Target::Begun(encoder) = self.target {
            encoder.finish()?;
        }
        Ok(self.recovery)
    }
}

impl<W: Read + Write + Seek> Taker for Writer<W> {
    fn data(&mut self, bytes: &[u8]) -> Result<()> {
        self.encoder()?.write_all(bytes)?;
        self.recovery.win(window::to_u64(bytes.len()));
        Ok(())
    }

    fn chunk(&mut self, _: u32) {
        self.recovery.chunks = self.recovery.chunks.saturating_add(1);
    }

    fn gap(&mut self, member: usize, gap: Gap) -> Result<()> {
        let zeros = self.recovery.gap(member, gap, &mut self.most_zeros);
        self.zeros(zeros)
    }

    fn flaw(&mut self, member: usize, bytes: Range<u64>, section: Section, error: FormatError) {
        self.recovery.flaw(member, bytes, section, error);
    }
}
