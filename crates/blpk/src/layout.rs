//! `--layout`: how an array or a table is stored.

use std::fmt;

use bloscpack::{dataset::DatasetLayout, frame::ArrayKind};

/// A layout of directories, or a kind of array in a Blosc2 frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayLayout {
    /// In a directory.
    Dataset(DatasetLayout),
    /// In a frame.
    Frame(ArrayKind),
    /// As Zarr, which `convert` alone writes.
    Zarr(ZarrVersion),
}

/// A version of Zarr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZarrVersion {
    V2,
    V3,
}

impl ArrayLayout {
    /// All that `import` makes.
    pub const ALL: [Self; 6] = [
        Self::Dataset(DatasetLayout::Bcolz),
        Self::Dataset(DatasetLayout::Blz),
        Self::Dataset(DatasetLayout::BlzDocument),
        Self::Dataset(DatasetLayout::CarrayDocument),
        Self::Frame(ArrayKind::Caterva),
        Self::Frame(ArrayKind::B2nd),
    ];

    /// All that `convert` makes.
    pub const CONVERTED: [Self; 8] = [
        Self::Dataset(DatasetLayout::Bcolz),
        Self::Dataset(DatasetLayout::Blz),
        Self::Dataset(DatasetLayout::BlzDocument),
        Self::Dataset(DatasetLayout::CarrayDocument),
        Self::Frame(ArrayKind::Caterva),
        Self::Frame(ArrayKind::B2nd),
        Self::Zarr(ZarrVersion::V2),
        Self::Zarr(ZarrVersion::V3),
    ];

    /// The name that `--layout` takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dataset(layout) => layout.name(),
            Self::Frame(kind) => kind.name(),
            Self::Zarr(ZarrVersion::V2) => "zarr2",
            Self::Zarr(ZarrVersion::V3) => "zarr3",
        }
    }
}

impl Default for ArrayLayout {
    fn default() -> Self {
        Self::Dataset(DatasetLayout::default())
    }
}

impl fmt::Display for ArrayLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
