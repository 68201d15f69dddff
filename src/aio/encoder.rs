//! [`AsyncEncoder`]: a Bloscpack stream to an async target.

use super::Target;
use super::output::{Outlet, Output};
use crate::encoder::{Encoder, EncoderBuilder};
use blosc1::Tuned;
use bloscpack_error::{IoSide, Result};
use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

/// Writes a Bloscpack stream to an async target: [`Encoder`] for async programs.
///
/// It implements `AsyncWrite` of tokio and of `futures-io`, whichever are enabled. `shutdown` (in futures, `close`) finishes
/// the stream and ends the target, which for a socket leaves the other half open; [`finish`](Self::finish) only finishes it.
/// Dropped before, it leaves a stream that every reader refuses as cut short.
///
/// The [crew](super#threads) compresses. Each call first writes what was compressed since the last one, and takes no more
/// data than there is room for: memory is bounded however slow the target is. `flush` delivers full chunks, or everything if
/// the encoder is [interactive](EncoderBuilder::interactive). A future that is dropped loses nothing: data that
/// `write` has taken stays, and `flush` and `shutdown` go on when they are called again.
///
/// # Errors
/// Returns the errors of an [`Encoder`]. After an error of the target, the call may be tried again.
///
/// ```
/// # #[cfg(feature = "tokio")] {
/// use bloscpack::aio::{AsyncEncoder, Tokio};
/// use tokio::io::AsyncWriteExt;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut encoder = AsyncEncoder::new(Tokio(Vec::new()))?;
/// encoder.write_all(b"one, two, ").await?;
/// encoder.write_all(b"three").await?;
/// encoder.shutdown().await?;
/// assert_eq!(bloscpack::decompress(&encoder.into_inner().0)?, b"one, two, three");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AsyncEncoder<T> {
    pub(super) output: Output<Encoder<Outlet>, T>,
}

impl EncoderBuilder {
    /// Builds an encoder for an async target, whose work is done by the [crew](super#threads) of this process. The number of
    /// [threads](Self::threads) is then that of the chunks that may be compressed at once. The header is written with the
    /// first data.
    ///
    /// # Errors
    /// Returns a [`Usage`](bloscpack_error::Category::Usage) error, as [`write_to`](Self::write_to).
    pub fn write_async<T: Target>(self, target: T) -> Result<AsyncEncoder<T>> {
        let encoder = self.on_crew().write_to(Outlet::default())?;
        let output = Output::new(encoder, target);
        Ok(AsyncEncoder { output })
    }
}

impl<T> AsyncEncoder<T> {
    /// The target underneath.
    pub fn get_ref(&self) -> &T {
        &self.output.target
    }

    /// The target underneath. Anything written to it becomes part of the stream.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.output.target
    }

    /// Returns the target. The stream in it is complete only after [`finish`](Self::finish).
    pub fn into_inner(self) -> T {
        self.output.target
    }

    /// The settings that [`auto`](EncoderBuilder::auto) chose, and why; `None` before the choice, and without `auto`.
    pub fn tuned(&self) -> Option<&Tuned> {
        self.output.compress.tuned()
    }

    /// Uncompressed bytes taken in so far.
    pub fn total_in(&self) -> u64 {
        self.output.compress.total_in()
    }

    /// Compressed bytes so far, including those that wait for the target.
    pub fn total_out(&self) -> u64 {
        self.output.compress.total_out()
    }
}

impl<T: Target> AsyncEncoder<T> {
    /// Creates an encoder with all defaults, for a length that is not known. For other options there is
    /// [`EncoderBuilder::write_async`].
    ///
    /// # Errors
    /// Returns none with these options.
    pub fn new(target: T) -> Result<Self> {
        EncoderBuilder::default().write_async(target)
    }

    /// Writes the rest, and the end mark if the length was not known, and flushes the target, which stays open: something
    /// else may follow.
    ///
    /// # Errors
    /// Returns any error of the target, and [`Code::WrongSize`](bloscpack_error::Code::WrongSize) if fewer bytes
    /// arrived than were announced. The stream is then not complete.
    pub async fn finish(&mut self) -> Result<()> {
        poll_fn(|task| self.output.poll_finish(task)).await
    }

    /// Takes some of these bytes.
    pub(super) fn poll_put(&mut self, task: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        ready!(self.output.poll_ready(task))?;
        let Encoder { chunker, sink, .. } = &mut self.output.compress;
        let len = chunker.write(bytes, sink).writing()?;
        self.output.count(len);
        Poll::Ready(Ok(len))
    }
}

impl<T> fmt::Debug for AsyncEncoder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncEncoder")
            .field("total_in", &self.total_in())
            .field("total_out", &self.total_out())
            .finish_non_exhaustive()
    }
}
