//! A model of the cache of chunks, read by two threads at once.

use super::cache::{ArrayCache, CachedChunk, ChunkCache, Content};
use crate::check::Models;
use crate::parallel::{Panicked, Pool, for_each};
use crate::store::{Buffer, Loaded};
use blosc1::{ChunkDecoder, ChunkEncoder, ChunkHeader, ChunkSettings, Compressor};
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

fn cached(number: u64) -> CachedChunk {
    let bytes = &CHUNKS[number as usize].1;
    let header = ChunkHeader::parse(bytes.first_chunk().unwrap()).unwrap();
    assert!(header.nblocks() > 1);
    let is_complete = true;
    CachedChunk::new(
        Loaded::Blosc {
            header,
            is_complete,
        },
        &Buffer(bytes),
        true,
    )
}

/// Reads like an array: from the cache, or else from its file. Each read is right, whatever the cache drops meanwhile.
fn read(cache: &ArrayCache, decoders: &Pool<ChunkDecoder>, number: u64, from: usize, len: usize) {
    let chunk = cache.get(number).unwrap_or_else(|| {
        let chunk = Arc::new(cached(number));
        cache.put(number, &chunk);
        chunk
    });
    let block = chunk.block_len();
    let wanted: Vec<u32> = (from / block..(from + len).div_ceil(block))
        .map(|block| block as u32)
        .collect();
    let missing = chunk.missing(&wanted);
    if !missing.is_empty() {
        let Content::Blosc(bytes) = chunk.content() else {
            panic!("a chunk without its bytes");
        };
        let decoded = decoders.lend(
            || Ok::<_, Panicked>(ChunkDecoder::default()),
            |decoder| Ok(chunk.decode(&missing, bytes, decoder).unwrap()),
        );
        cache.grown(number, decoded.unwrap());
    }
    let mut found = vec![0; len];
    chunk.read(from, &mut found).unwrap();
    assert_eq!(found, CHUNKS[number as usize].0[from..from + len]);
}

fn check(budget: usize) {
    let all = Arc::new(ChunkCache::new(budget));
    let (cache, decoders) = (ArrayCache::new(&all), Pool::default());
    // Another array shares the cache, and its chunks are not those of the first.
    let other = ArrayCache::new(&all);
    let reads = [(0, 100, 400), (0, 300, 300), (1, 0, 1200), (0, 0, 10)];
    let jobs = reads.into_iter();
    for_each(2, jobs, |(number, from, len)| {
        read(&cache, &decoders, number, from, len);
        assert!(!other.contains(number));
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
