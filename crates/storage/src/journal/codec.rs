//! The bytes of head, index and tail.

use super::{BEFORE_LEN, Binding, Piece, Pieces, Salt};
use crate::ReadAt;
use crc32fast::Hasher;
use std::io;

const MAGIC: [u8; 8] = *b"blpkjrnl";
const DONE: [u8; 8] = *b"blpkdone";
const VERSION: u32 = 1;
/// Length of the head.
pub(crate) const HEAD_LEN: u64 = 32;
const PIECE_LEN: usize = 32;
const TAIL_LEN: usize = 148;
/// Entries of the index read at once.
const BATCH: u64 = 4096;

impl Salt {
    /// The head of a journal with this salt.
    pub(crate) fn head(self) -> Vec<u8> {
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&VERSION.to_le_bytes());
        head.extend_from_slice(&self.0);
        with_crc(head)
    }

    /// The salt of a journal, whether it is complete or not; nothing if it is no journal.
    pub(crate) fn of<J: ReadAt>(journal: &J) -> io::Result<Option<Self>> {
        let mut head = [0; 32];
        if journal.size()? < HEAD_LEN {
            return Ok(None);
        }
        journal.read_exact_at(0, &mut head)?;
        let mut fields = Fields(&head);
        let known = fields.take() == MAGIC && fields.u32() == VERSION;
        let salt = Self(fields.take());
        Ok((known && crc_holds(&head)).then_some(salt))
    }

    /// Whether this may be what a power cut has left of a journal that nobody has to obey, or an
    /// empty one, rather than a file of somebody else's.
    pub(crate) fn is_torn<J: ReadAt>(journal: &J) -> io::Result<bool> {
        let mut magic = [0; MAGIC.len()];
        let there = usize::try_from(journal.size()?).unwrap_or(usize::MAX);
        let there = magic.get_mut(..there.min(MAGIC.len())).unwrap_or_default();
        journal.read_exact_at(0, there)?;
        let mut bytes = there.iter().zip(MAGIC);
        Ok(bytes.all(|(byte, own)| *byte == 0 || *byte == own))
    }
}

/// What stands at the end of a complete journal.
#[derive(Debug)]
pub(super) struct Tail {
    pub salt: Salt,
    pub old_len: u64,
    pub new_len: u64,
    pub binding: Binding,
}

impl Tail {
    /// Index and tail, to be written at `index_at`.
    pub(super) fn encode(&self, pieces: &Pieces, index_at: u64) -> Vec<u8> {
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
        let count = u64::try_from(pieces.len()).unwrap_or(u64::MAX);
        for number in [
            count,
            index_at,
            self.old_len,
            self.new_len,
            self.binding.witness_at,
        ] {
            tail.extend_from_slice(&number.to_le_bytes());
        }
        let before_len = u32::try_from(self.binding.before.len()).unwrap_or(0);
        let Binding {
            witness_len,
            witness_hash,
            ..
        } = self.binding;
        for number in [witness_len, witness_hash, before_len, index_crc] {
            tail.extend_from_slice(&number.to_le_bytes());
        }
        let mut before = self.binding.before.clone();
        before.resize(BEFORE_LEN, 0);
        tail.extend_from_slice(&before);
        bytes.extend_from_slice(&with_crc(tail));
        bytes
    }

    /// The tail and the pieces of a journal; nothing if it is not complete and sound.
    pub(super) fn read<J: ReadAt>(journal: &J) -> io::Result<Option<(Self, Pieces)>> {
        let Some(head) = Salt::of(journal)? else {
            return Ok(None);
        };
        let tail_at = journal.size()?.checked_sub(TAIL_LEN as u64);
        let Some(tail_at) = tail_at.filter(|at| *at >= HEAD_LEN) else {
            return Ok(None);
        };
        let mut bytes = [0; TAIL_LEN];
        journal.read_exact_at(tail_at, &mut bytes)?;
        let mut fields = Fields(&bytes);
        let (magic, salt) = (fields.take::<8>(), Salt(fields.take()));
        let (count, index_at) = (fields.u64(), fields.u64());
        let (old_len, new_len, witness_at) = (fields.u64(), fields.u64(), fields.u64());
        let (witness_len, witness_hash) = (fields.u32(), fields.u32());
        let (before_len, index_crc) = (fields.u32(), fields.u32());
        let mut before = fields.take::<BEFORE_LEN>().to_vec();
        before.truncate(usize::try_from(before_len).unwrap_or(0));
        let index_len = count.checked_mul(PIECE_LEN as u64);
        let ends = index_len.and_then(|len| len.checked_add(index_at)) == Some(tail_at);
        if magic != DONE || salt != head || !ends || !crc_holds(&bytes) {
            return Ok(None);
        }
        let binding = Binding {
            witness_at,
            witness_len,
            witness_hash,
            before,
        };
        let tail = Self {
            salt,
            old_len,
            new_len,
            binding,
        };
        let pieces = pieces(journal, index_at, count, index_crc)?;
        Ok(pieces.map(|pieces| (tail, pieces)))
    }
}

/// The index; nothing if it is damaged. It lies in the journal, so it is no longer than that.
fn pieces<J: ReadAt>(
    journal: &J,
    index_at: u64,
    count: u64,
    crc: u32,
) -> io::Result<Option<Pieces>> {
    let (mut pieces, mut hasher, mut end) = (Pieces::new(), Hasher::new(), 0u64);
    // No byte belongs to two pieces: many long ones at one place would take years to check.
    let mut left = index_at.saturating_sub(HEAD_LEN);
    let mut number = 0;
    while number < count {
        let batch = count.saturating_sub(number).min(BATCH);
        let len = usize::try_from(batch)
            .unwrap_or(0)
            .saturating_mul(PIECE_LEN);
        let mut bytes = vec![0; len];
        let at = index_at.saturating_add(number.saturating_mul(PIECE_LEN as u64));
        journal.read_exact_at(at, &mut bytes)?;
        hasher.update(&bytes);
        for entry in bytes.chunks_exact(PIECE_LEN) {
            let mut fields = Fields(entry);
            let (at, len, from) = (fields.u64(), fields.u64(), fields.u64());
            let inside = from.checked_add(len).is_some_and(|to| to <= index_at) && len <= left;
            left = left.saturating_sub(len);
            let next = at.checked_add(len);
            let Some(next) = next.filter(|_| inside && from >= HEAD_LEN && at >= end) else {
                return Ok(None);
            };
            end = next;
            let hasher = Hasher::new_with_initial_len(fields.u32(), len);
            pieces.insert(at, Piece { len, from, hasher });
        }
        number = number.saturating_add(batch);
    }
    Ok((hasher.finalize() == crc).then_some(pieces))
}

/// Fields one after another.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    /// The next bytes; zeros behind the end, which no caller reaches.
    fn take<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => [0; N],
        }
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

fn with_crc(mut bytes: Vec<u8>) -> Vec<u8> {
    let crc = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    bytes
}

/// Whether the last four bytes are the crc32 of those before.
fn crc_holds(bytes: &[u8]) -> bool {
    bytes
        .split_last_chunk()
        .is_some_and(|(bytes, crc)| crc32fast::hash(bytes).to_le_bytes() == *crc)
}
