//! [`Refresh`]: sources that move on to the current content of their file.

use crate::{Lock, ReadAt, Result, Snapshot, WriteAt};
use std::ops::Range;

/// A source that shows its file at one moment and can move on to the current content.
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
    /// Moves on to the current content, and returns which bytes are new.
    ///
    /// # Errors
    /// Returns any error of opening the file again. The source then keeps its content.
    fn refresh(&mut self) -> Result<Refreshed>;
}

/// The result of a refresh.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refreshed {
    /// The content is the same.
    Unchanged,
    /// The same file was changed, and this range of bytes, records or rows is new; it is empty if nothing was
    /// appended. Older content may have changed as well: finding out would take as long as reading it again.
    Changed(Range<u64>),
    /// Another file has the name, the file was changed by a program without this protocol, or it became
    /// shorter. Nothing that was read before is valid.
    Replaced,
}

impl Refreshed {
    /// The same result in other units, such as records: `before` of them existed and `now` exist. Fewer than
    /// before become [`Replaced`](Self::Replaced).
    ///
    /// ```
    /// use bloscpack_storage::Refreshed;
    ///
    /// // Bytes 500 to 600 are new; they contain records 7 and 8.
    /// assert_eq!(Refreshed::Changed(500..600).counted(7, 9), Refreshed::Changed(7..9));
    /// assert_eq!(Refreshed::Changed(500..500).counted(7, 6), Refreshed::Replaced);
    /// ```
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
        // If the old content cannot be read, a program without a history has changed the file and may have
        // written anything.
        let is_known = self.read_at(0, &mut [0]).is_ok();
        if !Self::refresh(self)? {
            return Ok(Refreshed::Unchanged);
        }
        if !is_known || file.is_none() || file != identity(self.get_ref()) {
            return Ok(Refreshed::Replaced);
        }
        // A chunk that was compressed again may be shorter.
        let now = self.size()?;
        Ok(Refreshed::Changed(len.min(now)..now))
    }
}

/// The identity of an open file; `None` where files have none.
fn identity(file: &impl Lock) -> Option<u128> {
    let status = file.presence()?.status().ok()?;
    Some(status.identity)
}
