//! The command line as `clap` sees it: global options, and the values that subcommands share.
//!
//! The options of one subcommand stand in its own file under `command/`.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::LazyLock;

use anstream::ColorChoice;
use bloscpack::{
    Checksum, Compressor, EditorBuilder, EncoderBuilder, Filter, Limits,
    blosc::{Aim, ChunkSettings, MAX_NBYTES, Tuner},
    exchange::Format,
};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Args, Parser, ValueEnum};

use crate::command::Command;
use crate::layout::ArrayLayout;
use crate::{size, status};

/// The most threads that may be asked for, as in the Python tool.
pub const MAX_THREADS: usize = 256;

const GLOBAL: &str = "Global options";
/// The heading above the options of chunks.
pub const BLOSC: &str = "Blosc settings";

/// Compress, decompress and inspect files of the Bloscpack family.
#[derive(Debug, Parser)]
#[command(
    name = "blpk",
    version,
    long_version = LONG_VERSION.as_str(),
    after_help = status::HELP,
    after_long_help = format!("{EXAMPLES}\n\n{}", status::HELP),
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub struct Cli {
    /// What holds for every subcommand.
    #[command(flatten)]
    pub global: Global,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options that may stand before or after the subcommand.
#[derive(Args, Debug)]
pub struct Global {
    /// Overwrite existing files; allow binary data on a terminal
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub force: bool,

    /// Number of threads, 1 to 256 [default: all cores]
    #[arg(short, long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = threads, help_heading = GLOBAL)]
    pub nthreads: Option<usize>,

    /// Say what is done
    #[arg(short, long, global = true, conflicts_with_all = ["debug", "quiet"], help_heading = GLOBAL)]
    pub verbose: bool,

    /// Say what is done, in detail
    #[arg(short, long, global = true, conflicts_with = "quiet", help_heading = GLOBAL)]
    pub debug: bool,

    /// No warnings, no progress bar
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub quiet: bool,

    /// Show a progress bar for long work, on standard error: auto (a terminal), always, never
    #[arg(long, global = true, value_enum, hide_possible_values = true, value_name = "WHEN", default_value_t = When::Auto, help_heading = GLOBAL)]
    pub progress: When,

    /// Colour the messages: auto (a terminal), always, never
    #[arg(long, global = true, value_enum, hide_possible_values = true, value_name = "WHEN", default_value_t = When::Auto, help_heading = GLOBAL)]
    pub color: When,

    /// What a file may ask for: chunk=SIZE,block=SIZE,metadata=SIZE,offsets=SIZE,total=SIZE,ratio=N
    ///
    /// A file that asks for more is refused with status 5. The first four guard memory against files
    /// made to exhaust it: the bytes of one chunk, of one block, of the metadata, and of the table
    /// of offsets. The others guard disks: the bytes of all of the content, and of the content for
    /// each byte of a chunk. They are not limited if not asked for.
    #[arg(long = "limit", global = true, value_name = "LIMITS", value_delimiter = ',', value_parser = limit, help_heading = GLOBAL)]
    pub limits: Vec<Limit>,
}

/// When to show something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal.
    Auto,
    /// In any case.
    Always,
    /// Not at all.
    Never,
}

/// One limit out of `--limit`.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// Bytes of one chunk.
    Chunk(u32),
    /// Bytes of one block.
    Block(u32),
    /// Bytes of the metadata.
    Metadata(u32),
    /// Bytes of the offset table.
    Offsets(u64),
    /// Bytes of all of the content.
    Total(u64),
    /// Bytes of the content for each byte of a chunk.
    Ratio(u32),
}

impl Limit {
    /// Sets this limit among the others.
    pub fn apply(self, limits: &mut Limits) {
        match self {
            Self::Chunk(bytes) => limits.chunk = bytes,
            Self::Block(bytes) => limits.block = bytes,
            Self::Metadata(bytes) => limits.metadata = bytes,
            Self::Offsets(bytes) => limits.offsets = bytes,
            Self::Total(bytes) => limits.total = bytes,
            Self::Ratio(ratio) => limits.ratio = ratio,
        }
    }
}

