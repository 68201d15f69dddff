//! [`Format`]: the formats of other programs.

use std::fmt;
use std::path::Path;

/// A format of other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// A NumPy array, `.npy`.
    Npy,
    /// NumPy arrays in a ZIP archive, `.npz`. Several arrays are the columns of a table.
    Npz,
    /// Values separated by commas, `.csv`.
    Csv,
    /// Values separated by tabs, `.tsv` and `.tab`.
    Tsv,
    /// A JSON value per line, `.jsonl` and `.ndjson`.
    JsonLines,
    /// An Arrow file, `.arrow`, `.feather` and `.ipc`.
    Arrow,
    /// An Arrow stream, `.arrows`. It is only written.
    ArrowStream,
    /// A Parquet file, `.parquet` and `.pq`.
    Parquet,
    /// The elements of one column in C order, without a header, `.bin` and `.raw`. It is only written.
    Bytes,
}

const ENDINGS: [(&str, Format); 15] = [
    ("npy", Format::Npy),
    ("npz", Format::Npz),
    ("csv", Format::Csv),
    ("tsv", Format::Tsv),
    ("tab", Format::Tsv),
    ("jsonl", Format::JsonLines),
    ("ndjson", Format::JsonLines),
    ("arrow", Format::Arrow),
    ("feather", Format::Arrow),
    ("ipc", Format::Arrow),
    ("arrows", Format::ArrowStream),
    ("parquet", Format::Parquet),
    ("pq", Format::Parquet),
    ("bin", Format::Bytes),
    ("raw", Format::Bytes),
];

impl Format {
    /// The format for the extension of a name, in any case; `None` for an unknown extension.
    ///
    /// ```
    /// use bloscpack_exchange::Format;
    /// assert_eq!(Format::of_path("prices.PARQUET"), Some(Format::Parquet));
    /// assert_eq!(Format::of_path("prices"), None);
    /// ```
    #[must_use]
    pub fn of_path(path: impl AsRef<Path>) -> Option<Self> {
        let ending = path.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        let mut known = ENDINGS.iter();
        let (_, format) = known.find(|(known, _)| *known == ending)?;
        Some(*format)
    }

    /// The usual extension of its files, such as `csv`.
    #[must_use]
    pub fn ending(self) -> &'static str {
        let mut known = ENDINGS.iter();
        known
            .find(|(_, format)| *format == self)
            .map_or("", |(ending, _)| ending)
    }

    /// All formats that are written.
    pub const WRITTEN: [Self; 9] = [
        Self::Npy,
        Self::Npz,
        Self::Csv,
        Self::Tsv,
        Self::JsonLines,
        Self::Arrow,
        Self::ArrowStream,
        Self::Parquet,
        Self::Bytes,
    ];

    /// The name in reports and options, such as `csv`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::JsonLines => "jsonl",
            Self::Arrow => "arrow",
            Self::ArrowStream => "arrows",
            Self::Parquet => "parquet",
            Self::Bytes => "bin",
        }
    }

    /// Whether this build has everything for the format. False for JSON lines without the feature `csv`, and for Arrow with
    /// only `arrow-write`, although such a build writes them.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Npy | Self::Bytes => true,
            Self::Npz => cfg!(feature = "npz"),
            Self::Csv | Self::Tsv | Self::JsonLines => cfg!(feature = "csv"),
            Self::Arrow | Self::ArrowStream | Self::Parquet => cfg!(feature = "arrow"),
        }
    }

    /// Whether the format can store missing values, and values of varying length.
    #[must_use]
    pub fn has_missing(self) -> bool {
        !matches!(self, Self::Npy | Self::Npz | Self::Bytes)
    }

    /// Whether the format is read. All formats are written.
    #[must_use]
    pub fn is_read(self) -> bool {
        !matches!(self, Self::ArrowStream | Self::Bytes)
    }
}

/// In the words of an error message: `Parquet`.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Npy => ".npy",
            Self::Npz => ".npz",
            Self::Csv => "CSV",
            Self::Tsv => "TSV",
            Self::JsonLines => "JSON lines",
            Self::Arrow => "Arrow",
            Self::ArrowStream => "a stream of Arrow",
            Self::Parquet => "Parquet",
            Self::Bytes => "bytes",
        })
    }
}
