//! Refreshes a frame from its file or directory.

use super::Frame;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use bloscpack_storage::Refreshed;

impl Frame {
    /// Reads the metadata again, and continues with the current content of the file or directory. Reads no chunks.
    ///
    /// | result | meaning |
    /// |---|---|
    /// | [`Unchanged`](Refreshed::Unchanged) | the index and the metalayers of the header are the same |
    /// | [`Changed`](Refreshed::Changed) | the chunks before this range are the same; those in it may be new or changed |
    /// | [`Replaced`](Refreshed::Replaced) | another size of elements or chunks, or fewer chunks |
    ///
    /// ```
    /// use bloscpack_frames::Frame;
    /// use bloscpack_storage::Refreshed;
    /// # let temp = tempfile::tempdir()?;
    /// # let path = temp.path().join("frame");
    /// let mut writer = Frame::builder(8, 80_000).create(&path)?;
    /// writer.append(&[1; 80_000])?;
    /// writer.flush()?;
    /// let mut frame = Frame::open(&path)?;
    ///
    /// writer.append(&[2; 80_000])?;
    /// writer.flush()?;
    /// assert_eq!(frame.refresh()?, Refreshed::Changed(1..2));
    /// assert_eq!(frame.refresh()?, Refreshed::Unchanged);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::Usage`](bloscpack_error::Code::Usage) for a frame that was not opened for reading by its path or in a
    /// store, and the errors of [`open`](Self::open). The frame then stays as it was.
    pub fn refresh(&mut self) -> Result<Refreshed> {
        let new = self.reopened()?;
        let found = self.changed_in(&new);
        *self = new;
        Ok(found)
    }

    /// Opens the frame again.
    pub(crate) fn reopened(&self) -> Result<Self> {
        match &self.reopen {
            Some(reopen) => reopen(),
            None => Err(Error::usage(
                "only a frame that was opened for reading, by its path or in a store, is refreshed",
            )),
        }
    }

    /// What the frame `new` changes compared to this one.
    fn changed_in(&self, new: &Self) -> Refreshed {
        let shape = |frame: &Self| (frame.kind(), frame.typesize(), frame.meta.header.chunk_size);
        if shape(self) != shape(new) || new.chunks() < self.chunks() {
            return Refreshed::Replaced;
        }
        let places = self.meta.places.iter().zip(&new.meta.places);
        let same = places.take_while(|(old, new)| old == new).count();
        let is_same = to_u64(same) == new.chunks()
            && self.content_len() == new.content_len()
            && self.metalayers() == new.metalayers();
        if is_same {
            Refreshed::Unchanged
        } else {
            Refreshed::Changed(to_u64(same)..new.chunks())
        }
    }
}
