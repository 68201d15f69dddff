//! [`History`]: the bytes that commits have overwritten, for snapshots that are older.
//!
//! ```text
//! head     "blpkhist" | version u32 | epoch u64 | crc32                                     24
//! record   length u64 | crc32 of that | kind u32 | pieces u32                               20
//!          identity 16 | stamp 16 | length of the file u64                                  40
//!          each piece: at u64 | len u64                                             16 a piece
//!          crc32 of the record so far                                                        4
//!          the bytes of the pieces, one after another
//! ```
//!
//! Numbers are little-endian. A history is never synced: it serves readers that are alive, which a
//! power cut does not leave.

use crate::convert::{end_of, to_u64};
use crate::journal::fields::{Fields, Unreadable, begins_as, put_crc, put_u32, put_u64};
use crate::read_at::for_each_piece;
use crate::{Lock, ReadAt, WriteAt};
use crc32fast::Hasher;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;

const MAGIC: [u8; 8] = *b"blpkhist";
const VERSION: u32 = 1;
pub(super) const HEAD_LEN: u64 = 24;
/// Length of a record without pieces.
const RECORD_LEN: u64 = 64;
const PIECE_LEN: u64 = 16;
/// Bytes copied at once.
const COPY_LEN: usize = 1 << 20;

/// The slot of a writer that has the file open.
pub(super) const WRITER: u64 = 0;
/// The slot of a writer that may still have to complete the change of an earlier one.
pub(super) const SETTLER: u64 = 1;
/// The slots of both.
pub(super) const WRITERS: Range<u64> = WRITER..SETTLER + 1;
/// The slot of readers that have no history. Those with a history of epoch N, which is at least 1,
/// are announced N slots later.
const READERS: u64 = 2;
const MAX_EPOCH: u64 = 1 << 60;

/// The slot of the readers with a history of this epoch.
pub(super) fn slot_of(epoch: u64) -> u64 {
    READERS + epoch.min(MAX_EPOCH)
}

/// The slots of all readers, or of those before an epoch.
pub(super) fn readers(before: Option<u64>) -> Range<u64> {
    READERS..slot_of(before.unwrap_or(MAX_EPOCH + 1))
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A writer has opened the file, whose stamp was this one.
    Opened = 1,
    /// A commit begins, which overwrites these pieces.
    Begun = 2,
    /// The commit is made.
    Done = 3,
    /// The writer has closed the file, and left it with this stamp.
    Closed = 4,
}

impl Kind {
    fn of(number: u32) -> Option<Self> {
        let all = [Self::Opened, Self::Begun, Self::Done, Self::Closed];
        all.into_iter().find(|kind| *kind as u32 == number)
    }
}

/// Some bytes of the file, and where they are in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept {
    pub at: u64,
    pub len: u64,
    pub from: u64,
}

#[derive(Debug)]
pub(super) struct Record {
    pub kind: Kind,
    /// The identity of the file.
    pub identity: u128,
    pub stamp: u128,
    /// Its length.
    pub file_len: u64,
    pub pieces: Vec<Kept>,
}

/// A history, read and written from front to back.
#[derive(Debug)]
pub(super) struct History<F> {
    pub file: F,
    pub epoch: u64,
    /// Where the next record begins.
    pub at: u64,
}

/// The things that a writer keeps for readers.
#[derive(Debug)]
pub(super) struct Keeper<F> {
    /// Whether handles of the file see one another.
    pub is_announced: bool,
    pub history: Option<History<F>>,
    /// Files that were replaced, and may have readers.
    pub former: Vec<F>,
}

impl<F> Default for Keeper<F> {
    fn default() -> Self {
        Self {
            is_announced: false,
            history: None,
            former: Vec::new(),
        }
    }
}

impl<F: ReadAt> History<F> {
    /// The history in a file, if its head is complete.
    pub(super) fn open(file: F) -> io::Result<Option<Self>> {
        match read_epoch(&file) {
            Ok(epoch) => {
                let at = HEAD_LEN;
                Ok(Some(Self { file, epoch, at }))
            }
            Err(Unreadable::Damaged) => Ok(None),
            Err(Unreadable::Io(error)) => Err(error),
        }
    }

    /// The next record, if it is complete.
    ///
    /// # Errors
    /// Returns [`InvalidData`](io::ErrorKind::InvalidData) if it is damaged, and any error of the file.
    pub(super) fn next_record(&mut self) -> io::Result<Option<Record>> {
        match self.read_record() {
            Ok(Some((record, end))) => {
                self.at = end;
                Ok(Some(record))
            }
            Ok(None) => Ok(None),
            Err(Unreadable::Damaged) => {
                let what = "the history of this file is damaged; open the file again";
                Err(io::Error::new(io::ErrorKind::InvalidData, what))
            }
            Err(Unreadable::Io(error)) => Err(error),
        }
    }

