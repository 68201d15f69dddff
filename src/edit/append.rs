//! [`Appender`]: data behind the content of a file.

use super::file_state::Frame;
use super::preamble::{self, NewMetadata, counted};
use super::rewrite::{Beginning, Rewrite};
use super::{Editor, EditorBuilder};
use crate::encoder::{Sink, Stage};
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::{Change, Disk, Folder, JournaledFile};
use bloscpack_wire::{
    FormatVersion, Header, Metadata, NumpyArray, Offsets, offsets::ENTRY_LEN, with_shape,
};
use std::io::{self, Read, Write};
use std::ops::Range;

/// Appends to the content of a file; made by [`Editor::append`].
///
/// The last chunk is filled up and new ones are added. Until [`finish`](Self::finish) the file
/// stays as it was to everybody who reads it; without `finish`, nothing has happened.
pub struct Appender<'a, F: Folder = Disk> {
    stage: Stage,
    sink: AppendSink<'a, F>,
    frame: &'a mut Frame,
    options: &'a EditorBuilder,
    chunk_size: u32,
    /// Chunks that stay as they are.
    kept: u64,
    /// Uncompressed bytes that were there.
    old_len: u64,
    /// Bytes of the last chunk, which is written anew with what is appended.
    refilled: u64,
    /// What the metadata is to be, if the caller says so.
    metadata: Option<NewMetadata>,
}

pub(super) struct AppendSink<'a, F: Folder> {
    pub change: Change<'a, F>,
    pub at: u64,
    pub starts: Vec<u64>,
}

impl<F: Folder> Sink for AppendSink<'_, F> {
    fn put(&mut self, chunks: &[u8], ends: &[usize]) -> Result<()> {
        self.change.put(self.at, chunks)?;
        let mut start = self.at;
        for end in ends {
            self.starts.push(start);
            let end = u64::try_from(*end).unwrap_or(u64::MAX);
            start = self.at.saturating_add(end);
        }
        self.at = start;
        Ok(())
    }
}

impl<F: Folder> Editor<F> {
    /// Begins to append.
    ///
    /// Codec, level, filter and typesize are those of the file, unless the
    /// [builder](Editor::builder) was told otherwise. If the table of offsets runs out of room, or
    /// there is a stream's end mark in the way, the file is replaced by a new one with room for
    /// more; that needs space for both. In a V3 file with offsets, what is appended lies behind
    /// the content from the start, where readers pass over it; elsewhere it goes through the
    /// journal.
    ///
    /// # Errors
    /// Those of the file; a last chunk that is damaged, since it would get a new digest.
    pub fn append(&mut self) -> Result<Appender<'_, F>> {
        self.begin_append().writing()
    }

    fn begin_append(&mut self) -> Result<Appender<'_, F>> {
        self.held.check()?;
        let (recipe, chunk_size) = (self.recipe()?, self.chunk_size()?);
        let (kept, at, refill) = match self.chunks().checked_sub(1) {
            None => (0, self.frame.end, Vec::new()),
            Some(last) => {
                let reader = self.reader();
                let spot = self.frame.index.spot(self.held.file(), last)?;
                let range = spot.map(|spot| spot.content).unwrap_or_default();
                if range.end.saturating_sub(range.start) == u64::from(chunk_size) {
                    (self.chunks(), self.frame.end, Vec::new())
                } else {
                    let (spot, bytes) = reader.compressed_chunk(last)?;
                    (
                        last,
                        spot.extent.position.byte,
                        reader.decoded(&spot, &bytes)?,
                    )
                }
            }
        };
        let old_len = self.content_len();
        let change = self.held.change(self.frame.free_from())?;
        let mut appender = Appender {
            stage: Stage::new(&recipe, chunk_size, None)?,
            sink: AppendSink {
                change,
                at,
                starts: Vec::new(),
            },
            frame: &mut self.frame,
            options: &self.options,
            chunk_size,
            kept,
            old_len,
            refilled: u64::try_from(refill.len()).unwrap_or(u64::MAX),
            metadata: None,
        };
        appender.write_all(&refill)?;
        Ok(appender)
    }
}

