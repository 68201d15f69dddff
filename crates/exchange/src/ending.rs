//! [`Ending`]: the format that the ending of a name tells.

use crate::format::Format;
use bloscpack_datasets::DatasetLayout;
use std::fmt;
use std::path::Path;

/// The kind of file or directory that the ending of a name tells. Everything that writes shares this list.
///
/// ```
/// use bloscpack_exchange::{Ending, Format};
/// assert_eq!(Ending::of_path("prices.PARQUET"), Some(Ending::Format(Format::Parquet)));
/// assert_eq!(Ending::of_path("prices.b2z"), Some(Ending::StoreArchive));
/// assert_eq!(Ending::of_path("prices.h5"), Some(Ending::Foreign("an HDF5 file")));
/// assert_eq!(Ending::of_path("prices-1.2"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ending {
    /// A file of an exchange format, such as `.csv`.
    Format(Format),
    /// A Bloscpack file: `.blp`.
    Bloscpack,
    /// A Blosc2 frame: `.b2nd` and `.b2frame`.
    Frame,
    /// A store of python-blosc2 in a ZIP archive: `.b2z`.
    StoreArchive,
    /// A store of python-blosc2 in a directory: `.b2d`.
    StoreFolder,
    /// A Zarr array or group: `.zarr`.
    Zarr,
    /// A dataset: `.bcolz` and `.blz`.
    Dataset(DatasetLayout),
    /// A file that only other programs write, with its description.
    Foreign(&'static str),
}

/// The endings of files that this workspace does not write.
const FOREIGN: [(&str, &str); 32] = [
    ("h5", "an HDF5 file"),
    ("hdf", "an HDF5 file"),
    ("hdf5", "an HDF5 file"),
    ("nc", "a NetCDF file"),
    ("nc4", "a NetCDF file"),
    ("mat", "a MATLAB file"),
    ("fits", "a FITS file"),
    ("pkl", "a pickle"),
    ("pickle", "a pickle"),
    ("json", "a JSON file"),
    ("orc", "an ORC file"),
    ("avro", "an Avro file"),
    ("xls", "a spreadsheet"),
    ("xlsx", "a spreadsheet"),
    ("ods", "a spreadsheet"),
    ("db", "a database"),
    ("sqlite", "a database"),
    ("duckdb", "a database"),
    ("b2e", "a store of python-blosc2 in one frame"),
    ("b2f", "a frame within a store of python-blosc2"),
    ("b2b", "a frame within a store of python-blosc2"),
    ("zip", "a ZIP archive"),
    ("tar", "a tar archive"),
    ("tgz", "a tar archive"),
    ("7z", "a 7z archive"),
    ("gz", "a gzip file"),
    ("bz2", "a bzip2 file"),
    ("xz", "an xz file"),
    ("zst", "a Zstandard file"),
    ("lz4", "an LZ4 file"),
    ("br", "a Brotli file"),
    ("z", "a compressed file"),
];

impl Ending {
    /// The kind for the ending of a name, in any case; `None` for an unknown ending, and for a name without one.
    #[must_use]
    pub fn of_path(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "blp" => Self::Bloscpack,
            "b2nd" | "b2frame" => Self::Frame,
            "b2z" => Self::StoreArchive,
            "b2d" => Self::StoreFolder,
            "zarr" => Self::Zarr,
            "bcolz" => Self::Dataset(DatasetLayout::Bcolz),
            "blz" => Self::Dataset(DatasetLayout::Blz),
            other => {
                let foreign = || FOREIGN.iter().find(|(ending, _)| *ending == other);
                match Format::of_path(path) {
                    Some(format) => Self::Format(format),
                    None => Self::Foreign(foreign()?.1),
                }
            }
        })
    }
}

/// In the words of an error message: `a Blosc2 frame`.
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Format(format) => return write!(f, "a file of the format {format}"),
            Self::Bloscpack => "a Bloscpack file",
            Self::Frame => "a Blosc2 frame",
            Self::StoreArchive | Self::StoreFolder => "a store of python-blosc2",
            Self::Zarr => "a Zarr array or group",
            Self::Dataset(layout) => return write!(f, "a dataset of the layout {layout}"),
            Self::Foreign(what) => what,
        })
    }
}
