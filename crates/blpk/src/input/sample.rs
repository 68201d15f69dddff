//! Pieces of an input, by which settings are chosen.

use std::io::{self, Read as _, Seek as _, SeekFrom};

use bloscpack::{blosc::Tuner, storage::Cursor};

use super::Input;

impl Input {
    /// The pieces that a tuner wants to see. Nothing for an input that can only be read in order, or whose length is
    /// not known.
    pub fn sample(&self, tuner: &Tuner) -> io::Result<Option<Vec<Vec<u8>>>> {
        let Some(extent) = self.extent.filter(|extent| extent.length > 0) else {
            return Ok(None);
        };
        let mut pieces = Vec::new();
        for range in tuner.places(extent.length) {
            let mut cursor = Cursor::new(&*self.bytes);
            cursor.seek(SeekFrom::Start(extent.start + range.start))?;
            let mut piece = Vec::new();
            // It is shorter if the file has been truncated since.
            cursor
                .take(range.end - range.start)
                .read_to_end(&mut piece)?;
            pieces.push(piece);
        }
        Ok(Some(pieces))
    }
}
