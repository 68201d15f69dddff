//! [`Zones`]: what is known of runs of rows without reading them.

use datafusion::arrow::array::ArrayRef;
use std::ops::Range;

/// The least and the greatest value of a column in runs of adjacent rows.
#[derive(Debug)]
pub(crate) struct Zones {
    /// The first row of each zone, and after the last one the number of rows.
    pub starts: Vec<u64>,
    /// The least value of each zone in the order of queries; null where it is not known. Floats are
    /// [comparable](crate::meaning::Function::Comparable).
    pub min: ArrayRef,
    /// And the greatest.
    pub max: ArrayRef,
    /// How many values of each zone are null; null where it is not known.
    pub nulls: ArrayRef,
}

impl Zones {
    /// The zone that contains this row; the last one for rows after the end.
    pub(crate) fn zone_of(&self, row: u64) -> usize {
        let after = self.starts.partition_point(|start| *start <= row);
        after
            .saturating_sub(1)
            .min(self.starts.len().saturating_sub(2))
    }

    /// Where zones begin within these rows, but not at their beginning.
    pub(crate) fn borders(&self, rows: &Range<u64>) -> impl Iterator<Item = u64> + '_ {
        let rows = rows.clone();
        let borders = self.starts.iter().copied();
        borders.filter(move |start| rows.start < *start && *start < rows.end)
    }
}
