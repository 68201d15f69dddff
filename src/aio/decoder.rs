//! [`AsyncDecoder`]: the uncompressed bytes of an async source.

use super::Source;
use crate::Options;
use crate::decoder::{Decoder, Warning};
use crate::engine::{Engine, Feed, Settings, Wanted};
use bloscpack_error::Result;
use bloscpack_wire::{Header, Metadata};
use bytes::Bytes;
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Reads the uncompressed bytes of a Bloscpack file or stream from an async source: [`Decoder`] for async programs.
///
/// | need | call |
/// |---|---|
/// | bytes in a buffer | `AsyncRead`, `AsyncBufRead` of tokio and of `futures-io`, if enabled |
/// | each chunk without a copy (above 64 MiB in pieces) | [`next_bytes`](Self::next_bytes), or the [`Stream`] of [`Bytes`] |
/// | header and metadata before the data | [`read_header`](Self::read_header), [`read_metadata`](Self::read_metadata) |
///
/// The [crew](super#threads) checks and decompresses. While the source is pending, all complete chunks are delivered. All
/// calls are cancel safe. Input is read 64 KiB at a time.
///
/// # Errors
/// Returns the errors of a [`Decoder`], with the same positions, after all content before them. After an error of the source,
/// the call may be repeated; other errors are permanent. As a stream, it ends after an error.
///
/// ```
/// # #[cfg(feature = "tokio")] {
/// use bloscpack::aio::{AsyncDecoder, Tokio};
/// use tokio::io::AsyncReadExt;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let file = bloscpack::compress(b"what was written is read")?;
/// let mut text = String::new();
/// AsyncDecoder::new(Tokio(file.as_slice())).read_to_string(&mut text).await?;
/// assert_eq!(text, "what was written is read");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AsyncDecoder<S> {
    decoder: Decoder<S>,
    feed: Feed,
    has_failed: bool,
}

impl<S> From<Decoder<S>> for AsyncDecoder<S> {
    fn from(decoder: Decoder<S>) -> Self {
        Self {
            decoder,
            feed: Feed::default(),
            has_failed: false,
        }
    }
}

impl<S: Source> AsyncDecoder<S> {
    /// Creates a decoder with the default [`Limits`](bloscpack_wire::Limits). Nothing is read yet.
    pub fn new(source: S) -> Self {
        Self::with_options(source, Options::new())
    }

    /// Creates a decoder with these options, on the [crew](super#threads) of this process. Nothing is read yet.
    pub fn with_options(source: S, options: Options) -> Self {
        let settings = Settings::on_crew(Wanted::Content, options);
        Decoder::with_engine(Engine::new(source, settings)).into()
    }

    /// Reads up to the first chunk, and returns the header of the first member.
    ///
    /// # Errors
    /// Returns the same errors as reading.
    pub async fn read_header(&mut self) -> Result<&Header> {
        poll_fn(|task| self.decoder.engine.poll_first(&mut self.feed, task)).await?;
        Ok(&self.decoder.engine.first()?.header)
    }

    /// Reads up to the first chunk, and returns the metadata of the first member; `None` if it has none.
    ///
    /// # Errors
    /// Returns the same errors as reading.
    pub async fn read_metadata(&mut self) -> Result<Option<&Metadata>> {
        poll_fn(|task| self.decoder.engine.poll_first(&mut self.feed, task)).await?;
        let first = self.decoder.engine.first()?;
        Ok(first.metadata.as_ref().map(|(metadata, _)| metadata))
    }

    /// The next bytes of the content, without a copy, as [`Decoder::next_bytes`]; `None` at the end.
    ///
    /// ```
    /// # #[cfg(feature = "tokio")] {
    /// use bloscpack::aio::{AsyncDecoder, Tokio};
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let file = bloscpack::compress(&vec![7; 3_000_000])?;
    /// let mut decoder = AsyncDecoder::new(Tokio(file.as_slice()));
    /// let mut len = 0;
    /// while let Some(bytes) = decoder.next_bytes().await? {
    ///     len += bytes.len();
    /// }
    /// assert_eq!(len, 3_000_000);
    /// # Ok::<(), bloscpack::Error>(())
    /// # })?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as reading.
    pub async fn next_bytes(&mut self) -> Result<Option<Bytes>> {
        poll_fn(|task| self.poll_next_bytes(task)).await
    }

    /// [`next_bytes`](Self::next_bytes) as a poll function.
    ///
    /// # Errors
    /// Returns the same errors as reading.
    pub fn poll_next_bytes(&mut self, task: &mut Context<'_>) -> Poll<Result<Option<Bytes>>> {
        let has_more = ready!(self.poll_ready(task))?;
        Poll::Ready(has_more.then(|| self.decoder.take_bytes()).transpose())
    }

    /// Reads on until bytes are ready. Returns false at the end.
    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<bool>> {
        while !self.decoder.is_ready()? {
            let next = self.decoder.engine.poll_next(&mut self.feed, task);
            match ready!(next)? {
                Some(piece) => self.decoder.put(piece)?,
                None => return Poll::Ready(Ok(false)),
            }
        }
        Poll::Ready(Ok(true))
    }

    /// The bytes that are ready; none at the end.
    pub(super) fn poll_bytes(&mut self, task: &mut Context<'_>) -> Poll<Result<&[u8]>> {
        ready!(self.poll_ready(task))?;
        Poll::Ready(self.decoder.unread())
    }

    /// Copies some bytes, and returns how many.
    pub(super) fn poll_copy(
        &mut self,
        task: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if buffer.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let mut bytes = ready!(self.poll_bytes(task))?;
        let len = io::Read::read(&mut bytes, buffer)?;
        self.take(len);
        Poll::Ready(Ok(len))
    }

    /// Marks ready bytes as delivered.
    pub(super) fn take(&mut self, amount: usize) {
        self.decoder.take(amount);
    }
}

impl<S> AsyncDecoder<S> {
    /// The source underneath.
    pub fn get_ref(&self) -> &S {
        self.decoder.get_ref()
    }

    /// The source underneath. The decoder misses bytes that the caller reads from it.
    pub fn get_mut(&mut self) -> &mut S {
        self.decoder.get_mut()
    }

    /// Returns the source and the bytes that were read from it and not parsed, as [`Decoder::into_parts`].
    pub fn into_parts(self) -> (S, Vec<u8>) {
        self.decoder.into_parts()
    }

    /// Members begun so far, including those read ahead.
    pub fn members(&self) -> u64 {
        self.decoder.members()
    }

    /// Compressed bytes read so far, including those read ahead.
    pub fn total_in(&self) -> u64 {
        self.decoder.total_in()
    }

    /// Uncompressed bytes delivered so far.
    pub fn total_out(&self) -> u64 {
        self.decoder.total_out()
    }

    /// Things in the input so far that are unusual but not wrong. The list is complete at the end of the input.
    pub fn warnings(&self) -> &[Warning] {
        self.decoder.warnings()
    }
}

impl<S: Source + Unpin> Stream for AsyncDecoder<S> {
    type Item = Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Bytes>>> {
        let this = self.get_mut();
        if this.has_failed {
            return Poll::Ready(None);
        }
        let next = ready!(this.poll_next_bytes(task)).transpose();
        this.has_failed = matches!(next, Some(Err(_)));
        Poll::Ready(next)
    }
}

impl<S> fmt::Debug for AsyncDecoder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncDecoder")
            .field("members", &self.members())
            .field("total_in", &self.total_in())
            .field("total_out", &self.total_out())
            .finish_non_exhaustive()
    }
}
