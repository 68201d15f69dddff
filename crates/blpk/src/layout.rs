//! `--layout`: how an array or a table is stored.

use std::fmt;

use bloscpack_open::{datasets::DatasetLayout, frames::ArrayKind};

/// The form of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreForm {
    /// A ZIP archive.
    Archive,
    /// A directory.
    Folder,
}

impl StoreForm {
    /// The ending of its name, and the name of the layout.
    pub fn name(self) -> &'static str {
        match self {
            Self::Archive => "b2z",
            Self::Folder => "b2d",
        }
    }
}

impl fmt::Display for StoreForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A layout of directories, a kind of array in a Blosc2 frame, or a form of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayLayout {
    /// In a directory.
    Dataset(DatasetLayout),
    /// In a frame.
    Frame(ArrayKind),
    /// As Zarr, which `convert` alone writes.
    Zarr(ZarrVersion),
    /// In a store.
    Store(StoreForm),
}

/// A version of Zarr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZarrVersion {
    V2,
    V3,
}

impl ArrayLayout {
    /// All of them. The last two are only made by `convert`.
    pub const ALL: [Self; 10] = [
        Self::Dataset(DatasetLayout::Bcolz),
        Self::Dataset(DatasetLayout::Blz),
        Self::Dataset(DatasetLayout::BlzDocument),
        Self::Dataset(DatasetLayout::CarrayDocument),
        Self::Frame(ArrayKind::Caterva),
        Self::Frame(ArrayKind::B2nd),
        Self::Store(StoreForm::Archive),
        Self::Store(StoreForm::Folder),
        Self::Zarr(ZarrVersion::V2),
        Self::Zarr(ZarrVersion::V3),
    ];

    /// All that `import` makes.
    pub const IMPORTED: &'static [Self] = Self::ALL.as_slice().split_at(8).0;

    /// The name that `--layout` takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dataset(layout) => layout.name(),
            Self::Frame(kind) => kind.name(),
            Self::Zarr(ZarrVersion::V2) => "zarr2",
            Self::Zarr(ZarrVersion::V3) => "zarr3",
            Self::Store(form) => form.name(),
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
