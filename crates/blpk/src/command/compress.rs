//! `blpk compress`: plain bytes into a Bloscpack file or stream.

mod flush;
mod length;

use std::path::{Path, PathBuf};

use bloscpack::{
    Checksum, Encoder, EncoderBuilder, FormatVersion, Metadata,
    blosc::{Aim, ChunkSettings, Tuned, Tuner},
};
use clap::Args;

use crate::args::{self, ChunkArgs, with_given};
use crate::failure::Failure;
use crate::input::{self, Input, STANDARD};
use crate::output::Output;
use crate::session::Session;
use crate::size;
use crate::status::Status;
use flush::FlushEvery;

const BLOSCPACK: &str = "Bloscpack settings";

/// Compress a file or standard input
#[derive(Args, Debug)]
#[command(
    mut_arg("typesize", |arg| arg.help(format!("Element size in bytes, 1 to 255 [default: {}]", defaults().typesize))),
    mut_arg("level", |arg| arg.help("Compression level, 0 (none) to 9 [default: 9; lz4hc 5, zlib 6, zstd 4]")),
    mut_arg("shuffle", |arg| arg.help(format!("Filter before compression [default: {}]", defaults().filter))),
    mut_arg("codec", |arg| arg.help(format!("Compressor [default: {}]", defaults().compressor))),
)]
pub struct Compress {
    #[command(flatten)]
    chunks: ChunkArgs,

    /// Choose the settings above that are not given, by a sample of the data: for speed, balance or size
    /// [default AIM: balance]; -v and blpk info --auto report the choice and the reason
    #[arg(long, value_name = "AIM", num_args = 0..=1, require_equals = true, default_missing_value = Aim::Balance.name(),
          ignore_case = true, value_parser = args::aim(), help_heading = args::BLOSC)]
    auto: Option<Aim>,

    /// Size of a chunk before compression, or 'max'
    #[arg(short = 'z', long, value_name = "SIZE", default_value = "1M", allow_negative_numbers = true, value_parser = args::chunk_size,
          help_heading = BLOSCPACK)]
    chunk_size: u32,

    #[arg(help = format!("Checksum of each chunk [default: {}; None with --format 1]", Checksum::default()),
          short = 'k', long, value_name = "CHECKSUM", value_parser = args::checksum(), ignore_case = true,
          help_heading = BLOSCPACK)]
    checksum: Option<Checksum>,

    /// Write no table of offsets
    #[arg(short = 'o', long, help_heading = BLOSCPACK)]
    no_offsets: bool,

    /// JSON file to store as metadata
    #[arg(short, long, value_name = "FILE.json", help_heading = BLOSCPACK)]
    metadata: Option<PathBuf>,

    /// Header version; 3 is the one that Bloscpack 0.3 to 0.16 read and write
    #[arg(long, value_name = "1|2|3", default_value = "3", value_parser = args::header_format, help_heading = BLOSCPACK)]
    format: FormatVersion,

    /// Chunks to reserve space for in the table of offsets [default: ten times the number of chunks, at least 64]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count, help_heading = BLOSCPACK)]
    max_app_chunks: Option<u64>,

    /// Size of the input, if it is not a regular file; a wrong size is an error
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = size::parse, help_heading = BLOSCPACK)]
    size: Option<u64>,

    /// Send data on after at most this time (200ms, 2s) or at most this many bytes (64K), in a chunk that need not be full;
    /// the output is a stream, which Bloscpack cannot read
    #[arg(long, value_name = "TIME|BYTES", allow_negative_numbers = true, value_parser = flush::parse, conflicts_with = "size",
          help_heading = BLOSCPACK)]
    flush_every: Option<FlushEvery>,

    /// File to compress, or - for standard input
    #[arg(value_name = "IN", default_value = STANDARD)]
    input: PathBuf,

    /// File to write, or - for standard output [default: IN.blp, or - if IN is -]
    #[arg(value_name = "OUT")]
    output: Option<PathBuf>,
}

/// The settings of chunks, unless others are given.
fn defaults() -> ChunkSettings {
    ChunkSettings::default()
}

