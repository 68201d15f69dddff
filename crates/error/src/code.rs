//! [`Code`]: what went wrong, and [`Category`]: how a caller can react.

use blosc1::{ChunkError, Fault};
use bloscpack_wire::FormatError;
use std::fmt;

/// How a caller can react to an error. The exit status of `blpk` follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Category {
    /// The work failed: I/O, permissions, a full disk, a wrong announced size, or a bug. Status 1.
    Failed,
    /// The call or the options are wrong; no input could make it succeed. Status 2.
    Usage,
    /// The data is damaged: a digest does not match, or parts contradict each other. Status 3.
    Damaged,
    /// The data is cut short, unterminated or unfinished, or a change to it was interrupted. Status 4.
    CutShort,
    /// The format is unknown, or this library or build does not support the data. Status 5.
    Unsupported,
    /// The change is committed, but its last step failed. Do not repeat it: the next writer completes it.
    /// Status 6.
    Committed,
    /// The data exceeds one of the [`Limits`](bloscpack_wire::Limits), or the available memory. Status 5, as
    /// for `Unsupported`.
    OverLimit,
}

/// Declares [`Code`] from one table: variant, name, category, description.
macro_rules! codes {
    ($($code:ident = $name:literal, $category:ident: $doc:literal;)+) => {
        /// What went wrong. Names are stable: programs can compare them. `docs/errors.md` lists what to do
        /// about each.
        ///
        /// ```
        /// use bloscpack_error::{Category, Code};
        ///
        /// assert_eq!(Code::Digest.as_str(), "digest");
        /// assert_eq!(Code::Digest.category(), Category::Damaged);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $doc] $code,)+
        }

        impl Code {
            /// All codes, grouped by category.
            pub const ALL: &[Self] = &[$(Self::$code),+];

            /// The name in the JSON of `blpk` and in Python's `error.code`: lower case, words joined by
            /// hyphens.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                }
            }

            /// The category of this code.
            #[must_use]
            pub const fn category(self) -> Category {
                match self {
                    $(Self::$code => Category::$category,)+
                }
            }
        }
    };
}

codes! {
    Io = "io", Failed: "Reading or writing failed.";
    Replaced = "replaced", Failed: "Another file has taken the place of the one that is followed.";
    WrongSize = "wrong-size", Failed: "The caller announced another number of bytes than it gave.";
    WrongCount = "wrong-count", Failed: "The caller announced another number of records than it gave.";
    RecordValue = "record-value", Failed: "A record does not hold a value of the type asked for, or a value cannot be a record.";
    Panicked = "panicked", Failed: "A worker panicked: a bug, in this library or in a plugged hasher.";
    Bug = "bug", Failed: "A broken invariant: a bug in this library. The work stops rather than going on with a made-up value.";

    Usage = "usage", Usage: "Options that contradict each other, or a call that cannot be carried out.";
    OutOfBounds = "out-of-bounds", Usage: "A chunk, row, byte or slice past the end.";
    NotFound = "not-found", Usage: "The store or table has no such member.";
    NotATable = "not-a-table", Usage: "Columns of something that is not a table.";
    NeedsColumn = "needs-column", Usage: "A table where a single column is needed.";
    NeedsDtype = "needs-dtype", Usage: "Elements of a frame that does not store their dtype.";
    NeedsArray = "needs-array", Usage: "Rows or a slice of something that contains no array.";
    NeedsFile = "needs-file", Usage: "Random access to an input that can only be read in order.";
    WrongType = "wrong-type", Usage: "The elements are of another type than the one asked for.";
    ReadOnly = "read-only", Usage: "A change of something that was opened for reading, or of a version that is only read.";
    Reopen = "reopen", Usage: "An earlier change failed, so that the state is unknown: open it again.";
    CannotStore = "cannot-store", Usage: "The format has no place for a value.";

    Header = "header", Damaged: "A header has an impossible field, or contradicts another part.";
    Seal = "seal", Damaged: "Header, metadata and offsets do not match their seal.";
    Digest = "digest", Damaged: "A digest does not match the bytes it covers.";
    Offsets = "offsets", Damaged: "The table of offsets, or the index of chunks, is impossible.";
    Metadata = "metadata", Damaged: "Metadata is not what its format allows.";
    Chunk = "chunk", Damaged: "A chunk does not decode, or has the wrong length.";
    Records = "records", Damaged: "A chunk of packed records is impossible.";
    Trailing = "trailing", Damaged: "Unexpected bytes between or after the parts.";
    UncountedChunk = "uncounted-chunk", Damaged: "More or fewer chunks than the header counts.";
    MissingFile = "missing-file", Damaged: "A file of a dataset, frame or store is missing, or is not a regular file.";
    InvalidName = "invalid-name", Damaged: "A name is invalid, occurs twice, or points outside of its folder.";
    Shape = "shape", Damaged: "Shapes or numbers of rows are impossible, or contradict each other.";
    Value = "value", Damaged: "A value of a text or column is not of its type.";
    Damaged = "damaged", Damaged: "Parts contradict each other in another way.";

    CutShort = "cut-short", CutShort: "Bytes are missing.";
    Unterminated = "unterminated", CutShort: "A stream ends without its end mark.";
    Unfinished = "unfinished", CutShort: "A file whose writer did not finish.";
    Interrupted = "interrupted", CutShort: "A change was interrupted, or is being made right now.";

    UnknownFormat = "unknown-format", Unsupported: "The input is not of the format that was expected, or of no known one.";
    Unsupported = "unsupported", Unsupported: "A version, type or feature that this library does not support.";
    NotBuilt = "not-built", Unsupported: "A feature that this build does not have.";
    NotStored = "not-stored", Unsupported: "The elements are computed from others, or were never fetched.";
    NotAnArray = "not-an-array", Unsupported: "A frame without an array.";
    NoIndex = "no-index", Unsupported: "An array that can have no index.";

    OverLimit = "over-limit", OverLimit: "The input exceeds a limit.";
    WriteLimit = "write-limit", OverLimit: "The output would exceed a limit of its readers.";
    NoMemory = "no-memory", OverLimit: "There is not enough memory.";

    Committed = "committed", Committed: "The change is committed, but completing it failed. The next writer completes it.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<&ChunkError> for Code {
    fn from(error: &ChunkError) -> Self {
        match (error, error.fault()) {
            (ChunkError::NotBuilt { .. } | ChunkError::OnlyRead { .. }, _) => Self::NotBuilt,
            (ChunkError::Memory, _) => Self::NoMemory,
            (_, Fault::Damaged) => Self::Chunk,
            (_, fault) => fault.into(),
        }
    }
}

