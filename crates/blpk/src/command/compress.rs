//! `blpk compress`: compresses plain bytes into a Bloscpack file or stream.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bloscpack::{
    Checksum, Code, Encoder, EncoderBuilder, Error, FormatVersion, Metadata,
    blosc::{Aim, ChunkHeader, ChunkSettings},
    error::{IoSide as _, Side},
    wire::{Header, internal::to_u64},
};
use bloscpack_open::internal::size;
use clap::Args;

use super::bloscpack_file::{Content, Encoded, Operands, encode, has_extension};
use crate::args::{self, Auto, ChunkArgs, FlushEvery, with_given};
use crate::failure::{About as _, Failure};
use crate::input::{self, Input, InterruptibleReader, STANDARD};
use crate::output::{MadeFrom, Replaces, Target, is_standard_output};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

const BLOSCPACK: &str = "Bloscpack settings";
const EXAMPLES: &str = "\
Examples:
  blpk compress data.bin                   write data.bin.blp
  blpk compress --multiple *.csv           compress each into its own file
  blpk c -t 4 -c zstd -l 9 data.bin a.blp  4-byte elements, as small as possible
  blpk c --auto=size data.bin a.blp        choose settings for a small file
  producer | blpk c > a.blp                from a pipe into a file
  tar -c folder | blpk c | ssh host 'blpk d | tar -x'";

/// Compress a file or standard input
///
/// The input is always kept. Into a pipe, blpk writes a stream, which Python's Bloscpack reads as empty: for Python, name
/// OUT, give --size, or, on Linux, redirect with >.
#[derive(Args, Debug)]
#[command(
    mut_arg("typesize", |arg| arg.help(by_default("Element size in bytes, 1 to 255", defaults().typesize))),
    mut_arg("level", |arg| arg.help(by_default("Compression level, 0 (none) to 9, or -1 to -9", "9; lz4hc 5, zlib 6, zstd 4"))),
    mut_arg("shuffle", |arg| arg.help(by_default("Filter before compression", defaults().filter))),
    mut_arg("codec", |arg| arg.help(by_default("Compressor", defaults().compressor))),
    after_help = EXAMPLES,
    override_usage = "blpk compress [OPTIONS] [IN] [OUT]\n       blpk compress [OPTIONS] --multiple IN...",
    mut_arg("names", |arg| arg.help("IN: file to compress, or - for standard input (the default); OUT: file to write, or - for standard \
        output [default: IN.blp, or - if IN is -]")),
)]
pub struct Compress {
    #[command(flatten)]
    chunks: ChunkArgs,

    /// Choose the settings above that are not given from a sample of the data, for speed, balance or size; off takes their
    /// defaults [default: balance; off if a setting above or --flush-every is given]
    ///
    /// --auto alone means balance. -v and blpk info --auto report the choice and the reason.
    #[arg(long, value_name = "AIM", num_args = 0..=1, require_equals = true, default_missing_value = Aim::Balance.name(),
          ignore_case = true, value_parser = args::auto(), help_heading = args::BLOSC)]
    auto: Option<Auto>,

    /// Size of a chunk before compression, such as 64K, or 'max' (2 GiB less 17 bytes)
    #[arg(short = 'z', long, value_name = "SIZE", default_value = "1M", allow_negative_numbers = true, value_parser = args::chunk_size,
          help_heading = BLOSCPACK)]
    chunk_size: u32,

    #[arg(help = format!("Checksum of each chunk [default: {}; None with --format 1]", Checksum::default()),
          short = 'k', long, value_name = "CHECKSUM", value_parser = args::checksum(), ignore_case = true,
          help_heading = BLOSCPACK)]
    checksum: Option<Checksum>,

    /// Write no offset table
    #[arg(short = 'o', long, help_heading = BLOSCPACK)]
    no_offsets: bool,

    /// JSON file to store as metadata
    #[arg(short, long, value_name = "FILE.json", help_heading = BLOSCPACK)]
    metadata: Option<PathBuf>,

    /// Header version; Python's Bloscpack 0.3 to 0.16 reads and writes 3
    #[arg(hide_short_help = true, long, value_name = "1|2|3", default_value = "3", value_parser = args::header_format, help_heading = BLOSCPACK)]
    format: FormatVersion,

    /// Chunks to reserve space for in the offset table [default: ten times the number of chunks]
    #[arg(hide_short_help = true, long, value_name = "N", allow_negative_numbers = true, value_parser = args::count, help_heading = BLOSCPACK)]
    max_app_chunks: Option<u64>,

    /// Size of the input, if it is not a regular file; a wrong size is an error
    #[arg(hide_short_help = true, long, value_name = "SIZE", allow_negative_numbers = true, value_parser = size::parse, help_heading = BLOSCPACK)]
    size: Option<u64>,

    /// Write data after at most this time (200ms, 2s) or this many bytes (64K), even if a chunk is not full; the output is a
    /// stream, which Python's Bloscpack cannot read
    #[arg(hide_short_help = true, long, value_name = "TIME|BYTES", allow_negative_numbers = true, value_parser = args::flush_every, conflicts_with = "size",
          help_heading = BLOSCPACK)]
    flush_every: Option<FlushEvery>,

    #[command(flatten)]
    operands: Operands,
}

