//! Tests of blosclz: round trips, streams written by hand, and damage.
//!
//! The comparison with C-Blosc is in [`peer`].

mod peer;

use super::*;

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

    fn byte(&mut self) -> u8 {
        self.roll().to_be_bytes()[0]
    }
}

/// Numbers of 8 bytes, each `step` above the previous one.
fn numbers(len: usize, step: u64) -> Vec<u8> {
    let numbers = (0..len as u64 / 8 + 1).map(|i| 9_000_000 + step * i);
    numbers.flat_map(u64::to_le_bytes).take(len).collect()
}

/// Data of several kinds, each of the given length.
fn kinds(len: usize) -> Vec<(&'static str, Vec<u8>)> {
    let mut dice = Dice(len as u64 * 2 + 1);
    let words: Vec<Vec<u8>> = (0..300)
        .map(|_| {
            (0..2 + dice.below(9))
                .map(|_| b'a' + dice.byte() % 26)
                .collect()
        })
        .collect();
    let mut text = Vec::new();
    while text.len() < len {
        let word = dice.below(300).min(dice.below(300));
        text.extend(&words[word]);
        text.push(b' ');
    }
    text.truncate(len);
    let mut runs = Vec::new();
    while runs.len() < len {
        let (byte, count) = (dice.byte() % 4, 1 + dice.below(700));
        runs.extend(std::iter::repeat_n(byte, count));
    }
    runs.truncate(len);
    let noise: Vec<u8> = (0..len).map(|_| dice.byte()).collect();
    let half = noise
        .iter()
        .enumerate()
        .map(|(i, b)| if i < len / 2 { *b } else { 7 })
        .collect();
    let ramp = (0..len).map(|i| (i / 256).to_le_bytes()[0]).collect();
    let few = noise.iter().map(|b| b % 3).collect();
    vec![
        ("numbers", numbers(len, 1)),
        (
            "numbers in steps",
            numbers(len, 1 + ((len as u64) << (len % 30))),
        ),
        ("zeros", vec![0; len]),
        ("ramp", ramp),
        ("text", text),
        ("runs", runs),
        ("three letters", few),
        ("noise, then sevens", half),
        ("noise", noise),
    ]
}

/// Compresses, decompresses, compares; returns the length of the stream.
fn round_trip(encoder: &mut Encoder, level: u8, src: &[u8], what: &str) -> Option<usize> {
    let mut stream = vec![0xee; src.len()];
    let len = encoder.compress(level, src, &mut stream)?;
    assert!(len < src.len());
    let mut back = vec![0x55; src.len()];
    assert!(
        decompress(&stream[..len], &mut back),
        "{what}, level {level}, {}",
        src.len()
    );
    assert!(back == src, "{what}, level {level}, {}", src.len());
    assert!(!decompress(&stream[..len], &mut vec![0; src.len() + 1]));
    assert!(!decompress(&stream[..len], &mut back[1..]));
    Some(len)
}

#[test]
fn every_short_length_of_every_kind() {
    let mut encoder = Encoder::new();
    for len in 0..=300 {
        for (what, src) in kinds(len) {
            for level in 1..=9 {
                round_trip(&mut encoder, level, &src, what);
            }
        }
    }
}

