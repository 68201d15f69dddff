//! The journal of a file: the pieces of one atomic change.
//!
//! ```text
//! head      "blpkjrnl" | version u32 | salt 16 | crc32                                     32
//! bytes     the bytes to be written, each piece where the index says
//! index     at u64 | len u64 | from u64 | crc32 | 0 u32       32 a piece, ascending in `at`
//! tail      "blpkdone" | salt 16 | pieces u64 | index at u64                               40
//!           old length u64 | new length u64                                                16
//!           witness at u64 | its length u32 | its hash 4 | before length u32 | index crc32 24
//!           before 64                      the file's first bytes as they were             64
//!           crc32 of the tail so far                                                        4
//! ```
//!
//! Numbers are little-endian. A piece consists of `len` bytes at `from` in the journal that belong at `at` in
//! the file; pieces do not overlap. A journal without its tail has no effect.
//!
//! *before* and the *witness* (up to 4 KiB that the change does not touch; its hash is the beginning of its
//! SHA-256) bind the journal to its file: at every stage of the change, each of the file's first bytes is the
//! old or the new one, and the witness is unchanged. See `docs/crash-safety.md`, "The layout of a file's
//! journal".

mod binding;
mod codec;
pub(crate) mod fields;
mod overlay;

use crate::error::bug;
use crate::process::Process;
use crate::read_at::for_each_piece;
use crate::{JournalFault, ReadAt, Result, WriteAt};
use crc32fast::Hasher;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io;

pub(crate) use binding::crc_of;
pub(crate) use codec::HEAD_LEN;
use fields::Unreadable;
pub(crate) use overlay::Overlay;

/// Bytes of the file's beginning that its journal contains.
pub(crate) const BEFORE_LEN: usize = 64;

/// Bytes copied at once.
const COPY_LEN: usize = 1 << 20;

/// A random number that distinguishes the journals and temporary files of one writer from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Salt(pub [u8; 16]);

impl Salt {
    /// A new salt. The standard library seeds a thread's `RandomState`s at random, but a forked process
    /// inherits its parent's; the process id distinguishes them.
    pub(crate) fn random() -> Self {
        let process = Process::current().id();
        let half = |_| RandomState::new().hash_one(process);
        Self((u128::from(half(0)) << 64 | u128::from(half(1))).to_le_bytes())
    }

    /// The 32 hexadecimal digits used in file names.
    pub(crate) fn text(self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.0))
    }
}

/// Bytes in a journal that belong at some position of the file.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub len: u64,
    /// The position of the bytes in the journal.
    pub from: u64,
    /// The crc32 state after these bytes.
    pub hasher: Hasher,
}

impl Piece {
    /// The end of a piece at position `at` of the file. Whoever creates a piece checks that the sum does not
    /// overflow.
    pub(crate) fn end(&self, at: u64) -> u64 {
        at + self.len
    }
}

/// All pieces of a change, by their positions in the file.
pub(crate) type Pieces = BTreeMap<u64, Piece>;

/// A complete journal.
#[derive(Debug)]
pub(crate) struct Journal {
    pub pieces: Pieces,
    pub new_len: u64,
    /// The first byte of the file after the change.
    pub first: u8,
}

/// The fields that bind a journal to its file.
#[derive(Debug, Clone)]
pub(crate) struct Binding {
    pub witness_at: u64,
    pub witness_len: u32,
    pub witness_hash: u32,
    pub before: Vec<u8>,
}

impl Journal {
    /// Writes index and tail after the bytes of the pieces, which end at `end`. This completes the journal.
    pub(crate) fn complete<S: ReadAt, J: WriteAt>(
        salt: Salt,
        pieces: Pieces,
        (file, new_len): (&S, u64),
        (journal, end): (&J, u64),
    ) -> io::Result<Self> {
        let old_len = file.size()?;
        if reach(&pieces, old_len).is_none_or(|end| end < new_len) {
            return Err(bug("a change leaves bytes of the file without content"));
        }
        let binding = Binding::of(file, &pieces, old_len.min(new_len))?;
        let first = binding::first_byte(&pieces, journal, &binding.before)?;
        let first = first.ok_or_else(|| bug("a change leaves a file without a first byte"))?;
        let tail = codec::Tail {
            salt,
            old_len,
            new_len,
            binding,
        };
        journal.write_all_at(end, &tail.encode(&pieces, end)?)?;
        Ok(Self {
            pieces,
            new_len,
            first,
        })
    }

