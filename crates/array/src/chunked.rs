//! [`Chunked`]: reads arrays whose chunks a [`ChunkStore`] supplies.

mod read;

use crate::cache::{ArrayCache, ChunkCache};
use crate::{ChunkStore, Geometry};
use blosc1::{ChunkContext, ChunkDecoder};
use bloscpack::Options;
use bloscpack_storage::parallel::Pool;
use bloscpack_wire::Limits;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The default size of the cache in bytes.
const DEFAULT_CACHE: usize = 256 << 20;

/// Threads, limits, decoders, buffers and a chunk cache, which the arrays of a dataset, a store or a group share.
///
/// A clone shares the cache and the buffers. The cache is as large as `Options::cache` says, 256 MiB by default, and is shared
/// by all arrays that are made with these resources.
#[derive(Clone)]
pub struct Resources {
    /// The maximum number of threads that read and decompress one slice.
    pub threads: usize,
    /// The limits on memory and work that a chunk may demand.
    pub limits: Limits,
    shared: Arc<Shared>,
}

struct Shared {
    cache: Arc<ChunkCache>,
    decoders: Pool<ChunkDecoder>,
    buffers: Pool<Vec<u8>>,
}

impl Resources {
    /// Takes the number of threads (default: one per processor), the limits and the size of the cache from `options`.
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

    /// Lends a decoder, made with the limits and set to this meaning of a shuffle's meta byte. Decoders are reused.
    ///
    /// # Errors
    /// Returns the error of `act`.
    pub fn with_decoder<T, E>(
        &self,
        context: ChunkContext,
        act: impl FnOnce(&mut ChunkDecoder) -> Result<T, E>,
    ) -> Result<T, E> {
        let make = || Ok(self.limits.decoder());
        self.shared.decoders.lend(make, |decoder| {
            decoder.set_context(context);
            act(decoder)
        })
    }

    /// Lends a buffer with arbitrary content. Buffers are reused.
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

/// Reads any box of an array whose chunks a [`ChunkStore`] supplies: it finds the chunks and blocks that a slice touches,
/// decompresses them on several threads, and caches them.
///
/// The cache keeps chunks that were read in part: compressed, and from the second read on with the blocks that were
/// decompressed. If one file contains all chunks, the cache keeps the blocks only.
///
/// ```
/// use bloscpack::Options;
/// use bloscpack_array::{Buffer, ChunkStore, Chunked, Geometry, Loaded, Resources, Want};
/// use bloscpack_error::{Error, Result};
///
/// /// Uncompressed chunks of four bytes, in memory.
/// struct InMemory(Vec<[u8; 4]>);
///
/// impl ChunkStore for InMemory {
///     fn load(&self, chunk: u64, _: Want<'_>, buffer: &mut Buffer<'_>) -> Result<Loaded> {
///         let data = usize::try_from(chunk).ok().and_then(|chunk| self.0.get(chunk));
///         let data = data.ok_or_else(|| Error::bug("no such chunk"))?;
///         let bytes = buffer.vec();
///         bytes.clear();
///         bytes.extend_from_slice(data);
///         Ok(Loaded::Data)
///     }
///
///     fn located(&self, _: u64, error: Error) -> Error {
///         error
///     }
/// }
///
/// let geometry = Geometry::padded(&[6], &[4], 1).ok_or("a chunk longer than memory")?;
/// let store = InMemory(vec![[0, 1, 2, 3], [4, 5, 0, 0]]);
/// let array = Chunked::new(store, geometry, &Resources::new(&Options::default()));
/// assert_eq!(array.read(&[2..6])?, [2, 3, 4, 5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Chunked<S> {
    store: S,
    geometry: Geometry,
    resources: Resources,
    cache: ArrayCache,
    context: ChunkContext,
}

impl<S: ChunkStore> Chunked<S> {
    /// An array of this geometry. It refuses chunks whose shuffle has a meta byte, until [`context`](Self::context())
    /// is set.
    pub fn new(store: S, geometry: Geometry, resources: &Resources) -> Self {
        Self {
            store,
            geometry,
            cache: ArrayCache::new(&resources.shared.cache),
            resources: resources.clone(),
            context: ChunkContext::default(),
        }
    }

    /// Sets the facts about Blosc2 chunks that only their frame records.
    #[must_use]
    pub fn context(mut self, context: ChunkContext) -> Self {
        self.context = context;
        self
    }

    /// The store of the chunks.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// The store, to change it. [`forget`](Self::forget) each chunk that changes.
    pub fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    /// The store, to change it, together with the geometry. [`forget`](Self::forget) each chunk that changes.
    pub fn parts(&mut self) -> (&mut S, &Geometry) {
        (&mut self.store, &self.geometry)
    }

    /// The store, without the cached chunks.
    pub fn into_store(self) -> S {
        self.store
    }

    /// The shapes of the array, its chunks and its blocks.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The threads, limits and cache that it reads with.
    #[must_use]
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Replaces the geometry, for an array that was resized. [`forget`](Self::forget) chunks whose number or length changes.
    pub fn set_geometry(&mut self, geometry: Geometry) {
        self.geometry = geometry;
    }

    /// Drops these chunks from the cache, because they have changed in the store.
    pub fn forget(&self, chunks: Range<u64>) {
        self.cache.forget(chunks);
    }
}
