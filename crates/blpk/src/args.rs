//! Options that several subcommands share, and how their values are parsed.
//!
//! The options of a single subcommand are in its own file under `command/`.

use std::ffi::OsStr;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use bloscpack::{
    Checksum, Compressor, EncoderBuilder, Filter, FormatVersion, Limits,
    blosc::{Aim, MAX_NBYTES},
    dtype::DType,
    edit::EditorBuilder,
};
use bloscpack_convert::Goal;
use bloscpack_open::{Bounds, Slice, exchange::Format, internal::size};
use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser},
};

pub(crate) use bloscpack_convert::with_given;

/// The heading of the options for chunks.
pub const BLOSC: &str = "Blosc settings";

/// The highest number of threads, as in the Python tool.
pub const MAX_THREADS: usize = 256;

const GLOBAL: &str = "Global options";

/// Options that may come before or after the subcommand.
#[derive(Args, Debug)]
pub struct Global {
    /// Overwrite existing files; allow binary data on a terminal
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub force: bool,

    /// Number of threads, 1 to 256 [default: all cores]
    #[arg(short, long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = threads, help_heading = GLOBAL)]
    pub nthreads: Option<usize>,

    /// Report what was done, with sizes and times
    #[arg(short, long, global = true, conflicts_with_all = ["debug", "quiet"], help_heading = GLOBAL)]
    pub verbose: bool,

    /// Like --verbose, with more detail
    #[arg(short, long, global = true, conflicts_with = "quiet", help_heading = GLOBAL)]
    pub debug: bool,

    /// Print no warnings and no progress bar
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub quiet: bool,

    /// Show a progress bar on standard error: auto (for long work on a terminal), always, never
    #[arg(long, global = true, value_enum, hide_possible_values = true, value_name = "WHEN", default_value_t = When::Auto, help_heading = GLOBAL)]
    pub progress: When,

    /// Colour the output: auto (on a terminal), always, never
    #[arg(long, global = true, value_enum, hide_possible_values = true, value_name = "WHEN", default_value_t = When::Auto, help_heading = GLOBAL)]
    pub color: When,

    /// Limits on the input, separated by commas: chunk=SIZE, block=SIZE, metadata=SIZE, offsets=SIZE, total=SIZE, ratio=N
    ///
    /// Input that exceeds a limit is refused with status 5. The first four limits protect memory from malicious files:
    /// the size of a chunk, a block, the metadata and the offset table. The other two protect disks and are unlimited
    /// by default: the size of all uncompressed data, and its ratio to the size of the compressed data.
    #[arg(long = "limit", global = true, value_name = "LIMITS", value_delimiter = ',', value_parser = limit, help_heading = GLOBAL)]
    pub limits: Vec<Limit>,

    /// Option for the object store or web server of a URL, such as region=eu-central-1 or endpoint=http://localhost:9000;
    /// may be repeated
    ///
    /// Credentials come from the usual environment variables, such as AWS_ACCESS_KEY_ID, unless given as options. All
    /// users of the machine can see options on the command line.
    #[cfg(feature = "remote")]
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = crate::text::store_option, help_heading = GLOBAL)]
    pub store: Vec<(String, String)>,
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

/// One limit of `--limit`.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// Bytes of a chunk.
    Chunk(u32),
    /// Bytes of a block.
    Block(u32),
    /// Bytes of the metadata.
    Metadata(u32),
    /// Bytes of the offset table.
    Offsets(u64),
    /// Bytes of all uncompressed data.
    Total(u64),
    /// Uncompressed bytes per compressed byte.
    Ratio(u32),
}

