//! [`FileStorage`]: a contiguous frame in a file that is opened for changing.

use super::{FrameStorage, Origin, StoredChunk};
use crate::meta::FrameMeta;
use crate::wire::{ChunkPlace, is_frame};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::internal::Draft;
use bloscpack_storage::{Folder, JournaledFile, ReadAt, Replacement};
use std::collections::BTreeMap;
use std::io;

/// Bytes that are copied or searched at once.
const STEP: usize = 1 << 20;
/// Bytes at the beginning of a frame by which it is recognized.
const MAGIC_LEN: usize = 10;

/// A file with a frame, locked for writing.
///
/// ```text
///  header | chunk 0 | chunk 1 (dead) | chunk 2 | new chunk ...
///         ^ chunks_at                          ^ chunks_end: over the old index and trailer, through the journal;
///                                                past the end of the old frame directly, because no reader looks there
/// ```
///
/// Replaced chunks stay in place as dead bytes. If more than half of the bytes of all chunks are dead, the next commit replaces
/// the whole file.
///
/// Offsets are sums of lengths in the header, each below 2^63, and of lengths of chunks: no sum overflows.
pub(crate) struct FileStorage<F: Folder> {
    pending: Pending<F>,
    origin: Origin,
    /// Bytes of the frame as of the last commit.
    frame_len: u64,
    /// The offset of the first chunk, which is the length of the header.
    chunks_at: u64,
    /// The offset at which the next chunk is written.
    chunks_end: u64,
    /// Whether a chunk was discarded since the last commit.
    has_discarded: bool,
    /// Dead bytes between the chunks; `None` until they were counted once.
    dead: Option<u64>,
}

/// The chunks that the index refers to: offset after the header, and length in bytes.
type Live = BTreeMap<u64, u64>;

/// A locked file with its uncommitted change. Reads see the change.
struct Pending<F: Folder> {
    held: JournaledFile<F>,
    draft: Option<Draft>,
}

impl<F: Folder> ReadAt for Pending<F> {
    /// Reads the file as it will be after the uncommitted change.
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        match &self.draft {
            Some(draft) => self.held.read_draft(draft, at, buf),
            None => self.held.file().read_at(at, buf),
        }
    }

    fn size(&self) -> io::Result<u64> {
        self.held.file().size()
    }
}

impl<F: Folder> Pending<F> {
    /// The uncommitted change. If there is none, begins one for a frame of this length.
    fn draft(&mut self, frame_len: u64) -> io::Result<Draft> {
        match self.draft.take() {
            Some(draft) => Ok(draft),
            None => Ok(self.held.change(Some(frame_len))?.pause()),
        }
    }
}

