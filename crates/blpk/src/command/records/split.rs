//! Plain bytes taken apart into records.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;

use bloscpack::{blosc::MAX_NBYTES, wire::records::packing::PACK_HEAD_LEN};
use memchr::memchr;

use super::separator::Separator;
use crate::session::Session;

/// Bytes asked for at once.
const PIECE_LEN: usize = 256 << 10;
/// Bytes of a length.
const LENGTH_LEN: usize = 4;

/// The most bytes of a record: no more than readers with the same limits take.
pub fn longest(packed: bool, session: &Session) -> u32 {
    let chunk = session.limits.chunk.min(MAX_NBYTES);
    // Head and length of a record that is alone in a packed chunk.
    let around = u32::try_from(PACK_HEAD_LEN + LENGTH_LEN).unwrap_or(0);
    chunk.saturating_sub(if packed { around } else { 0 })
}

/// Reads records out of plain bytes. It holds one piece of the input, or the longest record so far.
pub struct Split<R> {
    input: R,
    separator: Separator,
    /// The most bytes that a record may have.
    most: u32,
    buffer: Vec<u8>,
    /// What of the buffer has been read and not given out.
    unused: Range<usize>,
    /// Before here there is no separator in what is unused.
    searched: usize,
    ended: bool,
    records: u64,
}

/// Why there is no next record.
#[derive(Debug)]
pub enum Halt {
    Read(io::Error),
    /// It is longer than it may be, or than this.
    TooLong {
        record: u64,
        length: Option<u32>,
        most: u32,
    },
    /// The input ends in its length (then that is unknown), or before all of it was there.
    Cut {
        record: u64,
        length: Option<u32>,
        found: usize,
    },
}

impl<R: Read> Split<R> {
    pub fn new(input: R, separator: Separator, most: u32) -> Self {
        Self {
            input,
            separator,
            most,
            buffer: Vec::new(),
            unused: 0..0,
            searched: 0,
            ended: false,
            records: 0,
        }
    }

    /// Records given out.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// What is read from.
    pub fn get_ref(&self) -> &R {
        &self.input
    }

    /// The next record, or nothing at the end.
    pub fn next(&mut self) -> Result<Option<&[u8]>, Halt> {
        let found = loop {
            let found = match self.separator {
                Separator::Byte(byte) => self.line(byte)?,
                Separator::Lengths | Separator::Nothing => self.prefixed()?,
            };
            if found.is_some() || self.ended {
                break found;
            }
            self.fill().map_err(Halt::Read)?;
        };
        let Some(found) = found else {
            return Ok(None);
        };
        self.records = self.records.saturating_add(1);
        self.searched = self.unused.start;
        Ok(Some(&self.buffer[found]))
    }

    /// Takes what lies before the separator; at the end, what is left.
    fn line(&mut self, separator: u8) -> Result<Option<Range<usize>>, Halt> {
        let Range { start, end } = self.unused;
        let place = memchr(separator, &self.buffer[self.searched..end]);
        let line = match place {
            Some(place) => {
                let line = start..self.searched + place;
                self.unused.start = line.end + 1;
                line
            }
            None if self.ended && start < end => {
                self.unused.start = end;
                start..end
            }
            None => {
                self.searched = end;
                self.check(end - start, None)?;
                return Ok(None);
            }
        };
        self.check(line.len(), u32::try_from(line.len()).ok())?;
        Ok(Some(line))
    }

    /// Takes as many bytes as those before them say.
    fn prefixed(&mut self) -> Result<Option<Range<usize>>, Halt> {
        let Range { start, end } = self.unused;
        let prefix = self.buffer[start..end].first_chunk::<LENGTH_LEN>();
        let length = prefix.map(|bytes| u32::from_le_bytes(*bytes));
        let len = length.map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX));
        self.check(len, length)?;
        let begin = start + LENGTH_LEN;
        if length.is_some() && end - begin >= len {
            self.unused.start = begin + len;
            return Ok(Some(begin..begin + len));
        }
        if !self.ended || start == end {
            return Ok(None);
        }
        let found = end - length.map_or(start, |_| begin);
        let record = self.records;
        Err(Halt::Cut {
            record,
            length,
            found,
        })
    }

    fn check(&self, len: usize, length: Option<u32>) -> Result<(), Halt> {
        let (record, most) = (self.records, self.most);
        match u32::try_from(len) {
            Ok(len) if len <= most => Ok(()),
            _ => Err(Halt::TooLong {
                record,
                length,
                most,
            }),
        }
    }

    /// Reads once, behind what is unused. Room follows what arrives, not what a length says.
    fn fill(&mut self) -> io::Result<()> {
        if self.unused.is_empty() {
            self.unused = 0..0;
        } else if self.unused.end == self.buffer.len() {
            self.buffer.copy_within(self.unused.clone(), 0);
            self.unused = 0..self.unused.len();
        }
        // Nobody asks for more before all of it was searched.
        self.searched = self.unused.end;
        if self.unused.end == self.buffer.len() {
            let more = self.buffer.len().max(PIECE_LEN);
            self.buffer.resize(self.buffer.len() + more, 0);
        }
        let count = self.input.read(&mut self.buffer[self.unused.end..])?;
        self.unused.end += count;
        self.ended = count == 0;
        Ok(())
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::TooLong {
                record,
                length: Some(length),
                most,
            } => write!(
                f,
                "record {record} has {length} bytes; one may have up to {most}"
            ),
            Self::TooLong { record, most, .. } => {
                write!(
                    f,
                    "record {record} goes on behind {most} bytes, the most that one may have"
                )
            }
            Self::Cut {
                record,
                length: Some(length),
                found,
            } => write!(
                f,
                "record {record} has {length} bytes, but the input ends after {found} of them"
            ),
            Self::Cut { record, found, .. } => write!(
                f,
                "the input ends after {found} of the {LENGTH_LEN} bytes that give the length of record {record}"
            ),
        }
    }
}
