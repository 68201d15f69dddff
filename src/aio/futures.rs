//! The traits of the crate `futures-io`, for the ends and for the codecs.

use super::pace::Yield;
use super::{AsyncDecoder, AsyncEncoder, Source, Target};
use futures_io::{AsyncBufRead, AsyncRead, AsyncWrite};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A reader or writer with the traits `AsyncRead` or `AsyncWrite` of `futures-io`, as [`Source`] or [`Target`] of a codec. It
/// needs the feature `futures-io`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Futures<T>(pub T);

impl<T> Yield for Futures<T> {}

impl<R: AsyncRead + Unpin> Source for Futures<R> {
    fn poll_read(&mut self, task: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_read(task, buffer)
    }
}

impl<W: AsyncWrite + Unpin> Target for Futures<W> {
    fn poll_write(&mut self, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(task, bytes)
    }

    fn poll_flush(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(task)
    }

    fn poll_close(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(task)
    }
}

impl<S: Source + Unpin> AsyncRead for AsyncDecoder<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll_copy(task, buffer)
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

    fn poll_close(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut()
            .output
            .poll_close(task)
            .map_err(io::Error::from)
    }
}
