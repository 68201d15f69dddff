//! The parts before the chunks after a change: header, metadata, seal.

use super::EditorBuilder;
use super::file_state::FileState;
use crate::encoder::check_of_content;
use bloscpack_error::Result;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_storage::internal::for_each_step;
use bloscpack_storage::{Change, Folder, ReadAt};
use bloscpack_wire::internal::Seal;
use bloscpack_wire::{FormatError, FormatVersion, Header, Limit, Metadata, MetadataPlace};

/// The metadata after a change.
pub(super) enum NewMetadata {
    /// The same as before.
    Same,
    /// Other bytes in the same room.
    InPlace(Vec<u8>),
    /// Bytes that need a room of another length.
    Moved(MetadataPlace, Vec<u8>),
}

impl NewMetadata {
    /// How this metadata is written to a file.
    pub(super) fn of(
        state: &FileState,
        metadata: &Metadata,
        builder: &EditorBuilder,
    ) -> Result<Self> {
        let (header, hashers) = (&state.map.header, &builder.options.hashers);
        check_of_content(header, metadata)?;
        let (len, allowed) = (metadata.text().len(), builder.options.limits.metadata);
        FormatError::check_write(Limit::Metadata, to_u64(len), allowed.into())?;
        if header.version == FormatVersion::V3 {
            if let Some(old) = &state.map.metadata_header
                && let Some(section) = metadata.to_section_in_place_of(old, hashers)?
            {
                return Ok(Self::InPlace(section));
            }
            let section = metadata.to_section(header.checksum, hashers)?;
            return Ok(Self::Moved(MetadataPlace::Section, section));
        }
        let (place, mut raw) = metadata.to_raw(header.version)?;
        let room = in_memory(state.map.metadata_len())?;
        if header.metadata != MetadataPlace::Absent && raw.len() <= room {
            // White space after a JSON value is part of the text.
            raw.resize(room, b' ');
            return Ok(Self::InPlace(raw));
        }
        Ok(Self::Moved(place, raw))
    }
}

/// The bytes of a header. If the old header was sealed, the new one is sealed with the bytes of the file up to its chunks.
pub(super) fn sealed<S: ReadAt>(mut header: Header, file: &S, chunks_at: u64) -> Result<Vec<u8>> {
    if header.seal.is_some() {
        header.seal = Some(0);
        let bytes = header.encode()?;
        let mut seal = Seal::of_header(&bytes);
        let from = to_u64(bytes.len());
        let len = chunks_at - from;
        for_each_step(file, from, len, |bytes| seal.update(bytes))?;
        header.seal = Some(seal.value());
    }
    Ok(header.encode()?)
}

/// Writes metadata and header to their places. The offset table must have been written before.
pub(super) fn put<F: Folder>(
    change: &mut Change<'_, F>,
    state: &FileState,
    header: Header,
    metadata: &NewMetadata,
) -> Result<()> {
    if let NewMetadata::InPlace(bytes) = metadata {
        change.put(state.map.geometry.metadata_at, bytes)?;
    }
    let old = state.map.header.encode()?;
    let new = sealed(header, change, state.map.geometry.chunks_at)?;
    if new != old {
        change.put(0, &new)?;
    }
    Ok(())
}