    /// Reads and checks a journal, including that it belongs to this file.
    ///
    /// # Errors
    /// Returns [`Interrupted`](crate::Error::Interrupted) if it is not a complete journal of this file, and any
    /// error of the file and the journal.
    pub(crate) fn read<S: ReadAt, J: ReadAt>(file: &S, journal: &J) -> Result<Self> {
        let read = codec::Tail::read(journal);
        let (tail, pieces) = read.map_err(|error| error.or(JournalFault::Incomplete.of_file()))?;
        if reach(&pieces, file.size()?).is_none_or(|end| end < tail.new_len) {
            return Err(JournalFault::Holes.of_file());
        }
        if !binding::checksums_match(&pieces, journal)? {
            return Err(JournalFault::Damaged.of_file());
        }
        if !tail.binding.fits(file, &pieces, journal)? {
            return Err(JournalFault::Foreign.of_file());
        }
        let first = binding::first_byte(&pieces, journal, &tail.binding.before)?;
        Ok(Self {
            pieces,
            new_len: tail.new_len,
            first: first.ok_or_else(|| JournalFault::Damaged.of_file())?,
        })
    }

    /// Makes the change, except for the file's first byte. Applying it again has no further effect.
    pub(crate) fn apply<S: WriteAt, J: ReadAt>(&self, file: &S, journal: &J) -> io::Result<()> {
        put_pieces(&self.pieces, journal, |at, bytes| {
            match bytes.split_first() {
                // The first byte stays the mark until everything else is in place.
                Some((_, rest)) if at == 0 => file.write_all_at(1, rest),
                _ => file.write_all_at(at, bytes),
            }
        })?;
        file.set_len(self.new_len)
    }
}

/// The range of a journal in which pieces may have their bytes.
pub(crate) struct Room {
    from: u64,
    end: u64,
    left: u64,
}

impl Room {
    /// A range between two positions of the journal, with `from` <= `end`.
    pub(crate) fn new((from, end): (u64, u64)) -> Self {
        let left = end - from;
        Self { from, end, left }
    }

    /// Adds a piece after the previous ones.
    ///
    /// # Errors
    /// Returns an error if its bytes are outside the range. No byte belongs to two pieces, neither in the
    /// journal nor in the file: checking many long pieces at one position would take years.
    pub(crate) fn put(
        &mut self,
        pieces: &mut Pieces,
        at: u64,
        piece: Piece,
    ) -> std::result::Result<(), Unreadable> {
        let before = pieces.last_key_value();
        let before = before.map_or(0, |(at, piece)| piece.end(*at));
        let ends = (at.checked_add(piece.len), piece.from.checked_add(piece.len));
        let (Some(_), Some(end)) = ends else {
            return Err(Unreadable::Damaged);
        };
        let left = self.left.checked_sub(piece.len);
        let is_here = at >= before && piece.from >= self.from && end <= self.end;
        self.left = left.filter(|_| is_here).ok_or(Unreadable::Damaged)?;
        if piece.len > 0 {
            pieces.insert(at, piece);
        }
        Ok(())
    }
}

/// Where a file of length `len` ends with the pieces in it; `None` if they would leave bytes without content. A
/// forged journal could ask for any number of zeros.
pub(crate) fn reach(pieces: &Pieces, len: u64) -> Option<u64> {
    pieces.iter().try_fold(len, |end, (at, piece)| {
        (*at <= end).then(|| end.max(piece.end(*at)))
    })
}

/// Passes the bytes of all pieces to `put`, with their positions in the file.
pub(crate) fn put_pieces<J: ReadAt + ?Sized>(
    pieces: &Pieces,
    journal: &J,
    mut put: impl FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    for (at, piece) in pieces {
        let range = (piece.from, piece.len);
        for_each_piece(journal, range, COPY_LEN, |done, bytes| {
            put(at + done, bytes)
        })?;
    }
    Ok(())
}