impl<F: Folder> Appender<'_, F> {
    /// Appends all that the reader has; returns how many bytes that was.
    ///
    /// # Errors
    /// Those of the reader and of the file.
    pub fn read_from<R: Read>(&mut self, mut reader: R) -> Result<u64> {
        self.stage.read_from(&mut reader, &mut self.sink).writing()
    }

    /// Replaces the metadata, too, by the same change. That of a NumPy array is then not made to
    /// fit what is appended: what this says stands.
    ///
    /// # Errors
    /// As for [`Editor::set_metadata`].
    pub fn set_metadata(&mut self, metadata: &Metadata) -> Result<()> {
        let is_same = self.frame.head.metadata.as_ref() == Some(metadata);
        self.metadata = Some(if is_same {
            NewMetadata::Same
        } else {
            NewMetadata::of(self.frame, metadata, self.options)?
        });
        Ok(())
    }

    /// Bytes appended so far.
    pub fn total_in(&self) -> u64 {
        self.stage.total_in().saturating_sub(self.refilled)
    }

    /// Makes what was appended part of the file, and returns how many bytes it were. When this
    /// returns, a power cut does not undo it.
    ///
    /// # Errors
    /// Those of the file; [`ResourceBusy`](io::ErrorKind::ResourceBusy) if readers do not let go of
    /// it within the [patience](EditorBuilder::patience) of the editor, which should be long where
    /// what was appended cannot be had again; [`Usage`](bloscpack_error::Category::Usage) if the file holds a
    /// NumPy array, and what was appended are no whole rows of it. The file is then as it was.
    pub fn finish(self) -> Result<u64> {
        self.commit().writing()
    }

    fn commit(mut self) -> Result<u64> {
        let appended = self.total_in();
        match self.metadata.take() {
            None | Some(NewMetadata::Same) if appended == 0 => return Ok(0),
            // A last chunk longer than the others may have been cut up, and is no longer there.
            Some(metadata) if appended == 0 && self.sink.starts.is_empty() => {
                super::metadata::replace(self.sink.change, self.frame, metadata, self.options)?;
                return Ok(0);
            }
            metadata => self.metadata = metadata,
        }
        self.stage.finish(true, &mut self.sink)?;
        let header = self.header();
        let metadata = match self.metadata.take() {
            Some(metadata) => metadata,
            None => self.grown_metadata(appended)?,
        };
        let Self {
            sink,
            frame,
            options,
            kept,
            ..
        } = self;
        sink.finish(frame, kept, (header, metadata), options)?;
        Ok(appended)
    }

    /// The header with all chunks counted.
    fn header(&self) -> Header {
        let new = u64::try_from(self.sink.starts.len()).unwrap_or(u64::MAX);
        let before = new.saturating_sub(1).saturating_mul(self.chunk_size.into());
        let last = self.stage.total_in().saturating_sub(before);
        let last = u32::try_from(last).unwrap_or(self.chunk_size);
        let chunks = self.kept.saturating_add(new);
        counted(&self.frame.head.header, chunks, self.chunk_size, last)
    }

    /// The metadata of an array, with its new shape.
    fn grown_metadata(&self, appended: u64) -> Result<NewMetadata> {
        let Some(metadata) = &self.frame.head.metadata else {
            return Ok(NewMetadata::Same);
        };
        let Some(array) = NumpyArray::of(metadata)? else {
            return Ok(NewMetadata::Same);
        };
        // Other tools append without a word to the shape, which is put right here, too.
        let content = self.old_len.saturating_add(appended);
        let added = content.checked_sub(array.content_len()).ok_or_else(|| {
            let (shape, there) = (array.content_len(), self.old_len);
            Error::usage(format!(
                "the array's shape is of {shape} bytes, but there are only {there}: set its metadata first"
            ))
        })?;
        let shape = array.grown(added).map_err(Error::usage)?;
        let metadata = with_shape(metadata, &shape)?;
        NewMetadata::of(self.frame, &metadata, self.options)
    }
}

