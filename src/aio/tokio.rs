//! The traits of tokio, for the ends and for the codecs.

use super::pace::Yield;
use super::{AsyncDecoder, AsyncEncoder, Source, Target};
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};

/// A reader or writer with the traits `AsyncRead` or `AsyncWrite` of tokio, as [`Source`] or [`Target`] of a codec. It needs
/// the feature `tokio`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokio<T>(pub T);

impl<T> Yield for Tokio<T> {
    fn yield_now(task: &mut Context<'_>) {
        // The runtime wakes the task after timers and sockets, even though this future is dropped at once.
        let yielded = pin!(tokio::task::yield_now()).poll(task);
        if yielded.is_ready() {
            task.waker().wake_by_ref();
        }
    }
}

impl<R: AsyncRead + Unpin> Source for Tokio<R> {
    fn poll_read(&mut self, task: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        ready!(Pin::new(&mut self.0).poll_read(task, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }
}

impl<W: AsyncWrite + Unpin> Target for Tokio<W> {
    fn poll_write(&mut self, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(task, bytes)
    }

    fn poll_flush(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(task)
    }

    fn poll_close(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(task)
    }
}

impl<S: Source + Unpin> AsyncRead for AsyncDecoder<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let len = ready!(self.get_mut().poll_copy(task, buffer.initialize_unfilled()))?;
        buffer.advance(len);
        Poll::Ready(Ok(()))
    }
}

impl<S: Source + Unpin> AsyncBufRead for AsyncDecoder<S> {
    fn poll_fill_buf(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.get_mut().poll_bytes(task).map_err(io::Error::from)
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.get_mut().take(amount);
    }
}

impl<T: Target + Unpin> AsyncWrite for AsyncEncoder<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut()
            .poll_put(task, bytes)
            .map_err(io::Error::from)
    }

    fn poll_flush(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut()
            .output
            .poll_flush(task)
            .map_err(io::Error::from)
    }

    fn poll_shutdown(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut()
            .output
            .poll_close(task)
            .map_err(io::Error::from)
    }
}
