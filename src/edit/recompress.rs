//! [`Press`]: chunks with new content.

use super::EditorBuilder;
use super::file_state::Frame;
use super::patch::Old;
use crate::indexed::{IndexedReader, IndexedReaderBuilder};
use blosc1::internal::pad_chunk;
use blosc1::{ChunkEncoder, ChunkSettings, Compressor};
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use std::sync::Arc;

/// The level that is tried before a file is rewritten.
const SMALLEST: u8 = 9;

/// What makes smaller chunks that the same readers read; nothing if these are the smallest.
fn smallest(like: ChunkSettings) -> Option<ChunkSettings> {
    let compressor = match like.compressor {
        Compressor::Lz4 => Compressor::Lz4hc,
        other => other,
    };
    let smallest = like.compressor(compressor).level(SMALLEST);
    (smallest != like).then_some(smallest)
}

/// Where a chunk's header has its version, flags and typesize.
const KIND_LEN: usize = 4;

/// How the last chunk was made, and the bytes of its header that told. To find the level takes
/// several times as long as to compress a chunk.
pub(super) type Known = Option<(Vec<u8>, ChunkSettings)>;

/// Makes new chunks in the way of the old ones.
pub(super) struct Press<'o> {
    options: &'o EditorBuilder,
    known: &'o mut Known,
}

impl<'o> Press<'o> {
    pub(super) fn new(options: &'o EditorBuilder, known: &'o mut Known) -> Self {
        Self { options, known }
    }

    /// The chunk with this piece over its content from `here` on, with its digest; nothing if that
    /// changes nothing.
    pub(super) fn press<S: ReadAt>(
        &mut self,
        file: &S,
        frame: &Frame,
        old: &Old,
        here: u64,
        piece: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        let builder = IndexedReaderBuilder::default();
        let builder = builder
            .limits(self.options.limits)
            .hashers(self.options.hashers);
        let reader = builder.with_index(file, Arc::clone(&frame.index));
        let content_len = old.content.end.saturating_sub(old.content.start);
        let is_whole = u64::try_from(piece.len()).is_ok_and(|len| len == content_len);
        let (bytes, mut data) = match reader.chunk_with_bytes(old.number) {
            Ok((bytes, data)) => (bytes, data),
            // Nothing of it is left, if it is this chunk: a damaged table leads into others.
            Err(error) if is_whole && error.is_format() && reader.is_placed(old.number)? => {
                (Vec::new(), piece.to_vec())
            }
            Err(error) => return Err(error),
        };
        let skip = usize::try_from(here.saturating_sub(old.content.start)).unwrap_or(usize::MAX);
        let end = skip.saturating_add(piece.len());
        let place = data.get_mut(skip..end);
        let place = place.ok_or_else(|| Error::usage("a patch outside of its chunk"))?;
        if place == piece && !bytes.is_empty() {
            return Ok(None);
        }
        place.copy_from_slice(piece);
        let settings = self.settings_like(&bytes, frame, &reader)?;
        self.compress(&data, settings, frame, old).map(Some)
    }

    /// How chunks like this one are made.
    fn settings_like<S: ReadAt>(
        &mut self,
        chunk: &[u8],
        frame: &Frame,
        reader: &IndexedReader<S>,
    ) -> Result<ChunkSettings> {
        let kind = chunk.get(..KIND_LEN).unwrap_or_default();
        if let Some((known, settings)) = &*self.known
            && known == kind
        {
            return Ok(*settings);
        }
        let typesize = frame.head.header.typesize;
        let settings = if chunk.is_empty() {
            self.options.settings_of(reader, typesize)
        } else {
            self.options.settings_like(Some(chunk), typesize)
        };
        *self.known = Some((kind.to_vec(), settings));
        Ok(settings)
    }

    /// Compresses a chunk to the length of the old one if there is a way.
    fn compress(
        &self,
        data: &[u8],
        settings: ChunkSettings,
        frame: &Frame,
        old: &Old,
    ) -> Result<Vec<u8>> {
        let checksum = frame.head.header.checksum;
        let digest_len = checksum.digest_len() as u64;
        let room = old.room.map(|room| room.saturating_sub(digest_len));
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
            // What cannot be filled up does not fit.
            let _ = pad_chunk(&mut chunk, room);
        }
        let digest = self.options.hashers.digest(checksum, &chunk);
        chunk.extend_from_slice(digest.as_bytes());
        Ok(chunk)
    }
}