/// The default settings of chunks.
fn defaults() -> ChunkSettings {
    ChunkSettings::default()
}

/// The help of a setting with this default.
fn by_default(what: &str, value: impl Display) -> String {
    format!("{what}, unless --auto chooses it [default: {value}]")
}

/// Below this length, data that does not shrink is not reported.
const LITTLE: u64 = 4096;

impl Compress {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        self.operands.check("compress")?;
        self.check_format()?;
        if self.operands.is_multiple() {
            let standard = self.metadata.as_deref().map(input::is_standard_input);
            if self.size.is_some() || self.flush_every.is_some() || standard == Some(true) {
                let title = "--multiple cannot be used with --size, --flush-every or -m -";
                return Err(Failure::usage(title));
            }
            let file = |input: &Path, output: &Path| self.file(input, output, session);
            return self.operands.each(session, output_of, file);
        }
        let input = self.operands.input();
        let output = match self.operands.output() {
            Some(output) => output.to_owned(),
            None if input::is_standard_input(input) => STANDARD.into(),
            None => with_extension(input),
        };
        let done = self.file(input, &output, session);
        done.map_err(|failure| self.advise(failure))
    }

    /// Compresses one file.
    fn file(&self, input: &Path, output: &Path, session: &Session) -> Result<Status, Failure> {
        let (path, target) = (input, output);
        let input = Input::open(path, session)?;
        let metadata = input::read_metadata(self.metadata.as_deref(), path)?;
        let mut output = Target::file(
            output,
            Replaces::Compressed,
            MadeFrom::Input(&input),
            session,
        )?;
        output.keep_time(&input);
        if is_standard_output(target) && follows_open_stream() {
            session.warning("standard output is appended to a stream without an end mark, which readers report as damage (blpk recover reads both)");
        }
        let is_unknown = self.size.or(input.length()).is_none();
        if self.format == FormatVersion::V1 && is_unknown && output.seekable().is_none() {
            let title =
                "a --format 1 stream begins with the number of chunks, so its length must be known";
            return Err(Failure::usage(title).hint("give --size, or name an output file"));
        }
        if self.flush_every.is_some() || (is_unknown && output.seekable().is_none()) {
            session.verbose(format_args!(
                "{}: the header does not contain the length, so Python's Bloscpack reads this as an empty file",
                output.name()
            ));
        }
        let builder = || self.builder(metadata.clone(), session);
        let (plain, chosen) = match self.flush_every {
            Some(every) => compress_flushing(builder(), every, &input, &mut output, session)?,
            None => compress_whole(&builder, self.size, &input, &mut output, session)?,
        };
        if let Some(chosen) = chosen {
            session.verbose(chosen);
        }
        let made = output.commit(session)?;
        session.done(format_args!(
            "{}, {}, compressed to {}, {},",
            input.name(),
            size::pretty(plain),
            made.name,
            size::pretty(made.length),
        ));
        self.report_gain(&made.name, (plain, made.length), session);
        Ok(Status::Done)
    }

    /// Reports output that is not smaller than its input, unless the data was only to be stored.
    fn report_gain(&self, name: &str, (plain, packed): (u64, u64), session: &Session) {
        let is_gain = u128::from(packed) * 100 < u128::from(plain) * 99;
        if is_gain || plain < LITTLE || self.chunks.is_stored() {
            return;
        }
        let (plain, packed) = (size::pretty(plain), size::pretty(packed));
        let advice = match self.aim() {
            Some(_) => "the input may be compressed already",
            None => "--auto may find better settings",
        };
        session.advice(format_args!(
            "{name} is not smaller than its input: {packed} from {plain}; {advice}"
        ));
    }

    /// The aim of the choice of settings; `None` for the defaults.
    fn aim(&self) -> Option<Aim> {
        match self.auto {
            Some(Auto::Aim(aim)) => Some(aim),
            Some(Auto::Off) => None,
            // The first flush may come after a few bytes, too few for a sample.
            None if self.chunks.is_any_given() || self.flush_every.is_some() => None,
            None => Some(Aim::Balance),
        }
    }

    /// Refuses settings that the header version does not support.
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

    /// Adds advice if the names were probably meant differently.
    fn advise(&self, failure: Failure) -> Failure {
        let is_usage = failure.status() == Status::Usage;
        let failure = self.operands.advise("compress", failure);
        match (self.no_offsets, self.operands.output()) {
            (true, Some(_)) if is_usage || !self.operands.input().exists() => {
                failure.detail("-o is --no-offsets; give OUT as the second name or with -O")
            }
            _ => failure,
        }
    }

    fn builder(&self, metadata: Option<Metadata>, session: &Session) -> EncoderBuilder {
        let builder = self.chunks.encoder(Encoder::builder());
        let builder = builder
            .chunk_size(self.chunk_size)
            .offsets(!self.no_offsets)
            .version(self.format)
            .threads(session.threads)
            .limits(session.write_limits());
        // The default checksum depends on the version: version 1 has none.
        with_given!(builder,
            auto: self.aim(),
            checksum: self.checksum,
            metadata: metadata,
            max_app_chunks: self.max_app_chunks,
        )
    }
}

