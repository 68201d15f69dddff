//! [`Plan`]: the checked options, the header and the metadata of a member that is about to be written.

use super::EncoderBuilder;
use super::auto::AutoTune;
use super::chunk_compressor::ChunkOptions;
use super::chunker::Chunker;
use blosc1::{ChunkSettings, MAX_NBYTES, Tuner};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use bloscpack_storage::parallel::Crew;
use bloscpack_wire::{
    Checksum, Form, FormatError, FormatVersion, Geometry, Hashers, Header, Limit, Limits, Metadata,
    MetadataHeader, MetadataPlace, Packing, declared,
    internal::{ENTRY_LEN, Seal},
};
use std::sync::Arc;

/// The most spare offsets that a caller may request: a table of 1 GiB, which is written at once.
pub(crate) const MOST_SPARE: u64 = 1 << 27;
/// Spare offsets for each chunk by default.
const SPARE_FACTOR: u64 = 10;
/// The most bytes that the number of records takes in metadata.
const SHAPE_ROOM: usize = r#", "shape": [18446744073709551615]"#.len();
/// The most bytes of an offset table, far more than fit on any disk. This bound keeps all positions within 63 bits.
const MOST_TABLE: u64 = 1 << 61;

/// Refuses an offset table of more chunks than readers accept.
///
/// # Errors
/// Returns [`FormatError::WriteLimit`].
pub(crate) fn check_table(chunks: u64, limits: &Limits) -> Result<()> {
    // Saturates: no limit is above the largest number.
    let len = chunks.saturating_mul(ENTRY_LEN);
    Ok(FormatError::check_write(
        Limit::Offsets,
        len,
        limits.offsets,
    )?)
}

/// Refuses user metadata that a file of records cannot have.
///
/// # Errors
/// Returns a [`Usage`](bloscpack_error::Category::Usage) error for metadata that is not a JSON object.
pub(crate) fn check_of_records(own: &Metadata) -> Result<()> {
    if own.is_object() {
        return Ok(());
    }
    Err(Error::usage(
        "the metadata of records has to be a JSON object",
    ))
}

/// Refuses user metadata that a file of content cannot have, since readers would look for records.
///
/// # Errors
/// Returns a [`Usage`](bloscpack_error::Category::Usage) error for metadata that declares packed records.
pub(crate) fn check_of_content(header: &Header, own: &Metadata) -> Result<()> {
    match Form::of(header, Some(own)) {
        Err(error) if !header.varlen => Err(Error::usage(format!(
            "the metadata cannot be that of a file of content: {error}"
        ))),
        _ => Ok(()),
    }
}

/// The amount to write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Total {
    pub chunks: u64,
    /// Bytes of content, or number of records.
    pub amount: u64,
}

/// The values in the metadata of a member of records.
#[derive(Debug, Clone)]
pub(crate) struct RecordOptions {
    pub dtype: String,
    pub packing: Option<Packing>,
    /// The number of records, if it is known beforehand.
    pub count: Option<u64>,
}

/// The data of the chunks.
#[derive(Clone)]
enum Payload {
    /// One content, cut into chunks of this size; with `is_interactive`, of at most this size.
    Content {
        chunk_size: u32,
        is_interactive: bool,
    },
    /// Records, and the user's own metadata.
    Records(RecordOptions, Option<Metadata>),
}

/// Everything that is known about an output before the first byte of data.
#[derive(Clone)]
pub(crate) struct Plan {
    chunk: ChunkSettings,
    /// Chooses settings by the first data, if set.
    tuner: Option<Tuner>,
    pub hashers: Hashers,
    limits: Limits,
    threads: usize,
    crew: Option<Arc<Crew>>,
    /// The amount that was announced beforehand.
    pub known: Option<Total>,
    /// The bytes of the metadata after the header; empty without metadata.
    pub metadata: Vec<u8>,
    spare: Option<u64>,
    /// Zeros after every chunk.
    pub spare_space: u32,
    /// The header, without the numbers that only `finish` may know.
    header: Header,
    payload: Payload,
}

