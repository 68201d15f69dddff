//! What time the settings take, reckoned from the lengths of the streams.
//!
//! There is no clock here: the same data gives the same figures on every machine. A stream costs what
//! streams of other data cost that the same compressor shrank as far, by the table in [`figures`].

use super::figures::{self, Figures, STORED};
use crate::blosc::{ChunkSettings, Filter};

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

/// The time for a stream of `len` bytes that became `compressed`, or was stored.
pub(super) fn stream(settings: &ChunkSettings, len: u64, compressed: Option<u64>) -> Cost {
    let Some(row) = figures::row(settings.compressor, settings.level) else {
        return copy(len);
    };
    let cost = match compressed {
        Some(compressed) => Cost {
            encode: between(&row.encode, len, compressed),
            decode: between(&row.decode, len, compressed),
        },
        None => Cost {
            encode: row.encode[STORED],
            decode: row.decode[STORED],
        },
    };
    cost.times(len)
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

/// The figure for a stream that shrank so far, on the straight line between the two next to it.
fn between(figures: &Figures, len: u64, compressed: u64) -> u64 {
    let thousandths = (compressed.saturating_mul(1000) / len.max(1)).min(1000);
    let knots = figures::KNOTS.windows(2).zip(figures.windows(2));
    for (knots, figures) in knots {
        if let (&[from, to], &[low, high]) = (knots, figures)
            && thousandths <= to
        {
            let way = thousandths.saturating_sub(from);
            let rest = to.saturating_sub(thousandths);
            return (low * rest + high * way) / (to - from).max(1);
        }
    }
    figures[STORED]
}

#[cfg(test)]
mod tests {
    use super::{between, figures, stream};
    use crate::blosc::{ChunkSettings, Compressor};

    #[test]
    fn the_figures_are_met_at_the_knots_and_lie_between_them_otherwise() {
        let row = [10, 20, 60, 100, 200, 300, 400, 7];
        for (knot, figure) in figures::KNOTS.into_iter().zip(row) {
            assert_eq!(between(&row, 1000, knot), figure);
        }
        let middle = figures::KNOTS[0].midpoint(figures::KNOTS[1]);
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
                let row = figures::row(compressor, level);
                assert!(row.is_some(), "{compressor} {level}");
                assert!(stream(&settings, 1000, Some(500)).encode > 0);
            }
        }
    }
}
