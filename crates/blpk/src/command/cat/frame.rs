//! `blpk cat` of Blosc2 frames: of the array in one, or of its chunks.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use bloscpack::frame::{Frame, NdArray};

use super::{Cat, check_complete, no_chunk};
use crate::dataset::copy::{cut, within};
use crate::failure::Failure;
use crate::frame::{failure, open};
use crate::input::{self, STANDARD};
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use bloscpack::wire::internal::to_u64;

impl Cat {
    /// Prints elements of the array in a frame, or the chunks of a frame without one.
    pub(super) fn frame(&self, session: &Session) -> Result<Status, Failure> {
        let failed = |error| failure(&self.path, &error);
        self.refuse_column()?;
        let frame = open(&self.path, session)?;
        match frame.array_meta().map_err(failed)? {
            Some(_) => self.elements(&NdArray::of(frame).map_err(failed)?, &failed, session),
            None => self.chunks(&frame, session),
        }
    }

    fn chunks(&self, frame: &Frame, session: &Session) -> Result<Status, Failure> {
        let (numbers, wanted) = self.numbers(frame)?;
        let mut output = Output::create(Path::new(STANDARD), &[], session)?;
        let size = u64::from(frame.chunk_size());
        // A frame may claim any number of chunks. This total is only shown.
        let total = (numbers.end - numbers.start).saturating_mul(size);
        let progress = Progress::new(session, Some(total));
        let failed = |error, output: &Output| output.unfinished(failure(&self.path, &error));
        let mut copied = 0;
        for number in numbers {
            let data = frame.chunk(number);
            let data = data.map_err(|error| failed(error, &output))?;
            let len = to_u64(data.len());
            progress.advance(len);
            let data = cut(&data, within(&wanted, number * size, len));
            let data = data.map_err(|error| failed(error, &output))?;
            output
                .write_all(data)
                .map_err(|error| output.failed(&error))?;
            copied += to_u64(data.len());
        }
        progress.finish();
        check_complete(self.range, copied, &input::name(&self.path))?;
        output.commit()?;
        Ok(Status::Done)
    }

    /// The chunks to read, and the range of the frame's bytes to print.
    fn numbers(&self, frame: &Frame) -> Result<(Range<u64>, Range<u64>), Failure> {
        let (name, chunks) = (input::name(&self.path), frame.chunks());
        if self.rows.is_some() || self.slice.is_some() {
            let title = format!("{name} contains chunks of bytes, but no array");
            return Err(Failure::usage(title).hint("use --range A..B or --chunk N"));
        }
        if let Some(number) = self.chunk {
            return match number < chunks {
                true => Ok((number..number + 1, 0..u64::MAX)),
                false => Err(no_chunk(number, chunks, &name)),
            };
        }
        let range = self.range.unwrap_or_default();
        let size = u64::from(frame.chunk_size()).max(1);
        let bytes = range.start..range.end.unwrap_or(u64::MAX);
        let end = bytes.end.div_ceil(size).min(chunks);
        Ok(((bytes.start / size).min(end)..end, bytes))
    }
}
