//! Exit statuses.

use std::process::ExitCode;

use bloscpack::Category;

/// The result of the command. The variants are in the order of their numbers: `max` gives the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Success; all data is sound.
    Done,
    /// The work failed: I/O, permission, no space.
    Failed,
    /// Wrong usage.
    Usage,
    /// Damaged data.
    Damaged,
    /// Truncated, unterminated or unfinished data.
    CutShort,
    /// Unknown or unsupported format, or over a limit.
    Unsupported,
    /// The change is committed but not completed, and must not be repeated.
    Committed,
    /// Ended by SIGINT, SIGTERM or SIGHUP.
    Interrupted,
}

/// The table in `--help` and in the manual page.
pub const HELP: &str = "\
Exit status:
  0  success; all data is sound
  1  the work failed (I/O error, no permission, no space)
  2  wrong usage
  3  damaged data; from recover: something is lost, or may be
  4  truncated, unterminated or unfinished data, or an empty input
  5  unknown or unsupported format, or over a limit
  6  the change is committed, but not completed: do not repeat it, the next change completes it
  130, 143, 129  ended by Ctrl-C, SIGTERM or SIGHUP, by the signal itself";

impl Status {
    /// The exit status as a number.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Damaged => 3,
            Self::CutShort => 4,
            Self::Unsupported => 5,
            Self::Committed => 6,
            Self::Interrupted => 130,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status.code())
    }
}

impl From<Category> for Status {
    fn from(category: Category) -> Self {
        match category {
            Category::Usage => Self::Usage,
            Category::Damaged => Self::Damaged,
            Category::CutShort => Self::CutShort,
            Category::Unsupported | Category::OverLimit => Self::Unsupported,
            Category::Committed => Self::Committed,
            _ => Self::Failed,
        }
    }
}
