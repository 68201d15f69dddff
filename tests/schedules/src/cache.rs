//! A model of the cache of chunks, read by two threads at once.

use super::cache::{CachedChunk, ChunkCache};
use super::pool::Decoders;
use crate::check::Models;
use crate::parallel::{Panicked, for_each};
use crate::superchunk::StoredChunk;
use blosc1::{ChunkEncoder, ChunkHeader, ChunkSettings, Compressor};
use bloscpack_wire::Limits;
use std::sync::{Arc, LazyLock};

/// Two chunks of several blocks, with their data.
static CHUNKS: LazyLock<[(Vec<u8>, Vec<u8>); 2]> = LazyLock::new(|| {
    [3u8, 5].map(|step| {
        let data: Vec<u8> = (0..1200u32).map(|n| (n / 100) as u8 * step).collect();
        let settings = ChunkSettings::default()
            .compressor(Compressor::Blosclz)
            .blocksize(Some(400))
            .typesize(1);
        let mut chunk = Vec::new();
        let mut encoder = ChunkEncoder::new(settings).unwrap();
        encoder.encode(&data, &mut chunk).unwrap();
        (data, chunk)
    })
});

fn stored(number: u64) -> StoredChunk {
    let bytes = CHUNKS[number as usize].1.clone();
    let header = ChunkHeader::parse(bytes.first_chunk().unwrap()).unwrap();
    assert!(header.nblocks() > 1);
    StoredChunk { bytes, header }
}

/// Reads like an array: from the cache, or else from its file. Each read is right, whatever the cache drops meanwhile.
fn read(cache: &ChunkCache, decoders: &Decoders, number: u64, from: usize, len: usize) {
    let chunk = cache.get(number).unwrap_or_else(|| {
        let chunk = Arc::new(CachedChunk::new(stored(number)));
        cache.put(number, &chunk);
        chunk
    });
    let mut found = vec![0; len];
    let decoded = chunk.read(from, &mut found, decoders).unwrap();
    cache.grown(number, decoded);
    assert_eq!(found, CHUNKS[number as usize].0[from..from + len]);
}

fn check(budget: usize) {
    let (cache, decoders) = (
        ChunkCache::new(budget),
        Decoders::new(Limits::default(), true),
    );
    let reads = [(0, 100, 400), (0, 300, 300), (1, 0, 1200), (0, 0, 10)];
    let jobs = reads.into_iter();
    for_each(2, jobs, |(number, from, len)| {
        read(&cache, &decoders, number, from, len);
        Ok::<_, Panicked>(())
    })
    .unwrap();
    cache.forget(0..2);
    assert!(cache.get(0).is_none() && cache.get(1).is_none());
}

pub fn models(models: &Models) {
    LazyLock::force(&CHUNKS);
    models.check("cache: all is kept", || check(1 << 20));
    models.check("cache: one chunk is kept", || check(1500));
    models.check("cache: nothing is kept", || check(0));
}
