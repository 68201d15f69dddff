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
/// | call | effect |
/// |---|---|
/// | `write` of `AsyncWrite` (tokio, `futures-io`) | takes bytes, after compressed chunks have been written |
/// | `flush` | delivers full chunks, or everything if the encoder is [interactive](EncoderBuilder::interactive) |
/// | [`finish`](Self::finish) | completes the stream; the target stays open |
/// | `shutdown` (`close` in futures) | completes the stream and closes the target; of a socket, the writing half |
///
/// An encoder that is dropped without `finish` or `shutdown` leaves a stream that every reader refuses as cut short.
///
/// The [crew](super#threads) compresses. Each call first writes the chunks compressed so far, and takes no more data than it
/// has room for: memory is bounded however slow the target is. All calls are cancel safe: data that `write` has taken is kept,
/// and `flush` and `shutdown` continue when they are called again.
///
/// # Errors
/// Returns the errors of an [`Encoder`]. After an error of the target, the call may be repeated.
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
    /// Builds an encoder for an async target, on the [crew](crate::aio#threads) of this process. The number of
    /// [threads](Self::threads) is then how many chunks of this encoder may be compressed at once. The header is written with
    /// the first data.
    ///
    /// ```
    /// # #[cfg(feature = "tokio")] {
    /// use bloscpack::{Encoder, aio::Tokio};
    /// use tokio::io::AsyncWriteExt;
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let mut encoder = Encoder::builder().threads(4).write_async(Tokio(Vec::new()))?;
    /// encoder.write_all(&vec![7; 3_000_000]).await?;
    /// encoder.finish().await?;
    /// assert_eq!(bloscpack::decompress(&encoder.into_inner().0)?.len(), 3_000_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

    /// The settings that [`auto`](EncoderBuilder::auto) chose, and the reason; `None` before the choice, and without `auto`.
    pub fn tuned(&self) -> Option<&Tuned> {
        self.output.compress.tuned()
    }

    /// Uncompressed bytes taken in so far.
    pub fn total_in(&self) -> u64 {
        self.output.compress.total_in()
    }

    /// Bytes of the stream so far, including bytes that wait for the target.
    pub fn total_out(&self) -> u64 {
        self.output.compress.total_out()
    }
}

impl<T: Target> AsyncEncoder<T> {
    /// Creates an encoder with all defaults, for data of unknown length. [`EncoderBuilder::write_async`] has the options.
    ///
    /// # Errors
    /// Returns [`Code::NotBuilt`](bloscpack_error::Code::NotBuilt) in a build without LZ4.
    pub fn new(target: T) -> Result<Self> {
        EncoderBuilder::default().write_async(target)
    }

    /// Writes the rest and, if the length was not known, the end mark, and flushes the target. The target stays open, so other
    /// bytes may follow. Repeated calls have no effect.
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
