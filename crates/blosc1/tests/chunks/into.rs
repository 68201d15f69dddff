//! Tests of encoding and decoding into slices: the same bytes as in vectors, from any number of threads,
//! within the slice, and without allocations.

use blosc1::{
    ChunkDecoder, ChunkEncoder, ChunkError, ChunkSettings, Compressor, Filter, SplitMode,
};
use blosc1::{compress_bound, compress_into, decompress_into, decompress_range_into, validate};

use oracle::{Kind, Random};
use testkit::counting::peak_of;
use testkit::oracle;

/// Every compressor with every filter, at a level of its own.
fn all_settings() -> impl Iterator<Item = ChunkSettings> {
    Compressor::ALL
        .into_iter()
        .zip(1..)
        .flat_map(|(compressor, level)| {
            Filter::ALL.map(|filter| {
                let settings = ChunkSettings::default().compressor(compressor);
                settings.level(level).filter(filter).typesize(4)
            })
        })
}

#[test]
fn slices_and_threads_give_the_bytes_of_vectors() {
    let mut random = Random::new(51);
    for settings in all_settings() {
        for kind in Kind::ALL {
            let len = random.pick(&[0, 15, 127, 128, 5_000, 70_001, 400_000]);
            let data = kind.data(&mut random, len);
            let settings = settings.blocksize(random.pick(&[None, Some(4096)]));
            let chunk = blosc1::compress(&data, settings).unwrap();
            for threads in [0, 1, 2, usize::MAX] {
                let mut encoder = ChunkEncoder::new(settings).unwrap().threads(threads);
                let mut appended = b"before".to_vec();
                encoder.encode(&data, &mut appended).unwrap();
                assert!(
                    appended[6..] == chunk,
                    "{settings:?} {kind:?} {len}, {threads} threads"
                );
                let mut out = vec![0xA5; compress_bound(len).unwrap() + 3];
                let header = encoder.encode_into(&data, &mut out).unwrap();
                assert!(out[..chunk.len()] == chunk, "{settings:?} {kind:?} {len}");
                assert_eq!(header, blosc1::read_header(&chunk).unwrap());

                let mut decoder = ChunkDecoder::new().threads(threads);
                let mut back = vec![0x5A; len];
                decoder.decode(&chunk, &mut back).unwrap();
                assert!(
                    back == data,
                    "{settings:?} {kind:?} {len}, {threads} threads"
                );
            }
        }
    }
}

#[test]
fn a_chunk_is_as_short_as_the_slice_or_refused() {
    let mut random = Random::new(52);
    for settings in all_settings() {
        let data = Kind::Sensor.data(&mut random, 30_000);
        let exact = blosc1::compress(&data, settings).unwrap();
        let mut fits = 0;
        for room in (0..exact.len() + 40).step_by(7).chain([exact.len()]) {
            // The bytes after the slice belong to someone else.
            let mut memory = vec![0xA5; room + 64];
            let (out, after) = memory.split_at_mut(room);
            match compress_into(&data, settings, out) {
                Ok(len) => {
                    assert_eq!(blosc1::decompress(&out[..len]).as_ref(), Ok(&data));
                    assert!(oracle::decompress(&out[..len], data.len()) == data);
                    fits += 1;
                }
                Err(error) => {
                    assert_eq!(error, ChunkError::OutputTooShort { found: room });
                    assert!(room < exact.len(), "{settings:?} {room}");
                }
            }
            assert_eq!(after, [0xA5; 64]);
        }
        assert!(fits >= 3, "{settings:?}");
    }
}

#[test]
fn used_contexts_allocate_nothing() {
    let mut random = Random::new(53);
    let mut out = vec![0; compress_bound(300_000).unwrap()];
    let mut back = vec![0; 300_000];
    let mut decoder = ChunkDecoder::new();
    for settings in all_settings() {
        let data = Kind::Sensor.data(&mut random, 300_000);
        let mut encoder = ChunkEncoder::new(settings).unwrap();
        let mut work = || {
            let header = encoder.encode_into(&data, &mut out).unwrap();
            let chunk = &out[..header.ctbytes as usize];
            decoder.decode(chunk, &mut back).unwrap();
            decoder
                .decode_range(chunk, 100_000, &mut back[..5000])
                .unwrap();
            decoder.validate(chunk).unwrap();
        };
        work();
        let ((), bytes) = peak_of(work);
        assert_eq!(bytes, 0, "{settings:?}");
    }
}

