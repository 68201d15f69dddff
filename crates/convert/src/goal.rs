//! [`Goal`]: the format of the output, by the ending of its name or by request.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

use bloscpack_error::{Error, Result};
use bloscpack_open::{
    Container, Inner, Kind,
    datasets::DatasetLayout,
    exchange::{Ending, Format},
    frames::ArrayKind,
    zarr::Format as ZarrFormat,
};

/// The form of a python-blosc2 store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreForm {
    /// A ZIP archive, `.b2z`.
    Archive,
    /// A directory, `.b2d`.
    Folder,
}

impl StoreForm {
    /// The ending without its dot, which is also the name of the goal: `b2z` or `b2d`.
    #[must_use]
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

/// The format of the output.
///
/// [`is_written`](Self::is_written) goals are files, for [`Conversion::write`](crate::Conversion::write). The others are made
/// at a path by [`Conversion::make`](crate::Conversion::make). [`Conversion::run`](crate::Conversion::run) takes both. The
/// default is a dataset of the layout bcolz.
///
/// ```
/// use bloscpack_convert::Goal;
/// use bloscpack_open::frames::ArrayKind;
/// let of = |path: &str| Goal::of_path(path.as_ref(), None);
/// assert_eq!(of("cube.b2nd")?, Some(Goal::Frame(ArrayKind::B2nd)));
/// assert_eq!(of("cube")?, None);
/// assert_eq!(of("cube.h5").unwrap_err().to_string(), "its name is that of an HDF5 file, which is not written");
/// # Ok::<(), bloscpack::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A dataset: a directory with an array or a table. Of a tree, a folder of datasets.
    Dataset(DatasetLayout),
    /// A Blosc2 frame with an n-dimensional array.
    Frame(ArrayKind),
    /// A store of python-blosc2, with a table or with arrays.
    Store(StoreForm),
    /// A Zarr array, or a group: the columns of a table, or a tree.
    Zarr(ZarrFormat),
    /// A Bloscpack file. Its metadata describes a NumPy array, if the source is an array.
    File,
    /// A Bloscpack file with a record for each row, as JSON.
    Records,
    /// A file of another program: NumPy, CSV, JSON lines, Arrow, Parquet, or plain bytes.
    Format(Format),
}

/// The hint about unknown endings.
const ENDINGS: &str = "known are .npy, .npz, .csv, .tsv, .jsonl, .arrow, .arrows, .parquet, .bin, .blp, .b2nd, .b2frame, .b2z, .b2d, .zarr, .bcolz and .blz";

impl Goal {
    /// All goals.
    pub fn all() -> impl Iterator<Item = Self> {
        let layouts = [
            Self::File,
            Self::Records,
            Self::Dataset(DatasetLayout::Bcolz),
            Self::Dataset(DatasetLayout::Blz),
            Self::Dataset(DatasetLayout::BlzDocument),
            Self::Dataset(DatasetLayout::CarrayDocument),
            Self::Frame(ArrayKind::Caterva),
            Self::Frame(ArrayKind::B2nd),
            Self::Store(StoreForm::Archive),
            Self::Store(StoreForm::Folder),
            Self::Zarr(ZarrFormat::V2),
            Self::Zarr(ZarrFormat::V3),
        ];
        Format::WRITTEN.into_iter().map(Self::Format).chain(layouts)
    }

