//! [`export`] and [`open`]: call the functions of each [`Format`].

use super::format::Format;
use super::options::ImportOptions;
use bloscpack_array::{BoxedSource, Progress, Source};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::ReadAt;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Writes a source in a format. `progress` receives the number of finished rows after each batch.
///
/// ```
/// use bloscpack_array::Flat;
/// use bloscpack_dtype::DType;
/// use bloscpack_exchange::{ArraySource, Format, export};
///
/// let array = Flat::new(vec![1, 2, 3], DType::U8, &[3], false)?;
/// let mut lines = Vec::new();
/// export(&mut ArraySource::new(&array)?, Format::JsonLines, &mut lines, &mut |_| ())?;
/// assert_eq!(lines, b"1\n2\n3\n");
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns [`Code::NotBuilt`] for a format that this build lacks, [`Code::Unsupported`] or [`Code::CannotStore`] for columns
/// that the format cannot store, and errors of the source and of the writer. A part of the output may have been written.
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

/// Opens a file of another program, by the extension of its name.
///
/// # Errors
/// Returns errors of the file system, `Code::Usage` for an unknown extension, and the errors of [`open_at`].
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

/// Opens bytes in the format of another program. They must not change while they are read.
///
/// Text is scanned once for the types of its columns, unless `options` gives all of them. Arrow and Parquet are scanned for the
/// longest strings, and each array in a `.npz` for its checksum.
///
/// # Errors
/// Returns [`Code::NotBuilt`] for a format that this build lacks, [`Code::Unsupported`] for one that is only written,
/// [`Code::UnknownFormat`] for bytes of another format, any damage that opening finds, I/O errors, and `Code::Usage` for
/// options that do not suit the file.
#[cfg_attr(
    not(any(feature = "csv", feature = "arrow", feature = "npz")),
    allow(unused_variables, reason = "`.npy` leaves nothing to say")
)]
pub fn open_at(
    bytes: impl ReadAt + 'static,
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

/// The error for a format that this build lacks.
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
