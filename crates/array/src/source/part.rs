//! [`PartSource`]: some columns and rows of a source.

use super::{Batch, BoxedSource, Schema, Source, check_rows};
use crate::Cells;
use crate::schema::names;
use bloscpack_error::checked::in_memory;
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// Reads some columns and a range of rows of a source. It reads the source from its first row, and skips what comes before.
///
/// ```
/// use bloscpack_array::{ArraySource, Flat, PartSource, Source};
/// use bloscpack_dtype::DType;
///
/// let array = Flat::new(vec![1, 2, 3, 4, 5], DType::U8, &[5], false)?;
/// let mut part = PartSource::new(Box::new(ArraySource::new(&array)?), &[], 1..4)?;
/// assert_eq!(part.next_batch(1 << 20)?.ok_or("no rows")?.columns, [[2, 3, 4]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PartSource<'a> {
    inner: BoxedSource<'a>,
    schema: Schema,
    /// For each column of this source, its position in the inner source.
    chosen: Vec<usize>,
    skip: u64,
    rows: u64,
    left: u64,
}

impl<'a> PartSource<'a> {
    /// Chooses columns by name, in this order, or all if none is named, and a range of rows.
    ///
    /// # Errors
    /// Returns `Code::Usage` for a column that does not exist or is named twice, for rows past the end, and for a source whose
    /// number of rows is unknown.
    pub fn new(inner: BoxedSource<'a>, columns: &[String], rows: Range<u64>) -> Result<Self> {
        check_rows(&rows, inner.known_rows()?)?;
        let mut schema = inner.schema().clone();
        let all = std::mem::take(&mut schema.columns);
        let mut chosen: Vec<usize> = Vec::new();
        for name in columns {
            let found = all.iter().position(|column| column.name == *name);
            let found = found.filter(|found| !chosen.contains(found));
            chosen.push(found.ok_or_else(|| {
                let there = names(&all);
                Error::usage(format!(
                    "no column {name:?}, or one that is named twice; there are {there}"
                ))
            })?);
        }
        if columns.is_empty() {
            chosen.extend(0..all.len());
        }
        let wanted = chosen.iter().filter_map(|number| all.get(*number));
        schema.columns = wanted.cloned().collect();
        Ok(Self {
            inner,
            schema,
            chosen,
            skip: rows.start,
            rows: rows.end - rows.start,
            left: rows.end - rows.start,
        })
    }
}

impl Source for PartSource<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn warnings(&self) -> &[String] {
        self.inner.warnings()
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        while self.left > 0 {
            let Some(batch) = self.inner.next_batch(bytes)? else {
                break;
            };
            batch.check(self.inner.schema())?;
            let begin = self.skip.min(batch.rows);
            let end = batch.rows.min(begin.saturating_add(self.left));
            self.skip -= begin;
            self.left -= end - begin;
            if begin < end {
                return self.part(batch, begin..end).map(Some);
            }
        }
        Ok(None)
    }
}

impl PartSource<'_> {
    /// Some rows of the chosen columns of a batch.
    fn part(&self, mut batch: Batch, rows: Range<u64>) -> Result<Batch> {
        batch.cells.resize(batch.columns.len(), Cells::Elements);
        let mut part = Batch {
            rows: rows.end - rows.start,
            ..Batch::default()
        };
        let wanted = in_memory(rows.start)?..in_memory(rows.end)?;
        for (number, column) in self.chosen.iter().zip(&self.schema.columns) {
            let missing = || Error::bug("a batch without one of its columns");
            let bytes = batch.columns.get_mut(*number).map(std::mem::take);
            let cells = batch.cells.get_mut(*number).map(std::mem::take);
            let (mut bytes, cells) = bytes.zip(cells).ok_or_else(missing)?;
            let row = in_memory(column.row_bytes())?;
            cut(&mut bytes, wanted.start * row..wanted.end * row);
            part.columns.push(bytes);
            part.cells.push(match cells {
                Cells::Elements => Cells::Elements,
                Cells::Present(mut present) => {
                    cut(&mut present, wanted.clone());
                    Cells::Present(present)
                }
                Cells::Varying(mut values) => {
                    cut(&mut values, wanted.clone());
                    Cells::Varying(values)
                }
            });
        }
        Ok(part)
    }
}

/// Keeps only this range.
fn cut<T>(items: &mut Vec<T>, range: Range<usize>) {
    items.truncate(range.end);
    items.drain(..range.start.min(items.len()));
}
