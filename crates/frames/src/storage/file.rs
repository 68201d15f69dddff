//! [`FileStorage`]: a contiguous frame in a file that is changed.

use super::{FrameStorage, Origin, StoredChunk};
use crate::meta::FrameMeta;
use crate::wire::{ChunkPlace, is_frame};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::internal::Draft;
use bloscpack_storage::{Folder, JournaledFile, ReadAt, Replacement, StoreFile};
use std::collections::BTreeMap;
use std::io;

/// Bytes that are copied or searched at once.
const STEP: usize = 1 << 20;
/// The beginning of a frame is known by so many bytes.
const MAGIC_LEN: usize = 10;

/// A file with a frame, locked for writing.
///
/// New chunks go after the last one: over the index and the trailer through the journal, and past the end of the frame, where
/// no reader looks, directly. Chunks that they replace stay where they are. When more than half of the chunks' bytes are dead,
/// the file is written anew.
///
/// Positions are sums of lengths in the header, all of which are below 2^63, and of lengths of chunks: none can overflow.
pub(crate) struct FileStorage<F: Folder> {
    pending: Pending<F>,
    origin: Origin,
    /// Length of the frame after the last commit.
    frame_len: u64,
    chunks_at: u64,
    /// Where the next chunk goes.
    chunks_end: u64,
    /// Whether a chunk was discarded since the last commit.
    has_discarded: bool,
    /// Bytes of chunks that are not part of the frame any more, once they have been counted.
    dead: Option<u64>,
}

/// The chunks of a frame: the length of each, by its place.
type Live = BTreeMap<u64, u64>;

/// A locked file with the change that is being made to it.
struct Pending<F: Folder> {
    held: JournaledFile<F>,
    draft: Option<Draft>,
}

impl<F: Folder> ReadAt for Pending<F> {
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
    /// Resumes the change of a frame of this length, or begins one.
    fn draft(&mut self, frame_len: u64) -> io::Result<Draft> {
        match self.draft.take() {
            Some(draft) => Ok(draft),
            None => Ok(self.held.change(Some(frame_len))?.pause()),
        }
    }
}

impl<F> FileStorage<F>
where
    F: Folder<File: Send + Sync> + Send + Sync,
{
    /// A file that contains the frame with this metadata.
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

    /// The chunks that are part of the frame, and the sum of their lengths.
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

    /// Bytes of all chunks, dead ones included.
    fn section_len(&self) -> u64 {
        self.chunks_end - self.chunks_at
    }

    /// Whether discarded chunks use more bytes than the others. All are counted once, and tracked from then on.
    fn is_mostly_dead(&mut self, meta: &FrameMeta) -> bool {
        if !self.has_discarded {
            return false;
        }
        if self.dead.is_none()
            && let Ok((_, used)) = self.live(meta)
        {
            self.dead = Some(self.section_len() - used);
        }
        // A chunk that several entries refer to is counted for each, so that more may be dead than there is.
        self.dead
            .is_some_and(|dead| dead > self.section_len().saturating_sub(dead))
    }

    /// Writes index, trailer and header, and leaves the chunks where they are.
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

    /// Writes a new file that contains only what is part of the frame, and replaces the old one with it.
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
    F: Folder<File: Send + Sync> + Send + Sync,
{
    fn chunk(&self, number: u64, at: u64) -> Result<StoredChunk<'_>> {
        let source = (&self.pending as &dyn StoreFile, &self.origin);
        let start = self.chunks_at + at;
        Ok(StoredChunk::within(number, source, start, self.chunks_end))
    }

    fn file(&self) -> Option<&dyn StoreFile> {
        Some(&self.pending)
    }

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

    /// The chunk stays where it is until more than half of the bytes are dead.
    fn discard(&mut self, _: u64, len: u64) -> Result<()> {
        self.has_discarded = true;
        self.dead = self.dead.map(|dead| dead + len);
        Ok(())
    }

    fn commit(&mut self, meta: &mut FrameMeta) -> Result<()> {
        let has_moved = meta.header_len() != self.chunks_at;
        // Readers look for the trailer of a frame without chunks right after its header.
        let is_emptied = meta.places.is_empty() && self.chunks_end > self.chunks_at;
        if has_moved || is_emptied || self.is_mostly_dead(meta) {
            match self.live(meta) {
                Ok((live, _)) => {
                    self.rewrite(meta, &live)?;
                    (self.has_discarded, self.dead) = (false, Some(0));
                    return Ok(());
                }
                // A chunk that cannot be read stays where it is. If all chunks have to move, it cannot.
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

fn not_live(at: u64) -> Error {
    Error::bug(format!(
        "the chunk at {at} is in the index, but was not counted"
    ))
}

/// The next step on the way from `at` to `end`.
fn step(at: u64, end: u64) -> usize {
    usize::try_from(end - at).map_or(STEP, |left| left.min(STEP))
}

/// Where the next frame of the file begins, if there is one. Several frames may be in one file, with padding between them; a
/// change of the first would cut off the others.
fn next_frame<S: ReadAt>(file: &S, frame_len: u64) -> io::Result<Option<u64>> {
    let (mut at, size) = (frame_len, file.size()?);
    let mut buffer = Vec::new();
    while at < size && size - at >= to_u64(MAGIC_LEN) {
        buffer.resize(step(at, size), 0);
        file.read_exact_at(at, &mut buffer)?;
        if let Some(found) = buffer.windows(MAGIC_LEN).position(is_frame) {
            return Ok(Some(at + to_u64(found)));
        }
        // A frame may begin in the last bytes of a step.
        at += to_u64(buffer.len() - (MAGIC_LEN - 1));
    }
    Ok(None)
}

/// Copies bytes of the old file to the new one.
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
