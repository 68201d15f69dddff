//! Tests that our chunks of Blosc 2 are read back: whole, by blocks and in ranges.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::cast_possible_truncation, reason = "made-up data may be cut")]

use blosc1::{Blosc2Encoder, Blosc2Settings, ChunkDecoder, Compressor, FilterPipeline, FilterStep};
use proptest::prelude::*;

fn steps() -> impl Strategy<Value = Vec<FilterStep>> {
    let step = prop_oneof![
        Just(FilterStep::None),
        Just(FilterStep::Shuffle),
        Just(FilterStep::Bitshuffle),
        any::<u8>().prop_map(|streams| FilterStep::Bytedelta { streams }),
    ];
    (any::<bool>(), prop::collection::vec(step, 0..=4)).prop_map(|(delta, mut steps)| {
        if delta {
            steps.insert(0, FilterStep::Delta);
        }
        steps
    })
}

fn settings() -> impl Strategy<Value = Blosc2Settings> {
    let available = Compressor::ALL.into_iter();
    let compressors: Vec<_> = available
        .filter(|c| c.is_available() && *c != Compressor::Snappy)
        .collect();
    let blocksize = prop::option::of(prop_oneof![1..64_u32, 64..5000_u32]);
    let typesize = prop_oneof![Just(1), Just(2), Just(4), Just(8), 1..=255_u8];
    let compressor = prop::sample::select(compressors);
    (compressor, 0..=9_u8, steps(), typesize, blocksize).prop_map(
        |(compressor, level, steps, typesize, blocksize)| {
            Blosc2Settings::default()
                .compressor(compressor)
                .level(level)
                .filters(FilterPipeline::new(&steps).unwrap())
                .typesize(typesize)
                .blocksize(blocksize)
        },
    )
}

/// Numbers that wander, runs, noise, nothing.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let len = prop_oneof![0..40_usize, 40..20_000_usize];
    (0..4_u8, len, any::<u32>()).prop_map(|(kind, len, seed)| {
        let mut state = seed | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        };
        let mut value = 1_u32 << 20;
        let mut data = Vec::with_capacity(len + 4);
        while data.len() < len {
            match kind {
                0 => data.push(0),
                1 => data.resize(
                    data.len() + (next() % 999) as usize,
                    next().to_le_bytes()[0],
                ),
                2 => data.extend(next().to_le_bytes()),
                _ => {
                    value = value.wrapping_add(next() % 200);
                    data.extend(value.to_le_bytes());
                }
            }
        }
        data.truncate(len);
        data
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::effort::models(600)))]

    #[test]
    fn all_settings_give_back_the_data(settings in settings(), data in data(), at in any::<(u16, u16)>()) {
        let mut chunk = vec![1, 2, 3];
        let header = Blosc2Encoder::new(settings).unwrap().encode(&data, &mut chunk).unwrap();
        let chunk = &chunk[3..];
        prop_assert_eq!(chunk.len(), header.ctbytes as usize);
        prop_assert!(chunk.len() <= data.len() + 32);
        let mut decoder = ChunkDecoder::new();
        let mut out = vec![0xA5; data.len()];
        prop_assert_eq!(decoder.decode(chunk, &mut out).unwrap(), header);
        prop_assert!(out == data);

        let mut blocks = Vec::new();
        for (index, block) in data.chunks(header.blocksize.max(1) as usize).enumerate().rev() {
            let mut out = vec![0xA5; block.len()];
            decoder.decode_block(chunk, index as u32, &mut out).unwrap();
            prop_assert!(out == block, "block {}", index);
            blocks.push(index);
        }
        prop_assert_eq!(blocks.len(), header.nblocks() as usize);

        let start = usize::from(at.0) % (data.len() + 1);
        let len = usize::from(at.1) % (data.len() - start + 1);
        let mut out = vec![0xA5; len];
        ChunkDecoder::new().decode_range(chunk, start as u32, &mut out).unwrap();
        prop_assert!(out == data[start..start + len]);
    }
}
