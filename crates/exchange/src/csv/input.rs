//! The bytes of a file, with a bound on those of a line.

use super::super::source::to_u64;
use super::wrong;
use blosc1::Fault;
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use csv::{ByteRecord, ErrorKind};
use std::io::{self, Read};
use std::sync::Arc;

/// Bytes of a line, beyond which a file is taken for something else: a quote that is never closed would take all of it.
const MAX_LINE: u64 = 64 << 20;

/// The bytes of a file, from the first to the last, and where in a cell they end.
pub(super) struct Input<S> {
    bytes: Arc<S>,
    at: u64,
    /// Bytes that may still come before the line has to end.
    left: u64,
    delimiter: u8,
    place: Place,
}

/// The position of a byte in a cell.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Start,
    Plain,
    Quoted,
    /// After a quote within quotes, which ends them or is escaped by another.
    Quote,
}

impl<S> Input<S> {
    fn follow(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.place = match (self.place, byte) {
                (Place::Quoted, b'"') => Place::Quote,
                (Place::Quoted, _) | (Place::Start | Place::Quote, b'"') => Place::Quoted,
                (_, b'\n' | b'\r') => Place::Start,
                (_, byte) if *byte == self.delimiter => Place::Start,
                _ => Place::Plain,
            };
        }
    }
}

impl<S: ReadAt> Read for Input<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            let what = format!("CSV: a line of more than {MAX_LINE} bytes: is a quote missing?");
            return Err(crate::error::exchange(Fault::OverLimit, what).into());
        }
        let len = loop {
            match self.bytes.read_at(self.at, buf) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => break done?,
            }
        };
        self.at = self.at.saturating_add(to_u64(len));
        self.left = self.left.saturating_sub(to_u64(len));
        self.follow(buf.get(..len).unwrap_or_default());
        Ok(len)
    }
}

/// The lines of a file.
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
            place: Place::Start,
        };
        let mut builder = csv::ReaderBuilder::new();
        builder.has_headers(false).delimiter(delimiter);
        Self {
            reader: builder.from_reader(input),
            cells: ByteRecord::new(),
        }
    }

    /// The next line and its number; `None` after the last.
    pub fn next(&mut self) -> Result<Option<(u64, &ByteRecord)>> {
        self.reader.get_mut().left = MAX_LINE;
        let more = self.reader.read_byte_record(&mut self.cells);
        if !more.map_err(error)? {
            return match self.reader.get_ref().place {
                Place::Quoted => {
                    let what = "CSV: cut short: it ends within quotes";
                    Err(crate::error::exchange(Fault::CutShort, what))
                }
                _ => Ok(None),
            };
        }
        let line = self.cells.position().map_or(0, csv::Position::line);
        Ok(Some((line, &self.cells)))
    }
}

fn error(error: csv::Error) -> Error {
    let line = error.position().map_or(0, csv::Position::line);
    match error.into_kind() {
        ErrorKind::Io(error) => error.into(),
        ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => wrong(line, &format!("expected {expected_len} cells, found {len}")),
        other => wrong(line, &format!("{other:?}")),
    }
}
