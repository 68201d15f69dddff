//! [`Format`]: the formats of other programs, by name.

use super::options::ImportOptions;
use super::source::{BoxedSource, Progress, Source};
use blosc1::Fault;
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use std::fmt;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// A format of other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// An array of NumPy, `.npy`.
    Npy,
    /// Values separated by commas, `.csv`.
    Csv,
    /// A value of JSON on each line, `.jsonl` and `.ndjson`. It is only written.
    JsonLines,
    /// A file of Arrow's, `.arrow`, `.feather` and `.ipc`.
    Arrow,
    /// A stream of Arrow's, `.arrows`. It is only written.
    ArrowStream,
    /// A file of Parquet's, `.parquet`.
    Parquet,
    /// Nothing but the elements of one column, in C order: `.bin` and `.raw`. It is only written.
    Bytes,
}

const ENDINGS: [(&str, Format); 12] = [
    ("npy", Format::Npy),
    ("csv", Format::Csv),
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
    /// The format for the extension of a name.
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

    /// Whether this build of the crate has what the format takes.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Npy | Self::JsonLines | Self::Bytes => true,
            Self::Csv => cfg!(feature = "csv"),
            Self::Arrow | Self::ArrowStream | Self::Parquet => cfg!(feature = "arrow"),
        }
    }

    /// Whether it is read; all are written.
    #[must_use]
    pub fn is_read(self) -> bool {
        match self {
            Self::Npy | Self::Csv | Self::Arrow | Self::Parquet => true,
            Self::JsonLines | Self::ArrowStream | Self::Bytes => false,
        }
    }

    /// The message for a build that lacks it.
    #[cfg(not(all(feature = "arrow", feature = "csv")))]
    fn missing(self) -> Error {
        let feature = if self == Self::Csv { "csv" } else { "arrow" };
        let what = format!(
            "{self}: this build lacks the feature {feature}: cargo install --locked --path crates/blpk --features {feature}"
        );
        crate::error::exchange(Fault::Unsupported, what)
    }
}

/// As in an error: `Parquet`.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Npy => ".npy",
            Self::Csv => "CSV",
            Self::JsonLines => "JSON lines",
            Self::Arrow => "Arrow",
            Self::ArrowStream => "a stream of Arrow",
            Self::Parquet => "Parquet",
            Self::Bytes => "bytes",
        })
    }
}

/// Writes a source as this format; `progress` receives the number of rows done so far.
///
/// # Errors
/// Returns `Unsupported` if this build lacks the format or the format cannot store the source's data, and errors of the source
/// and of the writer.
pub fn export(
    source: &mut dyn Source,
    format: Format,
    to: impl Write + Send,
    progress: &mut Progress<'_>,
) -> Result<()> {
    match format {
        Format::Npy => super::npy::write_npy(source, to, progress),
        Format::JsonLines => super::jsonl::write_jsonl(source, to, progress),
        Format::Bytes => super::bytes::write_bytes(source, to, progress),
        #[cfg(feature = "csv")]
        Format::Csv => super::csv::write_csv(source, to, progress),
        #[cfg(not(feature = "csv"))]
        Format::Csv => Err(format.missing()),
        #[cfg(feature = "arrow")]
        Format::Arrow => super::arrow::write_arrow(source, to, progress),
        #[cfg(feature = "arrow")]
        Format::ArrowStream => super::arrow::write_arrow_stream(source, to, progress),
        #[cfg(feature = "arrow")]
        Format::Parquet => super::arrow::write_parquet(source, to, progress),
        #[cfg(not(feature = "arrow"))]
        Format::Arrow | Format::ArrowStream | Format::Parquet => Err(format.missing()),
    }
}

/// Opens a file of another format, chosen by the extension of its name.
///
/// # Errors
/// Returns errors of the file system; wrong usage for an unknown extension, and the errors of [`open_at`].
pub fn open(path: impl AsRef<Path>, options: &ImportOptions) -> Result<BoxedSource<'static>> {
    let path = path.as_ref();
    let Some(format) = Format::of_path(path) else {
        return Err(Error::usage(format!(
            "{}: unknown file extension; known are .npy, .csv, .arrow and .parquet",
            path.display()
        )));
    };
    open_at(File::open(path)?, format, options)
}

/// Opens a source of bytes that is of another format. It must not change while it is read.
///
/// # Errors
/// Returns `Unsupported` if this build lacks the format, cannot read it, or the bytes are not of the format; any damage found;
/// errors of the source of bytes; wrong usage for options that do not apply.
#[cfg_attr(
    not(any(feature = "csv", feature = "arrow")),
    allow(unused_variables, reason = "`.npy` leaves nothing to say")
)]
pub fn open_at(
    bytes: impl ReadAt + Send + Sync + 'static,
    format: Format,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    match format {
        Format::Npy => super::npy::open_npy(bytes),
        #[cfg(feature = "csv")]
        Format::Csv => super::csv::open_csv(bytes, options),
        #[cfg(not(feature = "csv"))]
        Format::Csv => Err(format.missing()),
        #[cfg(feature = "arrow")]
        Format::Arrow => super::arrow::open_arrow(bytes, options),
        #[cfg(feature = "arrow")]
        Format::Parquet => super::arrow::open_parquet(bytes, options),
        #[cfg(not(feature = "arrow"))]
        Format::Arrow | Format::Parquet => Err(format.missing()),
        Format::JsonLines | Format::ArrowStream | Format::Bytes => {
            let what = format!("{format} can be written but not read");
            Err(crate::error::exchange(Fault::Unsupported, what))
        }
    }
}
