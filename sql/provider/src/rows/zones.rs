//! [`Zones`]: statistics of runs of rows, available without reading them.

use datafusion::arrow::array::ArrayRef;
use std::ops::Range;

/// The least and the greatest value of a column, and the number of nulls, in runs of adjacent rows.
#[derive(Debug)]
pub(crate) struct Zones {
    /// The first row of each zone, followed by the number of rows.
    pub starts: Vec<u64>,
    /// The least value of each zone in the order of queries; null if unknown. Floats are
    /// [comparable](crate::meaning::Function::Comparable).
    pub min: ArrayRef,
    /// The greatest value of each zone, likewise.
    pub max: ArrayRef,
    /// The number of nulls in each zone; null if unknown.
    pub nulls: ArrayRef,
}

impl Zones {
    /// The zone that contains this row; the last zone for a row after the end.
    pub(crate) fn zone_of(&self, row: u64) -> usize {
        let after = self.starts.partition_point(|start| *start <= row);
        after
            .saturating_sub(1)
            .min(self.starts.len().saturating_sub(2))
    }

    /// The boundaries of zones inside these rows, without their beginning.
    pub(crate) fn borders(&self, rows: &Range<u64>) -> impl Iterator<Item = u64> + '_ {
        let rows = rows.clone();
        let borders = self.starts.iter().copied();
        borders.filter(move |start| rows.start < *start && *start < rows.end)
    }
}
