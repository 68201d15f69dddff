//! Encoders and decoders that are kept, so that each thread finds one with its memory and contexts ready.

use crate::blosc::{ChunkDecoder, ChunkEncoder, ChunkError, ChunkSettings};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// No more are kept than threads that anybody has.
const MOST: usize = 64;

/// Things that are lent one at a time, and made when there are too few.
struct Pool<T>(Mutex<Vec<T>>);

impl<T> Pool<T> {
    fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, one: T) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST {
            idle.push(one);
        }
    }
}

pub(super) struct Decoders {
    max_block: u32,
    idle: Pool<ChunkDecoder>,
}

impl Decoders {
    pub(super) fn new(max_block: u32) -> Self {
        Self {
            max_block,
            idle: Pool(Mutex::default()),
        }
    }

    pub(super) fn with<T>(
        &self,
        act: impl FnOnce(&mut ChunkDecoder) -> Result<T, ChunkError>,
    ) -> Result<T, ChunkError> {
        let mut decoder = self
            .idle
            .take()
            .unwrap_or_else(|| ChunkDecoder::with_max_block(self.max_block));
        let done = act(&mut decoder);
        self.idle.give_back(decoder);
        done
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
            idle: Pool(Mutex::default()),
        }
    }

    pub(super) fn with<T>(
        &self,
        act: impl FnOnce(&mut ChunkEncoder, &mut Vec<u8>) -> Result<T, ChunkError>,
    ) -> Result<T, ChunkError> {
        let (mut encoder, mut bytes) = match self.idle.take() {
            Some(kept) => kept,
            None => (ChunkEncoder::new(self.settings)?, Vec::new()),
        };
        let done = act(&mut encoder, &mut bytes);
        self.idle.give_back((encoder, bytes));
        done
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
