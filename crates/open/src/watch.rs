//! [`Watch`]: the progress of the work, and its end before time.

use bloscpack_storage::ReadAt;
use bloscpack_storage::SharedSource;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

/// Called with the bytes that were processed, and how many there will be in all where that is known.
type Callback = dyn Fn(u64, Option<u64>) -> io::Result<()> + Send + Sync;

/// The function that is called as the work goes on.
#[derive(Clone, Default)]
pub(crate) struct Watch(pub Option<Arc<Callback>>);

impl Watch {
    /// Counts bytes.
    pub(crate) fn count(&self, bytes: u64, total: Option<u64>) -> io::Result<()> {
        match &self.0 {
            Some(callback) => callback(bytes, total),
            None => Ok(()),
        }
    }

    /// Counts bytes of the source.
    pub(crate) fn advance(&self, bytes: u64, total: Option<u64>) -> bloscpack_error::Result<()> {
        use bloscpack_error::{Error, Side};
        let done = self.count(bytes, total);
        done.map_err(|error| Error::from(error).on(Side::Source))
    }

    /// Counts the bytes of rows.
    pub(crate) fn rows<'a>(
        &self,
        source: crate::exchange::BoxedSource<'a>,
    ) -> crate::exchange::BoxedSource<'a> {
        Box::new(Watched {
            inner: source,
            watch: self.clone(),
            total: None,
        })
    }

    /// Counts bytes of work that an error of the callback cannot end.
    pub(crate) fn show(&self, bytes: u64, total: u64) {
        let _ = self.count(bytes, Some(total));
    }
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

mod rows {
    use super::Watched;
    use crate::exchange::{Batch, BoxedSource, Schema, Source};
    use bloscpack_error::{Result, Side};

    impl Source for Watched<BoxedSource<'_>> {
        fn schema(&self) -> &Schema {
            self.inner.schema()
        }

        fn rows(&self) -> u64 {
            self.inner.rows()
        }

        fn warnings(&self) -> &[String] {
            self.inner.warnings()
        }

        fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
            let row_bytes = self.schema().row_bytes();
            // A file may claim any number of rows. This is only shown.
            let total = self.rows().saturating_mul(row_bytes);
            let batch = self.inner.next_batch(bytes);
            let batch = batch.map_err(|error| error.on(Side::Source))?;
            let bytes = batch.as_ref().map_or(0, |batch| batch.rows);
            self.watch
                .advance(bytes.saturating_mul(row_bytes), Some(total))?;
            Ok(batch)
        }
    }
}
