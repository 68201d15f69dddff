//! Estimates the time of settings from the lengths of the compressed streams.
//!
//! The estimate uses no clock: the same data gives the same figures on every machine. A stream
//! costs as much as other streams that the same compressor shortened as much, by the table in
//! [`figures`].
//!
//! A sample has at most 1 MiB, and no figure exceeds a microsecond per byte, so no sum overflows.

use super::figures::{self, Figures, KNOTS};
use crate::{ChunkSettings, Filter};

/// Time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub encode: u64,
    pub decode: u64,
}

impl Cost {
    pub fn add(&mut self, other: Self) {
        self.encode += other.encode;
        self.decode += other.decode;
    }

    fn times(self, bytes: u64) -> Self {
        Self {
            encode: self.encode * bytes,
            decode: self.decode * bytes,
        }
    }
}

/// The result of compressing a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It consists of one repeated byte.
    Constant,
    /// It was compressed to this length.
    Compressed(u64),
    /// It is stored uncompressed.
    Stored,
}

/// The cost of a stream of `len` bytes with this outcome.
pub(super) fn stream(settings: &ChunkSettings, len: u64, outcome: Outcome) -> Cost {
    let Some(row) = figures::row(settings.compressor, settings.level) else {
        return copy(len);
    };
    let cost = Cost {
        encode: figure(&row.encode, len, outcome),
        decode: figure(&row.decode, len, outcome),
    };
    cost.times(len)
}

/// The cost of memory access for a block of `len` bytes and its compressed form.
pub(super) fn memory(len: u64, compressed: u64) -> Cost {
    let [encode, decode] = figures::MEMORY.map(|(data, stored)| len * data + compressed * stored);
    Cost { encode, decode }
}

/// The cost of data that is stored without an attempt to compress it.
pub(super) fn copy(len: u64) -> Cost {
    let (encode, decode) = figures::COPY;
    Cost { encode, decode }.times(len)
}

/// The cost of the filter and its inverse.
pub(super) fn filter(settings: &ChunkSettings, len: u64) -> Cost {
    let (encode, decode) = match settings.filter {
        Filter::None => return Cost::default(),
        Filter::Byte if settings.typesize == 1 => return Cost::default(),
        Filter::Byte => figures::shuffle(settings.typesize),
        Filter::Bit => figures::bitshuffle(settings.typesize),
    };
    Cost { encode, decode }.times(len)
}

/// The figure for one byte of a stream.
fn figure(figures: &Figures, len: u64, outcome: Outcome) -> u64 {
    let [constant, shrunk @ .., stored] = figures;
    match outcome {
        Outcome::Constant => *constant,
        Outcome::Compressed(compressed) => between(shrunk, len, compressed),
        Outcome::Stored => *stored,
    }
}

/// The figure for a compressed stream, interpolated linearly between the neighbouring knots.
fn between(figures: &[u64; KNOTS.len()], len: u64, compressed: u64) -> u64 {
    let thousandths = (compressed * 1000 / len.max(1)).min(1000);
    for (knots, figures) in KNOTS.windows(2).zip(figures.windows(2)) {
        if let (&[from, to], &[low, high]) = (knots, figures)
            && thousandths <= to
        {
            // Below the first knot, its figure applies.
            let way = thousandths.saturating_sub(from);
            let rest = to - thousandths;
            return (low * rest + high * way) / (to - from);
        }
    }
    // The last knot is at 1000 thousandths.
    figures[KNOTS.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::{KNOTS, Outcome, between, figures, stream};
    use crate::{ChunkSettings, Compressor};

    #[test]
    fn the_figures_are_met_at_the_knots_and_lie_between_them_otherwise() {
        let row = [10, 20, 60, 80, 100, 200, 300, 400];
        for (knot, figure) in KNOTS.into_iter().zip(row) {
            assert_eq!(between(&row, 1000, knot), figure);
        }
        let middle = KNOTS[0].midpoint(KNOTS[1]);
        assert_eq!(between(&row, 1000, middle), 15);
    }

    #[test]
    fn every_level_of_every_compressor_has_a_row() {
        for compressor in Compressor::ALL {
            for level in 1..=9 {
                let settings = ChunkSettings {
                    compressor,
                    level,
                    ..ChunkSettings::default()
                };
                assert!(
                    figures::row(compressor, level).is_some(),
                    "{compressor} {level}"
                );
                for outcome in [Outcome::Constant, Outcome::Compressed(500), Outcome::Stored] {
                    assert!(stream(&settings, 1000, outcome).encode > 0);
                }
            }
        }
    }
}
