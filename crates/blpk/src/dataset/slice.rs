//! `--slice '0:10,:,5'`: a box of elements, in the notation of Python.

use std::ops::Range;

use crate::failure::Failure;

/// A part of each axis. The axes that are left out are taken whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    axes: Vec<Axis>,
}

/// Positions along an axis. A negative one counts from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    /// One position.
    At(i64),
    /// From the first position up to, but not including, the second.
    Between(Option<i64>, Option<i64>),
}

/// A box of elements. An axis of which one position was asked for has length 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// A range for each axis.
    pub ranges: Vec<Range<u64>>,
}

impl Region {
    /// All elements.
    pub fn all(shape: &[u64]) -> Self {
        Self {
            ranges: shape.iter().map(|&len| 0..len).collect(),
        }
    }

    /// These rows.
    pub fn of_rows(rows: Range<u64>, shape: &[u64]) -> Self {
        let mut all = Self::all(shape);
        if let Some(first) = all.ranges.first_mut() {
            *first = rows;
        }
        all
    }

    /// Elements along each axis.
    pub fn shape(&self) -> Vec<u64> {
        let ranges = self.ranges.iter();
        ranges.map(|range| range.end - range.start).collect()
    }

    /// Bytes of its elements.
    pub fn bytes(&self, itemsize: u64) -> u64 {
        // A shape may claim any number of bytes. More than there can be are as good as the highest number.
        self.shape().into_iter().fold(itemsize, u64::saturating_mul)
    }
}

impl Slice {
    /// Its elements in an array of this shape. Ranges are clipped as in Python, single positions must exist.
    pub fn resolve(&self, shape: &[u64], name: &str) -> Result<Region, Failure> {
        if self.axes.len() > shape.len() {
            let title = format!(
                "{name}: the slice has {} axes, the array only {}",
                self.axes.len(),
                shape.len()
            );
            return Err(Failure::usage(title));
        }
        let mut found = Region::all(shape);
        for (number, (axis, &len)) in self.axes.iter().zip(shape).enumerate() {
            let range = match *axis {
                Axis::At(position) => {
                    let there = from_end(position, len).filter(|&at| at < len);
                    let at = there.ok_or_else(|| {
                        let title = format!(
                            "{name}: no position {position} along axis {number}, which has length {len}"
                        );
                        Failure::usage(title)
                    })?;
                    at..at + 1
                }
                Axis::Between(start, end) => {
                    let cut = |at: i64| from_end(at, len).unwrap_or(0).min(len);
                    let start = start.map_or(0, cut);
                    start..end.map_or(len, cut).max(start)
                }
            };
            found.ranges[number] = range;
        }
        Ok(found)
    }
}

/// The position counted from the beginning, if it is not before that.
fn from_end(position: i64, len: u64) -> Option<u64> {
    match u64::try_from(position) {
        Ok(position) => Some(position),
        Err(_) => len.checked_sub(position.unsigned_abs()),
    }
}

/// Parses a slice.
pub fn parse(text: &str) -> Result<Slice, String> {
    let axes: Result<_, String> = text
        .split(',')
        .map(|axis| parse_axis(axis.trim()))
        .collect();
    Ok(Slice { axes: axes? })
}

fn parse_axis(text: &str) -> Result<Axis, String> {
    let wrong =
        || format!("'{text}' is not a slice of an axis; expected A:B, A:, :B, : or a position");
    let number = |text: &str| match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| wrong()),
    };
    let mut parts = text.split(':');
    let (first, second, step, more) = (parts.next(), parts.next(), parts.next(), parts.next());
    if more.is_some() {
        return Err(wrong());
    }
    if step
        .map(number)
        .transpose()?
        .flatten()
        .is_some_and(|step| step != 1)
    {
        return Err(format!("'{text}' has a step other than 1"));
    }
    let first = number(first.unwrap_or_default())?;
    match second {
        Some(second) => Ok(Axis::Between(first, number(second)?)),
        None => first.map(Axis::At).ok_or_else(wrong),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn ranges(text: &str, shape: &[u64]) -> Option<Vec<(u64, u64)>> {
        let found = parse(text).unwrap().resolve(shape, "it").ok()?;
        Some(
            found
                .ranges
                .iter()
                .map(|range| (range.start, range.end))
                .collect(),
        )
    }

    #[test]
    fn slices_are_those_of_python() {
        // As `range(10)[...]` in Python 3.
        for (text, start, end) in [
            (":", 0, 10),
            ("2:", 2, 10),
            (":3", 0, 3),
            ("2:5", 2, 5),
            ("-3:", 7, 10),
            (":-3", 0, 7),
            ("-3:-1", 7, 9),
            ("5:2", 5, 5),
            ("0:99", 0, 10),
            ("-99:4", 0, 4),
            ("12:20", 10, 10),
            ("4", 4, 5),
            ("-1", 9, 10),
            ("2:5:1", 2, 5),
            ("2:5:", 2, 5),
        ] {
            assert_eq!(ranges(text, &[10]), Some(vec![(start, end)]), "{text}");
        }
    }

    #[test]
    fn axes_that_are_left_out_are_whole() {
        let shape = [4, 5, 6];
        assert_eq!(ranges("1", &shape), Some(vec![(1, 2), (0, 5), (0, 6)]));
        assert_eq!(
            ranges("0:10, :, 5", &shape),
            Some(vec![(0, 4), (0, 5), (5, 6)])
        );
        let found = parse("0:10,:,5").unwrap().resolve(&shape, "it").unwrap();
        assert_eq!(found.bytes(8), 160);
    }

    #[test]
    fn what_is_no_slice_is_refused() {
        for wrong in [
            "", "a", "1:2:3", "::2", "::-1", "1::2:3", "1,,2", "1.5", "...",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["10", "-11", "0,0"] {
            assert_eq!(ranges(wrong, &[10]), None, "{wrong}");
        }
    }
}
