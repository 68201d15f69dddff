//! What can be wrong with the small files of a dataset.

use blosc1::Fault;
use bloscpack_error::Detail;
use std::fmt;

/// What is wrong with one of a dataset's small files: what was found in it, what was expected, and where.
///
/// Which file it is, the reader of it knows and says.
///
/// ```
/// use blosc1::Fault;
/// use bloscpack_datasets::wire::Sizes;
/// let error = Sizes::parse(br#"{"shape": [10, -3], "nbytes": 1, "cbytes": 1}"#).unwrap_err();
/// assert_eq!(error.fault(), Fault::Damaged);
/// assert_eq!(
///     error.to_string(),
///     r#""shape" (line 1, column 11) is [10, -3], should be a list of whole numbers, 0 or more each"#
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaError {
    fault: Fault,
    what: String,
}

impl MetaError {
    /// Whose fault it is, and with that what a caller can do about it.
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.fault
    }

    pub(super) fn damaged(what: impl Into<String>) -> Self {
        Self::new(Fault::Damaged, what)
    }

    pub(super) fn cut_short(what: impl Into<String>) -> Self {
        Self::new(Fault::CutShort, what)
    }

    pub(super) fn unsupported(what: impl Into<String>) -> Self {
        Self::new(Fault::Unsupported, what)
    }

    pub(super) fn over_limit(what: impl Into<String>) -> Self {
        Self::new(Fault::OverLimit, what)
    }

    pub(super) fn usage(what: impl Into<String>) -> Self {
        Self::new(Fault::Usage, what)
    }

    pub(super) fn new(fault: Fault, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { fault, what }
    }
}

impl fmt::Display for MetaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for MetaError {}

/// At most this many characters of what was found are shown.
const SHOWN: usize = 60;

/// The beginning of what was found, on one line.
pub(super) fn shown(found: &str) -> String {
    let line = |c: char| if c.is_control() { ' ' } else { c };
    match found.char_indices().nth(SHOWN) {
        None => found.chars().map(line).collect(),
        Some(_) => found
            .chars()
            .take(SHOWN)
            .map(line)
            .chain("...".chars())
            .collect(),
    }
}

/// Line and column of a place in a text, both from 1; columns count characters.
pub(super) fn place(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}")
}

impl Detail for MetaError {
    fn fault(&self) -> Fault {
        self.fault
    }
}
