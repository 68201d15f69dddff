//! Tests that bytes that no encoder wrote give an error or data, never more.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use blosc1::{
    ChunkDecoder, ChunkEncoder, ChunkError, ChunkHeader, ChunkSettings, Compressor, Fault, Filter,
    HEADER_LEN, MAX_NBYTES,
};

use oracle::{Kind, Random};
use testkit::oracle;

/// Chunks of all compressors and filters, of both encoders, short enough to try a lot on.
fn samples(random: &mut Random) -> Vec<Vec<u8>> {
    let mut chunks = Vec::new();
    for compressor in Compressor::ALL {
        for filter in Filter::ALL {
            for (kind, typesize, len) in [
                (Kind::Text, 1, 2000),
                (Kind::Ramp, 8, 3001),
                (Kind::Sensor, 2, 1300),
                (Kind::Sparse, 24, 5000),
                // Long matches, which have a decoder of their own.
                (Kind::Zeros, 1, 20_000),
            ] {
                let settings = ChunkSettings::default()
                    .compressor(compressor)
                    .level(5)
                    .filter(filter)
                    .typesize(typesize)
                    .blocksize(random.pick(&[None, Some(1024)]));
                let data = kind.data(random, len);
                let mut ours = Vec::new();
                let mut encoder = ChunkEncoder::new(settings).unwrap();
                encoder.encode(&data, &mut ours).unwrap();
                chunks.push(ours);
                chunks.push(oracle::compress(&settings, &data, 0));
            }
        }
    }
    chunks
}

/// Decodes in all ways what may be anything. Returns whether the whole chunk was accepted.
fn try_all(decoder: &mut ChunkDecoder, random: &mut Random, chunk: &[u8]) -> bool {
    let Some(header) = chunk.first_chunk() else {
        return false;
    };
    let Ok(header) = ChunkHeader::parse(header) else {
        assert!(decoder.decode(chunk, &mut []).is_err());
        return false;
    };
    if header.nbytes > 4 << 20 {
        // Sound as far as it goes; the caller's memory is the caller's affair.
        return false;
    }
    let mut out = vec![0; header.nbytes as usize];
    let whole = decoder.decode(chunk, &mut out);
    let start = random.below(out.len() + 1);
    let len = random.below(out.len() - start + 1);
    let mut part = vec![0; len];
    let start_u32 = u32::try_from(start).unwrap();
    let ranged = decoder.decode_range(chunk, start_u32, &mut part);
    if whole.is_ok() {
        assert!(ranged.is_ok(), "whole but not in part: {header:?}");
        assert!(part == out[start..start + len], "{header:?}");
    }
    let index = u32::try_from(random.below(header.nblocks() as usize + 1)).unwrap();
    let len = header.blocksize.min(header.nbytes) as usize;
    let _ = decoder.decode_block(chunk, index, &mut out[..len]);
    whole.is_ok()
}

#[test]
fn mutated_chunks_are_errors_or_data() {
    let mut random = Random::new(11);
    let mut decoder = ChunkDecoder::new();
    let samples = samples(&mut random);
    let (mut tried, mut refused) = (0, 0);
    for round in 0..400 {
        for sample in &samples {
            let mut chunk = sample.clone();
            for _ in 0..=random.below(3) {
                // Every other round in the parts that steer: header, starts, first lengths.
                let span = if round % 2 == 0 { chunk.len() } else { 48 };
                let at = random.below(span.min(chunk.len()));
                chunk[at] = match random.below(4) {
                    0 => 0xFF,
                    1 => 0,
                    2 => chunk[at] ^ (1 << random.below(8)),
                    _ => u8::try_from(random.below(256)).unwrap(),
                };
            }
            tried += 1;
            refused += usize::from(!try_all(&mut decoder, &mut random, &chunk));
        }
    }
    assert_eq!(tried, 400 * 180);
    assert!(refused > tried / 4, "{refused} of {tried} refused");
}

