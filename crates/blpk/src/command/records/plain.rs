//! Records as plain bytes: separated by a byte, or each preceded by its length.

use std::cell::RefCell;
use std::io::{self, Read, Write as _};
use std::ops::Range;
use std::time::Instant;

use bloscpack::{
    blosc::MAX_NBYTES,
    wire::internal::{PACK_HEAD_LEN, to_u64},
};
use clap::Args;
use memchr::memchr;

use crate::args::FlushEvery;
use crate::failure::{About as _, Failure};
use crate::input::InterruptibleReader;
use crate::output::{Made, Target};
use crate::session::Session;
use crate::status::Status;

/// Options for the separator.
#[derive(Args, Clone, Copy, Debug)]
pub struct SeparatorArgs {
    /// End each record with a NUL byte instead of a line break
    #[arg(short = '0', long, conflicts_with = "lengths")]
    null: bool,

    /// Precede each record by its length: 4 bytes, little-endian
    #[arg(long)]
    lengths: bool,

    /// Frame records as TensorFlow's TFRecord files do; their checksums are compared
    #[arg(long, hide_short_help = true, conflicts_with_all = ["null", "lengths"])]
    tfrecord: bool,
}

/// Where one record ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// This byte follows each record.
    Byte(u8),
    /// Its length precedes each record.
    Lengths,
    /// Its length and checksums surround each record, as in TFRecord files.
    TfRecord,
    /// Nothing separates the records.
    Nothing,
}

impl SeparatorArgs {
    pub fn separator(self) -> Separator {
        match (self.null, self.lengths, self.tfrecord) {
            (.., true) => Separator::TfRecord,
            (_, true, _) => Separator::Lengths,
            (true, ..) => Separator::Byte(0),
            _ => Separator::Byte(b'\n'),
        }
    }
}

/// The length of one read.
const PIECE_LEN: usize = 256 << 10;
/// Bytes of the length before a record.
const LENGTH_LEN: usize = 4;
/// Bytes before and after a record in a TFRecord file: the length and its checksum, and the checksum of the record.
const TF_HEAD: usize = 12;
const TF_TAIL: usize = 4;

/// The checksum of TFRecord files: a crc32c, rotated and increased by a constant.
fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
        .rotate_right(15)
        .wrapping_add(0xa282_ead8)
}

/// The length of the longest record that readers with the same limits accept.
pub fn longest(packed: bool, session: &Session) -> u64 {
    // The head of a packed chunk, and the length of its only record.
    let around = if packed {
        to_u64(PACK_HEAD_LEN + LENGTH_LEN)
    } else {
        0
    };
    // With a lower limit, only empty records fit.
    u64::from(session.limits.chunk.min(MAX_NBYTES)).saturating_sub(around)
}

/// Splits plain bytes into records. It buffers one piece of the input, or the longest record so far.
pub struct RecordSplitter<R> {
    reader: R,
    /// The name of the input in messages.
    name: String,
    separator: Separator,
    /// The most bytes that a record may have.
    longest: u64,
    buffer: Vec<u8>,
    /// The part of the buffer that has been read and not returned.
    unused: Range<usize>,
    /// There is no separator in the unused part before this position.
    searched: usize,
    ended: bool,
    records: u64,
    bytes: u64,
}

impl<R: Read> RecordSplitter<R> {
    pub fn new(reader: R, name: String, separator: Separator, longest: u64) -> Self {
        Self {
            reader,
            name,
            separator,
            longest,
            buffer: Vec::new(),
            unused: 0..0,
            searched: 0,
            ended: false,
            records: 0,
            bytes: 0,
        }
    }

    /// Records returned so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Bytes read so far.
    pub fn read_bytes(&self) -> u64 {
        self.bytes
    }

    /// The next record; `None` at the end.
    pub fn next(&mut self) -> Result<Option<&[u8]>, Failure> {
        let found = self.next_with(&mut |reader, piece| reader.read(piece).map(Some))?;
        Ok(found.map(|found| &self.buffer[found]))
    }

    /// The next record; `None` at the end, or if `read` returns `None`.
    fn next_with(&mut self, read: Reading<'_, R>) -> Result<Option<Range<usize>>, Failure> {
        let found = loop {
            let found = match self.separator {
                Separator::Byte(byte) => self.line(byte)?,
                Separator::Lengths | Separator::TfRecord | Separator::Nothing => self.prefixed()?,
            };
            if found.is_some() || self.ended {
                break found;
            }
            if !self.fill(read).about(&self.name)? {
                return Ok(None);
            }
        };
        if found.is_some() {
            self.records += 1;
            self.searched = self.unused.start;
        }
        Ok(found)
    }

