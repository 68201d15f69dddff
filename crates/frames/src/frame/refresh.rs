//! Frames that go on to what their file or directory contains now.

use super::Frame;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use bloscpack_storage::Refreshed;

impl Frame {
    /// Goes on to the chunks that the frame has now, and returns the numbers of those that are new or at another place, as
    /// changed ones are. Only the metadata is read.
    ///
    /// [`Refreshed::Replaced`] is a frame with other sizes of elements or chunks, or with fewer chunks.
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
    /// Returns a usage error for a frame that was not opened for reading by its path or in a store, and the errors of
    /// [`open`](Self::open). The frame is then as it was.
    pub fn refresh(&mut self) -> Result<Refreshed> {
        let new = self.reopened()?;
        let found = self.changed_in(&new);
        *self = new;
        Ok(found)
    }

    /// The same frame as it is now.
    pub(crate) fn reopened(&self) -> Result<Self> {
        match &self.reopen {
            Some(reopen) => reopen(),
            None => Err(Error::usage(
                "only a frame that was opened for reading, by its path or in a store, is refreshed",
            )),
        }
    }

    /// The chunks that another state of the frame adds or changes.
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
