//! Data to try things on, the same in every run.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "made-up data may be cut as it likes"
)]

/// Pseudorandom numbers, the same in every run (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Between -1 and 1, around 0.
    fn spread(&mut self) -> f64 {
        let sum: f64 = (0..4)
            .map(|_| (self.next() >> 11) as f64 / (1_u64 << 53) as f64)
            .sum();
        sum / 2.0 - 1.0
    }
}

/// Kinds of data, with the size of the elements that they are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Walk,
    Ramp,
    Sensor,
    Text,
    Noise,
    Zeros,
    Sparse,
}

impl Kind {
    pub const ALL: [Self; 7] = [
        Self::Walk,
        Self::Ramp,
        Self::Sensor,
        Self::Text,
        Self::Noise,
        Self::Zeros,
        Self::Sparse,
    ];

    pub fn typesize(self) -> u8 {
        match self {
            Self::Walk | Self::Ramp => 8,
            Self::Sensor => 2,
            Self::Sparse => 4,
            Self::Text | Self::Noise | Self::Zeros => 1,
        }
    }

    /// Exactly `len` bytes.
    pub fn data(self, random: &mut Random, len: usize) -> Vec<u8> {
        let mut data = Vec::with_capacity(len + 16);
        let mut level = 0.0;
        let mut count = random.next() >> 40;
        while data.len() < len {
            count += 1;
            match self {
                Self::Walk => {
                    level += random.spread();
                    data.extend_from_slice(&f64::to_le_bytes(level));
                }
                Self::Ramp => data.extend_from_slice(&count.to_le_bytes()),
                Self::Sensor => {
                    let wave = 900.0 * (count as f64 / 180.0).sin();
                    let value = 2048.0 + wave + 12.0 * random.spread();
                    data.extend_from_slice(&(value as u16).to_le_bytes());
                }
                Self::Text => {
                    let word = random.pick(&WORDS);
                    let line = match random.below(4) {
                        0 => format!("{word} {}, ", random.below(10_000)),
                        1 => format!("{word};\n"),
                        _ => format!("{word} "),
                    };
                    data.extend_from_slice(line.as_bytes());
                }
                Self::Noise => data.extend_from_slice(&random.next().to_le_bytes()),
                Self::Zeros => data.push(0),
                Self::Sparse => {
                    let value = if random.below(20) == 0 {
                        random.below(1000)
                    } else {
                        0
                    };
                    data.extend_from_slice(&(value as u32).to_le_bytes());
                }
            }
        }
        data.truncate(len);
        data
    }
}

const WORDS: [&str; 32] = [
    "station",
    "pressure",
    "of",
    "the",
    "measured",
    "north",
    "valley",
    "sample",
    "at",
    "noon",
    "corrected",
    "for",
    "drift",
    "and",
    "sensor",
    "seven",
    "reads",
    "below",
    "threshold",
    "wind",
    "gust",
    "hourly",
    "mean",
    "a",
    "missing",
    "value",
    "archive",
    "channel",
    "offset",
    "gain",
    "river",
    "level",
];
