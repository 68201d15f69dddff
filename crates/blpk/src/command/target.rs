//! The kind of file or dataset that `import` and `convert` make, by their options and by the ending of OUT.

use std::path::Path;

use bloscpack::{exchange::Format, frame::ArrayKind};

use crate::failure::Failure;
use crate::layout::{ArrayLayout, StoreForm, ZarrVersion};
use crate::text::quoted;

/// The kind that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A dataset or a frame.
    Layout(ArrayLayout),
    /// A Bloscpack file whose metadata describes a NumPy array.
    File,
}

/// The kind that the ending of a name promises, if that is a frame, a store or a Bloscpack file.
pub fn promised(path: &Path) -> Option<Target> {
    match &*ending(path)? {
        "b2nd" | "b2frame" => Some(Target::Layout(ArrayLayout::Frame(ArrayKind::B2nd))),
        "blp" => Some(Target::File),
        "zarr" => Some(Target::Layout(ArrayLayout::Zarr(ZarrVersion::V3))),
        "b2z" => Some(Target::Layout(ArrayLayout::Store(StoreForm::Archive))),
        "b2d" => Some(Target::Layout(ArrayLayout::Store(StoreForm::Folder))),
        _ => None,
    }
}

fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// The failure to make something else than the ending of the name says.
pub fn mismatch(path: &Path, is: &str, hint: impl Into<String>) -> Failure {
    let title = format!("the name of {} is that of {is}", quoted(path));
    Failure::usage(title).hint(hint)
}

/// The kind to make at `path`, with the layout that was given. Refuses a layout that the ending of the name contradicts.
pub fn of(path: &Path, given: Option<ArrayLayout>) -> Result<Target, Failure> {
    let wrong = |is: &str, hint: &str| Err(mismatch(path, is, hint));
    match (ending(path).as_deref(), promised(path), given) {
        (Some("zarr"), ..) => wrong(
            "a Zarr array, which blpk import does not write",
            "choose another name, then use blpk convert",
        ),
        (_, Some(target), None) => Ok(target),
        (ending, _, given) => given_for(path, ending, given),
    }
}

/// The kind to make where a layout was given, or nothing promises one.
fn given_for(
    path: &Path,
    ending: Option<&str>,
    given: Option<ArrayLayout>,
) -> Result<Target, Failure> {
    let wrong = |is: &str, hint: &str| Err(mismatch(path, is, hint));
    match (ending, given) {
        (Some("b2nd" | "b2frame"), Some(ArrayLayout::Dataset(layout))) => wrong(
            "a Blosc2 frame",
            &format!("choose another name for a dataset, or omit --layout {layout}"),
        ),
        (Some(found @ ("b2z" | "b2d")), Some(layout)) if found != layout.name() => wrong(
            "a store of python-blosc2",
            &format!("choose another name for the layout {layout}, or omit --layout"),
        ),
        (Some("blp"), Some(layout)) => wrong(
            "a Bloscpack file",
            &format!("choose another name for the layout {layout}, or omit --layout"),
        ),
        (_, given) => match Format::of_path(path) {
            Some(format) => wrong(
                &format!("a file of the format {format}, but import makes datasets and frames"),
                "blpk export writes other formats",
            ),
            None => Ok(Target::Layout(given.unwrap_or_default())),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bloscpack::{dataset::DatasetLayout, frame::ArrayKind};

    use super::{Target, of};
    use crate::layout::ArrayLayout;
    use crate::layout::StoreForm;

    #[test]
    fn the_ending_decides_or_contradicts() {
        let of = |path: &str, given| of(Path::new(path), given).ok();
        let bcolz = ArrayLayout::Dataset(DatasetLayout::Bcolz);
        let b2nd = ArrayLayout::Frame(ArrayKind::B2nd);
        let archive = ArrayLayout::Store(StoreForm::Archive);
        assert_eq!(of("x.b2z", None), Some(Target::Layout(archive)));
        assert_eq!(of("x", Some(archive)), Some(Target::Layout(archive)));
        let caterva = ArrayLayout::Frame(ArrayKind::Caterva);
        assert_eq!(of("x", None), Some(Target::Layout(bcolz)));
        assert_eq!(of("x.bcolz", None), Some(Target::Layout(bcolz)));
        assert_eq!(of("x", Some(b2nd)), Some(Target::Layout(b2nd)));
        assert_eq!(of("x.B2ND", None), Some(Target::Layout(b2nd)));
        assert_eq!(of("x.b2frame", None), Some(Target::Layout(b2nd)));
        assert_eq!(of("x.b2nd", Some(caterva)), Some(Target::Layout(caterva)));
        assert_eq!(of("x.blp", None), Some(Target::File));
        for (path, given) in [
            ("x.b2nd", Some(bcolz)),
            ("x.b2frame", Some(bcolz)),
            ("x.blp", Some(bcolz)),
            ("x.b2z", Some(bcolz)),
            ("x.b2d", Some(archive)),
            ("x.blp", Some(b2nd)),
            ("x.zarr", None),
            ("x.csv", None),
            ("x.npy", Some(b2nd)),
            ("x.parquet", None),
        ] {
            assert_eq!(of(path, given), None, "{path}");
        }
    }
}
