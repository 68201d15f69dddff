//! `blpk cat`: bytes of the uncompressed content on standard output.

mod array;
mod frame;
mod numpy;
mod packed;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bloscpack::{Decoder, IndexedReader, wire::Form};
use clap::{ArgGroup, Args};

use super::decompress::blame;
use crate::args;
use crate::dataset::rows::{self, Rows};
use crate::dataset::slice::{self, Slice};
use crate::input::{self, Bytes, Input, STANDARD, look};
use crate::message::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::size;
use crate::status::Status;
use crate::what::What;

/// Print the uncompressed bytes of a file, or some of them
///
/// Of records, these are the bytes of one behind the other; of an array in a directory or a Blosc2
/// frame, those of its elements, in C order as they are stored; of a frame without an array, those of
/// its chunks. For example:
///   blpk cat --column price --rows 0..10 table | od -A n -t f8
///   blpk cat --slice '0:10,:,-1' array
///   blpk cat --slice '5,-100:' cube.b2nd | od -A n -t f4
#[derive(Args, Debug)]
#[command(verbatim_doc_comment, group = ArgGroup::new("part"))]
pub struct Cat {
    /// Bytes A to B, B not included; either may be left out
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = span, group = "part")]
    range: Option<Span>,

    /// The bytes of chunk N, counted from 0 across the members of a concatenation
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count, group = "part")]
    chunk: Option<u64>,

    /// Rows A to B of an array, B not included; either may be left out
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = rows::parse, group = "part")]
    rows: Option<Rows>,

    /// Some elements of an array, as Python writes it: '0:10,:,-1'
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true, value_parser = slice::parse, group = "part")]
    slice: Option<Slice>,

    /// The column, where PATH is a table
    #[arg(long, value_name = "NAME")]
    column: Option<String>,

    /// File, dataset or frame to read, or - for standard input
    #[arg(value_name = "PATH", default_value = STANDARD)]
    path: PathBuf,
}

/// A stretch of the content, perhaps to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    start: u64,
    end: Option<u64>,
}

/// Ranges longer than this are worth several threads, if little has to be read before them.
const LONG: u64 = 64 << 20;

impl Cat {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        match What::of(&self.path)? {
            What::Frame => self.frame(session),
            What::Directory => self.dataset(session),
            What::File => self.file(session),
        }
    }

    fn file(&self, session: &Session) -> Result<Status, Failure> {
        if self.column.is_some() {
            let title = format!("{} is no table", input::name(&self.path));
            return Err(Failure::usage(title).hint("--column is for tables, which are directories"));
        }
        if self.rows.is_some() || self.slice.is_some() {
            return self.numpy(session);
        }
        let input = Input::open_binary(&self.path, session)?;
        let mut output = Output::create(Path::new(STANDARD), &[&input], session)?;
        let progress = Progress::new(session, input.length());
        let mut source = input.source(&progress);
        let looked = look(&mut source, &session.limits);
        let (head, form) = looked.map_err(|error| Failure::io(input.name(), &error))?;
        let source = io::Cursor::new(head).chain(source);
        if let Some(Form::Packed { .. }) = form {
            return self.packed(&input, source, output, session);
        }
        let (span, copied) = match self.by_position(&input, &mut output, session)? {
            Some(done) => done,
            None => (
                self.range,
                in_order(self.range, &input, source, &mut output, session)?,
            ),
        };
        progress.finish();
        confirm(span, copied, &input.name())?;
        output.commit()?;
        Ok(Status::Done)
    }

    /// Reads a part of a regular file without what lies before it, if that is the better way;
    /// gives what was asked for and how much of it there was.
    fn by_position(
        &self,
        input: &Input,
        output: &mut Output,
        session: &Session,
    ) -> Result<Option<(Option<Span>, u64)>, Failure> {
        if self.chunk.is_some() && input.at_positions().is_none() {
            return Err(no_positions());
        }
        let part = self.chunk.is_some() || self.range.is_some();
        let Some(file) = input.at_positions().filter(|_| part) else {
            return Ok(None);
        };
        let options = IndexedReader::builder().limits(session.limits).cache(0);
        let reader = match options.open(file) {
            Ok(reader) => reader,
            // What is sound before the damage can still be read in order.
            Err(_) if self.chunk.is_none() => return Ok(None),
            Err(error) => return Err(blame(&error, input, output)),
        };
        for warning in reader.warnings() {
            session.warning(format_args!("{}: {warning}", input.name()));
        }
        let span = match self.chunk {
            Some(number) => chunk(number, &reader, input, output)?,
            None => self.range.unwrap_or_default(),
        };
        let end = span.end.unwrap_or(u64::MAX).min(reader.content_len());
        let len = end.saturating_sub(span.start);
        if self.chunk.is_none() && len > LONG && len >= span.start {
            return Ok(None);
        }
        let copied = reader.copy_range(span.start..end, output);
        let copied = copied.map_err(|error| blame(&error, input, output))?;
        Ok(Some((Some(span), copied)))
    }
}

