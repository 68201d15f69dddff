//! Head, index and tail of a file's journal.

use super::fields::{Fields, Unreadable, begins_as, put_crc, put_u32, put_u64};
use super::{BEFORE_LEN, Binding, Piece, Pieces, Room, Salt};
use crate::ReadAt;
use crate::convert::{min_len, to_u64};
use crate::error::bug;
use crc32fast::Hasher;
use std::io;

const MAGIC: [u8; 8] = *b"blpkjrnl";
const DONE: [u8; 8] = *b"blpkdone";
const VERSION: u32 = 1;
/// Length of the head in bytes.
pub(crate) const HEAD_LEN: u64 = 32;
/// Length of an index entry in bytes.
const PIECE_LEN: u64 = 32;
const TAIL_LEN: u64 = 148;

impl Salt {
    /// The head of a journal with this salt.
    pub(crate) fn head(self) -> Vec<u8> {
        let mut head = MAGIC.to_vec();
        put_u32(&mut head, VERSION);
        head.extend_from_slice(&self.0);
        put_crc(&mut head);
        head
    }

    /// The salt of a journal, complete or not; `None` if this is not a journal.
    pub(crate) fn of<J: ReadAt>(journal: &J) -> io::Result<Option<Self>> {
        match Self::read(journal) {
            Ok(salt) => Ok(Some(salt)),
            Err(Unreadable::Damaged) => Ok(None),
            Err(Unreadable::Io(error)) => Err(error),
        }
    }

    fn read<J: ReadAt>(journal: &J) -> Result<Self, Unreadable> {
        let head = (0, HEAD_LEN.min(journal.size()?));
        let mut fields = Fields::new(journal, head, Hasher::new());
        let is_known = fields.take()? == MAGIC && fields.u32()? == VERSION;
        let salt = Self(fields.take()?);
        fields.check_crc()?;
        is_known.then_some(salt).ok_or(Unreadable::Damaged)
    }

    /// Whether this may be an empty journal or one that a power cut left incomplete, rather than a file of
    /// another program.
    pub(crate) fn is_torn<J: ReadAt>(journal: &J) -> io::Result<bool> {
        begins_as(journal, MAGIC)
    }
}

/// The fields at the end of a complete journal.
#[derive(Debug)]
pub(super) struct Tail {
    pub salt: Salt,
    pub old_len: u64,
    pub new_len: u64,
    pub binding: Binding,
}

impl Tail {
    /// Index and tail, to be written at position `index_at` of the journal.
    ///
    /// # Errors
    /// Returns an error if the binding has more bytes than the journal can store.
    pub(super) fn encode(&self, pieces: &Pieces, index_at: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for (at, piece) in pieces {
            for number in [*at, piece.len, piece.from] {
                put_u64(&mut bytes, number);
            }
            put_u32(&mut bytes, piece.hasher.clone().finalize());
            put_u32(&mut bytes, 0);
        }
        let index_crc = crc32fast::hash(&bytes);
        let binding = &self.binding;
        let mut before = binding.before.clone();
        let before_len = u32::try_from(before.len()).ok();
        let before_len = before_len.filter(|_| before.len() <= BEFORE_LEN);
        let before_len = before_len.ok_or_else(|| bug("more than 64 bytes bind a journal"))?;
        before.resize(BEFORE_LEN, 0);
        let mut tail = DONE.to_vec();
        tail.extend_from_slice(&self.salt.0);
        let count = to_u64(pieces.len());
        for number in [
            count,
            index_at,
            self.old_len,
            self.new_len,
            binding.witness_at,
        ] {
            put_u64(&mut tail, number);
        }
        for number in [
            binding.witness_len,
            binding.witness_hash,
            before_len,
            index_crc,
        ] {
            put_u32(&mut tail, number);
        }
        tail.append(&mut before);
        put_crc(&mut tail);
        bytes.append(&mut tail);
        Ok(bytes)
    }

    /// The tail and the pieces of a journal.
    ///
    /// # Errors
    /// Returns an error if the journal is incomplete or damaged, and any error of the journal.
    pub(super) fn read<J: ReadAt>(journal: &J) -> Result<(Self, Pieces), Unreadable> {
        let salt = Salt::read(journal)?;
        let size = journal.size()?;
        let tail_at = size.checked_sub(TAIL_LEN).filter(|at| *at >= HEAD_LEN);
        let tail_at = tail_at.ok_or(Unreadable::Damaged)?;
        let mut fields = Fields::new(journal, (tail_at, size), Hasher::new());
        let is_own = fields.take()? == DONE && fields.take()? == salt.0;
        let (count, index_at) = (fields.u64()?, fields.u64()?);
        let (old_len, new_len, witness_at) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let (witness_len, witness_hash) = (fields.u32()?, fields.u32()?);
        let (before_len, index_crc) = (fields.u32()?, fields.u32()?);
        let mut before = fields.bytes(BEFORE_LEN)?.to_vec();
        before.truncate(min_len(before_len.into(), BEFORE_LEN));
        fields.check_crc()?;
        let index_end = count.checked_mul(PIECE_LEN);
        let index_end = index_end.and_then(|len| len.checked_add(index_at));
        if !is_own || index_at < HEAD_LEN || index_end != Some(tail_at) {
            return Err(Unreadable::Damaged);
        }
        let tail = Self {
            salt,
            old_len,
            new_len,
            binding: Binding {
                witness_at,
                witness_len,
                witness_hash,
                before,
            },
        };
        let pieces = read_index(journal, (index_at, tail_at), index_crc)?;
        Ok((tail, pieces))
    }
}

/// The pieces of an index, which begins where their bytes end.
fn read_index<J: ReadAt>(
    journal: &J,
    (at, end): (u64, u64),
    crc: u32,
) -> Result<Pieces, Unreadable> {
    let mut fields = Fields::new(journal, (at, end), Hasher::new());
    let (mut pieces, mut room) = (Pieces::new(), Room::new((HEAD_LEN, at)));
    while !fields.is_done() {
        let (at, len, from) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let hasher = Hasher::new_with_initial_len(fields.u32()?, len);
        let _zeros = fields.u32()?;
        room.put(&mut pieces, at, Piece { len, from, hasher })?;
    }
    if fields.crc() == crc {
        Ok(pieces)
    } else {
        Err(Unreadable::Damaged)
    }
}
