//! Tests that C-Blosc2 2.15 reads our chunks, and that we read its chunks.
//!
//! C-Blosc 1.21 (`tests/oracle`) is left out: it and C-Blosc2 have functions of the same names.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(clippy::cast_possible_truncation, reason = "made-up data may be cut")]

use std::collections::BTreeMap;

use blosc1::{
    Blosc2Encoder, Blosc2Settings, ChunkDecoder, ChunkEncoder, ChunkError, ChunkExtension,
    ChunkHeader, ChunkSettings, Compressor, Engine, Fault, Filter, FilterPipeline, FilterStep,
    ShuffleMeta, SpecialValue, special_chunk,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use FilterStep::{Bitshuffle, Delta, Shuffle, TruncatePrecision};

/// All that Blosc 2 has.
const COMPRESSORS: [Compressor; 5] = [
    Compressor::Blosclz,
    Compressor::Lz4,
    Compressor::Lz4hc,
    Compressor::Zlib,
    Compressor::Zstd,
];
const TYPESIZES: [u8; 9] = [1, 2, 3, 4, 7, 8, 16, 17, 255];
const PIPELINES: [&[FilterStep]; 8] = [
    &[],
    &[Shuffle],
    &[Bitshuffle],
    &[Delta],
    &[Delta, Shuffle],
    &[Delta, Bitshuffle],
    &[Shuffle, Bitshuffle],
    &[Delta, Shuffle, FilterStep::None, Bitshuffle],
];

/// Pseudorandom numbers, the same in every run (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Zeros, one byte, runs, noise, a ramp, numbers that wander, words.
    fn data(&mut self, len: usize) -> Vec<u8> {
        let kind = self.below(7);
        let (mut data, mut value) = (Vec::with_capacity(len + 1000), 1 << 40);
        while data.len() < len {
            value += 1;
            match kind {
                0 => data.resize(len, 0),
                1 => data.resize(len, 0x2A),
                2 => data.resize(data.len() + self.below(999), self.next() as u8),
                3 => data.extend(self.next().to_le_bytes()),
                4 => data.extend(u64::to_le_bytes(value)),
                5 => {
                    value += self.next() % 200;
                    data.extend((value as u32).to_le_bytes());
                }
                _ => {
                    let words: [&[u8]; 4] = [b"river ", b"level ", b"of the ", b"north, "];
                    data.extend(self.pick(&words));
                }
            }
        }
        data.truncate(len);
        data
    }

    /// Around the format's edges, and anything up to 200 KB, of which long ones are rarer.
    fn len(&mut self, typesize: u8) -> usize {
        let typesize = usize::from(typesize);
        match self.below(6) {
            0 => self.below(40),
            1 => typesize * (120 + self.below(16)) + self.below(3),
            2 => typesize * 8 * (1 + self.below(64)),
            3 => self.pick(&[32 << 10, 64 << 10, (64 << 10) + 1, 128 << 10]),
            4 => self.below(200_001),
            _ => self.below(20_000),
        }
    }
}

fn by_c() -> ChunkDecoder {
    ChunkDecoder::new().engine(Engine::CBlosc2)
}

/// Decodes with both engines; blocks of the second are native, whatever the engine.
fn check(chunk: &[u8], data: &[u8], what: &str) {
    for mut decoder in [ChunkDecoder::new(), by_c()] {
        let mut out = vec![0xA5; data.len()];
        let header = decoder.decode(chunk, &mut out);
        let header = header.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(header.ctbytes as usize, chunk.len());
        assert!(out == data, "{what}: {header:?}");
        if let Some(index) = header.nblocks().checked_sub(1) {
            let start = index as usize * header.blocksize as usize;
            let mut out = vec![0xA5; data.len() - start];
            decoder.decode_block(chunk, index, &mut out).unwrap();
            assert!(out == data[start..], "{what}: last block of {header:?}");
        }
    }
}

/// The output of each engine for these settings and this data, after the 3 bytes before.
fn encode(settings: Blosc2Settings, engine: Engine, data: &[u8]) -> Vec<u8> {
    let mut chunk = vec![1, 2, 3];
    let mut encoder = Blosc2Encoder::new(settings).unwrap().engine(engine);
    let header = encoder.encode(data, &mut chunk).unwrap();
    let chunk = chunk.split_off(3);
    assert_eq!(header.nbytes as usize, data.len());
    assert_eq!(
        header,
        ChunkHeader::parse(chunk.first_chunk().unwrap()).unwrap()
    );
    assert!(chunk.len() == header.ctbytes as usize && chunk.len() <= data.len() + 32);
    assert!(header.is_extended());
    let extension = ChunkExtension::parse(&header, chunk[16..32].try_into().unwrap()).unwrap();
    if !header.is_pure_copy() && extension.special().is_none() {
        assert_eq!(extension.filters, settings.filters.ids());
        let format = header.compressor_format().unwrap();
        assert_eq!(format, settings.compressor.format());
    }
    chunk
}

