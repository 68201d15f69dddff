//! [`Encoders`]: a pool of encoders, so that each thread finds one whose memory and contexts are ready.
//!
//! The columns of a wide table have no pools: each of them would keep encoders of its own.

use blosc1::{ChunkEncoder, ChunkError, ChunkSettings};
use bloscpack_storage::parallel::Pool;
use std::fmt;

pub(super) struct Encoders {
    settings: ChunkSettings,
    /// Each with a buffer for its output.
    idle: Option<Pool<(ChunkEncoder, Vec<u8>)>>,
}

impl Encoders {
    pub(super) fn new(settings: ChunkSettings, keeps_idle: bool) -> Self {
        Self {
            settings,
            idle: keeps_idle.then(Pool::default),
        }
    }

    pub(super) fn with<T>(
        &self,
        act: impl FnOnce(&mut ChunkEncoder, &mut Vec<u8>) -> Result<T, ChunkError>,
    ) -> Result<T, ChunkError> {
        let make = || Ok((ChunkEncoder::new(self.settings)?, Vec::new()));
        let act = |(encoder, bytes): &mut (ChunkEncoder, Vec<u8>)| act(encoder, bytes);
        match &self.idle {
            Some(idle) => idle.lend(make, act),
            None => act(&mut make()?),
        }
    }
}

impl fmt::Debug for Encoders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoders")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
