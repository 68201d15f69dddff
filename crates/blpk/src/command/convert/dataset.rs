//! One dataset into another.

use bloscpack::{
    Error,
    dataset::{CArray, CArrayBuilder, CTable, CTableBuilder, Dataset, DatasetLayout},
    exchange::{ArraySource, TableSource, import_array, import_table},
};

use super::Convert;
use crate::dataset::new::NewDataset;
use crate::dataset::source::ProgressSource;
use crate::dataset::{array, failure, open, options};
use crate::failure::{Failure, VERIFY};
use crate::layout::ArrayLayout;
use crate::session::Session;
use crate::text::quoted;

impl Convert {
    /// Makes a dataset from another, and returns its name.
    pub(super) fn dataset(&self, session: &Session) -> Result<String, Failure> {
        let new = NewDataset::begin(&self.output, &self.path, session)?;
        let dataset = open(&self.path, session)?;
        let layout = match self.layout {
            Some(ArrayLayout::Dataset(layout)) => layout,
            _ => dataset.layout(),
        };
        self.storage.check(ArrayLayout::Dataset(layout))?;
        match (&dataset, &self.column) {
            (Dataset::Table(table), None) => self.table(table, layout, &new, session)?,
            (_, column) => {
                let array = array(&self.path, &dataset, column.as_deref())?;
                self.array(array, layout, &new, session)?;
            }
        }
        let name = new.name();
        new.commit(session)?;
        Ok(name)
    }

    /// The failure to copy into a new dataset, by the side of the error.
    fn failed(&self, new: &NewDataset<'_>, error: &Error) -> Failure {
        new.failed_from(&quoted(&self.path), error)
            .if_damaged(VERIFY)
    }

    fn array(
        &self,
        array: &CArray,
        layout: DatasetLayout,
        new: &NewDataset<'_>,
        session: &Session,
    ) -> Result<(), Failure> {
        let builder = self.like(array, layout).layout(layout);
        let builder = builder.replace(new.replaces()).options(options(session));
        let made = builder.create(new.folder());
        let mut made = made.map_err(|error| new.failed(&error))?;
        let mut source = ArraySource::new(array);
        let mut source = ProgressSource::new(&mut source, session);
        import_array(&mut source, &mut made, &mut |_| ()).map_err(|error| self.failed(new, &error))
    }

    /// A new array with the settings of this one, unless others are given.
    fn like(&self, array: &CArray, layout: DatasetLayout) -> CArrayBuilder {
        let mut builder = array.like();
        if layout != DatasetLayout::CarrayDocument {
            // Only there may chunks have any shape. Elsewhere they consist of whole rows.
            let rows = array.chunk_shape().first().copied().unwrap_or(1);
            builder = builder.chunk_rows(rows.max(1));
        }
        self.storage.array(builder)
    }

    fn table(
        &self,
        table: &CTable,
        layout: DatasetLayout,
        new: &NewDataset<'_>,
        session: &Session,
    ) -> Result<(), Failure> {
        let builder = self.table_builder(table, layout, session)?;
        let builder = builder.replace(new.replaces()).options(options(session));
        let made = builder.create(new.folder());
        let mut made = made.map_err(|error| new.failed(&error))?;
        let source = TableSource::new(table);
        let mut source = source.map_err(|error| new.unfinished(failure(&self.path, &error)))?;
        let mut source = ProgressSource::new(&mut source, session);
        import_table(&mut source, &mut made, &mut |_| ()).map_err(|error| self.failed(new, &error))
    }

    fn table_builder(
        &self,
        table: &CTable,
        layout: DatasetLayout,
        session: &Session,
    ) -> Result<CTableBuilder, Failure> {
        let builder = CTable::builder()
            .attributes(table.attributes().clone())
            .layout(layout);
        let mut builder = self.storage.table(builder)?;
        let documented = [DatasetLayout::BlzDocument, DatasetLayout::CarrayDocument];
        let documented = documented.contains(&layout);
        let mut rows = None;
        for name in table.names() {
            let array = table.column(name);
            let array = array.map_err(|error| failure(&self.path, &error))?;
            if documented && !array.attributes().is_empty() {
                session.warning(format_args!(
                    "{}: the attributes of column {name} are dropped: the layout {layout} has none for columns",
                    quoted(&self.path)
                ));
            }
            rows = rows.max(array.chunk_shape().first().copied());
            builder = builder.column(name, self.like(array, layout));
        }
        // There the columns share a chunk length: the longest of them.
        Ok(
            match rows.filter(|_| documented && self.storage.chunklen.is_none()) {
                Some(rows) => builder.chunk_rows(rows),
                None => builder,
            },
        )
    }
}
