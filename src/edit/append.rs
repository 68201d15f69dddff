//! [`Appender`]: appends to the content of a file.

use super::file_state::FileState;
use super::header::counted;
use super::metadata::check_array;
use super::preamble::{self, NewMetadata};
use super::rewrite::{NewPreamble, Rewrite};
use super::{Editor, EditorBuilder};
use crate::encoder::{ChunkSink, Chunker, Total, check_table, last_chunk_len};
use crate::npy;
use bloscpack_error::checked::{in_memory, len_of, to_u64};
use bloscpack_error::{Code, Error, IoSide, Result, Side};
use bloscpack_storage::{Change, Disk, Folder, JournaledFile, ReadAt};
use bloscpack_wire::{
    FormatVersion, Header, Metadata, NumpyArray, Offsets, internal::ENTRY_LEN, with_shape,
};
use std::io::{self, Read, Write};
use std::ops::Range;

/// Appends to the content of a file; created by [`Editor::append`].
///
/// It fills up the last chunk and adds new ones. Until [`finish`](Self::finish) every reader sees the old content; an appender
/// that is dropped without `finish` changes nothing. Data, new metadata and the new shape of a NumPy array are one atomic
/// change.
///
/// Appended data is compressed on the [threads](crate::Options::threads) of the editor's options. Memory is as for an
/// [`Encoder`](crate::Encoder), plus 8 bytes for each new chunk.
///
/// ```
/// use bloscpack::{storage::Memory, edit::Editor};
/// use std::io::Write;
/// let folder = Memory::from([("a.blp", bloscpack::compress(b"one")?)]);
/// let mut editor = Editor::open_in(folder, "a.blp".as_ref())?;
///
/// let mut dropped = editor.append()?;
/// dropped.write_all(b" two")?;
/// drop(dropped);
/// assert_eq!(editor.content_len(), 3);
///
/// let mut appender = editor.append()?;
/// assert_eq!(appender.read_from(&b" two"[..])?, 4);
/// appender.finish()?;
/// assert_eq!(editor.content_len(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Appender<'a, F: Folder = Disk> {
    chunker: Chunker,
    sink: AppendSink<'a, F>,
    state: &'a mut FileState,
    builder: &'a EditorBuilder,
    /// Number of chunks that are not changed.
    kept: u64,
    /// Uncompressed bytes before the append.
    old_len: u64,
    /// Uncompressed bytes of the last chunk, which is written again with the appended data.
    refilled: u64,
    /// The new metadata, if the caller has changed it.
    metadata: Option<Metadata>,
    /// Whether it is used unchanged: a shape in it does not grow.
    is_final: bool,
}

/// Writes chunks after the kept ones.
pub(super) struct AppendSink<'a, F: Folder> {
    pub change: Change<'a, F>,
    /// Where the next chunk begins.
    pub at: u64,
    pub starts: Vec<u64>,
    /// Bytes of the chunks so far.
    pub len: u64,
}

impl<F: Folder> ChunkSink for AppendSink<'_, F> {
    fn put(&mut self, chunks: &[u8], ends: &[usize]) -> Result<()> {
        self.change.put(self.at, chunks)?;
        let mut start = self.at;
        for end in ends {
            self.starts.push(start);
            start = self.at + to_u64(*end);
        }
        self.at += to_u64(chunks.len());
        self.len += to_u64(chunks.len());
        if start != self.at {
            let at = self.at;
            let why = format!("chunks that end at {start}, where bytes were written up to {at}");
            return Err(Error::bug(why));
        }
        Ok(())
    }
}

