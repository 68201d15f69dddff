//! [`OutputFile`]: the new file, of content or records, with the options of the old one as far as they can be read.

use crate::Options;
use crate::damages::{ContentOutput, Findings, FoundMember};
use crate::encoder::{Encoder, EncoderBuilder, SeekEncoder};
use crate::records::{RecordWriter, RecordWriterBuilder, SeekRecordWriter};
use blosc1::internal::settings_of;
use bloscpack_error::checked::to_usize;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{FormatVersion, Limits, Packing};
use std::io::{Read, Seek, Write};

/// The number of first chunks of a member among which the model for the settings is chosen.
const MODELS: usize = 64;
/// The most compressed bytes of such a model.
const MOST_OF_MODEL: u32 = 16 << 20;

/// The options of the new file.
pub(super) enum OutputBuilder {
    Content(EncoderBuilder),
    Records(RecordWriterBuilder),
}

/// The new file. Its header is written with the first recovered bytes: without any, nothing is written.
pub(super) enum OutputFile<W: Read + Write + Seek> {
    /// Nothing is written yet. The number counts the empty records so far.
    Waiting(Box<(W, OutputBuilder)>, u64),
    Content(Box<SeekEncoder<W>>),
    Records(Box<SeekRecordWriter<W>>),
    Failed,
}

impl<W: Read + Write + Seek> OutputFile<W> {
    /// Begins the new file, unless it has begun.
    fn begin(&mut self) -> Result<()> {
        *self = match std::mem::replace(self, Self::Failed) {
            Self::Waiting(waiting, held) => match *waiting {
                (target, OutputBuilder::Content(builder)) => {
                    Self::Content(Box::new(builder.write_to_file(target)?))
                }
                (target, OutputBuilder::Records(builder)) => {
                    let mut writer = builder.write_to_file(target)?;
                    (0..held).try_for_each(|_| writer.push([]))?;
                    Self::Records(Box::new(writer))
                }
            },
            begun => begun,
        };
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.begin()?;
        match self {
            Self::Content(encoder) => encoder.finish().map(|_| ()),
            Self::Records(writer) => writer.finish().map(|_| ()),
            _ => Err(Error::bug("the target has failed before")),
        }
    }
}

impl<W: Read + Write + Seek> ContentOutput for OutputFile<W> {
    fn content(&mut self, bytes: &[u8]) -> Result<()> {
        self.begin()?;
        match self {
            Self::Content(encoder) => encoder.write_all(bytes).writing(),
            _ => Err(Error::bug(
                "content for a file of records, or one that has failed",
            )),
        }
    }

    fn record(&mut self, record: &[u8]) -> Result<()> {
        if let (Self::Waiting(_, held), true) = (&mut *self, record.is_empty()) {
            *held += 1;
            return Ok(());
        }
        self.begin()?;
        match self {
            Self::Records(writer) => writer.push(record),
            _ => Err(Error::bug(
                "records for a file of content, or one that has failed",
            )),
        }
    }
}

/// The options for a file like the damaged one.
pub(super) fn builder<S: ReadAt>(
    found: &Findings,
    source: &S,
    options: &Options,
    has_records: bool,
) -> Result<OutputBuilder> {
    let like_others = |member: &&FoundMember| member.kind.has_records() == has_records;
    let of_kind = || found.members.iter().filter(like_others);
    let metadata = of_kind().find_map(|member| member.metadata.clone());
    let member = of_kind().find(|member| member.sound > 0);
    let settle = |builder: EncoderBuilder| {
        let mut builder = builder
            .threads(options.codec_threads())
            .hashers(options.hashers.clone())
            .limits(options.limits.max(Limits::default()));
        if let Some(metadata) = metadata {
            builder = builder.metadata(metadata);
        }
        match member {
            Some(member) => like(builder, source, member),
            None => Ok(builder),
        }
    };
    if !has_records {
        let mut builder = settle(Encoder::builder())?;
        if let Some(size) = member.and_then(FoundMember::likely_size) {
            builder = builder.chunk_size(size);
        }
        return Ok(OutputBuilder::Content(builder));
    }
    let mut builder = RecordWriter::builder()
        .version(FormatVersion::V3)
        .with(settle)?;
    // Pack only if all members are packed: a record that is a chunk of its own may be too large for a packed chunk.
    let packings: Option<Vec<Packing>> = of_kind().map(|member| member.kind.packing()).collect();
    if let Some(packing) = packings.as_deref().and_then(<[_]>::first) {
        builder = builder.packed(packing.chunk_size());
    }
    Ok(OutputBuilder::Records(builder))
}

/// Chooses settings that make chunks like the ones of a member, as far as they can be read.
fn like<S: ReadAt>(
    mut builder: EncoderBuilder,
    source: &S,
    member: &FoundMember,
) -> Result<EncoderBuilder> {
    if let Some(checksum) = member.own_checksum() {
        builder = builder.checksum(checksum);
    }
    // The longest chunk shows most of its settings.
    let first = member.sound_chunks().take(MODELS);
    let short = first.filter(|found| found.ctbytes <= MOST_OF_MODEL);
    let Some(model) = short.max_by_key(|found| found.ctbytes) else {
        return Ok(builder);
    };
    let mut chunk = vec![0; to_usize(model.ctbytes)];
    source.read_exact_at(model.at, &mut chunk)?;
    Ok(match settings_of(&chunk) {
        Ok(Some(settings)) => builder
            .compressor(settings.compressor)
            .typesize(settings.typesize)
            .filter(settings.filter),
        _ => builder,
    })
}
