//! [`FrameKind`], [`ArrayKind`] and [`VirtualKind`]: where a frame keeps its chunks, which metalayer describes its array, and
//! how elements that are not in the frame are defined.

use std::fmt;

/// Where a frame keeps its chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// In the frame itself, between header and index. The frame is one file.
    Contiguous,
    /// In a file for each chunk. The frame is a directory.
    Sparse,
}

/// The metalayer that describes the array in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArrayKind {
    /// `caterva`, written by the library of that name: shapes of at most 8 axes, and no dtype.
    Caterva,
    /// `b2nd`, written by python-blosc2 and C-Blosc2 (Blosc2 NDim): shapes of at most 16 axes, and a dtype.
    B2nd,
}

impl ArrayKind {
    /// The name of the metalayer.
    ///
    /// ```
    /// use bloscpack_frames::ArrayKind;
    /// assert_eq!(ArrayKind::B2nd.name(), "b2nd");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Caterva => "caterva",
            Self::B2nd => "b2nd",
        }
    }

    /// The maximum number of axes.
    #[must_use]
    pub fn max_axes(self) -> usize {
        match self {
            Self::Caterva => 8,
            Self::B2nd => 16,
        }
    }
}

/// How the elements of a [virtual](crate::Frame::virtual_data) frame are defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VirtualKind {
    /// A lazy expression over other arrays.
    Expression,
    /// A user function over other arrays.
    Function,
    /// A cache of another array. Elements that were fetched are in the frame.
    Proxy,
    /// An array on another machine. Elements that were fetched may be in the frame.
    Remote,
    /// Another kind of python-blosc2 object.
    Other,
}

impl fmt::Display for VirtualKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl VirtualKind {
    /// The name in messages: `lazy expression`, `user function`, `proxy`, `remote array` or `object`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Expression => "lazy expression",
            Self::Function => "user function",
            Self::Proxy => "proxy",
            Self::Remote => "remote array",
            Self::Other => "object",
        }
    }

    /// Whether the frame may contain fetched chunks.
    pub(crate) fn has_cache(self) -> bool {
        matches!(self, Self::Proxy | Self::Remote)
    }
}
