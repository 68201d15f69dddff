//! [`FrameKind`], [`ArrayKind`] and [`VirtualKind`]: where a frame keeps its chunks, which metalayer describes its array, and what
//! defines elements that are not in it.

use std::fmt;

/// Where a frame keeps its chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// In the frame itself, between header and index: the frame is one file.
    Contiguous,
    /// In a file for each chunk: the frame is a directory.
    Sparse,
}

/// Which metalayer describes the array in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArrayKind {
    /// `caterva`, by the library of that name: shapes only, at most 8 axes. It does not say what an element is.
    Caterva,
    /// `b2nd`, by python-blosc2 and C-Blosc2 (Blosc2 NDim), its successor: at most 16 axes, and a dtype.
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

/// The kind of definition of a [virtual](crate::Frame::virtual_data) frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VirtualKind {
    /// A lazy expression over other arrays.
    Expression,
    /// A user function over other arrays.
    Function,
    /// A cache of another array.
    Proxy,
    /// An array on another machine, of which parts may be cached.
    Remote,
    /// Another kind of object.
    Other,
}

impl fmt::Display for VirtualKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl VirtualKind {
    /// Its name: `lazy expression`, `user function`, `proxy`, `remote array`, `object`.
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

    /// Whether fetched chunks may be in the frame.
    pub(crate) fn has_cache(self) -> bool {
        matches!(self, Self::Proxy | Self::Remote)
    }
}
