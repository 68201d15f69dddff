//! C-Blosc2 decodes each chunk that our decoder accepts to the same data, or refuses it; and each reads the chunks of
//! the other. The input is a chunk, and settings and data for the encoders.
//!
//! C-Blosc2 trusts its input: it does not get any chunk that our decoder refuses. It refuses some that no encoder
//! writes and that we accept as C-Blosc 1 does, such as blocks longer than the data.

use bloscpack::blosc::Fault;
use bloscpack::blosc::{Blosc2Encoder, ChunkDecoder, ChunkError, ChunkHeader, Engine, ShuffleMeta};

#[path = "blosc2_chunk.rs"]
#[allow(dead_code, reason = "only the settings are of use here")]
mod blosc2_chunk;

fn decode_both(chunk: &[u8], is_encoded: bool) {
    let Some(Ok(header)) = chunk.first_chunk().map(ChunkHeader::parse) else {
        return;
    };
    if header.nbytes > 1 << 20 || header.is_end_mark() {
        return;
    }
    let chunk = chunk.get(..header.ctbytes as usize).unwrap_or(chunk);
    let mut ours = vec![0xA5; header.nbytes as usize];
    let mut decoder = ChunkDecoder::with_max_block(1 << 20).shuffle_meta(ShuffleMeta::Width);
    if decoder.decode(chunk, &mut ours).is_err() {
        return;
    }
    let mut theirs = vec![0x5A; ours.len()];
    match decoder.engine(Engine::CBlosc2).decode(chunk, &mut theirs) {
        Ok(_) => assert!(theirs == ours, "{header:?}"),
        Err(ChunkError::NotInEngine { .. }) => {}
        Err(ChunkError::EngineRefused { .. }) if !is_encoded => {}
        Err(error) => panic!("C-Blosc2 refuses what we take: {error}, {header:?}"),
    }
}

fn encode_both(input: &[u8]) {
    let Some((told, data)) = input.split_first_chunk() else {
        return;
    };
    let settings = blosc2_chunk::settings(told);
    for engine in [Engine::Native, Engine::CBlosc2] {
        let mut encoder = Blosc2Encoder::new(settings)
            .expect("valid settings")
            .engine(engine);
        let mut chunk = Vec::new();
        if let Err(error) = encoder.encode(data, &mut chunk) {
            // It has places for fewer filters than we do.
            assert!(
                engine == Engine::CBlosc2 && error.fault() == Fault::Unsupported,
                "{error}"
            );
            continue;
        }
        let mut back = vec![0; data.len()];
        ChunkDecoder::new()
            .decode(&chunk, &mut back)
            .expect("of either");
        assert!(back == data, "{engine:?}, {settings:?}");
        decode_both(&chunk, true);
    }
}

pub fn check(input: &[u8]) {
    decode_both(input, false);
    encode_both(input);
}
