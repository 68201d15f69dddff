//! `blpk cat` of arrays: those of directories, columns of tables, and those of frames.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use super::{Cat, Span, confirm, no_chunk};
use crate::dataset::slice::Box;
use crate::dataset::{self, Array, read};
use crate::elements::Elements;
use crate::input::{self, STANDARD};
use crate::message::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

impl Cat {
    /// Prints elements of a dataset.
    pub(super) fn dataset(&self, session: &Session) -> Result<Status, Failure> {
        let array = Array::open(&self.path, self.column.as_deref(), session)?;
        let array = array.get(&self.path)?;
        let failed = |error| dataset::failure(&self.path, &error);
        self.elements(array, &failed, session)
    }

    /// Prints elements of an array.
    pub(super) fn elements(
        &self,
        array: &dyn Elements,
        failed: &dyn Fn(bloscpack::Error) -> Failure,
        session: &Session,
    ) -> Result<Status, Failure> {
        let mut output = Output::create(Path::new(STANDARD), &[], session)?;
        let (wanted, window) = self.wanted(array)?;
        let itemsize = array.itemsize();
        let progress = Progress::new(session, Some(wanted.bytes(itemsize)));
        let mut window = Window::new(window);
        let mut copy = |part: &[Range<u64>]| {
            let len = Box {
                ranges: part.to_vec(),
            };
            let len = len.bytes(itemsize);
            progress.advance(len);
            if window.skips(len) {
                return Ok(());
            }
            let bytes = array.read(part);
            let bytes = bytes.map_err(|error| output.explain(failed(error)))?;
            let done = output.write_all(window.cut(&bytes));
            done.map_err(|error| output.explain(Failure::io(output.name(), &error)))
        };
        read::in_parts(&wanted.ranges, itemsize, &array.chunk_shape(), &mut copy)?;
        progress.finish();
        confirm(self.range, window.passed, &input::name(&self.path))?;
        output.commit()?;
        Ok(Status::Done)
    }

    /// The elements that are to be read, and which of their bytes are wanted.
    fn wanted(&self, array: &dyn Elements) -> Result<(Box, Span), Failure> {
        let (name, shape) = (input::name(&self.path), array.shape());
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
                ranges: read::chunk(number, shape, &array.chunk_shape()),
            }
        } else {
            Box::whole(shape)
        };
        Ok((found, Span::default()))
    }
}

/// The rows that hold these bytes, and where these are among those.
fn of_bytes(span: Span, array: &dyn Elements) -> (Box, Span) {
    let row = array.row_bytes().max(1);
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

    /// Whether none of the next bytes is wanted, which pass by unseen then.
    fn skips(&mut self, len: u64) -> bool {
        let next = self.at.saturating_add(len);
        let skips = next <= self.span.start || self.span.end.is_some_and(|end| self.at >= end);
        if skips {
            self.at = next;
        }
        skips
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
