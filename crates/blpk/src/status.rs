//! Exit statuses: what a script can rely on.

use std::process::ExitCode;

use bloscpack::Category;

/// How the command ended. The order is that of the numbers, so that `max` gives the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Done and sound.
    Done,
    /// The work failed: I/O, permission, no space.
    Failed,
    /// Wrong usage.
    Usage,
    /// Damaged data.
    Damaged,
    /// Cut short, unterminated or unfinished.
    CutShort,
    /// Not a format that is known, unsupported, or over a limit.
    Unsupported,
    /// Ended by SIGINT, SIGTERM or SIGHUP.
    Interrupted,
}

/// The table below `--help`, also in the manual page.
pub const HELP: &str = "\
Exit status:
  0  done and sound
  1  the work failed (I/O, permission, no space)
  2  wrong usage
  3  damaged data (checksum, contradiction, undecodable); recover: something is lost, or may be
  4  cut short, unterminated or unfinished data, also an empty input
  5  not a format that is known, unsupported, or over a limit
  130  interrupted";

impl Status {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Damaged => 3,
            Self::CutShort => 4,
            Self::Unsupported => 5,
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
            Category::Failed => Self::Failed,
            Category::Usage => Self::Usage,
            Category::Damaged => Self::Damaged,
            Category::CutShort => Self::CutShort,
            Category::Unsupported | Category::OverLimit => Self::Unsupported,
        }
    }
}
