//! An engine that never blocks: it wakes the task when input arrives, or when a worker is done.

use super::{Engine, Piece, Turn};
use crate::aio::{Pace, Source};
use bloscpack_error::{Error, IoSide, Result};
use std::task::{Context, Poll, ready};

/// The state of an engine whose source is polled.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    /// An error of the source, which is returned after the pending chunks.
    failed: Option<Error>,
    pace: Pace,
}

impl<S: Source> Engine<S> {
    /// The next piece of the content, or `None` at the end of the input. If the source is pending, the pending chunks are
    /// delivered first.
    pub(crate) fn poll_next(
        &mut self,
        feed: &mut Feed,
        task: &mut Context<'_>,
    ) -> Poll<Result<Option<Piece>>> {
        let mut is_dry = false;
        loop {
            ready!(feed.pace.poll::<S>(task));
            match self.turn(is_dry || feed.failed.is_some())? {
                Turn::Piece(piece) => {
                    feed.pace.count(piece.len);
                    return Poll::Ready(Ok(Some(piece)));
                }
                Turn::End => return Poll::Ready(Ok(None)),
                Turn::Busy => ready!(self.dispatcher.poll(task)),
                Turn::Hungry => {
                    if let Some(error) = feed.failed.take() {
                        return Poll::Ready(Err(error));
                    }
                    if is_dry {
                        return Poll::Pending;
                    }
                    match self.poll_read(feed, task) {
                        Poll::Ready(Ok(())) => {}
                        Poll::Ready(Err(error)) => feed.failed = Some(error),
                        Poll::Pending => is_dry = true,
                    }
                }
            }
        }
    }

    /// Reads up to the chunks of the first member.
    pub(crate) fn poll_first(
        &mut self,
        feed: &mut Feed,
        task: &mut Context<'_>,
    ) -> Poll<Result<()>> {
        while self.advance_to_first()? {
            ready!(self.poll_read(feed, task))?;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_read(&mut self, feed: &mut Feed, task: &mut Context<'_>) -> Poll<Result<()>> {
        let before = self.total_in();
        let polled = self
            .input
            .poll_fill(|source, room| source.poll_read(task, room));
        if !ready!(polled).reading()? {
            self.end_of_input();
        }
        // The difference is at most the length of a buffer.
        feed.pace
            .count(usize::try_from(self.total_in() - before).unwrap_or(usize::MAX));
        Poll::Ready(Ok(()))
    }
}
