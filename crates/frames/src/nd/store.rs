//! [`FrameChunks`]: the chunks of an array, in its frame or changed in memory.

use crate::Frame;
use crate::part::FramePart;
use crate::wire::ChunkPlace;
use crate::wire::array::ArrayMeta;
use blosc1::ChunkHeader;
use bloscpack_array::{Buffer, ChunkStore, Geometry, Loaded, Want};
use bloscpack_error::checked::to_usize;
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::Limit;
use bytes::Bytes;
use std::collections::BTreeMap;

/// The chunks of an array: those in its frame, and changed ones that are not compressed yet.
#[derive(Debug)]
pub(super) struct FrameChunks {
    pub(super) frame: Frame,
    /// The uncompressed data of chunks that were changed in part, by number.
    pub(super) dirty: BTreeMap<u64, Bytes>,
    /// Bytes of a block.
    block_len: usize,
}

/// The geometry of an array; `None` if a chunk or block does not fit memory.
pub(super) fn grid_of(meta: &ArrayMeta, itemsize: u32) -> Option<Geometry> {
    let wide = |shape: &[u32]| -> Vec<u64> { shape.iter().map(|len| u64::from(*len)).collect() };
    let (chunk, block) = (wide(&meta.chunk_shape), wide(&meta.block_shape));
    Geometry::in_blocks(&meta.shape, &chunk, &block, to_usize(itemsize))
}

impl FrameChunks {
    pub(super) fn new(frame: Frame, block_len: usize) -> Self {
        Self {
            frame,
            dirty: BTreeMap::new(),
            block_len,
        }
    }

    /// Refuses a chunk with another block size than the array, or with blocks over the limit `block`.
    pub(super) fn check_blocks(&self, number: u64, header: &ChunkHeader) -> Result<()> {
        let (found, allowed) = (header.blocksize, self.frame.coder.limits.block);
        let part = FramePart::Chunk(number);
        if to_usize(found) != self.block_len {
            return Err(part.damaged(None, "bytes of a block", found, self.block_len));
        }
        // Checked before a buffer of this size is allocated: a chunk whose blocks are not stored may claim any size.
        let (found, allowed) = (found.into(), allowed.into());
        part.check_limit(Limit::Block, found, allowed)
    }
}

impl ChunkStore for FrameChunks {
    /// Reads a chunk: its data if it was changed in memory, an element if it is not stored, else the needed blocks of the
    /// stored chunk after a check of its header.
    fn load(&self, number: u64, want: Want<'_>, buffer: &mut Buffer<'_>) -> Result<Loaded> {
        if let Some(data) = self.dirty.get(&number) {
            buffer.set(data.clone());
            return Ok(Loaded::Data);
        }
        let frame = &self.frame;
        frame.check_state()?;
        let place = frame.stored_place(number)?;
        match want {
            Want::Whole => frame.check_present(number, place)?,
            Want::Blocks(blocks) => {
                let blocks = blocks.iter().copied().map(u64::from);
                frame.check_blocks_present(number, place, blocks)?
            }
        }
        let ChunkPlace::At(at) = place else {
            let element = buffer.vec();
            element.clear();
            element.resize(to_usize(frame.typesize()), 0);
            frame.fill_from(place, 0, element)?;
            return Ok(Loaded::Fill);
        };
        let (bytes, ahead) = buffer.vec_and_file();
        let stored = frame.storage.chunk(number, at)?.through(ahead);
        let header = frame.header_of(number, &stored)?;
        self.check_blocks(number, &header)?;
        let is_complete = match want {
            Want::Whole => stored.read_all(&header, bytes).map(|()| true)?,
            Want::Blocks(blocks) => stored.read_blocks(&header, blocks, bytes)?,
        };
        Ok(Loaded::Blosc {
            header,
            is_complete,
        })
    }

    fn located(&self, number: u64, error: Error) -> Error {
        let stored = match self.frame.stored_place(number) {
            Ok(ChunkPlace::At(at)) => self.frame.storage.chunk(number, at),
            _ => return error,
        };
        match stored {
            Ok(stored) => stored.located(error),
            Err(_) => error,
        }
    }

    fn announce(&self, chunks: &mut dyn Iterator<Item = (u64, bool)>) -> Result<()> {
        let is_stored = |(number, _): &(u64, bool)| !self.dirty.contains_key(number);
        self.frame.announce(chunks.filter(is_stored))
    }

    /// Whether all blocks of the chunk can be read later. In a virtual frame some may be missing.
    fn may_keep(&self, number: u64) -> bool {
        self.frame.place(number).is_ok()
    }

    fn file(&self) -> Option<&dyn ReadAt> {
        self.frame.storage.file()
    }
}
