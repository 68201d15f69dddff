//! Tests of datasets exported to the formats of other programs, and imported from them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test, of numbers that it has made"
)]

mod corpus;
use testkit::counting;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

use testkit::datasets;
mod facts;
mod hostile;
mod random;
#[cfg(feature = "arrow")]
mod zipline;

use bloscpack_exchange::{
    Batch, BoxedSource, Column, Format, ImportOptions, Schema, Source, export, open_at,
};

/// The formats that can also be imported.
const READ: [Format; 4] = [Format::Npy, Format::Csv, Format::Arrow, Format::Parquet];

fn available() -> impl Iterator<Item = Format> {
    READ.into_iter().filter(|format| format.is_available())
}

/// Columns in memory.
#[derive(Clone, Debug)]
struct Held {
    schema: Schema,
    rows: u64,
    columns: Vec<Vec<u8>>,
    done: u64,
}

impl Held {
    fn new(schema: Schema, rows: u64, columns: Vec<Vec<u8>>) -> Self {
        Self {
            schema,
            rows,
            columns,
            done: 0,
        }
    }

    /// Reads a source to its end, in batches of `bytes` bytes.
    fn of(source: &mut dyn Source, bytes: usize) -> bloscpack_error::Result<Self> {
        let schema = source.schema().clone();
        let (mut rows, mut columns) = (0, vec![Vec::new(); schema.columns.len()]);
        while let Some(batch) = source.next_batch(bytes)? {
            rows += batch.rows;
            assert_eq!(batch.columns.len(), columns.len());
            for ((all, some), column) in columns.iter_mut().zip(batch.columns).zip(&schema.columns)
            {
                assert_eq!(some.len() as u64, batch.rows * column.row_bytes());
                all.extend(some);
            }
        }
        Ok(Self::new(schema, rows, columns))
    }

    fn column(&self, name: &str) -> (&Column, &[u8]) {
        let found = self.schema.columns.iter().position(|it| it.name == name);
        let at = found.unwrap_or_else(|| panic!("no column {name}"));
        (&self.schema.columns[at], &self.columns[at])
    }

    /// The elements of a column as text.
    fn texts(&self, name: &str) -> Vec<String> {
        let (column, bytes) = self.column(name);
        let elements = bytes.chunks_exact(column.dtype.itemsize() as usize);
        let texts = elements.map(|element| {
            let mut text = String::new();
            column.dtype.write_text(element, &mut text);
            text
        });
        texts.collect()
    }
}

impl Source for Held {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn next_batch(&mut self, bytes: usize) -> bloscpack_error::Result<Option<Batch>> {
        let most = (bytes as u64 / self.schema.row_bytes().max(1)).max(1);
        let (from, to) = (self.done, (self.done + most).min(self.rows));
        self.done = to;
        let parts = self.schema.columns.iter().zip(&self.columns);
        let parts = parts.map(|(column, bytes)| {
            let row = column.row_bytes() as usize;
            bytes[from as usize * row..to as usize * row].to_vec()
        });
        let columns = parts.collect();
        Ok((to > from).then_some(Batch {
            rows: to - from,
            columns,
            ..Batch::default()
        }))
    }
}

fn written(source: &mut dyn Source, format: Format) -> bloscpack_error::Result<Vec<u8>> {
    let (mut file, mut last) = (Vec::new(), 0);
    export(source, format, &mut file, &mut |rows| last = rows)?;
    assert_eq!(Some(last), source.rows());
    Ok(file)
}

fn opened(
    file: &[u8],
    format: Format,
    options: &ImportOptions,
) -> bloscpack_error::Result<BoxedSource<'static>> {
    open_at(file.to_vec(), format, options)
}

/// The types of a schema, for formats that do not contain them.
fn typed(schema: &Schema) -> ImportOptions {
    let columns = schema.columns.iter().cloned();
    columns.fold(ImportOptions::new(), ImportOptions::column)
}

/// Out and in again: the same schema and the same bytes, or at least the same text of every element.
fn check_round(held: &Held, format: Format) -> bloscpack_error::Result<()> {
    let file = written(&mut held.clone(), format)?;
    let options = match format {
        Format::Csv => typed(&held.schema),
        _ => ImportOptions::new(),
    };
    let mut source = opened(&file, format, &options)?;
    if format == Format::Npy && held.schema.is_table {
        source = source.fields()?;
    }
    let back = Held::of(&mut *source, 1000)?;
    assert_eq!(back.rows, held.rows, "{format}");
    if format == Format::Npy {
        // It does not say whether the offsets of fields are aligned as in C.
        let descr = |column: &Column| (column.dtype.descr(), column.row_shape.clone());
        let descrs = |schema: &Schema| schema.columns.iter().map(descr).collect::<Vec<_>>();
        assert_eq!(descrs(&back.schema), descrs(&held.schema));
    } else {
        // NaT is one of the words for a missing value.
        let mut columns = back.schema.columns.clone();
        for (column, held) in columns.iter_mut().zip(&held.schema.columns) {
            column.nullable = held.nullable;
            column.nan_is_null = held.nan_is_null;
        }
        assert_eq!(columns, held.schema.columns, "{format}");
    }
    if matches!(format, Format::Arrow | Format::Parquet) {
        assert_eq!(back.schema, held.schema, "{format}");
    }
    for (column, (back, bytes)) in
        (held.schema.columns.iter()).zip(back.columns.iter().zip(&held.columns))
    {
        // Text knows one "not a number", fields have room between them, and truth is 0 or 1.
        let exact = format == Format::Npy;
        if exact && back == bytes {
            continue;
        }
        assert!(!exact, "{format}: {}", column.dtype);
        let size = column.dtype.itemsize() as usize;
        for (row, (back, element)) in
            (back.chunks_exact(size).zip(bytes.chunks_exact(size))).enumerate()
        {
            let (mut one, mut other) = (String::new(), String::new());
            column.dtype.write_text(back, &mut one);
            column.dtype.write_text(element, &mut other);
            // JSON, which lists of elements are in CSV, has no infinity.
            let lost = format == Format::Csv && !column.row_shape.is_empty();
            let same =
                one == other || lost && column.dtype.value(back) == column.dtype.value(element);
            assert!(same, "{format}: {} {row}: {one} {other}", column.dtype);
        }
    }
    Ok(())
}
