//! Compares our blosclz with C-Blosc's, stream by stream: each decodes the streams and filtered blocks of the other.
//! The streams travel in chunks built by hand, so that the rest of this crate is not involved.
#![allow(unsafe_code, reason = "calls C-Blosc")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "made-up data may be cut"
)]

use crate::compressor::blosclz;
use crate::filter;
use std::ffi::c_void;

/// Byte 2 of a chunk: shuffle, bitshuffle, "streams are not split"; blosclz is compressor 0.
const SHUFFLE: u8 = 1;
const BITSHUFFLE: u8 = 4;
const ONE_STREAM: u8 = 16;

/// A chunk of one block of one stream.
fn chunk(flags: u8, typesize: u8, nbytes: usize, stream: &[u8]) -> Vec<u8> {
    let mut chunk = vec![2, 1, flags | ONE_STREAM, typesize];
    for number in [nbytes, nbytes, 16 + 4 + 4 + stream.len(), 20, stream.len()] {
        chunk.extend((number as u32).to_le_bytes());
    }
    chunk.extend(stream);
    chunk
}

/// The result of decoding a chunk with C-Blosc.
fn c_decode(chunk: &[u8], nbytes: usize) -> Option<Vec<u8>> {
    let mut out = vec![0u8; nbytes];
    // SAFETY: the chunk's header states the chunk's length and that of `out`.
    let len = unsafe {
        let (from, to) = (chunk.as_ptr().cast(), out.as_mut_ptr().cast::<c_void>());
        blosc_src::blosc_decompress_ctx(from, to, nbytes, 1)
    };
    (len == nbytes as i32).then_some(out)
}

/// The streams of a chunk compressed by C-Blosc, each with its decompressed length.
fn c_streams(level: u8, filter: u8, typesize: usize, src: &[u8]) -> Vec<(Vec<u8>, usize)> {
    let mut chunk = vec![0u8; src.len() + 16];
    // SAFETY: lengths as they are; the name ends with a zero.
    let len = unsafe {
        blosc_src::blosc_compress_ctx(
            level.into(),
            filter.into(),
            typesize,
            src.len(),
            src.as_ptr().cast(),
            chunk.as_mut_ptr().cast(),
            chunk.len(),
            c"blosclz".as_ptr(),
            0,
            1,
        )
    };
    assert!(len > 0);
    let word = |at: usize| u32::from_le_bytes(*chunk[at..].first_chunk().unwrap()) as usize;
    if chunk[2] & 2 != 0 {
        return Vec::new();
    }
    let (nbytes, blocksize) = (word(4), word(8));
    let mut streams = Vec::new();
    for block in 0..nbytes.div_ceil(blocksize) {
        let size = blocksize.min(nbytes - block * blocksize);
        let whole = chunk[2] & ONE_STREAM != 0 || size < blocksize;
        let count = if whole { 1 } else { typesize };
        let mut at = word(16 + 4 * block);
        for _ in 0..count {
            let len = word(at);
            streams.push((chunk[at + 4..at + 4 + len].to_vec(), size / count));
            at += 4 + len;
        }
    }
    streams
}

/// Pseudo-random numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.roll() >> 8) as usize % end
    }
}

/// Data as it comes, of `count` numbers of 8 bytes.
fn kinds(count: usize) -> Vec<(&'static str, Vec<u8>)> {
    let mut dice = Dice(count as u64 * 2 + 1);
    let mut at = 0.0;
    let walk = (0..count).flat_map(|_| {
        at += dice.below(1000) as f64 / 500.0 - 1.0;
        f64::to_le_bytes(at)
    });
    let walk = walk.collect();
    let ramp = (0..count as u64).flat_map(u64::to_le_bytes).collect();
    let noise: Vec<u8> = (0..count).flat_map(|_| dice.roll().to_le_bytes()).collect();
    let words: Vec<&[u8]> = noise.chunks(7).take(200).collect();
    let mut text = Vec::new();
    while text.len() < 8 * count {
        text.extend(words[dice.below(words.len())]);
    }
    text.truncate(8 * count);
    let mut runs = Vec::new();
    while runs.len() < 8 * count {
        let (byte, len) = (dice.below(5) as u8, 1 + dice.below(3000));
        runs.extend(std::iter::repeat_n(byte, len));
    }
    runs.truncate(8 * count);
    let few = noise.iter().map(|b| b % 3).collect();
    vec![
        ("zeros", vec![0; 8 * count]),
        ("walk", walk),
        ("ramp", ramp),
        ("text", text),
        ("runs", runs),
        ("three letters", few),
        ("noise", noise),
    ]
}