impl Plan {
    /// Checks the options. With `seeks`, the target can be patched.
    pub(super) fn new(options: EncoderBuilder, seeks: bool) -> Result<Self> {
        let (chunk_size, size) = (options.chunk_size, options.size);
        if !(1..=MAX_NBYTES).contains(&chunk_size) {
            return Err(Error::usage(format!(
                "chunk size {chunk_size} is out of range: it must be 1 to {MAX_NBYTES}"
            )));
        }
        if options.version == FormatVersion::V1 && size.is_none() && !seeks {
            return Err(Error::usage(
                "layout V1 begins with the number of chunks; give the size beforehand",
            ));
        }
        FormatError::check_write(Limit::Chunk, chunk_size.into(), options.limits.chunk.into())?;
        let is_interactive = options.interactive;
        if is_interactive && (options.version != FormatVersion::V3 || size.is_some() || seeks) {
            return Err(Error::usage(
                "an interactive stream is of layout V3, without a size, for a target that only takes bytes",
            ));
        }
        let mut header = header_of(&options);
        header.offsets &= seeks;
        header.chunk_size =
            Some(chunk_size).filter(|_| options.version != FormatVersion::V1 && !is_interactive);
        let known = size.map(|bytes| Total {
            chunks: chunks_of(bytes, chunk_size),
            amount: bytes,
        });
        let metadata = options.metadata.clone();
        let payload = Payload::Content {
            chunk_size,
            is_interactive,
        };
        let mut plan = Self::with(options, header, known, payload)?;
        if let Some(metadata) = metadata {
            check_of_content(&plan.header, &metadata)?;
            plan.place(&metadata)?;
        }
        plan.checked()
    }

    /// As [`new`](Self::new), for records.
    pub(crate) fn of_records(
        options: EncoderBuilder,
        records: RecordOptions,
        seeks: bool,
    ) -> Result<Self> {
        if !matches!(options.version, FormatVersion::V2 | FormatVersion::V3) {
            let version = options.version;
            return Err(Error::usage(format!("layout {version} has no records")));
        }
        let most = records.packing.map_or(0, |packing| packing.chunk_size());
        FormatError::check_write(Limit::Chunk, most.into(), options.limits.chunk.into())?;
        // The number of packed chunks depends on the lengths of the records.
        let count = records.count.filter(|_| records.packing.is_none());
        let mut header = header_of(&options);
        header.varlen = true;
        header.offsets &= seeks || count.is_some();
        let known = count.map(|count| Total {
            chunks: count,
            amount: count,
        });
        let (own, is_open) = (options.metadata.clone(), records.count.is_none());
        own.as_ref().map_or(Ok(()), check_of_records)?;
        let payload = Payload::Records(records, own);
        let mut plan = Self::with(options, header, known, payload)?;
        plan.declare(known.map(|total| total.amount))?;
        if seeks && is_open && plan.header.version == FormatVersion::V2 {
            let room = plan.metadata.len() + SHAPE_ROOM;
            let open = Metadata::from_json(plan.metadata.clone())?;
            plan.place(&Metadata::from_json(padded(&open, room))?)?;
        }
        plan.checked()
    }

    /// The plan before its metadata is placed.
    fn with(
        options: EncoderBuilder,
        header: Header,
        known: Option<Total>,
        payload: Payload,
    ) -> Result<Self> {
        let mut chunk = options.chunk;
        chunk.level = options.level.unwrap_or(chunk.compressor.default_level());
        if options.spare_space > 0 && (header.version != FormatVersion::V2 || !header.offsets) {
            return Err(Error::usage(
                "spare space needs layout V2 with offsets, in a file that can be sought",
            ));
        }
        Ok(Self {
            chunk,
            tuner: options.auto_tuner(),
            hashers: options.hashers,
            limits: options.limits,
            threads: options.threads,
            crew: options.crew,
            known,
            metadata: Vec::new(),
            spare: options.max_app_chunks,
            spare_space: options.spare_space,
            header,
            payload,
        })
    }

    /// Puts metadata after the header.
    fn place(&mut self, metadata: &Metadata) -> Result<()> {
        self.check_metadata(metadata)?;
        if self.header.version == FormatVersion::V3 {
            self.header.metadata = MetadataPlace::Section;
            self.metadata = metadata.to_section(self.header.checksum, &self.hashers)?;
        } else {
            (self.header.metadata, self.metadata) = metadata.to_raw(self.header.version)?;
        }
        Ok(())
    }

    /// Refuses metadata that is longer than readers accept.
    fn check_metadata(&self, metadata: &Metadata) -> Result<()> {
        let (len, allowed) = (metadata.text().len(), self.limits.metadata);
        FormatError::check_write(Limit::Metadata, to_u64(len), allowed.into())?;
        Ok(())
    }

    /// Puts the metadata of records after the header.
    fn declare(&mut self, count: Option<u64>) -> Result<()> {
        let Payload::Records(records, own) = &self.payload else {
            return Ok(());
        };
        // Reserve room for any number of records.
        let count = count.or(records.count);
        let most = count.or(Some(u64::MAX));
        let longest = declared(own.as_ref(), &records.dtype, most, records.packing)?;
        self.check_metadata(&longest)?;
        let metadata = declared(own.as_ref(), &records.dtype, count, records.packing)?;
        self.place(&metadata)
    }

