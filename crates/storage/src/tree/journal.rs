//! What the journal of a store says: the steps of one change.
//!
//! ```text
//! head    "blpktree" | version u32 | salt 16 | length of the steps u64 | of the bytes u64     44
//!         spilled: number u64 (0: none) | its length u64 | its crc32                           20
//!         crc32 of the head so far                                                              4
//! steps   kind u8 | key: length u16, bytes | then by kind                       one after another
//!         1 put            number u64 | crc32 | new print 16 | is there u8 | old print 16
//!         2 patch          old length u64 | new length u64
//!                          witness at u64 | its length u32 | its hash u32 | before length u32 | before
//!                          pieces u32, each: at u64 | length u64 | from u64
//!         3 remove         old print 16
//!         4 make a folder
//!         5 remove a folder
//! bytes   of the patches, if they are not spilled
//! end     crc32 of all before
//! ```
//!
//! Numbers are little-endian. A print is a file's length and the beginning of the SHA-256 of its first and last 4 KiB.
//! *before* and *witness* are those of the [journal of a file](crate::journal).

use super::op::{Act, Op, Print, Spilled};
use super::{Key, own};
use crate::ReadAt;
use crate::journal::{BEFORE_LEN, Binding, Piece, Pieces, Salt};
use crc32fast::Hasher;
use std::collections::BTreeSet;
use std::io;

const MAGIC: [u8; 8] = *b"blpktree";
const VERSION: u32 = 1;
const HEAD_LEN: u64 = 68;
/// Our journals have far fewer bytes of patches: more are spilled.
const MOST_BYTES: u64 = 64 << 20;
/// Read at once.
const STEP: u64 = 1 << 16;

const PUT: u8 = 1;
const PATCH: u8 = 2;
const REMOVE: u8 = 3;
const MAKE_FOLDER: u8 = 4;
const REMOVE_FOLDER: u8 = 5;

pub(super) const DAMAGED: &str = "its journal is damaged";

/// A change as a whole.
#[derive(Debug)]
pub(super) struct Journal {
    pub salt: Salt,
    pub ops: Vec<Op>,
    /// The bytes of patches, unless they are spilled.
    pub bytes: Vec<u8>,
    pub spilled: Option<Spilled>,
}

impl Journal {
    pub(super) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut steps = Vec::new();
        for op in &self.ops {
            encode_op(op, &mut steps)?;
        }
        let mut out = MAGIC.to_vec();
        put_u32(&mut out, VERSION);
        out.extend_from_slice(&self.salt.0);
        put_u64(&mut out, len_of(&steps));
        put_u64(&mut out, len_of(&self.bytes));
        let spilled = self.spilled.unwrap_or(Spilled {
            number: 0,
            len: 0,
            crc: 0,
        });
        put_u64(&mut out, spilled.number);
        put_u64(&mut out, spilled.len);
        put_u32(&mut out, spilled.crc);
        let crc = crc32fast::hash(&out);
        put_u32(&mut out, crc);
        out.append(&mut steps);
        out.extend_from_slice(&self.bytes);
        let crc = crc32fast::hash(&out);
        put_u32(&mut out, crc);
        Ok(out)
    }

    /// The numbers of the staged files that it needs, unless they are in their places.
    pub(super) fn needed(&self) -> BTreeSet<u64> {
        let puts = self.ops.iter().filter_map(|op| match op.act {
            Act::Put { number, .. } => Some(number),
            _ => None,
        });
        puts.chain(self.spilled.map(|spilled| spilled.number))
            .collect()
    }

    /// Reads a journal; in words why it is none.
    pub(super) fn decode<J: ReadAt>(file: &J) -> io::Result<Result<Self, &'static str>> {
        let size = file.size()?;
        let mut head = Fields::new(file, 0, HEAD_LEN.min(size));
        let known = head.take()? == Some(MAGIC) && head.u32()? == Some(VERSION);
        let salt = head.take()?.map(Salt);
        let (steps, bytes) = (head.u64()?, head.u64()?);
        let (number, len, crc) = (head.u64()?, head.u64()?, head.u32()?);
        let sum = head.hasher.clone().finalize();
        let (Some(salt), Some(steps), Some(bytes), true) =
            (salt, steps, bytes, head.u32()? == Some(sum) && known)
        else {
            return Ok(Err(DAMAGED));
        };
        let ends = [HEAD_LEN, steps, bytes, 4];
        let end = ends.iter().try_fold(0u64, |sum, len| sum.checked_add(*len));
        if end != Some(size) || bytes > MOST_BYTES {
            return Ok(Err(DAMAGED));
        }
        let spilled = match (number, len, crc) {
            (Some(number @ 1..), Some(len), Some(crc)) => Some(Spilled { number, len, crc }),
            _ => None,
        };
        let room = spilled.map_or(bytes, |spilled| spilled.len);
        let mut fields = Fields::new(file, HEAD_LEN, HEAD_LEN.saturating_add(steps));
        fields.hasher = head.hasher;
        let Some(ops) = decode_ops(&mut fields, room, number)? else {
            return Ok(Err(DAMAGED));
        };
        let mut all = vec![0; usize::try_from(bytes).unwrap_or(0)];
        file.read_exact_at(HEAD_LEN.saturating_add(steps), &mut all)?;
        fields.hasher.update(&all);
        let mut end = [0; 4];
        file.read_exact_at(size.saturating_sub(4), &mut end)?;
        if fields.hasher.finalize() != u32::from_le_bytes(end) {
            return Ok(Err(DAMAGED));
        }
        Ok(Ok(Self {
            salt,
            ops,
            bytes: all,
            spilled,
        }))
    }
}