#[test]
fn blocks_as_blosc_cuts_them() {
    let mut encoder = Encoder::new();
    for len in [4096, 12_287, 12_300, 16_384, 131_072, 262_144] {
        for (what, src) in kinds(len) {
            for level in 1..=9 {
                let packed = round_trip(&mut encoder, level, &src, what);
                match what {
                    "zeros" => assert!(packed.unwrap() < len / 200 + 20),
                    // Its beginning is noise: the probe of a later part must save it.
                    "noise, then sevens" => assert!(packed.unwrap() < len / 8 * 5),
                    "noise" => assert_eq!(packed, None),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn distances_around_the_limits_of_both_forms() {
    let mut encoder = Encoder::new();
    let mut dice = Dice(99);
    let phrase: Vec<u8> = (0..300).map(|_| dice.byte()).collect();
    for limit in [255, 256, 8191, 65_535, 65_535 + 8191] {
        for distance in limit - 3..=limit + 3 {
            for gap_byte in [0, 1] {
                let mut src = phrase.clone();
                src.resize(distance.max(300), gap_byte);
                src.extend(&phrase);
                src.extend([9; 20]);
                round_trip(&mut encoder, 9, &src, "phrase").unwrap();
            }
        }
    }
}

#[test]
fn lengths_around_the_limits_of_the_length_bytes() {
    let mut encoder = Encoder::new();
    for length in (4u16..40).chain(255..275).chain(510..530) {
        let mut dice = Dice(length.into());
        let phrase: Vec<u8> = (0..length).map(|_| dice.byte()).collect();
        let src = [&phrase[..], &[1; 60], &phrase[..], &[2; 60]].concat();
        round_trip(&mut encoder, 5, &src, "phrase").unwrap();
    }
}

/// Each takes its lowest byte, one byte for the length of the literals, and two for a match with
/// the previous number.
#[test]
fn numbers_in_a_row_take_half_their_size() {
    let mut encoder = Encoder::new();
    for level in 1..=9 {
        let src = numbers(100_000, 1);
        let len = round_trip(&mut encoder, level, &src, "numbers");
        assert!(
            len.is_some_and(|len| len < src.len() * 51 / 100),
            "{level}: {len:?}"
        );
    }
}

#[test]
fn an_encoder_forgets_its_earlier_blocks_even_when_positions_start_over() {
    let mut dice = Dice(5);
    let blocks: Vec<Vec<u8>> = (0..4).map(|k| kinds(20_000 + k).swap_remove(2).1).collect();
    let fresh: Vec<_> = blocks
        .iter()
        .map(|src| round_trip(&mut Encoder::new(), 5, src, "text"))
        .collect();
    // A call takes 131 k positions, so that 32 bits are exhausted after less than 33 k calls.
    let mut encoder = Encoder::new();
    let mut out = vec![0; 20_010];
    for _ in 0..40_000 {
        let k = dice.below(4);
        if dice.below(1000) == 0 {
            assert_eq!(round_trip(&mut encoder, 5, &blocks[k], "text"), fresh[k]);
        }
        encoder.compress(5, &blocks[k][..64], &mut out);
    }
    for (src, fresh) in blocks.iter().zip(fresh) {
        assert_eq!(round_trip(&mut encoder, 5, src, "text"), fresh);
    }
}

#[test]
fn too_small_a_destination_is_refused_at_every_size() {
    let mut encoder = Encoder::new();
    for (what, src) in kinds(600) {
        let mut room = vec![0; 600];
        let Some(len) = encoder.compress(9, &src, &mut room) else {
            continue;
        };
        for size in 0..600 {
            let mut dst = vec![0; size];
            let packed = encoder.compress(9, &src, &mut dst);
            assert_eq!(packed, (size >= len).then_some(len), "{what} into {size}");
        }
    }
}

#[test]
fn streams_written_by_hand() {
    let expand = |stream: &[u8], len| {
        let mut dst = vec![0; len];
        decompress(stream, &mut dst).then_some(dst)
    };
    // Three literals; the upper bits of the first byte have no meaning.
    assert_eq!(expand(&[0x22, 1, 2, 3], 3), Some(vec![1, 2, 3]));
    assert_eq!(expand(&[0xe2, 1, 2, 3], 3), Some(vec![1, 2, 3]));
    // A run of 3, then one of 8, then one of 9 + 254.
    assert_eq!(expand(&[0, 6, 0x20, 0, 0, 5], 5), Some(vec![6, 6, 6, 6, 5]));
    assert_eq!(
        expand(&[0, 6, 0xc0, 0, 0, 5], 10),
        Some([[6; 9].as_slice(), &[5]].concat())
    );
    assert_eq!(expand(&[0, 6, 0xe0, 254, 0, 0, 6], 265), Some(vec![6; 265]));
    assert_eq!(
        expand(&[0, 6, 0xe0, 255, 0, 0, 0, 6], 266),
        Some(vec![6; 266])
    );
    // Distance 2 overlaps its own output.
    assert_eq!(
        expand(&[1, 7, 8, 0x60, 1, 0, 7], 8),
        Some(vec![7, 8, 7, 8, 7, 8, 7, 7])
    );
    // The nearest far match: 8192 back.
    let mut stream = vec![];
    for i in 0..=255 {
        stream.push(31);
        stream.extend([i; 32]);
    }
    stream.extend([0x3f, 255, 0, 0, 0, 9]);
    let bytes = expand(&stream, 8196).unwrap();
    assert_eq!((bytes[8191], &bytes[8192..]), (255, &[0, 0, 0, 9][..]));
    // One farther is before the beginning.
    let far = stream.len() - 3;
    stream[far] = 1;
    assert_eq!(expand(&stream, 8196), None);
}

#[test]
fn what_is_cut_short_or_reaches_outside_is_refused() {
    for stream in [
        &[][..],
        &[3, 1, 2, 3],          // a literal is missing
        &[0, 6, 0x20],          // no distance
        &[0, 6, 0xe0],          // no length byte
        &[0, 6, 0xe0, 255],     // no last length byte
        &[0, 6, 0xe0, 3],       // no distance after it
        &[0, 6, 0x3f, 255],     // no far distance
        &[0, 6, 0x3f, 255, 0],  // half of it
        &[0, 6, 0x20, 1, 0, 5], // one before the beginning
        &[0, 6, 0xe0, 0, 0],    // nine bytes where three are to come
        &[0, 6, 0x20, 0],       // nothing after a match
    ] {
        assert!(!decompress(stream, &mut [0; 4]), "{stream:?}");
    }
    assert!(decompress(&[0, 6, 0x20, 0, 0, 6], &mut [0; 5]));
}

/// C-Blosc adds length bytes up in 32 bits with a sign: 8 421 505 bytes of 255 turn negative, and
/// the copy begins before the buffer (c-blosc issue 405, c-blosc2 issue 801).
#[test]
fn lengths_that_overflow_32_bits_are_refused() {
    for count in [
        8_421_503, 8_421_504, 8_421_505, 8_421_600, 16_843_009, 16_843_010,
    ] {
        let mut stream = vec![0, 6, 0xe0];
        stream.resize(3 + count, 255);
        stream.extend([0, 0, 0, 5]);
        for len in [0, 1, 100, 70_000] {
            assert!(!decompress(&stream, &mut vec![0; len]));
        }
    }
}

#[test]
fn damaged_streams_never_panic() {
    let mut encoder = Encoder::new();
    let mut dice = Dice(1234);
    for (what, src) in kinds(3000) {
        let mut stream = vec![0; 3000];
        let Some(len) = encoder.compress(9, &src, &mut stream) else {
            continue;
        };
        let mut back = vec![0; 3000];
        for _ in 0..20_000 {
            let mut bad = stream[..len].to_vec();
            for _ in 0..=dice.below(3) {
                let at = dice.below(bad.len());
                bad[at] = match dice.below(3) {
                    0 => bad[at] ^ 1 << dice.below(8),
                    1 => [0, 31, 32, 224, 255][dice.below(5)],
                    _ => dice.byte(),
                };
            }
            if dice.below(4) == 0 {
                bad.truncate(dice.below(len));
            }
            decompress(&bad, &mut back);
        }
        for cut in 0..len {
            assert!(
                !decompress(&stream[..cut], &mut back),
                "{what} cut at {cut}"
            );
        }
    }
}

#[test]
fn random_bytes_as_streams_never_panic() {
    let mut dice = Dice(77);
    let mut dst = vec![0; 500];
    for _ in 0..300_000 {
        let len = dice.below(40);
        let bytes: Vec<u8> = (0..len).map(|_| dice.byte()).collect();
        let end = dice.below(500);
        decompress(&bytes, &mut dst[..end]);
    }
}