/// How chunks are made; what is not said is as the library has it, or chosen by `--auto`.
#[derive(Args, Debug)]
pub struct Encoding {
    #[arg(help = format!("Bytes of one element, which the shuffle takes apart [default: {}]", ChunkSettings::default().typesize),
          help_heading = BLOSC, short, long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u8).range(1..))]
    typesize: Option<u8>,

    /// Compression level, 0 (none) to 9 [default: 9; lz4hc 5, zlib 6, zstd 4]
    #[arg(help_heading = BLOSC, short, long, visible_alias = "clevel", value_name = "0..9", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u8).range(0..=9))]
    level: Option<u8>,

    /// Do not shuffle; the same as --shuffle none
    #[arg(help_heading = BLOSC, short = 's', long, conflicts_with = "shuffle")]
    no_shuffle: bool,

    #[arg(help = format!("Filter before compression [default: {}]", ChunkSettings::default().filter),
          help_heading = BLOSC, long, value_name = "FILTER", value_parser = filter())]
    shuffle: Option<Filter>,

    #[arg(help = format!("Compressor [default: {}]", ChunkSettings::default().compressor),
          help_heading = BLOSC, short, long, value_name = "CODEC", ignore_case = true, value_parser = codec())]
    codec: Option<Compressor>,
}

impl Encoding {
    /// Takes over what is said.
    pub fn apply(&self, mut builder: EncoderBuilder) -> EncoderBuilder {
        if let Some(typesize) = self.typesize {
            builder = builder.typesize(typesize);
        }
        if let Some(level) = self.level {
            builder = builder.level(level);
        }
        if let Some(filter) = self.filter() {
            builder = builder.filter(filter);
        }
        if let Some(codec) = self.codec {
            builder = builder.compressor(codec);
        }
        builder
    }

    /// The same for what chooses the rest.
    pub fn tuner(&self, aim: Aim) -> Tuner {
        let mut tuner = Tuner::new(aim);
        if let Some(typesize) = self.typesize {
            tuner = tuner.typesize(typesize);
        }
        if let Some(level) = self.level {
            tuner = tuner.level(level);
        }
        if let Some(filter) = self.filter() {
            tuner = tuner.filter(filter);
        }
        if let Some(codec) = self.codec {
            tuner = tuner.compressor(codec);
        }
        tuner
    }

    /// The filter that `-s` and `--shuffle` come to.
    fn filter(&self) -> Option<Filter> {
        self.shuffle.or(self.no_shuffle.then_some(Filter::None))
    }
}

/// How chunks are made that join others: as those are, but for what is said.
#[derive(Args, Debug)]
pub struct Joining {
    /// Bytes of one element [default: as the file's header says]
    #[arg(help_heading = BLOSC, short, long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u8).range(1..))]
    pub typesize: Option<u8>,

    /// Compression level, 0 (none) to 9 [default: that of the file; with another codec, its own]
    #[arg(help_heading = BLOSC, short, long, visible_alias = "clevel", value_name = "0..9", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u8).range(0..=9))]
    pub level: Option<u8>,

    /// Do not shuffle; the same as --shuffle none
    #[arg(help_heading = BLOSC, short = 's', long, conflicts_with = "shuffle")]
    pub no_shuffle: bool,

    /// Filter before compression [default: that of the file]
    #[arg(help_heading = BLOSC, long, value_name = "FILTER",
          value_parser = filter())]
    pub shuffle: Option<Filter>,

    /// Compressor [default: that of the file]
    #[arg(help_heading = BLOSC, short, long, value_name = "CODEC", ignore_case = true,
          value_parser = codec())]
    pub codec: Option<Compressor>,
}

impl Joining {
    /// Takes over what is said.
    pub fn apply(&self, mut builder: EditorBuilder) -> EditorBuilder {
        if let Some(typesize) = self.typesize {
            builder = builder.typesize(typesize);
        }
        if let Some(level) = self.level {
            builder = builder.level(level);
        }
        if let Some(filter) = self.shuffle.or(self.no_shuffle.then_some(Filter::None)) {
            builder = builder.filter(filter);
        }
        if let Some(codec) = self.codec {
            builder = builder.compressor(codec);
        }
        builder
    }
}

/// The compressors that were built in.
static AVAILABLE: LazyLock<Vec<Compressor>> = LazyLock::new(|| {
    let all = Compressor::ALL.into_iter();
    all.filter(|codec| codec.is_available()).collect()
});

