//! `blpk records pack`: packs lines or other records into a file or stream.

use std::io::Read;
use std::path::{Path, PathBuf};

use bloscpack::{
    Checksum, FormatVersion, Metadata,
    blosc::{self, ChunkSettings, Compressor, Filter},
    records::{RecordWriter, RecordWriterBuilder},
    wire::Packing,
};
use bloscpack_open::{Family, probe_bytes};
use clap::Args;

use super::plain::SeparatorArgs;
use super::plain::{RecordSplitter, longest};
use crate::args::{self, CodecArgs, FlushEvery, with_given};
use crate::failure::{About as _, Failure};
use crate::input::{self, Input, InterruptibleReader, STANDARD};
use crate::output::{MadeFrom, Replaces, Target};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::text::{count, quoted};
use bloscpack_open::internal::size;

/// The default size of a packed chunk.
const CHUNK_SIZE: u32 = 64 << 10;

const PACKING: &str = "Packing";
const SETTINGS: &str = "Settings";

/// Pack lines or other records into a file
///
/// By default each line is a record, without its line break; a carriage return before the line break is part of the record.
/// -0 and --lengths read records with other separators. A single name is OUT.
///
/// By default small records share chunks of 64 KiB, compressed by LZ4 or Zstd, whichever suits the first MiB: a record costs 1
/// to 4 bytes, but reading one decompresses the whole chunk. Use --small for files that are stored, sent or read as a whole,
/// and --quick for reading single records. With --one-per-chunk, and by default if the first records are large, each record
/// is a chunk: it costs about 28 bytes, is compressed alone, and is found with one look at the offset table.
///
/// A pipe gets no offset table, because that is filled in at the end; standard output that is redirected to a file gets one.
#[derive(Args, Debug)]
#[command(
    override_usage = "blpk records pack [OPTIONS] [IN] <OUT>",
    after_help = EXAMPLES,
    mut_arg("codec", |arg| arg.help("Compressor [default: by the first records, or by --small and --quick]").help_heading(SETTINGS)),
    mut_arg("level", |arg| arg.help_heading(SETTINGS)),
)]
pub struct Pack {
    #[command(flatten)]
    separator: SeparatorArgs,

    /// Pack many records into each chunk, whatever their size
    #[arg(long, help_heading = PACKING)]
    packed: bool,

    /// Store each record in its own chunk
    #[arg(long, conflicts_with_all = ["packed", "small", "quick", "chunk_size"], help_heading = PACKING)]
    one_per_chunk: bool,

    /// Pack for the smallest size: Zstd, large chunks
    #[arg(long, conflicts_with = "quick", help_heading = PACKING)]
    small: bool,

    /// Pack for quick access to single records: LZ4, chunks of 4 KiB
    #[arg(long, help_heading = PACKING)]
    quick: bool,

    /// Size of a packed chunk before compression, 64 to 16M [default: 64K, or by --small and --quick]
    #[arg(short = 'z', long, value_name = "SIZE", allow_negative_numbers = true, value_parser = packed_size, help_heading = PACKING)]
    chunk_size: Option<u32>,

    #[command(flatten)]
    codec: CodecArgs,

    /// Checksum of each chunk
    #[arg(short = 'k', long, value_name = "CHECKSUM", default_value_t = Checksum::default(), value_parser = args::checksum(), ignore_case = true,
          help_heading = SETTINGS)]
    checksum: Checksum,

    /// File with a JSON object to store as metadata
    #[arg(short, long, value_name = "FILE.json", help_heading = SETTINGS)]
    metadata: Option<PathBuf>,

    /// Type of the records to store in the metadata, such as varchar for text [default: varbinary]
    #[arg(long, value_name = "NAME", help_heading = SETTINGS)]
    dtype: Option<String>,

    /// Header version: 2, or 3 for files that are often appended to
    #[arg(long, value_name = "2|3", default_value = "2", value_parser = format, help_heading = SETTINGS)]
    format: FormatVersion,

    /// Chunks to reserve space for in the offset table, with --format 3 [default: ten times the number of chunks]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count, help_heading = SETTINGS)]
    max_app_chunks: Option<u64>,

    /// Write records after at most this time (200ms, 2s) or this many bytes (64K), even if a chunk is not full; OUT is a stream
    #[arg(long, value_name = "TIME|BYTES", allow_negative_numbers = true, value_parser = args::flush_every, help_heading = SETTINGS)]
    flush_every: Option<FlushEvery>,

    /// File with the records, or - for standard input; a single name is OUT
    #[arg(value_name = "IN")]
    first: Option<PathBuf>,

    /// File to write, or - for standard output
    #[arg(value_name = "OUT")]
    second: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  blpk records pack --small app.log app.blp
  find . -print0 | blpk records pack -0 --quick names.blp
  blpk records pack --lengths --one-per-chunk images.bin images.blp
  blpk records pack -m about.json --format 3 docs.jsonl docs.blp";