#[test]
fn a_chunk_cut_anywhere_is_cut_short() {
    let mut random = Random::new(12);
    let mut decoder = ChunkDecoder::new();
    for chunk in samples(&mut random) {
        let header = ChunkHeader::parse(chunk.first_chunk().unwrap()).unwrap();
        let mut out = vec![0; header.nbytes as usize];
        for len in (0..chunk.len()).step_by(7) {
            let error = decoder.decode(&chunk[..len], &mut out).unwrap_err();
            assert_eq!(error.fault(), Fault::CutShort, "{error}");
        }
    }
}

#[test]
fn a_chunk_cut_anywhere_with_its_length_adapted_is_refused() {
    let mut random = Random::new(13);
    let mut decoder = ChunkDecoder::new();
    for chunk in samples(&mut random) {
        for len in (HEADER_LEN..chunk.len()).step_by(5) {
            let mut cut = chunk[..len].to_vec();
            cut[12..16].copy_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
            let accepted = try_all(&mut decoder, &mut random, &cut);
            assert!(!accepted, "{len} of {} bytes", chunk.len());
        }
    }
}

#[test]
fn bytes_at_random_after_a_sound_header_are_refused() {
    let mut random = Random::new(14);
    let mut decoder = ChunkDecoder::new();
    for round in 0..20_000 {
        let code = u8::try_from(random.below(5)).unwrap();
        let nbytes = 200 + random.below(20_000);
        let body = Kind::Noise.data(&mut random, 40 + nbytes / 4);
        let mut chunk = header(code << 5 | 0x10, 4, nbytes, nbytes, 20 + body.len());
        chunk.extend_from_slice(&20_u32.to_le_bytes());
        chunk.extend_from_slice(&body);
        let stream_len = u32::try_from(body.len() - 4).unwrap();
        chunk[20..24].copy_from_slice(&stream_len.to_le_bytes());
        assert!(!try_all(&mut decoder, &mut random, &chunk), "round {round}");
    }
}

/// A header of version 2 with these fields.
fn header(flags: u8, typesize: u8, nbytes: usize, blocksize: usize, ctbytes: usize) -> Vec<u8> {
    let mut bytes = vec![2, 1, flags, typesize];
    for size in [nbytes, blocksize, ctbytes] {
        bytes.extend_from_slice(&u32::try_from(size).unwrap().to_le_bytes());
    }
    bytes
}

fn parse(bytes: &[u8]) -> Result<ChunkHeader, ChunkError> {
    ChunkHeader::parse(bytes.first_chunk().unwrap())
}

#[test]
fn a_buffer_of_zeros_is_no_chunk() {
    // c-blosc #229: a division by the block size.
    let error = ChunkDecoder::new()
        .decode(&[0; 64], &mut [0; 64])
        .unwrap_err();
    assert_eq!(error.fault(), Fault::Damaged);
}

#[test]
fn a_block_size_of_zero_is_damage() {
    let error = parse(&header(0x31, 8, 1000, 0, 500)).unwrap_err();
    assert_eq!(error.fault(), Fault::Damaged);
    assert!(error.to_string().contains("blocksize 0"), "{error}");
}

#[test]
fn two_gigabytes_do_not_come_out_of_twenty_bytes() {
    let nbytes = MAX_NBYTES as usize;
    for code in 0..5 {
        for blocksize in [1, 128, 1 << 20, nbytes] {
            let error = parse(&header(code << 5, 1, nbytes, blocksize, 20)).unwrap_err();
            assert_eq!(error.fault(), Fault::Damaged, "{code} {blocksize}");
        }
    }
}