/// C-Blosc2 2.15 is wrong here: it takes its input for the buffer of the third filter.
fn three_filters_are_refused(settings: Blosc2Settings, data: &[u8]) {
    let mut encoder = Blosc2Encoder::new(settings)
        .unwrap()
        .engine(Engine::CBlosc2);
    let mut out = vec![1, 2, 3];
    let error = encoder.encode(data, &mut out).unwrap_err();
    assert_eq!(error.fault(), Fault::Unsupported);
    assert_eq!(out, [1, 2, 3]);
}

fn cases(seed: u64, compressor: Compressor, count: usize) {
    let mut random = Random(seed);
    let (mut both, mut shorter) = (0, 0);
    for case in 0..count {
        let typesize = TYPESIZES[case % TYPESIZES.len()];
        let mut len = random.len(typesize);
        let level = random.below(10) as u8;
        if level > 7 && compressor == Compressor::Zstd {
            // The highest levels set up tables of many MiB for every call.
            len = len.min(10_000);
        }
        let blocksize = match random.below(3) {
            0 => Some(1 + random.below(40_000) as u32),
            _ => None,
        };
        // Not more than some thousand blocks.
        let blocksize = blocksize.map(|size| size.max(len as u32 / 2000));
        let settings = Blosc2Settings::default()
            .compressor(compressor)
            .level(level)
            .filters(FilterPipeline::new(PIPELINES[case % PIPELINES.len()]).unwrap())
            .typesize(typesize)
            .blocksize(blocksize);
        let data = random.data(len);
        let filters = settings.filters.ids().into_iter().filter(|id| *id > 0);
        let takes_all = filters.count() <= 2;
        for engine in [Engine::Native, Engine::CBlosc2] {
            if engine == Engine::CBlosc2 && !takes_all {
                three_filters_are_refused(settings, &data);
                continue;
            }
            let chunk = encode(settings, engine, &data);
            both += usize::from(engine == Engine::CBlosc2);
            shorter += usize::from(chunk.len() < len);
            check(&chunk, &data, &format!("{engine:?} {settings:?} {len}"));
        }
    }
    assert!(both >= count / 8 * 7, "{both} of {count} with both");
    // Many are compressed, not copied.
    assert!(shorter > both / 2, "{shorter} of {both} twice");
}

#[test]
fn blosclz_agrees_both_ways() {
    cases(1, Compressor::Blosclz, 500);
}

#[test]
fn lz4_agrees_both_ways() {
    cases(2, Compressor::Lz4, 500);
}

#[test]
fn lz4hc_agrees_both_ways() {
    cases(3, Compressor::Lz4hc, 500);
}

#[test]
fn zlib_agrees_both_ways() {
    cases(4, Compressor::Zlib, 500);
}

#[test]
fn zstd_agrees_both_ways() {
    cases(5, Compressor::Zstd, 500);
}

/// C-Blosc2 2.15 is wrong here: of some it makes special values, and refuses to read them.
#[test]
fn zeros_that_are_no_whole_elements_are_read_by_both() {
    for typesize in TYPESIZES {
        for len in (32..600).chain([5000, 100_000, 100_001]) {
            let settings = Blosc2Settings::default().typesize(typesize);
            let data = vec![0; len];
            let chunk = encode(settings, Engine::CBlosc2, &data);
            check(&chunk, &data, &format!("{typesize} {len}"));
        }
    }
}

/// C-Blosc2 2.15 is wrong here: it does not write the bytes beyond the last whole element.
#[test]
fn delta_of_no_whole_elements_is_encoded_natively() {
    for (typesize, len, blocksize) in [(2, 999, None), (4, 5003, Some(1024)), (16, 5006, None)] {
        let settings = Blosc2Settings::default()
            .filters(FilterPipeline::new(&[Delta, Shuffle]).unwrap())
            .typesize(typesize)
            .blocksize(blocksize);
        let data: Vec<u8> = (0..len).map(|i: u32| (i / 7) as u8).collect();
        let chunk = encode(settings, Engine::CBlosc2, &data);
        assert!(chunk == encode(settings, Engine::Native, &data));
        check(&chunk, &data, &format!("{typesize} {len}"));
    }
}

#[test]
fn empty_and_tiny_data_agree() {
    let mut random = Random(6);
    for len in 0..70 {
        for typesize in TYPESIZES {
            for compressor in COMPRESSORS {
                let settings = Blosc2Settings::default()
                    .compressor(compressor)
                    .typesize(typesize);
                let data = random.data(len);
                for engine in [Engine::Native, Engine::CBlosc2] {
                    let chunk = encode(settings, engine, &data);
                    check(&chunk, &data, &format!("{engine:?} {settings:?} {len}"));
                }
            }
        }
    }
}

