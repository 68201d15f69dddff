//! The container of files of other programs: NumPy, CSV, JSON lines, Arrow and Parquet.

use crate::exchange::{BoxedSource, Format, ImportOptions, NpyFile, PartSource, Schema, open_at};
use crate::selection::refuse_column;
use crate::summary::Summary;
use crate::text::{plain, pretty, shape};
use crate::warnings::Warnings;
use crate::{Container, Kind, Line, Options, Outline, Part, Report, Selection, error, watch};
use bloscpack::Watch;
use bloscpack_array::{Array, BATCH, UserAttributes};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{ReadAt as _, SharedSource};
use serde_json::json;
use std::sync::{Mutex, PoisonError};

/// A file of another program.
struct File {
    format: Format,
    bytes: SharedSource,
    /// What the file itself does not say, such as the types of text.
    reading: ImportOptions,
    schema: Schema,
    rows: u64,
    /// The source that was opened to find the schema; the first reading of rows takes it.
    unread: Mutex<Option<BoxedSource<'static>>>,
    /// The array of a `.npy` file, any box of which is read.
    array: Option<NpyFile<SharedSource>>,
    warnings: Warnings,
    watch: Watch,
}

/// Opens a file of another program: NumPy, CSV, JSON lines, Arrow or Parquet.
///
/// Text formats do not store types: `reading` gives them, otherwise the file is read once to find them.
///
/// # Errors
/// Returns the errors of [`open_at`](crate::exchange::open_at), and `Code::Usage` if the options have a dtype, which is only
/// for frames.
pub fn open_file(
    bytes: SharedSource,
    format: Format,
    reading: &ImportOptions,
    options: &Options,
) -> Result<Box<dyn Container>> {
    if options.dtype.is_some() {
        return Err(error::has_dtype());
    }
    let source = open_at(bytes.clone(), format, reading)?;
    Ok(Box::new(File {
        format,
        reading: reading.clone(),
        schema: source.schema().clone(),
        rows: source.known_rows()?,
        array: match format {
            Format::Npy => Some(NpyFile::open_at(bytes.clone())?),
            _ => None,
        },
        warnings: source.warnings().iter().collect(),
        unread: Mutex::new(Some(source)),
        watch: options.watch.clone(),
        bytes,
    }))
}

impl File {
    /// A source at the first row.
    fn source(&self) -> Result<BoxedSource<'static>> {
        let unread = self.unread.lock();
        let unread = unread.unwrap_or_else(PoisonError::into_inner).take();
        match unread {
            Some(source) => Ok(source),
            None => open_at(self.bytes.clone(), self.format, &self.reading),
        }
    }

    /// The names of the columns; `None` if the file is an array.
    fn names(&self) -> Option<Vec<String>> {
        let names = self.schema.columns.iter().map(|column| column.name.clone());
        self.schema.is_table.then(|| names.collect())
    }

    /// The shape of the array, or the number of rows of the table.
    fn shape(&self) -> Vec<u64> {
        let array = self.schema.shape(self.rows).ok();
        let array = array.filter(|_| !self.schema.is_table);
        array.unwrap_or_else(|| vec![self.rows])
    }

    /// Bytes of all rows; `None` if values vary in length, or for more than 64 bits count.
    fn bytes_of_rows(&self) -> Option<u64> {
        let bytes = self.rows.checked_mul(self.schema.row_bytes());
        bytes.filter(|_| !self.schema.has_varying())
    }

    /// The dtype, if the file is an array.
    fn dtype(&self) -> Option<String> {
        match self.schema.columns.as_slice() {
            [column] if !self.schema.is_table => Some(column.dtype.to_string()),
            _ => None,
        }
    }
}

impl Container for File {
    fn kind(&self) -> Kind {
        Kind::File(self.format)
    }

    fn outline(&self) -> Result<Outline> {
        Ok(Outline {
            dtype: self.dtype(),
            shape: Some(self.shape()),
            columns: self.names(),
            bytes: self.bytes_of_rows(),
            ..Outline::new(self.kind())
        })
    }

