//! Reads and writes `.npz`, NumPy arrays in a ZIP archive.

use super::error::{wrong_length, wrong_magic};
use super::format::Format;
use super::npy::{NpyFile, npy_header};
use super::options::ImportOptions;
use super::refuse::{refuse_missing, refuse_varying};
use bloscpack_array::Array;
use bloscpack_array::{BoxedSource, Progress, Source, TableSource, for_each};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{ReadAt, SharedSource, SourceReader};
use std::fs::File;
use std::io::{self, Read, Seek as _, Write};
use std::sync::Arc;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Opens a `.npz` file: the array that the options name, the only array, or a table with a column for each array.
///
/// Reads every array once to verify its checksum. Compressed arrays are unpacked into temporary files.
pub(super) fn open_npz(
    bytes: impl ReadAt + 'static,
    options: &ImportOptions,
) -> Result<BoxedSource<'static>> {
    let bytes: SharedSource = Arc::new(bytes);
    let mut archive =
        ZipArchive::new(SourceReader::new(Arc::clone(&bytes))).map_err(|error| failed(&error))?;
    let mut arrays = Vec::new();
    for number in 0..archive.len() {
        let entry = archive
            .by_index_raw(number)
            .map_err(|error| failed(&error))?;
        let name = entry.name().map_err(|error| failed(&error))?;
        let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else {
            continue;
        };
        if options.member.as_ref().is_none_or(|wanted| *wanted == name) {
            arrays.push((name, number));
        }
    }
    match (arrays.as_slice(), &options.member) {
        ([], Some(wanted)) => Err(Error::usage(format!(
            "the archive has no array {wanted:?}; it has {}",
            names(&archive)
        ))),
        ([], None) => Err(Error::usage("the archive contains no arrays")),
        ([(_, number)], _) => super::npy::open_npy(member(&mut archive, &bytes, *number)?),
        (arrays, _) => {
            let mut columns = Vec::new();
            for (name, number) in arrays {
                let array = NpyFile::open_at(member(&mut archive, &bytes, *number)?)?;
                columns.push((name.clone(), array));
            }
            Ok(Box::new(table(columns)?))
        }
    }
}

/// Writes each column as an array under its name. The array of a source that is not a table is `arr_0`, as NumPy's `savez`
/// names it.
///
/// The columns are kept in temporary files until all rows were read.
///
/// # Errors
/// Returns `Code::CannotStore` for missing values and values of varying length, `Code::Usage` for an unknown number of rows,
/// and errors of the source, of the writer and of temporary files.
pub fn write_npz(
    source: &mut dyn Source,
    to: impl Write,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let schema = source.schema().clone();
    refuse_varying(&schema, Format::Npz)?;
    let rows = source.known_rows()?;
    let files = schema.columns.iter().map(|_| tempfile::tempfile());
    let mut files = files.collect::<io::Result<Vec<File>>>()?;
    for_each(source, progress, |schema, batch| {
        refuse_missing(schema, &batch, Format::Npz)?;
        for (file, bytes) in files.iter_mut().zip(&batch.columns) {
            file.write_all(bytes)?;
        }
        Ok(())
    })?;
    let mut archive = ZipWriter::new_stream(to);
    let stored = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(true);
    for (column, mut file) in schema.columns.iter().zip(files) {
        let (name, shape) = if schema.is_table {
            let shape = [&[rows], column.row_shape.as_slice()].concat();
            (column.name.as_str(), shape)
        } else {
            ("arr_0", schema.shape(rows)?)
        };
        let begun = archive.start_file(format!("{name}.npy"), stored);
        begun.map_err(|error| failed(&error))?;
        archive.write_all(&npy_header(&column.dtype, shape)?)?;
        file.rewind()?;
        io::copy(&mut file, &mut archive)?;
    }
    let finished = archive.finish();
    finished.map_err(|error| failed(&error))?;
    Ok(())
}

/// The names of all arrays, for messages.
fn names<R: Read + io::Seek>(archive: &ZipArchive<R>) -> String {
    let names = archive.file_names().flatten();
    let names = names.filter_map(|name| Some(name.strip_suffix(".npy")?.to_owned()));
    names.collect::<Vec<_>>().join(", ")
}

/// The bytes of an array, after its checksum was verified.
fn member(
    archive: &mut ZipArchive<SourceReader<SharedSource>>,
    bytes: &SharedSource,
    number: usize,
) -> Result<Member> {
    let mut entry = archive.by_index(number).map_err(|error| failed(&error))?;
    let len = entry.size();
    let read_to = |entry: &mut dyn Read, to: &mut dyn Write| -> Result<()> {
        // An archive may claim any length; at most one byte more is unpacked.
        match io::copy(&mut entry.take(len.saturating_add(1)), to)? {
            found if found == len => Ok(()),
            found => Err(wrong_length(Format::Npz, "member", found, len)),
        }
    };
    if entry.compression() != CompressionMethod::Stored {
        let mut file = tempfile::tempfile()?;
        read_to(&mut entry, &mut file)?;
        return Ok(Member::Unpacked(file));
    }
    read_to(&mut entry, &mut io::sink())?;
    let start = entry
        .data_start()
        .ok_or_else(|| Error::bug("a member was read from nowhere"))?;
    Ok(Member::Stored {
        bytes: Arc::clone(bytes),
        start,
        len,
    })
}

/// The bytes of an array in the archive.
enum Member {
    /// In place in the archive, uncompressed.
    Stored {
        bytes: SharedSource,
        start: u64,
        len: u64,
    },
    /// In a temporary file, unpacked.
    Unpacked(File),
}

impl ReadAt for Member {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Stored { bytes, start, len } => {
                let rest = len.saturating_sub(at); // nothing after the end
                let most = usize::try_from(rest).map_or(buf.len(), |rest| rest.min(buf.len()));
                let at = start.checked_add(at).ok_or(io::ErrorKind::InvalidInput)?;
                match buf.get_mut(..most) {
                    Some([]) | None => Ok(0),
                    Some(part) => bytes.read_at(at, part),
                }
            }
            Self::Unpacked(file) => file.read_at(at, buf),
        }
    }

    fn size(&self) -> io::Result<u64> {
        match self {
            Self::Stored { len, .. } => Ok(*len),
            Self::Unpacked(file) => file.size(),
        }
    }
}

/// A table of arrays with equally many rows.
fn table(named: Vec<(String, NpyFile<Member>)>) -> Result<TableSource<'static>> {
    let lengths = named
        .iter()
        .map(|(_, array)| array.shape().first().copied());
    let rows = lengths.clone().next().flatten();
    let Some(rows) = rows.filter(|rows| lengths.clone().all(|len| len == Some(*rows))) else {
        let shapes = named
            .iter()
            .map(|(name, array)| format!("{name} {:?}", array.shape()));
        return Err(Error::usage(format!(
            "the arrays of the archive do not have the same number of rows: {}",
            shapes.collect::<Vec<_>>().join(", ")
        )));
    };
    let arrays = named.into_iter().map(|(name, array)| {
        let array: Box<dyn Array> = Box::new(array);
        (name, array)
    });
    TableSource::of(rows, arrays.collect())
}

/// The error for an archive: about its bytes, or about reading them.
fn failed(error: &ZipError) -> Error {
    match error {
        ZipError::Io(error) => Error::from(io::Error::new(error.kind(), error.to_string())),
        ZipError::InvalidArchive(_) | ZipError::FileNotFound => wrong_magic(Format::Npz),
        error => Error::usage(format!(
            "the archive is of a kind that is not read: {error}"
        )),
    }
}
