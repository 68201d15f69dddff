//! [`DatasetLayout`]: the names and contents of the files of a dataset.

use std::fmt;

/// The layout of a dataset: the names of its files, and what they contain.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_datasets::{Dataset, DatasetLayout};
/// let dataset = Dataset::open("testdata/datasets/bcolz/py2_int64")?;
/// assert_eq!(dataset.layout(), DatasetLayout::Bcolz);
/// assert_eq!(dataset.layout().to_string(), "bcolz");
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DatasetLayout {
    /// The layout that bcolz writes, and carray 0.5 wrote: one chunk per superchunk, `__attrs__`, `cparams`. bcolz opens it.
    #[default]
    Bcolz,
    /// The layout that BLZ 0.6 writes: as bcolz, but with `bparams` and `dirs`.
    Blz,
    /// The layout of the BLZ document: several chunks per superchunk, checksums, offsets, spare space, nested columns. It
    /// requires the feature `documents`.
    BlzDocument,
    /// The layout of the carray proposal: chunks of any shape, several per superchunk, checksums, offsets, spare space, nested
    /// columns, YAML. It requires the feature `documents`.
    CarrayDocument,
}

impl DatasetLayout {
    /// All layouts, whether this build supports them or not.
    pub const ALL: [Self; 4] = [
        Self::Bcolz,
        Self::Blz,
        Self::BlzDocument,
        Self::CarrayDocument,
    ];

    /// The name of the layout, as the command `blpk` spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bcolz => "bcolz",
            Self::Blz => "blz",
            Self::BlzDocument => "blz-doc",
            Self::CarrayDocument => "carray-doc",
        }
    }

    /// Whether each column of a table is a dataset of its own. In the other layouts one set of files describes all columns.
    pub(crate) const fn columns_are_datasets(self) -> bool {
        matches!(self, Self::Bcolz | Self::Blz)
    }
}

impl fmt::Display for DatasetLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
