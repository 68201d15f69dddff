//! [`Chunked`]: an array of which a store has the chunks.

mod read;

use crate::cache::{ArrayCache, ChunkCache};
use crate::{ChunkStore, Geometry};
use blosc1::{ChunkDecoder, ShuffleMeta};
use bloscpack::Options;
use bloscpack_storage::parallel::Pool;
use bloscpack_wire::Limits;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of chunks that are kept in memory by default.
const DEFAULT_CACHE: usize = 64 << 20;

/// Threads, decoders, buffers and a cache, which the arrays of a dataset, a store or a group share.
#[derive(Clone)]
pub struct Resources {
    /// Threads that read at once.
    pub threads: usize,
    /// The limits on what a chunk may demand.
    pub limits: Limits,
    shared: Arc<Shared>,
}

struct Shared {
    cache: Arc<ChunkCache>,
    decoders: Pool<ChunkDecoder>,
    buffers: Pool<Vec<u8>>,
}

impl Resources {
    /// The resources that these options allow.
    #[must_use]
    pub fn new(options: &Options) -> Self {
        Self {
            threads: options.workers(),
            limits: options.limits,
            shared: Arc::new(Shared {
                cache: Arc::new(ChunkCache::new(options.cache.unwrap_or(DEFAULT_CACHE))),
                decoders: Pool::default(),
                buffers: Pool::default(),
            }),
        }
    }

    /// Lends a decoder that keeps to the limits. The meaning of a shuffle's meta byte is that of the format.
    ///
    /// # Errors
    /// Returns the error of `act`.
    pub fn with_decoder<T, E>(
        &self,
        shuffle_meta: ShuffleMeta,
        act: impl FnOnce(&mut ChunkDecoder) -> Result<T, E>,
    ) -> Result<T, E> {
        let make = || Ok(self.limits.decoder());
        self.shared.decoders.lend(make, |decoder| {
            decoder.set_shuffle_meta(shuffle_meta);
            act(decoder)
        })
    }

    /// Lends a buffer, which may have any content.
    ///
    /// # Errors
    /// Returns the error of `act`.
    pub fn with_bytes<T, E>(&self, act: impl FnOnce(&mut Vec<u8>) -> Result<T, E>) -> Result<T, E> {
        self.shared.buffers.lend(|| Ok(Vec::new()), act)
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resources")
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// An array of which a [`ChunkStore`] has the chunks: geometry, threads and the cache, the same for every format.
///
/// The cache keeps partially read chunks as stored; a second use adds their decompressed blocks.
#[derive(Debug)]
pub struct Chunked<S> {
    store: S,
    geometry: Geometry,
    resources: Resources,
    cache: ArrayCache,
    shuffle_meta: ShuffleMeta,
}

impl<S: ChunkStore> Chunked<S> {
    /// The array of this geometry whose chunks are in this store.
    pub fn new(store: S, geometry: Geometry, resources: &Resources) -> Self {
        Self {
            store,
            geometry,
            cache: ArrayCache::new(&resources.shared.cache),
            resources: resources.clone(),
            shuffle_meta: ShuffleMeta::Refuse,
        }
    }

    /// Sets the meaning of a shuffle's meta byte in the chunks of Blosc 2.
    #[must_use]
    pub fn shuffle_meta(mut self, meaning: ShuffleMeta) -> Self {
        self.shuffle_meta = meaning;
        self
    }

    /// The store of the chunks.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// The store of the chunks, to change it. Chunks that change have to be [forgotten](Self::forget).
    pub fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    /// The store of the chunks, to change it, and the geometry.
    pub fn parts(&mut self) -> (&mut S, &Geometry) {
        (&mut self.store, &self.geometry)
    }

    /// The store of the chunks.
    pub fn into_store(self) -> S {
        self.store
    }

    /// Shape, chunks and blocks.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The resources that are used for reading.
    #[must_use]
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Sets shape, chunks and blocks. Chunks that get another number or another length have to be [forgotten](Self::forget).
    pub fn set_geometry(&mut self, geometry: Geometry) {
        self.geometry = geometry;
    }

    /// Forgets chunks that have changed in the store.
    pub fn forget(&self, chunks: Range<u64>) {
        self.cache.forget(chunks);
    }
}
