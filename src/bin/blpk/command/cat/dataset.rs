//! `blpk cat` of arrays: those of directories, and columns of tables.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use bloscpack::dataset::CArray;

use super::{Cat, Span, confirm, no_chunk};
use crate::dataset::slice::Box;
use crate::dataset::{Array, failure, read};
use crate::input::STANDARD;
use crate::message::{Failure, quoted};
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

impl Cat {
    /// Prints elements of an array.
    pub(super) fn dataset(&self, session: &Session) -> Result<Status, Failure> {
        let array = Array::open(&self.path, self.column.as_deref(), session)?;
        let array = array.get(&self.path)?;
        let mut output = Output::create(Path::new(STANDARD), &[], session)?;
        let (wanted, window) = self.wanted(array)?;
        let total = wanted.bytes(array.dtype().itemsize());
        let progress = Progress::new(session, Some(total));
        let mut window = Window::new(window);
        let mut copy = |part: &[Range<u64>]| {
            let bytes = array.read_slice(part);
            let bytes = bytes.map_err(|error| output.explain(failure(&self.path, &error)))?;
            progress.advance(u64::try_from(bytes.len()).unwrap_or(0));
            let done = output.write_all(window.cut(&bytes));
            done.map_err(|error| output.explain(Failure::io(output.name(), &error)))
        };
        read::in_parts(
            &wanted.ranges,
            array.dtype().itemsize(),
            array.chunk_shape(),
            &mut copy,
        )?;
        progress.finish();
        confirm(self.range, window.passed, &quoted(&self.path))?;
        output.commit()?;
        Ok(Status::Done)
    }

    /// The elements that are to be read, and which of their bytes are wanted.
    fn wanted(&self, array: &CArray) -> Result<(Box, Span), Failure> {
        let (name, shape) = (quoted(&self.path), array.shape());
        if let Some(span) = self.range {
            return Ok(of_bytes(span, array));
        }
        let found = if let Some(rows) = self.rows {
            Box::of_rows(rows.resolve(array.rows(), &name)?, shape)
        } else if let Some(slice) = &self.slice {
            slice.resolve(shape, &name)?
        } else if let Some(number) = self.chunk {
            if number >= array.chunks() {
                return Err(no_chunk(number, array.chunks(), &name));
            }
            Box {
                ranges: read::chunk(number, shape, array.chunk_shape()),
            }
        } else {
            Box::whole(shape)
        };
        Ok((found, Span::default()))
    }
}

/// The rows that hold these bytes, and where these are among those.
fn of_bytes(span: Span, array: &CArray) -> (Box, Span) {
    let row = u64::try_from(array.row_bytes()).unwrap_or(u64::MAX).max(1);
    let end = span.end.unwrap_or(u64::MAX).min(array.nbytes());
    let start = span.start.min(end);
    let rows = start / row..end.div_ceil(row);
    let before = rows.start.saturating_mul(row);
    let window = Span {
        start: start - before,
        end: Some(end - before),
    };
    (Box::of_rows(rows, array.shape()), window)
}

/// Lets some of the bytes that come by pass.
struct Window {
    span: Span,
    at: u64,
    /// Bytes that have passed.
    passed: u64,
}

impl Window {
    fn new(span: Span) -> Self {
        Self {
            span,
            at: 0,
            passed: 0,
        }
    }

    /// Those of the bytes that are wanted.
    fn cut<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let within = |at: u64| usize::try_from(at.saturating_sub(self.at).min(len)).unwrap_or(0);
        let end = self.span.end.map_or(bytes.len(), within);
        let cut = bytes.get(within(self.span.start)..end).unwrap_or_default();
        self.at = self.at.saturating_add(len);
        let count = u64::try_from(cut.len()).unwrap_or(0);
        self.passed = self.passed.saturating_add(count);
        cut
    }
}
