//! Input for a file that is changed in place: Ctrl-C ends the wait for it.

use std::fs::File;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use super::Input;
use super::reader::retry;
use crate::interrupt;
use crate::progress::Progress;
use bloscpack::wire::internal::to_u64;

/// Bytes of one read from a pipe, which hardly ever has more.
const PIECE_LEN: usize = 64 << 10;
/// Pieces that are read ahead.
const AHEAD: usize = 2;

/// The bytes of an input, shown as progress. Reading fails once the work is asked to stop.
#[derive(Debug)]
pub struct InterruptibleReader<'a> {
    source: Source<'a>,
    progress: &'a Progress,
}

#[derive(Debug)]
enum Source<'a> {
    /// Reading a regular file never waits.
    File(&'a File),
    Pipe(Pump),
}

/// The receiving end of the thread that reads a pipe.
#[derive(Debug)]
struct Pump {
    pieces: Receiver<Piece>,
    piece: io::Cursor<Vec<u8>>,
    ended: bool,
}

#[derive(Debug)]
enum Piece {
    /// An empty piece is the end.
    Read(io::Result<Vec<u8>>),
    /// The work is asked to stop.
    Wake,
}

impl<'a> InterruptibleReader<'a> {
    /// Begins to read.
    pub fn begin(input: &'a Input, progress: &'a Progress) -> io::Result<Self> {
        let source = match input.length() {
            Some(_) => Source::File(input.file()),
            None => Source::Pipe(Pump::start(input.file().try_clone()?)?),
        };
        Ok(Self { source, progress })
    }
}

impl Read for InterruptibleReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        interrupt::check()?;
        let count = match &mut self.source {
            Source::File(file) => retry(|| file.read(buffer)),
            Source::Pipe(pump) => pump.read(buffer),
        }?;
        self.progress.advance(to_u64(count));
        Ok(count)
    }
}

impl Pump {
    fn start(file: File) -> io::Result<Self> {
        let (sender, pieces) = sync_channel(AHEAD);
        let waker = sender.clone();
        interrupt::set_waker(Box::new(move || match waker.try_send(Piece::Wake) {
            // No reader waits while there is a piece to take.
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }));
        // The thread is never joined: it may wait forever.
        thread::Builder::new().spawn(move || pump(file, &sender))?;
        Ok(Self {
            pieces,
            piece: io::Cursor::default(),
            ended: false,
        })
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.piece.read(buffer)?;
            if count > 0 || self.ended || buffer.is_empty() {
                return Ok(count);
            }
            match self.pieces.recv() {
                Ok(Piece::Read(piece)) => self.piece = io::Cursor::new(piece?),
                Ok(Piece::Wake) => interrupt::check()?,
                Err(_) => return Err(io::Error::other("the reading thread has ended")),
            }
            self.ended = self.piece.get_ref().is_empty();
        }
    }
}

/// Reads to the end or to the first error, as fast as the pieces are taken.
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