impl From<&FormatError> for Code {
    fn from(error: &FormatError) -> Self {
        match error {
            FormatError::Magic { .. } => Self::UnknownFormat,
            FormatError::MemberMagic { .. } | FormatError::Field { .. } => Self::Header,
            FormatError::Seal { .. } => Self::Seal,
            FormatError::MetadataData { .. } => Self::Metadata,
            FormatError::Offset { .. } => Self::Offsets,
            FormatError::Chunk(error) => error.into(),
            FormatError::ChunkSize { .. } => Self::Chunk,
            FormatError::Packing { .. } => Self::Records,
            FormatError::Digest(_) => Self::Digest,
            FormatError::Spare { .. } | FormatError::Trailing => Self::Trailing,
            FormatError::UncountedChunk { .. }
            | FormatError::HiddenChunks
            | FormatError::EarlyEndMark { .. } => Self::UncountedChunk,
            FormatError::Unterminated => Self::Unterminated,
            FormatError::Unfinished { .. } => Self::Unfinished,
            FormatError::Interrupted { .. } => Self::Interrupted,
            FormatError::WriteLimit { .. } => Self::WriteLimit,
            FormatError::ReadOnly { .. } => Self::ReadOnly,
            FormatError::NoPlace { .. } => Self::CannotStore,
            // All other variants map to the general code of their fault.
            other => other.fault().into(),
        }
    }
}

impl From<Fault> for Code {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Damaged => Self::Damaged,
            Fault::CutShort => Self::CutShort,
            Fault::Unsupported => Self::Unsupported,
            Fault::OverLimit => Self::OverLimit,
            Fault::Usage => Self::Usage,
            Fault::Bug => Self::Bug,
        }
    }
}

impl From<Fault> for Category {
    fn from(fault: Fault) -> Self {
        Code::from(fault).category()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_every_code_with_its_status() {
        let page = include_str!("../../../docs/errors.md");
        for code in Code::ALL {
            let status = match code.category() {
                Category::Failed => 1,
                Category::Usage => 2,
                Category::Damaged => 3,
                Category::CutShort => 4,
                Category::Unsupported | Category::OverLimit => 5,
                Category::Committed => 6,
            };
            let row = format!("| `{code}` | {status} |");
            assert_eq!(page.matches(&row).count(), 1, "{row}");
        }
        assert_eq!(page.matches("\n| `").count(), Code::ALL.len());
    }

    #[test]
    fn names_are_distinct() {
        let names: std::collections::BTreeSet<_> =
            Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
