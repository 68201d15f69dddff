//! [`Source`] and [`Target`]: what async codecs read from and write to.

use super::pace::Yield;
use std::io;
use std::task::{Context, Poll};

/// Something that bytes are read from, as [`Tokio`](super::Tokio) and [`Futures`](super::Futures) make of any reader.
pub trait Source: Yield {
    /// Reads some bytes into a buffer that is not empty. Returns 0 at the end.
    ///
    /// # Errors
    /// Returns any error of the source. The codec may ask again.
    fn poll_read(&mut self, task: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>>;
}

/// Something that bytes are written to, as [`Tokio`](super::Tokio) and [`Futures`](super::Futures) make of any writer.
pub trait Target: Yield {
    /// Writes some of these bytes, at least one.
    ///
    /// # Errors
    /// Returns any error of the target. The codec may try again.
    fn poll_write(&mut self, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Delivers all bytes that were written.
    ///
    /// # Errors
    /// Returns any error of the target.
    fn poll_flush(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ends the target: of a socket, the half that is written to.
    ///
    /// # Errors
    /// Returns any error of the target.
    fn poll_close(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>>;
}
