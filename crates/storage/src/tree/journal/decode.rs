//! Reads the journal of a store, any byte of which may be damaged or forged.

use super::{CRC_LEN, HEAD_LEN, Journal, MAGIC, VERSION};
use super::{MAKE_FOLDER, PATCH, PUT, REMOVE, REMOVE_FOLDER};
use crate::convert::to_usize;
use crate::journal::fields::{Fields, Unreadable};
use crate::journal::{BEFORE_LEN, Binding, Piece, Pieces, Room, Salt, reach};
use crate::tree::Key;
use crate::tree::staging;
use crate::tree::step::{Action, Fingerprint, Spilled, Step};
use crate::{JournalFault, ReadAt};
use crc32fast::Hasher;
use std::collections::BTreeSet;

/// Maximum length of the patches in a journal. Ours are far shorter, because longer ones are spilled.
const MAX_BYTES: u64 = 64 << 20;

/// The head of a journal.
struct Head {
    salt: Salt,
    steps_len: u64,
    bytes_len: u64,
    spilled: Option<Spilled>,
    /// The crc32 state after the head.
    hasher: Hasher,
}

type Result<T> = std::result::Result<T, Unreadable>;

impl Journal {
    /// Reads and checks a journal.
    ///
    /// # Errors
    /// Returns [`Interrupted`](crate::Error::Interrupted) if it is damaged, and any error of the file.
    pub(in crate::tree) fn decode<J: ReadAt>(file: &J) -> crate::Result<Self> {
        Self::read(file).map_err(|error| error.or(JournalFault::Damaged.of_store()))
    }

    fn read<J: ReadAt>(file: &J) -> Result<Self> {
        let head = decode_head(file)?;
        // `decode_head` has checked that these lengths add up to the file's length.
        let bytes_at = HEAD_LEN + head.steps_len;
        let crc_at = bytes_at + head.bytes_len;
        let mut fields = Fields::new(file, (HEAD_LEN, bytes_at), head.hasher);
        let steps = decode_steps(&mut fields, head.bytes_len, head.spilled)?;
        let mut hasher = fields.into_hasher();
        let mut bytes = vec![0; to_usize(head.bytes_len)?];
        file.read_exact_at(bytes_at, &mut bytes)?;
        hasher.update(&bytes);
        Fields::new(file, (crc_at, crc_at + CRC_LEN), hasher).check_crc()?;
        Ok(Self {
            salt: head.salt,
            steps,
            bytes,
            spilled: head.spilled,
        })
    }
}

fn decode_head<J: ReadAt>(file: &J) -> Result<Head> {
    let size = file.size()?;
    let mut fields = Fields::new(file, (0, HEAD_LEN.min(size)), Hasher::new());
    if fields.take()? != MAGIC || fields.u32()? != VERSION {
        return Err(Unreadable::Damaged);
    }
    let salt = Salt(fields.take()?);
    let (steps_len, bytes_len) = (fields.u64()?, fields.u64()?);
    let (number, len, crc) = (fields.u64()?, fields.u64()?, fields.u32()?);
    fields.check_crc()?;
    let lens = [HEAD_LEN, steps_len, bytes_len, CRC_LEN];
    let end = lens.iter().try_fold(0u64, |sum, len| sum.checked_add(*len));
    if end != Some(size) || bytes_len > MAX_BYTES {
        return Err(Unreadable::Damaged);
    }
    Ok(Head {
        salt,
        steps_len,
        bytes_len,
        spilled: (number != 0).then_some(Spilled { number, len, crc }),
        hasher: fields.into_hasher(),
    })
}

/// All steps. `bytes_len` is the length of the patches in the journal, if they are not spilled.
fn decode_steps<J: ReadAt>(
    fields: &mut Fields<'_, J>,
    bytes_len: u64,
    spilled: Option<Spilled>,
) -> Result<Vec<Step>> {
    let (mut steps, mut keys) = (Vec::new(), BTreeSet::new());
    // A staged file has one destination, the spilled patches have none, and no file has the number 0.
    let mut numbers = BTreeSet::from([0]);
    numbers.extend(spilled.map(|spilled| spilled.number));
    let len = spilled.map_or(bytes_len, |spilled| spilled.len);
    let mut room = Room::new((0, len));
    while !fields.is_done() {
        let step = decode_step(fields, &mut room)?;
        if staging::check_changeable(&step.key).is_err() || !keys.insert(step.key.clone()) {
            return Err(Unreadable::Damaged);
        }
        if let Action::Put { number, .. } = step.action
            && !numbers.insert(number)
        {
            return Err(Unreadable::Damaged);
        }
        steps.push(step);
    }
    Ok(steps)
}

fn decode_step<J: ReadAt>(fields: &mut Fields<'_, J>, room: &mut Room) -> Result<Step> {
    let [kind] = fields.take()?;
    let key_len = u16::from_le_bytes(fields.take()?);
    let key = str::from_utf8(fields.bytes(key_len.into())?).map_err(|_| Unreadable::Damaged)?;
    let key = Key::parse(key).map_err(|_| Unreadable::Damaged)?;
    let action = match kind {
        PUT => decode_put(fields)?,
        PATCH => decode_patch(fields, room)?,
        REMOVE => Action::Remove {
            old: fingerprint(fields)?,
        },
        MAKE_FOLDER => Action::MakeFolder,
        REMOVE_FOLDER => Action::RemoveFolder,
        _ => return Err(Unreadable::Damaged),
    };
    Ok(Step { key, action })
}

fn decode_put<J: ReadAt>(fields: &mut Fields<'_, J>) -> Result<Action> {
    let (number, crc, new) = (fields.u64()?, fields.u32()?, fingerprint(fields)?);
    let ([replaces], old) = (fields.take()?, fingerprint(fields)?);
    let old = match replaces {
        0 => None,
        1 => Some(old),
        _ => return Err(Unreadable::Damaged),
    };
    Ok(Action::Put {
        number,
        crc,
        new,
        old,
    })
}

fn decode_patch<J: ReadAt>(fields: &mut Fields<'_, J>, room: &mut Room) -> Result<Action> {
    let (old_len, new_len) = (fields.u64()?, fields.u64()?);
    let (witness_at, witness_len, witness_hash) = (fields.u64()?, fields.u32()?, fields.u32()?);
    let before_len = usize::try_from(fields.u32()?).map_err(|_| Unreadable::Damaged)?;
    if before_len > BEFORE_LEN {
        return Err(Unreadable::Damaged);
    }
    let binding = Binding {
        witness_at,
        witness_len,
        witness_hash,
        before: fields.bytes(before_len)?.to_vec(),
    };
    Ok(Action::Patch {
        old_len,
        new_len,
        binding,
        pieces: decode_pieces(fields, (old_len, new_len), room)?,
    })
}

/// The pieces of one patch, which must leave no holes.
fn decode_pieces<J: ReadAt>(
    fields: &mut Fields<'_, J>,
    (old_len, new_len): (u64, u64),
    room: &mut Room,
) -> Result<Pieces> {
    let mut pieces = Pieces::new();
    for _ in 0..fields.u32()? {
        let (at, len, from) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let hasher = Hasher::new();
        room.put(&mut pieces, at, Piece { len, from, hasher })?;
    }
    if reach(&pieces, old_len) == Some(new_len) {
        Ok(pieces)
    } else {
        Err(Unreadable::Damaged)
    }
}

fn fingerprint<J: ReadAt>(fields: &mut Fields<'_, J>) -> Result<Fingerprint> {
    Ok(Fingerprint {
        len: fields.u64()?,
        hash: fields.u64()?,
    })
}
