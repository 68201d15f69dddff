//! How a new file is written: as the old one was.

use super::kind::Kind;
use super::member::Member;
use super::output::Builder;
use super::probe::Found;
use super::{Findings, RecoverOptions};
use crate::blosc::{ChunkHeader, Compressor, CompressorFormat, HEADER_LEN};
use crate::error::Result;
use crate::file::encoder::{Encoder, EncoderBuilder};
use crate::file::records::{RecordWriter, RecordWriterBuilder};
use crate::storage::ReadAt;
use crate::wire::{Layout, Metadata};

impl Findings {
    /// How to write what was found: as it was.
    pub(super) fn builder<S: ReadAt>(
        &self,
        source: &S,
        options: &RecoverOptions,
        has_records: bool,
    ) -> Result<Builder> {
        let mut members = self.members.iter().zip(&self.kinds);
        let is_taken = |(member, kind): &(&Member, &Kind)| {
            kind.has_records() == has_records && member.sound > 0
        };
        let first = members
            .find(is_taken)
            .and_then(|(member, _)| member.first_sound());
        let header = match first {
            Some((_, found)) => chunk_header(source, found)?,
            None => None,
        };
        let member = first.map(|(member, _)| member);
        Ok(if has_records {
            Builder::Records(self.record_builder(options, member, header))
        } else {
            Builder::Content(self.content_builder(options, member, header))
        })
    }

    fn content_builder(
        &self,
        options: &RecoverOptions,
        member: Option<&Member>,
        chunk: Option<ChunkHeader>,
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
        let Some(chunk) = chunk else {
            return builder;
        };
        if let Some(compressor) = chunk.compressor_format().and_then(compressor) {
            builder = builder.compressor(compressor);
        }
        builder.typesize(chunk.typesize).filter(chunk.filter())
    }

    fn record_builder(
        &self,
        options: &RecoverOptions,
        member: Option<&Member>,
        chunk: Option<ChunkHeader>,
    ) -> RecordWriterBuilder {
        let mut builder = RecordWriter::builder()
            .layout(Layout::V3)
            .threads(options.threads)
            .hashers(options.hashers);
        if let Some(metadata) = self.metadata(true) {
            builder = builder.metadata(metadata.clone());
        }
        // A record that is a chunk of its own may be too large for a packed one.
        let mut packings = self.kinds.iter().filter(|kind| kind.has_records());
        let packing = packings.clone().next().and_then(Kind::packing);
        if let Some(packing) = packing.filter(|_| packings.all(|kind| kind.packing().is_some())) {
            builder = builder.packed(packing.chunk_size());
        }
        if let Some(checksum) = member.and_then(Member::own_checksum) {
            builder = builder.checksum(checksum);
        }
        let Some(chunk) = chunk else {
            return builder;
        };
        if let Some(compressor) = chunk.compressor_format().and_then(compressor) {
            builder = builder.compressor(compressor);
        }
        builder.typesize(chunk.typesize).filter(chunk.filter())
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

fn chunk_header<S: ReadAt>(source: &S, found: Found) -> Result<Option<ChunkHeader>> {
    let mut bytes = [0; HEADER_LEN];
    source.read_exact_at(found.at, &mut bytes)?;
    Ok(ChunkHeader::parse(&bytes).ok())
}

/// A compressor that writes this format and is there.
fn compressor(format: CompressorFormat) -> Option<Compressor> {
    Compressor::ALL
        .into_iter()
        .find(|compressor| compressor.format() == format && compressor.is_available())
}
