//! Outputs that are written directly: standard output, devices and FIFOs.

use std::fs::File;
use std::io::{self, IsTerminal, Seek as _, SeekFrom, Write};

use super::SyncingFile;
use crate::input::enlarge_pipe;
use crate::session::Session;
use bloscpack::wire::internal::to_u64;

/// An output that is written directly: standard output, a device, a FIFO.
#[derive(Debug)]
pub struct DirectFile {
    file: File,
    pub terminal: bool,
    /// Whether binary data may be written to a terminal.
    force: bool,
    /// Bytes written.
    pub written: u64,
    /// Whether the reader has closed the pipe.
    pub broken: bool,
    /// Whether binary data for a terminal was refused.
    pub refused: bool,
    /// The same file, opened again, if it is an empty regular file: its header can be filled in at the end.
    pub whole: Option<SyncingFile>,
}

impl DirectFile {
    /// Takes over a file that is open for writing.
    pub fn new(file: File, session: &Session) -> Self {
        enlarge_pipe(&file);
        Self {
            terminal: file.is_terminal(),
            file,
            force: session.force,
            written: 0,
            broken: false,
            refused: false,
            whole: None,
        }
    }

    /// Takes over standard output. If it is redirected to an empty file, it can be written at any position.
    pub fn standard(file: File, session: &Session) -> io::Result<Self> {
        let whole = reopened(&file)?.map(SyncingFile::temporary);
        let direct = Self::new(file, session);
        Ok(Self { whole, ..direct })
    }

    /// Moves the position that other processes share to the end of the written bytes, and returns their number.
    pub fn settle(&self) -> io::Result<u64> {
        match &self.whole {
            Some(_) if self.written == 0 => (&self.file).seek(SeekFrom::End(0)),
            _ => Ok(self.written),
        }
    }

    /// Whether the reader of a pipe has closed it.
    #[cfg(unix)]
    pub fn is_abandoned(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut ends = [PollFd::new(&self.file, PollFlags::empty())];
        let polled = poll(&mut ends, Some(&Timespec::default()));
        let gone = PollFlags::ERR | PollFlags::HUP;
        polled.is_ok() && ends.iter().any(|end| end.revents().intersects(gone))
    }

    /// Whether the reader of a pipe has closed it. On this system only a write shows that.
    #[cfg(not(unix))]
    pub fn is_abandoned(&self) -> bool {
        self.broken
    }
}

impl Write for DirectFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.terminal && !self.force && bytes.iter().any(is_binary) {
            self.refused = true;
            return Err(io::ErrorKind::InvalidData.into());
        }
        let done = self.file.write(bytes);
        match &done {
            Ok(count) => self.written += to_u64(*count),
            Err(error) => self.broken |= is_broken_pipe(error),
        }
        done
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens standard output again, for reading and writing at any position, if it is an empty regular file.
///
/// A file that already has content, is opened for appending, or also receives standard error is written as a stream: our bytes
/// would not begin at its start.
#[cfg(target_os = "linux")]
fn reopened(file: &File) -> io::Result<Option<File>> {
    use rustix::fs::{OFlags, fcntl_getfl};
    use same_file::Handle;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > 0 || (&mut &*file).stream_position()? > 0 {
        return Ok(None);
    }
    let is_shared =
        Handle::stderr().is_ok_and(|error| Handle::stdout().is_ok_and(|out| out == error));
    if is_shared || fcntl_getfl(file)?.contains(OFlags::APPEND) {
        return Ok(None);
    }
    // Without read permission, the output stays a stream.
    let again = File::options()
        .read(true)
        .write(true)
        .open("/proc/self/fd/1");
    Ok(again.ok())
}

/// Opens standard output again, which this system does not support.
#[cfg(not(target_os = "linux"))]
fn reopened(_: &File) -> io::Result<Option<File>> {
    Ok(None)
}

/// Whether it is the error of a pipe that its reader has closed.
pub fn is_broken_pipe(error: &io::Error) -> bool {
    const NOT_CONNECTED: i32 = 233;
    let is_closed = cfg!(windows) && error.raw_os_error() == Some(NOT_CONNECTED);
    is_closed || error.kind() == io::ErrorKind::BrokenPipe
}

/// Whether a byte occurs in no text and may disturb a terminal.
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

/// Returns an error if standard output was closed when the process began. Only Linux shows that.
pub fn check_closed() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    closed::check()?;
    Ok(())
}

/// Whether standard output was closed when the process began.
///
/// Before `main`, the standard library opens `/dev/null` in place of a closed stream, and writes succeed. After that, a closed
/// stream cannot be distinguished from a parent that discards the output.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "a function that runs before main")]
mod closed {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};

    static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

    // SAFETY: each entry of this section is a function that the C library calls once, before `main`. This one uses nothing that the
    // standard library sets up before `main`.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static AT_START: extern "C" fn() = look;

    extern "C" fn look() {
        let is_closed = rustix::io::fcntl_getfd(io::stdout()).is_err();
        WAS_CLOSED.store(is_closed, Ordering::Relaxed);
    }

    pub fn check() -> io::Result<()> {
        if WAS_CLOSED.load(Ordering::Relaxed) {
            return Err(rustix::io::Errno::BADF.into());
        }
        Ok(())
    }
}