/// The header, whose chunks are counted but not yet its spare offsets, if all that it counts has room
/// in the file as it is.
fn in_place(header: &Header, frame: &Frame, metadata: &NewMetadata) -> Option<Header> {
    if frame.is_stream || matches!(metadata, NewMetadata::Moved(..)) {
        return None;
    }
    let Some(entries) = frame.head.header.table_len() else {
        return Some(header.clone());
    };
    let spare = entries.checked_sub(header.nchunks?)?;
    let has_spares = header.layout == FormatVersion::V3;
    (has_spares || spare == 0).then(|| Header {
        max_app_chunks: spare,
        ..header.clone()
    })
}

impl<'a, F: Folder> AppendSink<'a, F> {
    /// Makes the change, behind as many chunks as are kept, with a header that counts all of them.
    pub(super) fn finish(
        self,
        frame: &mut Frame,
        kept: u64,
        (header, metadata): (Header, NewMetadata),
        options: &EditorBuilder,
    ) -> Result<()> {
        let held = match in_place(&header, frame, &metadata) {
            Some(header) => self.make(frame, kept, header, &metadata)?,
            None => {
                let what = (header, metadata);
                self.rewrite(frame, kept, what, options.max_app_chunks)?
            }
        };
        frame.renew(held, &options.limits)
    }

    /// Makes the change in the file as it is.
    fn make(
        mut self,
        frame: &Frame,
        kept: u64,
        header: Header,
        metadata: &NewMetadata,
    ) -> Result<&'a mut JournaledFile<F>> {
        if header.offsets {
            let (from, starts) = if frame.is_indexed {
                (kept, self.starts)
            } else {
                (0, self.all_starts(frame, kept)?)
            };
            let table_at = frame.geometry.table_at;
            let at = table_at.saturating_add(from.saturating_mul(ENTRY_LEN));
            self.change.put(at, &Offsets::encode(&starts, 0))?;
        }
        preamble::put(&mut self.change, frame, header, metadata)?;
        Ok(self.change.commit(self.at)?)
    }

    fn all_starts(&self, frame: &Frame, kept: u64) -> Result<Vec<u64>> {
        let kept = usize::try_from(kept).unwrap_or(usize::MAX);
        let extents = frame.extents(&self.change)?;
        let old = extents.iter().take(kept).map(|extent| extent.start);
        Ok(old.chain(self.starts.iter().copied()).collect())
    }

    /// Writes a new file with a larger table.
    fn rewrite(
        self,
        frame: &Frame,
        kept: u64,
        (header, metadata): (Header, NewMetadata),
        max_app_chunks: Option<u64>,
    ) -> Result<&'a mut JournaledFile<F>> {
        let kept = usize::try_from(kept).unwrap_or(usize::MAX);
        let mut extents = frame.extents(&self.change)?;
        extents.truncate(kept);
        extents.extend(self.new_extents());
        let old = (&self.change, header);
        let beginning = Beginning::of(frame, old, metadata, max_app_chunks)?;
        let mut rewrite = Rewrite::begin(self.change, beginning)?;
        for extent in &extents {
            rewrite.copy(extent)?;
        }
        rewrite.finish()
    }

    fn new_extents(&self) -> Vec<Range<u64>> {
        let ends = self.starts.iter().skip(1).chain([&self.at]);
        let extents = self.starts.iter().zip(ends);
        extents.map(|(from, to)| *from..*to).collect()
    }
}

impl<F: Folder> Write for Appender<'_, F> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if data.is_empty() {
            return Ok(0);
        }
        Ok(self.stage.write(data, &mut self.sink)?)
    }

    /// Hands on all full chunks; nothing of it is in the file before [`finish`](Self::finish).
    fn flush(&mut self) -> io::Result<()> {
        Ok(self.stage.flush(&mut self.sink)?)
    }
}

impl<F: Folder> std::fmt::Debug for Appender<'_, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Appender")
            .field("total_in", &self.total_in())
            .finish_non_exhaustive()
    }
}