#[test]
fn settings_change_between_chunks() {
    let mut random = Random::new(54);
    let data = Kind::Walk.data(&mut random, 100_000);
    let mut encoder = ChunkEncoder::new(ChunkSettings::default()).unwrap();
    for settings in all_settings().chain(all_settings()) {
        encoder.set_settings(settings).unwrap();
        let mut chunk = Vec::new();
        encoder.encode(&data, &mut chunk).unwrap();
        assert!(
            chunk == blosc1::compress(&data, settings).unwrap(),
            "{settings:?}"
        );
        assert!(encoder.set_settings(settings.level(10)).is_err());
        assert_eq!(encoder.settings(), &settings);
    }
}

#[test]
fn every_split_mode_is_read_by_c_blosc() {
    let mut random = Random::new(55);
    let modes = [
        (SplitMode::ForwardCompat, [true, true, false]),
        (SplitMode::Auto, [true, false, false]),
        (SplitMode::Always, [true, true, true]),
        (SplitMode::Never, [false, false, false]),
    ];
    for (split, expected) in modes {
        let compressors = [Compressor::Blosclz, Compressor::Lz4, Compressor::Zstd];
        for (compressor, expected) in compressors.into_iter().zip(expected) {
            let settings = ChunkSettings::default().compressor(compressor).split(split);
            let data = Kind::Walk.data(&mut random, 100_000);
            let chunk = blosc1::compress(&data, settings).unwrap();
            assert_eq!(blosc1::read_header(&chunk).unwrap().is_split(), expected);
            assert!(
                oracle::decompress(&chunk, data.len()) == data,
                "{settings:?}"
            );
            // Elements of more than 16 bytes are never split.
            let chunk = blosc1::compress(&data, settings.typesize(17)).unwrap();
            assert!(!blosc1::read_header(&chunk).unwrap().is_split());
            assert!(
                oracle::decompress(&chunk, data.len()) == data,
                "{settings:?}"
            );
        }
    }
}

#[test]
fn single_calls_check_the_length_of_the_output() {
    let data: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
    let chunk = blosc1::compress(&data, ChunkSettings::default().typesize(4)).unwrap();
    assert_eq!(validate(&chunk).unwrap().nbytes, 40_000);
    let mut out = vec![0; 40_001];
    let expected = ChunkError::OutputLength {
        found: 40_001,
        expected: 40_000,
    };
    assert_eq!(decompress_into(&chunk, &mut out), Err(expected));
    decompress_into(&chunk, &mut out[..40_000]).unwrap();
    assert!(out[..40_000] == data);
    decompress_range_into(&chunk, 7..9, &mut out[..8]).unwrap();
    assert_eq!(out[..8], data[28..36]);
    for len in [0, 7, 9] {
        assert!(decompress_range_into(&chunk, 7..9, &mut out[..len]).is_err());
    }
}

/// A chunk that can be decompressed is valid, and one that is not valid cannot be decompressed.
#[test]
fn valid_is_what_only_streams_can_spoil() {
    let mut random = Random::new(56);
    let data = Kind::Sensor.data(&mut random, 10_000);
    let mut refused = 0;
    for settings in all_settings() {
        let chunk = blosc1::compress(&data, settings.blocksize(Some(1024))).unwrap();
        for _ in 0..500 {
            let mut mutated = chunk.clone();
            let span = random.pick(&[60, chunk.len()]);
            let at = random.below(span);
            mutated[at] ^= 1 << random.below(8);
            let is_valid = validate(&mutated).is_ok();
            let is_read = blosc1::decompress(&mutated).is_ok();
            assert!(is_valid || !is_read, "byte {at} of {settings:?}");
            refused += usize::from(!is_valid);
        }
    }
    assert!(refused > 1000, "only {refused} of 9000 were refused");
}

#[test]
fn damage_is_found_by_any_number_of_threads() {
    let data: Vec<u8> = (0..100_000_u32)
        .flat_map(|n| n.wrapping_mul(n).to_le_bytes())
        .collect();
    let settings = ChunkSettings::default().typesize(4).blocksize(Some(4096));
    let mut chunk = blosc1::compress(&data, settings).unwrap();
    // The start of the last block, after the chunk.
    let slot = 16 + 4 * (blosc1::read_header(&chunk).unwrap().nblocks() as usize - 1);
    chunk[slot..slot + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    for threads in [1, 2, 4] {
        let error = ChunkDecoder::new().threads(threads).decode_to_vec(&chunk);
        assert!(
            matches!(error, Err(ChunkError::BlockStart { .. })),
            "{error:?}"
        );
    }
}
