//! Standard output, devices, FIFOs: written directly.

use std::fs::File;
use std::io::{self, IsTerminal, Write as _};

use crate::session::Session;
use bloscpack::wire::internal::to_u64;

/// An output that is written directly: standard output, a device, a FIFO.
#[derive(Debug)]
pub struct DirectFile {
    file: File,
    /// Whether it is a terminal.
    pub terminal: bool,
    /// Whether binary data may go to a terminal.
    force: bool,
    /// Bytes written.
    pub written: u64,
    /// The reader has gone.
    pub broken: bool,
    /// Binary data was kept from the terminal.
    pub refused: bool,
}

impl DirectFile {
    /// Takes over a file that is open for writing.
    pub fn new(file: File, session: &Session) -> Self {
        Self {
            terminal: file.is_terminal(),
            file,
            force: session.force,
            written: 0,
            broken: false,
            refused: false,
        }
    }

    /// Writes some of the bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.terminal && !self.force && bytes.iter().any(is_binary) {
            self.refused = true;
            return Err(io::ErrorKind::InvalidData.into());
        }
        let done = self.file.write(bytes);
        match &done {
            Ok(count) => self.written += to_u64(*count),
            Err(error) => self.broken |= error.kind() == io::ErrorKind::BrokenPipe,
        }
        done
    }

    /// Whether the other end of a pipe has gone.
    #[cfg(unix)]
    pub fn is_abandoned(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut ends = [PollFd::new(&self.file, PollFlags::empty())];
        let polled = poll(&mut ends, Some(&Timespec::default()));
        let gone = PollFlags::ERR | PollFlags::HUP;
        polled.is_ok() && ends.iter().any(|end| end.revents().intersects(gone))
    }

    /// Whether the other end of a pipe has gone: known when it is written to.
    #[cfg(not(unix))]
    pub fn is_abandoned(&self) -> bool {
        self.broken
    }
}

/// Bytes that are in no text, and may upset a terminal.
fn is_binary(byte: &u8) -> bool {
    matches!(byte, 0..=6 | 14..=26 | 28..=31 | 127)
}

/// Standard output without the buffer of the standard library.
#[cfg(unix)]
pub fn stdout() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// Standard output without the buffer of the standard library.
#[cfg(windows)]
pub fn stdout() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}