    /// Puts the number of records into the metadata; metadata that has been written keeps its length.
    ///
    /// # Errors
    /// Returns a bug if the amount written is not the one announced.
    pub(super) fn settle(&mut self, total: Total, has_begun: bool) -> Result<()> {
        if let Some(known) = self.known
            && (known.chunks, known.amount) != (total.chunks, total.amount)
        {
            return Err(Error::bug(format!(
                "{total:?}, where {known:?} was promised"
            )));
        }
        let Payload::Records(records, own) = &self.payload else {
            return Ok(());
        };
        let count = Some(total.amount);
        let metadata = declared(own.as_ref(), &records.dtype, count, records.packing)?;
        if !has_begun {
            return self.place(&metadata);
        }
        if self.header.version == FormatVersion::V3 {
            let old = self.metadata.first_chunk().map(MetadataHeader::decode);
            if let Some(old) = old.transpose()?
                && let Some(section) = metadata.to_section_in_place_of(&old, &self.hashers)?
            {
                self.replace_metadata(section)?;
            }
            return Ok(());
        }
        self.replace_metadata(padded(&metadata, self.metadata.len()))
    }

    /// Replaces the bytes of metadata that has been written, by as many bytes.
    fn replace_metadata(&mut self, new: Vec<u8>) -> Result<()> {
        let (old, len) = (self.metadata.len(), new.len());
        if len != old {
            let why = format!("{len} bytes of metadata in a room of {old}");
            return Err(Error::bug(why));
        }
        self.metadata = new;
        Ok(())
    }

    /// Checks hashers, header and table before anything is written.
    fn checked(self) -> Result<Self> {
        self.hashers.check()?;
        self.header.encode()?;
        self.check_table()?;
        Ok(self)
    }

    /// Refuses a number of chunks or spare offsets that no header can hold, before any entry is written.
    fn check_table(&self) -> Result<()> {
        let chunks = self.known.map_or(0, |total| total.chunks);
        let spare = self.spare_for(chunks);
        let fits = chunks
            .checked_add(spare)
            .and_then(|entries| entries.checked_mul(ENTRY_LEN))
            .is_some_and(|len| len <= MOST_TABLE);
        if fits && self.spare.is_none_or(|spare| spare <= MOST_SPARE) {
            return self.check_chunks(chunks);
        }
        Err(Error::usage(format!(
            "no file has room for {chunks} chunks with {spare} spare offsets"
        )))
    }

    /// Refuses more chunks than readers accept in an offset table.
    pub(super) fn check_chunks(&self, chunks: u64) -> Result<()> {
        if self.has_offsets() {
            check_table(chunks, &self.limits)
        } else {
            Ok(())
        }
    }

    /// The options for its chunks.
    pub(crate) fn chunk_options(&self) -> ChunkOptions {
        ChunkOptions {
            chunk: self.chunk,
            checksum: self.checksum(),
            longest: self.limits.chunk,
            hashers: self.hashers.clone(),
            threads: self.threads,
            crew: self.crew.clone(),
        }
    }

    /// Cuts the content into chunks.
    pub(super) fn chunker(&self) -> Result<Chunker> {
        let Payload::Content {
            chunk_size,
            is_interactive,
        } = self.payload
        else {
            return Err(Error::bug("records are not cut into chunks of one size"));
        };
        let (options, promised) = (self.chunk_options(), self.known.map(|total| total.amount));
        let auto = self
            .tuner
            .map(|tuner| AutoTune::new(tuner, options.clone()));
        let chunker = Chunker::new(&options, chunk_size, promised)?;
        Ok(chunker.choosing(auto).interactive(is_interactive))
    }

    /// Whether the first data may change the header.
    pub(super) fn is_open_to_choice(&self) -> bool {
        self.tuner.is_some()
    }

    /// Adopts settings that were chosen by the data.
    pub(super) fn adopt(&mut self, settings: &ChunkSettings) {
        self.chunk = *settings;
        self.header.typesize = self.header.typesize.map(|_| settings.typesize);
    }

    pub(super) fn checksum(&self) -> Checksum {
        self.header.checksum
    }

    pub(super) fn version(&self) -> FormatVersion {
        self.header.version
    }

    pub(super) fn has_offsets(&self) -> bool {
        self.header.offsets
    }

    /// The least number of spare offsets: as many as the caller has requested.
    pub(super) fn least_spare(&self) -> u64 {
        self.spare.map_or(0, |_| self.spare_for(0))
    }

    /// Spare offsets for this many chunks.
    pub(super) fn spare_for(&self, chunks: u64) -> u64 {
        match self.version() {
            FormatVersion::V3 if self.has_offsets() => {
                self.spare.unwrap_or_else(|| default_spare(chunks))
            }
            _ => 0,
        }
    }

    /// The header while the length is not known.
    pub(super) fn open_header(&self) -> Header {
        self.header.clone()
    }

