//! [`History`]: the bytes that commits have overwritten, for older snapshots.
//!
//! ```text
//! head     "blpkhist" | version u32 | epoch u64 | crc32                                     24
//! record   length u64 | crc32 of that | kind u32 | entries u32                              20
//!          identity 16 | stamp 16                                                           32
//!          each entry: length of the key u32 | what it was u32 | length of the file u64
//!                      pieces u64 | key | each piece: at u64 | len u64
//!          crc32 of the record so far                                                        4
//!          the bytes of all pieces, one after another
//! ```
//!
//! Numbers are little-endian; `docs/crash-safety.md` explains the fields ("The layout of a history"). A history
//! is never synced, because no reader survives a power cut.

use super::MAX_EPOCH;
use crate::convert::{end_of, to_u64};
use crate::journal::fields::{Fields, Unreadable, begins_as, put_crc, put_u32, put_u64};
use crate::read_at::for_each_piece;
use crate::{Key, ReadAt, WriteAt};
use crc32fast::Hasher;
use std::io;
use std::ops::Range;

const MAGIC: [u8; 8] = *b"blpkhist";
const VERSION: u32 = 2;
const HEAD_LEN: u64 = 24;
/// Length of a record without entries.
const RECORD_LEN: u64 = 56;
/// Length of an entry without key and pieces.
const ENTRY_LEN: u64 = 24;
const PIECE_LEN: u64 = 16;
/// What a key was before the commit.
const NOTHING: u32 = 0;
const FOLDER: u32 = 1;
const FILE: u32 = 2;
/// Bytes of a record that are read at once. The bytes of its pieces, which are far more, are not read.
const HEADER_LEN: usize = 512;
/// Bytes copied at once.
const COPY_LEN: usize = 1 << 20;

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A writer has opened the file; the stamp was this one.
    Opened = 1,
    /// A commit begins and changes these keys.
    Begun = 2,
    /// The commit is done.
    Done = 3,
    /// The writer has closed the file and left this stamp.
    Closed = 4,
}

impl Kind {
    fn of(number: u32) -> Option<Self> {
        let all = [Self::Opened, Self::Begun, Self::Done, Self::Closed];
        all.into_iter().find(|kind| *kind as u32 == number)
    }
}

/// A range of a file, and its position in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept {
    pub at: u64,
    pub len: u64,
    pub from: u64,
}

/// What a key was before a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Former {
    Nothing,
    Folder,
    /// A file of this length.
    File(u64),
}

/// A key that a commit changes, as the writer knows it.
pub(crate) struct Entry<'a> {
    pub key: Key,
    pub was: Former,
    /// The ranges of the file that are overwritten, and the file.
    pub ranges: Vec<Range<u64>>,
    pub file: &'a dyn ReadAt,
}

/// A key that a commit changes, as a reader finds it.
#[derive(Debug)]
pub(super) struct Found {
    pub key: Key,
    pub was: Former,
    pub pieces: Vec<Kept>,
}

#[derive(Debug)]
pub(super) struct Record {
    pub kind: Kind,
    /// The identity of the file or the store.
    pub identity: u128,
    pub stamp: u128,
    pub entries: Vec<Found>,
}

/// A history, read and written sequentially.
#[derive(Debug)]
pub(crate) struct History<F> {
    pub file: F,
    pub epoch: u64,
    /// Where the next record begins.
    pub at: u64,
}

impl<F: ReadAt> History<F> {
    /// The history in a file; `None` if its head is incomplete or damaged.
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

    /// The next record; `None` if it is not complete yet.
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
            // A writer is truncating the remains of a killed writer's record.
            Err(Unreadable::Io(error)) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(Unreadable::Io(error)) => Err(error),
        }
    }

    /// The next record, and its end.
    fn read_record(&self) -> Result<Option<(Record, u64)>, Unreadable> {
        let size = self.file.size()?;
        let left = size.checked_sub(self.at).ok_or(Unreadable::Damaged)?;
        if left < RECORD_LEN {
            return Ok(None);
        }
        let fields = Fields::new(&self.file, (self.at, size), Hasher::new());
        let mut fields = fields.in_steps(HEADER_LEN);
        let len = fields.u64()?;
        // A damaged length could make the record look incomplete.
        fields.check_crc()?;
        if left < len {
            return Ok(None);
        }
        let end = self.at + len;
        let kind = Kind::of(fields.u32()?).ok_or(Unreadable::Damaged)?;
        let count = fields.u32()?;
        let identity = u128::from_le_bytes(fields.take()?);
        let stamp = u128::from_le_bytes(fields.take()?);
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push(read_entry(&mut fields)?);
        }
        fields.check_crc()?;
        place_pieces(&mut entries, fields.position(), end)?;
        let record = Record {
            kind,
            identity,
            stamp,
            entries,
        };
        Ok(Some((record, end)))
    }
}

