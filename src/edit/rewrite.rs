//! [`Rewrite`]: a new file in place of the old one, where a change does not fit.

use super::file_state::Frame;
use super::preamble::{NewMetadata, sealed};
use crate::encoder::default_spare;
use bloscpack_error::Result;
use bloscpack_storage::{Change, Folder, JournaledFile, ReadAt, Replacement};
use bloscpack_wire::{FormatVersion, Geometry, Header, Offsets, offsets::ENTRY_LEN};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

/// Bytes copied at once.
const COPY_LEN: u64 = 1 << 20;

/// What a new file begins with.
pub(super) struct Beginning {
    header: Header,
    metadata: Vec<u8>,
    geometry: Geometry,
}

/// Writes the new file, chunk by chunk.
pub(super) struct Rewrite<'a, F: Folder> {
    replacement: Replacement<'a, F>,
    beginning: Beginning,
    at: u64,
    starts: Vec<u64>,
    /// A stretch of the old file that is to be copied next.
    run: Range<u64>,
    buffer: Vec<u8>,
}

impl Beginning {
    /// With this header, which counts the chunks; a table gets spare offsets.
    pub(super) fn of<S: ReadAt>(
        frame: &Frame,
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
                let len = usize::try_from(frame.head.metadata_len).unwrap_or(usize::MAX);
                let mut bytes = vec![0; len];
                file.read_exact_at(frame.geometry.metadata_at, &mut bytes)?;
                bytes
            }
        };
        // A stream gets the offsets that it could not have.
        header.offsets |= frame.is_stream && header.layout != FormatVersion::V1;
        if header.offsets && header.layout == FormatVersion::V3 {
            let chunks = header.nchunks.unwrap_or(0);
            header.max_app_chunks = max_app_chunks.unwrap_or_else(|| default_spare(chunks));
        }
        let metadata_len = u64::try_from(metadata.len()).unwrap_or(u64::MAX);
        let geometry = Geometry::of(&header, metadata_len)?;
        Ok(Self {
            header,
            metadata,
            geometry,
        })
    }
}

impl<'a, F: Folder> Rewrite<'a, F> {
    pub(super) fn begin(change: Change<'a, F>, beginning: Beginning) -> Result<Self> {
        Ok(Self {
            replacement: change.into_replacement()?,
            at: beginning.geometry.chunks_at,
            beginning,
            starts: Vec::new(),
            run: 0..0,
            buffer: Vec::new(),
        })
    }

    /// The next chunk is that of the old file here, with what has been put into it.
    pub(super) fn copy(&mut self, extent: &Range<u64>) -> Result<()> {
        if self.run.end != extent.start || self.run_len() >= COPY_LEN {
            self.flush()?;
            self.run = extent.start..extent.start;
        }
        self.starts.push(self.at.saturating_add(self.run_len()));
        self.run.end = extent.end;
        Ok(())
    }

    fn run_len(&self) -> u64 {
        self.run.end.saturating_sub(self.run.start)
    }

    /// The next chunk is this one, from the journal.
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
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.at = self.at.saturating_add(len);
        Ok(())
    }

    /// Copies the stretch that is to be copied.
    fn flush(&mut self) -> io::Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        while self.run.start < self.run.end {
            let step = self.run_len().min(COPY_LEN);
            buffer.resize(usize::try_from(step).unwrap_or(0), 0);
            self.replacement
                .old()
                .read_exact_at(self.run.start, &mut buffer)?;
            self.write(&buffer)?;
            self.run.start = self.run.start.saturating_add(step);
        }
        self.buffer = buffer;
        Ok(())
    }

    /// Writes what stands before the chunks, and puts the new file in the place of the old one.
    pub(super) fn finish(mut self) -> Result<&'a mut JournaledFile<F>> {
        self.flush()?;
        let Beginning {
            header, metadata, ..
        } = &self.beginning;
        let mut front = vec![0; header.layout.header_len()];
        front.extend_from_slice(metadata);
        if header.offsets {
            front.extend_from_slice(&Offsets::encode(&self.starts, 0));
        }
        let chunks_at = self.beginning.geometry.chunks_at;
        let header = sealed(header.clone(), &front, chunks_at)?;
        if let Some(place) = front.get_mut(..header.len()) {
            place.copy_from_slice(&header);
        }
        self.replacement.write(0, &front)?;
        let spare_at = u64::try_from(front.len()).unwrap_or(chunks_at);
        self.leave_spare(spare_at..chunks_at)?;
        Ok(self.replacement.commit()?)
    }

    /// Writes the spare offsets.
    fn leave_spare(&self, mut room: Range<u64>) -> io::Result<()> {
        let step = room.end.saturating_sub(room.start).min(COPY_LEN);
        let entries = Offsets::encode(&[], step.div_ceil(ENTRY_LEN));
        while room.start < room.end {
            let left = room.end.saturating_sub(room.start);
            let left = usize::try_from(left).unwrap_or(usize::MAX);
            let piece = entries.get(..left).unwrap_or(&entries);
            self.replacement.write(room.start, piece)?;
            room.start = room.start.saturating_add(step);
        }
        Ok(())
    }
}

/// Writes a new file with this metadata and as many chunks: those in the journal that are staged for
/// a number, and the others as they are.
pub(super) fn all<'a, F: Folder>(
    change: Change<'a, F>,
    frame: &Frame,
    (metadata, staged): (NewMetadata, &BTreeMap<u64, Range<u64>>),
    max_app_chunks: Option<u64>,
) -> Result<&'a mut JournaledFile<F>> {
    let extents = frame.extents(&change)?;
    let header = frame.closed_header(&change)?;
    let spare = frame.spare_or(max_app_chunks);
    let beginning = Beginning::of(frame, (&change, header), metadata, spare)?;
    let mut rewrite = Rewrite::begin(change, beginning)?;
    for (number, extent) in (0..).zip(&extents) {
        match staged.get(&number) {
            Some(chunk) => rewrite.put(chunk)?,
            None => rewrite.copy(extent)?,
        }
    }
    rewrite.finish()
}