impl Pack {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let (source, target) = self.names()?;
        if self.second.is_none() {
            spare_other_file(target)?;
        }
        let input = Input::open(source, session)?;
        let metadata = input::read_metadata(self.metadata.as_deref(), source)?;
        self.check(metadata.as_ref())?;
        let mut output = Target::file(
            target,
            Replaces::Compressed,
            MadeFrom::Input(&input),
            session,
        )?;
        let progress = Progress::new(session, input.length());
        let mut records = RecordSplitter::new(
            InterruptibleReader::begin(&input, &progress).about(&input.name())?,
            input.name(),
            self.separator.separator(),
            longest(!self.one_per_chunk, session),
        );
        let done = Sample::read(self.sample_len(), &mut records).and_then(|sample| {
            let builder = self.builder(metadata, &sample, session)?;
            write(
                builder,
                &sample,
                &mut records,
                self.flush_every,
                &mut output,
            )
        });
        progress.finish();
        done.about(&output.made_from(&input))?;
        let made = output.commit(session)?;
        session.done(format_args!(
            "{}, {} in {}, packed into {}, {},",
            input.name(),
            count(records.records(), "record"),
            size::pretty(records.read_bytes()),
            made.name,
            size::pretty(made.length),
        ));
        Ok(Status::Done)
    }

    /// IN and OUT.
    fn names(&self) -> Result<(&Path, &Path), Failure> {
        match (&self.first, &self.second) {
            (Some(source), Some(target)) => Ok((source, target)),
            (Some(target), None) => Ok((Path::new(STANDARD), target)),
            (None, _) => Err(Failure::usage("missing OUT")
                .hint("name the file to write, or - for standard output")),
        }
    }

    /// Whether an option determines how records are packed.
    fn is_packing_given(&self) -> bool {
        self.packed || self.small || self.quick || self.chunk_size.is_some() || self.one_per_chunk
    }

    /// Bytes of the sample; 0 if nothing is chosen from it.
    fn sample_len(&self) -> usize {
        if self.flush_every.is_some() {
            return 0;
        }
        let is_all_given =
            self.is_packing_given() && (self.codec.codec.is_some() || !self.is_sampled());
        if is_all_given { 0 } else { SAMPLE }
    }

    /// Whether a sample chooses the compressor, unless `--codec` does.
    fn is_sampled(&self) -> bool {
        !self.small && !self.quick && !self.one_per_chunk
    }

    /// Refuses options that contradict each other.
    fn check(&self, metadata: Option<&Metadata>) -> Result<(), Failure> {
        let metadata = metadata.map(Metadata::value);
        let (title, hint) = if self.max_app_chunks.is_some() && self.format != FormatVersion::V3 {
            (
                "only --format 3 reserves space in the offset table",
                "omit --max-app-chunks, or add --format 3",
            )
        } else if metadata.as_ref().is_some_and(|json| !json.is_object()) {
            (
                "the metadata of records must be a JSON object",
                "put it into braces: {\"key\": value}",
            )
        } else if self.dtype.is_some() && metadata.is_some_and(|json| json.get("dtype").is_some()) {
            ("the metadata already has a dtype", "omit --dtype")
        } else {
            return Ok(());
        };
        Err(Failure::usage(title).hint(hint))
    }

    fn builder(
        &self,
        metadata: Option<Metadata>,
        sample: &Sample,
        session: &Session,
    ) -> bloscpack::Result<RecordWriterBuilder> {
        let is_packed = self.packed || self.chunk_size.is_some();
        let is_packed = is_packed || (!self.is_packing_given() && sample.has_small_records());
        let codec = match self.codec.codec {
            None if self.is_sampled() && is_packed => Some(sample.compressor()?),
            given => given,
        };
        let builder = RecordWriter::builder()
            .checksum(self.checksum)
            .version(self.format)
            .limits(session.write_limits())
            .threads(session.threads);
        let builder = match (self.small, self.quick, is_packed) {
            (true, ..) => builder.small(),
            (_, true, _) => builder.quick(),
            (_, _, true) => builder.packed(CHUNK_SIZE),
            _ => builder,
        };
        Ok(with_given!(builder,
            packed: self.chunk_size,
            compressor: codec,
            level: self.codec.level(),
            metadata: metadata,
            dtype: self.dtype.as_deref(),
            max_app_chunks: self.max_app_chunks,
        ))
    }
}

