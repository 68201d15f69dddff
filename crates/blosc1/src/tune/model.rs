//! What time the settings take, reckoned from the lengths of the streams.
//!
//! There is no clock here: the same data gives the same figures on every machine. A stream costs what
//! streams of other data cost that the same compressor shrank as far, by the table in [`figures`].

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
        self.encode = self.encode.saturating_add(other.encode);
        self.decode = self.decode.saturating_add(other.decode);
    }

    fn times(self, bytes: u64) -> Self {
        Self {
            encode: self.encode.saturating_mul(bytes),
            decode: self.decode.saturating_mul(bytes),
        }
    }
}

/// What became of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was one value all over.
    Constant,
    /// It has this length now.
    Shrunk(u64),
    /// It was kept as it is.
    Stored,
}

/// The time for a stream of `len` bytes.
pub(super) fn stream(settings: &ChunkSettings, len: u64, fate: Fate) -> Cost {
    let Some(row) = figures::row(settings.compressor, settings.level) else {
        return copy(len);
    };
    let cost = Cost {
        encode: figure(&row.encode, len, fate),
        decode: figure(&row.decode, len, fate),
    };
    cost.times(len)
}

/// The time that memory takes for a block and what became of it.
pub(super) fn memory(len: u64, compressed: u64) -> Cost {
    let [encode, decode] = figures::MEMORY.map(|(data, stored)| {
        let data = len.saturating_mul(data);
        data.saturating_add(compressed.saturating_mul(stored))
    });
    Cost { encode, decode }
}

/// The time for data that is stored without a try.
pub(super) fn copy(len: u64) -> Cost {
    let (encode, decode) = figures::COPY;
    Cost { encode, decode }.times(len)
}

/// The time that the filter and its inverse take.
pub(super) fn filter(settings: &ChunkSettings, len: u64) -> Cost {
    let (encode, decode) = match settings.filter {
        Filter::None => return Cost::default(),
        Filter::Byte if settings.typesize == 1 => return Cost::default(),
        Filter::Byte => figures::shuffle(settings.typesize),
        Filter::Bit => figures::bitshuffle(settings.typesize),
    };
    Cost { encode, decode }.times(len)
}

/// The figure for a byte of a stream.
fn figure(figures: &Figures, len: u64, fate: Fate) -> u64 {
    let [constant, shrunk @ .., stored] = figures;
    match fate {
        Fate::Constant => *constant,
        Fate::Shrunk(compressed) => between(shrunk, len, compressed),
        Fate::Stored => *stored,
    }
}

/// The figure for a stream that shrank so far, on the straight line between the two next to it.
fn between(figures: &[u64; KNOTS.len()], len: u64, compressed: u64) -> u64 {
    let thousandths = (compressed.saturating_mul(1000) / len.max(1)).min(1000);
    for (knots, figures) in KNOTS.windows(2).zip(figures.windows(2)) {
        if let (&[from, to], &[low, high]) = (knots, figures)
            && thousandths <= to
        {
            let way = thousandths.saturating_sub(from);
            let rest = to.saturating_sub(thousandths);
            return (low * rest + high * way) / (to - from).max(1);
        }
    }
    figures.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Fate, KNOTS, between, figures, stream};
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
                for fate in [Fate::Constant, Fate::Shrunk(500), Fate::Stored] {
                    assert!(stream(&settings, 1000, fate).encode > 0);
                }
            }
        }
    }
}
