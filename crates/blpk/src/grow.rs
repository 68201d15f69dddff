//! [`Growing`]: an n-dimensional array in a frame or in Zarr, changed in place.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bloscpack::{
    Error,
    storage::{DiskStore, Key},
    wire::internal::to_u64,
};
use bloscpack_convert::BAND;
use bloscpack_open::{
    Family, Region,
    array::{Array, Reordered},
    frames::NdArray,
    probe,
    zarr::ZarrEditor,
};

use crate::failure::{About as _, Failure};
use crate::interrupt::{self, Deferred};
use crate::progress::Progress;
use crate::session::Session;

/// An n-dimensional array that is changed in place. Readers see the old array until the whole change is on disk. While this value
/// exists, Ctrl-C only asks the work to stop.
pub struct Growing {
    array: Editor,
    _deferred: Deferred,
}

enum Editor {
    Frame(Box<NdArray>),
    Zarr(Box<ZarrEditor>),
}

impl Growing {
    /// Opens the array at `path`; `None` if it is neither a frame nor Zarr.
    pub fn open(path: &Path, session: &Session) -> Result<Option<Self>, Failure> {
        let options = session.array_options();
        let deferred = Deferred::begin();
        let array = match probe(path).about(path)?.family {
            Some(Family::Frame) => {
                let array = NdArray::edit_with(path, &options).about(path)?;
                Editor::Frame(Box::new(array))
            }
            Some(Family::Zarr) => {
                let (root, folder) = root_of(path).about(path)?;
                let store = DiskStore::open(&root).about(path)?;
                let editor = ZarrEditor::open(Arc::new(store), folder, &options).about(path)?;
                Editor::Zarr(Box::new(editor))
            }
            _ => return Ok(None),
        };
        Ok(Some(Self {
            array,
            _deferred: deferred,
        }))
    }

    /// Elements along each axis.
    pub fn shape(&self) -> &[u64] {
        match &self.array {
            Editor::Frame(array) => array.shape(),
            Editor::Zarr(editor) => editor.array().shape(),
        }
    }

    /// Appends all elements of an array along an axis.
    pub fn append(
        &mut self,
        axis: usize,
        source: &dyn Array,
        session: &Session,
    ) -> bloscpack::Result<()> {
        let shape = source.grid().shape();
        let bytes = Region::all(shape).bytes(source.dtype().itemsize());
        let progress = Progress::new(session, Some(bytes));
        let array = match &mut self.array {
            Editor::Frame(array) => array,
            Editor::Zarr(editor) => {
                return editor.append(axis, source, &mut |bytes| {
                    interrupt::check()?;
                    progress.advance(bytes);
                    Ok(())
                });
            }
        };
        Array::grid(&**array).check_joins(shape, axis)?;
        // Caterva does not store the dtype.
        let dtype = NdArray::dtype(array).unwrap_or(source.dtype());
        let source = Reordered::new(source, dtype.clone())?;
        if dtype.itemsize() != u64::from(array.itemsize()) {
            let (found, own) = (dtype, array.itemsize());
            let message = format!("elements of {found}, and the array has elements of {own} bytes");
            return Err(Error::usage(message));
        }
        let along = shape.get(axis).copied().unwrap_or(0);
        let chunk = array.chunk_shape().get(axis).copied().map_or(1, u64::from);
        let chunk = chunk.max(1);
        // Appends whole chunks, so no chunk is written twice.
        let each = bytes / along.max(1);
        let step = (to_u64(BAND) / each.max(1) / chunk).max(1) * chunk;
        let mut slice = Region::all(shape).ranges;
        let before = array.shape().get(axis).copied().unwrap_or(0);
        let mut at = 0;
        while at < along {
            interrupt::check()?;
            // The first part ends at the end of a chunk.
            let end = (before + at + step) / chunk * chunk - before;
            let end = end.max(at + 1).min(along);
            if let Some(range) = slice.get_mut(axis) {
                *range = at..end;
            }
            let elements = source.read_slice(&slice)?;
            array.append(axis, &elements)?;
            progress.advance(to_u64(elements.len()));
            at = end;
        }
        array.flush()
    }

    /// Gives the array another shape. New elements are zero in a frame, and the fill value in Zarr.
    pub fn resize(&mut self, shape: &[u64]) -> bloscpack::Result<()> {
        match &mut self.array {
            Editor::Frame(array) => {
                array.resize(shape)?;
                array.flush()
            }
            Editor::Zarr(editor) => editor.resize(shape, &mut |_| Ok(interrupt::check()?)),
        }
    }
}

/// The topmost Zarr group that contains the array at this path, and the key of the array in it: groups hold copies of its
/// metadata.
fn root_of(path: &Path) -> io::Result<(PathBuf, Key)> {
    let path = path.canonicalize()?;
    let is_group = |folder: &&Path| {
        let names = ["zarr.json", ".zgroup"];
        names.iter().any(|name| folder.join(name).is_file())
    };
    let above = path.ancestors().skip(1).take_while(is_group).last();
    let root = above.unwrap_or(&path);
    let mut folder = Key::root();
    for name in path.strip_prefix(root).unwrap_or(Path::new("")) {
        let name = name.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        folder = folder.join(name)?;
    }
    Ok((root.to_owned(), folder))
}
