//! [`DatasetLayout`]: the names and contents of the files of a dataset.

use std::fmt;

/// The layout of a dataset: the names and contents of its files. `docs/datasets.md` compares the layouts.
///
/// | layout | recognized by | superchunks | checksums | columns |
/// |---|---|---|---|---|
/// | `Bcolz` | `__attrs__`, `cparams`; tables: `__rootdirs__` | one chunk of whole rows | none | folders, each an array |
/// | `Blz` | `__attrs__`, `bparams`; tables: `dirs` | one chunk of whole rows | none | folders, each an array |
/// | `BlzDocument` | `meta/attributes` or `data/__1__.bin`, no `__attrs__` | several chunks of whole rows | any | nested |
/// | `CarrayDocument` | `meta/shape` | several chunks of any shape | any | nested |
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
    /// The layout of bcolz (all versions) and carray 0.5. New datasets are written as bcolz 1.2 writes them. Snappy is refused
    /// for new arrays.
    #[default]
    Bcolz,
    /// The layout of BLZ 0.6: as bcolz, but with `bparams` and `dirs`. Zstandard and bitshuffle are refused for new arrays,
    /// since BLZ cannot read them.
    Blz,
    /// The layout that the BLZ document describes: several chunks per superchunk, checksums, an offset table, spare space,
    /// nested columns. No other program reads or writes it. Needs the feature `documents`.
    BlzDocument,
    /// The layout that the carray proposal describes: as `BlzDocument`, but with chunks of any shape and metadata in YAML. No
    /// other program reads or writes it. Needs the feature `documents`.
    CarrayDocument,
}

impl DatasetLayout {
    /// All layouts, including those that this build does not support.
    pub const ALL: [Self; 4] = [
        Self::Bcolz,
        Self::Blz,
        Self::BlzDocument,
        Self::CarrayDocument,
    ];

    /// The name, as the option `--layout` of `blpk` spells it: `bcolz`, `blz`, `blz-doc` or `carray-doc`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bcolz => "bcolz",
            Self::Blz => "blz",
            Self::BlzDocument => "blz-doc",
            Self::CarrayDocument => "carray-doc",
        }
    }

    /// Whether each column of a table is a dataset with its own small files. In the other layouts one set of files describes
    /// all columns.
    pub(crate) const fn columns_are_datasets(self) -> bool {
        matches!(self, Self::Bcolz | Self::Blz)
    }
}

impl fmt::Display for DatasetLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