impl<F> FileStorage<F>
where
    F: Folder,
{
    /// The storage for a locked file that contains the frame with this metadata.
    ///
    /// Searches the bytes after the frame for another one. A file of several frames is [`Code::Unsupported`]: a change of the
    /// first would overwrite the others.
    pub(crate) fn new(held: JournaledFile<F>, origin: Origin, meta: &FrameMeta) -> Result<Self> {
        let frame_len = meta.header.frame_len;
        if let Some(at) = origin.io(next_frame(held.file(), frame_len))? {
            return Err(Error::new(
                Code::Unsupported,
                format!(
                    "another frame begins at byte {at}; a file of several frames can only be read"
                ),
            ));
        }
        let chunks_at = meta.header_len();
        Ok(Self {
            pending: Pending { held, draft: None },
            origin,
            frame_len,
            chunks_at,
            chunks_end: chunks_at + meta.header.section_len,
            has_discarded: false,
            dead: None,
        })
    }

    /// The chunks that the index refers to, and the sum of their lengths. Reads the header of each.
    ///
    /// Fails if a header cannot be read, or if the chunks overlap.
    fn live(&self, meta: &FrameMeta) -> Result<(Live, u64)> {
        let mut live = Live::new();
        for (number, place) in (0..).zip(&meta.places) {
            if let ChunkPlace::At(at) = place {
                live.insert(*at, self.chunk(number, *at)?.header()?.ctbytes.into());
            }
        }
        let used = live.values().sum();
        super::check_apart(used, self.section_len())?;
        Ok((live, used))
    }

    /// Bytes of all chunks, including dead ones.
    fn section_len(&self) -> u64 {
        self.chunks_end - self.chunks_at
    }

    /// Whether more than half of the bytes of all chunks are dead.
    ///
    /// The first call counts the dead bytes by reading the header of every chunk; later calls use the running total.
    fn is_mostly_dead(&mut self, meta: &FrameMeta) -> bool {
        if !self.has_discarded {
            return false;
        }
        if self.dead.is_none()
            && let Ok((_, used)) = self.live(meta)
        {
            self.dead = Some(self.section_len() - used);
        }
        // A chunk to which several entries refer is counted once for each when it is discarded: the total may exceed the
        // section.
        self.dead
            .is_some_and(|dead| dead > self.section_len().saturating_sub(dead))
    }

    /// Writes index, trailer and header. All chunks keep their offsets.
    fn commit_in_place(&mut self, meta: &mut FrameMeta) -> Result<()> {
        let end = meta.encoded_end()?;
        let frame_len = self.chunks_end + to_u64(end.len());
        meta.header.section_len = self.section_len();
        meta.header.frame_len = frame_len;
        let header = meta.header.encode()?;
        let (pending, chunks_end) = (&mut self.pending, self.chunks_end);
        let draft = self.origin.io(pending.draft(self.frame_len))?;
        let mut change = pending.held.resume(draft);
        let written = change
            .put(chunks_end, &end)
            .and_then(|()| change.put(0, &header))
            .and_then(|()| change.commit(frame_len));
        self.origin.io(written.map(|_| ()))?;
        self.frame_len = frame_len;
        Ok(())
    }

    /// Writes a new file that contains only the chunks in `live`, in the order of the index, and replaces the old file with it.
    /// Updates the index in `meta`.
    fn rewrite(&mut self, meta: &mut FrameMeta, live: &Live) -> Result<()> {
        let origin = &self.origin;
        let chunks_at = meta.header_len();
        let draft = origin.io(self.pending.draft(self.frame_len))?;
        let change = self.pending.held.resume(draft);
        let replacement = origin.io(change.into_replacement())?;
        let mut moved = BTreeMap::new();
        let mut end = chunks_at;
        for place in &mut meta.places {
            let ChunkPlace::At(at) = place else { continue };
            let new = match moved.get(at) {
                Some(new) => *new,
                None => {
                    let len = *live.get(at).ok_or_else(|| not_live(*at))?;
                    origin.io(copy(&replacement, self.chunks_at + *at, end, len))?;
                    let new = end - chunks_at;
                    moved.insert(*at, new);
                    end += len;
                    new
                }
            };
            *at = new;
        }
        let index_and_trailer = meta.encoded_end()?;
        meta.header.section_len = end - chunks_at;
        meta.header.frame_len = end + to_u64(index_and_trailer.len());
        let header = meta.header.encode()?;
        let written = replacement
            .write(end, &index_and_trailer)
            .and_then(|()| replacement.write(0, &header))
            .and_then(|()| replacement.commit());
        origin.io(written.map(|_| ()))?;
        (self.chunks_at, self.chunks_end) = (chunks_at, end);
        self.frame_len = meta.header.frame_len;
        Ok(())
    }
}