    /// Takes the bytes before the separator, or the remaining bytes at the end.
    fn line(&mut self, separator: u8) -> Result<Option<Range<usize>>, Failure> {
        let Range { start, end } = self.unused;
        let found = memchr(separator, &self.buffer[self.searched..end]);
        let line = match found {
            Some(found) => {
                let line = start..self.searched + found;
                self.unused.start = line.end + 1;
                line
            }
            None if self.ended && start < end => {
                self.unused.start = end;
                start..end
            }
            None => {
                self.searched = end;
                self.check(to_u64(end - start), false)?;
                return Ok(None);
            }
        };
        self.check(to_u64(line.len()), true)?;
        Ok(Some(line))
    }

    /// Takes the length and this number of bytes, and in a TFRecord file the checksums.
    fn prefixed(&mut self) -> Result<Option<Range<usize>>, Failure> {
        let Range { start, end } = self.unused;
        let is_tf = self.separator == Separator::TfRecord;
        let (head, tail) = if is_tf {
            (TF_HEAD, TF_TAIL)
        } else {
            (LENGTH_LEN, 0)
        };
        let unused = &self.buffer[start..end];
        let length = if is_tf {
            unused
                .first_chunk::<TF_HEAD>()
                .map(|[length @ .., _, _, _, _]| u64::from_le_bytes(*length))
        } else {
            unused
                .first_chunk()
                .map(|length| u32::from_le_bytes(*length).into())
        };
        let Some(length) = length else {
            return if self.ended && start < end {
                Err(self.truncated_length(end - start, head))
            } else {
                Ok(None)
            };
        };
        if is_tf {
            self.check_crc(start..start + head - 4, "the length of ")?;
        }
        self.check(length, true)?;
        let begin = start + head;
        // Records have at most 2 GiB.
        let record = usize::try_from(length)
            .ok()
            .and_then(|len| Some(begin..begin.checked_add(len)?));
        if let Some(record) = record.filter(|record| end.saturating_sub(tail) >= record.end) {
            if is_tf {
                self.check_crc(record.clone(), "")?;
            }
            self.unused.start = record.end + tail;
            return Ok(Some(record));
        }
        if self.ended {
            Err(self.truncated(length, end - begin))
        } else {
            Ok(None)
        }
    }

    /// Compares bytes of the buffer with the checksum that follows them.
    fn check_crc(&self, bytes: Range<usize>, what: &str) -> Result<(), Failure> {
        let stored = self.buffer[bytes.end..].first_chunk();
        if stored.map(|stored| u32::from_le_bytes(*stored)) == Some(masked_crc(&self.buffer[bytes]))
        {
            return Ok(());
        }
        let (name, record) = (&self.name, self.records);
        let title = format!("{name}: the checksum of {what}record {record} does not match");
        Err(Failure::new(Status::Damaged, title).hint("is it a TFRecord file, and uncompressed?"))
    }

    /// Refuses a record that is longer than `longest`, or whose first `length` bytes are too many.
    fn check(&self, length: u64, is_all: bool) -> Result<(), Failure> {
        let (name, record, longest) = (&self.name, self.records, self.longest);
        if length <= longest {
            return Ok(());
        }
        let title = if is_all {
            format!(
                "{name}: record {record} has {length} bytes, but the maximum record length is {longest} bytes"
            )
        } else {
            format!("{name}: record {record} exceeds the maximum record length of {longest} bytes")
        };
        Err(Failure::new(Status::Unsupported, title)
            .hint("the format allows 2 GiB less 37 bytes, if --limit chunk=SIZE does"))
    }

    fn truncated(&self, length: u64, found: usize) -> Failure {
        let (name, record) = (&self.name, self.records);
        let title = if to_u64(found) < length {
            format!(
                "{name}: record {record} has {length} bytes, but the input ends after {found} of them"
            )
        } else {
            format!("{name}: the input ends within the checksum of record {record}")
        };
        Failure::new(Status::CutShort, title)
    }

    fn truncated_length(&self, found: usize, of: usize) -> Failure {
        let (name, record) = (&self.name, self.records);
        let title = format!(
            "{name}: the input ends after {found} of the {of} bytes for the length of record {record}"
        );
        Failure::new(Status::CutShort, title)
    }

    /// Reads once, after the unused bytes. Returns false if no bytes have arrived yet. The buffer grows with the bytes that
    /// arrive, never with the claimed length of a record.
    fn fill(&mut self, read: Reading<'_, R>) -> io::Result<bool> {
        if self.unused.is_empty() {
            self.unused = 0..0;
        } else if self.unused.end == self.buffer.len() {
            self.buffer.copy_within(self.unused.clone(), 0);
            self.unused = 0..self.unused.len();
        }
        // Everything unused has been searched, or more would not be read.
        self.searched = self.unused.end;
        if self.unused.end == self.buffer.len() {
            let more = self.buffer.len().max(PIECE_LEN);
            self.buffer.resize(self.buffer.len() + more, 0);
        }
        let Some(count) = read(&mut self.reader, &mut self.buffer[self.unused.end..])? else {
            return Ok(false);
        };
        self.unused.end += count;
        self.bytes += to_u64(count);
        self.ended = count == 0;
        Ok(true)
    }
}

