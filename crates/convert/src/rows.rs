//! Adapters of rows: [`ElementReader`] for targets that read bytes, [`Counted`] for targets without missing values.

use std::collections::BTreeMap;
use std::io::{self, Read};

use bloscpack_error::Result;
use bloscpack_open::array::BATCH;
use bloscpack_open::exchange::{Batch, BoxedSource, Cells, OneArray, Schema, Source};

/// A source that counts its missing values, for a target that cannot store them as such.
pub struct Counted<'a> {
    source: BoxedSource<'a>,
    /// Missing values per column: in columns whose type has NaN or NaT, and in columns of strings.
    missing: [BTreeMap<String, usize>; 2],
}

impl<'a> Counted<'a> {
    /// Counts the missing values of this source.
    #[must_use]
    pub fn new(source: BoxedSource<'a>) -> Self {
        Self {
            source,
            missing: Default::default(),
        }
    }

    /// Warnings about how missing values were stored, with the columns and their numbers; empty if none were missing so far.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let stored = [
            "missing values are stored as NaN or NaT, and read as null",
            "missing strings are stored as empty ones",
        ];
        let all = stored.iter().zip(&self.missing);
        all.filter(|(_, columns)| !columns.is_empty())
            .map(|(stored, columns)| {
                let columns = columns.iter();
                let columns = columns.map(|(column, rows)| format!("{column} ({rows})"));
                format!("{stored}: {}", columns.collect::<Vec<_>>().join(", "))
            })
            .collect()
    }

    fn count(&mut self, batch: &Batch) {
        for (number, column) in self.source.schema().columns.iter().enumerate() {
            if let Cells::Present(present) = batch.cells(number) {
                let rows = present.iter().filter(|present| !**present).count();
                let [nan, empty] = &mut self.missing;
                let columns = if column.dtype.has_nan() { nan } else { empty };
                if rows > 0 {
                    *columns.entry(column.name.clone()).or_default() += rows;
                }
            }
        }
    }
}

impl Source for Counted<'_> {
    fn schema(&self) -> &Schema {
        self.source.schema()
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn warnings(&self) -> &[String] {
        self.source.warnings()
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let batch = self.source.next_batch(bytes)?;
        if let Some(batch) = &batch {
            self.count(batch);
        }
        Ok(batch)
    }
}

/// Reads the bytes of the elements of an array in C order. Holds one batch of about 16 MiB in memory.
pub struct ElementReader<'a> {
    array: OneArray<'a>,
    batch: io::Cursor<Vec<u8>>,
}

impl<'a> ElementReader<'a> {
    /// Reads from the next element of the array.
    #[must_use]
    pub fn new(array: OneArray<'a>) -> Self {
        Self {
            array,
            batch: io::Cursor::default(),
        }
    }
}

impl Read for ElementReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.batch.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(elements) = self.array.next_elements(BATCH)? else {
                return Ok(0);
            };
            self.batch = io::Cursor::new(elements);
        }
    }
}
