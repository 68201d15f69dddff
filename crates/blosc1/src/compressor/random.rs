//! Streams that no compressor can shorten, told before a slow one spends its time on them.
//!
//! The lower bytes of measured numbers are mostly noise. A stream is taken for noise if its
//! bytes are as evenly spread as those of noise, neither less nor more so (a ramp is more), and
//! hardly any four bytes return. Anything that repeats spoils both.

/// Below this, the statistics say too little.
const SHORTEST: usize = 4096;
/// Range of the statistic (chi-squared, 255 degrees of freedom) that noise stays within but
/// once in a thousand streams or so.
const EVEN: std::ops::Range<u64> = 160..330;
/// Slots of the table of places where four bytes were last seen.
const SLOTS_LOG: u32 = 15;
/// One return in so many bytes is what chance brings, as a slot is found again by chance.
const CHANCE: usize = 16 * 1024;

/// Looks at streams, keeping its table.
#[derive(Default)]
pub(crate) struct NoiseTest {
    slots: Vec<u32>,
}

impl NoiseTest {
    /// Whether `src` looks like noise.
    pub fn is_noise(&mut self, src: &[u8]) -> bool {
        src.get(..SHORTEST).is_some_and(is_even) && is_even(src) && self.hardly_repeats(src)
    }

    /// Whether next to no four bytes come again within the reach of the table.
    fn hardly_repeats(&mut self, src: &[u8]) -> bool {
        self.slots.clear();
        self.slots.resize(1 << SLOTS_LOG, 0);
        let mut left = 4 + src.len() / CHANCE;
        for word in src.windows(4) {
            // Its value stands for a place: what returns is all that matters.
            let word = word
                .first_chunk()
                .map_or(0, |&word| u32::from_le_bytes(word));
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

/// Whether the bytes are spread as evenly as those of noise.
fn is_even(src: &[u8]) -> bool {
    // Four tables, as counting the same byte twice in a row would wait for memory.
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
    let squares: u64 = (0..256)
        .map(|byte| {
            let count: u64 = counts.iter().map(|count| u64::from(count[byte])).sum();
            count * count
        })
        .sum();
    let total = src.len() as u64;
    EVEN.contains(&(squares * 256 / total.max(1)).saturating_sub(total))
}

#[cfg(test)]
mod tests {
    use super::NoiseTest;

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

    #[test]
    fn short_streams_are_left_to_the_compressor() {
        assert!(!NoiseTest::default().is_noise(&noise(4095)));
    }
}