impl<F: Folder> Editor<F> {
    /// Begins to append.
    ///
    /// Compressor, filter and typesize are taken from the file, and the level is the compressor's default, unless the
    /// [builder](Editor::builder) sets them. In a V3 file with a filled offset table, the appended data is written directly
    /// after the content, where readers ignore it; otherwise it goes through the journal. If the offset table has no room for
    /// the new chunks, or if the file is a stream with an end mark, the file is replaced by a new one with more room, which
    /// needs disk space for both.
    ///
    /// # Errors
    /// Returns any error of the file, and the error of a damaged last chunk that is not full: it would otherwise be stored
    /// again with a valid digest.
    pub fn append(&mut self) -> Result<Appender<'_, F>> {
        self.begin_append().writing()
    }

    /// Determines where new chunks begin. If the last chunk is not full, its content is written again before the new data.
    fn begin_append(&mut self) -> Result<Appender<'_, F>> {
        self.held.check()?;
        let (options, chunk_size) = (self.chunk_options()?, self.chunk_size()?);
        let (kept, at, refill) = match self.chunks().checked_sub(1) {
            None => (0, self.state.end, Vec::new()),
            Some(last) => {
                let span = self.state.index.span(self.held.file(), last)?;
                let span = span.ok_or_else(|| Error::bug(format!("chunk {last} is missing")))?;
                if len_of(&span.content) == u64::from(chunk_size) {
                    (self.chunks(), self.state.end, Vec::new())
                } else {
                    let reader = self.reader();
                    let (span, bytes) = reader.compressed_chunk(last)?;
                    let data = reader.decoded(&span, &bytes)?;
                    (last, span.extent.position.byte, data)
                }
            }
        };
        let old_len = self.content_len();
        let change = self.held.change(self.state.free_from())?;
        let mut appender = Appender {
            chunker: Chunker::new(&options, chunk_size, None)?,
            sink: AppendSink {
                change,
                at,
                starts: Vec::new(),
                len: 0,
            },
            state: &mut self.state,
            builder: &self.builder,
            kept,
            old_len,
            refilled: to_u64(refill.len()),
            metadata: None,
            is_final: false,
        };
        appender.write_all(&refill)?;
        Ok(appender)
    }
}

