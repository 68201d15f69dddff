//! Records written as plain bytes.

use std::cell::RefCell;
use std::io::{self, Read, Write as _};

use memchr::memchr;

use super::separator::Separator;
use crate::failure::{About as _, Failure};
use crate::output::Target;
use crate::session::Session;

/// Bytes that are buffered at most. A longer record is written directly.
const BUFFER_LEN: usize = 256 << 10;

/// A buffered output for records.
pub struct RecordOutput {
    output: Target,
    separator: Separator,
    buffer: Vec<u8>,
    /// The first error of writing. A reader cannot pass it on as that.
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

    /// Whether the record contains its separator, so that it would be read as two.
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

    /// Writes a record, sooner or later.
    pub fn put(&mut self, record: &[u8]) -> io::Result<()> {
        if self.separator == Separator::Lengths {
            let length = u32::try_from(record.len()).map_err(io::Error::other)?;
            self.buffer.extend_from_slice(&length.to_le_bytes());
        }
        if record.len() < BUFFER_LEN {
            self.buffer.extend_from_slice(record);
        } else {
            self.flush()?;
            self.output.write_all(record)?;
        }
        if let Separator::Byte(byte) = self.separator {
            self.buffer.push(byte);
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

    /// Writes what is buffered, which also after a failure to read is sound, and completes the output.
    pub fn finish<T>(
        mut self,
        done: Result<T, Failure>,
        session: &Session,
    ) -> Result<(T, u64), Failure> {
        let _ = self.flush();
        if let Some(error) = self.error {
            return Err(error).about(&self.output);
        }
        Ok((done?, self.output.commit(session)?.length))
    }

    /// The output underneath.
    pub fn output(&self) -> &Target {
        &self.output
    }
}

/// Flushes the output before it waits for more input, so that every record arrives as soon as it was read.
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
