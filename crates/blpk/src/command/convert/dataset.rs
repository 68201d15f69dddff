//! Anything into a dataset.

use std::path::Path;

use bloscpack_open::{
    Inner,
    datasets::{Attributes, CArray, CArrayBuilder, CTable, CTableBuilder, DatasetLayout},
    exchange::{ArraySource, BoxedSource, Schema, import_array, import_table},
};

use super::Convert;
use crate::args::with_given;
use crate::container::Opened;
use crate::dataset::source::ProgressSource;
use crate::dataset::{new_array, new_table};
use crate::failure::{About as _, Failure};
use crate::output::{FolderKind, Target};
use crate::session::Session;
use crate::store::warn_about_zones;
use crate::text::quoted;

impl Convert {
    /// Makes a dataset, and returns its name.
    pub(super) fn dataset(
        &self,
        opened: &mut Opened,
        layout: DatasetLayout,
        session: &Session,
    ) -> Result<String, Failure> {
        self.check_dtype(opened)?;
        let new = Target::folder(self.output(), FolderKind::Dataset, self.path(), session)?;
        self.fill_dataset((&new, new.path()), opened, layout, session)
            .about(&new.made_from(&opened.origin))?;
        Ok(new.commit(session)?.name)
    }

    /// Makes a dataset of an array or a table.
    pub(super) fn fill_dataset(
        &self,
        new: (&Target, &Path),
        opened: &Opened,
        layout: DatasetLayout,
        session: &Session,
    ) -> Result<(), Failure> {
        if let (Inner::Table(table), None) = (opened.container.inner(), &self.column)
            && self.is_whole()
        {
            return self.table(table, layout, new, session);
        }
        if let Some(array) = self.carray(opened)? {
            return self.like_array(array, layout, new, session);
        }
        let source = self.fixed(&*opened.container).about(&opened.origin)?;
        if source.schema().is_table && self.column.is_none() {
            self.rows_of_table(source, opened, layout, new, session)
        } else {
            self.rows_of_array(source, opened, layout, new, session)
        }
    }

    /// Rows of any array into an array.
    fn rows_of_array(
        &self,
        mut source: BoxedSource<'_>,
        opened: &Opened,
        layout: DatasetLayout,
        new: (&Target, &Path),
        session: &Session,
    ) -> Result<(), Failure> {
        let attributes = self.attributes(opened, session)?;
        let name = &opened.origin.name;
        warn_about_axes(source.schema(), name, session);
        warn_about_zones(source.schema(), name, session);
        let builder = CArrayBuilder::of_schema(source.schema()).about(new.0)?;
        let expected = self.expected_rows.or(source.rows());
        let builder = with_given!(builder, expected_rows: expected).attributes(attributes);
        let builder = self.storage.array(builder).layout(layout).index(self.index);
        let mut array = new_array(new, builder, session)?;
        let mut rows = ProgressSource::new(&mut *source, session);
        import_array(&mut rows, &mut array, &mut |_| ())?;
        if opened.is_of_text() {
            rows.warn_of_missing(name, session);
        }
        Ok(())
    }

    /// Rows of any table into a table.
    fn rows_of_table(
        &self,
        mut source: BoxedSource<'_>,
        opened: &Opened,
        layout: DatasetLayout,
        new: (&Target, &Path),
        session: &Session,
    ) -> Result<(), Failure> {
        let attributes = self.attributes(opened, session)?;
        let of_columns = column_attributes(opened)?;
        if is_documented(layout) {
            for (column, attributes) in &of_columns {
                if !attributes.without_missing().is_empty() {
                    self.warn_about_column(column, layout, session);
                }
            }
        }
        let expected = self.expected_rows.or(source.rows());
        let (schema, name) = (source.schema(), &opened.origin.name);
        warn_about_zones(schema, name, session);
        let builder = CTableBuilder::of_schema(schema, |column, builder| {
            let builder = with_given!(builder, expected_rows: expected);
            let builder = self.storage.array(builder);
            match of_columns.iter().find(|(name, _)| *name == column.name) {
                Some((_, attributes)) if !is_documented(layout) => {
                    builder.attributes(attributes.clone())
                }
                _ => builder,
            }
        });
        let builder = self.storage.table(builder.attributes(attributes))?;
        let builder = builder.layout(layout).index(self.index);
        let mut made = new_table(new, builder, session)?;
        let mut rows = ProgressSource::new(&mut *source, session);
        import_table(&mut rows, &mut made, &mut |_| ())?;
        if opened.is_of_text() {
            rows.warn_of_missing(name, session);
        }
        Ok(())
    }

    fn like_array(
        &self,
        array: &CArray,
        layout: DatasetLayout,
        new: (&Target, &Path),
        session: &Session,
    ) -> Result<(), Failure> {
        let builder = self.like(array, layout).layout(layout).index(self.index);
        let mut made = new_array(new, builder, session)?;
        let mut source = ArraySource::new(array)?;
        let mut source = ProgressSource::new(&mut source, session);
        Ok(import_array(&mut source, &mut made, &mut |_| ())?)
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
        new: (&Target, &Path),
        session: &Session,
    ) -> Result<(), Failure> {
        let builder = self
            .table_builder(table, layout, session)?
            .index(self.index);
        let mut made = new_table(new, builder, session)?;
        let mut source = table.source()?;
        let mut source = ProgressSource::new(&mut source, session);
        Ok(import_table(&mut source, &mut made, &mut |_| ())?)
    }

    fn warn_about_column(&self, column: &str, layout: DatasetLayout, session: &Session) {
        session.warning(format_args!(
            "{}: the attributes of column {column} are dropped: the layout {layout} has none for columns",
            quoted(self.path())
        ));
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
        let documented = is_documented(layout);
        let mut rows = None;
        for name in table.names() {
            let array = table.column(name)?;
            if documented && !array.attributes().without_missing().is_empty() {
                self.warn_about_column(name, layout, session);
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

/// Whether only the whole dataset has attributes and a chunk length.
fn is_documented(layout: DatasetLayout) -> bool {
    [DatasetLayout::BlzDocument, DatasetLayout::CarrayDocument].contains(&layout)
}

/// The columns of a table that have attributes of their own.
pub(super) fn column_attributes(opened: &Opened) -> Result<Vec<(String, Attributes)>, Failure> {
    let names = opened.container.outline().about(&opened.origin)?.columns;
    let mut found = Vec::new();
    for name in names.unwrap_or_default() {
        let user = opened.container.attributes(Some(&name));
        let attributes = user.about(&opened.origin)?.attributes;
        if !attributes.is_empty() {
            found.push((name, attributes));
        }
    }
    Ok(found)
}

/// Warns about an array without axes, which becomes one row.
fn warn_about_axes(schema: &Schema, name: &str, session: &Session) {
    if schema.is_scalar {
        session.warning(format_args!(
            "{name}: its shape () becomes (1,): an array of a dataset has at least one axis"
        ));
    }
}
