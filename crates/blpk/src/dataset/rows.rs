//! `--rows A..B`: some of the rows.

use std::ops::Range;

use crate::message::Failure;

/// A stretch of rows, perhaps to the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    start: u64,
    end: Option<u64>,
}

impl Rows {
    /// What it means where there are so many rows.
    pub fn resolve(self, rows: u64, name: &str) -> Result<Range<u64>, Failure> {
        let end = self.end.unwrap_or(rows.max(self.start));
        if end > rows {
            let title = format!("{name}: the rows {}..{end} reach past the end", self.start);
            return Err(Failure::usage(title).hint(format!("it has {rows} rows, counted from 0")));
        }
        Ok(self.start..end)
    }
}

/// Parses `A..B`, either of which may be left out.
pub fn parse(text: &str) -> Result<Rows, String> {
    let wrong = || "rows are written A..B, A.. or ..B, counted from 0".to_owned();
    let bound = |text: &str| match text {
        "" => Ok(None),
        _ if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().map(Some).map_err(|_| wrong())
        }
        _ => Err(wrong()),
    };
    let (start, end) = text.split_once("..").ok_or_else(wrong)?;
    let (start, end) = (bound(start)?.unwrap_or(0), bound(end)?);
    if end.is_some_and(|end| end < start) {
        return Err("a range must not end before it starts".into());
    }
    Ok(Rows { start, end })
}

#[cfg(test)]
mod tests {
    use super::{Rows, parse};

    #[test]
    fn ranges_of_rows() {
        let rows = |start, end| Ok(Rows { start, end });
        assert_eq!(parse("3..7"), rows(3, Some(7)));
        assert_eq!(parse("3.."), rows(3, None));
        assert_eq!(parse("..7"), rows(0, Some(7)));
        assert_eq!(parse(".."), rows(0, None));
        for wrong in ["", "5", "7..3", "a..b", "1..=2", "1...2", "-1..2", "1K..2K"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let resolved = |text: &str| parse(text).unwrap().resolve(10, "it").ok();
        assert_eq!(resolved("3.."), Some(3..10));
        assert_eq!(resolved(".."), Some(0..10));
        assert_eq!(resolved("10.."), Some(10..10));
        assert_eq!(resolved("11.."), None);
        assert_eq!(resolved("3..11"), None);
    }
}
