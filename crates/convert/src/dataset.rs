//! Writes datasets: directories of bcolz, BLZ and carray.

use std::path::Path;

use bloscpack_error::Result;
use bloscpack_open::{
    Inner,
    datasets::{Attributes, CArray, CArrayBuilder, CTable, CTableBuilder, DatasetLayout},
    exchange::{BoxedSource, import_array, import_table},
};

use crate::{Counted, Work, with_given};

impl Work<'_> {
    /// Makes a dataset of an array or a table. A copy of a dataset keeps its settings, as far as none are given.
    pub(crate) fn dataset(&self, layout: DatasetLayout, path: &Path) -> Result<()> {
        let settings = self.settings;
        if let (Inner::Table(table), None) = (self.source.inner(), &settings.column)
            && settings.is_whole()
        {
            let builder = self.like_table(table, layout)?;
            return self.fill_table(builder, settings.rows(self.source)?, path);
        }
        if let Some(array) = self.carray()? {
            let builder = self.like_array(array, layout);
            return self.fill_array(builder, settings.rows(self.source)?, path);
        }
        let rows = self.fixed()?;
        let schema = rows.schema();
        let expected = settings.expected_rows.or(rows.rows());
        let attributes = self.attributes()?;
        if !schema.is_table || settings.column.is_some() {
            if schema.is_scalar {
                (self.warn)(
                    "its shape () becomes (1,): an array of a dataset has at least one axis",
                );
            }
            self.warn_about_zones(schema);
            let builder = CArrayBuilder::of_schema(schema)?;
            let builder = with_given!(builder, expected_rows: expected).attributes(attributes);
            let builder = settings.storage.array(builder).layout(layout);
            return self.fill_array(builder, rows, path);
        }
        let of_columns = self.column_attributes()?;
        if is_documented(layout) {
            for (column, attributes) in &of_columns {
                self.warn_about_column(column, attributes, layout);
            }
        }
        self.warn_about_zones(schema);
        let builder = CTableBuilder::of_schema(schema, |column, builder| {
            let builder = with_given!(builder, expected_rows: expected);
            let builder = settings.storage.array(builder);
            match of_columns.iter().find(|(name, _)| *name == column.name) {
                Some((_, attributes)) if !is_documented(layout) => {
                    builder.attributes(attributes.clone())
                }
                _ => builder,
            }
        });
        let builder = settings.storage.table(builder.attributes(attributes))?;
        self.fill_table(builder.layout(layout), rows, path)
    }

    /// Writes the rows of one column into a new array.
    fn fill_array(&self, builder: CArrayBuilder, rows: BoxedSource<'_>, path: &Path) -> Result<()> {
        let settings = self.settings;
        let builder = builder.index(settings.index).replace(settings.replace);
        let mut made = builder.options(settings.options.clone()).create(path)?;
        let mut rows = Counted::new(rows);
        import_array(&mut rows, &mut made, &mut |_| ())?;
        self.warn_about_missing(&rows);
        Ok(())
    }

    /// Writes rows into a new table.
    fn fill_table(&self, builder: CTableBuilder, rows: BoxedSource<'_>, path: &Path) -> Result<()> {
        let settings = self.settings;
        let builder = builder.index(settings.index).replace(settings.replace);
        let mut made = builder.options(settings.options.clone()).create(path)?;
        let mut rows = Counted::new(rows);
        import_table(&mut rows, &mut made, &mut |_| ())?;
        self.warn_about_missing(&rows);
        Ok(())
    }

    /// A builder with the settings of an existing array, unless others are given.
    fn like_array(&self, array: &CArray, layout: DatasetLayout) -> CArrayBuilder {
        let mut builder = array.like();
        if layout != DatasetLayout::CarrayDocument {
            // Only this layout has chunks of any shape. In the others they consist of whole rows.
            let rows = array.chunk_shape().first().copied().unwrap_or(1);
            builder = builder.chunk_rows(rows.max(1));
        }
        self.settings.storage.array(builder).layout(layout)
    }

    /// A builder with the settings of an existing table, unless others are given.
    fn like_table(&self, table: &CTable, layout: DatasetLayout) -> Result<CTableBuilder> {
        let storage = &self.settings.storage;
        let builder = CTable::builder()
            .attributes(table.attributes().clone())
            .layout(layout);
        let mut builder = storage.table(builder)?;
        let documented = is_documented(layout);
        let mut rows = None;
        for name in table.names() {
            let array = table.column(name)?;
            if documented {
                self.warn_about_column(name, array.attributes(), layout);
            }
            rows = rows.max(array.chunk_shape().first().copied());
            builder = builder.column(name, self.like_array(array, layout));
        }
        // In these layouts the columns share a chunk length: take the longest.
        Ok(
            match rows.filter(|_| documented && storage.chunklen.is_none()) {
                Some(rows) => builder.chunk_rows(rows),
                None => builder,
            },
        )
    }

    fn warn_about_column(&self, column: &str, attributes: &Attributes, layout: DatasetLayout) {
        if !attributes.without_missing().is_empty() {
            (self.warn)(&format!(
                "the attributes of column {column} are dropped: the layout {layout} has none for columns"
            ));
        }
    }

    /// The columns of a table that have attributes, with these.
    pub(crate) fn column_attributes(&self) -> Result<Vec<(String, Attributes)>> {
        let names = self.source.outline()?.columns;
        let mut found = Vec::new();
        for name in names.unwrap_or_default() {
            let attributes = self.source.attributes(Some(&name))?.attributes;
            if !attributes.is_empty() {
                found.push((name, attributes));
            }
        }
        Ok(found)
    }
}

/// Whether columns of this layout have no attributes and no chunk length of their own.
fn is_documented(layout: DatasetLayout) -> bool {
    [DatasetLayout::BlzDocument, DatasetLayout::CarrayDocument].contains(&layout)
}
