//! [`FileState`]: header, metadata and index of the file that an editor has open.

use super::EditorBuilder;
use super::header::counted;
use crate::Warning;
use crate::damages::holds_chunks;
use crate::encoder::{MOST_SPARE, check_table};
use crate::engine::Wanted;
use crate::indexed::Index;
use crate::member_map::MemberMap;
use bloscpack_error::checked::len_of;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Folder, JournaledFile, ReadAt};
use bloscpack_wire::{
    Form, FormatError, FormatVersion, Geometry, Header, Metadata, NumpyArray, Offsets, ParseError,
};
use std::ops::Range;
use std::sync::Arc;

/// Header, metadata, index and end of the file that an editor has open.
pub(super) struct FileState {
    pub map: MemberMap,
    pub index: Arc<Index>,
    /// Where the last chunk ends, including its digest.
    pub end: u64,
    /// Whether the chunks are not counted, and an end mark follows them.
    pub is_stream: bool,
    /// Whether the file has a filled offset table.
    pub is_indexed: bool,
}

impl FileState {
    /// Reads header, metadata and index of a file.
    pub(super) fn of<S: ReadAt>(file: &S, builder: &EditorBuilder) -> Result<Self> {
        let (limits, hashers) = (&builder.options.limits, &builder.options.hashers);
        let index = Index::of_records(file, limits, hashers, false, None)?;
        let Some(map) = MemberMap::read(file, limits, hashers)? else {
            return Err(Error::usage("the file is empty: it has no header"));
        };
        let is_stream = map.header.nchunks.is_none();
        if is_stream && map.header.version != FormatVersion::V1 {
            // Every change adds an offset table.
            check_table(index.chunks(), limits)?;
        }
        let last = index.chunks().checked_sub(1);
        let last = last.map(|last| index.extent(file, last)).transpose()?;
        let end = last
            .flatten()
            .map_or(map.geometry.chunks_at, |last| last.end);
        let is_indexed = map.header.offsets && first_entry_is_filled(file, &map.geometry)?;
        Ok(Self {
            map,
            index: Arc::new(index),
            end,
            is_stream,
            is_indexed,
        })
    }

    /// Reads the file again after a change. If that fails, the change is still committed, and the old state must not be used.
    pub(super) fn renew<F: Folder>(
        &mut self,
        held: &mut JournaledFile<F>,
        builder: &EditorBuilder,
    ) -> Result<()> {
        let read = held.at_risk(|held| Self::of(held.file(), builder));
        *self = read.map_err(Error::committed)?;
        Ok(())
    }

    /// Refuses files that no editor can change, and files with chunks of another form than `wanted`.
    pub(super) fn check_editable(&self, wanted: Wanted) -> Result<()> {
        let version = self.map.header.version;
        let what = if self.index.members() > 1 {
            let members = self.index.members();
            let how = if self.map.header.varlen {
                "unpack and pack"
            } else {
                "decompress and compress"
            };
            format!("the file is a concatenation of {members} members; {how} it to make it one")
        } else if !matches!(
            version,
            FormatVersion::V1 | FormatVersion::V2 | FormatVersion::V3
        ) {
            format!(
                "layout {version} can only be read; decompress and compress the file to change it"
            )
        } else if self.is_stream && self.map.header.offsets {
            "the length of the table of offsets is not known; decompress and compress the file to change it"
                .to_owned()
        } else if self.map.header.varlen && wanted == Wanted::Content {
            "the file contains records, which have no positions in one content; append records to it"
                .to_owned()
        } else {
            return Ok(wanted.check(&self.form())?);
        };
        Err(FormatError::Unsupported { what }.into())
    }

    /// The metadata, merged with the keys of other metadata.
    pub(super) fn merged(&self, others: &Metadata) -> Result<Metadata> {
        let Some(old) = &self.map.metadata else {
            return Ok(others.clone());
        };
        let fixed: &[&str] = if self.map.header.varlen {
            &["shape", "packing"]
        } else if NumpyArray::is_described_by(old) {
            &NumpyArray::KEYS
        } else {
            &[]
        };
        old.merged(others, fixed)
            .map_err(|why| Error::usage(format!("the metadata cannot be merged: {why}")))
    }

    /// The form of the chunks.
    pub(super) fn form(&self) -> std::result::Result<Form, FormatError> {
        Form::of(&self.map.header, self.map.metadata.as_ref())
    }

    /// Refuses a file with sound chunks after its last counted one: a change would cut off data that may be recovered.
    pub(super) fn check_trailing<S: ReadAt>(
        &self,
        file: &S,
        builder: &EditorBuilder,
    ) -> Result<()> {
        let (limits, hashers) = (&builder.options.limits, &builder.options.hashers);
        for warning in &self.index.warnings {
            if let Warning::Trailing(trailing) = warning
                && holds_chunks(file, trailing.position.byte, limits, hashers)?
            {
                let (error, position) = (FormatError::HiddenChunks, trailing.position);
                return Err(ParseError { error, position }.into());
            }
        }
        Ok(())
    }

    /// The position after which readers ignore all bytes: the end of the last chunk, if this layout allows stale bytes there,
    /// as an append by the reference implementation leaves them.
    pub(super) fn free_from(&self) -> Option<u64> {
        let is_tolerant = self.map.header.version == FormatVersion::V3 && self.is_indexed;
        is_tolerant.then_some(self.end)
    }

    /// The header with all chunks counted. The header of a stream does not count them.
    pub(super) fn closed_header<S: ReadAt>(&self, file: &S) -> Result<Header> {
        let header = &self.map.header;
        if !self.is_stream {
            return Ok(header.clone());
        }
        let chunks = self.index.chunks();
        let last = match chunks.checked_sub(1) {
            Some(last) => self.index.span(file, last)?,
            None => None,
        };
        let last = last.map_or(0, |span| len_of(&span.content));
        let last = u32::try_from(last)
            .map_err(|_| Error::bug(format!("a last chunk of {last} uncompressed bytes")))?;
        Ok(counted(
            header,
            chunks,
            header.chunk_size.unwrap_or(last),
            last,
        ))
    }

    /// Spare offsets for a new file: as requested, or as many as the old file has.
    pub(super) fn spare_or(&self, wanted: Option<u64>) -> Option<u64> {
        let header = &self.map.header;
        // Bound it: the spare entries may be a hole in a sparse file, and would be written out in the new one.
        let there = header.max_app_chunks.min(MOST_SPARE);
        wanted.or_else(|| (header.offsets && !self.is_stream).then_some(there))
    }

    /// The range of each chunk, with its spare space.
    pub(super) fn extents<S: ReadAt>(&self, file: &S) -> Result<Vec<Range<u64>>> {
        self.index.extents(file)
    }
}

/// Whether the first entry of the offset table is not -1. A writer fills in all entries or none.
fn first_entry_is_filled<S: ReadAt>(file: &S, geometry: &Geometry) -> Result<bool> {
    let mut entry = [0xff; 8];
    if geometry.table_at < geometry.chunks_at {
        file.read_exact_at(geometry.table_at, &mut entry)?;
    }
    Ok(entry != Offsets::UNFILLED_ENTRY)
}
