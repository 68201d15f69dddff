//! [`FrameKind`] and [`ArrayKind`]: where a frame keeps its chunks, and which metalayer describes its array.

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
