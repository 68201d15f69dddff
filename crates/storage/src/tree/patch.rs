//! Changes of a [`JournaledStore`] in place: overwriting and appending bytes.

use super::errors::{HOLE, NOT_A_FILE, invalid, not_found};
use super::patched::{Patch, Piece};
use super::pending::{Pending, Spill, Staged};
use super::{JournaledStore, Key};
use crate::convert::{end_of, to_u64};
use crate::mutex::locked;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

impl JournaledStore {
    /// Overwrites bytes of a file from position `at`, or appends at its end. The file is changed in place by
    /// the commit, so only the new bytes are written, twice.
    ///
    /// Up to 4 MiB of patches stay in memory until the commit; more are spilled into a staged file.
    ///
    /// # Errors
    /// Returns [`NotFound`](io::ErrorKind::NotFound); [`InvalidInput`](io::ErrorKind::InvalidInput) if `at` is
    /// after the end of the file, and for a file with several names;
    /// [`PermissionDenied`](io::ErrorKind::PermissionDenied) for a reader; and any error of the store.
    pub fn patch(&self, key: &Key, at: u64, bytes: &[u8]) -> io::Result<()> {
        let _gate = self.begin(key)?;
        let _one = locked(&self.patching);
        let pending = self.state().get(key).cloned();
        match pending {
            Some(Pending::Put(staged)) => self.patch_staged(key, staged, (at, bytes)),
            Some(Pending::Remove | Pending::RemoveFolder) => Err(not_found(key)),
            Some(Pending::MakeFolder) => Err(invalid(key, NOT_A_FILE)),
            Some(Pending::Patch(patch)) => {
                // Without this clone, `lay` changes a patch that no object shares in place.
                drop(patch);
                self.lay(key, None, (at, bytes))
            }
            None => {
                let base = self.store.open(key)?.size()?;
                // Finds out now whether anything prevents patching.
                self.store.patch(key, 0, &[])?;
                self.lay(key, Some(base), (at, bytes))
            }
        }
    }

    fn patch_staged(&self, key: &Key, staged: Staged, (at, bytes): (u64, &[u8])) -> io::Result<()> {
        if at > staged.len {
            return Err(invalid(key, HOLE));
        }
        let end = end_of(at, to_u64(bytes.len()))?;
        let patched = self
            .store
            .patch(&self.staging.key(staged.number)?, at, bytes);
        let mut state = self.state();
        let now = state.get(key).cloned();
        match now {
            Some(Pending::Put(now)) if now.number == staged.number => {
                let len = now.len.max(end);
                let sum = None;
                match patched.is_ok() {
                    true => drop(state.set(key, Pending::Put(Staged { len, sum, ..now }))),
                    // Some of the bytes may have been written.
                    false => state.is_poisoned = true,
                }
                patched
            }
            // Another thread has put or removed the file: treat this patch as made before.
            _ => Ok(()),
        }
    }

    /// Lays bytes over a file. `base` is the file's length if this is its first patch.
    fn lay(&self, key: &Key, base: Option<u64>, (at, bytes): (u64, &[u8])) -> io::Result<()> {
        let mut state = self.state();
        let len = match (state.get(key), base) {
            (Some(Pending::Patch(patch)), _) => patch.new_len(),
            (None, Some(len)) => len,
            // Another thread has put or removed the file: treat this patch as made before.
            _ => return Ok(()),
        };
        let added = to_u64(bytes.len());
        if at > len || at.checked_add(added).is_none() {
            return Err(invalid(key, HOLE));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let mut patch = match state.forget(key) {
            Some(Pending::Patch(patch)) => patch,
            _ => Arc::new(Patch::new(len)),
        };
        let piece = Piece::Memory(Bytes::copy_from_slice(bytes));
        Arc::make_mut(&mut patch).lay(at, piece)?;
        state.set(key, Pending::Patch(patch));
        state.in_memory += added;
        let is_full = state.in_memory > *locked(&self.patch_memory);
        drop(state);
        if is_full { self.spill() } else { Ok(()) }
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
                    let from = end_of(begin, to_u64(bytes.len()))?;
                    places.insert((folder.join(name)?, *at), from);
                    bytes.extend_from_slice(here);
                }
            }
        }
        let len = end_of(begin, to_u64(bytes.len()))?;
        drop(state);
        let staged = self.staging.key(number)?;
        let written = match &spill {
            None => self.store.create(&staged, &bytes),
            Some(_) => self.store.patch(&staged, begin, &bytes),
        };
        let mut state = self.state();
        if let Err(error) = written {
            // The staged file may exist or be longer, which a second attempt would not expect.
            state.is_poisoned = true;
            return Err(error);
        }
        let mut hasher = spill.map(|spill| spill.hasher).unwrap_or_default();
        hasher.update(&bytes);
        state.spill = Some(Spill {
            number,
            len,
            hasher,
        });
        state.in_memory = 0;
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