    /// The next record, and where it ends.
    fn read_record(&self) -> Result<Option<(Record, u64)>, Unreadable> {
        let size = self.file.size()?;
        let left = size.checked_sub(self.at).ok_or(Unreadable::Damaged)?;
        if left < RECORD_LEN {
            return Ok(None);
        }
        let mut fields = Fields::new(&self.file, (self.at, size), Hasher::new());
        let len = fields.u64()?;
        // Otherwise a damaged record could seem not to be complete yet.
        fields.check_crc()?;
        if left < len {
            return Ok(None);
        }
        let end = self.at + len;
        let kind = Kind::of(fields.u32()?).ok_or(Unreadable::Damaged)?;
        let count = fields.u32()?;
        let identity = u128::from_le_bytes(fields.take()?);
        let stamp = u128::from_le_bytes(fields.take()?);
        let file_len = fields.u64()?;
        let mut from = self.at + RECORD_LEN + u64::from(count) * PIECE_LEN;
        let mut pieces = Vec::new();
        for _ in 0..count {
            let (at, len) = (fields.u64()?, fields.u64()?);
            pieces.push(Kept { at, len, from });
            // No piece is longer than the record.
            let ends = (at.checked_add(len), from.checked_add(len));
            let (Some(_), Some(next)) = ends else {
                return Err(Unreadable::Damaged);
            };
            from = next;
        }
        fields.check_crc()?;
        let record = Record {
            kind,
            identity,
            stamp,
            file_len,
            pieces,
        };
        match from == end {
            true => Ok(Some((record, end))),
            false => Err(Unreadable::Damaged),
        }
    }
}

impl<F: WriteAt> History<F> {
    /// Begins a history in an empty file.
    pub(super) fn create(file: F, epoch: u64) -> io::Result<Self> {
        let mut head = MAGIC.to_vec();
        put_u32(&mut head, VERSION);
        put_u64(&mut head, epoch);
        put_crc(&mut head);
        file.write_all_at(0, &head)?;
        let at = HEAD_LEN;
        Ok(Self { file, epoch, at })
    }

    /// Appends a record with these ranges of a file, which is complete when this returns.
    pub(super) fn append<S: ReadAt + Lock>(
        &mut self,
        kind: Kind,
        file: &S,
        ranges: &[Range<u64>],
    ) -> io::Result<()> {
        let done = self.try_append(kind, file, ranges);
        if done.is_err() {
            // Readers must not take the remains for a record.
            self.file.set_len(self.at)?;
        }
        done
    }

    fn try_append<S: ReadAt + Lock>(
        &mut self,
        kind: Kind,
        file: &S,
        ranges: &[Range<u64>],
    ) -> io::Result<()> {
        let presence = file.presence().ok_or(io::ErrorKind::Unsupported)?;
        let status = presence.status()?;
        let count = u32::try_from(ranges.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let head_len = RECORD_LEN + u64::from(count) * PIECE_LEN;
        let mut len = head_len;
        for range in ranges {
            len = end_of(len, range.end - range.start)?;
        }
        let mut head = Vec::new();
        put_u64(&mut head, len);
        put_crc(&mut head);
        put_u32(&mut head, kind as u32);
        put_u32(&mut head, count);
        head.extend_from_slice(&status.identity.to_le_bytes());
        head.extend_from_slice(&status.stamp.to_le_bytes());
        put_u64(&mut head, status.len);
        for range in ranges {
            put_u64(&mut head, range.start);
            put_u64(&mut head, range.end - range.start);
        }
        put_crc(&mut head);
        let mut at = self.at;
        self.file.write_all_at(at, &head)?;
        at += to_u64(head.len());
        for range in ranges {
            let place = (range.start, range.end - range.start);
            for_each_piece(file, place, COPY_LEN, |done, bytes| {
                self.file.write_all_at(at + done, bytes)
            })?;
            at += place.1;
        }
        self.at = at;
        Ok(())
    }
}

fn read_epoch<F: ReadAt>(file: &F) -> Result<u64, Unreadable> {
    let head = (0, HEAD_LEN.min(file.size()?));
    let mut fields = Fields::new(file, head, Hasher::new());
    let is_known = fields.take()? == MAGIC && fields.u32()? == VERSION;
    let epoch = fields.u64()?;
    fields.check_crc()?;
    let is_epoch = (1..MAX_EPOCH).contains(&epoch);
    match is_known && is_epoch {
        true => Ok(epoch),
        false => Err(Unreadable::Damaged),
    }
}

/// Whether this is a history, perhaps one of which a power cut has left a part, rather than a file of another program.
pub(super) fn is_history<F: ReadAt>(file: &F) -> io::Result<bool> {
    begins_as(file, MAGIC)
}

/// The name of the history of a file.
pub(super) fn history_name(name: &OsStr) -> OsString {
    let mut name = name.to_owned();
    name.push(".blpk-history");
    name
}
