//! Input that Ctrl-C interrupts, even while a read waits. Used to change files in place.

use std::fs::File;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Instant;

use super::bytes::retry;
use super::{Input, InputReader};
use crate::interrupt;
use crate::progress::Progress;
use bloscpack::wire::internal::to_u64;

/// Bytes of one read from a pipe. Pipes rarely hold more.
const PIECE_LEN: usize = 64 << 10;
/// The number of pieces to read ahead.
const AHEAD: usize = 2;

/// The bytes of an input. Reads count as progress, and fail after a request to stop.
pub enum InterruptibleReader<'a> {
    /// A regular file, whose reads never wait, or an object, which answers within some time.
    Regular(InputReader<'a>),
    Pipe(Pump, &'a Progress),
}

/// The receiving end of the thread that reads a pipe.
#[derive(Debug)]
pub struct Pump {
    pieces: Receiver<Piece>,
    piece: io::Cursor<Vec<u8>>,
    ended: bool,
}

#[derive(Debug)]
enum Piece {
    /// An empty piece is the end.
    Read(io::Result<Vec<u8>>),
    /// A request to stop.
    Wake,
}

impl<'a> InterruptibleReader<'a> {
    pub fn begin(input: &'a Input, progress: &'a Progress) -> io::Result<Self> {
        Ok(match input.length() {
            Some(_) => Self::Regular(input.reader(progress)),
            None => Self::Pipe(Pump::start(input.stream()?)?, progress),
        })
    }

    /// As [`read`](Read::read), but returns `None` if no byte arrives before the deadline.
    pub fn read_until(
        &mut self,
        buffer: &mut [u8],
        deadline: Option<Instant>,
    ) -> io::Result<Option<usize>> {
        interrupt::check()?;
        match self {
            Self::Regular(reader) => reader.read(buffer).map(Some),
            Self::Pipe(pump, progress) => {
                let count = pump.read_until(buffer, deadline)?;
                progress.advance(to_u64(count.unwrap_or(0)));
                Ok(count)
            }
        }
    }
}

impl Read for InterruptibleReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.read_until(buffer, None)?;
        count.ok_or_else(|| io::ErrorKind::TimedOut.into())
    }
}

impl Pump {
    fn start(file: File) -> io::Result<Self> {
        let (sender, pieces) = sync_channel(AHEAD);
        let waker = sender.clone();
        interrupt::set_waker(Box::new(move || match waker.try_send(Piece::Wake) {
            // If the channel is full, the reader does not wait.
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }));
        // The thread is never joined: its read may wait forever.
        thread::Builder::new().spawn(move || pump(file, &sender))?;
        Ok(Self {
            pieces,
            piece: io::Cursor::default(),
            ended: false,
        })
    }

    fn read_until(
        &mut self,
        buffer: &mut [u8],
        deadline: Option<Instant>,
    ) -> io::Result<Option<usize>> {
        loop {
            let count = self.piece.read(buffer)?;
            if count > 0 || self.ended || buffer.is_empty() {
                return Ok(Some(count));
            }
            match self.next(deadline) {
                Ok(Piece::Read(piece)) => self.piece = io::Cursor::new(piece?),
                Ok(Piece::Wake) => interrupt::check()?,
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("the reading thread has ended"));
                }
            }
            self.ended = self.piece.get_ref().is_empty();
        }
    }

    fn next(&self, deadline: Option<Instant>) -> Result<Piece, RecvTimeoutError> {
        match deadline {
            // Saturates: the deadline may have passed.
            Some(deadline) => {
                let wait = deadline.saturating_duration_since(Instant::now());
                self.pieces.recv_timeout(wait)
            }
            None => Ok(self.pieces.recv()?),
        }
    }
}

/// Reads to the end or to the first error, and waits while the channel is full.
fn pump(mut file: File, pieces: &SyncSender<Piece>) {
    loop {
        let mut piece = vec![0; PIECE_LEN];
        let done = retry(|| file.read(&mut piece)).map(|count| {
            piece.truncate(count);
            piece
        });
        let last = done.as_ref().map_or(true, Vec::is_empty);
        if pieces.send(Piece::Read(done)).is_err() || last {
            return;
        }
    }
}