impl<F: Folder> Appender<'_, F> {
    /// Appends everything from the reader, and returns its length in bytes.
    ///
    /// # Errors
    /// Returns any error of the reader, on [`Side::Source`](bloscpack_error::Side::Source), and of the file, on
    /// [`Side::Target`](bloscpack_error::Side::Target).
    pub fn read_from<R: Read>(&mut self, mut reader: R) -> Result<u64> {
        self.chunker
            .read_from(&mut reader, &mut self.sink)
            .writing()
    }

    /// Appends the elements of a `.npy` file to a file that contains a NumPy array, and returns their length in bytes. The
    /// arrays must have the same dtype, the same order of elements, and rows of the same shape; the array grows along its first
    /// axis, or in Fortran order along its last.
    ///
    /// ```
    /// use bloscpack::{Encoder, Metadata, dtype::npy::NpyHeader, edit::Editor, storage::Memory};
    /// use std::io::{Cursor, Write};
    /// let array = r#"{"dtype": "'|u1'", "shape": [3], "order": "C", "container": "numpy"}"#;
    /// let options = Encoder::builder().metadata(Metadata::from_json(array)?);
    /// let mut encoder = options.write_to_file(Cursor::new(Vec::new()))?;
    /// encoder.write_all(&[1, 2, 3])?;
    /// let folder = Memory::from([("a.blp", encoder.finish()?.into_inner())]);
    ///
    /// let dtype = bloscpack::dtype::DType::parse("|u1")?;
    /// let header = NpyHeader { dtype, fortran_order: false, shape: vec![2] };
    /// let mut npy = header.encode()?;
    /// npy.extend([4, 5]);
    /// let mut editor = Editor::open_in(folder, "a.blp".as_ref())?;
    /// let mut appender = editor.append()?;
    /// appender.read_npy_from(npy.as_slice())?;
    /// appender.finish()?;
    /// assert_eq!(editor.reader().read_chunk(0)?, [1, 2, 3, 4, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`read_from`](Self::read_from), and an error for a damaged or unsupported `.npy` file:
    /// [`Code::CutShort`] or [`Code::Trailing`] if its length does not fit its header. Returns
    /// [`Usage`](bloscpack_error::Category::Usage) if the file contains no array, or one of another dtype, with rows of another
    /// shape, or in another order.
    pub fn read_npy_from<R: Read>(&mut self, mut reader: R) -> Result<u64> {
        let described = self.state.map.metadata.as_ref().map(npy::described);
        let array = described.transpose()?.flatten();
        let array = array.ok_or_else(|| Error::usage("the metadata describes no NumPy array"))?;
        let header = npy::read_header(&mut reader).map_err(|error| error.on(Side::Source))?;
        npy::check_rows(&array, &header)?;
        let expected = header.content_len();
        let expected = expected.ok_or_else(|| Error::bug("a .npy header of 2^64 bytes"))?;
        // One byte more than expected reveals trailing bytes.
        let found = self.read_from(reader.take(expected.saturating_add(1)))?;
        if found == expected {
            return Ok(found);
        }
        Err(if found < expected {
            Error::new(
                Code::CutShort,
                format!("the .npy file ends after {found} of {expected} bytes of elements"),
            )
        } else {
            Error::new(Code::Trailing, "bytes follow the elements of the .npy file")
        })
    }

    /// Replaces all metadata in the same change. The metadata is used unchanged: a NumPy array in it must have the shape after
    /// the append.
    ///
    /// # Errors
    /// Returns the same errors as [`Editor::set_metadata`]. The length of an array is checked by [`finish`](Self::finish).
    pub fn set_metadata(&mut self, metadata: &Metadata) -> Result<()> {
        NewMetadata::of(self.state, metadata, self.builder)?;
        (self.metadata, self.is_final) = (Some(metadata.clone()), true);
        Ok(())
    }

    /// Merges metadata into the metadata of the file, in the same change, as [`Editor::merge_metadata`]. The shape of a NumPy
    /// array grows with the appended data.
    ///
    /// # Errors
    /// Returns the same errors as [`Editor::merge_metadata`].
    pub fn merge_metadata(&mut self, others: &Metadata) -> Result<()> {
        let merged = self.state.merged(others)?;
        NewMetadata::of(self.state, &merged, self.builder)?;
        (self.metadata, self.is_final) = (Some(merged), false);
        Ok(())
    }

    /// Uncompressed bytes appended so far.
    pub fn total_in(&self) -> u64 {
        self.chunker.total_in() - self.refilled
    }

    /// Makes the appended data part of the file, and returns its length in bytes. After it has returned, the data is on disk:
    /// a power cut does not undo the append. Without data and new metadata, it changes nothing.
    ///
    /// # Errors
    /// Returns any error of the file; [`ResourceBusy`](io::ErrorKind::ResourceBusy) if readers hold the file for longer than
    /// the [lock timeout](crate::Options::lock_timeout) of the editor, which should be long if the data cannot be produced
    /// again; [`Usage`](bloscpack_error::Category::Usage) if the file contains a NumPy array and the data does not consist of
    /// whole rows, or if new metadata describes an array of another length; and
    /// [`OverLimit`](bloscpack_error::Category::OverLimit) for more chunks than the limits allow in an offset table. The file
    /// is then unchanged. After [`Committed`](bloscpack_error::Category::Committed), the append is permanent.
    pub fn finish(self) -> Result<u64> {
        self.commit().writing()
    }

    /// Compresses the rest and commits header, metadata, offsets and chunks. Returns the number of appended bytes.
    fn commit(mut self) -> Result<u64> {
        let appended = self.total_in();
        if appended == 0 && self.metadata.as_ref().is_none_or(|new| self.is_old(new)) {
            return Ok(0);
        }
        let metadata = self.new_metadata(appended)?;
        // If chunks were written although nothing was appended, they replace a last chunk that was longer than the others.
        if appended == 0 && self.sink.starts.is_empty() {
            super::metadata::replace(self.sink.change, self.state, metadata, self.builder)?;
            return Ok(0);
        }
        self.chunker.finish(true, &mut self.sink)?;
        let header = self.header()?;
        let Self {
            sink,
            state,
            builder,
            kept,
            ..
        } = self;
        sink.finish(state, kept, (header, metadata), builder)?;
        Ok(appended)
    }

    /// The header with all chunks counted.
    fn header(&self) -> Result<Header> {
        let new = Total {
            chunks: to_u64(self.sink.starts.len()),
            amount: self.chunker.total_in(),
        };
        let chunk_size = self.chunker.chunk_size()?;
        let last = last_chunk_len(new, chunk_size)?;
        let chunks = self.kept + new.chunks;
        let header = &self.state.map.header;
        Ok(counted(header, chunks, chunk_size, last))
    }

    /// Whether this is the current metadata of the file.
    fn is_old(&self, metadata: &Metadata) -> bool {
        self.state.map.metadata.as_ref() == Some(metadata)
    }

    /// The metadata after this number of bytes has been appended.
    fn new_metadata(&self, appended: u64) -> Result<NewMetadata> {
        let own = self.metadata.as_ref().or(self.state.map.metadata.as_ref());
        let Some(own) = own else {
            return Ok(NewMetadata::Same);
        };
        let content = self.old_len + appended;
        // An array of an unknown dtype cannot grow, but its metadata may be replaced.
        let is_kept = self.is_final || (appended == 0 && NumpyArray::of(own).is_err());
        let grown = if is_kept {
            None
        } else {
            self.grown(own, content)?
        };
        let new = grown.as_ref().unwrap_or(own);
        if self.is_old(new) {
            return Ok(NewMetadata::Same);
        }
        check_array(new, content)?;
        NewMetadata::of(self.state, new, self.builder)
    }

    /// The metadata of an array, with the shape for this number of bytes of content.
    fn grown(&self, metadata: &Metadata, content: u64) -> Result<Option<Metadata>> {
        let Some(array) = NumpyArray::of(metadata)? else {
            return Ok(None);
        };
        // Other tools append without changing the shape: this corrects it as well.
        let added = content.checked_sub(array.content_len()).ok_or_else(|| {
            let (shape, there) = (array.content_len(), self.old_len);
            Error::usage(format!(
                "the array's shape has {shape} bytes, but the file contains only {there}; replace its metadata first"
            ))
        })?;
        let shape = array.grown(added).map_err(Error::usage)?;
        Ok(Some(with_shape(metadata, &shape)?))
    }
}

