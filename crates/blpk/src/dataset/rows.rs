//! `--rows A..B`: some of the rows.

use std::ops::Range;

use crate::args;
use crate::failure::Failure;
use crate::text::count;

/// A range of rows, perhaps to the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    start: u64,
    end: Option<u64>,
}

impl Rows {
    /// The rows of so many.
    pub fn resolve(self, rows: u64, name: &str) -> Result<Range<u64>, Failure> {
        let end = self.end.unwrap_or(rows.max(self.start));
        if end > rows {
            let title = format!("{name}: rows {}..{end} extend past the end", self.start);
            let hint = format!("it has {}, counted from 0", count(rows, "row"));
            return Err(Failure::usage(title).hint(hint));
        }
        Ok(self.start..end)
    }
}

/// Parses `A..B`, where either may be missing.
pub fn parse(text: &str) -> Result<Rows, String> {
    let (start, end) = args::range(text, args::count)?;
    Ok(Rows { start, end })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn missing_rows_are_refused() {
        let resolved = |text: &str| parse(text).unwrap().resolve(10, "it").ok();
        assert_eq!(resolved("3.."), Some(3..10));
        assert_eq!(resolved(".."), Some(0..10));
        assert_eq!(resolved("10.."), Some(10..10));
        assert_eq!(resolved("11.."), None);
        assert_eq!(resolved("3..11"), None);
    }
}
