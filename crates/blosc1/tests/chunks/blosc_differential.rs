//! Tests that C-Blosc 1.21 reads our chunks, and that we read its chunks.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use blosc1::{ChunkDecoder, ChunkEncoder, ChunkSettings, Compressor, Filter};

use oracle::{Kind, Random};
use testkit::oracle;

/// Levels, compressors, filters, element sizes, block sizes at random.
fn settings(random: &mut Random) -> ChunkSettings {
    let typesize = match random.below(4) {
        0 => random.pick(&[1, 2, 4, 8]),
        1 => 1 + random.below(17),
        _ => 1 + random.below(255),
    };
    let blocksize = match random.below(4) {
        0 => Some(128 << random.below(10)),
        1 => Some(1 + random.below(40_000)),
        _ => None,
    };
    ChunkSettings::default()
        .compressor(random.pick(&Compressor::ALL))
        .level(u8::try_from(random.below(10)).unwrap())
        .filter(random.pick(&Filter::ALL))
        .typesize(u8::try_from(typesize).unwrap())
        .blocksize(blocksize.map(|size| u32::try_from(size).unwrap()))
}

/// Lengths around every edge of the format, most of them short, a few up to 4 MiB.
fn length(random: &mut Random, typesize: u8) -> usize {
    if random.below(500) == 0 {
        return random.below(4 << 20);
    }
    let typesize = usize::from(typesize);
    let edge = match random.below(8) {
        0 => random.below(4),
        1 => typesize * random.below(4),
        2 => 128,
        3 => typesize * (120 + random.below(16)),
        4 => typesize * 8 * (1 + random.below(64)),
        5 => random.below(4096),
        6 => random.below(40_000),
        _ => random.pick(&[32 << 10, 64 << 10, 128 << 10]),
    };
    match random.below(3) {
        0 => edge,
        1 => edge + random.below(3),
        _ => edge.saturating_sub(random.below(3)),
    }
}

/// Decodes with ours and compares, whole, by ranges and by blocks.
fn check_ours(decoder: &mut ChunkDecoder, random: &mut Random, chunk: &[u8], data: &[u8]) {
    let mut whole = vec![0x5A; data.len()];
    let header = decoder.decode(chunk, &mut whole).unwrap();
    assert!(whole == data, "decode of {header:?}");
    for _ in 0..2 {
        let start = random.below(data.len() + 1);
        let len = random.below(data.len() - start + 1);
        let mut part = vec![0x5A; len];
        let start_u32 = u32::try_from(start).unwrap();
        decoder.decode_range(chunk, start_u32, &mut part).unwrap();
        assert!(
            part == data[start..start + len],
            "bytes {start}+{len} of {header:?}"
        );
    }
    if header.nblocks() > 0 {
        let index = random.below(header.nblocks() as usize);
        let start = index * header.blocksize as usize;
        let end = data.len().min(start + header.blocksize as usize);
        let mut block = vec![0x5A; end - start];
        let index = u32::try_from(index).unwrap();
        decoder.decode_block(chunk, index, &mut block).unwrap();
        assert!(block == data[start..end], "block {index} of {header:?}");
    }
}

/// One case: ours against C-Blosc's, both ways.
fn check_case(
    decoder: &mut ChunkDecoder,
    random: &mut Random,
    settings: ChunkSettings,
    len: usize,
) -> [usize; 2] {
    let kind = random.pick(&Kind::ALL);
    let data = kind.data(random, len);

    let mut ours = b"before".to_vec();
    let header = ChunkEncoder::new(settings)
        .unwrap()
        .encode(&data, &mut ours)
        .unwrap();
    let ours = ours.strip_prefix(b"before").unwrap();
    assert_eq!(ours.len(), header.ctbytes as usize);
    assert!(ours.len() <= data.len() + 16, "{settings:?}");
    assert!(
        oracle::decompress(ours, len) == data,
        "{settings:?} {kind:?} {len}"
    );
    check_ours(decoder, random, ours, &data);

    // More room than a pure copy needs lets C-Blosc give chunks longer than that.
    let spare = random.pick(&[0, 0, 4 * len]);
    let theirs = oracle::compress(&settings, &data, spare);
    check_ours(decoder, random, &theirs, &data);
    [ours.len(), theirs.len().min(len + 16)]
}

