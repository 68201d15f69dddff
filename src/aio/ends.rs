//! [`Source`] and [`Target`]: the ends of async codecs.

use super::pace::Yield;
use std::io;
use std::task::{Context, Poll};

/// A source of bytes for an async codec. `Tokio` and `Futures` make one from any async reader; implement it for readers with
/// other traits.
///
/// ```
/// use bloscpack::aio::{AsyncDecoder, Source, Yield};
/// use std::io::{self, Cursor, Read};
/// use std::task::{Context, Poll};
///
/// /// Bytes in memory, which never have to be waited for.
/// struct Buffer(Cursor<Vec<u8>>);
///
/// impl Yield for Buffer {}
///
/// impl Source for Buffer {
///     fn poll_read(&mut self, _: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
///         Poll::Ready(self.0.read(buffer))
///     }
/// }
///
/// # #[cfg(feature = "tokio")] {
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let file = bloscpack::compress(b"some text")?;
/// let mut decoder = AsyncDecoder::new(Buffer(Cursor::new(file)));
/// assert_eq!(decoder.next_bytes().await?.as_deref(), Some(&b"some text"[..]));
/// # Ok::<(), bloscpack::Error>(())
/// # })?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Source: Yield {
    /// Reads some bytes into a buffer that is not empty, and returns how many: 0 at the end. If none are available, returns
    /// [`Poll::Pending`] and wakes the task later.
    ///
    /// # Errors
    /// Returns any error of the source. The codec may call it again.
    fn poll_read(&mut self, task: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>>;
}

/// A target of bytes for an async codec. `Tokio` and `Futures` make one from any async writer; implement it for writers with
/// other traits.
pub trait Target: Yield {
    /// Writes some of these bytes, and returns how many, at least one: 0 is treated as the error
    /// [`WriteZero`](io::ErrorKind::WriteZero).
    ///
    /// # Errors
    /// Returns any error of the target. The codec may call it again.
    fn poll_write(&mut self, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Flushes all bytes that were written.
    ///
    /// # Errors
    /// Returns any error of the target.
    fn poll_flush(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Flushes and closes the target: of a socket, the writing half.
    ///
    /// # Errors
    /// Returns any error of the target.
    fn poll_close(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>>;
}
