//! [`FileHome`]: a contiguous frame in a file that is changed.

use super::{Home, Stored};
use crate::fetch;
use crate::outline::Outline;
use crate::wire::{ChunkPlace, is_frame};
use blosc1::Fault;
use bloscpack_error::Result;
use bloscpack_storage::internal::Draft;
use bloscpack_storage::{Folder, JournaledFile, ReadAt, Replacement};
use std::collections::BTreeMap;
use std::io;

/// Bytes copied at once.
const COPY_LEN: u64 = 1 << 20;
/// By so many bytes the beginning of a frame is known.
const FRAME_SIGN: usize = 10;

/// A file with a frame, held for writing.
///
/// New chunks go behind the last one: over the index and trailer through the journal, and behind the frame's end, where nobody
/// looks, directly. What they replace stays where it is. When more of the file is dead than alive, it is written anew.
pub(crate) struct FileHome<F: Folder> {
    pending: Pending<F>,
    /// The file as the last commit left it.
    frame_len: u64,
    chunks_at: u64,
    /// Where the next chunk goes.
    chunks_end: u64,
    /// Whether a chunk has given way since the last commit.
    has_discarded: bool,
    /// Bytes of chunks that are no part of the frame any more, once they have been counted.
    dead: Option<u64>,
}

/// A held file with the change that is being made to it.
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

impl<F> FileHome<F>
where
    F: Folder<File: Send + Sync> + Send + Sync,
{
    /// A file that this frame lies in.
    pub(crate) fn new(held: JournaledFile<F>, outline: &Outline) -> Result<Self> {
        let frame_len = outline.header.frame_len;
        refuse_followers(held.file(), frame_len)?;
        let chunks_at = outline.header_len();
        let chunks_end = chunks_at.saturating_add(outline.header.section_len);
        Ok(Self {
            pending: Pending { held, draft: None },
            frame_len,
            chunks_at,
            chunks_end,
            has_discarded: false,
            dead: None,
        })
    }

    /// Takes up the change under way, or begins one.
    fn draft(&mut self) -> Result<Draft> {
        match self.pending.draft.take() {
            Some(draft) => Ok(draft),
            None => Ok(self.pending.held.change(Some(self.frame_len))?.pause()),
        }
    }

    /// The chunks that are part of the frame, with their lengths, and the sum of these.
    fn live(&self, outline: &Outline) -> Result<(BTreeMap<u64, u64>, u64)> {
        let mut live = BTreeMap::new();
        for place in &outline.places {
            if let ChunkPlace::At(at) = place {
                live.insert(*at, u64::from(fetch::header(&self.chunk(*at)?)?.ctbytes));
            }
        }
        let used = live
            .values()
            .fold(0, |sum: u64, len| sum.saturating_add(*len));
        // They would take more room than now where each gets its own.
        super::check_apart(used, self.chunks_end.saturating_sub(self.chunks_at))?;
        Ok((live, used))
    }

    /// Whether chunks that gave way take more room than those that are left. All are counted once, and from then on kept count of.
    fn is_mostly_dead(&mut self, outline: &Outline) -> bool {
        if !self.has_discarded {
            return false;
        }
        let section_len = self.chunks_end.saturating_sub(self.chunks_at);
        if self.dead.is_none()
            && let Ok((_, used)) = self.live(outline)
        {
            self.dead = Some(section_len.saturating_sub(used));
        }
        let dead = self.dead.unwrap_or(0);
        dead > section_len.saturating_sub(dead)
    }

    /// Puts index, trailer and header where they belong.
    fn commit_in_place(&mut self, outline: &mut Outline) -> Result<()> {
        let back = outline.back()?;
        let section_len = self.chunks_end.saturating_sub(self.chunks_at);
        let frame_len = self.chunks_end.saturating_add(len_of(&back));
        outline.header.section_len = section_len;
        outline.header.frame_len = frame_len;
        let header = outline.header.encode()?;
        let draft = self.draft()?;
        let mut change = self.pending.held.resume(draft);
        change.put(self.chunks_end, &back)?;
        change.put(0, &header)?;
        change.commit(frame_len)?;
        self.frame_len = frame_len;
        Ok(())
    }

    /// Writes a new file with nothing in it but what is part of the frame, and puts it in the place of the old one.
    fn rewrite(&mut self, outline: &mut Outline, live: &BTreeMap<u64, u64>) -> Result<()> {
        let chunks_at = outline.header_len();
        let draft = self.draft()?;
        let replacement = self.pending.held.resume(draft).into_replacement()?;
        let mut moved = BTreeMap::new();
        let mut end = chunks_at;
        for place in &mut outline.places {
            let ChunkPlace::At(at) = place else { continue };
            let new = match moved.get(at) {
                Some(new) => *new,
                None => {
                    let len = live.get(at).copied().unwrap_or(0);
                    let from = self.chunks_at.saturating_add(*at);
                    copy(&replacement, from, end, len)?;
                    let new = end.saturating_sub(chunks_at);
                    moved.insert(*at, new);
                    end = end.saturating_add(len);
                    new
                }
            };
            *at = new;
        }
        let back = outline.back()?;
        outline.header.section_len = end.saturating_sub(chunks_at);
        outline.header.frame_len = end.saturating_add(len_of(&back));
        replacement.write(end, &back)?;
        replacement.write(0, &outline.header.encode()?)?;
        replacement.commit()?;
        (self.chunks_at, self.chunks_end) = (chunks_at, end);
        self.frame_len = outline.header.frame_len;
        Ok(())
    }
}

