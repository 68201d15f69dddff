//! [`Output`]: the common part of encoders and record sinks, from compressed chunks to the target.

use super::{Pace, Target};
use crate::encoder::{Encoder, Totals};
use crate::records::RecordWriter;
use bloscpack_error::checked::slice;
use bloscpack_error::{Error, IoSide, Result};
use std::io;
use std::task::{Context, Poll, ready};

/// Compressed bytes that wait for the target.
#[derive(Debug, Default)]
pub(crate) struct Outlet {
    bytes: Vec<u8>,
    /// Number of bytes that the target has taken.
    taken: usize,
}

impl Outlet {
    /// The bytes that the target has not taken.
    pub(super) fn left(&self) -> Result<&[u8]> {
        slice(&self.bytes, self.taken..self.bytes.len())
    }

    /// Removes bytes that the target has taken.
    pub(super) fn take(&mut self, len: usize) {
        self.taken += len;
        if self.taken >= self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
        }
    }
}

impl io::Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A writer whose calls never block, because each follows a poll that has found room.
pub(super) trait Compress {
    /// Passes on compressed chunks until there is room for more data.
    fn poll_room(&mut self, task: &Context<'_>) -> Poll<Result<()>>;
    /// Passes on all pending chunks, before a flush or the end.
    fn poll_drain(&mut self, is_end: bool, task: &Context<'_>) -> Poll<Result<()>>;
    /// Submits the chunks of a flush.
    fn begin_flush(&mut self) -> Result<()>;
    /// Submits the rest, and returns the totals that `end` compares.
    fn begin_finish(&mut self) -> Result<Totals>;
    /// Writes the bytes after the last chunk.
    fn end(&mut self, expected: Totals) -> Result<()>;
    fn outlet(&mut self) -> &mut Outlet;
}

impl Compress for Encoder<Outlet> {
    fn poll_room(&mut self, task: &Context<'_>) -> Poll<Result<()>> {
        self.chunker.poll_room(task, &mut self.sink)
    }

    fn poll_drain(&mut self, is_end: bool, task: &Context<'_>) -> Poll<Result<()>> {
        self.chunker.poll_drain(is_end, task, &mut self.sink)
    }

    fn begin_flush(&mut self) -> Result<()> {
        self.chunker.begin_flush(&mut self.sink)
    }

    fn begin_finish(&mut self) -> Result<Totals> {
        let may_be_empty = self.plan.known.is_none();
        self.chunker.begin_finish(may_be_empty, &mut self.sink)
    }

    fn end(&mut self, expected: Totals) -> Result<()> {
        self.chunker.end(expected, &mut self.sink)?;
        self.sink.finish(&self.plan)
    }

    fn outlet(&mut self) -> &mut Outlet {
        &mut self.sink.writer
    }
}

impl Compress for RecordWriter<Outlet> {
    fn poll_room(&mut self, task: &Context<'_>) -> Poll<Result<()>> {
        self.chunker.poll_room(false, task, &mut self.sink)
    }

    fn poll_drain(&mut self, _: bool, task: &Context<'_>) -> Poll<Result<()>> {
        self.chunker.poll_room(true, task, &mut self.sink)
    }

    fn begin_flush(&mut self) -> Result<()> {
        self.chunker.begin_flush(&mut self.sink)
    }

    fn begin_finish(&mut self) -> Result<Totals> {
        self.chunker.begin_finish(&mut self.sink)?;
        // The chunker keeps the totals itself.
        Ok(Totals::default())
    }

    fn end(&mut self, _: Totals) -> Result<()> {
        self.chunker.end(&mut self.sink)?;
        self.sink.finish(&self.plan)
    }

    fn outlet(&mut self) -> &mut Outlet {
        &mut self.sink.writer
    }
}

/// The stage of an output.
///
/// ```text
///   Open ◄─► Flushing ─► Finishing ─► Ended ─► Finished
///     └───────────────────────┘
/// ```
///
/// A call that is dropped leaves the stage, and the next call continues there.
enum Stage {
    Open,
    /// A flush has begun, and its chunks are pending.
    Flushing,
    /// The last chunks are pending.
    Finishing(Totals),
    /// Everything is compressed, and is being written.
    Ended,
    /// Everything is written and flushed.
    Finished,
}

/// Compresses, and writes the result as fast as the target takes it.
pub(super) struct Output<C, T> {
    pub compress: C,
    pub target: T,
    stage: Stage,
    pace: Pace,
}

impl<C, T> Output<C, T> {
    pub(super) fn new(compress: C, target: T) -> Self {
        Self {
            compress,
            target,
            stage: Stage::Open,
            pace: Pace::default(),
        }
    }
}

impl<C: Compress, T: Target> Output<C, T> {
    /// Waits until there is room for data. Compressed bytes are written first.
    pub(super) fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<()>> {
        match self.stage {
            Stage::Open => {}
            Stage::Flushing => self.stage = Stage::Open,
            _ => return Poll::Ready(Err(Error::usage("nothing can be written after the end"))),
        }
        ready!(self.pace.poll::<T>(task));
        ready!(self.compress.poll_room(task))?;
        self.poll_write(task)
    }

    /// Counts bytes that were taken in.
    pub(super) fn count(&mut self, bytes: usize) {
        self.pace.count(bytes);
    }

    /// Writes all compressed bytes.
    fn poll_write(&mut self, task: &mut Context<'_>) -> Poll<Result<()>> {
        let outlet = self.compress.outlet();
        loop {
            let left = outlet.left()?;
            if left.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let most = left.len();
            let len = ready!(self.target.poll_write(task, left)).writing()?;
            if len == 0 {
                return Poll::Ready(Err(io::Error::from(io::ErrorKind::WriteZero)).writing());
            }
            // A wrong target may return more than it was given.
            outlet.take(len.min(most));
        }
    }

    /// Flushes the writer and the target.
    pub(super) fn poll_flush(&mut self, task: &mut Context<'_>) -> Poll<Result<()>> {
        if let Stage::Open = self.stage {
            ready!(self.poll_out(false, task))?;
            self.compress.begin_flush()?;
            self.stage = Stage::Flushing;
        }
        if let Stage::Flushing = self.stage {
            ready!(self.poll_out(false, task))?;
        }
        ready!(self.poll_write(task))?;
        ready!(self.target.poll_flush(task)).writing()?;
        if let Stage::Flushing = self.stage {
            self.stage = Stage::Open;
        }
        Poll::Ready(Ok(()))
    }

    /// Finishes the stream and flushes the target.
    pub(super) fn poll_finish(&mut self, task: &mut Context<'_>) -> Poll<Result<()>> {
        if let Stage::Open | Stage::Flushing = self.stage {
            ready!(self.poll_out(true, task))?;
            self.stage = Stage::Finishing(self.compress.begin_finish()?);
        }
        if let Stage::Finishing(expected) = self.stage {
            ready!(self.poll_out(true, task))?;
            self.compress.end(expected)?;
            self.stage = Stage::Ended;
        }
        if let Stage::Ended = self.stage {
            ready!(self.poll_write(task))?;
            ready!(self.target.poll_flush(task)).writing()?;
            self.stage = Stage::Finished;
        }
        Poll::Ready(Ok(()))
    }

    /// As [`poll_finish`](Self::poll_finish), and closes the target.
    pub(super) fn poll_close(&mut self, task: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_finish(task))?;
        self.target.poll_close(task).map(IoSide::writing)
    }

    /// Waits for all pending chunks, and writes compressed bytes meanwhile.
    fn poll_out(&mut self, is_end: bool, task: &mut Context<'_>) -> Poll<Result<()>> {
        let drained = self.compress.poll_drain(is_end, task)?;
        // If both are pending, target and crew have both kept the waker.
        let written = self.poll_write(task)?;
        ready!(drained);
        written.map(Ok)
    }
}
