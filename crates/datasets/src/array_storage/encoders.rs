//! [`Encoders`]: a pool of encoders, which reuses their memory and contexts across calls and threads.
//!
//! The columns of a wide table have no pools, because every column would keep its own encoders.

use blosc1::{ChunkEncoder, ChunkError, ChunkSettings};
use bloscpack_storage::parallel::Pool;
use std::fmt;

pub(super) struct Encoders {
    settings: ChunkSettings,
    /// Idle encoders, each with a buffer for its output; `None` if none are kept.
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
