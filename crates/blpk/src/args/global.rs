//! The options of every subcommand.

use bloscpack::Limits;
use clap::{Args, ValueEnum};

use super::values::number;
use bloscpack_open::internal::size;

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

    /// Report what is being done
    #[arg(short, long, global = true, conflicts_with_all = ["debug", "quiet"], help_heading = GLOBAL)]
    pub verbose: bool,

    /// Report what is being done, in detail
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

    /// Limits on the input, with commas between them: chunk=SIZE, block=SIZE, metadata=SIZE, offsets=SIZE, total=SIZE, ratio=N
    ///
    /// Input that exceeds a limit is refused with status 5. The first four protect memory from malicious files: the
    /// size of a chunk, of a block, of the metadata, and of the table of offsets. The other two protect disks: the size
    /// of all uncompressed data, and the ratio of its size to that of the compressed data. They are unlimited by
    /// default.
    #[arg(long = "limit", global = true, value_name = "LIMITS", value_delimiter = ',', value_parser = limit, help_heading = GLOBAL)]
    pub limits: Vec<Limit>,

    /// An option of the object store or web server of a URL, such as region=eu-central-1 or endpoint=http://localhost:9000;
    /// may be repeated
    ///
    /// Credentials come from the usual variables of the environment, such as AWS_ACCESS_KEY_ID, where they are not options.
    /// An option on the command line can be seen by all users of the machine.
    #[cfg(feature = "remote")]
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = crate::url::option, help_heading = GLOBAL)]
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
    /// Bytes of the table of offsets.
    Offsets(u64),
    /// Bytes of all uncompressed data.
    Total(u64),
    /// Uncompressed bytes per compressed byte.
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

#[cfg(test)]
mod tests {
    use super::{limit, threads};

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
}