/// The header with the right number of spare offsets, if the file has room for all chunks that it counts. Returns `None` if a
/// new file is needed.
fn in_place(header: &Header, state: &FileState, metadata: &NewMetadata) -> Option<Header> {
    if state.is_stream || matches!(metadata, NewMetadata::Moved(..)) {
        return None;
    }
    let Some(entries) = state.map.header.table_len() else {
        return Some(header.clone());
    };
    let spare = entries.checked_sub(header.nchunks?)?;
    let has_spares = header.version == FormatVersion::V3;
    (has_spares || spare == 0).then(|| Header {
        max_app_chunks: spare,
        ..header.clone()
    })
}

impl<'a, F: Folder> AppendSink<'a, F> {
    /// Commits the change: the kept chunks, the new ones, and a header that counts all of them.
    pub(super) fn finish(
        self,
        state: &mut FileState,
        kept: u64,
        (header, metadata): (Header, NewMetadata),
        builder: &EditorBuilder,
    ) -> Result<()> {
        self.check_kept(state, kept)?;
        let chunks = header.nchunks.filter(|_| header.offsets || state.is_stream);
        check_table(chunks.unwrap_or(0), &builder.options.limits)?;
        let held = match in_place(&header, state, &metadata) {
            Some(header) => self.make(state, kept, header, &metadata)?,
            None => {
                let what = (header, metadata);
                self.rewrite(state, kept, what, builder.max_app_chunks)?
            }
        };
        state.renew(held, builder)
    }

    /// Checks that the new chunks directly follow the kept ones.
    fn check_kept(&self, state: &FileState, kept: u64) -> Result<()> {
        let begin = self.starts.first().copied().unwrap_or(self.at);
        let replaced = state.index.extent(&self.change, kept)?;
        let end = match replaced {
            Some(replaced) => replaced.position.byte,
            None => state.end,
        };
        let is_gapless = begin == end && begin + self.len == self.at;
        if kept <= state.index.chunks() && is_gapless {
            return Ok(());
        }
        let (len, at) = (self.len, self.at);
        let why = format!(
            "{len} bytes of new chunks at {begin} to {at}, where {kept} chunks end at {end}"
        );
        Err(Error::bug(why))
    }

