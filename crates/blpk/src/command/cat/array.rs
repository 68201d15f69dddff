//! `blpk cat` of arrays: those in directories, columns of tables, and those in frames.

use std::ops::Range;
use std::path::Path;

use super::{ByteRange, Cat, check_complete, no_chunk};
use crate::dataset::copy::copy_region;
use crate::dataset::slice::Region;
use crate::dataset::slice_reader::SliceReader;
use crate::dataset::{self, parts};
use crate::failure::Failure;
use crate::input::{self, STANDARD};
use crate::output::Output;
use crate::session::Session;
use crate::status::Status;

impl Cat {
    /// Prints elements of a dataset.
    pub(super) fn dataset(&self, session: &Session) -> Result<Status, Failure> {
        let dataset = dataset::open(&self.path, session)?;
        let array = dataset::array(&self.path, &dataset, self.column.as_deref())?;
        let failed = |error| dataset::failure(&self.path, &error);
        self.elements(array, &failed, session)
    }

    /// Prints elements of an array.
    pub(super) fn elements(
        &self,
        array: &dyn SliceReader,
        failed: &dyn Fn(bloscpack::Error) -> Failure,
        session: &Session,
    ) -> Result<Status, Failure> {
        let mut output = Output::create(Path::new(STANDARD), &[], session)?;
        let (region, bytes) = self.region(array)?;
        let copied = copy_region(array, &region, bytes, failed, &mut output, session)?;
        check_complete(self.range, copied, &input::name(&self.path))?;
        output.commit()?;
        Ok(Status::Done)
    }

    /// The elements to read, and the range of their bytes to print.
    fn region(&self, array: &dyn SliceReader) -> Result<(Region, Range<u64>), Failure> {
        let (name, shape) = (input::name(&self.path), array.shape());
        if let Some(range) = self.range {
            return Ok(of_bytes(range, array));
        }
        let region = if let Some(rows) = self.rows {
            Region::of_rows(rows.resolve(array.rows(), &name)?, shape)
        } else if let Some(slice) = &self.slice {
            slice.resolve(shape, &name)?
        } else if let Some(number) = self.chunk {
            if number >= array.chunks() {
                return Err(no_chunk(number, array.chunks(), &name));
            }
            Region {
                ranges: parts::chunk(number, shape, &array.chunk_shape()),
            }
        } else {
            Region::all(shape)
        };
        Ok((region, 0..u64::MAX))
    }
}

/// The rows that contain these bytes of an array, and the position of the bytes in those.
fn of_bytes(range: ByteRange, array: &dyn SliceReader) -> (Region, Range<u64>) {
    let row = array.row_bytes().max(1);
    let end = range.end.unwrap_or(u64::MAX).min(array.nbytes());
    let start = range.start.min(end);
    let rows = start / row..end.div_ceil(row);
    let before = rows.start * row;
    let region = Region::of_rows(rows, array.shape());
    (region, start - before..end - before)
}
