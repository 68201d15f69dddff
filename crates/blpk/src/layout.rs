//! Layouts that `import` and `convert` write: by `--layout`, or by the extension of OUT.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

use bloscpack_open::{
    datasets::DatasetLayout,
    exchange::{Ending, Format},
    frames::ArrayKind,
};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

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

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A dataset, a frame, a store or Zarr.
    Layout(ArrayLayout),
    /// A Bloscpack file whose metadata describes a NumPy array.
    File,
    /// A Bloscpack file with a record for each row, as JSON.
    Records,
    /// A file of another format.
    Format(Format),
}

impl Goal {
    /// All of them, by the names that `--to` takes.
    fn all() -> impl Iterator<Item = (&'static str, Self)> {
        let formats = Format::WRITTEN.into_iter();
        let formats = formats.map(|format| (format.name(), Self::Format(format)));
        let layouts = ArrayLayout::ALL.into_iter();
        let layouts = layouts.map(|layout| (layout.name(), Self::Layout(layout)));
        let files = [("blp", Self::File), ("records", Self::Records)];
        formats.chain(files).chain(layouts)
    }
}

/// Parses `--to`. Zarr without a version is the newest one.
pub fn goals() -> impl TypedValueParser<Value = Goal> {
    let names = Goal::all().map(|(name, goal)| match goal {
        Goal::Layout(ArrayLayout::Zarr(ZarrVersion::V3)) => PossibleValue::new(name).alias("zarr"),
        _ => PossibleValue::new(name),
    });
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|text: String| {
        let name = match text.as_str() {
            "zarr" => "zarr3",
            name => name,
        };
        let found = Goal::all().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, goal)| goal).ok_or("unknown name")
    })
}

/// The endings of names that can be made.
const ENDINGS: &str = "known are .npy, .npz, .csv, .tsv, .jsonl, .arrow, .arrows, .parquet, .bin, .blp, .b2nd, .b2frame, .b2z, .b2d, .zarr, .bcolz and .blz; or use --to";

/// What the ending of a name promises, if it has one.
fn promised(path: &Path, given: Option<Goal>) -> Result<Option<Goal>, Failure> {
    let layout = match Ending::of_path(path) {
        None => {
            let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
            // Parts of dates and versions are no endings.
            if given.is_some() || !ending.starts_with(|first: char| first.is_ascii_alphabetic()) {
                return Ok(None);
            }
            let title = format!("{}: the ending .{ending} is not known", quoted(path));
            return Err(Failure::usage(title).hint(ENDINGS));
        }
        Some(Ending::Bloscpack) => return Ok(Some(Goal::File)),
        Some(Ending::Format(format)) => return Ok(Some(Goal::Format(format))),
        Some(Ending::Frame) => ArrayLayout::Frame(ArrayKind::B2nd),
        Some(Ending::Zarr) => ArrayLayout::Zarr(ZarrVersion::V3),
        Some(Ending::StoreArchive) => ArrayLayout::Store(StoreForm::Archive),
        Some(Ending::StoreFolder) => ArrayLayout::Store(StoreForm::Folder),
        Some(Ending::Dataset(layout)) => ArrayLayout::Dataset(layout),
        Some(other) => {
            return Err(mismatch(
                path,
                &format!("{other}, which is not written"),
                ENDINGS,
            ));
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
            | (Self::Layout(Dataset(_)), Self::Layout(Dataset(_)))
            | (Self::File, Self::Records)
            // Readers tell the two by their content.
            | (Self::Format(Format::Arrow), Self::Format(Format::ArrowStream)) => true,
            _ => self == made,
        }
    }
}

/// What is made at `path`: what was given, or what the ending of the name promises, if anything. Refuses what the ending
/// contradicts.
pub fn goal(path: &Path, given: Option<Goal>) -> Result<Option<Goal>, Failure> {
    match (promised(path, given)?, given) {
        (Some(promised), Some(given)) if !promised.is_kept_by(given) => {
            let ending = Ending::of_path(path).map(|ending| ending.to_string());
            let hint = match given {
                Goal::Layout(layout) => {
                    format!("choose another name for the layout {layout}, or omit --layout")
                }
                Goal::File => "choose another name for a Bloscpack file, or omit --format".into(),
                _ => "choose another name, or omit --to".into(),
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
            let goal = goal(Path::new(path), given.map(Goal::Layout)).ok()?;
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
