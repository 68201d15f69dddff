//! Input for a file that is changed in its place: Ctrl-C ends the wait for it.

use std::fs::File;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use super::Input;
use crate::interrupt;
use crate::progress::Progress;

/// Bytes read at once from a pipe, which hardly ever has more.
const PIECE_LEN: usize = 64 << 10;
/// Pieces that wait to be taken.
const AHEAD: usize = 2;

/// The bytes of an input, counted and shown as progress; they end with an error when the work is
/// asked to end.
#[derive(Debug)]
pub struct Awaited<'a> {
    from: From<'a>,
    progress: &'a Progress,
    failed: bool,
}

#[derive(Debug)]
enum From<'a> {
    /// A regular file never lets anybody wait.
    File(&'a File),
    Pipe(Pump),
}

/// What another thread has read.
#[derive(Debug)]
struct Pump {
    pieces: Receiver<Piece>,
    piece: io::Cursor<Vec<u8>>,
    ended: bool,
}

#[derive(Debug)]
enum Piece {
    /// Nothing is the end.
    Read(io::Result<Vec<u8>>),
    Asked,
}

impl<'a> Awaited<'a> {
    /// Begins to read.
    pub fn begin(input: &'a Input, progress: &'a Progress) -> io::Result<Self> {
        let from = match input.length() {
            Some(_) => From::File(input.file()),
            None => From::Pipe(Pump::start(input.file().try_clone()?)?),
        };
        Ok(Self {
            from,
            progress,
            failed: false,
        })
    }

    /// Whether an error came from reading. An error of the library does not tell.
    pub fn has_failed(&self) -> bool {
        self.failed
    }
}

impl Read for Awaited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let done = match &mut self.from {
            From::File(file) => interrupt::check().and_then(|()| read(file, buffer)),
            From::Pipe(pump) => interrupt::check().and_then(|()| pump.read(buffer)),
        };
        self.failed |= done.is_err();
        let count = done?;
        self.progress.advance(u64::try_from(count).unwrap_or(0));
        Ok(count)
    }
}

impl Pump {
    fn start(file: File) -> io::Result<Self> {
        let (sender, pieces) = sync_channel(AHEAD);
        let alarm = sender.clone();
        interrupt::set_alarm(Some(Box::new(move || match alarm.try_send(Piece::Asked) {
            // Where there is something to take, nobody waits.
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        })));
        // Nobody joins it: it may wait for ever.
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
                Ok(Piece::Asked) => interrupt::check()?,
                Err(_) => return Err(io::Error::other("the thread that reads has gone")),
            }
            self.ended = self.piece.get_ref().is_empty();
        }
    }
}

/// Reads up to the end or an error, as fast as the pieces are taken.
fn pump(mut file: File, pieces: &SyncSender<Piece>) {
    loop {
        let mut piece = vec![0; PIECE_LEN];
        let done = read(&mut file, &mut piece).map(|count| {
            piece.truncate(count);
            piece
        });
        let last = done.as_ref().map_or(true, Vec::is_empty);
        if pieces.send(Piece::Read(done)).is_err() || last {
            return;
        }
    }
}

fn read(mut file: impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
