//! `blpk cat`: uncompressed content on standard output.

mod array;
mod frame;
mod numpy;
mod packed;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bloscpack::{Decoder, indexed::IndexedReader, wire::Form};
use clap::{ArgGroup, Args};

use super::bloscpack_file::failed_to_read;
use crate::args;
use crate::dataset::rows::{self, Rows};
use crate::dataset::selection::not_a_table;
use crate::dataset::slice::{self, Slice};
use crate::failure::Failure;
use crate::input::{Bytes, Input, InputKind, STANDARD, look};
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::size;
use crate::status::Status;
use crate::text::count;

/// Print the uncompressed content of a file, or part of it
///
/// Records are printed without separators. Arrays in directories and Blosc2 frames are printed as the bytes of their
/// elements in C order, and frames without an array as the bytes of their chunks.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("part"))]
pub struct Cat {
    /// Bytes A to B, excluding B; either may be omitted
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = byte_range, group = "part")]
    range: Option<ByteRange>,

    /// Chunk N, counted from 0; in concatenated files, across all of them
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::count, group = "part")]
    chunk: Option<u64>,

    /// Rows A to B of an array, excluding B; either may be omitted
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = rows::parse, group = "part")]
    rows: Option<Rows>,

    /// Slice of an array in Python notation, such as '0:10,:,-1'
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true, value_parser = slice::parse, group = "part")]
    slice: Option<Slice>,

    /// Column to print, if PATH is a table
    #[arg(long, value_name = "NAME")]
    column: Option<String>,

    /// File, dataset or frame to read, or - for standard input
    #[arg(value_name = "PATH", default_value = STANDARD)]
    path: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  blpk cat --column price --rows 0..10 table | od -A n -t f8
  blpk cat --slice '0:10,:,-1' array
  blpk cat --slice '5,-100:' cube.b2nd | od -A n -t f4";

/// A part of the content, perhaps to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ByteRange {
    start: u64,
    end: Option<u64>,
}

/// Longer ranges are worth several threads, if little has to be read before them.
const LONG: u64 = 64 << 20;

impl Cat {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        match InputKind::of(&self.path)? {
            InputKind::Frame => self.frame(session),
            InputKind::Directory => self.dataset(session),
            InputKind::File => self.file(session),
        }
    }

    fn file(&self, session: &Session) -> Result<Status, Failure> {
        self.refuse_column()?;
        if self.rows.is_some() || self.slice.is_some() {
            return self.numpy(session);
        }
        let input = Input::open_binary(&self.path, session)?;
        let mut output = Output::create(Path::new(STANDARD), &[&input], session)?;
        let progress = Progress::new(session, input.length());
        let mut reader = input.reader(&progress);
        let looked = look(&mut reader, &session.limits);
        let (head, form) = looked.map_err(|error| Failure::io(input.name(), &error))?;
        let reader = io::Cursor::new(head).chain(reader);
        if let Some(Form::Packed { .. }) = form {
            return self.packed(&input, reader, output, session);
        }
        let (range, copied) = match self.by_position(&input, &mut output, session)? {
            Some(done) => done,
            None => (
                self.range,
                in_order(self.range, &input, reader, &mut output, session)?,
            ),
        };
        progress.finish();
        check_complete(range, copied, &input.name())?;
        output.commit()?;
        Ok(Status::Done)
    }

    /// Refuses `--column` for anything that is not a table.
    fn refuse_column(&self) -> Result<(), Failure> {
        match self.column {
            Some(_) => Err(not_a_table(&crate::input::name(&self.path))),
            None => Ok(()),
        }
    }

    /// Reads part of a regular file without what precedes it, if that is faster. Returns the range and how many bytes
    /// of it there were.
    fn by_position(
        &self,
        input: &Input,
        output: &mut Output,
        session: &Session,
    ) -> Result<Option<(Option<ByteRange>, u64)>, Failure> {
        if self.chunk.is_some() && input.by_position().is_none() {
            return Err(needs_positions());
        }
        let part = self.chunk.is_some() || self.range.is_some();
        let Some(file) = input.by_position().filter(|_| part) else {
            return Ok(None);
        };
        let options = IndexedReader::builder().limits(session.limits).cache(0);
        let reader = match options.open(file) {
            Ok(reader) => reader,
            // The sound part before the damage can still be read in order.
            Err(_) if self.chunk.is_none() => return Ok(None),
            Err(error) => return Err(failed_to_read(&error, input, output)),
        };
        session.warnings(&input.name(), reader.warnings());
        let range = match self.chunk {
            Some(number) => chunk(number, &reader, input, output)?,
            None => self.range.unwrap_or_default(),
        };
        let end = range.end.unwrap_or(u64::MAX).min(reader.content_len());
        // A range may begin past the end.
        let len = end.saturating_sub(range.start);
        if self.chunk.is_none() && len > LONG && len >= range.start {
            return Ok(None);
        }
        let copied = reader.copy_range(range.start..end, output);
        let copied = copied.map_err(|error| failed_to_read(&error, input, output))?;
        Ok(Some((Some(range), copied)))
    }
}

