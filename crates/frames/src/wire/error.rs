//! What can be wrong with the bytes of a frame.

use blosc1::Fault;
use bloscpack_error::Detail;
use std::fmt;

/// What is wrong with a part of a frame: what was found in it, what was expected, and where.
///
/// ```
/// use blosc1::Fault;
/// use bloscpack_frames::wire::FrameHeader;
/// let error = FrameHeader::prefix(b"\x9e\xa8b2frame\0\xd3\0\0\0\0\0\0\0\0\0\0\0\0\0").unwrap_err();
/// assert_eq!((error.fault(), error.at()), (Fault::Damaged, Some(10)));
/// assert_eq!(
///     error.to_string(),
///     "frame header (byte 10): length of the header: marker d3, should be d2"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameError {
    fault: Fault,
    section: &'static str,
    what: String,
    at: Option<u64>,
}

impl FrameError {
    /// Whose fault it is, and with that what a caller can do about it.
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// The byte within the part (header, trailer, metalayer, or decoded index), if it is about one.
    #[must_use]
    pub fn at(&self) -> Option<u64> {
        self.at
    }

    pub(super) fn new(
        fault: Fault,
        section: &'static str,
        at: Option<usize>,
        what: impl Into<String>,
    ) -> Self {
        Self {
            fault,
            section,
            what: what.into(),
            at: at.and_then(|at| u64::try_from(at).ok()),
        }
    }

    pub(super) fn damaged(section: &'static str, what: impl Into<String>) -> Self {
        Self::new(Fault::Damaged, section, None, what)
    }

    pub(super) fn usage(section: &'static str, what: impl Into<String>) -> Self {
        Self::new(Fault::Usage, section, None, what)
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "{} (byte {at}): {}", self.section, self.what),
            None => write!(f, "{}: {}", self.section, self.what),
        }
    }
}

impl std::error::Error for FrameError {}

impl Detail for FrameError {
    fn fault(&self) -> Fault {
        self.fault
    }
}
