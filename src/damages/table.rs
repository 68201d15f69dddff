//! [`Table`]: an offset table that may be damaged in part.

use super::probe::after;
use bloscpack_error::checked::len_of;
use bloscpack_wire::internal::CHUNK_HEADER_LEN;
use std::ops::Range;

/// Where a chunk begins, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub at: u64,
    pub number: u64,
}

/// The plausible entries, which ascend in the source.
#[derive(Debug, Default)]
pub(crate) struct Table {
    entries: Vec<Entry>,
}

impl Table {
    /// Keeps the longest ascending series of the entries inside `range`.
    pub(super) fn new(entries: impl Iterator<Item = Entry>, range: &Range<u64>) -> Self {
        let possible = entries.filter(|entry| {
            let len = len_of(&(entry.at..range.end));
            entry.at >= range.start && len >= CHUNK_HEADER_LEN
        });
        Self {
            entries: longest_series(possible.collect(), |entry| entry.at..after(entry.at, 1)),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The positions of all chunks, in order.
    pub(super) fn places(&self) -> impl Iterator<Item = u64> + '_ {
        self.entries.iter().map(|entry| entry.at)
    }

    /// The position of the chunk with this number.
    pub(super) fn place_of(&self, number: u64) -> Option<u64> {
        let entries = &self.entries;
        let index = entries.binary_search_by_key(&number, |entry| entry.number);
        Some(entries.get(index.ok()?)?.at)
    }

    /// The number of the chunk that begins here.
    pub(super) fn number_at(&self, at: u64) -> Option<u64> {
        let index = self.entries.binary_search_by_key(&at, |entry| entry.at);
        Some(self.entries.get(index.ok()?)?.number)
    }

    /// The positions of the chunks after this position, in order.
    pub(super) fn after(&self, at: u64) -> impl Iterator<Item = u64> + '_ {
        let after = self.entries.partition_point(|entry| entry.at <= at);
        self.entries.iter().skip(after).map(|entry| entry.at)
    }

    /// Whether these bytes are between the entries of two adjacent chunks, with other bytes on both sides.
    pub(super) fn encloses(&self, bytes: &Range<u64>) -> bool {
        let after = self.entries.partition_point(|entry| entry.at < bytes.start);
        let before = after.checked_sub(1).and_then(|at| self.entries.get(at));
        let (Some(before), Some(next)) = (before, self.entries.get(after)) else {
            return false;
        };
        next.at > bytes.end && before.number + 1 == next.number
    }
}

/// The longest series of items in which each ends before the next begins, by patience sorting.
pub(super) fn longest_series<T: Copy>(items: Vec<T>, range: impl Fn(&T) -> Range<u64>) -> Vec<T> {
    if items.is_sorted_by(|one, next| range(one).end <= range(next).start) {
        return items;
    }
    // For each length, the least end of a series of this length, and its last item. For each item, the item before it in its
    // series.
    let mut ends: Vec<(u64, usize)> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let Range { start, end } = range(item);
        let len = ends.partition_point(|(end, _)| *end <= start);
        let last = len.checked_sub(1).and_then(|len| ends.get(len));
        before.push(last.map(|(_, index)| *index));
        match ends.get_mut(len) {
            Some(other) if end < other.0 => *other = (end, index),
            Some(_) => {}
            None => ends.push((end, index)),
        }
    }
    let last = ends.last().map(|(_, index)| *index);
    let series = std::iter::successors(last, |index| *before.get(*index)?);
    let mut series: Vec<_> = series
        .filter_map(|index| items.get(index).copied())
        .collect();
    series.reverse();
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(places: &[u64]) -> Table {
        let entries = places
            .iter()
            .zip(0..)
            .map(|(at, number)| Entry { at: *at, number });
        Table::new(entries, &(100..1000))
    }

    #[test]
    fn what_is_out_of_order_or_outside_is_left_out() {
        let table = table(&[100, 150, 90, 900, 250, 300, 120, 400, 5000]);
        let kept: Vec<_> = table.entries.iter().map(|entry| entry.number).collect();
        assert_eq!(kept, [0, 1, 4, 5, 7]);
        assert_eq!(table.number_at(250), Some(4));
        assert_eq!(table.number_at(900), None);
    }

    #[test]
    fn only_neighbours_enclose() {
        let table = table(&[100, 150, 0, 250, 300]);
        assert!(table.encloses(&(101..149)));
        for (start, end) in [(100, 140), (110, 150), (140, 160), (160, 180), (310, 320)] {
            assert!(!table.encloses(&(start..end)), "{start}..{end}");
        }
        assert!(table.encloses(&(260..290)));
    }
}
