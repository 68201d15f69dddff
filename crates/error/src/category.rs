//! [`Category`]: how a caller can react to an error.

use blosc1::Fault;

/// How a caller can react to an error; the exit statuses of `blpk` are derived from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Category {
    /// The work failed: I/O, permission, no space, a broken promise, a bug. Status 1.
    Failed,
    /// Wrong usage. Status 2.
    Usage,
    /// The data is damaged: a digest does not match, or parts contradict each other. Status 3.
    Damaged,
    /// The data is cut short, unterminated or unfinished. Status 4.
    CutShort,
    /// Not a known format, or not supported by this build. Status 5.
    Unsupported,
    /// The change is committed, but could not be completed: the next writer completes it, and it must not be repeated.
    /// Status 6.
    Committed,
    /// Over one of the [`Limits`](bloscpack_wire::Limits). Status 5.
    OverLimit,
}

impl From<Fault> for Category {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Damaged => Self::Damaged,
            Fault::CutShort => Self::CutShort,
            Fault::Unsupported => Self::Unsupported,
            Fault::OverLimit => Self::OverLimit,
            Fault::Usage => Self::Usage,
            Fault::Bug => Self::Failed,
        }
    }
}