    fn summary(&self) -> Result<Summary> {
        let kind = self.kind();
        let mut summary = Summary::new(kind);
        let stored = self.bytes.size()?;
        let columns = self.schema.columns.iter().map(|column| {
            json!({ "name": column.name, "dtype": column.dtype.to_string(), "row_shape": column.row_shape, "nullable": column.nullable })
        });
        summary.add(json!({
            "kind": kind.name(),
            "layout": null,
            "rows": self.rows,
            "dtype": self.dtype(),
            "shape": self.shape(),
            "columns": self.schema.is_table.then(|| columns.collect::<Vec<_>>()),
            "uncompressed_bytes": self.bytes_of_rows(),
            "compressed_bytes": stored,
        }));
        summary.line("kind", kind.name());
        if let Some(dtype) = self.dtype() {
            summary.line("dtype", dtype);
            summary.line("shape", shape(&self.shape()));
        } else {
            summary.line("rows", self.rows);
            summary.line("columns", self.schema.columns.len());
            for column in &self.schema.columns {
                let row = match column.row_shape.as_slice() {
                    [] => String::new(),
                    row => format!(" {}", shape(row)),
                };
                let kind = match &column.varying {
                    Some(_) => "of any length".to_owned(),
                    None => column.dtype.to_string(),
                };
                let nulls = if column.nullable { ", may be null" } else { "" };
                let name = plain(&column.name);
                summary
                    .lines
                    .push(Line::More(format!("{name}  {kind}{row}{nulls}")));
            }
        }
        summary.line("file_bytes", pretty(stored));
        Ok(summary)
    }

    fn verify(&self) -> Result<Report> {
        let (mut report, mut failed) = (Report::default(), Vec::new());
        let total = self.bytes_of_rows().unwrap_or(0);
        let mut read = || -> Result<()> {
            let mut source = self.source()?;
            while let Some(batch) = source.next_batch(BATCH)? {
                let bytes = batch.rows.saturating_mul(self.schema.row_bytes());
                report.bytes += bytes;
                watch::show(&self.watch, bytes, total);
            }
            Ok(())
        };
        failed.extend(read().err());
        report.damage_count = failed.iter().map(|_| 1).sum();
        report.damages = failed.into_iter().map(From::from).collect();
        Ok(report)
    }

    fn array(&self, column: Option<&str>) -> Result<Option<Box<dyn Array + '_>>> {
        match (column, self.names()) {
            (None, Some(names)) => Err(error::needs_column(&names)),
            (Some(name), Some(names)) if names.iter().any(|found| found == name) => Ok(None),
            (Some(name), Some(names)) => {
                let names = names.join(", ");
                Err(Error::usage(format!(
                    "no column {name:?}; there are {names}"
                )))
            }
            (column, None) => {
                refuse_column(column)?;
                let array = self.array.as_ref();
                Ok(array.map(|array| Box::new(array) as Box<dyn Array + '_>))
            }
        }
    }

    fn columns(&self, selection: &Selection) -> Result<BoxedSource<'_>> {
        if self.array.is_some() {
            selection.refuse_columns()?;
            return crate::columns_of_arrays(self, selection);
        }
        if !self.schema.is_table {
            selection.refuse_columns()?;
        }
        let source = self.source()?;
        let rows = match &selection.part {
            Part::Slice(_) => return Err(crate::only_rows()),
            part => part.region(&[self.rows])?.ranges,
        };
        let rows = rows.first().cloned().unwrap_or(0..0);
        let part = PartSource::new(source, &selection.columns, rows)?;
        Ok(watch::rows(&self.watch, Box::new(part)))
    }

    fn attributes(&self, column: Option<&str>) -> Result<UserAttributes> {
        Ok(match column {
            Some(_) => UserAttributes::default(),
            None => UserAttributes::new(self.schema.attributes.clone()),
        })
    }

    fn take_warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    fn watch(&self) -> &Watch {
        &self.watch
    }

    fn source(&self) -> Option<&SharedSource> {
        self.array.as_ref().map(|_| &self.bytes)
    }
}