impl Limit {
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

fn threads(text: &str) -> Result<usize, String> {
    number(text, 1..=MAX_THREADS)
}

fn limit(text: &str) -> Result<Limit, String> {
    let known =
        "expected chunk=SIZE, block=SIZE, metadata=SIZE, offsets=SIZE, total=SIZE or ratio=N";
    let (key, value) = text.split_once('=').ok_or(known)?;
    if key == "ratio" {
        let ratio = number(value, 1..=u32::MAX);
        return ratio
            .map(Limit::Ratio)
            .map_err(|error| format!("ratio {error}"));
    }
    let bytes = size::parse(value)?;
    let narrow = || {
        let most = u32::MAX;
        u32::try_from(bytes).map_err(|_| format!("{key} must be at most {most} bytes"))
    };
    match key {
        "chunk" => narrow().map(Limit::Chunk),
        "block" => narrow().map(Limit::Block),
        "metadata" => narrow().map(Limit::Metadata),
        "offsets" => Ok(Limit::Offsets(bytes)),
        "total" => Ok(Limit::Total(bytes)),
        _ => Err(known.into()),
    }
}

/// The compressor and its level.
#[derive(Args, Clone, Debug)]
pub struct CodecArgs {
    /// Compressor
    #[arg(help_heading = BLOSC, short, long, value_name = "CODEC", ignore_case = true, value_parser = codec())]
    pub codec: Option<Compressor>,

    /// Compression level, 0 (none) to 9 [default: depends on the codec]
    #[arg(help_heading = BLOSC, short, long, visible_alias = "clevel", value_name = "0..9", allow_negative_numbers = true,
          value_parser = level)]
    level: Option<u8>,

    #[command(flatten)]
    flags: LevelFlags,
}

impl CodecArgs {
    /// The level, from `--level` or a flag such as `-9`.
    pub fn level(&self) -> Option<u8> {
        self.level.or(self.flags.0)
    }
}

/// The filter before the compressor.
#[derive(Args, Clone, Debug)]
pub struct FilterArgs {
    /// Do not shuffle; same as --shuffle none
    #[arg(help_heading = BLOSC, short = 's', long, conflicts_with = "shuffle")]
    no_shuffle: bool,

    /// Filter before compression
    #[arg(help_heading = BLOSC, long, value_name = "FILTER", value_parser = filter())]
    shuffle: Option<Filter>,
}

impl FilterArgs {
    /// The filter, from `--shuffle` or `--no-shuffle`.
    pub fn filter(&self) -> Option<Filter> {
        self.shuffle.or(self.no_shuffle.then_some(Filter::None))
    }
}

/// All settings of a chunk.
#[derive(Args, Debug)]
pub struct ChunkArgs {
    /// Element size in bytes, 1 to 255
    #[arg(help_heading = BLOSC, short, long, value_name = "N", allow_negative_numbers = true, value_parser = typesize)]
    typesize: Option<u8>,

    #[command(flatten)]
    codec: CodecArgs,

    #[command(flatten)]
    filter: FilterArgs,
}

/// Sets the given options on a builder.
macro_rules! applied {
    ($args:expr, $builder:expr) => {
        with_given!($builder,
            typesize: $args.typesize,
            level: $args.codec.level(),
            filter: $args.filter.filter(),
            compressor: $args.codec.codec,
        )
    };
}

impl ChunkArgs {
    /// Whether any of these options was given.
    pub fn is_any_given(&self) -> bool {
        let codec = self.codec.codec.is_some() || self.codec.level().is_some();
        codec || self.typesize.is_some() || self.filter.filter().is_some()
    }

    /// Whether the data is stored without compression.
    pub fn is_stored(&self) -> bool {
        self.codec.level() == Some(0)
    }

    /// Sets the given options on an encoder.
    pub fn encoder(&self, builder: EncoderBuilder) -> EncoderBuilder {
        applied!(self, builder)
    }

    /// Sets the given options on an editor.
    pub fn editor(&self, builder: EditorBuilder) -> EditorBuilder {
        applied!(self, builder)
    }
}

/// The level from `-1` (`--fast`) to `-9` (`--best`). The last flag wins.
#[derive(Clone, Copy, Debug)]
pub struct LevelFlags(pub Option<u8>);

/// The clap ids of these flags, in order.
const IDS: [&str; 9] = [
    "level_1", "level_2", "level_3", "level_4", "level_5", "level_6", "level_7", "level_8",
    "level_9",
];

