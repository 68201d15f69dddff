//! Tests that chunks of Blosc 2 that no encoder wrote give an error or data, never more.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use blosc1::{
    BlockShape, Blosc2Encoder, Blosc2Settings, ChunkDecoder, ChunkError, ChunkExtension,
    ChunkHeader, Compressor, Fault, FilterPipeline, FilterStep, MAX_NBYTES, ShuffleMeta,
    SpecialValue, special_chunk,
};
use serde_json::Value;

fn encode(data: &[u8], compressor: Compressor, steps: &[FilterStep], typesize: u8) -> Vec<u8> {
    let settings = Blosc2Settings::default()
        .compressor(compressor)
        .level(5)
        .filters(FilterPipeline::new(steps).unwrap())
        .typesize(typesize)
        .blocksize(Some(128));
    let mut chunk = Vec::new();
    let mut encoder = Blosc2Encoder::new(settings).unwrap();
    encoder.encode(data, &mut chunk).unwrap();
    chunk
}

fn ramp(len: u16) -> Vec<u8> {
    (0..len).flat_map(|i| (i / 3).to_le_bytes()).collect()
}

/// Small chunks of every make, with C-Blosc2's dictionaries among them.
fn samples() -> Vec<Vec<u8>> {
    use FilterStep::{Bitshuffle, Delta, Shuffle};
    let special = |value| special_chunk(value, 480, 4, 128).unwrap();
    let mut samples = vec![
        special(SpecialValue::Zeros),
        special(SpecialValue::Nan),
        special(SpecialValue::Value(b"abc")),
        encode(&[7; 300], Compressor::Lz4, &[], 1),
        encode(b"too short to compress", Compressor::Lz4, &[Shuffle], 4),
    ];
    let compressors = Compressor::ALL.into_iter().filter(|c| c.is_available());
    for compressor in compressors.filter(|c| *c != Compressor::Snappy) {
        for steps in [&[Delta, Shuffle][..], &[Shuffle, Bitshuffle]] {
            samples.push(encode(&ramp(200), compressor, steps, 2));
        }
    }
    let place = testkit::testdata("blosc2");
    let bytes = std::fs::read(place.join("chunks.bin")).unwrap();
    let text = std::fs::read_to_string(place.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let entries = manifest["entries"].as_array().unwrap().iter();
    for entry in entries {
        let name = entry["chunk"].as_str().unwrap();
        if name.ends_with("typesize 8 never") && name.starts_with("dictionary") {
            let [at, len] =
                ["at", "len"].map(|f| usize::try_from(entry[f].as_u64().unwrap()).unwrap());
            samples.push(bytes[at..at + len].to_vec());
        }
    }
    assert!(samples.len() > 12);
    samples
}

/// Decodes in all ways what may be anything; the ways have to agree. Whether it was accepted.
fn try_all(decoder: &mut ChunkDecoder, chunk: &[u8]) -> bool {
    let Some(Ok(header)) = chunk.first_chunk().map(ChunkHeader::parse) else {
        return false;
    };
    if header.nbytes > 1 << 20 {
        return false;
    }
    let mut out = vec![0; header.nbytes as usize];
    let whole = decoder.decode(chunk, &mut out).is_ok();
    let mut every = true;
    let blocksize = header.blocksize.min(header.nbytes) as usize;
    for index in (0..header.nblocks().min(5000)).rev() {
        let start = index as usize * blocksize;
        let len = blocksize.min(out.len() - start);
        let mut block = vec![1; len];
        let sound = decoder.decode_block(chunk, index, &mut block).is_ok();
        assert!(
            !whole || (sound && block == out[start..start + len]),
            "block {index}"
        );
        every &= sound;
    }
    // The last block that is tried is the first, so that all have been.
    assert!(whole || !every || header.nblocks() == 0 || header.nblocks() > 5000);
    let (start, end) = (out.len() / 3, out.len() / 3 * 2);
    let mut part = vec![2; end - start];
    let sound = decoder
        .decode_range(chunk, u32::try_from(start).unwrap(), &mut part)
        .is_ok();
    assert!(!whole || (sound && part == out[start..end]));
    whole
}

#[test]
fn every_bit_turned_is_an_error_or_data() {
    let (mut refused, mut taken) = (0, 0);
    for sample in samples() {
        let mut decoder = ChunkDecoder::with_max_block(1 << 20).shuffle_meta(ShuffleMeta::Width);
        assert!(try_all(&mut decoder, &sample));
        for bit in 0..8 * sample.len() {
            let mut chunk = sample.clone();
            chunk[bit / 8] ^= 1 << (bit % 8);
            if try_all(&mut decoder, &chunk) {
                taken += 1
            } else {
                refused += 1
            }
        }
    }
    assert!(refused > 5000 && taken > 1000, "{refused} {taken}");
}

#[test]
fn every_byte_set_is_an_error_or_data() {
    for sample in samples() {
        let mut decoder = ChunkDecoder::with_max_block(1 << 20);
        for at in 0..sample.len().min(100) {
            for byte in [0, 1, 0x7F, 0x80, 0xFE, 0xFF] {
                let mut chunk = sample.clone();
                chunk[at] = byte;
                try_all(&mut decoder, &chunk);
            }
        }
    }
}

#[test]
fn a_chunk_that_was_cut_is_refused() {
    for sample in samples() {
        for len in 0..sample.len() {
            let mut decoder = ChunkDecoder::new();
            let error = decoder
                .decode_range(&sample[..len], 0, &mut [])
                .unwrap_err();
            assert_eq!(error.fault(), Fault::CutShort, "{len}: {error}");
            // Its header shortened to match: the remaining bytes are not all of the data.
            let mut chunk = sample[..len].to_vec();
            if let Some(field) = chunk.get_mut(12..16) {
                field.copy_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
                assert!(!try_all(&mut decoder, &chunk) || len >= 32);
            }
        }
    }
}

/// A header of 32 bytes, and what follows.
fn chunk(flags: u8, sizes: [u32; 2], filters: [u8; 6], blosc2_flags: u8, rest: &[u8]) -> Vec<u8> {
    let mut chunk = vec![5, 1, flags, 4];
    chunk.extend(sizes[0].to_le_bytes());
    chunk.extend(sizes[1].to_le_bytes());
    chunk.extend(u32::try_from(32 + rest.len()).unwrap().to_le_bytes());
    chunk.extend(filters);
    chunk.extend([0; 9]);
    chunk.push(blosc2_flags);
    chunk.extend(rest);
    chunk
}

fn error_of(chunk: &[u8]) -> ChunkError {
    let header = ChunkHeader::parse(chunk.first_chunk().unwrap());
    let nbytes = header.map_or(0, |header| header.nbytes);
    let mut out = vec![0; nbytes.min(1 << 20) as usize];
    ChunkDecoder::new()
        .decode_range(chunk, 0, &mut out)
        .unwrap_err()
}

const UNSPLIT: u8 = 0x15;

#[test]
fn what_is_not_built_in_is_unsupported_and_named() {
    let lengths = [36, 0, 0, 0, 0, 0, 0, 0];
    let other = chunk(UNSPLIT, [64, 64], [0, 0, 0, 0, 0, 160], 0, &lengths);
    let error = error_of(&other);
    assert_eq!(error, ChunkError::UnknownFilter { id: 160 });
    assert!(error.to_string().contains("160"));

    let user = chunk(0xD5, [64, 64], [0; 6], 0, &lengths);
    assert_eq!(
        error_of(&user),
        ChunkError::UserCompressor { id: 0, code: 6 }
    );
    for blosc2_flags in [0x08, 0x80] {
        let lazy = chunk(UNSPLIT, [64, 64], [0; 6], blosc2_flags, &lengths);
        assert_eq!(
            error_of(&lazy),
            ChunkError::InMemoryOnly {
                flags: blosc2_flags
            }
        );
    }
    let mut variable = chunk(UNSPLIT, [64, 64], [0; 6], 0, &lengths);
    variable[30] = 1;
    assert_eq!(error_of(&variable), ChunkError::VariableBlocks);
    let behind = chunk(UNSPLIT, [64, 64], [0, 0, 0, 0, 1, 3], 0, &lengths);
    assert_eq!(error_of(&behind), ChunkError::FilterOrder);
    let mut meta = chunk(UNSPLIT, [64, 64], [0, 0, 0, 0, 0, 1], 0, &lengths);
    meta[29] = 4;
    assert_eq!(error_of(&meta), ChunkError::ShuffleMeta { meta: 4 });
    for version in [6, 7, 0, 255] {
        let mut other = chunk(UNSPLIT, [64, 64], [0; 6], 0, &lengths);
        other[0] = version;
        let expected = if version == 6 {
            Fault::Unsupported
        } else {
            Fault::Damaged
        };
        assert_eq!(error_of(&other).fault(), expected, "{version}");
    }
    for error in [
        error_of(&user),
        error_of(&variable),
        error_of(&behind),
        error_of(&meta),
    ] {
        assert_eq!(error.fault(), Fault::Unsupported, "{error}");
    }
}

#[test]
fn runs_are_lengths_of_0_or_below() {
    // One block of 64 bytes whose only stream is a length.
    let run = |length: i32, token: &[u8]| {
        let body = [&36_i32.to_le_bytes(), &length.to_le_bytes(), token].concat();
        chunk(UNSPLIT, [64, 64], [0; 6], 0, &body)
    };
    for (length, token, byte) in [(0, &[][..], 0), (-1, &[1], 1), (-255, &[0xFF], 255)] {
        let mut out = [9; 64];
        ChunkDecoder::new()
            .decode(&run(length, token), &mut out)
            .unwrap();
        assert_eq!(out, [byte; 64]);
    }
    for (length, token) in [(-256, &[1][..]), (i32::MIN, &[1]), (-1, &[2]), (-1, &[])] {
        let error = error_of(&run(length, token));
        assert!(matches!(error, ChunkError::Run { .. }), "{length}: {error}");
    }
    // Before version 5 runs had no token, and C-Blosc2 no longer distinguishes them.
    let mut old = run(-1, &[1]);
    old[0] = 4;
    assert!(matches!(error_of(&old), ChunkError::StreamLength { .. }));
}

#[test]
fn special_values_have_the_lengths_that_they_need() {
    let zeros = chunk(5, [1000, 100], [0; 6], 0x10, &[]);
    let mut out = vec![9; 1000];
    ChunkDecoder::new().decode(&zeros, &mut out).unwrap();
    assert_eq!(out, [0; 1000]);
    for (what, chunk) in [
        (
            "zeros with a body",
            chunk(5, [1000, 100], [0; 6], 0x10, &[0]),
        ),
        (
            "a kind without a meaning",
            chunk(5, [1000, 100], [0; 6], 0x50, &[]),
        ),
        (
            "a value of no bytes",
            chunk(5, [1000, 100], [0; 6], 0x30, &[]),
        ),
        (
            "a value that does not fit",
            chunk(5, [1000, 100], [0; 6], 0x30, &[1; 3]),
        ),
        (
            "a value of 256 bytes",
            chunk(5, [1024, 100], [0; 6], 0x30, &[1; 256]),
        ),
        ("NaN cut in two", chunk(5, [1001, 100], [0; 6], 0x20, &[])),
        (
            "special values in a copy",
            chunk(7, [0, 1], [0; 6], 0x10, &[]),
        ),
        ("blocks of no bytes", chunk(5, [1000, 0], [0; 6], 0x10, &[])),
    ] {
        let error = error_of(&chunk);
        assert_eq!(error.fault(), Fault::Damaged, "{what}: {error}");
    }
    let mut nan = chunk(5, [1000, 100], [0; 6], 0x20, &[]);
    nan[3] = 2;
    assert_eq!(error_of(&nan).fault(), Fault::Damaged);
}

#[test]
fn positions_and_dictionaries_lie_within_the_chunk() {
    let word = |word: u32| word.to_le_bytes();
    let table = |start: u32| {
        chunk(
            UNSPLIT,
            [64, 64],
            [0; 6],
            0,
            &[word(start), word(0)].concat(),
        )
    };
    for start in [0, 32, 35, 41, u32::MAX] {
        let error = error_of(&table(start));
        assert!(
            matches!(error, ChunkError::BlockStart { .. }),
            "{start}: {error}"
        );
    }
    for len in [0, 1000, (128 << 10) + 1, u32::MAX] {
        let body = [word(44), word(len), word(0), word(0)].concat();
        let error = error_of(&chunk(0x95, [64, 64], [0; 6], 1, &body));
        assert_eq!(error.fault(), Fault::Damaged, "{len}: {error}");
    }
    // A block begins after the dictionary, which only LZ4 and Zstandard have.
    let body = [word(40), word(4), word(7), word(0)].concat();
    let error = error_of(&chunk(0x95, [64, 64], [0; 6], 1, &body));
    assert!(matches!(error, ChunkError::BlockStart { .. }), "{error}");
    let error = error_of(&chunk(0x75, [64, 64], [0; 6], 1, &body));
    assert!(matches!(error, ChunkError::Dictionary { .. }), "{error}");
    // Blocks without room for their table, or split into streams of broken elements.
    let error = error_of(&chunk(UNSPLIT, [64, 1], [0; 6], 0, &[0; 200]));
    assert_eq!(error.fault(), Fault::Damaged, "{error}");
    let error = error_of(&chunk(0x05, [66, 66], [0; 6], 0, &[0; 200]));
    assert_eq!(error.fault(), Fault::Damaged, "{error}");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let fine = Blosc2Settings::default().typesize(4);
    let truncate = |bits| FilterPipeline::new(&[FilterStep::TruncatePrecision { bits }]).unwrap();
    for settings in [
        fine.level(10),
        fine.typesize(0),
        fine.blocksize(Some(0)),
        fine.blocksize(Some(1 << 30)),
        fine.compressor(Compressor::Snappy),
        fine.filters(truncate(24)),
        fine.filters(truncate(0)),
        fine.filters(truncate(-23)),
        fine.filters(truncate(5)).typesize(2),
        fine.filters(FilterPipeline::new(&[FilterStep::TruncateInteger { bits: 33 }]).unwrap()),
        fine.filters(FilterPipeline::new(&[FilterStep::TruncateInteger { bits: 3 }]).unwrap())
            .typesize(3),
    ] {
        let error = Blosc2Encoder::new(settings).err().unwrap();
        assert_eq!(error.fault(), Fault::Usage, "{settings:?}: {error}");
    }
    for step in [
        FilterStep::CellMeans { side: 2 },
        FilterStep::BytedeltaFirst { streams: 4 },
    ] {
        let error = Blosc2Encoder::new(fine.filters(FilterPipeline::new(&[step]).unwrap()));
        assert_eq!(error.err().unwrap().fault(), Fault::Unsupported, "{step:?}");
    }
    // Cells of 3 in blocks of 8 by 4, which need to be whole.
    let cells = FilterPipeline::new(&[FilterStep::Cells { side: 3 }]).unwrap();
    let with_cells = |shape: &[u32], blocksize| {
        let shape = BlockShape::new(shape);
        fine.filters(cells)
            .blocksize(Some(blocksize))
            .block_shape(shape)
    };
    let encode = |settings, len| {
        Blosc2Encoder::new(settings)
            .unwrap()
            .encode(&ramp(len), &mut Vec::new())
    };
    assert!(encode(with_cells(&[8, 4], 128), 256).is_ok());
    assert!(matches!(
        encode(fine.filters(cells), 256),
        Err(ChunkError::NoBlockShape { .. })
    ));
    for (settings, len) in [
        (with_cells(&[8, 4], 128), 250),
        (with_cells(&[8, 5], 128), 256),
    ] {
        assert!(matches!(
            encode(settings, len),
            Err(ChunkError::BlockShape { .. })
        ));
    }
    assert!(matches!(
        encode(with_cells(&[2, 4], 32), 256),
        Err(ChunkError::Cells { side: 3 })
    ));
    assert!(FilterPipeline::new(&[FilterStep::Shuffle; 7]).is_err());
    assert!(FilterPipeline::new(&[FilterStep::Shuffle, FilterStep::Delta]).is_err());
    for (value, nbytes, typesize) in [
        (SpecialValue::Nan, 8, 2),
        (SpecialValue::Nan, 9, 4),
        (SpecialValue::Zeros, 9, 4),
        (SpecialValue::Zeros, 8, 0),
        (SpecialValue::Value(&[]), 8, 4),
        (SpecialValue::Value(&[0; 256]), 256, 4),
        (SpecialValue::Value(&[0; 3]), 8, 4),
        (SpecialValue::Zeros, MAX_NBYTES + 1, 1),
    ] {
        let error = special_chunk(value, nbytes, typesize, 4096).unwrap_err();
        assert_eq!(error.fault(), Fault::Usage, "{value:?}: {error}");
    }
}

/// A decoder keeps the first block for the sake of the others, but not for those of another chunk.
#[test]
fn blocks_of_two_chunks_at_one_place_are_not_mixed_up() {
    let (one, two) = (ramp(400), ramp(800)[800..].to_vec());
    let mut decoder = ChunkDecoder::new();
    let mut place = Vec::new();
    for _ in 0..3 {
        for data in [&one, &two] {
            let chunk = encode(data, Compressor::Lz4, &[FilterStep::Delta], 2);
            place.clear();
            place.extend_from_slice(&chunk);
            let mut block = [0; 128];
            decoder.decode_block(&place, 3, &mut block).unwrap();
            assert_eq!(block, data[384..512]);
        }
    }
}

#[test]
fn an_extension_is_written_as_it_was_read() {
    for sample in samples() {
        let header = ChunkHeader::parse(sample.first_chunk().unwrap()).unwrap();
        let bytes = sample[16..32].try_into().unwrap();
        let extension = ChunkExtension::parse(&header, bytes).unwrap();
        assert_eq!(extension.to_bytes(), *bytes);
        assert_eq!(header.to_bytes(), sample[..16]);
    }
}
