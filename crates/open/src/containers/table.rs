//! The container of tables in directories.

use super::array::{SurveyedArray, ending, state};
use super::dataset::Common;
use crate::error::needs_column;
use crate::summary::{Line, Summary, distinct};
use crate::text::{count, plain, pretty, shape};
use crate::{Container, Inner, Kind, Outline, Report, watch};
use bloscpack::Watch;
use bloscpack_array::{Array, TableSource, UserAttributes};
use bloscpack_datasets::{CArray, CTable, Dataset};
use bloscpack_error::{Error, Result};
use serde_json::json;

/// A table in a directory of bcolz, BLZ or carray.
pub(crate) struct Table {
    /// Always a table. `Dataset` has methods that `CTable` lacks.
    dataset: Dataset,
    common: Common,
}

impl Table {
    pub(crate) fn new(table: CTable, common: Common) -> Self {
        Self {
            dataset: Dataset::Table(Box::new(table)),
            common,
        }
    }

    fn table(&self) -> Result<&CTable> {
        match &self.dataset {
            Dataset::Table(table) => Ok(table),
            Dataset::Array(_) => Err(Error::bug("a table that is an array")),
        }
    }
}

/// Uncompressed bytes of the columns that can be opened.
fn nbytes(table: &CTable) -> u64 {
    let columns = table
        .names()
        .iter()
        .filter_map(|name| table.column(name).ok());
    // Saturates: the sum is only shown.
    columns.map(CArray::nbytes).fold(0, u64::saturating_add)
}

impl Container for Table {
    fn kind(&self) -> Kind {
        Kind::Table
    }

    fn outline(&self) -> Result<Outline> {
        let table = self.table()?;
        let is_whole = table.names().iter().all(|name| table.column(name).is_ok());
        let rows = table.rows();
        Ok(Outline {
            layout: Some(table.layout().name()),
            shape: rows.as_ref().ok().map(|rows| vec![*rows]),
            trouble: rows.err(),
            columns: Some(table.names().to_vec()),
            bytes: is_whole.then(|| nbytes(table)),
            ..Outline::new(Kind::Table)
        })
    }

    fn summary(&self) -> Result<Summary> {
        let table = self.table()?;
        let (mut notes, mut columns) = (self.common.notes(table.warnings()), Vec::new());
        for name in table.names() {
            let column = table.column(name)?;
            notes.extend(column.warnings().iter().cloned());
            let column = SurveyedArray::of(column)?;
            notes.extend(column.notes(&format!("column {name}: ")));
            columns.push((name.as_str(), column));
        }
        notes.extend(uneven(&columns));
        let columns = Columns {
            rows: table.rows()?,
            columns,
        };
        let mut summary = Summary::new(Kind::Table);
        let arrays = || columns.columns.iter().map(|(_, column)| column);
        summary.is_complete = arrays().all(|column| column.survey.missing == 0);
        let state = state(summary.is_complete);
        summary.add(json!({
            "kind": Kind::Table.name(),
            "layout": table.layout().name(),
            "format_version": null,
        }));
        columns.add_to(&mut summary, table);
        summary.add(ending(state, self.common.is_interrupted, &notes));
        summary.line("kind", Kind::Table);
        summary.line("layout", table.layout());
        summary.line("state", state);
        columns.add_lines(&mut summary, table);
        summary.notes(&notes);
        Ok(summary)
    }

    fn verify(&self) -> Result<Report> {
        let (watch, total) = (&self.common.watch, nbytes(self.table()?));
        let report = self
            .dataset
            .verify(|bytes| watch::show(watch, bytes, total));
        Ok(self.common.report(report))
    }

    fn array(&self, column: Option<&str>) -> Result<Option<Box<dyn Array + '_>>> {
        let table = self.table()?;
        let name = column.ok_or_else(|| needs_column(table.names()))?;
        Ok(Some(Box::new(table.column(name)?)))
    }

    fn table(&self, columns: &[String]) -> Result<Option<TableSource<'_>>> {
        let table = self.table()?;
        Ok(Some(if columns.is_empty() {
            table.source()?
        } else {
            table.source_of(columns)?
        }))
    }

    fn attributes(&self, column: Option<&str>) -> Result<UserAttributes> {
        let table = self.table()?;
        let attributes = match column {
            Some(name) => table.column(name)?.attributes(),
            None => table.attributes(),
        };
        Ok(UserAttributes::new(attributes.clone()))
    }

    fn take_warnings(&self) -> Vec<String> {
        self.common.warnings.take()
    }

    fn inner(&self) -> Inner<'_> {
        match &self.dataset {
            Dataset::Table(table) => Inner::Table(table),
            Dataset::Array(array) => Inner::Array(array),
        }
    }

    fn watch(&self) -> &Watch {
        &self.common.watch
    }
}

