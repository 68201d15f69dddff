//! `blpk cat` of Blosc2 frames: of the array in one, or of its chunks.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use bloscpack::frame::{Frame, NdArray};

use super::{Cat, Span, confirm, no_chunk};
use crate::frame::{failure, open};
use crate::input::{self, STANDARD};
use crate::message::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

impl Cat {
    /// Prints elements of the array in a frame; of a frame without one, the data of its chunks.
    pub(super) fn frame(&self, session: &Session) -> Result<Status, Failure> {
        let failed = |error| failure(&self.path, &error);
        if self.column.is_some() {
            let title = format!("{} is no table", input::name(&self.path));
            return Err(Failure::usage(title).hint("--column is for tables, which are directories"));
        }
        let frame = open(&self.path, session)?;
        match frame.array_meta().map_err(failed)? {
            Some(_) => self.elements(&NdArray::of(frame).map_err(failed)?, &failed, session),
            None => self.chunks(&frame, session),
        }
    }

    fn chunks(&self, frame: &Frame, session: &Session) -> Result<Status, Failure> {
        let (numbers, span) = self.numbers(frame)?;
        let mut output = Output::create(Path::new(STANDARD), &[], session)?;
        let size = u64::from(frame.chunk_size());
        let progress = Progress::new(
            session,
            Some((numbers.end - numbers.start).saturating_mul(size)),
        );
        let mut passed = 0_u64;
        for number in numbers {
            let data = frame.chunk(number);
            let data = data.map_err(|error| output.explain(failure(&self.path, &error)))?;
            progress.advance(u64::try_from(data.len()).unwrap_or(0));
            let begin = number.saturating_mul(size);
            let within = |at: u64| {
                let place = usize::try_from(at.saturating_sub(begin)).unwrap_or(usize::MAX);
                place.min(data.len())
            };
            let end = span.end.map_or(data.len(), within);
            let wanted = data.get(within(span.start)..end).unwrap_or_default();
            let done = output.write_all(wanted);
            done.map_err(|error| output.explain(Failure::io(output.name(), &error)))?;
            passed += u64::try_from(wanted.len()).unwrap_or(0);
        }
        progress.finish();
        confirm(self.range, passed, &input::name(&self.path))?;
        output.commit()?;
        Ok(Status::Done)
    }

    /// The chunks that are to be read, and which bytes of all are wanted.
    fn numbers(&self, frame: &Frame) -> Result<(Range<u64>, Span), Failure> {
        let (name, chunks) = (input::name(&self.path), frame.chunks());
        if self.rows.is_some() || self.slice.is_some() {
            let title = format!("{name} holds no array, but chunks of bytes");
            return Err(Failure::usage(title).hint("--range A..B or --chunk N"));
        }
        if let Some(number) = self.chunk {
            return match number < chunks {
                true => Ok((number..number + 1, Span::default())),
                false => Err(no_chunk(number, chunks, &name)),
            };
        }
        let span = self.range.unwrap_or_default();
        let size = u64::from(frame.chunk_size()).max(1);
        let end = span
            .end
            .map_or(chunks, |end| end.div_ceil(size).min(chunks));
        Ok(((span.start / size).min(end)..end, span))
    }
}
