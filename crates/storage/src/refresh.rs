//! [`Refresh`]: sources that go on to what their file contains now.

use crate::{Lock, ReadAt, Result, Snapshot, WriteAt};
use std::ops::Range;

/// A source that shows its file as it was at one moment, and can go on to a later one.
///
/// ```
/// use bloscpack_storage::{JournaledFile, LockTimeout, Memory, Refresh, Refreshed, Snapshot};
/// let folder = Memory::from([("data", b"some data".to_vec())]);
/// let mut snapshot = Snapshot::open_in(&folder, "data".as_ref())?;
///
/// let mut writer = JournaledFile::open(folder, "data".as_ref(), &LockTimeout::default())?;
/// let mut change = writer.change(None)?;
/// change.put(9, b", more")?;
/// change.commit(15)?;
/// assert_eq!(Refresh::refresh(&mut snapshot)?, Refreshed::Changed(9..15));
/// assert_eq!(Refresh::refresh(&mut snapshot)?, Refreshed::Unchanged);
/// # Ok::<(), bloscpack_storage::Error>(())
/// ```
pub trait Refresh: ReadAt {
    /// Goes on to the content that the file has now, and returns what is new, in bytes.
    ///
    /// # Errors
    /// Returns any error of opening the file again; the source is then as it was.
    fn refresh(&mut self) -> Result<Refreshed>;
}

/// The result of a refresh.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refreshed {
    /// Everything is as it was.
    Unchanged,
    /// The same file was changed, and these bytes, records or rows are new: none if the change was
    /// another one. What was there before may have been changed as well; finding out would cost as
    /// much as reading it again.
    Changed(Range<u64>),
    /// Another file has taken its place, or it was changed by a program that does not know our
    /// protocol, or it has become shorter: nothing that was read before counts.
    Replaced,
}

impl Refreshed {
    /// The same, in other units: how many there were, and how many there are now.
    #[must_use]
    pub fn counted(self, before: u64, now: u64) -> Self {
        match self {
            Self::Changed(_) if before <= now => Self::Changed(before..now),
            Self::Changed(_) => Self::Replaced,
            found => found,
        }
    }
}

impl<F: WriteAt + Lock + 'static> Refresh for Snapshot<F> {
    fn refresh(&mut self) -> Result<Refreshed> {
        let (file, len) = (identity(self.get_ref()), self.size()?);
        // Otherwise a program has changed it that keeps no record of that, and may have written anything.
        let is_known = self.read_at(0, &mut [0]).is_ok();
        if !Self::refresh(self)? {
            return Ok(Refreshed::Unchanged);
        }
        if !is_known || file.is_none() || file != identity(self.get_ref()) {
            return Ok(Refreshed::Replaced);
        }
        // A chunk that was compressed again may take fewer bytes.
        let now = self.size()?;
        Ok(Refreshed::Changed(len.min(now)..now))
    }
}

/// The identity of an open file, where files have one.
fn identity(file: &impl Lock) -> Option<u128> {
    let status = file.presence()?.status().ok()?;
    Some(status.identity)
}
