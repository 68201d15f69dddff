//! Encoders and decoders that are kept, so that each thread finds one with its memory and contexts ready;
//! but not by the many columns of a wide table, each of which would keep its own.

use blosc1::{ChunkDecoder, ChunkEncoder, ChunkError, ChunkSettings};
use bloscpack_storage::parallel::Pool;
use bloscpack_wire::Limits;
use std::fmt;

pub(super) struct Decoders {
    limits: Limits,
    idle: Option<Pool<ChunkDecoder>>,
}

impl Decoders {
    pub(super) fn new(limits: Limits, keeps_idle: bool) -> Self {
        Self {
            limits,
            idle: keeps_idle.then(Pool::default),
        }
    }

    pub(super) fn with<T>(
        &self,
        act: impl FnOnce(&mut ChunkDecoder) -> Result<T, ChunkError>,
    ) -> Result<T, ChunkError> {
        let make = || Ok(self.limits.decoder());
        match &self.idle {
            Some(idle) => idle.lend(make, act),
            None => act(&mut make()?),
        }
    }
}

pub(super) struct Encoders {
    settings: ChunkSettings,
    /// Each with a buffer for what it makes.
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