impl Args for LevelFlags {
    fn augment_args(command: Command) -> Command {
        IDS.into_iter()
            .zip('1'..)
            .fold(command, |command, (id, digit)| {
                let flag = Arg::new(id).short(digit).action(ArgAction::SetTrue);
                let flag = match digit {
                    '1' => flag.long("fast"),
                    '9' => flag.long("best"),
                    _ => flag,
                };
                command.arg(
                    flag.hide(true)
                        .conflicts_with("level")
                        .overrides_with_all(IDS),
                )
            })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LevelFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = IDS.into_iter().zip(1..);
        let given = given.find(|(id, _)| matches.get_flag(id));
        Ok(Self(given.map(|(_, level)| level)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The compressors in this build.
pub static CODECS: LazyLock<Vec<Compressor>> = LazyLock::new(|| {
    let all = Compressor::ALL.into_iter();
    all.filter(|codec| codec.is_available()).collect()
});

/// Parses `--codec`.
pub fn codec() -> impl TypedValueParser<Value = Compressor> {
    named(&CODECS, Compressor::name)
}

/// Parses `--checksum`.
pub fn checksum() -> impl TypedValueParser<Value = Checksum> {
    named(&Checksum::ALL, Checksum::name)
}

/// Parses `--shuffle`.
pub fn filter() -> impl TypedValueParser<Value = Filter> {
    named(&[Filter::None, Filter::Byte, Filter::Bit], Filter::name)
}

/// Parses `--auto` of `info`.
pub fn aim() -> impl TypedValueParser<Value = Aim> {
    named(&Aim::ALL, Aim::name)
}

/// How missing settings are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auto {
    /// From a sample of the data.
    Aim(Aim),
    /// The defaults.
    Off,
}

impl Auto {
    /// All values, in the order of the help.
    const ALL: [Self; 4] = [
        Self::Aim(Aim::Speed),
        Self::Aim(Aim::Balance),
        Self::Aim(Aim::Size),
        Self::Off,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Aim(aim) => aim.name(),
            Self::Off => "off",
        }
    }
}

/// Parses `--auto` of `compress`.
pub fn auto() -> impl TypedValueParser<Value = Auto> {
    named(&Auto::ALL, Auto::name)
}

/// Parses `--layout` of `import` and `convert`.
pub fn layouts() -> impl TypedValueParser<Value = Goal> {
    goals_of(Goal::all().filter(|goal| !goal.is_written()))
}

/// Parses `--to` of `convert`.
pub fn goals() -> impl TypedValueParser<Value = Goal> {
    goals_of(Goal::all())
}

/// Parses the name of one of these goals. `zarr` without a version is the newest version.
fn goals_of(goals: impl Iterator<Item = Goal>) -> impl TypedValueParser<Value = Goal> {
    let newest = Goal::named("zarr");
    let names = goals.map(|goal| {
        let name = PossibleValue::new(goal.name());
        if Some(goal) == newest {
            name.alias("zarr")
        } else {
            name
        }
    });
    PossibleValuesParser::new(names.collect::<Vec<_>>())
        .try_map(|text: String| Goal::named(&text).ok_or("unknown name"))
}

/// Parses one of `all` by its name.
fn named<T>(
    all: &'static [T],
    name: impl Fn(T) -> &'static str + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let names = all.iter().map(|&one| PossibleValue::new(name(one)));
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(move |text: String| {
        let found = all.iter().copied();
        let mut found = found.filter(|&one| name(one).eq_ignore_ascii_case(&text));
        found.next().ok_or("unknown name")
    })
}

/// Parses `--from`.
pub fn format_read() -> impl TypedValueParser<Value = Format> {
    Formats(&["npy", "npz", "csv", "tsv", "jsonl", "arrow", "parquet"])
}

/// Parses `--to`.
pub fn format_written() -> impl TypedValueParser<Value = Format> {
    Formats(&[
        "npy", "npz", "csv", "tsv", "jsonl", "arrow", "arrows", "parquet", "bin",
    ])
}

/// Parses a format: any extension of a file name, with or without its dot. The help lists these names.
#[derive(Clone)]
struct Formats(&'static [&'static str]);

impl TypedValueParser for Formats {
    type Value = Format;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        text: &OsStr,
    ) -> Result<Format, clap::Error> {
        let names = self.0;
        let format = move |text: String| {
            let path = format!("x.{}", text.trim_start_matches('.'));
            Format::of_path(path).ok_or_else(|| format!("expected one of {}", names.join(", ")))
        };
        let parser = StringValueParser::new().try_map(format);
        parser.parse_ref(command, arg, text)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(PossibleValue::new)))
    }
}

