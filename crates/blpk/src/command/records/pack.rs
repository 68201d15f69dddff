//! `blpk records pack`: lines or other records into a file or stream.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bloscpack::{
    Category, Checksum, Compressor, Error, FormatVersion, Metadata, RecordWriter,
    RecordWriterBuilder,
    wire::{Packing, header::MAGIC},
};
use clap::Args;

use super::blame;
use super::separator::Separators;
use super::split::{Halt, Split, longest};
use crate::args;
use crate::input::{self, Input, STANDARD, Source};
use crate::message::{Failure, quoted};
use crate::output::{Output, spare_terminal};
use crate::progress::Progress;
use crate::session::Session;
use crate::size;
use crate::status::Status;

/// Bytes of a packed chunk, unless told otherwise.
const CHUNK_SIZE: u32 = 64 << 10;

/// Write records into a file: by default one for each line
///
/// By default each record is a chunk of its own, found by one look at the table of offsets; it costs
/// some 28 bytes, and is compressed by itself. Of many small records, --packed puts as many into a
/// chunk as fit it: then one costs 1 to 4 bytes and is compressed with its neighbours, and to read
/// it takes its chunk. Two settings are made of that: --small where the file is kept, sent or read
/// as a whole, --quick where single records are read.
///
/// A line ends with a line break, which is not part of the record; a carriage return before it is.
/// Any other bytes are kept as they are. With one name, that is OUT. Standard output and other
/// pipes get no table of offsets, since that is filled in at the end.
#[derive(Args, Debug)]
#[command(override_usage = "blpk records pack [OPTIONS] [IN] <OUT>", after_help = EXAMPLES)]
pub struct Pack {
    #[command(flatten)]
    separators: Separators,

    /// Put many small records into a chunk
    #[arg(long, help_heading = PACKING)]
    packed: bool,

    /// Pack for little space: Zstd, large chunks
    #[arg(long, conflicts_with = "quick", help_heading = PACKING)]
    small: bool,

    /// Pack for reading single records fast: LZ4, chunks of 4 KiB
    #[arg(long, help_heading = PACKING)]
    quick: bool,

    /// Bytes of a packed chunk before compression, 64 to 16M [default: 64K; what --small and --quick say]
    #[arg(short = 'z', long, value_name = "SIZE", allow_negative_numbers = true, value_parser = packed_size, help_heading = PACKING)]
    chunk_size: Option<u32>,

    /// Compressor [default: lz4, or as --small and --quick say]
    #[arg(short, long, value_name = "CODEC", ignore_case = true, value_parser = args::codec(), help_heading = SETTINGS)]
    codec: Option<Compressor>,

    /// Compression level, 0 (none) to 9 [default: the compressor's own]
    #[arg(short, long, visible_alias = "clevel", value_name = "0..9", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u8).range(0..=9), help_heading = SETTINGS)]
    level: Option<u8>,

    /// Checksum of each chunk
    #[arg(short = 'k', long, value_name = "CHECKSUM", default_value_t = Checksum::default(), value_parser = args::checksum(), ignore_case = true,
          help_heading = SETTINGS)]
    checksum: Checksum,

    /// File with metadata to include, which must be a JSON object
    #[arg(short, long, value_name = "FILE.json", help_heading = SETTINGS)]
    metadata: Option<PathBuf>,

    /// What the records are, such as varchar for text, as the metadata tells it [default: varbinary]
    #[arg(long, value_name = "NAME", help_heading = SETTINGS)]
    dtype: Option<String>,

    /// Header layout: 2, or 3 where records are to be appended often
    #[arg(long, value_name = "2|3", default_value_t = 2, value_parser = clap::value_parser!(u8).range(2..=3), help_heading = SETTINGS)]
    format: u8,

    /// Chunks to leave room for in the table of offsets of --format 3 [default: ten times their number, at least 64]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count, help_heading = SETTINGS)]
    max_app_chunks: Option<u64>,

    /// File with the records, or - for standard input; a single name is that of OUT
    #[arg(value_name = "IN")]
    first: Option<PathBuf>,

    /// File to write, or - for standard output
    #[arg(value_name = "OUT")]
    second: Option<PathBuf>,
}

const PACKING: &str = "Packing";
const SETTINGS: &str = "Settings";

const EXAMPLES: &str = "\
Examples:
  blpk records pack --small app.log app.blp         a line each, as small as may be
  find . -print0 | blpk records pack -0 --quick names.blp
  blpk records pack -m about.json --format 3 docs.jsonl docs.blp";

