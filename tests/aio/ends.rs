//! Readers and writers that make it hard: pieces of a few bytes, pending first, failing now and then.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use testkit::golden::Random;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How a reader or writer behaves.
pub struct Mood {
    pub random: Random,
    /// The most bytes at once.
    pub longest: usize,
    /// Pending before each call that does something.
    pub halts: bool,
    /// One in so many calls fails; 0 for none.
    pub fails: usize,
    has_halted: bool,
}

impl Mood {
    pub fn new(seed: u64, longest: usize) -> Self {
        Self {
            random: Random::new(seed),
            longest,
            halts: true,
            fails: 0,
            has_halted: false,
        }
    }

    /// The length of the next piece.
    fn next(&mut self, task: &Context<'_>) -> Poll<io::Result<usize>> {
        if self.halts && !self.has_halted {
            self.has_halted = true;
            task.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.has_halted = false;
        if self.fails > 0 && self.random.below(self.fails) == 0 {
            return Poll::Ready(Err(io::Error::other("planted")));
        }
        Poll::Ready(Ok(self.random.below(self.longest) + 1))
    }
}

pub struct Reader<'a> {
    pub bytes: &'a [u8],
    pub mood: Mood,
}

impl Reader<'_> {
    fn poll(&mut self, task: &Context<'_>, room: usize) -> Poll<io::Result<&[u8]>> {
        let len = std::task::ready!(self.mood.next(task))?;
        let (piece, rest) = self.bytes.split_at(len.min(room).min(self.bytes.len()));
        self.bytes = rest;
        Poll::Ready(Ok(piece))
    }
}

impl AsyncRead for Reader<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let room = buffer.remaining();
        let polled = self.get_mut().poll(task, room);
        polled.map_ok(|piece| buffer.put_slice(piece))
    }
}

impl futures_util::AsyncRead for Reader<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let polled = self.get_mut().poll(task, buffer.len());
        polled.map_ok(|piece| {
            buffer[..piece.len()].copy_from_slice(piece);
            piece.len()
        })
    }
}

pub struct Writer {
    pub bytes: Vec<u8>,
    pub mood: Mood,
    pub is_closed: bool,
}

impl Writer {
    pub fn new(mood: Mood) -> Self {
        Self {
            bytes: Vec::new(),
            mood,
            is_closed: false,
        }
    }
}

impl AsyncWrite for Writer {
    fn poll_write(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let len = std::task::ready!(this.mood.next(task))?.min(bytes.len());
        this.bytes.extend_from_slice(&bytes[..len]);
        Poll::Ready(Ok(len))
    }

    fn poll_flush(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().mood.next(task).map_ok(|_| ())
    }

    fn poll_shutdown(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = this.mood.next(task).map_ok(|_| ());
        this.is_closed |= matches!(polled, Poll::Ready(Ok(())));
        polled
    }
}

impl futures_util::AsyncWrite for Writer {
    fn poll_write(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        AsyncWrite::poll_write(self, task, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_flush(self, task)
    }

    fn poll_close(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_shutdown(self, task)
    }
}