impl Compress {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        self.check_format()?;
        let input = Input::open(&self.input)?;
        let metadata = input::read_metadata(self.metadata.as_deref(), &self.input)?;
        let mut output = Output::create_binary(&self.output(), &[&input], session)?;
        let tuned = self.tune(&input)?;
        let is_unknown = self.size.or(input.length()).is_none();
        if self.format == FormatVersion::V1 && is_unknown && output.seekable().is_none() {
            let title =
                "a --format 1 stream begins with the number of chunks, so its length must be known";
            return Err(Failure::usage(title).hint("give --size, or name an output file"));
        }
        let builder = || self.builder(metadata.clone(), tuned.as_ref(), session);
        let (plain, chosen) = match self.flush_every {
            Some(every) => flush::compress(builder(), every, &input, &mut output, session)?,
            None => length::compress(&builder, self.size, &input, &mut output, session)?,
        };
        if let Some(chosen) = tuned.or(chosen) {
            session.verbose(chosen);
        }
        let name = output.name().to_owned();
        let packed = output.commit()?;
        session.done(format_args!(
            "{}, {}, compressed to {name}, {},",
            input.name(),
            size::pretty(plain),
            size::pretty(packed),
        ));
        Ok(Status::Done)
    }

    /// Refuses settings that the version does not have.
    fn check_format(&self) -> Result<(), Failure> {
        if self.flush_every.is_some() && self.format != FormatVersion::V3 {
            return Err(Failure::usage("--flush-every needs --format 3"));
        }
        let checksum = self.checksum.is_some_and(|kind| kind != Checksum::None);
        let (what, option) = match (self.format, checksum, &self.metadata) {
            (FormatVersion::V1, true, _) => ("checksums", "-k"),
            (FormatVersion::V1, false, Some(_)) => ("metadata", "-m"),
            _ => return Ok(()),
        };
        Err(
            Failure::usage(format!("--format 1 does not support {what}"))
                .hint(format!("omit {option}, or use --format 2 or 3")),
        )
    }

    /// OUT, or its default.
    fn output(&self) -> PathBuf {
        match &self.output {
            Some(output) => output.clone(),
            None if input::is_standard_input(&self.input) => STANDARD.into(),
            None => with_extension(&self.input),
        }
    }

    /// The choice of `--auto`, by samples from all over the input. If the input can only be read in order, the encoder
    /// chooses by its beginning.
    fn tune(&self, input: &Input) -> Result<Option<Tuned>, Failure> {
        let Some(aim) = self.auto else {
            return Ok(None);
        };
        let tuner = self.chunks.tuner(Tuner::new(aim));
        let tuner = tuner.chunk_size(self.chunk_size);
        let pieces = input.sample(&tuner);
        let Some(pieces) = pieces.map_err(|error| Failure::io(input.name(), &error))? else {
            return Ok(None);
        };
        let pieces: Vec<_> = pieces.iter().map(Vec::as_slice).collect();
        let tuned = tuner.tune_pieces(&pieces);
        tuned
            .map(Some)
            .map_err(|error| Failure::library(input.name(), &error.into()))
    }

    fn builder(
        &self,
        metadata: Option<Metadata>,
        tuned: Option<&Tuned>,
        session: &Session,
    ) -> EncoderBuilder {
        let builder = self.chunks.encoder(Encoder::builder());
        let builder = match (tuned.map(Tuned::settings), self.auto) {
            (Some(settings), _) => builder
                .compressor(settings.compressor)
                .level(settings.level)
                .filter(settings.filter)
                .typesize(settings.typesize),
            (None, Some(aim)) => builder.auto(aim),
            (None, None) => builder,
        };
        let builder = builder
            .chunk_size(self.chunk_size)
            .offsets(!self.no_offsets)
            .layout(self.format)
            .threads(session.threads)
            .limits(session.write_limits());
        // The default checksum depends on the version: the first had none.
        with_given!(builder,
            checksum: self.checksum,
            metadata: metadata,
            max_app_chunks: self.max_app_chunks,
        )
    }
}

/// IN with `.blp` after it.
fn with_extension(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".blp");
    name.into()
}
