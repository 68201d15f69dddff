//! Some of an input, to choose settings by.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;

use bloscpack::{blosc::Tuner, storage::Cursor};

use super::{Extent, Input};

impl Input {
    /// The pieces that a tuner wants to see; nothing of an input that only comes in order, or that
    /// says how long it is only when it is read.
    pub fn sample(&self, tuner: &Tuner) -> io::Result<Option<Vec<Vec<u8>>>> {
        let Some(extent) = self.extent.filter(|extent| extent.length > 0) else {
            return Ok(None);
        };
        let places = tuner.places(extent.length);
        let pieces = places.into_iter().map(|place| self.piece(extent, place));
        pieces.collect::<io::Result<_>>().map(Some)
    }

    /// A piece, shorter if the file has been cut off meanwhile.
    fn piece(&self, extent: Extent, place: Range<u64>) -> io::Result<Vec<u8>> {
        let mut cursor = Cursor::new(&*self.bytes);
        cursor.seek(SeekFrom::Start(extent.start.saturating_add(place.start)))?;
        let mut piece = Vec::new();
        let len = place.end.saturating_sub(place.start);
        cursor.take(len).read_to_end(&mut piece)?;
        Ok(piece)
    }
}
