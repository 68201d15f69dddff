//! [`RecordStream`]: the records of an async source.

use super::Source;
use crate::Options;
use crate::engine::{Engine, Feed, Settings, Wanted, Warning};
use crate::records::RecordReader;
use bloscpack_error::Result;
use bloscpack_wire::{Header, Metadata};
use bytes::Bytes;
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Reads records in order from an async source: [`RecordReader`] for async programs.
///
/// It is a [`Stream`] of [`Bytes`], which share the memory of their chunk. As a stream, it ends after an error. All records
/// that a writer has flushed are delivered before it waits for more input. The [crew](super#threads) checks and decompresses.
/// All calls are cancel safe.
///
/// ```
/// # #[cfg(feature = "tokio")] {
/// use bloscpack::aio::{RecordSink, RecordStream, Tokio};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let (near, far) = tokio::io::duplex(1000);
/// let mut sink = RecordSink::new(Tokio(near))?;
/// sink.push("a record").await?;
/// sink.flush().await?;
///
/// let mut records = RecordStream::new(Tokio(far));
/// assert_eq!(records.next_record().await?.as_deref(), Some(&b"a record"[..]));
/// # Ok::<(), bloscpack::Error>(())
/// # })?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RecordStream<S> {
    reader: RecordReader<S>,
    feed: Feed,
    has_failed: bool,
}

impl<S> From<RecordReader<S>> for RecordStream<S> {
    fn from(reader: RecordReader<S>) -> Self {
        Self {
            reader,
            feed: Feed::default(),
            has_failed: false,
        }
    }
}

impl<S: Source> RecordStream<S> {
    /// Creates a stream with the default [`Limits`](bloscpack_wire::Limits). Nothing is read yet.
    pub fn new(source: S) -> Self {
        Self::with_options(source, Options::new())
    }

    /// Creates a stream with these options, on the [crew](super#threads) of this process. Nothing is read yet.
    pub fn with_options(source: S, options: Options) -> Self {
        let settings = Settings::on_crew(Wanted::Records, options);
        RecordReader::with_engine(Engine::new(source, settings)).into()
    }

    /// Reads up to the first chunk, and returns the header of the first member.
    ///
    /// # Errors
    /// Returns the same errors as [`next_record`](Self::next_record).
    pub async fn read_header(&mut self) -> Result<&Header> {
        poll_fn(|task| self.reader.engine.poll_first(&mut self.feed, task)).await?;
        Ok(&self.reader.engine.first()?.header)
    }

    /// Reads up to the first chunk, and returns the metadata of the first member; `None` if it has none.
    ///
    /// # Errors
    /// Returns the same errors as [`next_record`](Self::next_record).
    pub async fn read_metadata(&mut self) -> Result<Option<&Metadata>> {
        poll_fn(|task| self.reader.engine.poll_first(&mut self.feed, task)).await?;
        let first = self.reader.engine.first()?;
        Ok(first.metadata.as_ref().map(|(metadata, _)| metadata))
    }

    /// The next record, or `None` at the end.
    ///
    /// # Errors
    /// Returns the same errors as [`RecordReader::next_record`]. After an error of the source, the call may be repeated.
    pub async fn next_record(&mut self) -> Result<Option<Bytes>> {
        poll_fn(|task| self.poll_next_record(task)).await
    }

    /// [`next_record`](Self::next_record) as a poll function.
    ///
    /// # Errors
    /// Returns the same errors as [`next_record`](Self::next_record).
    pub fn poll_next_record(&mut self, task: &mut Context<'_>) -> Poll<Result<Option<Bytes>>> {
        loop {
            if let Some(record) = self.reader.ready()? {
                return Poll::Ready(Ok(Some(record)));
            }
            let next = self.reader.engine.poll_next(&mut self.feed, task);
            if !self.reader.put(ready!(next)?)? {
                return Poll::Ready(Ok(None));
            }
        }
    }
}

impl<S> RecordStream<S> {
    /// Records read so far, over all members.
    pub fn records(&self) -> u64 {
        self.reader.records()
    }

    /// Things in the input that are unusual but not wrong. The list is complete at the end of the input.
    pub fn warnings(&self) -> &[Warning] {
        self.reader.warnings()
    }

    /// The source underneath.
    pub fn get_ref(&self) -> &S {
        self.reader.get_ref()
    }

    /// Returns the source and the bytes that were read from it and not parsed, as [`RecordReader::into_parts`].
    pub fn into_parts(self) -> (S, Vec<u8>) {
        self.reader.into_parts()
    }
}

impl<S: Source + Unpin> Stream for RecordStream<S> {
    type Item = Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Bytes>>> {
        let this = self.get_mut();
        if this.has_failed {
            return Poll::Ready(None);
        }
        let next = ready!(this.poll_next_record(task)).transpose();
        this.has_failed = matches!(next, Some(Err(_)));
        Poll::Ready(next)
    }
}

impl<S> fmt::Debug for RecordStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordStream")
            .field("records", &self.records())
            .finish_non_exhaustive()
    }
}