fn encode_op(op: &Op, out: &mut Vec<u8>) -> io::Result<()> {
    out.push(match op.act {
        Act::Put { .. } => PUT,
        Act::Patch { .. } => PATCH,
        Act::Remove { .. } => REMOVE,
        Act::MakeFolder => MAKE_FOLDER,
        Act::RemoveFolder => REMOVE_FOLDER,
    });
    let key = op.key.as_str().as_bytes();
    let len = u16::try_from(key.len()).map_err(|_| io::ErrorKind::InvalidFilename)?;
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(key);
    match &op.act {
        Act::Put {
            number,
            crc,
            new,
            old,
        } => {
            put_u64(out, *number);
            put_u32(out, *crc);
            put_print(out, *new);
            out.push(u8::from(old.is_some()));
            put_print(out, old.unwrap_or(Print { len: 0, hash: 0 }));
        }
        Act::Patch {
            old_len,
            new_len,
            binding,
            pieces,
        } => {
            put_u64(out, *old_len);
            put_u64(out, *new_len);
            put_u64(out, binding.witness_at);
            put_u32(out, binding.witness_len);
            put_u32(out, binding.witness_hash);
            put_u32(out, u32::try_from(binding.before.len()).unwrap_or(0));
            out.extend_from_slice(&binding.before);
            let count = u32::try_from(pieces.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
            put_u32(out, count);
            for (at, piece) in pieces {
                for number in [*at, piece.len, piece.from] {
                    put_u64(out, number);
                }
            }
        }
        Act::Remove { old } => put_print(out, *old),
        Act::MakeFolder | Act::RemoveFolder => {}
    }
    Ok(())
}

/// How many bytes of patches there are, and how many of them belong to no piece so far: no byte does to two.
struct Room {
    all: u64,
    left: u64,
}

/// The steps; nothing if they are damaged. Bytes of patches are `room`, spilled into the staged file of number `spilled`.
fn decode_ops<J: ReadAt>(
    fields: &mut Fields<'_, J>,
    room: u64,
    spilled: Option<u64>,
) -> io::Result<Option<Vec<Op>>> {
    let (mut ops, mut keys) = (Vec::new(), BTreeSet::new());
    // A staged file goes to one place, and that of the patches to none.
    let mut numbers: BTreeSet<u64> = spilled.into_iter().collect();
    let mut room = Room {
        all: room,
        left: room,
    };
    while !fields.is_done() {
        let Some(op) = decode_op(fields, &mut room)? else {
            return Ok(None);
        };
        if own::check(&op.key).is_err() || !keys.insert(op.key.clone()) {
            return Ok(None);
        }
        if let Act::Put { number, .. } = op.act
            && !numbers.insert(number)
        {
            return Ok(None);
        }
        ops.push(op);
    }
    Ok(Some(ops))
}

fn decode_op<J: ReadAt>(fields: &mut Fields<'_, J>, room: &mut Room) -> io::Result<Option<Op>> {
    let (Some([kind]), Some(len)) = (fields.take()?, fields.take()?) else {
        return Ok(None);
    };
    let Some(key) = fields.bytes(u16::from_le_bytes(len).into())? else {
        return Ok(None);
    };
    let Some(key) = String::from_utf8(key)
        .ok()
        .and_then(|key| Key::parse(&key).ok())
    else {
        return Ok(None);
    };
    let act = match kind {
        PUT => decode_put(fields)?,
        PATCH => decode_patch(fields, room)?,
        REMOVE => fields.print()?.map(|old| Act::Remove { old }),
        MAKE_FOLDER => Some(Act::MakeFolder),
        REMOVE_FOLDER => Some(Act::RemoveFolder),
        _ => None,
    };
    Ok(act.map(|act| Op { key, act }))
}

fn decode_put<J: ReadAt>(fields: &mut Fields<'_, J>) -> io::Result<Option<Act>> {
    let (number, crc, new) = (fields.u64()?, fields.u32()?, fields.print()?);
    let (there, old) = (fields.take::<1>()?, fields.print()?);
    let (Some(number), Some(crc), Some(new), Some([there @ (0 | 1)]), Some(old)) =
        (number, crc, new, there, old)
    else {
        return Ok(None);
    };
    Ok(Some(Act::Put {
        number,
        crc,
        new,
        old: (there == 1).then_some(old),
    }))
}

fn decode_patch<J: ReadAt>(fields: &mut Fields<'_, J>, room: &mut Room) -> io::Result<Option<Act>> {
    let (Some(old_len), Some(new_len)) = (fields.u64()?, fields.u64()?) else {
        return Ok(None);
    };
    let (at, len, hash) = (fields.u64()?, fields.u32()?, fields.u32()?);
    let before_len = fields.u32()?.and_then(|len| usize::try_from(len).ok());
    let before_len = before_len.filter(|len| *len <= BEFORE_LEN);
    let (Some(witness_at), Some(witness_len), Some(witness_hash), Some(before_len)) =
        (at, len, hash, before_len)
    else {
        return Ok(None);
    };
    let Some(before) = fields.bytes(before_len)? else {
        return Ok(None);
    };
    let binding = Binding {
        witness_at,
        witness_len,
        witness_hash,
        before,
    };
    let pieces = decode_pieces(fields, (old_len, new_len), room)?;
    Ok(pieces.map(|pieces| Act::Patch {
        old_len,
        new_len,
        binding,
        pieces,
    }))
}

/// The pieces of one patch: ascending, without holes, and no more bytes in sum than there are of all patches.
fn decode_pieces<J: ReadAt>(
    fields: &mut Fields<'_, J>,
    (old_len, new_len): (u64, u64),
    room: &mut Room,
) -> io::Result<Option<Pieces>> {
    let (mut pieces, mut end, mut reached) = (Pieces::new(), 0u64, old_len);
    for _ in 0..fields.u32()?.unwrap_or(0) {
        let (Some(at), Some(len), Some(from)) = (fields.u64()?, fields.u64()?, fields.u64()?)
        else {
            return Ok(None);
        };
        let next = at.checked_add(len).filter(|_| at >= end && at <= reached);
        let inside = from.checked_add(len).is_some_and(|to| to <= room.all);
        let (Some(next), Some(left), true) = (next, room.left.checked_sub(len), inside) else {
            return Ok(None);
        };
        (end, reached, room.left) = (next, reached.max(next), left);
        let hasher = Hasher::new();
        pieces.insert(at, Piece { len, from, hasher });
    }
    Ok((reached == new_len).then_some(pieces))
}

/// Fields one after another, up to where they end.
struct Fields<'a, J> {
    file: &'a J,
    at: u64,
    end: u64,
    /// What was read of the file and not yet taken; the next byte comes last.
    ahead: Vec<u8>,
    hasher: Hasher,
}

