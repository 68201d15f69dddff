//! What an encoder is going to write: options checked, header and metadata made.

use super::EncoderBuilder;
use super::auto::Auto;
use super::chunk_compressor::Recipe;
use super::chunker::Stage;
use blosc1::{ChunkSettings, MAX_NBYTES, Tuner};
use bloscpack_error::{Error, Result};
use bloscpack_wire::{
    Checksum, FormatVersion, Geometry, Hashers, Header, Metadata, MetadataHeader, MetadataPlace,
    Packing, declared, offsets::ENTRY_LEN,
};

/// Spare offsets that may be asked for: a table of 1 GiB, which is all written at once.
pub(crate) const MOST_SPARE: u64 = 1 << 27;
/// Spare offsets at the least, and chunks of spare room for each chunk written.
const LEAST_SPARE: u64 = 64;
const SPARE_FACTOR: u64 = 10;
/// What a number of records may add to metadata.
const SHAPE_ROOM: usize = r#", "shape": [18446744073709551615]"#.len();
/// Bytes that a table would take at the most, far more than any disk has room for; what is added
/// to it later keeps all positions within 63 bits.
const MOST_TABLE: u64 = 1 << 62;

/// Refuses metadata of a user that records cannot have.
pub(crate) fn check_of_records(own: &Metadata) -> Result<()> {
    if own.is_object() {
        return Ok(());
    }
    Err(Error::usage(
        "the metadata of records has to be a JSON object",
    ))
}

/// How much there is to write.
#[derive(Clone, Copy)]
pub(crate) struct Total {
    pub chunks: u64,
    /// Bytes of content, or records.
    pub amount: u64,
}

/// What a member of records says of itself.
#[derive(Debug, Clone)]
pub(crate) struct RecordOptions {
    pub dtype: String,
    pub packing: Option<Packing>,
    /// How many there will be.
    pub count: Option<u64>,
}

/// What becomes chunks.
#[derive(Clone)]
enum Kind {
    /// Data cut into chunks of this size.
    Content { chunk_size: u32 },
    /// Records, and the user's own metadata.
    Records(RecordOptions, Option<Metadata>),
}

#[derive(Clone)]
pub(crate) struct Plan {
    chunk: ChunkSettings,
    /// Chooses other settings by the first data.
    tuner: Option<Tuner>,
    pub hashers: Hashers,
    threads: usize,
    /// What was promised beforehand.
    pub known: Option<Total>,
    /// The metadata as it lies behind the header, perhaps nothing.
    pub metadata: Vec<u8>,
    spare: Option<u64>,
    /// Zeros behind every chunk.
    pub spare_space: u32,
    /// The header without what only `finish` may know.
    header: Header,
    kind: Kind,
}

