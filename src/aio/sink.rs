//! [`RecordSink`]: records to an async target.

use super::Target;
use super::output::{Outlet, Output};
use crate::records::{RecordWriter, RecordWriterBuilder, ToRecord};
use bloscpack_error::{Error, Result};
use futures_sink::Sink;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Writes records to an async target: [`RecordWriter`] for async programs.
///
/// It is also a [`Sink`] of items that are bytes (`AsRef<[u8]>`), whose `close` completes the stream and closes the target. A
/// sink that is dropped without `close` or [`finish`](Self::finish) leaves a stream that every reader refuses as cut short.
///
/// The [crew](super#threads) compresses. A future of [`push`](Self::push) that is dropped before it is ready has not taken its
/// record.
///
/// ```
/// # #[cfg(feature = "tokio")] {
/// use bloscpack::aio::{RecordSink, Tokio};
/// use bloscpack::records::RecordReader;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut sink = RecordSink::new(Tokio(Vec::new()))?;
/// sink.push("one").await?;
/// sink.push([2, 2]).await?;
/// sink.finish().await?;
/// let stream = sink.into_inner().0;
/// assert_eq!(RecordReader::new(stream.as_slice()).count(), 2);
/// # Ok::<(), bloscpack::Error>(())
/// # })?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RecordSink<T> {
    output: Output<RecordWriter<Outlet>, T>,
}

impl RecordWriterBuilder {
    /// Builds a sink for an async target, as [`EncoderBuilder::write_async`](crate::EncoderBuilder::write_async).
    ///
    /// # Errors
    /// Returns the same errors as [`write_to`](Self::write_to).
    pub fn write_async<T: Target>(self, target: T) -> Result<RecordSink<T>> {
        let writer = self.on_crew().write_to(Outlet::default())?;
        let output = Output::new(writer, target);
        Ok(RecordSink { output })
    }
}

impl<T> RecordSink<T> {
    /// The target underneath.
    pub fn get_ref(&self) -> &T {
        &self.output.target
    }

    /// Returns the target. The stream in it is complete only after [`finish`](Self::finish).
    pub fn into_inner(self) -> T {
        self.output.target
    }

    /// Records taken in so far.
    pub fn records(&self) -> u64 {
        self.output.compress.records()
    }
}

impl<T: Target> RecordSink<T> {
    /// Creates a sink with all defaults, for an unknown number of records. [`RecordWriterBuilder::write_async`] has the
    /// options.
    ///
    /// # Errors
    /// Returns [`Code::NotBuilt`](bloscpack_error::Code::NotBuilt) in a build without LZ4.
    pub fn new(target: T) -> Result<Self> {
        RecordWriterBuilder::default().write_async(target)
    }

    /// Writes a record of 0 to 2 147 483 631 bytes, or 20 bytes less if records are packed. It waits until the sink has room,
    /// and copies the bytes; they reach the target with later records or with the next [`flush`](Self::flush).
    ///
    /// # Errors
    /// Returns the same errors as [`RecordWriter::push`].
    pub async fn push(&mut self, record: impl AsRef<[u8]>) -> Result<()> {
        poll_fn(|task| self.output.poll_ready(task)).await?;
        self.put(record.as_ref())
    }

    /// Writes a value as a record.
    ///
    /// # Errors
    /// Returns the same errors as [`RecordWriter::push_as`].
    pub async fn push_as<V: ToRecord + ?Sized>(&mut self, value: &V) -> Result<()> {
        poll_fn(|task| self.output.poll_ready(task)).await?;
        self.output.compress.push_as(value)
    }

    /// Writes all pushed records and flushes the target: a reader at the other end can read them.
    ///
    /// # Errors
    /// Returns any error of the target.
    pub async fn flush(&mut self) -> Result<()> {
        poll_fn(|task| self.output.poll_flush(task)).await
    }

    /// Writes the rest and, if the number of chunks was not known, the end mark, and flushes the target, which stays open.
    ///
    /// # Errors
    /// Returns the same errors as [`RecordWriter::finish`]. The stream is then not complete.
    pub async fn finish(&mut self) -> Result<()> {
        poll_fn(|task| self.output.poll_finish(task)).await
    }

    /// Takes a record, after `poll_ready` has found room.
    fn put(&mut self, record: &[u8]) -> Result<()> {
        self.output.count(record.len());
        self.output.compress.push(record)
    }
}

impl<B: AsRef<[u8]>, T: Target + Unpin> Sink<B> for RecordSink<T> {
    type Error = Error;

    fn poll_ready(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<()>> {
        self.get_mut().output.poll_ready(task)
    }

    fn start_send(self: Pin<&mut Self>, record: B) -> Result<()> {
        self.get_mut().put(record.as_ref())
    }

    fn poll_flush(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<()>> {
        self.get_mut().output.poll_flush(task)
    }

    fn poll_close(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<()>> {
        self.get_mut().output.poll_close(task)
    }
}

impl<T> fmt::Debug for RecordSink<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordSink")
            .field("records", &self.records())
            .finish_non_exhaustive()
    }
}