impl<F> Home for FileHome<F>
where
    F: Folder<File: Send + Sync> + Send + Sync,
{
    fn chunk(&self, at: u64) -> Result<Stored<'_>> {
        let start = self.chunks_at.saturating_add(at);
        Ok(Stored::within(&self.pending, start, self.chunks_end))
    }

    fn put(&mut self, chunk: &[u8]) -> Result<u64> {
        let draft = self.draft()?;
        let mut change = self.pending.held.resume(draft);
        let put = change.put(self.chunks_end, chunk);
        self.pending.draft = Some(change.pause());
        put?;
        let at = self.chunks_end.saturating_sub(self.chunks_at);
        self.chunks_end = self.chunks_end.saturating_add(len_of(chunk));
        Ok(at)
    }

    /// It stays where it is until there is more that is dead than alive.
    fn discard(&mut self, _: u64, len: u64) -> Result<()> {
        self.has_discarded = true;
        self.dead = self.dead.map(|dead| dead.saturating_add(len));
        Ok(())
    }

    fn commit(&mut self, outline: &mut Outline) -> Result<()> {
        let has_moved = outline.header_len() != self.chunks_at;
        // Readers look for the trailer of a frame without chunks behind its header.
        let is_emptied = outline.places.is_empty() && self.chunks_end > self.chunks_at;
        if has_moved || is_emptied || self.is_mostly_dead(outline) {
            match self.live(outline) {
                Ok((live, _)) => {
                    self.rewrite(outline, &live)?;
                    (self.has_discarded, self.dead) = (false, Some(0));
                    return Ok(());
                }
                // A chunk that nobody can read keeps its place; where all would have to move, it cannot.
                Err(error) if has_moved => return Err(error),
                Err(_) => {}
            }
        }
        self.commit_in_place(outline)?;
        self.has_discarded = false;
        Ok(())
    }

    fn is_writable(&self) -> bool {
        true
    }

    fn strangers(&self, outline: &Outline) -> Result<Vec<String>> {
        behind(self.pending.size()?, outline)
    }
}

/// What lies behind the end of a frame.
pub(super) fn behind(size: u64, outline: &Outline) -> Result<Vec<String>> {
    let behind = size.saturating_sub(outline.header.frame_len);
    let what = format!("{behind} bytes lie behind the frame's end, which nobody reads");
    Ok((behind > 0).then_some(what).into_iter().collect())
}

/// Several frames may lie in one file, with padding between; what lies behind this one would be cut off.
fn refuse_followers<S: ReadAt>(file: &S, frame_len: u64) -> Result<()> {
    let (mut at, size) = (frame_len, file.size()?);
    let mut buffer = Vec::new();
    while size.saturating_sub(at) >= FRAME_SIGN as u64 {
        let step = size.saturating_sub(at).min(COPY_LEN);
        buffer.resize(usize::try_from(step).unwrap_or(0), 0);
        file.read_exact_at(at, &mut buffer)?;
        let found = buffer.windows(FRAME_SIGN).position(is_frame);
        if let Some(found) = found {
            let byte = at.saturating_add(u64::try_from(found).unwrap_or(0));
            let what =
                format!("another frame follows at byte {byte}: files of several are only read");
            return Err(crate::error::frame(Fault::Unsupported, what));
        }
        // One may begin in the last bytes of a step.
        at = at
            .saturating_add(step)
            .saturating_sub(FRAME_SIGN as u64 - 1);
    }
    Ok(())
}

fn copy<F: Folder>(to: &Replacement<'_, F>, from: u64, at: u64, len: u64) -> Result<()> {
    let (mut done, mut buffer) = (0u64, Vec::new());
    while done < len {
        let step = len.saturating_sub(done).min(COPY_LEN);
        buffer.resize(usize::try_from(step).unwrap_or(0), 0);
        to.old()
            .read_exact_at(from.saturating_add(done), &mut buffer)?;
        to.write(at.saturating_add(done), &buffer)?;
        done = done.saturating_add(step);
    }
    Ok(())
}

fn len_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