impl Plan {
    /// Checks the options; `seeks` says whether the target can be patched.
    pub(super) fn new(options: EncoderBuilder, seeks: bool) -> Result<Self> {
        let (chunk_size, size) = (options.chunk_size, options.size);
        if !(1..=MAX_NBYTES).contains(&chunk_size) {
            return Err(Error::usage(format!(
                "a chunk size of {chunk_size}: it must be 1 to {MAX_NBYTES}"
            )));
        }
        if options.layout == FormatVersion::V1 && size.is_none() && !seeks {
            return Err(Error::usage(
                "layout V1 begins with the number of chunks: give the size beforehand",
            ));
        }
        let mut header = header_of(&options);
        header.offsets &= seeks;
        header.chunk_size = Some(chunk_size).filter(|_| options.layout != FormatVersion::V1);
        let known = size.map(|bytes| Total {
            chunks: chunks_of(bytes, chunk_size),
            amount: bytes,
        });
        let metadata = options.metadata.clone();
        let mut plan = Self::with(options, header, known, Kind::Content { chunk_size })?;
        if let Some(metadata) = metadata {
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
        if !matches!(options.layout, FormatVersion::V2 | FormatVersion::V3) {
            let layout = options.layout;
            return Err(Error::usage(format!("layout {layout} has no records")));
        }
        // Chunks of many records cannot be counted beforehand.
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
        let kind = Kind::Records(records, own);
        let mut plan = Self::with(options, header, known, kind)?;
        plan.declare(known.map(|total| total.amount))?;
        if seeks && is_open && plan.header.layout == FormatVersion::V2 {
            let room = plan.metadata.len().saturating_add(SHAPE_ROOM);
            let open = Metadata::from_json(plan.metadata.clone())?;
            plan.place(&Metadata::from_json(padded(&open, room))?)?;
        }
        plan.checked()
    }

    fn with(
        options: EncoderBuilder,
        header: Header,
        known: Option<Total>,
        kind: Kind,
    ) -> Result<Self> {
        let mut chunk = options.chunk;
        chunk.level = options.level.unwrap_or(chunk.compressor.default_level());
        if options.spare_space > 0 && (header.layout != FormatVersion::V2 || !header.offsets) {
            return Err(Error::usage(
                "spare space needs layout V2, with offsets, in a file that can be sought",
            ));
        }
        let tuner = options
            .auto
            .map(|aim| options.tuner.aim(aim).chunk_size(options.chunk_size));
        Ok(Self {
            chunk,
            tuner,
            hashers: options.hashers,
            threads: options.threads,
            known,
            metadata: Vec::new(),
            spare: options.max_app_chunks,
            spare_space: options.spare_space,
            header,
            kind,
        })
    }

    /// Puts metadata behind the header.
    fn place(&mut self, metadata: &Metadata) -> Result<()> {
        if self.header.layout == FormatVersion::V3 {
            self.header.metadata = MetadataPlace::Section;
            self.metadata = metadata.to_section(self.header.checksum, &self.hashers)?;
        } else {
            (self.header.metadata, self.metadata) = metadata.to_raw(self.header.layout)?;
        }
        Ok(())
    }

    /// Puts the metadata of records behind the header.
    fn declare(&mut self, count: Option<u64>) -> Result<()> {
        let Kind::Records(records, own) = &self.kind else {
            return Ok(());
        };
        let count = count.or(records.count);
        let metadata = declared(own.as_ref(), &records.dtype, count, records.packing)?;
        self.place(&metadata)
    }

    /// Lets the metadata count what was written; in the same room if it has been written already.
    pub(super) fn settle(&mut self, total: Total, has_begun: bool) -> Result<()> {
        let Kind::Records(records, own) = &self.kind else {
            return Ok(());
        };
        let count = Some(total.amount);
        let metadata = declared(own.as_ref(), &records.dtype, count, records.packing)?;
        if !has_begun {
            return self.place(&metadata);
        }
        if self.header.layout == FormatVersion::V3 {
            let old = self.metadata.first_chunk().map(MetadataHeader::decode);
            if let Some(old) = old.transpose()?
                && let Some(section) = metadata.to_section_in_place_of(&old, &self.hashers)?
            {
                self.metadata = section;
            }
            return Ok(());
        }
        self.metadata = padded(&metadata, self.metadata.len());
        Ok(())
    }

    fn checked(self) -> Result<Self> {
        self.header.encode()?;
        self.check_table()?;
        Ok(self)
    }

    /// Refuses a number of chunks or of spare offsets that no header can hold, before the first of
    /// endless entries is written.
    fn check_table(&self) -> Result<()> {
        let chunks = self.known.map_or(0, |total| total.chunks);
        let spare = self.spare_for(chunks);
        let fits = chunks
            .checked_add(spare)
            .and_then(|entries| entries.checked_mul(ENTRY_LEN))
            .is_some_and(|len| len <= MOST_TABLE);
        if fits && self.spare.is_none_or(|spare| spare <= MOST_SPARE) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "{chunks} chunks with {spare} spare offsets: there is no room for so many"
        )))
    }

    /// How its chunks are made.
    pub(crate) fn recipe(&self) -> Recipe {
        Recipe {
            chunk: self.chunk,
            checksum: self.checksum(),
            hashers: self.hashers,
            threads: self.threads,
        }
    }

    /// What cuts the content into chunks.
    pub(super) fn stage(&self) -> Result<Stage> {
        let chunk_size = match self.kind {
            Kind::Content { chunk_size } => chunk_size,
            Kind::Records(..) => MAX_NBYTES,
        };
        let promised = self.known.map(|total| total.amount);
        let auto = self.tuner.map(|tuner| Auto::new(tuner, self.recipe()));
        Ok(Stage::new(&self.recipe(), chunk_size, promised)?.choosing(auto))
    }

    /// Whether the first data may change the header.
    pub(super) fn is_open_to_choice(&self) -> bool {
        self.tuner.is_some()
    }

    /// Takes over settings that were chosen.
    pub(super) fn adopt(&mut self, settings: &ChunkSettings) {
        self.chunk = *settings;
        self.header.typesize = self.header.typesize.map(|_| settings.typesize);
    }

    pub(super) fn checksum(&self) -> Checksum {
        self.header.checksum
    }

    pub(super) fn layout(&self) -> FormatVersion {
        self.header.layout
    }

    pub(super) fn has_offsets(&self) -> bool {
        self.header.offsets
    }

    /// Spare offsets that there must be, whatever room is left.
    pub(super) fn least_spare(&self) -> u64 {
        self.spare.map_or(0, |_| self.spare_for(0))
    }

    /// Spare offsets for so many chunks.
    pub(super) fn spare_for(&self, chunks: u64) -> u64 {
        match self.layout() {
            FormatVersion::V3 if self.has_offsets() => {
                self.spare.unwrap_or_else(|| default_spare(chunks))
            }
            _ => 0,
        }
    }

    /// The header while nothing is known of the length.
    pub(super) fn open_header(&self) -> Header {
        self.header.clone()
    }

    /// The header of a member with so much in it, and `spare` offsets.
    pub(super) fn full_header(&self, total: Total, spare: u64) -> Header {
        let chunks = total.chunks;
        let mut header = Header {
            nchunks: Some(chunks),
            max_app_chunks: spare,
            ..self.header.clone()
        };
        if let (Kind::Content { chunk_size }, true) = (&self.kind, header.chunk_size.is_some()) {
            let before = chunks
                .saturating_sub(1)
                .saturating_mul((*chunk_size).into());
            let last = u32::try_from(total.amount.saturating_sub(before)).unwrap_or(*chunk_size);
            header.last_chunk = Some(last);
            // As the reference: a single chunk is as long as it is.
            header.chunk_size = Some(if chunks == 1 { last } else { *chunk_size });
        }
        header
    }

    /// The bytes of a header, sealed with these metadata and offsets where its layout has a seal.
    pub(super) fn seal(
        &self,
        mut header: Header,
        table: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<Vec<u8>> {
        if header.layout == FormatVersion::V2 {
            header.seal = Some(0);
            let mut seal = crc32fast::Hasher::new();
            seal.update(&header.encode()?);
            seal.update(&self.metadata);
            table
                .into_iter()
                .for_each(|piece| seal.update(piece.as_ref()));
            header.seal = Some(seal.finalize());
        }
        Ok(header.encode()?)
    }

    /// Where the parts lie with this header.
    pub(super) fn geometry(&self, header: &Header) -> Result<Geometry> {
        Ok(Geometry::of(
            header,
            u64::try_from(self.metadata.len()).unwrap_or(u64::MAX),
        )?)
    }
}

