//! Layouts that `import` and `convert` write: by `--layout`, or by the extension of OUT.

use std::fmt;
use std::path::Path;

use bloscpack_open::{datasets::DatasetLayout, exchange::Ending, frames::ArrayKind};

use crate::failure::Failure;
use crate::text::quoted;

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

/// The kind that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A dataset or a frame.
    Layout(ArrayLayout),
    /// A Bloscpack file whose metadata describes a NumPy array.
    File,
}

/// The kind that the ending of a name promises, if any. Refuses the endings of files that neither `import` nor `convert` makes.
fn promised(path: &Path, command: &str) -> Result<Option<Goal>, Failure> {
    let layout = match Ending::of_path(path) {
        None => return Ok(None),
        Some(Ending::Bloscpack) => return Ok(Some(Goal::File)),
        Some(Ending::Frame) => ArrayLayout::Frame(ArrayKind::B2nd),
        Some(Ending::Zarr) => ArrayLayout::Zarr(ZarrVersion::V3),
        Some(Ending::StoreArchive) => ArrayLayout::Store(StoreForm::Archive),
        Some(Ending::StoreFolder) => ArrayLayout::Store(StoreForm::Folder),
        Some(Ending::Dataset(layout)) => ArrayLayout::Dataset(layout),
        Some(other) => {
            let what = format!("{other}, which blpk {command} does not make");
            let hint = match other {
                Ending::Format(_) => "blpk export makes files of other formats",
                _ => "choose another name",
            };
            return Err(mismatch(path, &what, hint));
        }
    };
    Ok(Some(Goal::Layout(layout)))
}

/// The failure to make something else than the ending of the name says.
pub fn mismatch(path: &Path, is: &str, hint: impl Into<String>) -> Failure {
    let title = format!("the name of {} is that of {is}", quoted(path));
    Failure::usage(title).hint(hint)
}

impl Goal {
    /// Whether a name that promises this may be given to `made`: the ending of frames and datasets leaves their layout open.
    fn is_kept_by(self, made: Self) -> bool {
        use ArrayLayout::{Dataset, Frame, Zarr};
        match (self, made) {
            (Self::Layout(Frame(_)), Self::Layout(Frame(_)))
            | (Self::Layout(Zarr(_)), Self::Layout(Zarr(_)))
            | (Self::Layout(Dataset(_)), Self::Layout(Dataset(_))) => true,
            _ => self == made,
        }
    }
}

/// The kind that `command` makes at `path`: what was given, or what the ending of the name promises, if anything. Refuses what the
/// ending contradicts.
pub fn goal(path: &Path, given: Option<Goal>, command: &str) -> Result<Option<Goal>, Failure> {
    match (promised(path, command)?, given) {
        (Some(promised), Some(given)) if !promised.is_kept_by(given) => {
            let ending = Ending::of_path(path).map(|ending| ending.to_string());
            let hint = match given {
                Goal::Layout(layout) => {
                    format!("choose another name for the layout {layout}, or omit --layout")
                }
                Goal::File => "choose another name for a Bloscpack file, or omit --format".into(),
            };
            Err(mismatch(path, &ending.unwrap_or_default(), hint))
        }
        (promised, given) => Ok(given.or(promised)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bloscpack_open::{datasets::DatasetLayout, frames::ArrayKind};

    use super::{Goal, goal};
    use crate::layout::ArrayLayout;
    use crate::layout::StoreForm;

    #[test]
    fn the_ending_decides_or_contradicts() {
        let of = |path: &str, given: Option<ArrayLayout>| {
            let goal = goal(Path::new(path), given.map(Goal::Layout), "import").ok()?;
            Some(goal.unwrap_or(Goal::Layout(ArrayLayout::default())))
        };
        let bcolz = ArrayLayout::Dataset(DatasetLayout::Bcolz);
        let b2nd = ArrayLayout::Frame(ArrayKind::B2nd);
        let archive = ArrayLayout::Store(StoreForm::Archive);
        assert_eq!(of("x.b2z", None), Some(Goal::Layout(archive)));
        assert_eq!(of("x", Some(archive)), Some(Goal::Layout(archive)));
        let caterva = ArrayLayout::Frame(ArrayKind::Caterva);
        assert_eq!(of("x", None), Some(Goal::Layout(bcolz)));
        assert_eq!(of("x.bcolz", None), Some(Goal::Layout(bcolz)));
        assert_eq!(of("x", Some(b2nd)), Some(Goal::Layout(b2nd)));
        assert_eq!(of("x.B2ND", None), Some(Goal::Layout(b2nd)));
        assert_eq!(of("x.b2frame", None), Some(Goal::Layout(b2nd)));
        assert_eq!(of("x.b2nd", Some(caterva)), Some(Goal::Layout(caterva)));
        assert_eq!(of("x.blp", None), Some(Goal::File));
        let blz = ArrayLayout::Dataset(DatasetLayout::Blz);
        assert_eq!(of("x.blz", None), Some(Goal::Layout(blz)));
        assert_eq!(of("x.bcolz", Some(blz)), Some(Goal::Layout(blz)));
        assert_eq!(of("2024.01.02", Some(blz)), Some(Goal::Layout(blz)));
        for (path, given) in [
            ("x.b2nd", Some(bcolz)),
            ("x.b2frame", Some(bcolz)),
            ("x.blp", Some(bcolz)),
            ("x.b2z", Some(bcolz)),
            ("x.b2d", Some(archive)),
            ("x.blp", Some(b2nd)),
            ("x.csv", None),
            ("x.zarr", Some(bcolz)),
            ("x.bcolz", Some(b2nd)),
            ("x.h5", None),
            ("x.zip", Some(bcolz)),
            ("x.csv.gz", None),
            ("x.npz", None),
            ("x.npy", Some(b2nd)),
            ("x.parquet", None),
        ] {
            assert_eq!(of(path, given), None, "{path}");
        }
    }
}
