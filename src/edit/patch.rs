//! [`Editor::patch`]: overwrites content of a file.

use super::Editor;
use super::file_state::FileState;
use super::preamble::NewMetadata;
use super::recompress::{OldChunk, Recompressor};
use super::rewrite;
use bloscpack_error::checked::{in_memory, len_of, to_u64};
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{Change, Folder, JournaledFile, ReadAt};
use bloscpack_wire::FormatVersion;
use crc32fast::Hasher;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::Range;

/// A chunk with new content, staged in the journal.
struct NewChunk {
    at: u64,
    staged: Range<u64>,
    hasher: Hasher,
}

/// All new chunks by number, and whether all fit into the rooms of the old ones.
struct Patch<'a, F: Folder> {
    change: Change<'a, F>,
    chunks: BTreeMap<u64, NewChunk>,
    fits: bool,
    /// The length of the file after the patch.
    end: u64,
}

impl<F: Folder> Editor<F> {
    /// Overwrites content, beginning at byte `at`, with everything from the reader, and returns the length of the patch in
    /// bytes. The length of the content does not change. Only touched chunks are compressed again, one after another on the
    /// caller's thread. The whole patch is one atomic change.
    ///
    /// A chunk that becomes shorter is padded with zeros after its streams. A chunk that becomes longer may use the
    /// [spare space](crate::EncoderBuilder::spare_space) after it, and the last chunk of a file may have any length. If a chunk
    /// does not fit its room, even at level 9, the file is replaced by a new one, which needs disk space for both.
    ///
    /// A damaged chunk can be replaced as a whole, but not in part.
    ///
    /// ```
    /// use bloscpack::{error::Category, storage::Memory, edit::Editor};
    /// let folder = Memory::from([("a.blp", bloscpack::compress(b"one two")?)]);
    /// let mut editor = Editor::open_in(folder, "a.blp".as_ref())?;
    /// assert_eq!(editor.patch(4, b"TWO".as_slice())?, 3);
    ///
    /// let error = editor.patch(5, b"TWO".as_slice()).unwrap_err();
    /// assert_eq!(error.category(), Category::Usage);
    /// assert_eq!(editor.reader().read_chunk(0)?, b"one TWO");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Usage`](bloscpack_error::Category::Usage) for a patch that extends past the end of the content; any error of
    /// the reader, on [`Side::Source`](bloscpack_error::Side::Source), and of the file; and the error of a damaged chunk that
    /// is touched in part. The file is then unchanged. After [`Committed`](bloscpack_error::Category::Committed), the patch is
    /// permanent.
    pub fn patch<R: Read>(&mut self, at: u64, mut data: R) -> Result<u64> {
        self.overwrite(at, &mut data).writing()
    }

    /// Stages the new version of each touched chunk in the journal, and commits them together.
    fn overwrite<R: Read>(&mut self, at: u64, data: &mut R) -> Result<u64> {
        self.held.check()?;
        let content_len = self.content_len();
        if at > content_len {
            return Err(past_end(content_len));
        }
        let recompressor = Recompressor::new(&self.builder);
        let (mut piece, mut here) = (Vec::new(), at);
        let free_from = self.state.free_from();
        let change = self.held.change(free_from)?;
        let mut patch = Patch {
            end: change.size()?,
            change,
            chunks: BTreeMap::new(),
            fits: true,
        };
        while let Some(number) = self.state.index.chunk_at(here) {
            let old = self.state.old_chunk(&patch.change, number)?;
            let most = len_of(&(here..old.content.end));
            piece.clear();
            data.by_ref().take(most).read_to_end(&mut piece).reading()?;
            if piece.is_empty() {
                break;
            }
            let chunk = recompressor.patch(&patch.change, &self.state, &old, here, &piece)?;
            if let Some(chunk) = chunk {
                patch.add(&old, chunk)?;
            }
            here += to_u64(piece.len());
        }
        if here == content_len && !is_at_end(data).reading()? {
            return Err(past_end(content_len));
        }
        let held = patch.make(&self.state, self.builder.max_app_chunks)?;
        self.state.renew(held, &self.builder)?;
        Ok(here - at)
    }
}

impl FileState {
    /// A chunk, and its room.
    fn old_chunk<S: ReadAt>(&self, file: &S, number: u64) -> Result<OldChunk> {
        let span = self.index.span(file, number)?;
        let next = self.index.span(file, number + 1)?;
        let Some(span) = span else {
            return Err(Error::bug(format!("chunk {number} does not exist")));
        };
        let at = span.extent.position.byte;
        let next = next.map(|next| next.extent.position.byte);
        // The last chunk of a stream is followed by its end mark.
        let next = next.or_else(|| self.is_stream.then_some(span.extent.end));
        Ok(OldChunk {
            number,
            at,
            len: len_of(&(at..span.extent.end)),
            content: span.content,
            room: next.map(|next| len_of(&(at..next))),
            may_shrink: self.map.header.version == FormatVersion::V2 && self.is_indexed,
        })
    }
}

impl<'a, F: Folder> Patch<'a, F> {
    /// Adds a new chunk with its digest.
    fn add(&mut self, old: &OldChunk, mut chunk: Vec<u8>) -> Result<()> {
        let len = to_u64(chunk.len());
        let spare = match old.room {
            Some(room) => {
                let fits = len == room || (old.may_shrink && len < room);
                self.fits &= fits;
                // In a new file, it keeps its spare space.
                let spare = room.checked_sub(if fits { len } else { old.len });
                let (number, old) = (old.number, old.len);
                spare.ok_or_else(|| {
                    Error::bug(format!("chunk {number} of {old} bytes in a room of {room}"))
                })?
            }
            None => {
                let end = old.at + len;
                // Spare space may also follow the last chunk.
                self.end = if old.may_shrink {
                    end.max(self.end)
                } else {
                    end
                };
                self.end - end
            }
        };
        chunk.resize(chunk.len() + in_memory(spare)?, 0);
        let mut hasher = Hasher::new();
        hasher.update(&chunk);
        let staged = self.change.stage(&chunk)?;
        let new = NewChunk {
            at: old.at,
            staged,
            hasher,
        };
        self.chunks.insert(old.number, new);
        Ok(())
    }

    /// Commits the new chunks in place, or in a new file if one does not fit.
    fn make(
        mut self,
        state: &FileState,
        max_app_chunks: Option<u64>,
    ) -> Result<&'a mut JournaledFile<F>> {
        if !self.fits {
            return self.rewrite(state, max_app_chunks);
        }
        for new in self.chunks.into_values() {
            self.change.place(new.at, &new.staged, new.hasher)?;
        }
        Ok(self.change.commit(self.end)?)
    }

    fn rewrite(
        self,
        state: &FileState,
        max_app_chunks: Option<u64>,
    ) -> Result<&'a mut JournaledFile<F>> {
        let staged = self.chunks.into_iter();
        let staged = staged.map(|(number, new)| (number, new.staged)).collect();
        let what = (NewMetadata::Same, &staged);
        rewrite::all(self.change, state, what, max_app_chunks)
    }
}

fn is_at_end<R: Read>(data: &mut R) -> io::Result<bool> {
    let mut byte = Vec::new();
    Ok(data.take(1).read_to_end(&mut byte)? == 0)
}

fn past_end(content_len: u64) -> Error {
    Error::usage(format!(
        "patch extends past the end of the content ({content_len} bytes); append to the file to add data"
    ))
}
