//! `blpk cat` of packed records, without separators.

use std::cell::RefCell;
use std::io::Read;

use bloscpack::{
    Error,
    records::{IndexedRecordReader, RecordReader},
};

use super::{ByteRange, Cat, check_complete, needs_positions, no_chunk};
use crate::command::records::{FlushingReader, RecordOutput, Separator, failed_to_read};
use crate::dataset::copy::{cut, within};
use crate::failure::Failure;
use crate::input::Input;
use crate::output::Output;
use crate::session::Session;
use crate::status::Status;
use bloscpack::wire::internal::to_u64;

impl Cat {
    /// Prints the wanted part of the records.
    pub(super) fn packed(
        &self,
        input: &Input,
        reader: impl Read,
        output: Output,
        session: &Session,
    ) -> Result<Status, Failure> {
        let out = RefCell::new(RecordOutput::new(output, Separator::Nothing));
        let done = match self.chunk {
            Some(number) => by_chunk(number, input, &mut out.borrow_mut(), session),
            None => in_order(self.range, input, reader, &out, session),
        };
        out.into_inner().finish(done)?;
        Ok(Status::Done)
    }
}

/// Prints the records of a chunk.
fn by_chunk(
    number: u64,
    input: &Input,
    out: &mut RecordOutput,
    session: &Session,
) -> Result<(), Failure> {
    let file = input.by_position().ok_or_else(needs_positions)?;
    let reader = IndexedRecordReader::builder().limits(session.limits);
    let failed = |error, out: &RecordOutput| failed_to_read(&error, input, out.output());
    let reader = reader.open(file).map_err(|error| failed(error, out))?;
    session.warnings(&input.name(), reader.warnings());
    let range = reader.chunk_range(number);
    let range = range.map_err(|error| failed(error, out))?;
    let range = range.ok_or_else(|| no_chunk(number, reader.chunks(), &input.name()))?;
    for record in reader.range(range) {
        let record = record.map_err(|error| failed(error, out))?;
        out.put(&record)
            .map_err(|error| out.output().failed(&error))?;
    }
    Ok(())
}

/// Reads all records from the beginning, with all threads.
fn in_order(
    range: Option<ByteRange>,
    input: &Input,
    reader: impl Read,
    out: &RefCell<RecordOutput>,
    session: &Session,
) -> Result<(), Failure> {
    let mut reader = RecordReader::builder()
        .threads(session.threads)
        .limits(session.limits)
        .read_from(FlushingReader { reader, out });
    let done = copy(range.unwrap_or_default(), &mut reader, out);
    session.warnings(&input.name(), reader.warnings());
    let copied = done.map_err(|error| failed_to_read(&error, input, out.borrow().output()))?;
    check_complete(range, copied, &input.name())
}

/// Copies a range of the records' bytes, and returns how many there were.
fn copy(
    range: ByteRange,
    reader: &mut RecordReader<impl Read>,
    out: &RefCell<RecordOutput>,
) -> Result<u64, Error> {
    let wanted = range.start..range.end.unwrap_or(u64::MAX);
    let (mut at, mut copied) = (0, 0);
    while at < wanted.end
        && let Some(record) = reader.next_record()?
    {
        let len = to_u64(record.len());
        let bytes = cut(record, within(&wanted, at, len))?;
        out.borrow_mut().put(bytes)?;
        copied += to_u64(bytes.len());
        at += len;
    }
    Ok(copied)
}