/// Parses `--codec`.
pub fn codec() -> impl TypedValueParser<Value = Compressor> {
    named(&AVAILABLE, Compressor::name)
}

/// Parses `--checksum`.
pub fn checksum() -> impl TypedValueParser<Value = Checksum> {
    named(&Checksum::ALL, Checksum::name)
}

/// Parses `--shuffle`.
pub fn filter() -> impl TypedValueParser<Value = Filter> {
    named(&[Filter::None, Filter::Byte, Filter::Bit], Filter::name)
}

/// Parses `--auto`.
pub fn aim() -> impl TypedValueParser<Value = Aim> {
    named(&Aim::ALL, Aim::name)
}

/// Parses `--layout`.
pub fn array_layout() -> impl TypedValueParser<Value = ArrayLayout> {
    named(&ArrayLayout::ALL, ArrayLayout::name)
}

/// Parses `--from` and `--to`: the ending of a name, without its dot.
pub fn format(text: &str) -> Result<Format, String> {
    let path = format!("x.{}", text.trim_start_matches('.'));
    Format::of_path(path)
        .ok_or_else(|| "known are npy, csv, jsonl, arrow, arrows, parquet and bin".to_owned())
}

/// Parses one of `all` by its name.
fn named<T>(
    all: &'static [T],
    name: impl Fn(T) -> &'static str + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let names: Vec<PossibleValue> = all
        .iter()
        .map(|&one| PossibleValue::new(name(one)))
        .collect();
    PossibleValuesParser::new(names).try_map(move |text: String| {
        all.iter()
            .copied()
            .find(|&one| name(one).eq_ignore_ascii_case(&text))
            .ok_or("unknown name")
    })
}

/// Parses a count, as people would call it when it is none.
pub fn count(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(count) if digits => Ok(count),
        _ if digits => Err(format!("a count is at most {}", u64::MAX)),
        _ => Err("a count is a whole number such as 0 or 12".into()),
    }
}

/// Parses `--chunk-size`.
pub fn chunk_size(text: &str) -> Result<u32, String> {
    if text == "max" {
        return Ok(MAX_NBYTES);
    }
    let bytes = size::parse_rounded(text).map_err(|error| format!("{error} (or 'max')"))?;
    match u32::try_from(bytes) {
        Ok(0) => Err("a chunk holds at least 1 byte".into()),
        Ok(bytes) if bytes <= MAX_NBYTES => Ok(bytes),
        _ => Err(format!("a chunk holds at most {MAX_NBYTES} bytes ('max')")),
    }
}

fn threads(text: &str) -> Result<usize, String> {
    const ALLOWED: RangeInclusive<usize> = 1..=MAX_THREADS;
    match text.parse() {
        Ok(threads) if ALLOWED.contains(&threads) => Ok(threads),
        _ => Err(format!("must be 1 <= N <= {MAX_THREADS}")),
    }
}

fn limit(text: &str) -> Result<Limit, String> {
    let known =
        "known are chunk=SIZE, block=SIZE, metadata=SIZE, offsets=SIZE, total=SIZE, ratio=N";
    let (key, value) = text.split_once('=').ok_or(known)?;
    if key == "ratio" {
        let ratio = value.parse().ok().filter(|ratio| *ratio > 0);
        let wrong = || format!("ratio must be 1 <= N <= {}", u32::MAX);
        return ratio.map(Limit::Ratio).ok_or_else(wrong);
    }
    let bytes = size::parse(value)?;
    let short = || {
        u32::try_from(bytes).map_err(|_| format!("{key} cannot exceed {} bytes anyway", u32::MAX))
    };
    match key {
        "chunk" => short().map(Limit::Chunk),
        "block" => short().map(Limit::Block),
        "metadata" => short().map(Limit::Metadata),
        "offsets" => Ok(Limit::Offsets(bytes)),
        "total" => Ok(Limit::Total(bytes)),
        _ => Err(known.into()),
    }
}