    /// Commits the change in place.
    fn make(
        mut self,
        state: &FileState,
        kept: u64,
        header: Header,
        metadata: &NewMetadata,
    ) -> Result<&'a mut JournaledFile<F>> {
        if header.offsets {
            let (from, starts) = if state.is_indexed {
                (kept, self.starts)
            } else {
                (0, self.all_starts(state, kept)?)
            };
            // The table has room for all entries, so the position is within the file.
            let at = state.map.geometry.table_at + from * ENTRY_LEN;
            self.change.put(at, &Offsets::encode(&starts)?)?;
        }
        preamble::put(&mut self.change, state, header, metadata)?;
        Ok(self.change.commit(self.at)?)
    }

    /// The positions of all chunks, for an offset table that was not filled in before.
    fn all_starts(&self, state: &FileState, kept: u64) -> Result<Vec<u64>> {
        let old = kept_extents(state, &self.change, kept)?;
        let old = old.iter().map(|extent| extent.start);
        Ok(old.chain(self.starts.iter().copied()).collect())
    }

    /// Writes a new file with a larger offset table.
    fn rewrite(
        self,
        state: &FileState,
        kept: u64,
        (header, metadata): (Header, NewMetadata),
        max_app_chunks: Option<u64>,
    ) -> Result<&'a mut JournaledFile<F>> {
        let mut extents = kept_extents(state, &self.change, kept)?;
        extents.extend(self.new_extents());
        let old = (&self.change, header);
        let beginning = NewPreamble::of(state, old, metadata, max_app_chunks)?;
        let mut rewrite = Rewrite::begin(self.change, beginning)?;
        for extent in &extents {
            rewrite.copy(extent)?;
        }
        rewrite.finish()
    }

    /// The ranges of the new chunks.
    fn new_extents(&self) -> Vec<Range<u64>> {
        let ends = self.starts.iter().skip(1).chain([&self.at]);
        let extents = self.starts.iter().zip(ends);
        extents.map(|(from, to)| *from..*to).collect()
    }
}

/// The ranges of the kept chunks.
fn kept_extents<S: ReadAt>(state: &FileState, file: &S, kept: u64) -> Result<Vec<Range<u64>>> {
    let mut extents = state.extents(file)?;
    let kept = in_memory(kept)?;
    if extents.len() < kept {
        let found = extents.len();
        let why = format!("{found} chunks, of which {kept} are to stay");
        return Err(Error::bug(why));
    }
    extents.truncate(kept);
    Ok(extents)
}

impl<F: Folder> Write for Appender<'_, F> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if data.is_empty() {
            return Ok(0);
        }
        Ok(self.chunker.write(data, &mut self.sink)?)
    }

    /// Compresses all full chunks. Readers see none of them before [`finish`](Self::finish).
    fn flush(&mut self) -> io::Result<()> {
        Ok(self.chunker.flush(&mut self.sink)?)
    }
}

impl<F: Folder> std::fmt::Debug for Appender<'_, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Appender")
            .field("total_in", &self.total_in())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloscpack_error::Code;
    use bloscpack_storage::Memory;

    type Plant = fn(&mut Appender<'_, Memory>);

    #[test]
    fn a_wrong_count_or_a_wrong_offset_is_never_committed() {
        let plants: [Plant; 5] = [
            |appender| appender.sink.starts.push(1 << 20),
            |appender| appender.sink.starts.clear(),
            |appender| appender.kept += 1,
            |appender| appender.kept -= 1,
            |appender| appender.sink.at += 1,
        ];
        for (number, plant) in plants.into_iter().enumerate() {
            let file = crate::compress(&[7; 2000]).unwrap();
            let folder = Memory::from([("a.blp", file.clone())]);
            let options = Editor::builder().chunk_size(1000);
            let mut editor = options.open_in(folder.clone(), "a.blp".as_ref()).unwrap();
            let mut appender = editor.append().unwrap();
            appender.write_all(&[8; 2500]).unwrap();
            appender.flush().unwrap();
            plant(&mut appender);
            let error = appender.finish().unwrap_err();
            assert!(error.code() == Code::Bug, "{number}: {error:?}");
            assert_eq!(folder.bytes("a.blp"), Some(file), "{number}");
        }
    }
}
