//! What a journal says: the changes to one file that are to be made as a whole.
//!
//! ```text
//! head      "blpkjrnl" | version u32 | salt 16 | crc32                                     32
//! bytes     what is to be written, each piece where the index says
//! index     at u64 | len u64 | from u64 | crc32 | 0 u32       32 a piece, ascending in `at`
//! tail      "blpkdone" | salt 16 | pieces u64 | index at u64                               40
//!           old length u64 | new length u64                                                16
//!           witness at u64 | its length u32 | its hash 4 | before length u32 | index crc32 24
//!           before 64                      the file's first bytes as they were             64
//!           crc32 of the tail so far                                                        4
//! ```
//!
//! Numbers are little-endian. A piece is `len` bytes at `from` in the journal that belong at `at`
//! in the file; pieces do not overlap. A journal without its tail is one that nobody has to obey.
//!
//! *before* and the *witness* (up to 4 KiB that the change leaves alone; its hash is the beginning
//! of its SHA-256) bind it to its file: whatever of the change has been made, each of the file's
//! first bytes is the old one or the new one, and the witness is unchanged.

mod bind;
mod codec;

use super::{ReadAt, WriteAt};
use crc32fast::Hasher;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io;

pub(super) use bind::crc_of;
pub(super) use codec::HEAD_LEN;

/// How much of the file's beginning a journal knows.
pub(super) const BEFORE_LEN: usize = 64;

/// A number that no other journal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Salt(pub [u8; 16]);

impl Salt {
    /// The standard library seeds each of these at random.
    pub(super) fn random() -> Self {
        let half = |_| RandomState::new().hash_one(std::process::id());
        Self((u128::from(half(0)) << 64 | u128::from(half(1))).to_le_bytes())
    }

    /// As it is part of a file name.
    pub(super) fn text(self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.0))
    }
}

/// Bytes in a journal that belong somewhere in the file.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub len: u64,
    /// Where they lie in the journal.
    pub from: u64,
    pub hasher: Hasher,
}

/// All pieces, by where they belong.
pub(super) type Pieces = BTreeMap<u64, Piece>;

/// All that a complete journal says.
#[derive(Debug)]
pub(super) struct Journal {
    pub pieces: Pieces,
    pub new_len: u64,
    /// The first byte of the file once the change is made.
    pub first: u8,
}

/// What binds a journal to its file.
#[derive(Debug, Clone)]
pub(super) struct Binding {
    pub witness_at: u64,
    pub witness_len: u32,
    pub witness_hash: u32,
    pub before: Vec<u8>,
}

impl Journal {
    /// Writes index and tail behind the bytes of the pieces, which end at `end`; what was there is
    /// a complete journal from now on.
    pub(super) fn complete<S: ReadAt, J: WriteAt>(
        salt: Salt,
        pieces: Pieces,
        (file, new_len): (&S, u64),
        (journal, end): (&J, u64),
    ) -> io::Result<Self> {
        let old_len = file.size()?;
        let binding = Binding::of(file, &pieces, old_len.min(new_len))?;
        let first = bind::first_byte(&pieces, journal)?;
        let first = first.or_else(|| binding.before.first().copied());
        let parts = codec::Tail {
            salt,
            old_len,
            new_len,
            binding,
        };
        journal.write_all_at(end, &parts.encode(&pieces, end))?;
        Ok(Self {
            pieces,
            new_len,
            first: first.unwrap_or_default(),
        })
    }

    /// Reads a journal, and checks it and that it belongs to this file; in words why not.
    pub(super) fn read<S: ReadAt, J: ReadAt>(
        file: &S,
        journal: &J,
    ) -> io::Result<Result<Self, &'static str>> {
        let Some((tail, pieces)) = codec::Tail::read(journal)? else {
            return Ok(Err("its journal is not complete, or damaged"));
        };
        if !is_all_there(&pieces, tail.new_len, file.size()?) {
            return Ok(Err("the journal beside it would leave holes in it"));
        }
        if !bind::bytes_hold(&pieces, journal)? {
            return Ok(Err("its journal is damaged"));
        }
        if !tail.binding.fits(file, &pieces, journal)? {
            return Ok(Err("the journal beside it belongs to another file"));
        }
        let first = bind::first_byte(&pieces, journal)?;
        let first = first.or_else(|| tail.binding.before.first().copied());
        Ok(Ok(Self {
            pieces,
            new_len: tail.new_len,
            first: first.unwrap_or_default(),
        }))
    }

    /// Makes the change, all but the first byte. To do it again does no harm.
    pub(super) fn apply<S: WriteAt, J: ReadAt>(&self, file: &S, journal: &J) -> io::Result<()> {
        for (at, piece) in &self.pieces {
            // The first byte has its own time.
            let skip = u64::from(*at == 0);
            copy(
                journal,
                piece.from.saturating_add(skip),
                file,
                at.saturating_add(skip),
                piece.len.saturating_sub(skip),
            )?;
        }
        file.set_len(self.new_len)
    }
}

/// Whether each byte of the file to be is one of a piece or one of the file, which a change whose
/// journal is complete has made as long as that takes. A forged journal could ask for zeros without
/// end.
fn is_all_there(pieces: &Pieces, new_len: u64, file_len: u64) -> bool {
    let mut end = file_len;
    for (at, piece) in pieces {
        if *at > end {
            return false;
        }
        end = end.max(at.saturating_add(piece.len));
    }
    new_len <= end
}

/// Bytes copied at once.
const COPY_LEN: usize = 1 << 20;

/// Copies a stretch of one file into another.
pub(super) fn copy<S: ReadAt, T: WriteAt>(
    source: &S,
    from: u64,
    target: &T,
    to: u64,
    len: u64,
) -> io::Result<()> {
    let mut done = 0u64;
    let mut buffer = Vec::new();
    while done < len {
        let step = len.saturating_sub(done);
        let step = usize::try_from(step).unwrap_or(usize::MAX).min(COPY_LEN);
        buffer.resize(step, 0);
        source.read_exact_at(from.saturating_add(done), &mut buffer)?;
        target.write_all_at(to.saturating_add(done), &buffer)?;
        done = done.saturating_add(u64::try_from(step).unwrap_or(len));
    }
    Ok(())
}
