//! Reading the journal of a store. Any of its bytes may be damaged or forged.

use super::fields::{Fields, damaged};
use super::{CRC_LEN, HEAD_LEN, Journal, MAGIC, VERSION};
use super::{MAKE_FOLDER, PATCH, PUT, REMOVE, REMOVE_FOLDER};
use crate::convert::to_usize;
use crate::journal::{BEFORE_LEN, Binding, Piece, Pieces, Salt};
use crate::tree::Key;
use crate::tree::staging;
use crate::tree::step::{Action, Fingerprint, Spilled, Step};
use crate::{ReadAt, Result};
use crc32fast::Hasher;
use std::collections::BTreeSet;

/// Bytes of patches in a journal at most. Our own have far fewer: more are spilled.
const MAX_BYTES: u64 = 64 << 20;

/// The head of a journal.
struct Head {
    salt: Salt,
    steps_len: u64,
    bytes_len: u64,
    spilled: Option<Spilled>,
    /// The state after the head.
    hasher: Hasher,
}

impl Journal {
    /// Reads and checks a journal.
    ///
    /// # Errors
    /// Returns [`Interrupted`](crate::Error::Interrupted) if it is damaged, and any error of the
    /// file.
    pub(in crate::tree) fn decode<J: ReadAt>(file: &J) -> Result<Self> {
        let head = decode_head(file)?;
        // These lengths add up to that of the file.
        let bytes_at = HEAD_LEN + head.steps_len;
        let crc_at = bytes_at + head.bytes_len;
        let mut fields = Fields::new(file, (HEAD_LEN, bytes_at), head.hasher);
        let steps = decode_steps(&mut fields, head.bytes_len, head.spilled)?;
        let mut hasher = fields.into_hasher();
        let mut bytes = vec![0; to_usize(head.bytes_len)?];
        file.read_exact_at(bytes_at, &mut bytes)?;
        hasher.update(&bytes);
        let mut crc = [0; 4];
        file.read_exact_at(crc_at, &mut crc)?;
        if hasher.finalize() != u32::from_le_bytes(crc) {
            return Err(damaged());
        }
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
        return Err(damaged());
    }
    let salt = Salt(fields.take()?);
    let (steps_len, bytes_len) = (fields.u64()?, fields.u64()?);
    let (number, len, crc) = (fields.u64()?, fields.u64()?, fields.u32()?);
    let head_crc = fields.crc();
    let lens = [HEAD_LEN, steps_len, bytes_len, CRC_LEN];
    let end = lens.iter().try_fold(0u64, |sum, len| sum.checked_add(*len));
    if fields.u32()? != head_crc || end != Some(size) || bytes_len > MAX_BYTES {
        return Err(damaged());
    }
    Ok(Head {
        salt,
        steps_len,
        bytes_len,
        spilled: (number != 0).then_some(Spilled { number, len, crc }),
        hasher: fields.into_hasher(),
    })
}

/// The number of bytes of all patches, and how many of them belong to no piece yet: no byte belongs
/// to two.
struct PatchBytes {
    all: u64,
    left: u64,
}

/// All steps. `bytes_len` is the number of bytes of patches in the journal, if they are not spilled.
fn decode_steps<J: ReadAt>(
    fields: &mut Fields<'_, J>,
    bytes_len: u64,
    spilled: Option<Spilled>,
) -> Result<Vec<Step>> {
    let (mut steps, mut keys) = (Vec::new(), BTreeSet::new());
    // A staged file goes to one place, that of the patches to none, and no file has the number 0.
    let mut numbers = BTreeSet::from([0]);
    numbers.extend(spilled.map(|spilled| spilled.number));
    let len = spilled.map_or(bytes_len, |spilled| spilled.len);
    let mut patch_bytes = PatchBytes {
        all: len,
        left: len,
    };
    while !fields.is_done() {
        let step = decode_step(fields, &mut patch_bytes)?;
        if staging::check_changeable(&step.key).is_err() || !keys.insert(step.key.clone()) {
            return Err(damaged());
        }
        if let Action::Put { number, .. } = step.action
            && !numbers.insert(number)
        {
            return Err(damaged());
        }
        steps.push(step);
    }
    Ok(steps)
}

fn decode_step<J: ReadAt>(
    fields: &mut Fields<'_, J>,
    patch_bytes: &mut PatchBytes,
) -> Result<Step> {
    let [kind] = fields.take()?;
    let key_len = u16::from_le_bytes(fields.take()?);
    let key = String::from_utf8(fields.bytes(key_len.into())?).map_err(|_| damaged())?;
    let key = Key::parse(&key).map_err(|_| damaged())?;
    let action = match kind {
        PUT => decode_put(fields)?,
        PATCH => decode_patch(fields, patch_bytes)?,
        REMOVE => Action::Remove {
            old: fingerprint(fields)?,
        },
        MAKE_FOLDER => Action::MakeFolder,
        REMOVE_FOLDER => Action::RemoveFolder,
        _ => return Err(damaged()),
    };
    Ok(Step { key, action })
}

fn decode_put<J: ReadAt>(fields: &mut Fields<'_, J>) -> Result<Action> {
    let (number, crc, new) = (fields.u64()?, fields.u32()?, fingerprint(fields)?);
    let ([replaces], old) = (fields.take()?, fingerprint(fields)?);
    let old = match replaces {
        0 => None,
        1 => Some(old),
        _ => return Err(damaged()),
    };
    Ok(Action::Put {
        number,
        crc,
        new,
        old,
    })
}

fn decode_patch<J: ReadAt>(
    fields: &mut Fields<'_, J>,
    patch_bytes: &mut PatchBytes,
) -> Result<Action> {
    let (old_len, new_len) = (fields.u64()?, fields.u64()?);
    let (witness_at, witness_len, witness_hash) = (fields.u64()?, fields.u32()?, fields.u32()?);
    let before_len = usize::try_from(fields.u32()?).map_err(|_| damaged())?;
    if before_len > BEFORE_LEN {
        return Err(damaged());
    }
    let binding = Binding {
        witness_at,
        witness_len,
        witness_hash,
        before: fields.bytes(before_len)?,
    };
    Ok(Action::Patch {
        old_len,
        new_len,
        binding,
        pieces: decode_pieces(fields, (old_len, new_len), patch_bytes)?,
    })
}

/// The pieces of one patch: ascending, without holes, and with no more bytes than all patches have.
fn decode_pieces<J: ReadAt>(
    fields: &mut Fields<'_, J>,
    (old_len, new_len): (u64, u64),
    patch_bytes: &mut PatchBytes,
) -> Result<Pieces> {
    let (mut pieces, mut end, mut reached) = (Pieces::new(), 0, old_len);
    for _ in 0..fields.u32()? {
        let (at, len, from) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let from_end = from.checked_add(len);
        if at < end || at > reached || from_end.is_none_or(|end| end > patch_bytes.all) {
            return Err(damaged());
        }
        end = at.checked_add(len).ok_or_else(damaged)?;
        patch_bytes.left = patch_bytes.left.checked_sub(len).ok_or_else(damaged)?;
        reached = reached.max(end);
        let hasher = Hasher::new();
        pieces.insert(at, Piece { len, from, hasher });
    }
    if reached != new_len {
        return Err(damaged());
    }
    Ok(pieces)
}

fn fingerprint<J: ReadAt>(fields: &mut Fields<'_, J>) -> Result<Fingerprint> {
    Ok(Fingerprint {
        len: fields.u64()?,
        hash: fields.u64()?,
    })
}
