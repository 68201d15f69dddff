//! The part of a dataset, or of an array in a file, that is wanted: columns, rows, or a region.

use std::path::Path;

use bloscpack::{
    Error,
    dataset::{CArray, CTable, Dataset},
    exchange::{ArraySource, FileSource, Source, TableSource},
    indexed::IndexedReader,
};

use super::rows::Rows;
use super::slice::{Region, Slice};
use super::{failure, no_columns, open};
use crate::failure::Failure;
use crate::input::Input;
use crate::session::Session;
use crate::text::quoted;

/// The part that is wanted; by default all.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// The columns of a table.
    pub columns: &'a [String],
    pub rows: Option<Rows>,
    pub slice: Option<&'a Slice>,
}

impl Selection<'static> {
    /// Everything.
    pub const ALL: Self = Self {
        columns: &[],
        rows: None,
        slice: None,
    };
}

impl Selection<'_> {
    /// Passes the wanted part of the dataset at `path` to `take`.
    pub fn of_dataset<T>(
        &self,
        path: &Path,
        session: &Session,
        take: impl FnOnce(&mut dyn Source) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match open(path, session)? {
            Dataset::Array(array) if self.columns.is_empty() => {
                take(&mut self.array(path, "value", &array)?)
            }
            Dataset::Array(_) => Err(no_columns(path)),
            Dataset::Table(table) => self.of_table(path, &table, take),
        }
    }

    fn of_table<T>(
        &self,
        path: &Path,
        table: &CTable,
        take: impl FnOnce(&mut dyn Source) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let failed = |error: Error| failure(path, &error);
        if self.slice.is_some() {
            let [name] = self.columns else {
                let title = format!("{}: --slice needs a single column of a table", quoted(path));
                return Err(
                    Failure::usage(title).hint("add --columns NAME, or use --rows A..B instead")
                );
            };
            let array = table.column(name).map_err(failed)?;
            return take(&mut self.array(path, name, array)?);
        }
        let mut source = TableSource::new(table).map_err(failed)?;
        if !self.columns.is_empty() {
            source = source.columns(self.columns).map_err(failed)?;
        }
        if let Some(rows) = self.rows {
            let rows = rows.resolve(source.rows(), &quoted(path))?;
            source = source.range(rows).map_err(failed)?;
        }
        take(&mut source)
    }

    fn array<'a>(
        &self,
        path: &Path,
        name: &str,
        array: &'a CArray,
    ) -> Result<ArraySource<'a>, Failure> {
        let region = self.region(array.shape(), &quoted(path))?;
        let source = ArraySource::new(array).named(name).slice(&region.ranges);
        source.map_err(|error| failure(path, &error))
    }

    /// The same for the array in a Bloscpack file, which its metadata describes.
    pub fn of_file<T>(
        &self,
        input: &Input,
        session: &Session,
        take: impl FnOnce(&mut dyn Source) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let name = input.name();
        let failed = |error: Error| Failure::library(&name, &error);
        if !self.columns.is_empty() {
            return Err(not_a_table(&name));
        }
        let Some(file) = input.by_position() else {
            let title = format!("{name}: this needs a regular file, read from its beginning");
            return Err(Failure::usage(title));
        };
        let reader = IndexedReader::builder().limits(session.limits).open(file);
        let reader = reader.map_err(failed)?;
        session.warnings(&name, reader.warnings());
        let mut source = FileSource::new(reader).map_err(failed)?;
        let mut shape = vec![source.rows()];
        let columns = source.schema().columns.iter();
        shape.extend(columns.flat_map(|column| column.row_shape.iter().copied()));
        let region = self.region(&shape, &name)?;
        source = source.slice(&region.ranges).map_err(failed)?;
        take(&mut source)
    }

    /// The wanted region of an array of this shape.
    pub fn region(&self, shape: &[u64], name: &str) -> Result<Region, Failure> {
        if let Some(slice) = self.slice {
            return slice.resolve(shape, name);
        }
        let rows = shape.first().copied().unwrap_or(1);
        let rows = self.rows.unwrap_or_default().resolve(rows, name)?;
        Ok(Region::of_rows(rows, shape))
    }
}

/// The failure to find columns in a file or frame.
pub fn not_a_table(name: &str) -> Failure {
    Failure::usage(format!("{name} is not a table"))
        .hint("only datasets in directories have columns")
}
