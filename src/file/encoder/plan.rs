//! What an encoder is going to write: options checked, header and metadata made.

use super::EncoderBuilder;
use super::stage::Recipe;
use crate::blosc::{ChunkSettings, MAX_NBYTES};
use crate::error::{Error, Result};
use crate::wire::offsets::ENTRY_LEN;
use crate::wire::{Checksum, Geometry, Hashers, Header, Layout, MetadataPlace};

/// Spare offsets that may be asked for: a table of 1 GiB, which is all written at once.
pub(in crate::file) const MOST_SPARE: u64 = 1 << 27;
/// Spare offsets at the least, and chunks of spare room for each chunk written.
const LEAST_SPARE: u64 = 64;
const SPARE_FACTOR: u64 = 10;
/// Bytes that a table would take at the most, far more than any disk has room for; what is added
/// to it later keeps all positions within 63 bits.
const MOST_TABLE: u64 = 1 << 62;

pub(super) struct Plan {
    pub chunk: ChunkSettings,
    pub chunk_size: u32,
    pub hashers: Hashers,
    pub threads: usize,
    pub size: Option<u64>,
    /// The metadata as it lies behind the header, perhaps nothing.
    pub metadata: Vec<u8>,
    spare: Option<u64>,
    /// Zeros behind every chunk.
    pub spare_space: u32,
    /// The header without what only `finish` may know.
    header: Header,
}

impl Plan {
    /// Checks the options; `seeks` says whether the target can be patched.
    pub(super) fn new(options: EncoderBuilder, seeks: bool) -> Result<Self> {
        let EncoderBuilder {
            mut chunk,
            chunk_size,
            hashers,
            layout,
            threads,
            size,
            ..
        } = options;
        chunk.level = options.level.unwrap_or(chunk.compressor.default_level());
        if !(1..=MAX_NBYTES).contains(&chunk_size) {
            return Err(Error::usage(format!(
                "a chunk size of {chunk_size}: it must be 1 to {MAX_NBYTES}"
            )));
        }
        if layout == Layout::V1 && size.is_none() && !seeks {
            return Err(Error::usage(
                "layout V1 begins with the number of chunks: give the size beforehand",
            ));
        }
        let checksum = options
            .checksum
            .unwrap_or_else(|| Header::new(layout).checksum);
        let mut header = Header {
            checksum,
            offsets: options.offsets && seeks,
            ..Header::new(layout)
        };
        if layout == Layout::V1 {
            header.offsets = false;
        } else {
            header.typesize = Some(chunk.typesize);
            header.chunk_size = Some(chunk_size);
        }
        if options.spare_space > 0 && (layout != Layout::V2 || !header.offsets) {
            return Err(Error::usage(
                "spare space needs layout V2, with offsets, in a file that can be sought",
            ));
        }
        let mut metadata = Vec::new();
        if let Some(given) = options.metadata {
            (header.metadata, metadata) = match layout {
                Layout::V3 => (
                    MetadataPlace::Section,
                    given.to_section(checksum, &hashers)?,
                ),
                _ => given.to_raw(layout)?,
            };
        }
        header.encode()?;
        let plan = Self {
            chunk,
            chunk_size,
            hashers,
            threads,
            size,
            metadata,
            spare: options.max_app_chunks,
            spare_space: options.spare_space,
            header,
        };
        plan.check_table()?;
        Ok(plan)
    }

    /// Refuses a number of chunks or of spare offsets that no header can hold, before the first of
    /// endless entries is written.
    fn check_table(&self) -> Result<()> {
        let chunks = self.chunks_of(self.size.unwrap_or(0));
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
    pub(super) fn recipe(&self) -> Recipe {
        Recipe {
            chunk: self.chunk,
            chunk_size: self.chunk_size,
            checksum: self.checksum(),
            hashers: self.hashers,
            threads: self.threads,
            size: self.size,
        }
    }

    pub(super) fn checksum(&self) -> Checksum {
        self.header.checksum
    }

    pub(super) fn layout(&self) -> Layout {
        self.header.layout
    }

    pub(super) fn has_offsets(&self) -> bool {
        self.header.offsets
    }

    /// Number of chunks for so many bytes; one, and that empty, for none.
    pub(super) fn chunks_of(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.chunk_size.into()).max(1)
    }

    /// Spare offsets that there must be, whatever room is left.
    pub(super) fn least_spare(&self) -> u64 {
        self.spare.map_or(0, |_| self.spare_for(0))
    }

    /// Spare offsets for so many chunks.
    pub(super) fn spare_for(&self, chunks: u64) -> u64 {
        match self.layout() {
            Layout::V3 if self.has_offsets() => self.spare.unwrap_or_else(|| default_spare(chunks)),
            _ => 0,
        }
    }

    /// The header while nothing is known of the length.
    pub(super) fn open_header(&self) -> Header {
        self.header.clone()
    }

    /// The header of a member with so many bytes, and `spare` offsets.
    pub(super) fn full_header(&self, bytes: u64, spare: u64) -> Header {
        let chunks = self.chunks_of(bytes);
        let mut header = Header {
            nchunks: Some(chunks),
            max_app_chunks: spare,
            ..self.header.clone()
        };
        if header.chunk_size.is_some() {
            let before = (chunks - 1).saturating_mul(self.chunk_size.into());
            let last = u32::try_from(bytes.saturating_sub(before)).unwrap_or(self.chunk_size);
            header.last_chunk = Some(last);
            // As the reference: a single chunk is as long as it is.
            header.chunk_size = Some(if chunks == 1 { last } else { self.chunk_size });
        }
        header
    }

    /// The bytes of a header, sealed with these metadata and offsets where its layout has a seal.
    pub(super) fn seal(&self, mut header: Header, table: &[u8]) -> Result<Vec<u8>> {
        if header.layout == Layout::V2 {
            header.seal = Some(0);
            let mut seal = crc32fast::Hasher::new();
            seal.update(&header.encode()?);
            seal.update(&self.metadata);
            seal.update(table);
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

/// Spare offsets for so many chunks, unless told otherwise.
pub(in crate::file) fn default_spare(chunks: u64) -> u64 {
    chunks.saturating_mul(SPARE_FACTOR).max(LEAST_SPARE)
}

#[cfg(test)]
mod tests {
    use crate::{Category, Encoder, Layout};
    use std::io::Cursor;

    #[test]
    fn numbers_that_no_header_holds_are_wrong_usage_before_anything_is_written() {
        let usage = |result: crate::Result<()>| {
            assert_eq!(result.unwrap_err().category(), Category::Usage);
        };
        for layout in [Layout::V1, Layout::V2, Layout::V3] {
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
