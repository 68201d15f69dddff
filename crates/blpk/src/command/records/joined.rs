//! Records made plain bytes.

use std::cell::RefCell;
use std::io::{self, Read, Write as _};

use memchr::memchr;

use super::separator::Separator;
use crate::input::Input;
use crate::message::Failure;
use crate::output::Output;

/// Bytes held back at the most, but for a record that is longer.
const HELD: usize = 256 << 10;

/// Records on their way out, held back while there are more of them.
pub struct Joined {
    output: Output,
    separator: Separator,
    held: Vec<u8>,
}

impl Joined {
    pub fn new(output: Output, separator: Separator) -> Self {
        Self {
            output,
            separator,
            held: Vec::with_capacity(HELD),
        }
    }

    /// Whether a record could not be told from two.
    pub fn is_ambiguous(&self, record: &[u8]) -> bool {
        matches!(self.separator, Separator::Byte(byte) if memchr(byte, record).is_some())
    }

    /// Says what can be done about such a record.
    pub fn ambiguous(&self, input: &Input, record: u64) -> Failure {
        let (what, others) = match self.separator {
            Separator::Byte(b'\n') => ("a line break", "-0 or --lengths"),
            _ => ("a NUL byte", "--lengths"),
        };
        let title = format!("{}: record {record} contains {what}", input.name());
        Failure::usage(title).hint(format!(
            "use {others} to tell records apart, or -f to write it all the same"
        ))
    }

    /// Writes a record, sooner or later.
    pub fn put(&mut self, record: &[u8]) -> io::Result<()> {
        if self.separator == Separator::Lengths {
            let length = u32::try_from(record.len()).map_err(io::Error::other)?;
            self.held.extend_from_slice(&length.to_le_bytes());
        }
        if record.len() < HELD {
            self.held.extend_from_slice(record);
        } else {
            self.flush()?;
            self.output.write_all(record)?;
        }
        if let Separator::Byte(byte) = self.separator {
            self.held.push(byte);
        }
        if self.held.len() >= HELD {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what is held back.
    pub fn flush(&mut self) -> io::Result<()> {
        let done = self.output.write_all(&self.held);
        self.held.clear();
        done
    }

    pub fn output(&self) -> &Output {
        &self.output
    }

    pub fn into_output(self) -> Output {
        self.output
    }
}

/// An input that lets out what is held back before anybody waits for it: what a writer has flushed
/// arrives, though it is less than a buffer.
pub struct Paced<'a, R> {
    pub input: R,
    pub out: &'a RefCell<Joined>,
}

impl<R: Read> Read for Paced<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.out.borrow_mut().flush()?;
        self.input.read(buffer)
    }
}
