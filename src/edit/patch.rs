//! [`Editor::patch`]: data over the content of a file.

use super::Editor;
use super::file_state::Frame;
use super::preamble::NewMetadata;
use super::recompress::Press;
use super::rewrite;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{Change, Folder, JournaledFile, ReadAt};
use bloscpack_wire::FormatVersion;
use crc32fast::Hasher;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::Range;

/// A chunk as it is.
pub(super) struct Old {
    pub number: u64,
    pub at: u64,
    /// Its uncompressed bytes.
    pub content: Range<u64>,
    /// Its bytes with its digest.
    pub len: u64,
    /// Bytes up to what follows; nothing for a last chunk, which may have any length.
    pub room: Option<u64>,
    /// Whether spare space may follow it.
    pub may_shrink: bool,
}

/// A chunk with new content, in the journal.
struct New {
    at: u64,
    staged: Range<u64>,
    hasher: Hasher,
}

/// All new chunks by number, and whether each fits into the room of the old one.
struct Patch<'a, F: Folder> {
    change: Change<'a, F>,
    chunks: BTreeMap<u64, New>,
    fits: bool,
    /// Where the file ends.
    end: u64,
}

impl<F: Folder> Editor<F> {
    /// Overwrites the content from `at` on with all that the reader has, and returns how many
    /// bytes that was. Its length stays; only the chunks that are touched are compressed anew.
    ///
    /// A chunk that becomes shorter is filled up with zeros behind its streams, and one in a file
    /// with spare space may become longer. Where one does not fit, the file is replaced by a new
    /// one; that needs space for both.
    ///
    /// A damaged chunk can be overwritten as a whole, and only as a whole.
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) if it would reach behind the end of the content; those of
    /// reader and file; a chunk that is touched in part and damaged. Nothing is changed then.
    pub fn patch<R: Read>(&mut self, at: u64, mut data: R) -> Result<u64> {
        self.overwrite(at, &mut data).writing()
    }

    fn overwrite<R: Read>(&mut self, at: u64, data: &mut R) -> Result<u64> {
        self.held.check()?;
        let content_len = self.content_len();
        if at > content_len {
            return Err(past_end(content_len));
        }
        let mut press = Press::new(&self.options, &mut self.known);
        let (mut piece, mut here) = (Vec::new(), at);
        let free_from = self.frame.free_from();
        let change = self.held.change(free_from)?;
        let mut patch = Patch {
            end: change.size()?,
            change,
            chunks: BTreeMap::new(),
            fits: true,
        };
        while let Some(number) = self.frame.index.chunk_at(here) {
            let old = self.frame.old_chunk(&patch.change, number)?;
            let most = old.content.end.saturating_sub(here);
            piece.clear();
            data.by_ref().take(most).read_to_end(&mut piece).reading()?;
            if piece.is_empty() {
                break;
            }
            let chunk = press.press(&patch.change, &self.frame, &old, here, &piece)?;
            if let Some(chunk) = chunk {
                patch.add(&old, chunk)?;
            }
            here = here.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        }
        if here == content_len && !is_at_end(data).reading()? {
            return Err(past_end(content_len));
        }
        let held = patch.make(&self.frame, self.options.max_app_chunks)?;
        self.frame.renew(held, &self.options.limits)?;
        Ok(here.saturating_sub(at))
    }
}

impl Frame {
    /// A chunk, and how much room it has.
    fn old_chunk<S: ReadAt>(&self, file: &S, number: u64) -> Result<Old> {
        let spot = self.index.spot(file, number)?;
        let next = self.index.spot(file, number.saturating_add(1))?;
        let Some(spot) = spot else {
            return Err(Error::usage(format!("there is no chunk {number}")));
        };
        let at = spot.extent.position.byte;
        let next = next.map(|next| next.extent.position.byte);
        // Behind the last chunk of a stream comes its end mark.
        let next = next.or_else(|| self.is_stream.then_some(spot.extent.end));
        Ok(Old {
            number,
            at,
            len: spot.extent.end.saturating_sub(at),
            content: spot.content,
            room: next.map(|next| next.saturating_sub(at)),
            may_shrink: self.head.header.layout == FormatVersion::V2 && self.is_indexed,
        })
    }
}

impl<'a, F: Folder> Patch<'a, F> {
    /// Takes in a new chunk with its digest.
    fn add(&mut self, old: &Old, mut chunk: Vec<u8>) -> Result<()> {
        let len = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
        let spare = match old.room {
            Some(room) => {
                let fits = len == room || (old.may_shrink && len < room);
                self.fits &= fits;
                room.saturating_sub(if fits { len } else { old.len })
            }
            None => {
                let end = old.at.saturating_add(len);
                // Spare space may lie behind the last chunk, too.
                self.end = if old.may_shrink {
                    end.max(self.end)
                } else {
                    end
                };
                self.end.saturating_sub(end)
            }
        };
        let zeros = usize::try_from(spare).unwrap_or(0);
        chunk.resize(chunk.len().saturating_add(zeros), 0);
        let mut hasher = Hasher::new();
        hasher.update(&chunk);
        let staged = self.change.stage(&chunk)?;
        let new = New {
            at: old.at,
            staged,
            hasher,
        };
        self.chunks.insert(old.number, new);
        Ok(())
    }

    fn make(
        mut self,
        frame: &Frame,
        max_app_chunks: Option<u64>,
    ) -> Result<&'a mut JournaledFile<F>> {
        if !self.fits {
            return self.rewrite(frame, max_app_chunks);
        }
        for new in self.chunks.into_values() {
            self.change.place(new.at, &new.staged, new.hasher)?;
        }
        Ok(self.change.commit(self.end)?)
    }

    fn rewrite(
        self,
        frame: &Frame,
        max_app_chunks: Option<u64>,
    ) -> Result<&'a mut JournaledFile<F>> {
        let staged = self.chunks.into_iter();
        let staged = staged.map(|(number, new)| (number, new.staged)).collect();
        let what = (NewMetadata::Same, &staged);
        rewrite::all(self.change, frame, what, max_app_chunks)
    }
}

fn is_at_end<R: Read>(data: &mut R) -> io::Result<bool> {
    let mut byte = Vec::new();
    Ok(data.take(1).read_to_end(&mut byte)? == 0)
}

fn past_end(content_len: u64) -> Error {
    Error::usage(format!(
        "that reaches behind the end of the content, which has {content_len} bytes: append what goes there"
    ))
}
