//! [`Recompressor`]: compresses existing chunks with new content.

use super::EditorBuilder;
use super::file_state::FileState;
use crate::indexed::IndexedReader;
use blosc1::internal::pad_chunk;
use blosc1::{ChunkEncoder, ChunkSettings, Compressor};
use bloscpack_error::Result;
use bloscpack_error::checked::{in_memory, len_of, slice_mut, to_u64};
use bloscpack_storage::ReadAt;
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// A chunk before a change.
pub(super) struct OldChunk {
    pub number: u64,
    pub at: u64,
    /// The range of its uncompressed bytes.
    pub content: Range<u64>,
    /// Its compressed bytes, including the digest.
    pub len: u64,
    /// Bytes up to the next part; `None` for the last chunk, which may have any length.
    pub room: Option<u64>,
    /// Whether spare space may follow it.
    pub may_shrink: bool,
}

/// The level that is tried before the file is rewritten.
const SMALLEST: u8 = 9;

/// Settings for smaller chunks that the same readers can read; `None` if `like` already makes the smallest.
fn smallest(like: ChunkSettings) -> Option<ChunkSettings> {
    let compressor = match like.compressor {
        Compressor::Lz4 => Compressor::Lz4hc,
        other => other,
    };
    let smallest = like.compressor(compressor).level(SMALLEST);
    (smallest != like).then_some(smallest)
}

/// Compresses new chunks like the old ones.
pub(super) struct Recompressor<'o> {
    builder: &'o EditorBuilder,
}

impl<'o> Recompressor<'o> {
    pub(super) fn new(builder: &'o EditorBuilder) -> Self {
        Self { builder }
    }

    /// The chunk, with its digest, after `piece` has replaced its content at position `here`. Returns `None` if that changes
    /// nothing.
    pub(super) fn patch<S: ReadAt>(
        &self,
        file: &S,
        state: &FileState,
        old: &OldChunk,
        here: u64,
        piece: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        let options = self.builder.options.clone();
        let reader = IndexedReader::with_index(file, options, Arc::clone(&state.index));
        let is_whole = to_u64(piece.len()) == len_of(&old.content);
        let (bytes, mut data) = match reader.chunk_with_bytes(old.number) {
            Ok((bytes, data)) => (bytes, data),
            // The piece replaces all of it. Check that it is this chunk: a damaged table may lead into another one.
            Err(error) if is_whole && error.is_format() && reader.is_placed(old.number)? => {
                (Bytes::new(), piece.to_vec())
            }
            Err(error) => return Err(error),
        };
        let skip = in_memory(len_of(&(old.content.start..here)))?;
        let place = slice_mut(&mut data, skip..skip + piece.len())?;
        if place == piece && !bytes.is_empty() {
            return Ok(None);
        }
        place.copy_from_slice(piece);
        let typesize = state.map.header.typesize;
        let settings = if bytes.is_empty() {
            self.builder.settings_of(&reader, typesize)?
        } else {
            self.builder.settings_like(Some(&bytes), typesize)
        };
        self.compress(&data, settings, state, old).map(Some)
    }

    /// Compresses a chunk, if possible to the length of the old one.
    fn compress(
        &self,
        data: &[u8],
        settings: ChunkSettings,
        state: &FileState,
        old: &OldChunk,
    ) -> Result<Vec<u8>> {
        let checksum = state.map.header.checksum;
        let room = old.room;
        // Saturates: no chunk fits into a room of 0, or into one too short for a digest.
        let room = room.map(|room| room.saturating_sub(to_u64(checksum.digest_len())));
        let mut chunk = Vec::new();
        let mut len = ChunkEncoder::new(settings)?
            .encode(data, &mut chunk)?
            .ctbytes;
        let too_long = |len: u32| room.is_some_and(|room| u64::from(len) > room);
        if too_long(len)
            && let Some(smallest) = smallest(settings)
        {
            let mut smaller = Vec::new();
            let found = ChunkEncoder::new(smallest)?.encode(data, &mut smaller)?;
            if !too_long(found.ctbytes) {
                (chunk, len) = (smaller, found.ctbytes);
            }
        }
        if let Some(room) = room.and_then(|room| u32::try_from(room).ok())
            && len < room
            && !old.may_shrink
        {
            // A chunk that cannot be padded does not fit, which the caller finds out by its length.
            let _ = pad_chunk(&mut chunk, room);
        }
        let digest = self
            .builder
            .options
            .hashers
            .stored_digest(checksum, &chunk)?;
        chunk.extend_from_slice(digest.as_bytes());
        Ok(chunk)
    }
}