/// The length of a sample.
const SAMPLE: usize = 1 << 20;
/// Records that are shorter than this on average share chunks.
const SMALL: usize = 16 << 10;

/// The first records, from which missing settings are chosen.
struct Sample {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Sample {
    /// Reads records up to this many bytes.
    fn read(
        most: usize,
        records: &mut RecordSplitter<InterruptibleReader<'_>>,
    ) -> Result<Self, Failure> {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        while bytes.len() + ends.len() < most
            && let Some(record) = records.next()?
        {
            bytes.extend_from_slice(record);
            ends.push(bytes.len());
        }
        Ok(Self { bytes, ends })
    }

    fn records(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, end)| &self.bytes[start..*end])
    }

    fn has_small_records(&self) -> bool {
        self.bytes.len() < SMALL.saturating_mul(self.ends.len().max(1))
    }

    /// Zstd if it is at least a tenth smaller than LZ4 on the sample, else LZ4, which is faster.
    fn compressor(&self) -> bloscpack::Result<Compressor> {
        let packed = |compressor: Compressor| {
            let settings = ChunkSettings::default()
                .compressor(compressor)
                .level(compressor.default_level())
                .filter(Filter::None)
                .typesize(1);
            let chunks = self.bytes.chunks(CHUNK_SIZE as usize);
            let lens =
                chunks.map(|chunk| blosc::compress(chunk, settings).map(|chunk| chunk.len()));
            lens.sum::<Result<usize, _>>()
        };
        let (fast, small) = (packed(Compressor::Lz4)?, packed(Compressor::Zstd)?);
        Ok(if small < fast / 10 * 9 {
            Compressor::Zstd
        } else {
            Compressor::Lz4
        })
    }
}

macro_rules! write_with {
    ($writer:expr, $sample:expr, $records:expr, $every:expr) => {{
        // A writer that is dropped before it is finished leaves a file that readers report as incomplete.
        let mut writer = $writer?;
        for record in $sample.records() {
            writer.push(record)?;
        }
        while $records.pass_some($every, |record| writer.push(record))? {
            writer.flush()?;
        }
        writer.finish()?;
        Ok(())
    }};
}

/// Writes all records.
fn write(
    builder: RecordWriterBuilder,
    sample: &Sample,
    records: &mut RecordSplitter<InterruptibleReader<'_>>,
    every: Option<FlushEvery>,
    output: &mut Target,
) -> Result<(), Failure> {
    match output.seekable().filter(|_| every.is_none()) {
        Some(file) => write_with!(builder.write_to_file(file), sample, records, every),
        None => write_with!(builder.write_to(output), sample, records, every),
    }
}

/// With a single name, refuses to replace a file that is not a Bloscpack file: for other commands, a single name is the input.
fn spare_other_file(target: &Path) -> Result<(), Failure> {
    let mut first = Vec::new();
    let file = std::fs::File::open(target)
        .ok()
        .filter(|_| target.is_file());
    let read = file.map(|file| file.take(16).read_to_end(&mut first));
    let is_bloscpack = probe_bytes(&first).family == Some(Family::Bloscpack);
    if !matches!(read, Some(Ok(_))) || first.is_empty() || is_bloscpack {
        return Ok(());
    }
    let title = format!(
        "only one name given: that is OUT, but {} exists and is not a Bloscpack file",
        quoted(target)
    );
    Err(Failure::usage(title).hint("name both IN and OUT; IN may be - for standard input"))
}

/// Parses `--chunk-size`.
fn packed_size(text: &str) -> Result<u32, String> {
    let bytes = size::parse_rounded(text)?;
    let packing = u32::try_from(bytes).ok().and_then(Packing::new);
    let longest = Packing::MAX_CHUNK_SIZE;
    packing
        .map(|packing| packing.chunk_size())
        .ok_or_else(|| format!("must be 64 to {longest} bytes"))
}

/// Parses `--format`.
fn format(text: &str) -> Result<FormatVersion, String> {
    args::header_format(text)
        .ok()
        .filter(|format| *format != FormatVersion::V1)
        .ok_or_else(|| "must be 2 or 3".into())
}
