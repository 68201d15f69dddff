//! [`View`]: the content of a file or a store as a reader knows it.

use super::pinned::{Pinned, Place};
use super::record::{Former, History, Record};
use super::status_of;
use crate::convert::prefix;
use crate::{Key, Lock, ReadAt};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// The content of a file or a store as a reader knows it: pinned content is read elsewhere, all other content
/// in place.
#[derive(Debug)]
pub(crate) struct View<F> {
    /// Content that is read elsewhere, by key.
    pub pins: BTreeMap<Key, Pin<F>>,
    /// The length of the file, or of a store's root handle; `None` for the file's current length.
    pub len: Option<u64>,
    pub(super) history: Option<History<Arc<F>>>,
    /// The history belongs to another user, who may have replaced it.
    pub(super) is_foreign: bool,
    /// How far the history was read.
    pub(super) seen: u64,
    /// The stamp when the content was last known to be unchanged.
    pub(super) stamp: u128,
    /// Whether a writer that keeps a history has been present since then.
    pub(super) is_trusted: bool,
    /// Whether there were commits since then.
    pub(super) is_old: bool,
}

/// What a key was when the view began.
#[derive(Debug)]
pub(crate) enum Pin<F> {
    Nothing,
    Folder,
    /// A file of this length; some of its bytes are read elsewhere.
    File(u64, Pinned<F>),
}

impl<F> Default for View<F> {
    fn default() -> Self {
        Self {
            pins: BTreeMap::new(),
            len: None,
            history: None,
            is_foreign: false,
            seen: 0,
            stamp: 0,
            is_trusted: false,
            is_old: false,
        }
    }
}

impl<F: ReadAt + Lock> View<F> {
    /// Reads a file. Its length is the pinned one, or else `len`, or else its current one.
    pub(crate) fn read_at<S: ReadAt + ?Sized>(
        &self,
        key: &Key,
        (file, len): (&S, Option<u64>),
        (at, buf): (u64, &mut [u8]),
    ) -> io::Result<usize> {
        let buf = match self.len_of(key, len) {
            // No bytes after the end.
            Some(len) => prefix(buf, len.saturating_sub(at)),
            None => buf,
        };
        match self.pins.get(key) {
            Some(Pin::File(_, pinned)) => pinned.read_at(file, at, buf),
            _ => file.read_at(at, buf),
        }
    }

    /// The pinned length of a file, or else `len`.
    pub(crate) fn len_of(&self, key: &Key, len: Option<u64>) -> Option<u64> {
        match self.pins.get(key) {
            Some(Pin::File(len, _)) => Some(*len),
            _ => len,
        }
    }

    /// Pins a range of a file, whose length was `len`, to another place.
    pub(crate) fn pin(&mut self, key: &Key, len: u64, (at, end): (u64, u64), place: &Place<F>) {
        let pin = self.pins.entry(key.clone());
        if let Pin::File(_, pinned) = pin.or_insert_with(|| Pin::File(len, Pinned::default())) {
            pinned.pin((at, end), place);
        }
    }

    /// Whether all of the history was read and it still has the name.
    pub(super) fn is_at_end(&self) -> io::Result<bool> {
        let Some(history) = &self.history else {
            return Ok(false);
        };
        let status = status_of(&*history.file)?;
        Ok(status.has_name && status.len == self.seen)
    }

    /// Pins what a commit overwrites.
    pub(super) fn pin_record(&mut self, record: &Record) {
        let Some(history) = &self.history else { return };
        let file = Arc::clone(&history.file);
        for entry in &record.entries {
            match entry.was {
                Former::Nothing => drop(self.pins.entry(entry.key.clone()).or_insert(Pin::Nothing)),
                Former::Folder => drop(self.pins.entry(entry.key.clone()).or_insert(Pin::Folder)),
                Former::File(len) => {
                    self.pin(&entry.key, len, (0, 0), &Place::Byte(0));
                    for kept in &entry.pieces {
                        let place = Place::File(Arc::clone(&file), kept.from);
                        let range = (kept.at, kept.at + kept.len);
                        self.pin(&entry.key, len, range, &place);
                    }
                }
            }
        }
    }

    /// Whether nothing was changed between the beginnings of this view and of a later one.
    pub(crate) fn is_same(&self, new: &Self) -> bool {
        let state = |view: &Self| {
            let history = view.history.as_ref();
            let history = history.map(|history| (history.epoch, history.at));
            (history, view.stamp, view.len)
        };
        !self.is_old && state(self) == state(new)
    }
}