    /// The header of a member with this content, and with this many spare offsets.
    pub(super) fn full_header(&self, total: Total, spare: u64) -> Result<Header> {
        let chunks = total.chunks;
        let mut header = Header {
            nchunks: Some(chunks),
            max_app_chunks: spare,
            ..self.header.clone()
        };
        if let (Payload::Content { chunk_size, .. }, true) =
            (&self.payload, header.chunk_size.is_some())
        {
            let last = last_chunk_len(total, *chunk_size)?;
            header.last_chunk = Some(last);
            // As the reference implementation does: with a single chunk, its own length is the chunk size.
            header.chunk_size = Some(if chunks == 1 { last } else { *chunk_size });
        }
        Ok(header)
    }

    /// The bytes of a header. In V2 it is sealed, with the metadata and this offset table.
    pub(super) fn seal(
        &self,
        mut header: Header,
        table: impl IntoIterator<Item = Result<impl AsRef<[u8]>>>,
    ) -> Result<Vec<u8>> {
        if header.version == FormatVersion::V2 {
            header.seal = Some(0);
            let mut seal = Seal::of_header(&header.encode()?);
            seal.update(&self.metadata);
            for piece in table {
                seal.update(piece?.as_ref());
            }
            header.seal = Some(seal.value());
        }
        Ok(header.encode()?)
    }

    /// The positions of the parts of a member with this header.
    pub(super) fn geometry(&self, header: &Header) -> Result<Geometry> {
        Ok(Geometry::of(header, to_u64(self.metadata.len()))?)
    }
}

/// Uncompressed bytes of the last chunk of a content, whose other chunks all have this size.
///
/// # Errors
/// Returns a bug if this number of chunks cannot hold exactly this number of bytes.
pub(crate) fn last_chunk_len(total: Total, chunk_size: u32) -> Result<u32> {
    let Total { chunks, amount } = total;
    let before = chunks
        // Saturates: 0 chunks have none before the last one.
        .saturating_sub(1)
        .checked_mul(chunk_size.into())
        .and_then(|before| amount.checked_sub(before));
    let last = before.and_then(|last| u32::try_from(last).ok());
    let fits = |last: &u32| match chunks {
        0 => *last == 0,
        1 => *last <= chunk_size,
        _ => (1..=chunk_size).contains(last),
    };
    last.filter(fits).ok_or_else(|| {
        let what = format!("{amount} bytes in {chunks} chunks of {chunk_size}");
        Error::bug(what)
    })
}

/// The header for these options, without any sizes.
fn header_of(options: &EncoderBuilder) -> Header {
    let empty = Header::new(options.version);
    Header {
        checksum: options.checksum.unwrap_or(empty.checksum),
        offsets: options.offsets && options.version != FormatVersion::V1,
        typesize: empty.typesize.map(|_| options.chunk.typesize),
        ..empty
    }
}

/// The text, padded with white space, which is valid after a JSON value.
fn padded(metadata: &Metadata, len: usize) -> Vec<u8> {
    let mut text = metadata.text().as_bytes().to_vec();
    text.resize(len, b' ');
    text
}

/// Number of chunks for this many bytes; 0 bytes are one empty chunk.
fn chunks_of(bytes: u64, chunk_size: u32) -> u64 {
    bytes.div_ceil(chunk_size.into()).max(1)
}

/// Spare offsets for this many chunks by default.
pub(crate) fn default_spare(chunks: u64) -> u64 {
    // Saturates: so large a number is refused later.
    chunks.saturating_mul(SPARE_FACTOR)
}

#[cfg(test)]
mod tests {
    use crate::Encoder;
    use bloscpack_error::Category;
    use bloscpack_wire::FormatVersion;
    use std::io::Cursor;

    #[test]
    fn a_count_that_cannot_be_is_a_bug() {
        for (chunks, amount, last) in [
            (0, 0, Some(0)),
            (1, 0, Some(0)),
            (1, 10, Some(10)),
            (3, 21, Some(1)),
            (3, 30, Some(10)),
            (0, 1, None),
            (1, 11, None),
            (3, 20, None),
            (3, 31, None),
            (u64::MAX, 31, None),
        ] {
            let found = super::last_chunk_len(super::Total { chunks, amount }, 10);
            assert_eq!(found.ok(), last, "{chunks} {amount}");
        }
    }

    #[test]
    fn numbers_that_no_header_holds_are_wrong_usage_before_anything_is_written() {
        let usage = |result: bloscpack_error::Result<()>| {
            assert_eq!(result.unwrap_err().category(), Category::Usage);
        };
        for version in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
            let options = Encoder::builder().version(version).chunk_size(1);
            usage(options.size(u64::MAX).write_to(Vec::new()).map(|_| ()));
        }
        for spare in [1 << 60, 1 << 63, u64::MAX] {
            for size in [None, Some(10)] {
                let mut options = Encoder::builder().max_app_chunks(spare);
                options.size = size;
                let target = Cursor::new(Vec::new());
                usage(options.write_to_file(target).map(|_| ()));
            }
        }
    }
}
