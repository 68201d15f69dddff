//! LZ4 without C: the crate `lz4_flex` writes, [`lz4_decode`](super::lz4_decode) reads.

use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};

use super::compress::{Compress, compress_with_room};
use crate::ChunkError;

pub(super) use super::lz4_decode::{decompress, decompress_with};

/// The compressor with its table, which is cleared before each stream.
pub(super) struct Encoder {
    table: CompressTable,
    room: Vec<u8>,
}

impl Encoder {
    /// A compressor. It has no levels: it looks at every position.
    #[expect(clippy::unnecessary_wraps, reason = "the other back end can fail")]
    pub fn new(_level: u8) -> Result<Self, ChunkError> {
        Ok(Self {
            table: CompressTable::large(),
            room: Vec::new(),
        })
    }
}

impl Compress for Encoder {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let Self { table, room } = self;
        let worst = get_maximum_output_size(src.len());
        compress_with_room(worst, dst, room, |dst| {
            compress_into_with_table(src, dst, table).ok()
        })
    }
}