/// Where chunk `number` lies in the content.
fn chunk(
    number: u64,
    reader: &IndexedReader<&Bytes>,
    input: &Input,
    output: &Output,
) -> Result<Span, Failure> {
    let range = reader.chunk_range(number);
    let range = range.map_err(|error| blame(&error, input, output))?;
    let span = range.map(|range| Span {
        start: range.start,
        end: Some(range.end),
    });
    span.ok_or_else(|| no_chunk(number, reader.chunks(), &input.name()))
}

fn no_chunk(number: u64, chunks: u64, name: &str) -> Failure {
    let title = format!("{name}: there is no chunk {number}");
    Failure::usage(title).hint(format!("it has {chunks} chunks, counted from 0"))
}

fn no_positions() -> Failure {
    let title = "--chunk needs a regular file, read from its beginning";
    Failure::usage(title).hint("use --range on a pipe")
}

/// Reads from the beginning, on all threads; gives how much there was.
fn in_order(
    span: Option<Span>,
    input: &Input,
    source: impl Read,
    output: &mut Output,
    session: &Session,
) -> Result<u64, Failure> {
    let mut builder = Decoder::builder()
        .threads(session.threads)
        .limits(session.limits);
    if let Some(span) = span {
        builder = builder.range(span.start..span.end.unwrap_or(u64::MAX));
    }
    let mut decoder = builder.read_from(source);
    let done = decoder.copy_to(output);
    for warning in decoder.warnings() {
        session.warning(format_args!("{}: {warning}", input.name()));
    }
    done.map_err(|error| blame(&error, input, output))
}

/// Whether all that was asked for was there.
fn confirm(span: Option<Span>, copied: u64, name: &str) -> Result<(), Failure> {
    let Some(Span {
        start,
        end: Some(end),
    }) = span
    else {
        return Ok(());
    };
    if copied < end - start {
        let title = format!(
            "{name}: the range {start}..{end} reaches past the end; {copied} bytes of it exist"
        );
        return Err(Failure::usage(title));
    }
    Ok(())
}

fn span(text: &str) -> Result<Span, String> {
    let (start, end) = text
        .split_once("..")
        .ok_or("a range is written A..B, A.. or ..B")?;
    if end.starts_with('.') {
        return Err("a range has two dots".into());
    }
    let bound = |text: &str| (!text.is_empty()).then(|| size::parse(text)).transpose();
    let start = bound(start)?.unwrap_or(0);
    let end = bound(end)?;
    if end.is_some_and(|end| end < start) {
        return Err("a range must not end before it starts".into());
    }
    Ok(Span { start, end })
}

#[cfg(test)]
mod tests {
    use super::{Span, span};

    #[test]
    fn ranges() {
        let whole = |start, end| Ok(Span { start, end });
        assert_eq!(span("3..7"), whole(3, Some(7)));
        assert_eq!(span("3.."), whole(3, None));
        assert_eq!(span("..7"), whole(0, Some(7)));
        assert_eq!(span(".."), whole(0, None));
        assert_eq!(span("1K..1M"), whole(1024, Some(1 << 20)));
        assert_eq!(span("5..5"), whole(5, Some(5)));
        for wrong in ["", "5", "7..3", "a..b", "1..=2", "1...2", "0...5", "-1..2"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }
}