/// The columns of a table, with surveys of their superchunks.
struct Columns<'a> {
    columns: Vec<(&'a str, SurveyedArray<'a>)>,
    rows: u64,
}

impl Columns<'_> {
    fn sum(&self, of: impl Fn(&SurveyedArray<'_>) -> u64) -> u64 {
        let all = self.columns.iter().map(|(_, array)| of(array));
        // Columns may claim any size. The sum is only shown.
        all.fold(0, u64::saturating_add)
    }

    fn names(&self, of: impl Fn(&SurveyedArray<'_>) -> Vec<&'static str>) -> Vec<&'static str> {
        distinct(self.columns.iter().flat_map(|(_, array)| of(array)))
    }

    /// The checksum, if all columns have the same.
    fn checksum(&self) -> Option<&'static str> {
        let mut all = self.columns.iter().map(|(_, array)| array.array.checksum());
        let first = all.next()?;
        all.all(|one| one == first).then(|| first.name())
    }

    /// Adds the JSON fields; those that only arrays have are null.
    fn add_to(&self, summary: &mut Summary, table: &CTable) {
        summary.add(json!({
            "rows": self.rows,
            "dtype": null,
            "shape": [self.rows],
            "chunkshape": null,
            "blockshape": null,
            "checksum": self.checksum(),
            "typesize": null,
            "chunk_size": null,
            "last_chunk": null,
            "nchunks": self.sum(|column| column.array.chunks()),
            "superchunks": self.sum(|column| column.array.superchunks()),
            "uncompressed_bytes": self.sum(|column| column.array.nbytes()),
            "compressed_bytes": self.compressed(),
            "codecs": self.names(|column| column.codecs()),
            "filters": self.names(|column| column.filters()),
        }));
        summary.add_json("attributes", table.attributes().text());
        let columns = self.columns.iter().map(|(name, array)| {
            let mut column = Summary::new(Kind::Array);
            column.append("name", *name);
            array.add_to(&mut column);
            column
        });
        summary.add_parts("columns", columns.collect());
    }

    /// Compressed bytes of all columns; `None` if the store cannot list files.
    fn compressed(&self) -> Option<u64> {
        let mut bytes = self.columns.iter().map(|(_, column)| column.survey.bytes);
        bytes.try_fold(0, |all: u64, bytes| Some(all.saturating_add(bytes?)))
    }

    /// Adds the text lines.
    fn add_lines(&self, summary: &mut Summary, table: &CTable) {
        summary.line("rows", self.rows);
        summary.line("checksum", self.checksum().unwrap_or("differs"));
        summary.names("codecs", &self.names(|column| column.codecs()));
        summary.names("filters", &self.names(|column| column.filters()));
        summary.sizes(self.sum(|column| column.array.nbytes()), self.compressed());
        summary.attributes(table.attributes().text());
        summary.line("columns", self.columns.len());
        let lens = self
            .columns
            .iter()
            .map(|(name, _)| plain(name).chars().count());
        let width = lens.max().unwrap_or(0);
        for (name, column) in &self.columns {
            let has_missing = table.has_missing(name).unwrap_or(false);
            let (name, array) = (plain(name), column.array);
            let rows = array.chunk_shape().first().copied().unwrap_or(1);
            let stored = column.survey.bytes;
            let stored = stored.map(|bytes| format!(" in {}", pretty(bytes)));
            summary.lines.push(Line::More(format!(
                "{name:width$}  {}  {}, chunks of {}, {}{}{}{}",
                array.dtype(),
                shape(array.shape()),
                count(rows, "row"),
                pretty(array.nbytes()),
                stored.unwrap_or_default(),
                column
                    .index()
                    .map(|index| format!(", index {index}"))
                    .unwrap_or_default(),
                if has_missing {
                    ", with missing values"
                } else {
                    ""
                },
            )));
        }
    }
}

/// A note about columns of different lengths, which a crash of another program leaves.
fn uneven(columns: &[(&str, SurveyedArray<'_>)]) -> Option<String> {
    let rows = columns.iter().map(|(_, column)| column.array.rows());
    let (least, most) = (rows.clone().min()?, rows.max()?);
    (least < most).then(|| {
        format!(
            "the columns have {least} to {most} rows; blpk dataset repair shortens them to {least}"
        )
    })
}
