//! Counts progress, and lets the progress function end the work.

use crate::exchange::{Batch, BoxedSource, Schema, Source};
use bloscpack::Watch;
use bloscpack_error::{Error, Result, Side};
use bloscpack_storage::{ReadAt, SharedSource};
use std::io::{self, Read};
use std::ops::Range;

/// Counts bytes. An error of the progress function ends the work.
pub(crate) fn advance(watch: &Watch, bytes: u64, total: Option<u64>) -> Result<()> {
    let done = watch.count(bytes, total);
    done.map_err(|error| Error::from(error).on(Side::Source))
}

/// Counts bytes of work that the progress function cannot end.
pub(crate) fn show(watch: &Watch, bytes: u64, total: u64) {
    let _ = watch.count(bytes, Some(total));
}

/// Counts the bytes of all rows that are read from a source.
pub fn rows<'a>(watch: &Watch, source: BoxedSource<'a>) -> BoxedSource<'a> {
    Box::new(Watched {
        inner: source,
        watch: watch.clone(),
        total: None,
    })
}

/// A source or reader whose bytes are counted as they are read.
pub(crate) struct Watched<S> {
    pub inner: S,
    pub watch: Watch,
    pub total: Option<u64>,
}

impl ReadAt for Watched<SharedSource> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read_at(at, buf)?;
        self.watch
            .count(bloscpack_wire::internal::to_u64(count), self.total)?;
        Ok(count)
    }

    fn size(&self) -> io::Result<u64> {
        self.inner.size()
    }

    fn will_read(&self, ranges: &[Range<u64>]) {
        self.inner.will_read(ranges);
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buf)?;
        self.watch
            .count(bloscpack_wire::internal::to_u64(count), self.total)?;
        Ok(count)
    }
}

impl Source for Watched<BoxedSource<'_>> {
    fn schema(&self) -> &Schema {
        self.inner.schema()
    }

    fn rows(&self) -> Option<u64> {
        self.inner.rows()
    }

    fn warnings(&self) -> &[String] {
        self.inner.warnings()
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let row_bytes = self.schema().row_bytes();
        // A file may claim any number of rows. This is only shown.
        let total = self.rows().map(|rows| rows.saturating_mul(row_bytes));
        let batch = self.inner.next_batch(bytes);
        let batch = batch.map_err(|error| error.on(Side::Source))?;
        let bytes = batch.as_ref().map_or(0, |batch| batch.rows);
        advance(&self.watch, bytes.saturating_mul(row_bytes), total)?;
        Ok(batch)
    }
}