impl Pack {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let begun = Instant::now();
        let (source, target) = self.names()?;
        if self.second.is_none() {
            spare_foreign(target)?;
        }
        let input = Input::open(source)?;
        let metadata = input::read_metadata(self.metadata.as_deref(), source)?;
        self.check(metadata.as_ref())?;
        let mut output = Output::create(target, &[&input], session)?;
        if output.is_terminal() && !session.force {
            return Err(spare_terminal("compressed data"));
        }
        let progress = Progress::new(session, input.length());
        let separator = self.separators.separator();
        let mut split = Split::new(
            input.source(&progress),
            separator,
            longest(self.is_packed(), session),
        );
        let done = write(self.builder(metadata, session), &mut split, &mut output);
        progress.finish();
        done.map_err(|failed| failed.blame(split.get_ref(), &output))?;
        let name = output.name().to_owned();
        let packed = output.commit()?;
        session.verbose(format_args!(
            "{}, {} records in {}, packed into {name}, {}, in {:.2?}",
            input.name(),
            split.records(),
            size::pretty(split.get_ref().total()),
            size::pretty(packed),
            begun.elapsed(),
        ));
        Ok(Status::Done)
    }

    /// IN, and OUT.
    fn names(&self) -> Result<(&Path, &Path), Failure> {
        match (&self.first, &self.second) {
            (Some(source), Some(target)) => Ok((source, target)),
            (Some(target), None) => Ok((Path::new(STANDARD), target)),
            (None, _) => {
                let title = "there is no OUT: name the file to write";
                Err(Failure::usage(title).hint("- is standard output"))
            }
        }
    }

    fn is_packed(&self) -> bool {
        self.packed || self.small || self.quick
    }

    /// Refuses what does not go together.
    fn check(&self, metadata: Option<&Metadata>) -> Result<(), Failure> {
        let metadata = metadata.map(Metadata::value);
        let title = if self.chunk_size.is_some() && !self.is_packed() {
            "-z is the size of packed chunks: give --packed, --small or --quick with it"
        } else if self.max_app_chunks.is_some() && self.format != 3 {
            "only --format 3 has room for further offsets: leave --max-app-chunks out, or give it"
        } else if metadata.as_ref().is_some_and(|json| !json.is_object()) {
            "the metadata of records has to be a JSON object"
        } else if self.dtype.is_some() && metadata.is_some_and(|json| json.get("dtype").is_some()) {
            "the metadata has a dtype already: leave --dtype out"
        } else {
            return Ok(());
        };
        Err(Failure::usage(title))
    }

    fn builder(&self, metadata: Option<Metadata>, session: &Session) -> RecordWriterBuilder {
        let mut builder = RecordWriter::builder()
            .checksum(self.checksum)
            .layout(match self.format {
                2 => FormatVersion::V2,
                _ => FormatVersion::V3,
            })
            .threads(session.threads);
        if self.small {
            builder = builder.small();
        } else if self.quick {
            builder = builder.quick();
        } else if self.packed {
            builder = builder.packed(CHUNK_SIZE);
        }
        if let Some(bytes) = self.chunk_size {
            builder = builder.packed(bytes);
        }
        if let Some(codec) = self.codec {
            builder = builder.compressor(codec);
        }
        if let Some(level) = self.level {
            builder = builder.level(level);
        }
        if let Some(metadata) = metadata {
            builder = builder.metadata(metadata);
        }
        if let Some(dtype) = &self.dtype {
            builder = builder.dtype(dtype);
        }
        if let Some(chunks) = self.max_app_chunks {
            builder = builder.max_app_chunks(chunks);
        }
        builder
    }
}

/// Why nothing whole came of it.
enum Failed {
    Splitting(Halt),
    Library(Error),
}

impl From<Halt> for Failed {
    fn from(halt: Halt) -> Self {
        Self::Splitting(halt)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl Failed {
    fn blame(self, source: &Source<'_>, output: &Output) -> Failure {
        output.explain(match self {
            Self::Splitting(halt) => blame::splitting(&halt, &source.name()),
            Self::Library(error) if error.category() == Category::Failed => {
                Failure::library(output.name(), &error)
            }
            Self::Library(error) => Failure::library(source.name(), &error),
        })
    }
}

/// Writes all records. A writer that is dropped, not finished, leaves nothing that looks whole.
fn write(
    builder: RecordWriterBuilder,
    split: &mut Split<Source<'_>>,
    output: &mut Output,
) -> Result<(), Failed> {
    if let Some(file) = output.seekable() {
        let mut writer = builder.write_to_file(file)?;
        while let Some(record) = split.next()? {
            writer.push(record)?;
        }
        writer.finish()?;
        return Ok(());
    }
    let mut writer = builder.write_to(output)?;
    while let Some(record) = split.next()? {
        writer.push(record)?;
    }
    writer.finish()?;
    Ok(())
}

/// Refuses to replace a file that is no Bloscpack file where a single name is given: elsewhere that
/// would be what is read.
fn spare_foreign(target: &Path) -> Result<(), Failure> {
    let mut first = Vec::new();
    let file = std::fs::File::open(target)
        .ok()
        .filter(|_| target.is_file());
    let read = file.map(|file| file.take(MAGIC.len() as u64).read_to_end(&mut first));
    if !matches!(read, Some(Ok(_))) || first.is_empty() || first == MAGIC {
        return Ok(());
    }
    let title = format!(
        "{} is the only name, and so OUT, but it is there and no Bloscpack file",
        quoted(target)
    );
    Err(Failure::usage(title).hint("name IN and OUT; IN may be - for standard input"))
}

/// Parses `--chunk-size`.
fn packed_size(text: &str) -> Result<u32, String> {
    let bytes = size::parse_rounded(text)?;
    let packing = u32::try_from(bytes).ok().and_then(Packing::new);
    let most = Packing::MAX_CHUNK_SIZE;
    packing
        .map(|packing| packing.chunk_size())
        .ok_or_else(|| format!("packed chunks have 64 to {most} bytes"))
}
