//! Detects streams that no compressor can shorten, before a slow one spends time on them.
//!
//! The lower bytes of measured numbers are mostly noise. A stream counts as noise if its byte
//! values are distributed as evenly as in noise, neither less nor more (a ramp is more even), and
//! hardly any sequence of four bytes repeats. Compressible data fails one of the two tests.

/// The shortest stream in bytes that the statistic can judge.
const SHORTEST: usize = 4096;
/// Range of the statistic (chi-squared, 255 degrees of freedom) outside of which about one in a
/// thousand streams of noise falls.
const EVEN: std::ops::Range<u128> = 160..330;
/// Binary logarithm of the number of slots in the table of four-byte sequences.
const SLOTS_LOG: u32 = 15;
/// The number of bytes of noise in which one sequence repeats by chance.
const CHANCE: usize = 16 * 1024;

/// Examines streams, and keeps its table of 128 KiB between them.
#[derive(Default)]
pub(crate) struct NoiseTest {
    slots: Vec<u32>,
}

impl NoiseTest {
    /// Whether `src` looks like noise. Streams of fewer than 4096 bytes never do.
    pub fn is_noise(&mut self, src: &[u8]) -> bool {
        src.get(..SHORTEST).is_some_and(is_even) && is_even(src) && self.hardly_repeats(src)
    }

    /// Whether few sequences of four bytes repeat, as far as the table remembers them.
    fn hardly_repeats(&mut self, src: &[u8]) -> bool {
        self.slots.clear();
        self.slots.resize(1 << SLOTS_LOG, 0);
        let mut left = 4 + src.len() / CHANCE;
        for word in src.windows(4) {
            // The table stores values, not positions: only the repetition matters.
            let Some(&word) = word.first_chunk() else {
                return false;
            };
            let word = u32::from_le_bytes(word);
            let slot = word.wrapping_mul(2_654_435_761) >> (u32::BITS - SLOTS_LOG);
            let Some(seen) = self.slots.get_mut(slot as usize) else {
                return false;
            };
            if *seen == word {
                if left == 0 {
                    return false;
                }
                left -= 1;
            }
            *seen = word;
        }
        true
    }
}

/// Whether the byte values are distributed as evenly as in noise.
fn is_even(src: &[u8]) -> bool {
    // Four tables: counting the same byte twice in a row in one table would wait for memory.
    let mut counts = [[0_u32; 256]; 4];
    let mut chunks = src.chunks_exact(4);
    for chunk in &mut chunks {
        for (count, &byte) in counts.iter_mut().zip(chunk) {
            count[usize::from(byte)] += 1;
        }
    }
    for &byte in chunks.remainder() {
        counts[0][usize::from(byte)] += 1;
    }
    let mut sums = [0; 256];
    for count in counts {
        for (sum, count) in sums.iter_mut().zip(count) {
            *sum += u64::from(count);
        }
    }
    chi_squared(&sums).is_some_and(|statistic| EVEN.contains(&statistic))
}

/// The chi-squared statistic of counts of byte values against an even distribution; `None` if
/// there are no bytes.
fn chi_squared(counts: &[u64; 256]) -> Option<u128> {
    // A stream is shorter than 2 GiB: its length fits 31 bits, and the sum of the squares 62.
    let squares: u64 = counts.iter().map(|&count| count * count).sum();
    let total: u64 = counts.iter().sum();
    let (squares, total) = (u128::from(squares), u128::from(total));
    // The sum of the squares is at least the sum for an even distribution, so nothing underflows.
    (squares * 256).checked_div(total).map(|sum| sum - total)
}

#[cfg(test)]
mod tests {
    use super::{NoiseTest, chi_squared};

    /// Noise (xorshift64*).
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            state.wrapping_mul(0x2545_F491_4F6C_DD1D).to_be_bytes()
        };
        let mut bytes: Vec<u8> = (0..len.div_ceil(8)).flat_map(|_| next()).collect();
        bytes.truncate(len);
        bytes
    }

    #[test]
    fn noise_is_noise() {
        let mut test = NoiseTest::default();
        for len in [4096, 10_000, 131_072, 1 << 20] {
            assert!(test.is_noise(&noise(len)), "{len}");
        }
    }

    #[test]
    fn what_can_be_shortened_is_not_noise() {
        let mut test = NoiseTest::default();
        let base = noise(1 << 17);
        let cases: [(&str, Vec<u8>); 6] = [
            ("ramp", (0..=255).cycle().take(1 << 17).collect()),
            (
                "the half again",
                [&base[..1 << 16], &base[..1 << 16]].concat(),
            ),
            ("a sixteenth again", [&base[..], &base[..1 << 13]].concat()),
            ("7 bits", base.iter().map(|byte| byte & 127).collect()),
            (
                "8 bytes of 200 as before",
                base.chunks(200)
                    .flat_map(|part| [&base[..8], part].concat())
                    .collect(),
            ),
            ("one byte in 40 zero", {
                let mut bytes = base.clone();
                bytes.iter_mut().step_by(40).for_each(|byte| *byte = 0);
                bytes
            }),
        ];
        for (what, bytes) in cases {
            assert!(!test.is_noise(&bytes), "{what}");
        }
    }

    /// Times 256, the squares of such counts exceed 64 bits.
    #[test]
    fn the_statistic_of_the_longest_streams_does_not_overflow() {
        let mut counts = [1 << 20; 256];
        assert_eq!(chi_squared(&counts), Some(0));
        counts[0] = 1 << 30;
        assert!(chi_squared(&counts) > Some(1 << 30));
        assert_eq!(chi_squared(&[0; 256]), None);
    }

    #[test]
    fn short_streams_are_left_to_the_compressor() {
        assert!(!NoiseTest::default().is_noise(&noise(4095)));
    }
}
