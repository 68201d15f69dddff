//! Chunks that one build writes and another one reads, and how long it takes: for the back ends with and without C.
//!
//! ```text
//! back_ends write FILE COUNT   random chunks of every compressor, level, filter and typesize that this build can write
//! back_ends read FILE          reads and compares them
//! back_ends time               MB/s of every compressor of this build
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::field_reassign_with_default,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a tool for tests"
)]

use blosc1::{ChunkDecoder, ChunkEncoder, ChunkSettings, Compressor, Filter, compress, decompress};
use std::time::Instant;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["write", file, count] => write(file, count.parse().unwrap()),
        ["read", file] => read(file),
        ["time"] => time(),
        _ => panic!("write FILE COUNT, read FILE or time"),
    }
}

/// Pseudorandom numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D);
        ((u128::from(number) * bound as u128) >> 64) as usize
    }
}

/// Content that is anything from noise to a single byte.
fn content(random: &mut Random, len: usize) -> Vec<u8> {
    let (kind, step) = (random.below(5), 1 + random.below(5000));
    (0..len)
        .map(|i| match kind {
            0 => random.below(256) as u8,
            1 => step as u8,
            2 => (i * i / step) as u8,
            3 => ((i / 8 * step) >> (8 * (i % 8))) as u8,
            _ => b"some words, "[(i + random.below(2)) % 12],
        })
        .collect()
}

fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
    })
}

fn writable() -> Vec<Compressor> {
    let all = Compressor::ALL.into_iter();
    all.filter(|compressor| compressor.is_available()).collect()
}

fn write(file: &str, count: usize) {
    let (mut random, mut out) = (Random(26), Vec::new());
    let compressors = writable();
    for number in 0..count {
        let longest = if number % 50 == 0 { 300_000 } else { 4000 };
        let len = random.below(longest);
        let data = content(&mut random, len);
        let mut settings = ChunkSettings::default();
        settings.compressor = compressors[number % compressors.len()];
        settings.level = random.below(10) as u8;
        settings.filter = [Filter::None, Filter::Byte, Filter::Bit][random.below(3)];
        settings.typesize = [1, 2, 3, 4, 8, 16][random.below(6)];
        let chunk = compress(&data, settings).unwrap();
        out.extend((chunk.len() as u64).to_le_bytes());
        out.extend(digest(&data).to_le_bytes());
        out.extend(chunk);
    }
    std::fs::write(file, out).unwrap();
    println!("{count} chunks of {compressors:?}");
}

fn read(file: &str) {
    let bytes = std::fs::read(file).unwrap();
    let (mut rest, mut count) = (&bytes[..], 0);
    while let Some((head, chunk)) = rest.split_first_chunk::<16>() {
        let len = u64::from_le_bytes(head[..8].try_into().unwrap()) as usize;
        let expected = u64::from_le_bytes(head[8..].try_into().unwrap());
        let data = decompress(&chunk[..len]);
        let data = data.unwrap_or_else(|error| panic!("chunk {count}: {error}"));
        assert_eq!(digest(&data), expected, "chunk {count}");
        rest = &chunk[len..];
        count += 1;
    }
    println!("{count} chunks read, all as they were");
}

/// The best of several rounds, in MB/s of content.
fn speed(bytes: usize, mut work: impl FnMut()) -> f64 {
    let round = |_| {
        let begun = Instant::now();
        work();
        begun.elapsed().as_secs_f64()
    };
    let best = (0..15).map(round).fold(f64::INFINITY, f64::min);
    bytes as f64 / best / 1e6
}

fn time() {
    let mut random = Random(7);
    let mut value = 0.0_f64;
    let mut step = || {
        value += random.below(2001) as f64 / 1000.0 - 1.0;
        value
    };
    let walk: Vec<u8> = (0..1 << 17).flat_map(|_| step().to_le_bytes()).collect();
    let times: Vec<u8> = (0..1u64 << 17)
        .flat_map(|i| (1_700_000_000_000 + i * 250 + i % 7).to_le_bytes())
        .collect();
    let words = [
        "chunk ",
        "of ",
        "a ",
        "file ",
        "is ",
        "read ",
        "by ",
        "position ",
    ];
    let mut text: Vec<u8> = Vec::new();
    while text.len() < 1 << 20 {
        text.extend(words[random.below(words.len())].bytes());
    }
    for (name, data, typesize) in [
        ("f64 walk", &walk, 8),
        ("i64 times", &times, 8),
        ("text", &text, 1),
    ] {
        for compressor in writable() {
            let mut settings = ChunkSettings::default();
            (settings.compressor, settings.level) = (compressor, compressor.default_level());
            settings.typesize = typesize;
            let (mut encoder, mut chunk) = (ChunkEncoder::new(settings).unwrap(), Vec::new());
            let written = speed(data.len(), || {
                chunk.clear();
                encoder.encode(data, &mut chunk).unwrap();
            });
            let (mut decoder, mut back) = (ChunkDecoder::new(), vec![0; data.len()]);
            let read = speed(data.len(), || {
                decoder.decode(&chunk, &mut back).unwrap();
            });
            let size = chunk.len();
            println!(
                "{name:10} {:8} {size:8} bytes, write {written:6.0}, read {read:6.0} MB/s",
                compressor.name()
            );
        }
    }
}