/// The output of one of several inputs; `None` for compressed files, which are skipped, as gzip does.
fn output_of(input: &Path) -> Result<Option<PathBuf>, Failure> {
    Ok((!has_extension(input)).then(|| with_extension(input)))
}

/// Appends `.blp` to a path.
fn with_extension(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".blp");
    name.into()
}

/// Compresses all of the input. `given` is the length from `--size`.
fn compress_whole(
    builder: &dyn Fn() -> EncoderBuilder,
    given: Option<u64>,
    input: &Input,
    output: &mut Target,
    session: &Session,
) -> Result<Encoded, Failure> {
    let found = input.length();
    let progress = Progress::new(session, given.or(found));
    let done = attempt(builder(), given, input, &progress, output);
    let is_wrong = done.as_ref().is_err_and(is_wrong_length);
    let done = match output.seekable().filter(|_| is_wrong && given.is_none()) {
        // The length of the file has changed. If the output can seek, begin again without a length.
        Some(file) => {
            input.rewind().about(&input.name())?;
            file.get_ref().set_len(0).about(output)?;
            (&mut &*file).rewind().about(output)?;
            progress.restart();
            let mut reader = input.reader(&progress);
            encode(builder(), Content::Reader(&mut reader), output)
        }
        None => done,
    };
    let done = done.map_err(|error| match given.or(found) {
        Some(claimed) if is_wrong_length(&error) => {
            wrong_length(&input.name(), claimed, given.is_some(), &error)
        }
        _ => error.into(),
    });
    done.about(&output.made_from(input))
}

/// Compresses all of the input with its claimed length: `given`, or the length that the system reports.
fn attempt(
    builder: EncoderBuilder,
    given: Option<u64>,
    input: &Input,
    progress: &Progress,
    output: &mut Target,
) -> bloscpack::Result<Encoded> {
    let mut reader = input.reader(progress);
    let located = input.located(progress);
    if let Some((file, len)) = located.filter(|(_, len)| given.is_none_or(|given| given == *len)) {
        let done = encode(builder.size(len), Content::File(file, len), output)?;
        input.seek_to_end().reading()?;
        return Ok(done);
    }
    let mut first = Vec::new();
    let claimed = match (given, input.length()) {
        // Files below /proc have content although their length is 0.
        (None, Some(_)) => {
            let len = reader.by_ref().take(1).read_to_end(&mut first).reading()?;
            (len == 0).then_some(0)
        }
        (given, _) => given,
    };
    let builder = match claimed {
        Some(bytes) => builder.size(bytes),
        None => builder,
    };
    let mut reader = first.as_slice().chain(reader);
    encode(builder, Content::Reader(&mut reader), output)
}

