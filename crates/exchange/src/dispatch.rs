//! [`export`] and [`open`]: the functions for each [`Format`].

use super::format::Format;
use super::options::ImportOptions;
use bloscpack_array::{BoxedSource, Progress, Source};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::ReadAt;
use std::fs::File;
use std::io::Write;
use std::path::Path;

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
        #[cfg(feature = "npz")]
        Format::Npz => super::npz::write_npz(source, to, progress),
        #[cfg(not(feature = "npz"))]
        Format::Npz => Err(missing(format)),
        Format::JsonLines => super::jsonl::write_jsonl(source, to, progress),
        Format::Bytes => super::bytes::write_bytes(source, to, progress),
        #[cfg(feature = "csv")]
        Format::Csv => super::csv::write_csv(source, to, progress),
        #[cfg(feature = "csv")]
        Format::Tsv => super::csv::write_tsv(source, to, progress),
        #[cfg(not(feature = "csv"))]
        Format::Csv | Format::Tsv => Err(missing(format)),
        #[cfg(feature = "arrow-write")]
        Format::Arrow => super::arrow::write_arrow(source, to, progress),
        #[cfg(feature = "arrow-write")]
        Format::ArrowStream => super::arrow::write_arrow_stream(source, to, progress),
        #[cfg(feature = "arrow")]
        Format::Parquet => super::arrow::write_parquet(source, to, progress),
        #[cfg(not(feature = "arrow-write"))]
        Format::Arrow | Format::ArrowStream => Err(missing(format)),
        #[cfg(not(feature = "arrow"))]
        Format::Parquet => Err(missing(format)),
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
            "{}: unknown file extension; known are .npy, .npz, .csv, .tsv, .jsonl, .arrow and .parquet",
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
    not(any(feature = "csv", feature = "arrow", feature = "npz")),
    allow(unused_variables, reason = "`.npy` leaves nothing to say")
)]
pub fn open_at(
    bytes: impl ReadAt + Send + Sync + 'static,
    format: Format,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    match format {
        Format::Npy => super::npy::open_npy(bytes),
        #[cfg(feature = "npz")]
        Format::Npz => super::npz::open_npz(bytes, options),
        #[cfg(not(feature = "npz"))]
        Format::Npz => Err(missing(format)),
        #[cfg(feature = "csv")]
        Format::Csv => super::csv::open_csv(bytes, options),
        #[cfg(feature = "csv")]
        Format::Tsv => super::csv::open_tsv(bytes, options),
        #[cfg(feature = "csv")]
        Format::JsonLines => super::csv::open_json_lines(bytes, options),
        #[cfg(not(feature = "csv"))]
        Format::Csv | Format::Tsv | Format::JsonLines => Err(missing(format)),
        #[cfg(feature = "arrow")]
        Format::Arrow => super::arrow::open_arrow(bytes, options),
        #[cfg(feature = "arrow")]
        Format::Parquet => super::arrow::open_parquet(bytes, options),
        #[cfg(not(feature = "arrow"))]
        Format::Arrow | Format::Parquet => Err(missing(format)),
        Format::ArrowStream | Format::Bytes => Err(Error::new(
            Code::Unsupported,
            format!("{format} can be written but not read"),
        )),
    }
}

/// The error of a build that lacks the format.
#[cfg(not(all(feature = "arrow", feature = "csv", feature = "npz")))]
fn missing(format: Format) -> Error {
    let feature = match format {
        Format::Csv | Format::Tsv | Format::JsonLines => "csv",
        Format::Npz => "npz",
        _ => "arrow",
    };
    Error::new(
        Code::NotBuilt,
        format!(
            "{format}: this build lacks the feature {feature}: build it with --features {feature}"
        ),
    )
}
