//! One dataset into another.

use std::time::Instant;

use bloscpack::{
    dataset::{CArray, CArrayBuilder, CTable, Dataset, DatasetLayout},
    exchange::{ArraySource, Source as _, TableSource, import_array, import_table},
};

use super::Convert;
use crate::dataset::new::New;
use crate::dataset::source::Watched;
use crate::dataset::{failure, no_columns, open, options};
use crate::layout::ArrayLayout;
use crate::message::{Failure, quoted};
use crate::session::Session;
use crate::size;
use crate::status::Status;

/// What went wrong, and whether it was in reading.
type Halt = (bloscpack::Error, bool);

impl Convert {
    pub(super) fn dataset(&self, session: &Session) -> Result<Status, Failure> {
        let begun = Instant::now();
        let new = New::begin(&self.output, &self.path, session)?;
        let dataset = open(&self.path, session)?;
        let layout = match self.layout {
            Some(ArrayLayout::Dataset(layout)) => layout,
            _ => dataset.layout(),
        };
        self.making.fit(ArrayLayout::Dataset(layout))?;
        let done = match (&dataset, &self.column) {
            (Dataset::Array(array), None) => self.array(array, layout, &new, session),
            (Dataset::Array(_), Some(_)) => return Err(no_columns(&self.path)),
            (Dataset::Table(table), None) => self.table(table, layout, &new, session)?,
            (Dataset::Table(table), Some(name)) => table
                .column(name)
                .map_err(|error| (error, true))
                .and_then(|array| self.array(array, layout, &new, session)),
        };
        let (rows, bytes) = done.map_err(|(error, is_read)| {
            new.explain(&error, is_read.then(|| failure(&self.path, &error)))
        })?;
        let name = new.name();
        new.commit(session)?;
        session.verbose(format_args!(
            "{}, {rows} rows, {}, converted into {name} in {:.2?}",
            quoted(&self.path),
            size::pretty(bytes),
            begun.elapsed(),
        ));
        Ok(Status::Done)
    }

    /// How many rows and bytes it has.
    fn array(
        &self,
        array: &CArray,
        layout: DatasetLayout,
        new: &New<'_>,
        session: &Session,
    ) -> Result<(u64, u64), Halt> {
        let builder = self.like(array, layout).layout(layout);
        let builder = builder.replace(new.replaces()).options(options(session));
        let mut made = builder
            .create(new.folder())
            .map_err(|error| (error, false))?;
        let mut source = ArraySource::new(array);
        let mut watched = Watched::new(&mut source, session);
        let done = import_array(&mut watched, &mut made, &mut |_| ());
        done.map_err(|error| (error, watched.has_failed()))?;
        Ok((array.rows(), array.nbytes()))
    }

    /// As the array is, but for what is said.
    fn like(&self, array: &CArray, layout: DatasetLayout) -> CArrayBuilder {
        let mut builder = array.like();
        if layout != DatasetLayout::CarrayDocument {
            // Its chunks may have any shape, those of the others have whole rows.
            let rows = array.chunk_shape().first().copied().unwrap_or(1);
            builder = builder.chunk_rows(rows.max(1));
        }
        self.making.array(builder)
    }

    fn table(
        &self,
        table: &CTable,
        layout: DatasetLayout,
        new: &New<'_>,
        session: &Session,
    ) -> Result<Result<(u64, u64), Halt>, Failure> {
        let builder = CTable::builder()
            .attributes(table.attributes().clone())
            .layout(layout)
            .replace(new.replaces())
            .options(options(session));
        let mut builder = self.making.table(builder)?;
        let documented = [DatasetLayout::BlzDocument, DatasetLayout::CarrayDocument];
        let mut rows = None;
        for name in table.names() {
            let array = table.column(name);
            let array = array.map_err(|error| failure(&self.path, &error))?;
            if documented.contains(&layout) && !array.attributes().is_empty() {
                session.warning(format_args!(
                    "{}: the attributes of column {name} are left out: columns have none in the layout {layout}",
                    quoted(&self.path)
                ));
            }
            rows = rows.max(array.chunk_shape().first().copied());
            builder = builder.column(name, self.like(array, layout));
        }
        // There the columns share it, so that the longest of theirs is taken.
        if let (true, None, Some(rows)) = (documented.contains(&layout), self.making.chunklen, rows)
        {
            builder = builder.chunk_rows(rows);
        }
        Ok(self.copy(table, builder, new, session))
    }

    fn copy(
        &self,
        table: &CTable,
        builder: bloscpack::dataset::CTableBuilder,
        new: &New<'_>,
        session: &Session,
    ) -> Result<(u64, u64), Halt> {
        let mut made = builder
            .create(new.folder())
            .map_err(|error| (error, false))?;
        let mut source = TableSource::new(table).map_err(|error| (error, true))?;
        let bytes = source.schema().row_bytes();
        let rows = source.rows();
        let mut watched = Watched::new(&mut source, session);
        let done = import_table(&mut watched, &mut made, &mut |_| ());
        done.map_err(|error| (error, watched.has_failed()))?;
        Ok((rows, bytes.saturating_mul(rows)))
    }
}