#[test]
fn truncated_precision_loses_the_same_bits() {
    let mut random = Random(7);
    for (typesize, kept) in [
        (4, 1),
        (4, 12),
        (4, 23),
        (8, 1),
        (8, 30),
        (8, 52),
        (4, -3),
        (8, -20),
    ] {
        let steps = [TruncatePrecision { bits: kept }, Shuffle];
        let settings = Blosc2Settings::default()
            .filters(FilterPipeline::new(&steps).unwrap())
            .typesize(typesize);
        let data: Vec<u8> = (0..5000)
            .flat_map(|i| match typesize {
                4 => ((i as f32).sqrt() + random.below(9) as f32)
                    .to_le_bytes()
                    .to_vec(),
                _ => (f64::from(i).sqrt() + random.below(9) as f64)
                    .to_le_bytes()
                    .to_vec(),
            })
            .collect();
        let mut results = Vec::new();
        for engine in [Engine::Native, Engine::CBlosc2] {
            let chunk = encode(settings, engine, &data);
            let mut out = vec![0; data.len()];
            ChunkDecoder::new().decode(&chunk, &mut out).unwrap();
            check(&chunk, &out, &format!("{engine:?} {kept}"));
            results.push(out);
        }
        assert!(results[0] == results[1], "{typesize} {kept}");
        let keeps_all = matches!((typesize, kept), (4, 23) | (8, 52));
        assert_eq!(results[0] == data, keeps_all, "{typesize} {kept}");
    }
}

#[test]
fn chunks_of_blosc_1_are_read_by_both() {
    let mut random = Random(8);
    for case in 0..600 {
        let settings = ChunkSettings::default()
            .compressor(COMPRESSORS[case % COMPRESSORS.len()])
            .level(random.below(8) as u8)
            .filter(random.pick(&Filter::ALL))
            .typesize(random.pick(&TYPESIZES))
            .blocksize(random.pick(&[None, None, Some(1000), Some(4096)]));
        let len = random.len(settings.typesize);
        let data = random.data(len);
        let mut chunk = Vec::new();
        let mut encoder = ChunkEncoder::new(settings).unwrap();
        encoder.encode(&data, &mut chunk).unwrap();
        check(&chunk, &data, &format!("{settings:?} {len}"));
    }
}

#[test]
fn special_values_are_read_by_both() {
    for (typesize, count) in [(1, 5000), (4, 1), (4, 4097), (8, 1000), (255, 3)] {
        let nbytes = count * u32::from(typesize);
        let value: Vec<u8> = (1..=typesize).collect();
        let mut values = vec![
            SpecialValue::Zeros,
            SpecialValue::Uninit,
            SpecialValue::Value(&value),
        ];
        if typesize == 4 || typesize == 8 {
            values.push(SpecialValue::Nan);
        }
        for special in values {
            let item = match special {
                SpecialValue::Zeros | SpecialValue::Uninit => vec![0; usize::from(typesize)],
                SpecialValue::Value(value) => value.to_vec(),
                SpecialValue::Nan if typesize == 4 => f32::NAN.to_le_bytes().to_vec(),
                SpecialValue::Nan => f64::NAN.to_le_bytes().to_vec(),
            };
            let chunk = special_chunk(special, nbytes, typesize, 4096).unwrap();
            let data = item.repeat(count as usize);
            check(&chunk, &data, &format!("{special:?} {typesize} {count}"));
        }
    }
}