#[test]
fn sizes_that_do_not_go_together_are_damage() {
    let cases = [
        ("typesize 0", header(0x02, 0, 10, 10, 26)),
        (
            "nbytes beyond the format",
            header(0x10, 1, 0x8000_0000, 100, 1000),
        ),
        ("ctbytes below a header", header(0x12, 1, 0, 0, 15)),
        ("pure copy one byte short", header(0x12, 1, 100, 100, 115)),
        ("pure copy one byte long", header(0x12, 1, 100, 100, 117)),
        ("block beyond the data", header(0x10, 1, 200, 201, 100)),
        ("nothing, but long", header(0x12, 1, 0, 1, 17)),
        (
            "split block with bytes over",
            header(0x20, 8, 9000, 2049, 5000),
        ),
    ];
    for (what, bytes) in cases {
        let error = parse(&bytes).expect_err(what);
        assert_eq!(error.fault(), Fault::Damaged, "{what}: {error}");
    }
}

#[test]
fn what_other_formats_write_is_unsupported() {
    let mut later = header(0x11, 8, 1000, 1000, 500);
    later[0] = 6;
    let error = parse(&later).unwrap_err();
    assert_eq!(error.fault(), Fault::Unsupported);
    assert!(error.to_string().contains("Blosc 2"), "{error}");

    let reserved = parse(&header(0x18, 8, 1000, 1000, 500)).unwrap_err();
    assert_eq!(reserved.fault(), Fault::Unsupported);

    let mut chunk = header(0xB0, 8, 1000, 1000, 500);
    chunk.resize(500, 0);
    let error = ChunkDecoder::new()
        .decode(&chunk, &mut [0; 1000])
        .unwrap_err();
    assert_eq!(error, ChunkError::UnknownCompressor { code: 5 });
}

#[test]
fn blocks_that_start_outside_their_chunk_are_damage() {
    let data: Vec<u8> = (0..4000_u32).flat_map(u32::to_le_bytes).collect();
    let settings = ChunkSettings::default().blocksize(Some(4000));
    let mut chunk = Vec::new();
    let header = ChunkEncoder::new(settings)
        .unwrap()
        .encode(&data, &mut chunk)
        .unwrap();
    assert_eq!(header.nblocks(), 4);
    for start in [
        0,
        16,
        31,
        header.ctbytes - 3,
        header.ctbytes,
        header.ctbytes + 1,
        0x7FFF_FFFF,
        0x8000_0000,
        u32::MAX,
    ] {
        let mut bad = chunk.clone();
        bad[20..24].copy_from_slice(&start.to_le_bytes());
        let mut out = vec![0; data.len()];
        let error = ChunkDecoder::new().decode(&bad, &mut out).unwrap_err();
        assert_eq!(error.fault(), Fault::Damaged, "{start}: {error}");
        // The blocks before and after are not touched by it.
        let mut last = vec![0; 4000];
        ChunkDecoder::new()
            .decode_block(&bad, 3, &mut last)
            .unwrap();
        assert!(last == data[12_000..]);
    }
}

#[test]
fn blocks_may_lie_in_any_order() {
    // C-Blosc with several threads writes them as they are done.
    let data: Vec<u8> = (0..2000_u32).flat_map(u32::to_le_bytes).collect();
    let settings = ChunkSettings::default().blocksize(Some(4000));
    let mut chunk = Vec::new();
    ChunkEncoder::new(settings)
        .unwrap()
        .encode(&data, &mut chunk)
        .unwrap();
    let start = |at: usize| u32::from_le_bytes(*chunk[at..].first_chunk().unwrap());
    let (first, second) = (start(16) as usize, start(20) as usize);
    let end = u32::try_from(chunk.len()).unwrap();
    let moved = 24 + end - u32::try_from(second).unwrap();
    let mut turned = chunk[..16].to_vec();
    turned.extend_from_slice(&moved.to_le_bytes());
    turned.extend_from_slice(&24_u32.to_le_bytes());
    turned.extend_from_slice(&chunk[second..]);
    turned.extend_from_slice(&chunk[first..second]);
    let mut out = vec![0; data.len()];
    ChunkDecoder::new().decode(&turned, &mut out).unwrap();
    assert!(out == data);
    assert!(oracle::decompress(&turned, data.len()) == data);
}