/// An entry. Its pieces have no positions yet.
fn read_entry<F: ReadAt>(fields: &mut Fields<'_, F>) -> Result<Found, Unreadable> {
    let key_len = usize::try_from(fields.u32()?).map_err(|_| Unreadable::Damaged)?;
    let (was, len, count) = (fields.u32()?, fields.u64()?, fields.u64()?);
    let key = str::from_utf8(fields.bytes(key_len)?).map_err(|_| Unreadable::Damaged)?;
    let key = Key::parse(key).map_err(|_| Unreadable::Damaged)?;
    let was = match was {
        NOTHING => Former::Nothing,
        FOLDER => Former::Folder,
        FILE => Former::File(len),
        _ => return Err(Unreadable::Damaged),
    };
    let mut pieces = Vec::new();
    for _ in 0..count {
        let (at, len) = (fields.u64()?, fields.u64()?);
        at.checked_add(len).ok_or(Unreadable::Damaged)?;
        pieces.push(Kept { at, len, from: 0 });
    }
    Ok(Found { key, was, pieces })
}

/// Assigns positions to the pieces, one after another, between `from` and `end`.
fn place_pieces(entries: &mut [Found], mut from: u64, end: u64) -> Result<(), Unreadable> {
    for piece in entries.iter_mut().flat_map(|entry| &mut entry.pieces) {
        piece.from = from;
        from = from.checked_add(piece.len).ok_or(Unreadable::Damaged)?;
    }
    if from == end {
        Ok(())
    } else {
        Err(Unreadable::Damaged)
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

    /// Appends a record about the file or store with this identity. The record is complete when this returns.
    pub(super) fn append(
        &mut self,
        kind: Kind,
        (identity, stamp): (u128, u128),
        entries: &[Entry<'_>],
    ) -> io::Result<()> {
        let done = self.try_append(&head_of(kind, (identity, stamp), entries)?, entries);
        if done.is_err() {
            // Readers must not mistake the remains for a record.
            self.file.set_len(self.at)?;
        }
        done
    }

    fn try_append(&mut self, head: &[u8], entries: &[Entry<'_>]) -> io::Result<()> {
        let mut at = self.at;
        self.file.write_all_at(at, head)?;
        at += to_u64(head.len());
        for entry in entries {
            for range in &entry.ranges {
                let place = (range.start, range.end - range.start);
                for_each_piece(entry.file, place, COPY_LEN, |done, bytes| {
                    self.file.write_all_at(at + done, bytes)
                })?;
                at += place.1;
            }
        }
        self.at = at;
        Ok(())
    }
}

/// A record without the bytes of its pieces.
fn head_of(
    kind: Kind,
    (identity, stamp): (u128, u128),
    entries: &[Entry<'_>],
) -> io::Result<Vec<u8>> {
    let too_long = |_| io::Error::from(io::ErrorKind::FileTooLarge);
    let mut len = RECORD_LEN;
    for entry in entries {
        let key_len = to_u64(entry.key.as_str().len());
        len = end_of(len, ENTRY_LEN + key_len)?;
        for range in &entry.ranges {
            len = end_of(len, PIECE_LEN)?;
            len = end_of(len, range.end - range.start)?;
        }
    }
    let mut head = Vec::new();
    put_u64(&mut head, len);
    put_crc(&mut head);
    put_u32(&mut head, kind as u32);
    put_u32(&mut head, u32::try_from(entries.len()).map_err(too_long)?);
    head.extend_from_slice(&identity.to_le_bytes());
    head.extend_from_slice(&stamp.to_le_bytes());
    for entry in entries {
        let key = entry.key.as_str();
        let (was, len) = match entry.was {
            Former::Nothing => (NOTHING, 0),
            Former::Folder => (FOLDER, 0),
            Former::File(len) => (FILE, len),
        };
        put_u32(&mut head, u32::try_from(key.len()).map_err(too_long)?);
        put_u32(&mut head, was);
        put_u64(&mut head, len);
        put_u64(&mut head, to_u64(entry.ranges.len()));
        head.extend_from_slice(key.as_bytes());
        for range in &entry.ranges {
            put_u64(&mut head, range.start);
            put_u64(&mut head, range.end - range.start);
        }
    }
    put_crc(&mut head);
    Ok(head)
}

fn read_epoch<F: ReadAt>(file: &F) -> Result<u64, Unreadable> {
    let head = (0, HEAD_LEN.min(file.size()?));
    let mut fields = Fields::new(file, head, Hasher::new());
    let is_known = fields.take()? == MAGIC && fields.u32()? == VERSION;
    let epoch = fields.u64()?;
    fields.check_crc()?;
    let is_epoch = (1..MAX_EPOCH).contains(&epoch);
    if is_known && is_epoch {
        Ok(epoch)
    } else {
        Err(Unreadable::Damaged)
    }
}

/// Whether this is a history, or the beginning of one that a power cut has left, rather than a file of another
/// program.
pub(super) fn is_history<F: ReadAt>(file: &F) -> io::Result<bool> {
    begins_as(file, MAGIC)
}
