//! [`Rewrite`]: writes a new file in place of the old one, for a change that does not fit.

use super::file_state::FileState;
use super::preamble::{NewMetadata, sealed};
use crate::encoder::default_spare;
use bloscpack_error::checked::{in_memory, len_of, slice, slice_mut, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Change, Folder, JournaledFile, ReadAt, Replacement};
use bloscpack_wire::{FormatVersion, Geometry, Header, Offsets, internal::ENTRY_LEN};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

/// Bytes copied at once.
const COPY_LEN: u64 = 1 << 20;

/// The parts before the chunks of a new file.
pub(super) struct NewPreamble {
    header: Header,
    metadata: Vec<u8>,
    geometry: Geometry,
}

/// Writes the new file, chunk by chunk.
pub(super) struct Rewrite<'a, F: Folder> {
    replacement: Replacement<'a, F>,
    preamble: NewPreamble,
    at: u64,
    starts: Vec<u64>,
    /// The range of the old file to copy next.
    run: Range<u64>,
    buffer: Vec<u8>,
}

impl NewPreamble {
    /// The parts with this header, which counts the chunks. The offset table of V3 gets spare entries.
    pub(super) fn of<S: ReadAt>(
        state: &FileState,
        (file, mut header): (&S, Header),
        metadata: NewMetadata,
        max_app_chunks: Option<u64>,
    ) -> Result<Self> {
        let metadata = match metadata {
            NewMetadata::InPlace(bytes) => bytes,
            NewMetadata::Moved(place, bytes) => {
                header.metadata = place;
                bytes
            }
            NewMetadata::Same => {
                let mut bytes = vec![0; in_memory(state.map.metadata_len())?];
                file.read_exact_at(state.map.geometry.metadata_at, &mut bytes)?;
                bytes
            }
        };
        // A stream gets the offset table that its writer could not fill in.
        header.offsets |= state.is_stream && header.version != FormatVersion::V1;
        if header.offsets && header.version == FormatVersion::V3 {
            let chunks = header.nchunks;
            let chunks = chunks.ok_or_else(|| Error::bug("a new file of unknown length"))?;
            header.max_app_chunks = max_app_chunks.unwrap_or_else(|| default_spare(chunks));
        }
        let geometry = Geometry::of(&header, to_u64(metadata.len()))?;
        Ok(Self {
            header,
            metadata,
            geometry,
        })
    }
}

impl<'a, F: Folder> Rewrite<'a, F> {
    pub(super) fn begin(change: Change<'a, F>, preamble: NewPreamble) -> Result<Self> {
        Ok(Self {
            replacement: change.into_replacement()?,
            at: preamble.geometry.chunks_at,
            preamble,
            starts: Vec::new(),
            run: 0..0,
            buffer: Vec::new(),
        })
    }

    /// Adds a chunk of the old file, including pending changes.
    pub(super) fn copy(&mut self, extent: &Range<u64>) -> Result<()> {
        if self.run.end != extent.start || self.run_len() >= COPY_LEN {
            self.flush()?;
            self.run = extent.start..extent.start;
        }
        self.starts.push(self.at + self.run_len());
        self.run.end = extent.end;
        Ok(())
    }

    fn run_len(&self) -> u64 {
        len_of(&self.run)
    }

    /// Adds a chunk from the journal.
    pub(super) fn put(&mut self, staged: &Range<u64>) -> Result<()> {
        self.flush()?;
        self.starts.push(self.at);
        let mut chunk = std::mem::take(&mut self.buffer);
        self.replacement.old().read_staged(staged, &mut chunk)?;
        self.write(&chunk)?;
        self.buffer = chunk;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.replacement.write(self.at, bytes)?;
        self.at += to_u64(bytes.len());
        Ok(())
    }

    /// Copies the pending range.
    fn flush(&mut self) -> Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        while self.run.start < self.run.end {
            let step = self.run_len().min(COPY_LEN);
            buffer.resize(in_memory(step)?, 0);
            self.replacement
                .old()
                .read_exact_at(self.run.start, &mut buffer)?;
            self.write(&buffer)?;
            self.run.start += step;
        }
        self.buffer = buffer;
        Ok(())
    }

    /// Writes the parts before the chunks, and replaces the old file.
    ///
    /// # Errors
    /// Returns any error of the file, and a bug if the header does not count the chunks that were written.
    pub(super) fn finish(mut self) -> Result<&'a mut JournaledFile<F>> {
        self.flush()?;
        let NewPreamble {
            header,
            metadata,
            geometry,
        } = &self.preamble;
        let (counted, written) = (header.nchunks, to_u64(self.starts.len()));
        if counted != Some(written) {
            let why = format!("a header for {counted:?} chunks, where {written} were written");
            return Err(Error::bug(why));
        }
        let mut front = vec![0; header.version.header_len()];
        front.extend_from_slice(metadata);
        if header.offsets {
            front.extend_from_slice(&Offsets::encode(&self.starts)?);
        }
        let chunks_at = geometry.chunks_at;
        let header = sealed(header.clone(), &front, chunks_at)?;
        slice_mut(&mut front, 0..header.len())?.copy_from_slice(&header);
        self.replacement.write(0, &front)?;
        self.leave_spare(to_u64(front.len())..chunks_at)?;
        Ok(self.replacement.commit()?)
    }

    /// Writes the spare offsets into the rest of the room before the chunks.
    fn leave_spare(&self, mut room: Range<u64>) -> Result<()> {
        if room.start > room.end {
            let why = format!("{} bytes before the chunks at {}", room.start, room.end);
            return Err(Error::bug(why));
        }
        let count = len_of(&room).min(COPY_LEN).div_ceil(ENTRY_LEN);
        let entries = Offsets::UNFILLED_ENTRY.repeat(in_memory(count)?);
        while room.start < room.end {
            let step = len_of(&room).min(to_u64(entries.len()));
            let piece = slice(&entries, 0..in_memory(step)?)?;
            self.replacement.write(room.start, piece)?;
            room.start += step;
        }
        Ok(())
    }
}

/// Writes a new file with this metadata and the same number of chunks. A chunk that is staged in the journal replaces the old
/// one with its number; the others are copied.
pub(super) fn all<'a, F: Folder>(
    change: Change<'a, F>,
    state: &FileState,
    (metadata, staged): (NewMetadata, &BTreeMap<u64, Range<u64>>),
    max_app_chunks: Option<u64>,
) -> Result<&'a mut JournaledFile<F>> {
    let extents = state.extents(&change)?;
    let header = state.closed_header(&change)?;
    let spare = state.spare_or(max_app_chunks);
    let preamble = NewPreamble::of(state, (&change, header), metadata, spare)?;
    let mut rewrite = Rewrite::begin(change, preamble)?;
    for (number, extent) in (0..).zip(&extents) {
        match staged.get(&number) {
            Some(chunk) => rewrite.put(chunk)?,
            None => rewrite.copy(extent)?,
        }
    }
    rewrite.finish()
}
