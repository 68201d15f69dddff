//! The back ends with and without C, against each other.
#![allow(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "test data"
)]

use super::compress::Compress;
use super::{lz4, lz4_pure, zlib, zlib_pure, zstd, zstd_pure};
use testkit::golden::{Random, sensor};

/// Decoders of one format: the stream, and its length.
type Decode = Box<dyn FnMut(&[u8], &mut [u8]) -> bool>;

struct Format {
    name: &'static str,
    encoders: Vec<Box<dyn Compress>>,
    with_c: Decode,
    pure: Decode,
}

fn formats() -> [Format; 3] {
    let mut zlib_c = zlib::Decoder::default();
    let mut zlib_rust = zlib_pure::Decoder::default();
    let mut zstd_c = zstd::Decoder::default();
    let mut zstd_rust = zstd_pure::Decoder::default();
    [
        Format {
            name: "lz4",
            encoders: vec![
                Box::new(lz4::Encoder::new(9).unwrap()),
                Box::new(lz4::Encoder::new(1).unwrap()),
                Box::new(lz4::HcEncoder::new(5).unwrap()),
                Box::new(lz4_pure::Encoder::new(9).unwrap()),
            ],
            with_c: Box::new(lz4::decompress),
            pure: Box::new(lz4_pure::decompress),
        },
        Format {
            name: "zlib",
            encoders: vec![
                Box::new(zlib::Encoder::new(1).unwrap()),
                Box::new(zlib::Encoder::new(6).unwrap()),
                Box::new(zlib_pure::Encoder::new(1).unwrap()),
                Box::new(zlib_pure::Encoder::new(6).unwrap()),
                Box::new(zlib_pure::Encoder::new(9).unwrap()),
            ],
            with_c: Box::new(move |src, dst| zlib_c.decompress(src, dst)),
            pure: Box::new(move |src, dst| zlib_rust.decompress(src, dst)),
        },
        Format {
            name: "zstd",
            encoders: [1, 2, 4, 6, 9].map(zstd_encoder).into(),
            with_c: Box::new(move |src, dst| zstd_c.decompress(src, dst).unwrap()),
            pure: Box::new(move |src, dst| zstd_rust.decompress(src, dst).unwrap()),
        },
    ]
}

fn zstd_encoder(level: u8) -> Box<dyn Compress> {
    Box::new(zstd::Encoder::new(level).unwrap())
}

/// A stream of one of the kinds that occur in chunks, of any length up to 3,000 bytes, now and then more.
fn stream(random: &mut Random) -> Vec<u8> {
    let len = match random.below(40) {
        0 => 1 + random.below(200_000),
        _ => 1 + random.below(3000),
    };
    let kind = random.below(6);
    let step = 1 + random.below(300) as u64;
    match kind {
        0 => (0..len).map(|_| random.next() as u8).collect(),
        1 => sensor(len, step),
        2 => (0..len as u64).map(|i| (i / step) as u8).collect(),
        3 => vec![step as u8; len],
        4 => {
            let mut text = b"a few words, repeated with changes; ".repeat(len.div_ceil(36));
            text.truncate(len);
            for _ in 0..len / 20 {
                text[random.below(len)] = random.next() as u8;
            }
            text
        }
        _ => (0..len).map(|_| random.below(3) as u8).collect(),
    }
}

/// 20,000 streams by default, each by every encoder of one format; then each once more, damaged.
#[test]
fn each_reads_what_the_other_writes_and_damage_is_not_read_in_two_ways() {
    let mut random = Random::new(26);
    let mut formats = formats();
    let (mut packed, mut read, mut refused, mut stricter) = (Vec::new(), 0, 0, [0; 2]);
    for at in 0..20_000 {
        let content = stream(&mut random);
        let format = &mut formats[at % 3];
        let encoder = random.below(format.encoders.len());
        packed.resize(content.len() * 2 + 100, 0);
        let len = format.encoders[encoder]
            .compress(&content, &mut packed)
            .unwrap();
        let src = &mut packed[..len];
        let (mut one, mut other) = (vec![0; content.len()], vec![1; content.len()]);
        let what = format!("stream {at}, {}, encoder {encoder}", format.name);
        assert!((format.with_c)(src, &mut one) && one == content, "{what}");
        assert!((format.pure)(src, &mut other) && other == content, "{what}");
        read += 1;
        for dst_len in [content.len() - 1, content.len() + 1] {
            let mut dst = vec![0; dst_len];
            assert!(!(format.pure)(src, &mut dst), "{what}, {dst_len} bytes");
        }
        match random.below(2) {
            0 => src[random.below(len)] ^= 1 << random.below(8),
            _ => src[random.below(len)] = random.next() as u8,
        }
        let cut = match random.below(4) {
            0 => random.below(len),
            _ => len,
        };
        let (with_c, pure) = (
            (format.with_c)(&src[..cut], &mut one),
            (format.pure)(&src[..cut], &mut other),
        );
        assert!(!(pure && with_c) || one == other, "{what}, damaged");
        refused += u32::from(!pure && !with_c);
        stricter[0] += u32::from(with_c && !pure);
        stricter[1] += u32::from(pure && !with_c);
    }
    println!(
        "{read} read by both; damaged: {refused} refused by both, and by the one without C or with C alone {stricter:?}"
    );
    assert!(read == 20_000 && refused > 5000, "{read} {refused}");
    // The C libraries ask less of the fields of a frame: what they refuse is never read.
    assert!(stricter[0] < 500 && stricter[1] == 0, "{stricter:?}");
}

#[test]
fn dictionaries_of_lz4_are_found() {
    let dictionary: Vec<u8> = (0..300_u32).map(|i| (i * i / 7) as u8).collect();
    // A match of 30 at offset 290 + 1: from the dictionary into what was decoded; then the last literals.
    for (offset, len) in [(291_u16, 18), (10, 30), (301, 4), (11, 15)] {
        let mut src = vec![0x1F, b'x', 0, 0, len - 4, 0xC0];
        if len - 4 < 15 {
            src = vec![0x10 | (len - 4), b'x', 0, 0, 0xC0];
        } else {
            src[4] = len - 4 - 15;
        }
        src[2..4].copy_from_slice(&offset.to_le_bytes());
        src.extend(b"literals end");
        let total = 1 + usize::from(len) + 12;
        let (mut one, mut other) = (vec![0; total], vec![0; total]);
        assert!(lz4::decompress_with(&dictionary, &src, &mut one));
        assert!(lz4_pure::decompress_with(&dictionary, &src, &mut other));
        assert_eq!(one, other, "{offset} {len}");
    }
    let beyond = [&[0x10, b'x', 46, 1, 0xC0][..], b"literals end"].concat();
    let mut dst = [0; 17];
    assert!(!lz4::decompress_with(&dictionary, &beyond, &mut dst));
    assert!(!lz4_pure::decompress_with(&dictionary, &beyond, &mut dst));
}