impl<'a, J: ReadAt> Fields<'a, J> {
    fn new(file: &'a J, at: u64, end: u64) -> Self {
        Self {
            file,
            at,
            end,
            ahead: Vec::new(),
            hasher: Hasher::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.at >= self.end && self.ahead.is_empty()
    }

    /// The next bytes; nothing if there are fewer.
    fn bytes(&mut self, len: usize) -> io::Result<Option<Vec<u8>>> {
        while self.ahead.len() < len {
            let step = self.end.saturating_sub(self.at).min(STEP);
            if step == 0 {
                return Ok(None);
            }
            let mut more = vec![0; usize::try_from(step).unwrap_or(0)];
            self.file.read_exact_at(self.at, &mut more)?;
            self.at = self.at.saturating_add(step);
            more.reverse();
            more.append(&mut self.ahead);
            self.ahead = more;
        }
        let mut bytes = self.ahead.split_off(self.ahead.len().saturating_sub(len));
        bytes.reverse();
        self.hasher.update(&bytes);
        Ok(Some(bytes))
    }

    fn take<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        Ok(self.bytes(N)?.and_then(|bytes| bytes.try_into().ok()))
    }

    fn u32(&mut self) -> io::Result<Option<u32>> {
        Ok(self.take()?.map(u32::from_le_bytes))
    }

    fn u64(&mut self) -> io::Result<Option<u64>> {
        Ok(self.take()?.map(u64::from_le_bytes))
    }

    fn print(&mut self) -> io::Result<Option<Print>> {
        let (len, hash) = (self.u64()?, self.u64()?);
        Ok(len.zip(hash).map(|(len, hash)| Print { len, hash }))
    }
}

fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_print(out: &mut Vec<u8>, print: Print) {
    put_u64(out, print.len);
    put_u64(out, print.hash);
}

fn len_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