/// The range of a chunk in the content.
fn chunk(
    number: u64,
    reader: &IndexedReader<&Bytes>,
    input: &Input,
    output: &Output,
) -> Result<ByteRange, Failure> {
    let range = reader.chunk_range(number);
    let range = range.map_err(|error| failed_to_read(&error, input, output))?;
    let range = range.map(|range| ByteRange {
        start: range.start,
        end: Some(range.end),
    });
    range.ok_or_else(|| no_chunk(number, reader.chunks(), &input.name()))
}

fn no_chunk(number: u64, chunks: u64, name: &str) -> Failure {
    let title = format!("{name}: there is no chunk {number}");
    Failure::usage(title).hint(format!("it has {}, counted from 0", count(chunks, "chunk")))
}

fn needs_positions() -> Failure {
    let title = "--chunk needs a regular file, read from its beginning";
    Failure::usage(title).hint("use --range on a pipe")
}

/// Reads from the beginning, with all threads, and returns how many bytes were copied.
fn in_order(
    range: Option<ByteRange>,
    input: &Input,
    reader: impl Read,
    output: &mut Output,
    session: &Session,
) -> Result<u64, Failure> {
    let mut builder = Decoder::builder()
        .threads(session.threads)
        .limits(session.limits);
    if let Some(range) = range {
        builder = builder.range(range.start..range.end.unwrap_or(u64::MAX));
    }
    let mut decoder = builder.read_from(reader);
    let done = decoder.copy_to(output);
    session.warnings(&input.name(), decoder.warnings());
    done.map_err(|error| failed_to_read(&error, input, output))
}

/// Refuses a range that extends past the end of the content.
fn check_complete(range: Option<ByteRange>, copied: u64, name: &str) -> Result<(), Failure> {
    let Some(ByteRange {
        start,
        end: Some(end),
    }) = range
    else {
        return Ok(());
    };
    if copied < end - start {
        let title = format!(
            "{name}: range {start}..{end} extends past the end; it contains {}",
            count(copied, "byte")
        );
        return Err(Failure::usage(title));
    }
    Ok(())
}

fn byte_range(text: &str) -> Result<ByteRange, String> {
    let (start, end) = args::range(text, size::parse)?;
    Ok(ByteRange { start, end })
}

#[cfg(test)]
mod tests {
    use super::{ByteRange, byte_range};

    #[test]
    fn ranges_have_units() {
        let range = |start, end| Ok(ByteRange { start, end });
        assert_eq!(byte_range("1K..1M"), range(1024, Some(1 << 20)));
        assert_eq!(byte_range(".."), range(0, None));
        for wrong in ["", "5", "7..3", "0...5", "-1..2"] {
            assert!(byte_range(wrong).is_err(), "{wrong}");
        }
    }
}