impl<F> FrameStorage for FileStorage<F>
where
    F: Folder,
{
    fn chunk(&self, number: u64, at: u64) -> Result<StoredChunk<'_>> {
        let source = (&self.pending as &dyn ReadAt, &self.origin);
        let start = self.chunks_at + at;
        Ok(StoredChunk::within(number, source, start, self.chunks_end))
    }

    fn file(&self) -> Option<&dyn ReadAt> {
        Some(&self.pending)
    }

    /// Appends a chunk after the last one, over the index and the trailer of the last commit.
    fn put(&mut self, chunk: &[u8]) -> Result<u64> {
        let draft = self.origin.io(self.pending.draft(self.frame_len))?;
        let mut change = self.pending.held.resume(draft);
        let put = change.put(self.chunks_end, chunk);
        self.pending.draft = Some(change.pause());
        self.origin.io(put)?;
        let at = self.section_len();
        self.chunks_end += to_u64(chunk.len());
        Ok(at)
    }

    /// Only counts the bytes. The chunk keeps its place until a commit rewrites the file.
    fn discard(&mut self, _: u64, len: u64) -> Result<()> {
        self.has_discarded = true;
        self.dead = self.dead.map(|dead| dead + len);
        Ok(())
    }

    /// Commits in place, or rewrites the file: if the header changed its length, if all chunks were removed, or if more than
    /// half of the chunk bytes are dead.
    fn commit(&mut self, meta: &mut FrameMeta) -> Result<()> {
        let has_moved = meta.header_len() != self.chunks_at;
        // In a frame without chunks, readers expect the trailer right after the header.
        let is_emptied = meta.places.is_empty() && self.chunks_end > self.chunks_at;
        if has_moved || is_emptied || self.is_mostly_dead(meta) {
            match self.live(meta) {
                Ok((live, _)) => {
                    self.rewrite(meta, &live)?;
                    (self.has_discarded, self.dead) = (false, Some(0));
                    return Ok(());
                }
                // With an unreadable chunk, the file cannot be rewritten, and all chunks keep their offsets. If the header has
                // another length, they have to move: the commit fails.
                Err(error) if has_moved => return Err(error),
                Err(_) => {}
            }
        }
        self.commit_in_place(meta)?;
        self.has_discarded = false;
        Ok(())
    }

    fn is_writable(&self) -> bool {
        true
    }

    fn unused(&self, meta: &FrameMeta) -> Result<Vec<String>> {
        Ok(super::trailing(self.origin.io(self.pending.size())?, meta))
    }
}

/// The error for an index entry that was not counted: a bug.
fn not_live(at: u64) -> Error {
    Error::bug(format!(
        "the chunk at {at} is in the index, but was not counted"
    ))
}

/// Bytes to process next between `at` and `end`.
fn step(at: u64, end: u64) -> usize {
    usize::try_from(end - at).map_or(STEP, |left| left.min(STEP))
}

/// The offset of the next frame in the file, searched from `frame_len` to the end of the file; `None` if there is none. Several
/// frames may follow each other in one file, with padding in between.
fn next_frame<S: ReadAt>(file: &S, frame_len: u64) -> io::Result<Option<u64>> {
    let (mut at, size) = (frame_len, file.size()?);
    let mut buffer = Vec::new();
    while at < size && size - at >= to_u64(MAGIC_LEN) {
        buffer.resize(step(at, size), 0);
        file.read_exact_at(at, &mut buffer)?;
        if let Some(found) = buffer.windows(MAGIC_LEN).position(is_frame) {
            return Ok(Some(at + to_u64(found)));
        }
        // The next frame may begin in the last bytes of this step.
        at += to_u64(buffer.len() - (MAGIC_LEN - 1));
    }
    Ok(None)
}

/// Copies `len` bytes at `from` of the old file to `at` of the new one.
fn copy<F: Folder>(to: &Replacement<'_, F>, from: u64, at: u64, len: u64) -> io::Result<()> {
    let (mut done, mut buffer) = (0, Vec::new());
    while done < len {
        buffer.resize(step(done, len), 0);
        to.old().read_exact_at(from + done, &mut buffer)?;
        to.write(at + done, &buffer)?;
        done += to_u64(buffer.len());
    }
    Ok(())
}