#[test]
fn c_blosc_reads_our_streams() {
    let mut encoder = blosclz::Encoder::new();
    let mut read = 0;
    for count in (2..80).chain([500, 1024, 4100, 9300, 16_384, 30_000]) {
        for (what, data) in kinds(count) {
            let mut shuffled = vec![0; data.len()];
            filter::shuffle(8, &data, &mut shuffled);
            for src in [&data, &shuffled] {
                for level in 1..=9 {
                    let mut stream = vec![0; src.len()];
                    let Some(len) = encoder.compress(level, src, &mut stream) else {
                        continue;
                    };
                    let chunk = chunk(0, 1, src.len(), &stream[..len]);
                    let back = c_decode(&chunk, src.len());
                    assert!(back.as_ref() == Some(src), "{what}, {count}, level {level}");
                    read += 1;
                }
            }
        }
    }
    assert!(read > 6000, "{read} streams");
}

#[test]
fn we_read_what_c_blosc_writes() {
    let mut read = 0;
    for count in [16, 40, 500, 1024, 4100, 9300, 30_000, 140_000] {
        for (what, data) in kinds(count) {
            for (level, filter, typesize) in (1..=9)
                .flat_map(|level| [(level, 0, 1), (level, 1, 8), (level, 2, 8), (level, 1, 4)])
            {
                for (stream, len) in c_streams(level, filter, typesize, &data) {
                    if stream.len() == len {
                        continue; // stored
                    }
                    let mut back = vec![0; len];
                    let good = blosclz::decompress(&stream, &mut back);
                    let theirs = c_decode(&chunk(0, 1, len, &stream), len);
                    assert!(
                        good && Some(back) == theirs,
                        "{what}, {count}, level {level}"
                    );
                    read += 1;
                }
            }
        }
    }
    assert!(read > 2000, "{read} streams");
}

/// Our decoder accepts and refuses the same chunks as C-Blosc, with the same result.
#[test]
fn damaged_streams_are_judged_alike() {
    let mut encoder = blosclz::Encoder::new();
    let mut dice = Dice(4321);
    let (mut good, mut refused) = (0, 0);
    for (_, data) in kinds(150) {
        let mut stream = vec![0; data.len()];
        let Some(len) = encoder.compress(9, &data, &mut stream) else {
            continue;
        };
        for _ in 0..20_000 {
            let mut bad = stream[..len].to_vec();
            let at = dice.below(len);
            bad[at] ^= 1 << dice.below(8);
            if bad.len() == data.len() {
                continue;
            }
            let mut ours = vec![0; data.len()];
            let accepted = blosclz::decompress(&bad, &mut ours);
            match c_decode(&chunk(0, 1, data.len(), &bad), data.len()) {
                Some(theirs) => {
                    assert!(accepted && ours == theirs);
                    good += 1;
                }
                None => {
                    assert!(!accepted);
                    refused += 1;
                }
            }
        }
    }
    assert!(
        good > 1000 && refused > 1000,
        "{good} good, {refused} refused"
    );
}

/// C-Blosc refuses a stream that ends with a match, near or far.
#[test]
fn the_last_instruction_is_judged_alike() {
    // A run of 8191, and three bytes from 8192 before its end.
    let far = [&[0, 6, 0xe0][..], &[255; 32], &[22, 0, 0x3f, 255, 0, 0]].concat();
    for (stream, len, accepted) in [
        (&[0, 6, 0x40, 0][..], 5, false),
        (&[0, 6, 0x60, 0, 0, 9], 7, true),
        (&[0, 6, 0xe0, 254, 0], 264, false),
        (&[0, 6, 0xe0, 254, 0, 0, 9], 265, true),
        (&[0, 6, 0xe0, 255, 0, 0], 265, false),
        (&[0, 6, 0xe0, 255, 0, 0, 0, 9], 266, true),
        (&far, 8195, false),
        (&[&far[..], &[0, 9]].concat(), 8196, true),
    ] {
        let mut ours = vec![0; len];
        let ours = blosclz::decompress(stream, &mut ours).then_some(ours);
        let theirs = c_decode(&chunk(0, 1, len, stream), len);
        assert_eq!(ours.is_some(), accepted, "{stream:?}");
        assert!(ours == theirs, "{stream:?}");
    }
}

/// A stream as long as its block is stored as it is, which leaves C-Blosc with the filter alone.
#[test]
fn c_blosc_undoes_our_filters() {
    let mut dice = Dice(8);
    for typesize in 1..=255usize {
        for count in [1, 7, 8, 16, 24, 100, 512, 520, 1000 + typesize % 9] {
            let len = typesize * count + dice.below(typesize);
            let data: Vec<u8> = (0..len).map(|_| dice.roll() as u8).collect();
            let mut filtered = vec![0; len];
            filter::shuffle(typesize, &data, &mut filtered);
            let back = c_decode(&chunk(SHUFFLE, typesize as u8, len, &filtered), len);
            assert!(back.as_ref() == Some(&data), "shuffle {typesize}, {len}");
            filter::bitshuffle(typesize, &data, &mut filtered);
            let back = c_decode(&chunk(BITSHUFFLE, typesize as u8, len, &filtered), len);
            assert!(back.as_ref() == Some(&data), "bitshuffle {typesize}, {len}");
        }
    }
}
