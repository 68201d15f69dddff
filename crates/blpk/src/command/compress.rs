//! `blpk compress`: plain bytes into a Bloscpack file or stream.

mod encode;

use std::path::{Path, PathBuf};
use std::time::Instant;

use bloscpack::{
    Checksum, Encoder, EncoderBuilder, FormatVersion, Metadata,
    blosc::{Aim, Tuned},
};
use clap::Args;

use crate::args::{self, Encoding};
use crate::input::{self, Input, STANDARD};
use crate::message::Failure;
use crate::output::{Output, spare_terminal};
use crate::session::Session;
use crate::size;
use crate::status::Status;
use encode::{Length, encode};

/// Compress a file or standard input
#[derive(Args, Debug)]
pub struct Compress {
    #[command(flatten)]
    encoding: Encoding,

    /// Choose what of these is not given by a sample of the data: for speed, balance or size [default
    /// AIM: balance]; -v says what and why, and so does blpk info --auto
    #[arg(long, value_name = "AIM", num_args = 0..=1, require_equals = true, default_missing_value = Aim::Balance.name(),
          ignore_case = true, value_parser = args::aim(), help_heading = args::BLOSC)]
    auto: Option<Aim>,

    /// Bytes of a chunk before compression, or 'max'
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

    /// File with metadata to include, which must be JSON
    #[arg(short, long, value_name = "FILE.json", help_heading = BLOSCPACK)]
    metadata: Option<PathBuf>,

    /// Header layout; 3 is what Bloscpack 0.3 to 0.16 read and write
    #[arg(long, value_name = "1|2|3", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=3),
          help_heading = BLOSCPACK)]
    format: u8,

    /// Chunks to leave room for in the table of offsets [default: ten times their number, at least 64]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count, help_heading = BLOSCPACK)]
    max_app_chunks: Option<u64>,

    /// Bytes to come, where the input does not tell; it is an error if they turn out more or fewer
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = size::parse, help_heading = BLOSCPACK)]
    size: Option<u64>,

    /// File to compress, or - for standard input
    #[arg(value_name = "IN", default_value = STANDARD)]
    input: PathBuf,

    /// File to write, or - for standard output [default: IN.blp, or - if IN is -]
    #[arg(value_name = "OUT")]
    output: Option<PathBuf>,
}

const BLOSCPACK: &str = "Bloscpack settings";

impl Compress {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let begun = Instant::now();
        self.fit_format()?;
        let target = self.target();
        let input = Input::open(&self.input)?;
        let metadata = input::read_metadata(self.metadata.as_deref(), &self.input)?;
        let mut output = Output::create(&target, &[&input], session)?;
        if output.is_terminal() && !session.force {
            return Err(spare_terminal("compressed data"));
        }
        let tuned = self.tune(&input)?;
        let builder = || self.builder(metadata.clone(), tuned.as_ref(), session);
        let length = match (self.size, input.length()) {
            (Some(bytes), _) => Length::Given(bytes),
            (None, Some(bytes)) => Length::Found(bytes),
            (None, None) => Length::Unknown,
        };
        if self.format == 1 && matches!(length, Length::Unknown) && output.seekable().is_none() {
            let title = "a stream of --format 1 begins with the number of chunks, so its length must be known";
            return Err(Failure::usage(title).hint("give --size, or name an output file"));
        }
        let (plain, chosen) = encode(&builder, length, &input, &mut output, session)?;
        if let Some(chosen) = tuned.or(chosen) {
            session.verbose(chosen);
        }
        let name = output.name().to_owned();
        let packed = output.commit()?;
        session.verbose(format_args!(
            "{}, {}, compressed into {name}, {}, in {:.2?}",
            input.name(),
            size::pretty(plain),
            size::pretty(packed),
            begun.elapsed(),
        ));
        Ok(Status::Done)
    }

    /// Refuses what the first layout has no place for.
    fn fit_format(&self) -> Result<(), Failure> {
        let checksum = self.checksum.is_some_and(|kind| kind != Checksum::None);
        let what = match (self.format, checksum, &self.metadata) {
            (1, true, _) => "checksums: leave -k out",
            (1, false, Some(_)) => "metadata: leave -m out",
            _ => return Ok(()),
        };
        let title = format!("--format 1 has no place for {what}, or use --format 2 or 3");
        Err(Failure::usage(title))
    }

    /// OUT, or what follows from IN.
    fn target(&self) -> PathBuf {
        match &self.output {
            Some(output) => output.clone(),
            None if input::is_standard_input(&self.input) => STANDARD.into(),
            None => with_extension(&self.input),
        }
    }

    /// What `--auto` chooses by a sample from all over the input. Of one that comes in order, the encoder
    /// sees the beginning.
    fn tune(&self, input: &Input) -> Result<Option<Tuned>, Failure> {
        let Some(aim) = self.auto else {
            return Ok(None);
        };
        let tuner = self.encoding.tuner(aim).chunk_size(self.chunk_size);
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
        let layout = match self.format {
            1 => FormatVersion::V1,
            2 => FormatVersion::V2,
            _ => FormatVersion::V3,
        };
        let mut builder = self.encoding.apply(Encoder::builder());
        match (tuned.map(Tuned::settings), self.auto) {
            (Some(settings), _) => {
                builder = builder
                    .compressor(settings.compressor)
                    .level(settings.level)
                    .filter(settings.filter)
                    .typesize(settings.typesize);
            }
            (None, Some(aim)) => builder = builder.auto(aim),
            (None, None) => {}
        }
        builder = builder
            .chunk_size(self.chunk_size)
            .offsets(!self.no_offsets)
            .layout(layout)
            .threads(session.threads);
        // Without one the layout decides: the first had no checksums yet.
        if let Some(checksum) = self.checksum {
            builder = builder.checksum(checksum);
        }
        if let Some(metadata) = metadata {
            builder = builder.metadata(metadata);
        }
        if let Some(chunks) = self.max_app_chunks {
            builder = builder.max_app_chunks(chunks);
        }
        builder
    }
}

/// IN with `.blp` after it.
fn with_extension(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".blp");
    name.into()
}
