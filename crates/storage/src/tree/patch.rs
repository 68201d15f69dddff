//! Changes of a [`Root`] in place: bytes of files overwritten and appended.

use super::own::invalid;
use super::pieces::{Patch, Piece};
use super::root::{len_of, locked, not_found};
use super::state::{Fate, Spill, Staged};
use super::{Key, Root};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Bytes of patches kept in memory; what comes then is spilled into a file, which tests are to reach.
const MOST_LAID: u64 = if cfg!(test) { 1 << 10 } else { 4 << 20 };
const HOLE: &str = "a patch behind the end would leave a hole";

impl Root {
    /// Overwrites bytes of a file, or appends to it.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if it would leave a hole, and
    /// for a file of several names; those of the store.
    pub fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        let _gate = self.begin(key)?;
        let _one = locked(&self.patching);
        let fate = self.state().fate(key).cloned();
        match fate {
            Some(Fate::Put(staged)) => self.patch_staged(key, staged, (at, bytes)),
            Some(Fate::Remove | Fate::RemoveFolder) => Err(not_found(key)),
            Some(Fate::MakeFolder) => Err(invalid(key, "a folder, not a file")),
            Some(Fate::Patch(patch)) => {
                // One that nobody else holds is changed where it is.
                drop(patch);
                self.lay(key, None, (at, bytes))
            }
            None => {
                let base = self.store.open(key)?.size()?;
                // Whatever keeps it from being patched should do so now.
                self.store.patch(key, 0, &[])?;
                self.lay(key, Some(base), (at, bytes))
            }
        }
    }

    fn patch_staged(&self, key: &Key, staged: Staged, (at, bytes): (u64, &[u8])) -> io::Result<()> {
        if at > staged.len {
            return Err(invalid(key, HOLE));
        }
        let patched = self
            .store
            .patch(&self.own.staged(staged.number)?, at, bytes);
        let mut state = self.state();
        let now = state.fate(key).cloned();
        match now {
            Some(Fate::Put(now)) if now.number == staged.number => {
                let len = now.len.max(at.saturating_add(len_of(bytes)));
                // Of what failed, a part may be there.
                let sum = None;
                match patched.is_ok() {
                    true => drop(state.set(key, Fate::Put(Staged { len, sum, ..now }))),
                    false => state.poisoned = true,
                }
                patched
            }
            // Another thread has put or removed it meanwhile: as if that had come after this.
            _ => Ok(()),
        }
    }

    /// Lays bytes over a file, of this length if it is its first patch.
    fn lay(&self, key: &Key, base: Option<u64>, (at, bytes): (u64, &[u8])) -> io::Result<()> {
        let mut state = self.state();
        let len = match (state.fate(key), base) {
            (Some(Fate::Patch(patch)), _) => patch.new_len(),
            (None, Some(len)) => len,
            // Another thread has put or removed it meanwhile: as if that had come after this.
            _ => return Ok(()),
        };
        if at > len || at.checked_add(len_of(bytes)).is_none() {
            return Err(invalid(key, HOLE));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let mut patch = match state.forget(key) {
            Some(Fate::Patch(patch)) => patch,
            _ => Arc::new(Patch::new(len)),
        };
        let piece = Piece::Memory(Bytes::copy_from_slice(bytes));
        Arc::make_mut(&mut patch).lay(at, piece);
        state.set(key, Fate::Patch(patch));
        state.laid = state.laid.saturating_add(len_of(bytes));
        let full = state.laid > MOST_LAID;
        drop(state);
        match full {
            true => self.spill(),
            false => Ok(()),
        }
    }

    /// Moves the bytes of all patches from memory into a staged file.
    pub(super) fn spill(&self) -> io::Result<()> {
        let (mut places, mut bytes) = (BTreeMap::new(), Vec::new());
        let mut state = self.state();
        let spill = state.spill.clone();
        let number = spill.as_ref().map(|spill| spill.number);
        let number = number.unwrap_or_else(|| state.next_number());
        let begin = spill.as_ref().map_or(0, |spill| spill.len);
        for (folder, name, patch) in state.patches_mut() {
            for (at, piece) in &patch.pieces {
                if let Piece::Memory(here) = piece {
                    let from = begin.saturating_add(len_of(&bytes));
                    places.insert((folder.join(name)?, *at), from);
                    bytes.extend_from_slice(here);
                }
            }
        }
        drop(state);
        let place = self.own.staged(number)?;
        let written = match begin {
            0 if spill.is_none() => self.store.create(&place, &bytes),
            _ => self.store.patch(&place, begin, &bytes),
        };
        let mut state = self.state();
        if let Err(error) = written {
            // Something may lie there now, which another try would not expect.
            state.poisoned = true;
            return Err(error);
        }
        let mut hasher = spill.map(|spill| spill.hasher).unwrap_or_default();
        hasher.update(&bytes);
        let len = begin.saturating_add(len_of(&bytes));
        state.spill = Some(Spill {
            number,
            len,
            hasher,
        });
        state.laid = 0;
        for (folder, name, patch) in state.patches_mut() {
            let key = folder.join(name)?;
            for (at, piece) in &mut patch.pieces {
                if let Some(from) = places.get(&(key.clone(), *at)) {
                    let (from, len) = (*from, piece.len());
                    *piece = Piece::Spilled { from, len };
                }
            }
        }
        Ok(())
    }
}