/// What the options say of the header, without any sizes.
fn header_of(options: &EncoderBuilder) -> Header {
    let empty = Header::new(options.layout);
    Header {
        checksum: options.checksum.unwrap_or(empty.checksum),
        offsets: options.offsets && options.layout != FormatVersion::V1,
        typesize: empty.typesize.map(|_| options.chunk.typesize),
        ..empty
    }
}

/// A text with white space behind it, which is part of it.
fn padded(metadata: &Metadata, len: usize) -> Vec<u8> {
    let mut text = metadata.text().as_bytes().to_vec();
    text.resize(len, b' ');
    text
}

/// Number of chunks for so many bytes; one, and that empty, for none.
fn chunks_of(bytes: u64, chunk_size: u32) -> u64 {
    bytes.div_ceil(chunk_size.into()).max(1)
}

/// Spare offsets for so many chunks, unless told otherwise.
pub(crate) fn default_spare(chunks: u64) -> u64 {
    chunks.saturating_mul(SPARE_FACTOR).max(LEAST_SPARE)
}

#[cfg(test)]
mod tests {
    use crate::Encoder;
    use bloscpack_error::Category;
    use bloscpack_wire::FormatVersion;
    use std::io::Cursor;

    #[test]
    fn numbers_that_no_header_holds_are_wrong_usage_before_anything_is_written() {
        let usage = |result: bloscpack_error::Result<()>| {
            assert_eq!(result.unwrap_err().category(), Category::Usage);
        };
        for layout in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
            let options = Encoder::builder().layout(layout).chunk_size(1);
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