    /// The name, which [`named`](Self::named) accepts: a layout such as `bcolz`, or a format such as `csv`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dataset(layout) => layout.name(),
            Self::Frame(kind) => kind.name(),
            Self::Zarr(ZarrFormat::V2) => "zarr2",
            Self::Zarr(ZarrFormat::V3) => "zarr3",
            Self::Store(form) => form.name(),
            Self::File => "blp",
            Self::Records => "records",
            Self::Format(format) => format.name(),
        }
    }

    /// The goal with this name, in any case; `zarr` is Zarr 3. `None` for any other name.
    ///
    /// ```
    /// use bloscpack_convert::Goal;
    /// use bloscpack_open::zarr::Format;
    /// assert_eq!(Goal::named("zarr"), Some(Goal::Zarr(Format::V3)));
    /// assert_eq!(Goal::named("BCOLZ"), Some(Goal::default()));
    /// assert_eq!(Goal::named("hdf5"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "zarr" => Some(Self::Zarr(ZarrFormat::V3)),
            _ => Self::all().find(|goal| goal.name().eq_ignore_ascii_case(name)),
        }
    }

    /// The goal for a path: `given`, or the one that the ending of the name tells. `None` if neither tells one.
    ///
    /// The ending `.b2nd` permits both kinds of frame, `.zarr` both versions, `.bcolz` and `.blz` every layout of datasets,
    /// `.blp` also records, and `.arrow` also a stream. A number after a dot, as in `prices-1.2`, is no ending.
    ///
    /// # Errors
    /// Returns `Code::Usage` for an ending that is unknown or of another program, and for one that contradicts `given`.
    pub fn of_path(path: &Path, given: Option<Self>) -> Result<Option<Self>> {
        match (Self::promised(path, given)?, given) {
            (Some(promised), Some(given)) if !promised.is_kept_by(given) => {
                let ending = Ending::of_path(path).map(|ending| ending.to_string());
                let hint = format!("choose another name for the layout {given}");
                Err(mismatch(&ending.unwrap_or_default(), hint))
            }
            (promised, given) => Ok(given.or(promised)),
        }
    }

    /// The goal with the format of an input, for a copy; `None` for records, for which the caller must choose.
    #[must_use]
    pub fn like(source: &dyn Container) -> Option<Self> {
        Some(match source.inner() {
            _ if source.kind() == Kind::Records => return None,
            _ if source.kind() == Kind::Bloscpack => Self::File,
            Inner::NdArray(array) => Self::Frame(array.kind()),
            Inner::Frame(_) => Self::Frame(ArrayKind::B2nd),
            Inner::Array(array) => Self::Dataset(array.layout()),
            Inner::Table(table) => Self::Dataset(table.layout()),
            _ => Self::default(),
        })
    }

    /// The goal that the ending of a name promises; `None` without an ending.
    fn promised(path: &Path, given: Option<Self>) -> Result<Option<Self>> {
        Ok(Some(match Ending::of_path(path) {
            None => {
                let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
                // Parts of dates and versions are not endings.
                if given.is_some() || !ending.starts_with(|first: char| first.is_ascii_alphabetic())
                {
                    return Ok(None);
                }
                let message = format!("the ending .{ending} is not known");
                return Err(Error::usage(message).with_hint(ENDINGS));
            }
            Some(Ending::Bloscpack) => Self::File,
            Some(Ending::Format(format)) => Self::Format(format),
            Some(Ending::Frame) => Self::Frame(ArrayKind::B2nd),
            Some(Ending::Zarr) => Self::Zarr(ZarrFormat::V3),
            Some(Ending::StoreArchive) => Self::Store(StoreForm::Archive),
            Some(Ending::StoreFolder) => Self::Store(StoreForm::Folder),
            Some(Ending::Dataset(layout)) => Self::Dataset(layout),
            Some(other) => {
                return Err(mismatch(&format!("{other}, which is not written"), ENDINGS));
            }
        }))
    }

    /// Whether a name that promises this goal may be given to `made`.
    fn is_kept_by(self, made: Self) -> bool {
        match (self, made) {
            (Self::Frame(_), Self::Frame(_))
            | (Self::Zarr(_), Self::Zarr(_))
            | (Self::Dataset(_), Self::Dataset(_))
            | (Self::File, Self::Records)
            // Readers tell the two by their content.
            | (Self::Format(Format::Arrow), Self::Format(Format::ArrowStream)) => true,
            _ => self == made,
        }
    }

    /// Whether the format can store missing values. In the others, NaN, NaT and empty text represent them.
    #[must_use]
    pub fn has_missing(self) -> bool {
        match self {
            Self::Format(format) => format.has_missing(),
            Self::Records | Self::Store(_) => true,
            _ => false,
        }
    }

    /// Whether the output is a file that is written in order. Other goals are made at a path.
    #[must_use]
    pub fn is_written(self) -> bool {
        matches!(self, Self::File | Self::Records | Self::Format(_))
    }
}

impl Default for Goal {
    fn default() -> Self {
        Self::Dataset(DatasetLayout::default())
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a goal that contradicts the ending of the name; `is` describes what the ending is for.
pub fn mismatch(is: &str, hint: impl Into<Cow<'static, str>>) -> Error {
    Error::usage(format!("its name is that of {is}")).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bloscpack_open::{datasets::DatasetLayout, frames::ArrayKind};

    use super::{Goal, StoreForm};

    #[test]
    fn the_ending_decides_or_contradicts() {
        let of = |path: &str, given: Option<Goal>| {
            let goal = Goal::of_path(Path::new(path), given).ok()?;
            Some(goal.unwrap_or_default())
        };
        let bcolz = Goal::Dataset(DatasetLayout::Bcolz);
        let b2nd = Goal::Frame(ArrayKind::B2nd);
        let archive = Goal::Store(StoreForm::Archive);
        assert_eq!(of("x.b2z", None), Some(archive));
        assert_eq!(of("x", Some(archive)), Some(archive));
        let caterva = Goal::Frame(ArrayKind::Caterva);
        assert_eq!(of("x", None), Some(bcolz));
        assert_eq!(of("x.bcolz", None), Some(bcolz));
        assert_eq!(of("x", Some(b2nd)), Some(b2nd));
        assert_eq!(of("x.B2ND", None), Some(b2nd));
        assert_eq!(of("x.b2frame", None), Some(b2nd));
        assert_eq!(of("x.b2nd", Some(caterva)), Some(caterva));
        assert_eq!(of("x.blp", None), Some(Goal::File));
        let blz = Goal::Dataset(DatasetLayout::Blz);
        assert_eq!(of("x.blz", None), Some(blz));
        assert_eq!(of("x.bcolz", Some(blz)), Some(blz));
        assert_eq!(of("2024.01.02", Some(blz)), Some(blz));
        for (path, given) in [
            ("x.b2nd", Some(bcolz)),
            ("x.b2frame", Some(bcolz)),
            ("x.blp", Some(bcolz)),
            ("x.b2z", Some(bcolz)),
            ("x.b2d", Some(archive)),
            ("x.blp", Some(b2nd)),
            ("x.csv", Some(bcolz)),
            ("x.foo", None),
            ("x.zarr", Some(bcolz)),
            ("x.bcolz", Some(b2nd)),
            ("x.h5", None),
            ("x.zip", Some(bcolz)),
            ("x.csv.gz", None),
            ("x.npy", Some(b2nd)),
        ] {
            assert_eq!(of(path, given), None, "{path}");
        }
    }
}
