//! `blpk cat` of packed records: their bytes, one record behind the other.

use std::cell::RefCell;
use std::io::Read;

use bloscpack::{Error, IndexedRecordReader, RecordReader};

use super::{Cat, Span, confirm, no_chunk, no_positions};
use crate::command::records::{Joined, Paced, Separator, reading};
use crate::input::Input;
use crate::message::Failure;
use crate::output::Output;
use crate::session::Session;
use crate::status::Status;

impl Cat {
    /// Writes what is wanted of the records.
    pub(super) fn packed(
        &self,
        input: &Input,
        source: impl Read,
        output: Output,
        session: &Session,
    ) -> Result<Status, Failure> {
        let out = RefCell::new(Joined::new(output, Separator::Nothing));
        let done = match self.chunk {
            Some(number) => by_chunk(number, input, &mut out.borrow_mut(), session)?.map(|()| None),
            None => in_order(self.range, input, source, &out, session).map(Some),
        };
        let mut out = out.into_inner();
        if let Err(error) = done {
            // What is sound before the fault is let out.
            let _ = out.flush();
            return Err(reading(&error, input, out.output()));
        }
        if let Ok(Some(copied)) = done {
            confirm(self.range, copied, &input.name())?;
        }
        out.into_output().commit()?;
        Ok(Status::Done)
    }
}

/// Writes the records of a chunk.
fn by_chunk(
    number: u64,
    input: &Input,
    out: &mut Joined,
    session: &Session,
) -> Result<Result<(), Error>, Failure> {
    let file = input.at_positions().ok_or_else(no_positions)?;
    let records = IndexedRecordReader::builder().limits(session.limits);
    let blame = |error| reading(&error, input, out.output());
    let records = records.open(file).map_err(blame)?;
    for warning in records.warnings() {
        session.warning(format_args!("{}: {warning}", input.name()));
    }
    let range = records.chunk_range(number).map_err(blame)?;
    let range = range.ok_or_else(|| no_chunk(number, records.chunks(), &input.name()))?;
    let mut all = records.range(range);
    let done = all.try_for_each(|record| Ok(out.put(&record?)?));
    Ok(done.and_then(|()| Ok(out.flush()?)))
}

/// Reads all records from the beginning, on all threads; gives how much of the range there was.
fn in_order(
    span: Option<Span>,
    input: &Input,
    source: impl Read,
    out: &RefCell<Joined>,
    session: &Session,
) -> Result<u64, Error> {
    let mut reader = RecordReader::builder()
        .threads(session.threads)
        .limits(session.limits)
        .read_from(Paced { input: source, out });
    let done = copy(span.unwrap_or_default(), &mut reader, out);
    for warning in reader.warnings() {
        session.warning(format_args!("{}: {warning}", input.name()));
    }
    done
}

fn copy(
    span: Span,
    reader: &mut RecordReader<impl Read>,
    out: &RefCell<Joined>,
) -> Result<u64, Error> {
    let end = span.end.unwrap_or(u64::MAX);
    let (mut at, mut copied) = (0_u64, 0);
    while at < end
        && let Some(record) = reader.next_record()?
    {
        let len = u64::try_from(record.len()).unwrap_or(u64::MAX);
        let within = |bound: u64| {
            let place = bound.saturating_sub(at).min(len);
            usize::try_from(place).unwrap_or(usize::MAX)
        };
        let wanted = record.get(within(span.start)..within(end));
        let wanted = wanted.unwrap_or_default();
        out.borrow_mut().put(wanted)?;
        copied += u64::try_from(wanted.len()).unwrap_or(0);
        at = at.saturating_add(len);
    }
    out.borrow_mut().flush()?;
    Ok(copied)
}