/// How many cases to try, from which seed. `BLOSCPACK_DIFFERENTIAL=CASES,SEED` sets both for a long run.
fn effort() -> (usize, u64) {
    let Ok(set) = std::env::var("BLOSCPACK_DIFFERENTIAL") else {
        return (testkit::effort::cases(20_000, 8), 1);
    };
    let (cases, seed) = set.split_once(',').unwrap();
    (cases.parse().unwrap(), seed.parse().unwrap())
}

#[test]
fn chunks_agree_with_c_blosc_both_ways() {
    let (wanted, seed) = effort();
    let mut random = Random::new(seed);
    let mut decoder = ChunkDecoder::new();
    let mut sizes = [0_u64; 2];
    for case in 1..=wanted {
        let mut settings = settings(&mut random);
        let mut len = length(&mut random, settings.typesize);
        if settings.compressor == Compressor::Zstd && settings.level > 7 {
            // The highest levels set up tables of many MiB for every call of C-Blosc.
            settings.level = random.pick(&[7, 7, 7, 8, 9]);
            len = len.min(10_000);
        }
        let made = check_case(&mut decoder, &mut random, settings, len);
        for (sum, size) in sizes.iter_mut().zip(made) {
            *sum += size as u64;
        }
        if case % 10_000 == 0 {
            println!("{case} cases; sizes {sizes:?}");
        }
    }
    let [ours, theirs] = sizes;
    assert!(ours * 100 <= theirs * 102, "{ours} of {theirs} bytes");
}

#[test]
fn large_chunks_agree_with_c_blosc_both_ways() {
    let mut random = Random::new(2);
    let mut decoder = ChunkDecoder::new();
    for compressor in Compressor::ALL {
        for filter in Filter::ALL {
            for typesize in [1, 4, 8, 16, 24] {
                let level = u8::try_from(1 + random.below(6)).unwrap();
                let settings = ChunkSettings::default()
                    .compressor(compressor)
                    .level(level)
                    .filter(filter)
                    .typesize(typesize);
                let len = (1 << 20) + random.below(1 << 20);
                check_case(&mut decoder, &mut random, settings, len);
            }
        }
    }
}

#[test]
fn a_used_encoder_gives_the_same_bytes_as_a_new_one() {
    let mut random = Random::new(3);
    for compressor in Compressor::ALL {
        for level in 1..=9 {
            let settings = ChunkSettings::default().compressor(compressor).level(level);
            let mut used = ChunkEncoder::new(settings).unwrap();
            for kind in Kind::ALL {
                let len = 1000 + random.below(100_000);
                let data = kind.data(&mut random, len);
                let (mut from_used, mut from_new) = (Vec::new(), Vec::new());
                used.encode(&data, &mut from_used).unwrap();
                let mut new = ChunkEncoder::new(settings).unwrap();
                new.encode(&data, &mut from_new).unwrap();
                assert!(from_used == from_new, "{settings:?} {kind:?} {len}");
            }
        }
    }
}

#[test]
fn headers_of_pure_copies_are_those_of_c_blosc() {
    let mut random = Random::new(4);
    for _ in 0..2000 {
        let mut settings = settings(&mut random);
        settings.blocksize = None;
        let len = match random.below(2) {
            0 => random.below(128),
            _ => {
                settings.level = 0;
                random.below(300_000)
            }
        };
        let data = Kind::Noise.data(&mut random, len);
        let mut ours = Vec::new();
        ChunkEncoder::new(settings)
            .unwrap()
            .encode(&data, &mut ours)
            .unwrap();
        let theirs = oracle::compress(&settings, &data, 0);
        assert!(
            ours == theirs,
            "{settings:?} {len}: {:?} {:?}",
            &ours[..16],
            &theirs[..16]
        );
    }
}