#[test]
fn a_match_length_that_wraps_32_bits_is_damage() {
    // c-blosc #405: one literal, then a match whose length bytes add up to more than 2^31.
    let mut stream = vec![0x00, b'a', 0xE0];
    stream.resize(8_420_000 + 100_000, 0xFF);
    stream.extend_from_slice(&[0, 0, 0, b'z']);
    let nbytes = 8 << 20;
    let mut chunk = header(0x10, 1, nbytes, nbytes, 24 + stream.len());
    chunk.extend_from_slice(&20_u32.to_le_bytes());
    chunk.extend_from_slice(&u32::try_from(stream.len()).unwrap().to_le_bytes());
    chunk.extend_from_slice(&stream);
    let mut out = vec![0; nbytes];
    let error = ChunkDecoder::new().decode(&chunk, &mut out).unwrap_err();
    assert!(matches!(error, ChunkError::Stream { .. }), "{error}");
}

#[test]
fn wrong_requests_are_usage() {
    let mut chunk = Vec::new();
    let mut encoder = ChunkEncoder::new(ChunkSettings::default()).unwrap();
    encoder.encode(&[1; 1000], &mut chunk).unwrap();
    let mut decoder = ChunkDecoder::new();
    let usage = |error: ChunkError| assert_eq!(error.fault(), Fault::Usage, "{error}");
    usage(decoder.decode(&chunk, &mut [0; 999]).unwrap_err());
    usage(decoder.decode_range(&chunk, 999, &mut [0; 2]).unwrap_err());
    usage(
        decoder
            .decode_range(&chunk, u32::MAX, &mut [0])
            .unwrap_err(),
    );
    usage(decoder.decode_block(&chunk, 1, &mut [0; 1000]).unwrap_err());
    usage(decoder.decode_block(&chunk, 0, &mut [0; 1001]).unwrap_err());
    // Bytes after the end of a chunk are damage.
    chunk.push(0);
    let error = decoder.decode(&chunk, &mut [0; 1000]).unwrap_err();
    assert_eq!(error.fault(), Fault::Damaged);
    for (level, typesize) in [(10, 1), (5, 0)] {
        let settings = ChunkSettings::default().level(level).typesize(typesize);
        usage(ChunkEncoder::new(settings).err().unwrap());
    }
}

#[test]
fn the_end_mark_decodes_to_nothing() {
    let header = ChunkHeader::parse(&ChunkHeader::END_MARK).unwrap();
    assert!(header.is_end_mark() && header.is_pure_copy());
    ChunkDecoder::new()
        .decode(&ChunkHeader::END_MARK, &mut [])
        .unwrap();
    // One bit away from it, nothing of typesize 0 is accepted.
    for bit in 0..128 {
        let mut bytes = ChunkHeader::END_MARK;
        bytes[bit / 8] ^= 1 << (bit % 8);
        if bytes[3] == 0 {
            assert!(ChunkHeader::parse(&bytes).is_err(), "bit {bit}");
        }
    }
}

#[test]
fn a_block_does_not_begin_within_the_table() {
    // The only entry of the table points to itself, and says 16 there, too: as many bytes as the block has.
    let mut chunk = vec![2, 1, 0x30, 1];
    for number in [16_u32, 16, 36, 16] {
        chunk.extend(number.to_le_bytes());
    }
    chunk.extend(*b"sixteen bytes of");
    let mut data = [0; 16];
    let error = ChunkDecoder::new().decode(&chunk, &mut data).unwrap_err();
    assert!(
        matches!(error, ChunkError::BlockStart { found: 16, .. }),
        "{error}"
    );
    // Behind the table it may.
    chunk[16] = 20;
    chunk.splice(20..20, 16_u32.to_le_bytes());
    chunk[12] = 40;
    ChunkDecoder::new().decode(&chunk, &mut data).unwrap();
    assert_eq!(&data, b"sixteen bytes of");
}