/// Parses `--dtype`.
pub fn dtype(text: &str) -> Result<DType, String> {
    DType::parse(text).map_err(|error| error.to_string())
}

/// Parses `--format`.
pub fn header_format(text: &str) -> Result<FormatVersion, String> {
    match number(text, 1..=3)? {
        1 => Ok(FormatVersion::V1),
        2 => Ok(FormatVersion::V2),
        _ => Ok(FormatVersion::V3),
    }
}

/// Parses `--level`.
pub fn level(text: &str) -> Result<u8, String> {
    number(text, 0..=9)
}

/// Parses `--typesize`.
pub fn typesize(text: &str) -> Result<u8, String> {
    number(text, 1..=u8::MAX).map_err(|_| "expected a number of bytes, 1 to 255".to_owned())
}

/// Parses a number within these bounds.
pub fn number<T: Display + FromStr + PartialOrd>(
    text: &str,
    bounds: RangeInclusive<T>,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| bounds.contains(number));
    number.ok_or_else(|| format!("must be {} to {}", bounds.start(), bounds.end()))
}

/// Parses a count.
pub fn count(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(count) if digits => Ok(count),
        _ if digits => Err(format!("must be at most {}", u64::MAX)),
        _ => Err("expected a whole number such as 0 or 12".into()),
    }
}

/// Parses a position in a list.
pub fn index(text: &str) -> Result<usize, String> {
    usize::try_from(count(text)?).map_err(|error| error.to_string())
}

/// Parses `A..B` with a parser for the bounds. Either bound may be missing.
pub fn range(
    text: &str,
    bound: impl Fn(&str) -> Result<u64, String>,
) -> Result<(u64, Option<u64>), String> {
    let (start, end) = text
        .split_once("..")
        .ok_or("expected a range: A..B, A.. or ..B")?;
    if end.starts_with('.') {
        return Err("a range has two dots".into());
    }
    let bound = |text: &str| (!text.is_empty()).then(|| bound(text)).transpose();
    let (start, end) = (bound(start)?.unwrap_or(0), bound(end)?);
    if end.is_some_and(|end| end < start) {
        return Err("a range must not end before it starts".into());
    }
    Ok((start, end))
}

/// Parses `--rows`. A number below 0 counts from the end.
pub fn rows(text: &str) -> Result<Bounds, String> {
    let (start, end) = text
        .split_once("..")
        .filter(|(_, end)| !end.starts_with('.'))
        .ok_or("expected a range: A..B, A.. or ..B")?;
    let number = |text: &str| match text.strip_prefix('-') {
        Some(back) => count(back).map(|number| (Some(number), true)),
        None if text.is_empty() => Ok((None, false)),
        None => count(text).map(|number| (Some(number), false)),
    };
    let ((start, is_start_back), (end, is_end_back)) = (number(start)?, number(end)?);
    let start = start.unwrap_or(0);
    let is_reversed = match (is_start_back, is_end_back) {
        (false, false) => end.is_some_and(|end| end < start),
        (true, true) => end.is_some_and(|end| end > start),
        _ => false,
    };
    if is_reversed {
        return Err("a range must not end before it starts".into());
    }
    Ok(Bounds {
        start,
        end,
        from_end: (is_start_back, is_end_back),
    })
}

/// Parses `--range`.
pub fn bytes(text: &str) -> Result<Bounds, String> {
    let (start, end) = range(text, size::parse)?;
    Ok(Bounds {
        start,
        end,
        ..Bounds::default()
    })
}

/// Parses `--slice`.
pub fn slice(text: &str) -> Result<Slice, String> {
    text.parse()
}