/// Chunks of python-blosc2 4.14, C-Blosc2 3.3, which has more than 2.15.
#[test]
fn golden_chunks_are_read_by_both() {
    let place = testkit::testdata("blosc2");
    let text = std::fs::read_to_string(place.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let bytes = std::fs::read(place.join("chunks.bin")).unwrap();
    let number = |entry: &Value, field: &str| entry[field].as_u64().unwrap() as usize;
    let (mut read, mut refused) = (0, BTreeMap::new());
    for entry in manifest["entries"].as_array().unwrap() {
        let at = number(entry, "at");
        let chunk = &bytes[at..at + number(entry, "len")];
        let mut ours = vec![0xA5; number(entry, "raw_len")];
        let mut theirs = ours.clone();
        let mut decoder = ChunkDecoder::new().shuffle_meta(ShuffleMeta::Width);
        decoder.decode(chunk, &mut ours).unwrap();
        let digest = Sha256::digest(&ours);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(entry["raw_sha256"], hex.as_str());
        match decoder.engine(Engine::CBlosc2).decode(chunk, &mut theirs) {
            Ok(_) => {
                assert!(ours == theirs, "{}", entry["chunk"]);
                read += 1;
            }
            Err(ChunkError::NotInEngine { what }) => *refused.entry(what).or_insert(0) += 1,
            Err(error) => panic!("{}: {error}", entry["chunk"]),
        }
    }
    println!("{read} read, {refused:?} refused");
    assert!(read > 100, "{read}");
    let kinds: Vec<_> = refused.into_keys().collect();
    assert_eq!(kinds, ["dictionaries", "the meta byte of a shuffle"]);
}

#[test]
fn snappy_is_refused() {
    let settings = ChunkSettings::default().compressor(Compressor::Snappy);
    let data = Random(9).data(50_000);
    let mut chunk = Vec::new();
    let mut encoder = ChunkEncoder::new(settings).unwrap();
    encoder.encode(&data, &mut chunk).unwrap();
    let error = by_c().decode(&chunk, &mut vec![0; 50_000]).unwrap_err();
    let what = "Snappy";
    assert_eq!(error, ChunkError::NotInEngine { what });
    assert_eq!(error.fault(), Fault::Unsupported);
}

/// A compressed chunk with several blocks, and its data.
fn sample() -> (Vec<u8>, Vec<u8>) {
    let settings = Blosc2Settings::default().blocksize(Some(4096));
    let data: Vec<u8> = (0..4000_u32).flat_map(|i| (i * i).to_le_bytes()).collect();
    let chunk = encode(settings, Engine::Native, &data);
    assert!(chunk.len() < data.len());
    (chunk, data)
}

/// Errors that need no decompression are reported before C sees the chunk. Changes that pass are decoded natively
/// only: C-Blosc2 may have undefined behaviour on them.
#[test]
fn changed_headers_do_not_reach_c() {
    let (chunk, data) = sample();
    let mut stopped = 0;
    for at in 0..32 {
        for byte in 0..=255 {
            let mut changed = chunk.clone();
            changed[at] = byte;
            // An empty range only checks the header and the layout.
            let Err(error) = ChunkDecoder::new().decode_range(&changed, 0, &mut []) else {
                let _ = ChunkDecoder::new().decode(&changed, &mut vec![0; data.len()]);
                continue;
            };
            let mut out = vec![0; data.len()];
            assert_eq!(by_c().decode(&changed, &mut out), Err(error));
            stopped += 1;
        }
    }
    assert!(stopped > 2000, "{stopped}");
    let mut short = vec![0; data.len() - 1];
    let error = by_c().decode(&chunk, &mut short).unwrap_err();
    assert_eq!(error.fault(), Fault::Usage);
    let mut decoder = ChunkDecoder::with_max_block(4095).engine(Engine::CBlosc2);
    let error = decoder
        .decode(&chunk, &mut vec![0; data.len()])
        .unwrap_err();
    assert_eq!(error.fault(), Fault::OverLimit);
}

#[test]
fn blocks_and_streams_outside_of_the_chunk_do_not_reach_c() {
    let (chunk, data) = sample();
    let word = |at: usize| u32::from_le_bytes(chunk[at..at + 4].try_into().unwrap());
    let beyond = chunk.len() as u32;
    for block in 0..4 {
        let slot = 32 + 4 * block;
        let stream = word(slot) as usize;
        for (at, wrong) in [
            (slot, 0),
            (slot, 31),
            (slot, beyond),
            (slot, u32::MAX),
            (stream, beyond),
            (stream, i32::MAX as u32),
            (stream, 0x8000_0000),
            (stream, 0xFFFF_FF00),
        ] {
            let mut changed = chunk.clone();
            changed[at..at + 4].copy_from_slice(&wrong.to_le_bytes());
            let mut out = vec![0; data.len()];
            let error = by_c().decode(&changed, &mut out).unwrap_err();
            assert_eq!(error.fault(), Fault::Damaged);
            let stopped = matches!(
                error,
                ChunkError::BlockStart { .. }
                    | ChunkError::StreamLength { .. }
                    | ChunkError::Run { .. }
            );
            assert!(stopped, "{at} {wrong:#x}: {error}");
        }
    }
}

#[test]
fn decoders_and_encoders_go_to_other_threads() {
    let (chunk, data) = sample();
    let mut decoder = by_c();
    let mut encoder = Blosc2Encoder::new(Blosc2Settings::default())
        .unwrap()
        .engine(Engine::CBlosc2);
    let made = std::thread::spawn(move || {
        let mut out = vec![0; data.len()];
        decoder.decode(&chunk, &mut out).unwrap();
        assert!(out == data);
        let mut again = Vec::new();
        encoder.encode(&data, &mut again).unwrap();
        check(&again, &data, "in a thread");
        again.len()
    });
    assert!(made.join().unwrap() > 32);
}
