//! [`Slice`]: a box of elements, in Python's notation.

use super::Region;
use bloscpack_error::{Code, Error};
use std::ops::Range;
use std::str::FromStr;

/// A part of each axis of an array, in Python's notation: `0:10,:,-1`. Axes that are left out are whole.
///
/// A range is clipped to its axis, as in Python, and may have a step of 1 or more. A single position must exist; its axis
/// remains, with length 1. Negative numbers count from the end.
///
/// ```
/// use bloscpack_open::Slice;
/// let slice: Slice = "0:10, :, -1".parse()?;
/// assert_eq!(slice.resolve(&[4, 5, 6])?.ranges, [0..4, 0..5, 5..6]);
/// assert!(slice.resolve(&[4, 5]).is_err());
/// let every: Slice = "::2, 1".parse()?;
/// assert_eq!((every.ranges(&[4, 5])?, every.steps()), (vec![0..4, 1..2], vec![2, 1]));
/// assert!("::-1".parse::<Slice>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    axes: Vec<Axis>,
}

/// Positions along an axis. A negative one counts from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    /// A single position.
    At(i64),
    /// A range from the first number up to, but not including, the second, with a step.
    Between(Option<i64>, Option<i64>, u64),
}

impl Slice {
    /// The box of elements in an array of this shape.
    ///
    /// # Errors
    /// Returns the errors of [`ranges`](Self::ranges), and `Code::Usage` for a slice with steps.
    pub fn resolve(&self, shape: &[u64]) -> bloscpack_error::Result<Region> {
        if self.has_steps() {
            return Err(Error::usage(
                "a slice with a step, where only ranges can be",
            ));
        }
        self.region(shape)
    }

    /// The range along each axis of an array of this shape, as if all steps were 1.
    ///
    /// # Errors
    /// Returns [`Code::OutOfBounds`] for more axes than the array has, and for a single position outside its axis.
    pub fn ranges(&self, shape: &[u64]) -> bloscpack_error::Result<Vec<Range<u64>>> {
        Ok(self.region(shape)?.ranges)
    }

    /// The step along each axis that the slice names; 1 for a single position.
    #[must_use]
    pub fn steps(&self) -> Vec<u64> {
        let axes = self.axes.iter();
        axes.map(|axis| match axis {
            Axis::At(_) => 1,
            Axis::Between(.., step) => *step,
        })
        .collect()
    }

    /// Whether any step is greater than 1.
    #[must_use]
    pub fn has_steps(&self) -> bool {
        self.steps().iter().any(|step| *step != 1)
    }

    fn region(&self, shape: &[u64]) -> bloscpack_error::Result<Region> {
        let (found, axes) = (self.axes.len(), shape.len());
        if found > axes {
            return Err(Error::new(
                Code::OutOfBounds,
                format!("the slice has {found} axes, the array only {axes}"),
            ));
        }
        let mut region = Region::all(shape);
        let axes = self.axes.iter().zip(&mut region.ranges);
        for (axis, (wanted, range)) in axes.enumerate() {
            *range = wanted.resolve(axis, range.end)?;
        }
        Ok(region)
    }
}

impl Axis {
    /// The positions along axis number `axis`, which has length `len`.
    fn resolve(self, axis: usize, len: u64) -> bloscpack_error::Result<Range<u64>> {
        match self {
            Self::At(position) => {
                let there = from_end(position, len).filter(|&at| at < len);
                let at = there.ok_or_else(|| {
                    Error::new(
                        Code::OutOfBounds,
                        format!("no position {position} along axis {axis}, which has length {len}"),
                    )
                })?;
                Ok(at..at + 1)
            }
            Self::Between(start, end, _) => {
                let cut = |at: i64| from_end(at, len).unwrap_or(0).min(len);
                let start = start.map_or(0, cut);
                Ok(start..end.map_or(len, cut).max(start))
            }
        }
    }
}

/// The position counted from the start; `None` if it is before the start.
fn from_end(position: i64, len: u64) -> Option<u64> {
    match u64::try_from(position) {
        Ok(position) => Some(position),
        Err(_) => len.checked_sub(position.unsigned_abs()),
    }
}

/// Parses Python's notation. The error is a message for the user.
impl FromStr for Slice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let axes: Result<_, String> = text.split(',').map(|axis| parse(axis.trim())).collect();
        Ok(Self { axes: axes? })
    }
}

/// Parses the part for one axis.
fn parse(text: &str) -> Result<Axis, String> {
    let wrong = || {
        format!(
            "'{text}' is not a slice of an axis; expected A:B, A:, :B, :, A:B:STEP or a position"
        )
    };
    let number = |text: &str| match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| wrong()),
    };
    let mut parts = text.split(':');
    let (first, second, step, more) = (parts.next(), parts.next(), parts.next(), parts.next());
    if more.is_some() {
        return Err(wrong());
    }
    let step = step.map(number).transpose()?.flatten().unwrap_or(1);
    let step = u64::try_from(step).ok().filter(|step| *step > 0);
    let step = step.ok_or_else(|| format!("'{text}' has a step below 1"))?;
    let first = number(first.unwrap_or_default())?;
    match second {
        Some(second) => Ok(Axis::Between(first, number(second)?, step)),
        None => first.map(Axis::At).ok_or_else(wrong),
    }
}

#[cfg(test)]
mod tests {
    use super::Slice;

    fn ranges(text: &str, shape: &[u64]) -> Option<Vec<(u64, u64)>> {
        let found = text.parse::<Slice>().unwrap().resolve(shape).ok()?;
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
        let found = "0:10,:,5"
            .parse::<Slice>()
            .unwrap()
            .resolve(&shape)
            .unwrap();
        assert_eq!(found.bytes(8), 160);
    }

    #[test]
    fn what_is_no_slice_is_refused() {
        for wrong in ["", "a", "1:2:0", "::-1", "1::2:3", "1,,2", "1.5", "..."] {
            assert!(wrong.parse::<Slice>().is_err(), "{wrong}");
        }
        for wrong in ["10", "-11", "0,0"] {
            assert_eq!(ranges(wrong, &[10]), None, "{wrong}");
        }
    }
}