impl RecordSplitter<InterruptibleReader<'_>> {
    /// Passes records to `push` until `every` is reached, counted from the first record. Returns false at the end.
    pub fn pass_some(
        &mut self,
        every: Option<FlushEvery>,
        mut push: impl FnMut(&[u8]) -> bloscpack::Result<()>,
    ) -> Result<bool, Failure> {
        let (mut due, mut bytes) = (None, 0);
        loop {
            let mut read = |reader: &mut InterruptibleReader<'_>, piece: &mut [u8]| {
                reader.read_until(piece, due)
            };
            let Some(found) = self.next_with(&mut read)? else {
                return Ok(!self.ended);
            };
            bytes += to_u64(found.len()) + 1;
            push(&self.buffer[found])?;
            let is_due = match every {
                Some(FlushEvery::Time(most)) => {
                    let now = Instant::now();
                    due = due.or_else(|| now.checked_add(most));
                    due.is_some_and(|due| now >= due)
                }
                Some(FlushEvery::Bytes(most)) => bytes >= most,
                None => false,
            };
            if is_due {
                return Ok(true);
            }
        }
    }
}

/// Reads once. Returns `None` if nothing came in time.
type Reading<'a, R> = &'a mut dyn FnMut(&mut R, &mut [u8]) -> io::Result<Option<usize>>;

/// The most bytes that are buffered. A longer record is written directly.
const BUFFER_LEN: usize = 256 << 10;

/// A buffered output for records.
pub struct RecordOutput {
    output: Target,
    separator: Separator,
    buffer: Vec<u8>,
    /// The first write error. Readers would pass it on as a read error.
    error: Option<io::Error>,
}

impl RecordOutput {
    pub fn new(output: Target, separator: Separator) -> Self {
        Self {
            output,
            separator,
            buffer: Vec::with_capacity(BUFFER_LEN),
            error: None,
        }
    }

    /// Whether the record contains its separator, and would be read as two.
    pub fn is_ambiguous(&self, record: &[u8]) -> bool {
        matches!(self.separator, Separator::Byte(byte) if memchr(byte, record).is_some())
    }

    /// The failure to write such a record.
    pub fn ambiguous(&self, name: &str, record: u64) -> Failure {
        let (what, others) = match self.separator {
            Separator::Byte(b'\n') => ("a line break", "-0 or --lengths"),
            _ => ("a NUL byte", "--lengths"),
        };
        let title = format!("{name}: record {record} contains {what}");
        Failure::usage(title).hint(format!(
            "use {others} to separate records, or -f to write them anyway"
        ))
    }

    /// Writes a record into the buffer or the output.
    pub fn put(&mut self, record: &[u8]) -> io::Result<()> {
        match self.separator {
            Separator::Lengths => {
                let length = u32::try_from(record.len()).map_err(io::Error::other)?;
                self.buffer.extend_from_slice(&length.to_le_bytes());
            }
            Separator::TfRecord => {
                let length = to_u64(record.len()).to_le_bytes();
                self.buffer.extend_from_slice(&length);
                self.buffer
                    .extend_from_slice(&masked_crc(&length).to_le_bytes());
            }
            Separator::Byte(_) | Separator::Nothing => {}
        }
        if record.len() < BUFFER_LEN {
            self.buffer.extend_from_slice(record);
        } else {
            self.flush()?;
            self.output.write_all(record)?;
        }
        match self.separator {
            Separator::Byte(byte) => self.buffer.push(byte),
            Separator::TfRecord => {
                self.buffer
                    .extend_from_slice(&masked_crc(record).to_le_bytes());
            }
            Separator::Lengths | Separator::Nothing => {}
        }
        if self.buffer.len() >= BUFFER_LEN {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        let done = self.output.write_all(&self.buffer);
        self.buffer.clear();
        done.map_err(|error| {
            let kind = error.kind();
            self.error.get_or_insert(error);
            kind.into()
        })
    }

    /// Writes the buffer, which is sound even after a read error, and completes the output.
    pub fn finish(mut self, done: Result<(), Failure>, session: &Session) -> Result<Made, Failure> {
        let _ = self.flush();
        if let Some(error) = self.error {
            return Err(error).about(&self.output);
        }
        done?;
        self.output.commit(session)
    }

    /// The output underneath.
    pub fn output(&self) -> &Target {
        &self.output
    }
}

/// Flushes the output before it waits for more input: every record is written as soon as it is read.
pub struct FlushingReader<'a, R> {
    pub reader: R,
    pub out: &'a RefCell<RecordOutput>,
}

impl<R: Read> Read for FlushingReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.out.borrow_mut().flush()?;
        self.reader.read(buffer)
    }
}
