//! The options of the new file: those of the old one, as far as they can be read.

use super::kind::MemberKind;
use super::member::FoundMember;
use super::output::OutputBuilder;
use super::probe::SoundChunk;
use super::{RecoverOptions, ScanResult};
use crate::checked::to_usize;
use crate::encoder::{Encoder, EncoderBuilder};
use crate::records::{RecordWriter, RecordWriterBuilder};
use blosc1::internal::guess_settings;
use blosc1::{ChunkHeader, ChunkSettings, Compressor};
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;
use bloscpack_wire::{FormatVersion, Metadata};

impl ScanResult {
    /// The options of a file like the one that was found.
    pub(super) fn builder<S: ReadAt>(
        &self,
        source: &S,
        options: &RecoverOptions,
        has_records: bool,
    ) -> Result<OutputBuilder> {
        let mut members = self.members.iter().zip(&self.kinds);
        let is_taken = |(member, kind): &(&FoundMember, &MemberKind)| {
            kind.has_records() == has_records && member.sound > 0
        };
        let first = members
            .find(is_taken)
            .and_then(|(member, _)| member.first_sound());
        let member = first.map(|(member, _)| member);
        let like = match member.and_then(model) {
            Some(found) => settings_of(source, found, options.limits.block)?,
            None => None,
        };
        Ok(if has_records {
            OutputBuilder::Records(self.record_builder(options, member, like))
        } else {
            OutputBuilder::Content(self.content_builder(options, member, like))
        })
    }

    fn content_builder(
        &self,
        options: &RecoverOptions,
        member: Option<&FoundMember>,
        like: Option<ChunkSettings>,
    ) -> EncoderBuilder {
        let mut builder = Encoder::builder()
            .threads(options.threads)
            .hashers(options.hashers);
        if let Some(metadata) = self.metadata(false) {
            builder = builder.metadata(metadata.clone());
        }
        let Some(member) = member else {
            return builder;
        };
        if let Some(checksum) = member.own_checksum() {
            builder = builder.checksum(checksum);
        }
        let claimed = member.header.as_ref().and_then(|header| header.chunk_size);
        let claimed = claimed.filter(|size| member.chunk_size == Some(*size));
        let size = claimed.or(member.largest_sound());
        if let Some(size) = size.filter(|size| *size > 0) {
            builder = builder.chunk_size(size);
        }
        let Some(like) = like else {
            return builder;
        };
        builder
            .compressor(like.compressor)
            .level(like.level)
            .typesize(like.typesize)
            .filter(like.filter)
    }

    fn record_builder(
        &self,
        options: &RecoverOptions,
        member: Option<&FoundMember>,
        like: Option<ChunkSettings>,
    ) -> RecordWriterBuilder {
        let mut builder = RecordWriter::builder()
            .layout(FormatVersion::V3)
            .threads(options.threads)
            .hashers(options.hashers);
        if let Some(metadata) = self.metadata(true) {
            builder = builder.metadata(metadata.clone());
        }
        // A record that is a chunk of its own may be too large for a packed one.
        let mut packings = self.kinds.iter().filter(|kind| kind.has_records());
        let packing = packings.clone().next().and_then(MemberKind::packing);
        if let Some(packing) = packing.filter(|_| packings.all(|kind| kind.packing().is_some())) {
            builder = builder.packed(packing.chunk_size());
        }
        if let Some(checksum) = member.and_then(FoundMember::own_checksum) {
            builder = builder.checksum(checksum);
        }
        let Some(like) = like else {
            return builder;
        };
        builder
            .compressor(like.compressor)
            .level(like.level)
            .typesize(like.typesize)
            .filter(like.filter)
    }

    /// The first metadata of members that have records, or have none.
    fn metadata(&self, has_records: bool) -> Option<&Metadata> {
        let mut members = self.members.iter().zip(&self.kinds);
        members.find_map(|(member, kind)| {
            let metadata = member.metadata.as_ref();
            metadata.filter(|_| kind.has_records() == has_records)
        })
    }
}

/// Chunks of a member of which one is looked at to find out how they were made.
const MODELS: usize = 64;
/// The most bytes of such a chunk.
const MOST_OF_MODEL: u32 = 16 << 20;

/// The longest of the first sound chunks, which shows most.
fn model(member: &FoundMember) -> Option<SoundChunk> {
    let first = member.sound_chunks().take(MODELS);
    let short = first.filter(|found| found.ctbytes <= MOST_OF_MODEL);
    short
        .max_by_key(|found| found.ctbytes)
        .or_else(|| member.sound_chunks().next())
}

/// The settings that make chunks like this one, as far as they can be found out.
fn settings_of<S: ReadAt>(
    source: &S,
    found: SoundChunk,
    max_block: u32,
) -> Result<Option<ChunkSettings>> {
    let len = found.ctbytes.min(MOST_OF_MODEL);
    let mut chunk = vec![0; to_usize(len)];
    source.read_exact_at(found.at, &mut chunk)?;
    if let Ok(Some(settings)) = guess_settings(&chunk, max_block) {
        return Ok(Some(settings));
    }
    let header = chunk
        .first_chunk()
        .and_then(|bytes| ChunkHeader::parse(bytes).ok());
    Ok(header.map(|header| like_header(&header)))
}

/// The settings in the header of a chunk.
fn like_header(header: &ChunkHeader) -> ChunkSettings {
    let format = header.compressor_format();
    let writes =
        |compressor: &Compressor| Some(compressor.format()) == format && compressor.is_available();
    let compressor = Compressor::ALL
        .into_iter()
        .find(writes)
        .unwrap_or(ChunkSettings::default().compressor);
    ChunkSettings::default()
        .compressor(compressor)
        .level(compressor.default_level())
        .typesize(header.typesize)
        .filter(header.filter())
}