/// Whether the input is longer or shorter than claimed.
fn is_wrong_length(error: &Error) -> bool {
    let is_end = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
    let is_cut = error.side() == Some(Side::Source) && error.io_error().is_some_and(is_end);
    is_cut || error.code() == Code::WrongSize
}

fn wrong_length(name: &str, claimed: u64, given: bool, error: &Error) -> Failure {
    let found = if error.code() == Code::WrongSize {
        error.to_string()
    } else {
        format!("expected {claimed} bytes, got fewer")
    };
    if given {
        return Failure::new(Status::Failed, format!("{name}: wrong --size: {found}"));
    }
    Failure::new(
        Status::Failed,
        format!("{name} changed while being read: {found}"),
    )
    .hint("compress into a file, or pipe the input in, so that its length is not needed")
}

/// The length of one read.
const PIECE_LEN: usize = 64 << 10;

/// Whether standard output is appended to a file that begins with a stream and has no end mark at its end. False on systems
/// without `/proc/self/fd/1`.
fn follows_open_stream() -> bool {
    /// The length of the longest digest, which follows an end mark.
    const DIGEST: u64 = 64;
    let end_mark = ChunkHeader::END_MARK;
    let look = || -> io::Result<bool> {
        let mut file = File::open("/proc/self/fd/1")?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() == 0 {
            return Ok(false);
        }
        let mut first = Vec::new();
        (&file).take(32).read_to_end(&mut first)?;
        let is_open = Header::decode(&first).is_ok_and(|header| header.nchunks.is_none());
        let tail = metadata.len().min(to_u64(end_mark.len()) + DIGEST);
        file.seek(io::SeekFrom::End(-i64::try_from(tail).unwrap_or(0)))?;
        let mut last = Vec::new();
        file.read_to_end(&mut last)?;
        Ok(is_open && !last.windows(end_mark.len()).any(|bytes| bytes == end_mark))
    };
    look().unwrap_or(false)
}

/// Compresses all of the input, and flushes chunks before they are full.
fn compress_flushing(
    builder: EncoderBuilder,
    every: FlushEvery,
    input: &Input,
    output: &mut Target,
    session: &Session,
) -> Result<Encoded, Failure> {
    let progress = Progress::new(session, input.length());
    let encode = || -> bloscpack::Result<Encoded> {
        let mut encoder = builder.interactive(true).write_to(&mut *output)?;
        match every {
            FlushEvery::Bytes(most) => {
                let mut reader = input.reader(&progress);
                while encoder.read_from(reader.by_ref().take(most))? == most {
                    encoder.flush()?;
                }
            }
            FlushEvery::Time(most) => by_time(&mut encoder, most, input, &progress)?,
        }
        let tuned = encoder.tune()?.cloned();
        let len = encoder.total_in();
        encoder.finish()?;
        Ok((len, tuned))
    };
    encode().about(&output.made_from(input))
}

fn by_time(
    encoder: &mut Encoder<&mut Target>,
    most: Duration,
    input: &Input,
    progress: &Progress,
) -> bloscpack::Result<()> {
    let mut reader = InterruptibleReader::begin(input, progress).reading()?;
    let mut piece = vec![0; PIECE_LEN];
    // The time at which the oldest unsent byte must be sent.
    let mut due: Option<Instant> = None;
    loop {
        match reader.read_until(&mut piece, due).reading()? {
            Some(0) => return Ok(()),
            Some(len) => {
                due = due.or_else(|| Instant::now().checked_add(most));
                encoder.write_all(&piece[..len])?;
            }
            None => {}
        }
        if due.is_some_and(|due| Instant::now() >= due) {
            encoder.flush()?;
            due = None;
        }
    }
}
