//! A chunk gives the same data whole, by blocks and in ranges; chunks of the encoder are read back. The input is a
//! chunk, and settings and data for the encoder.

use bloscpack::blosc::{
    Blosc2Encoder, Blosc2Settings, ChunkDecoder, ChunkHeader, Compressor, FilterPipeline,
    FilterStep, ShuffleMeta,
};

/// More than this is the caller's memory, and would only make the fuzzer slow.
const MOST: u32 = 1 << 20;

fn decode(chunk: &[u8]) {
    let Some(Ok(header)) = chunk.first_chunk().map(ChunkHeader::parse) else {
        return;
    };
    if header.nbytes > MOST || header.is_end_mark() {
        return;
    }
    let chunk = chunk.get(..header.ctbytes as usize).unwrap_or(chunk);
    let mut data = vec![0xA5; header.nbytes as usize];
    let mut decoder = ChunkDecoder::with_max_block(MOST).shuffle_meta(ShuffleMeta::Width);
    let whole = decoder.decode(chunk, &mut data).is_ok();
    let blocksize = header.blocksize.min(header.nbytes) as usize;
    let mut every = true;
    // Many tiny blocks take time only.
    let tried = header.nblocks().min(256);
    for index in (0..tried).rev() {
        let start = index as usize * blocksize;
        let mut block = vec![0x5A; blocksize.min(data.len() - start)];
        let sound = decoder.decode_block(chunk, index, &mut block).is_ok();
        let same = sound && block == data[start..start + block.len()];
        assert!(!whole || same, "block {index}: {header:?}");
        every &= sound;
    }
    assert!(
        whole || !every || tried < header.nblocks() || tried == 0,
        "{header:?}"
    );
    for (start, end) in [(data.len() / 3, data.len() / 2), (1, data.len())] {
        let mut part = vec![0x5A; end.saturating_sub(start)];
        let sound = ChunkDecoder::with_max_block(MOST)
            .shuffle_meta(ShuffleMeta::Width)
            .decode_range(chunk, start as u32, &mut part)
            .is_ok();
        assert!(
            !whole || start > end || (sound && part == data[start..end]),
            "{header:?}"
        );
    }
}

/// Settings, encoded in four bytes.
pub fn settings([a, b, c, typesize]: &[u8; 4]) -> Blosc2Settings {
    const COMPRESSORS: [Compressor; 5] = [
        Compressor::Blosclz,
        Compressor::Lz4,
        Compressor::Lz4hc,
        Compressor::Zlib,
        Compressor::Zstd,
    ];
    use FilterStep::{Bitshuffle, Bytedelta, Delta, Shuffle};
    const PIPELINES: [&[FilterStep]; 10] = [
        &[],
        &[Shuffle],
        &[Bitshuffle],
        &[Delta],
        &[Delta, Shuffle],
        &[Delta, Bitshuffle, Shuffle],
        &[Bitshuffle, Bitshuffle, Shuffle, Shuffle],
        &[Shuffle, Bytedelta { streams: 0 }],
        &[Bitshuffle, Bytedelta { streams: 3 }],
        &[Delta, Bytedelta { streams: 1 }, Shuffle],
    ];
    Blosc2Settings::default()
        .compressor(COMPRESSORS[usize::from(a % 5)])
        .level(b % 10)
        .filters(FilterPipeline::new(PIPELINES[usize::from(b / 10 % 10)]).expect("sound"))
        .typesize((*typesize).max(1))
        .blocksize((*c > 0).then(|| u32::from(*c) * u32::from(a / 5 + 1)))
}

fn encode(input: &[u8]) {
    let Some((told, data)) = input.split_first_chunk() else {
        return;
    };
    let settings = settings(told);
    let mut chunk = Vec::new();
    let mut encoder = Blosc2Encoder::new(settings).expect("valid settings");
    encoder.encode(data, &mut chunk).expect("short enough");
    assert!(chunk.len() <= data.len() + 32);
    let mut back = vec![0; data.len()];
    ChunkDecoder::new()
        .decode(&chunk, &mut back)
        .expect("our own");
    assert!(back == data, "{settings:?}");
    decode(&chunk);
}

pub fn check(input: &[u8]) {
    decode(input);
    encode(input);
}
