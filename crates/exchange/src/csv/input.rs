//! [`Lines`]: the lines of a CSV file, of bounded length.

use super::place;
use crate::error::missing_part;
use crate::format::Format;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::ReadAt;
use csv::{ByteRecord, ErrorKind};
use std::io::{self, Read};
use std::sync::Arc;

/// The longest line in bytes. A file with a longer one is probably not CSV: a quote that is never closed takes all of it.
const MAX_LINE: u64 = 64 << 20;

/// The bytes of a file in order, with the state of the cell in which they end.
pub(super) struct Input<S> {
    bytes: Arc<S>,
    at: u64,
    /// Bytes that may still follow before the line must end.
    left: u64,
    delimiter: u8,
    state: CellState,
}

/// The position of a byte in a cell.
#[derive(Clone, Copy, PartialEq)]
enum CellState {
    Start,
    Plain,
    Quoted,
    /// After a quote inside quotes, which ends them unless another quote follows.
    Quote,
}

impl<S> Input<S> {
    fn follow(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.state = match (self.state, byte) {
                (CellState::Quoted, b'"') => CellState::Quote,
                (CellState::Quoted, _) | (CellState::Start | CellState::Quote, b'"') => {
                    CellState::Quoted
                }
                (_, b'\n' | b'\r') => CellState::Start,
                (_, byte) if *byte == self.delimiter => CellState::Start,
                _ => CellState::Plain,
            };
        }
    }
}

impl<S: ReadAt> Read for Input<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            let message = format!("CSV: a line of more than {MAX_LINE} bytes: is a quote missing?");
            return Err(Error::new(Code::OverLimit, message).into());
        }
        let len = loop {
            match self.bytes.read_at(self.at, buf) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => break done?,
            }
        };
        let Some(read) = buf.get(..len) else {
            let found = format!("{len} bytes were read into a buffer of {}", buf.len());
            return Err(Error::bug(found).into());
        };
        self.follow(read);
        self.at += to_u64(len);
        // Saturates: the buffer may reach past the limit, and the next read then fails.
        self.left = self.left.saturating_sub(to_u64(len));
        Ok(len)
    }
}

/// The lines of a file, split into cells.
pub(super) struct Lines<S> {
    reader: csv::Reader<Input<S>>,
    cells: ByteRecord,
}

impl<S: ReadAt> Lines<S> {
    pub fn new(bytes: &Arc<S>, delimiter: u8) -> Self {
        let input = Input {
            bytes: Arc::clone(bytes),
            at: 0,
            left: MAX_LINE,
            delimiter,
            state: CellState::Start,
        };
        let mut builder = csv::ReaderBuilder::new();
        builder.has_headers(false).delimiter(delimiter);
        Self {
            reader: builder.from_reader(input),
            cells: ByteRecord::new(),
        }
    }

    /// The next line, with its number; `None` after the last.
    pub fn next(&mut self) -> Result<Option<(u64, &ByteRecord)>> {
        self.reader.get_mut().left = MAX_LINE;
        let more = self.reader.read_byte_record(&mut self.cells);
        if !more.map_err(error)? {
            return match self.reader.get_ref().state {
                CellState::Quoted => {
                    Err(missing_part(Format::Csv, "the quote at the end of a cell"))
                }
                _ => Ok(None),
            };
        }
        let line = line_of(self.cells.position())?;
        Ok(Some((line, &self.cells)))
    }
}

/// The line number of a position, which every line and every error in one has.
fn line_of(position: Option<&csv::Position>) -> Result<u64> {
    position
        .map(csv::Position::line)
        .ok_or_else(|| Error::bug("a line of CSV without a number"))
}

fn error(error: csv::Error) -> Error {
    match error.into_kind() {
        ErrorKind::Io(error) => error.into(),
        ErrorKind::UnequalLengths {
            pos,
            expected_len: expected,
            len: found,
        } => match line_of(pos.as_ref()) {
            Ok(line) => Error::new(
                Code::Damaged,
                format!("expected {expected} cells, found {found}"),
            )
            .in_part(place(line)),
            Err(error) => error,
        },
        // The other errors are about text, records of Rust types, and seeking.
        other => Error::bug(format!("reading lines of CSV as bytes: {other:?}")),
    }
}