/// Parses `--chunk-size`.
pub fn chunk_size(text: &str) -> Result<u32, String> {
    if text == "max" {
        return Ok(MAX_NBYTES);
    }
    let bytes = size::parse_rounded(text).map_err(|error| format!("{error} (or 'max')"))?;
    let bytes = u32::try_from(bytes).ok();
    let bytes = bytes.filter(|bytes| (1..=MAX_NBYTES).contains(bytes));
    bytes.ok_or_else(|| format!("must be 1 to {MAX_NBYTES} bytes ('max')"))
}

/// The most data, or the longest time, that output is held back.
#[derive(Clone, Copy, Debug)]
pub enum FlushEvery {
    Bytes(u64),
    Time(Duration),
}

/// Parses a time in `ms` or `s`, or a number of bytes.
pub fn flush_every(text: &str) -> Result<FlushEvery, String> {
    time_or_bytes(
        text,
        &[("ms", 1), ("s", 1000)],
        "a time such as 200ms or 2s",
    )
}

/// Parses a time in `s`, `h` or `d`, or a number of bytes.
pub fn rotate(text: &str) -> Result<FlushEvery, String> {
    let times = [("s", 1000), ("h", 3_600_000), ("d", 86_400_000)];
    time_or_bytes(text, &times, "a time such as 12h or 7d")
}

/// Parses a time in these units, each with its milliseconds, or a number of bytes.
fn time_or_bytes(text: &str, times: &[(&str, u64)], example: &str) -> Result<FlushEvery, String> {
    let time = times.iter().find_map(|(unit, factor)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(*factor)
    });
    let every = match time {
        Some(time) => FlushEvery::Time(Duration::from_millis(time)),
        None => size::parse(text)
            .map(FlushEvery::Bytes)
            .map_err(|_| format!("'{text}' is neither {example} nor a size such as 64K"))?,
    };
    match every {
        FlushEvery::Bytes(0) | FlushEvery::Time(Duration::ZERO) => {
            Err("must be more than 0".to_owned())
        }
        every => Ok(every),
    }
}

#[cfg(test)]
mod tests {
    use super::Bounds;
    use super::bytes;
    use super::chunk_size;
    use super::count;
    use super::limit;
    use super::number;
    use super::range;
    use super::rows;
    use super::threads;

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
    fn chunk_sizes() {
        assert_eq!(chunk_size("max"), Ok(2_147_483_631));
        assert_eq!(chunk_size("1M"), Ok(1 << 20));
        for wrong in ["0", "3G", "", "-1", "MAX"] {
            assert!(chunk_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_have_bounds() {
        assert_eq!(number("9", 0..=9), Ok(9));
        for wrong in ["10", "-1", "", "x"] {
            let told = number::<u8>(wrong, 0..=9).unwrap_err();
            assert_eq!(told, "must be 0 to 9", "{wrong}");
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
    fn ranges_of_bytes_have_units() {
        let range = |start, end| {
            Ok(Bounds {
                start,
                end,
                ..Bounds::default()
            })
        };
        assert_eq!(bytes("1K..1M"), range(1024, Some(1 << 20)));
        assert_eq!(bytes(".."), range(0, None));
        for wrong in ["", "5", "7..3", "0...5", "-1..2"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rows_count_from_either_end() {
        let range = |start, end, from_end| {
            Ok(Bounds {
                start,
                end,
                from_end,
            })
        };
        assert_eq!(rows("-3.."), range(3, None, (true, false)));
        assert_eq!(rows("2..-1"), range(2, Some(1), (false, true)));
        assert_eq!(rows("-5..-2"), range(5, Some(2), (true, true)));
        for wrong in ["", "5", "7..3", "-2..-5", "0...5", "--1..", "a.."] {
            assert!(rows(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ranges() {
        assert_eq!(range("3..7", count), Ok((3, Some(7))));
        assert_eq!(range("3..", count), Ok((3, None)));
        assert_eq!(range("..7", count), Ok((0, Some(7))));
        assert_eq!(range("..", count), Ok((0, None)));
        assert_eq!(range("5..5", count), Ok((5, Some(5))));
        for wrong in ["", "5", "7..3", "a..b", "1..=2", "1...2", "-1..2", "1K..2K"] {
            assert!(range(wrong, count).is_err(), "{wrong}");
        }
    }
}
