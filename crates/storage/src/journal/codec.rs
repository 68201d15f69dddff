//! The bytes of head, index and tail of a journal.

use super::{BEFORE_LEN, Binding, Piece, Pieces, Salt};
use crate::ReadAt;
use crate::convert::{min_len, prefix, to_u64};
use crate::error::bug;
use crc32fast::Hasher;
use std::io;

const MAGIC: [u8; 8] = *b"blpkjrnl";
const DONE: [u8; 8] = *b"blpkdone";
const VERSION: u32 = 1;
/// Length of the head.
pub(crate) const HEAD_LEN: u64 = 32;
/// Length of an entry of the index.
const PIECE_LEN: usize = 32;
const TAIL_LEN: usize = 148;
/// Bytes of the index read at once: whole entries.
const BATCH_LEN: usize = 4096 * PIECE_LEN;

impl Salt {
    /// The head of a journal with this salt.
    pub(crate) fn head(self) -> Vec<u8> {
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&VERSION.to_le_bytes());
        head.extend_from_slice(&self.0);
        with_crc(head)
    }

    /// The salt of a journal, whether or not it is complete; `None` if this is not a journal.
    pub(crate) fn of<J: ReadAt>(journal: &J) -> io::Result<Option<Self>> {
        let mut head = [0; 32];
        if journal.size()? < HEAD_LEN {
            return Ok(None);
        }
        journal.read_exact_at(0, &mut head)?;
        Ok(Self::parse(&head).filter(|_| crc_matches(&head)))
    }

    fn parse(head: &[u8]) -> Option<Self> {
        let mut fields = Fields(head);
        let known = fields.take()? == MAGIC && fields.u32()? == VERSION;
        let salt = Self(fields.take()?);
        known.then_some(salt)
    }

    /// Whether this may be an incomplete journal that a power cut has left, or an empty one, rather
    /// than a file of another program.
    pub(crate) fn is_torn<J: ReadAt>(journal: &J) -> io::Result<bool> {
        let mut magic = [0; MAGIC.len()];
        let there = prefix(&mut magic, journal.size()?);
        journal.read_exact_at(0, there)?;
        let mut bytes = there.iter().zip(MAGIC);
        Ok(bytes.all(|(byte, own)| *byte == 0 || *byte == own))
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

/// A tail as it is in the journal, with the fields that describe the index.
struct RawTail {
    tail: Tail,
    count: u64,
    index_at: u64,
    index_crc: u32,
}

impl Tail {
    /// Index and tail, to be written at position `index_at` of the journal.
    ///
    /// # Errors
    /// Returns an error if the binding has more bytes than a journal has room for.
    pub(super) fn encode(&self, pieces: &Pieces, index_at: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for (at, piece) in pieces {
            bytes.extend_from_slice(&at.to_le_bytes());
            bytes.extend_from_slice(&piece.len.to_le_bytes());
            bytes.extend_from_slice(&piece.from.to_le_bytes());
            bytes.extend_from_slice(&piece.hasher.clone().finalize().to_le_bytes());
            bytes.extend_from_slice(&[0; 4]);
        }
        let index_crc = crc32fast::hash(&bytes);
        let mut tail = DONE.to_vec();
        tail.extend_from_slice(&self.salt.0);
        for number in [
            to_u64(pieces.len()),
            index_at,
            self.old_len,
            self.new_len,
            self.binding.witness_at,
        ] {
            tail.extend_from_slice(&number.to_le_bytes());
        }
        let mut before = self.binding.before.clone();
        let before_len = u32::try_from(before.len()).ok();
        let before_len = before_len.filter(|_| before.len() <= BEFORE_LEN);
        let before_len = before_len.ok_or_else(|| bug("more than 64 bytes bind a journal"))?;
        let Binding {
            witness_len,
            witness_hash,
            ..
        } = self.binding;
        for number in [witness_len, witness_hash, before_len, index_crc] {
            tail.extend_from_slice(&number.to_le_bytes());
        }
        before.resize(BEFORE_LEN, 0);
        tail.extend_from_slice(&before);
        bytes.extend_from_slice(&with_crc(tail));
        Ok(bytes)
    }

    /// The tail and the pieces of a journal; `None` if it is not complete and undamaged.
    pub(super) fn read<J: ReadAt>(journal: &J) -> io::Result<Option<(Self, Pieces)>> {
        let Some(head) = Salt::of(journal)? else {
            return Ok(None);
        };
        let tail_at = journal.size()?.checked_sub(to_u64(TAIL_LEN));
        let Some(tail_at) = tail_at.filter(|at| *at >= HEAD_LEN) else {
            return Ok(None);
        };
        let mut bytes = [0; TAIL_LEN];
        journal.read_exact_at(tail_at, &mut bytes)?;
        let Some(raw) = Self::parse(&bytes).filter(|_| crc_matches(&bytes)) else {
            return Ok(None);
        };
        let index_end = raw.count.checked_mul(to_u64(PIECE_LEN));
        let index_end = index_end.and_then(|len| len.checked_add(raw.index_at));
        if raw.tail.salt != head || raw.index_at < HEAD_LEN || index_end != Some(tail_at) {
            return Ok(None);
        }
        let pieces = read_index(journal, &raw)?;
        Ok(pieces.map(|pieces| (raw.tail, pieces)))
    }

    fn parse(bytes: &[u8]) -> Option<RawTail> {
        let mut fields = Fields(bytes);
        (fields.take()? == DONE).then_some(())?;
        let salt = Salt(fields.take()?);
        let (count, index_at) = (fields.u64()?, fields.u64()?);
        let (old_len, new_len, witness_at) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let (witness_len, witness_hash) = (fields.u32()?, fields.u32()?);
        let (before_len, index_crc) = (fields.u32()?, fields.u32()?);
        let mut before = fields.take::<BEFORE_LEN>()?.to_vec();
        before.truncate(min_len(before_len.into(), BEFORE_LEN));
        let binding = Binding {
            witness_at,
            witness_len,
            witness_hash,
            before,
        };
        Some(RawTail {
            tail: Self {
                salt,
                old_len,
                new_len,
                binding,
            },
            count,
            index_at,
            index_crc,
        })
    }
}

/// The pieces of an index whose position and length are in the journal; `None` if it is damaged.
fn read_index<J: ReadAt>(journal: &J, raw: &RawTail) -> io::Result<Option<Pieces>> {
    // The caller has checked that these positions exist and are in order.
    let (mut pieces, mut hasher, mut end) = (Pieces::new(), Hasher::new(), 0);
    // No byte belongs to two pieces: many long ones at one position would take years to check.
    let mut left = raw.index_at - HEAD_LEN;
    let mut at = raw.index_at;
    let index_end = raw.index_at + raw.count * to_u64(PIECE_LEN);
    while at < index_end {
        let mut bytes = vec![0; min_len(index_end - at, BATCH_LEN)];
        journal.read_exact_at(at, &mut bytes)?;
        hasher.update(&bytes);
        at += to_u64(bytes.len());
        for entry in bytes.chunks_exact(PIECE_LEN) {
            let Some((at, piece)) = parse_piece(entry, raw.index_at) else {
                return Ok(None);
            };
            let next = at.checked_add(piece.len).filter(|_| at >= end);
            let (Some(next), Some(rest)) = (next, left.checked_sub(piece.len)) else {
                return Ok(None);
            };
            (end, left) = (next, rest);
            pieces.insert(at, piece);
        }
    }
    Ok((hasher.finalize() == raw.index_crc).then_some(pieces))
}

/// A piece and its position in the file; `None` if its bytes are not between head and index.
fn parse_piece(entry: &[u8], index_at: u64) -> Option<(u64, Piece)> {
    let mut fields = Fields(entry);
    let (at, len, from) = (fields.u64()?, fields.u64()?, fields.u64()?);
    let end = from.checked_add(len)?;
    let hasher = Hasher::new_with_initial_len(fields.u32()?, len);
    (from >= HEAD_LEN && end <= index_at).then_some((at, Piece { len, from, hasher }))
}

/// Little-endian fields, one after another.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    /// The next bytes; `None` if there are not that many.
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

fn with_crc(mut bytes: Vec<u8>) -> Vec<u8> {
    let crc = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    bytes
}

/// Whether the last four bytes are the crc32 of those before.
fn crc_matches(bytes: &[u8]) -> bool {
    bytes
        .split_last_chunk()
        .is_some_and(|(bytes, crc)| crc32fast::hash(bytes).to_le_bytes() == *crc)
}
