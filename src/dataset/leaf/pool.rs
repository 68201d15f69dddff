//! Encoders and decoders that are kept, so that each thread finds one with its memory and contexts ready.

use crate::array::pool::Pool;
use crate::blosc::{ChunkDecoder, ChunkEncoder, ChunkError, ChunkSettings};
use std::fmt;

pub(super) struct Decoders {
    max_block: u32,
    idle: Pool<ChunkDecoder>,
}

impl Decoders {
    pub(super) fn new(max_block: u32) -> Self {
        Self {
            max_block,
            idle: Pool::default(),
        }
    }

    pub(super) fn with<T>(
        &self,
        act: impl FnOnce(&mut ChunkDecoder) -> Result<T, ChunkError>,
    ) -> Result<T, ChunkError> {
        let make = || Ok(ChunkDecoder::with_max_block(self.max_block));
        self.idle.lend(make, act)
    }
}

pub(super) struct Encoders {
    settings: ChunkSettings,
    /// Each with a buffer for what it makes.
    idle: Pool<(ChunkEncoder, Vec<u8>)>,
}

impl Encoders {
    pub(super) fn new(settings: ChunkSettings) -> Self {
        Self {
            settings,
            idle: Pool::default(),
        }
    }

    pub(super) fn with<T>(
        &self,
        act: impl FnOnce(&mut ChunkEncoder, &mut Vec<u8>) -> Result<T, ChunkError>,
    ) -> Result<T, ChunkError> {
        let make = || Ok((ChunkEncoder::new(self.settings)?, Vec::new()));
        let act = |(encoder, bytes): &mut (ChunkEncoder, Vec<u8>)| act(encoder, bytes);
        self.idle.lend(make, act)
    }
}

impl fmt::Debug for Decoders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoders").finish_non_exhaustive()
    }
}

impl fmt::Debug for Encoders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoders")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