/// Tells who is used to `gzip FILE` and `gzip -d FILE` what it is called here.
pub fn advise(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && Path::new(word).is_file()
    {
        let command = match word.ends_with(".blp") {
            true => "decompress",
            false => "compress",
        };
        let tip = format!("'{word}' is a file; for it, use 'blpk {command}'").into();
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Looks for `--color` before the arguments are parsed; the parser judges it later.
pub fn color_choice(args: impl Iterator<Item = OsString>) -> ColorChoice {
    let mut choice = ColorChoice::Auto;
    let mut args = args.skip(1).take_while(|arg| arg != "--");
    while let Some(arg) = args.next() {
        let arg = arg.to_string_lossy();
        let value = match arg.split_once('=') {
            Some(("--color", value)) => value.to_owned(),
            None if arg == "--color" => args
                .next()
                .map(|value| value.to_string_lossy().into_owned())
                .unwrap_or_default(),
            _ => continue,
        };
        choice = match value.as_str() {
            "always" => ColorChoice::Always,
            "never" => ColorChoice::Never,
            _ => ColorChoice::Auto,
        };
    }
    choice
}

/// What stands below the options of `--help`, also in the manual page.
pub const EXAMPLES: &str = "\
Examples:
  blpk compress data.bin                    write data.bin.blp
  blpk c -t 4 -c zstd -l 9 data.bin a.blp   elements of 4 bytes, zstd, smallest
  blpk c --auto=size data.bin a.blp         settings chosen by a sample of the data
  blpk decompress data.bin.blp              write data.bin
  producer | blpk c | blpk d | consumer     standard input to standard output
  blpk cat --range 1M..2M data.bin.blp      some of the uncompressed bytes
  producer | blpk append data.bin.blp       more behind what is there
  blpk verify *.blp                         read everything, report each damage
  blpk records pack --small app.log a.blp   a record for each line, many to a chunk
  blpk records get a.blp 17 1000..1010      some of them, by number
  blpk import prices.csv prices             a table in a directory
  blpk export prices prices.parquet         and out of it
  blpk import cube.npy cube.b2nd --layout b2nd   an n-dimensional array in one file
  blpk cat --slice '3,:,10:20' cube.b2nd    some of its elements";

/// What `--version` prints.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<&str> = AVAILABLE.iter().map(|codec| codec.name()).collect();
    format!(
        "{}\ncompressors: {}",
        env!("CARGO_PKG_VERSION"),
        names.join(" ")
    )
});

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use anstream::ColorChoice;
    use clap::CommandFactory;

    use super::{Cli, chunk_size, color_choice, count, limit, threads};

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn chunk_sizes() {
        assert_eq!(chunk_size("max"), Ok(2_147_483_631));
        assert_eq!(chunk_size("1M"), Ok(1 << 20));
        for wrong in ["0", "3G", "", "-1", "MAX"] {
            assert!(chunk_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(count("0"), Ok(0));
        assert_eq!(count("18446744073709551615"), Ok(u64::MAX));
        for wrong in ["", "-1", "+1", "1K", "a", "1..2", "18446744073709551616"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_of_threads() {
        assert_eq!(threads("1"), Ok(1));
        assert_eq!(threads("256"), Ok(256));
        for wrong in ["0", "257", "-1", "two"] {
            assert!(threads(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn limits() {
        let mut limits = bloscpack::Limits::default();
        for text in [
            "chunk=1K",
            "block=2K",
            "metadata=3K",
            "offsets=4T",
            "total=5G",
            "ratio=6",
        ] {
            limit(text).unwrap().apply(&mut limits);
        }
        assert_eq!(limits.chunk, 1024);
        assert_eq!(limits.block, 2048);
        assert_eq!(limits.metadata, 3072);
        assert_eq!(limits.offsets, 4 << 40);
        assert_eq!(limits.total, 5 << 30);
        assert_eq!(limits.ratio, 6);
        for wrong in [
            "chunk", "chunk=", "lump=1", "chunk=4G", "=1", "ratio=0", "ratio=1K",
        ] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn color_is_found_wherever_it_stands() {
        let choice = |args: &[&str]| color_choice(args.iter().map(OsString::from));
        assert_eq!(
            choice(&["blpk", "c", "--color", "never", "x"]),
            ColorChoice::Never
        );
        assert_eq!(
            choice(&["blpk", "--color=always", "c"]),
            ColorChoice::Always
        );
        assert_eq!(
            choice(&["blpk", "c", "--", "--color=always"]),
            ColorChoice::Auto
        );
        assert_eq!(choice(&["blpk", "c", "--color"]), ColorChoice::Auto);
    }
}
