//! The containers of python-blosc2's stores (trees of frames), and of the tables in them.

mod table;
mod tree;

use self::{table::Table, tree::Tree};
use crate::report::Report;
use crate::warnings::Warnings;
use crate::{Container, Family, Options};
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_frames::Frame;
use bloscpack_storage::{Below, DiskStore, SharedSource, ZipStore};
use bloscpack_stores::{EMBED_FILE, FrameStore, MemberKind, StoreTable};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest unpacked size of a deflated file. python-blosc2 does not deflate; other programs may have repacked an archive.
const MAX_UNPACKED: u64 = 64 << 20;
/// The maximum number of folders above a path in which a store is looked for.
const MAX_ABOVE: usize = 64;

/// The store that contains a path, and the path inside it; `None` if no store does.
pub(crate) fn locate(path: &Path) -> Option<(PathBuf, String)> {
    for root in path.ancestors().take(MAX_ABOVE) {
        let is_root = match root.symlink_metadata() {
            Ok(_) if root.is_dir() => root.join(EMBED_FILE).is_file(),
            Ok(_) => root.is_file() && is_store(root).unwrap_or(false),
            Err(_) => continue,
        };
        let inside = path.strip_prefix(root).ok()?.to_str()?;
        if is_root {
            return Some((root.to_owned(), inside.replace('\\', "/")));
        }
        // A folder may be part of a store further up, a file may not.
        if !root.is_dir() {
            return None;
        }
    }
    None
}

/// Whether a file is a store: an archive or a frame with a tree.
fn is_store(path: &Path) -> Result<bool> {
    let file = File::open(path)?;
    match crate::probe_source(&file)?.family {
        Some(Family::Archive) => FrameStore::is_in(&ZipStore::open(file)?),
        Some(Family::Frame) => {
            let frame = Frame::read_with(file, &Options::new())?;
            Ok(FrameStore::is_frame(&frame))
        }
        _ => Ok(false),
    }
}

/// Opens the tree in an archive.
pub(crate) fn in_archive(store: ZipStore, options: &Options) -> Result<Arc<FrameStore>> {
    let store = store.max_file_len(MAX_UNPACKED);
    FrameStore::open(Arc::new(store), options.clone()).map(Arc::new)
}

/// Opens the tree in a file.
fn in_file(path: &Path, options: &Options) -> Result<Arc<FrameStore>> {
    let source: SharedSource = Arc::new(File::open(path).reading()?);
    match crate::probe_source(&source).reading()?.family {
        Some(Family::Archive) => in_archive(ZipStore::open(source).reading()?, options),
        _ => {
            let frame = Frame::read_with(source, options)?;
            FrameStore::of_frame(frame, options.clone()).map(Arc::new)
        }
    }
}

/// Opens a path inside a frame that is a tree.
pub(crate) fn open_in_frame(
    source: SharedSource,
    path: &str,
    options: &Options,
) -> Result<Box<dyn Container>> {
    let tree = FrameStore::of_frame(Frame::read_with(source, options)?, options.clone())?;
    let path = inside_of(&tree, path);
    container(Arc::new(tree), &path, options)
}

/// Opens the tree in a folder.
pub(crate) fn open_folder(folder: Below, options: &Options) -> Result<Box<dyn Container>> {
    let tree = FrameStore::open(Arc::new(folder), options.clone())?;
    container(Arc::new(tree), "", options)
}

/// Opens a path that leads to a store or into one; `None` for any other path.
pub(crate) fn open_path(path: &Path, options: &Options) -> Result<Option<Box<dyn Container>>> {
    let Some((root, inside)) = locate(path) else {
        return Ok(None);
    };
    let failed = |error: Error| error.in_file(&root);
    let tree = if root.is_dir() {
        let store = DiskStore::open(&root).reading().map_err(failed)?;
        FrameStore::open(Arc::new(store), options.clone()).map(Arc::new)
    } else {
        in_file(&root, options)
    };
    let tree = tree.map_err(failed)?;
    let inside = inside_of(&tree, &inside);
    // The tree does not know the path, but a file is there: it may be another kind of input.
    if tree.kind(&inside).is_none() && !tree.is_folder(&inside) && path.exists() {
        return Ok(None);
    }
    container(tree, &inside, options).map(Some)
}

/// A path in a tree, without the ending of a file if the tree knows the path without it.
pub(crate) fn inside_of(tree: &FrameStore, path: &str) -> String {
    let without = [".b2nd", ".b2f", ".b2b"];
    let without = without.iter().find_map(|ending| path.strip_suffix(ending));
    match (tree.kind(path), without) {
        (None, Some(without)) => without.to_owned(),
        _ => path.to_owned(),
    }
}

/// The container at a path of a tree: a frame, a table, or the tree below the path.
pub(crate) fn container(
    tree: Arc<FrameStore>,
    path: &str,
    options: &Options,
) -> Result<Box<dyn Container>> {
    Ok(match tree.kind(path) {
        Some(MemberKind::Frame) => {
            if tree.has_objects(path)? {
                return Ok(Box::new(table(tree, path, OBJECTS, options)?));
            }
            let source: SharedSource = Arc::new(tree.source(path)?);
            let (store, inside) = (Arc::clone(&tree), path.to_owned());
            let place = move || store.verify_files(&inside);
            let opened = super::frame::open_member(source, options, place);
            opened.map_err(|error| error.in_file(path))?
        }
        None if tree.is_folder(path) => Box::new(Tree {
            tree,
            below: path.to_owned(),
            options: options.clone(),
        }),
        // Opening a table reports a path that does not exist.
        _ => Box::new(table(tree, path, "blosc2", options)?),
    })
}

/// The layout of objects, which are a table of one column.
const OBJECTS: &str = "objects";

/// Opens a frame of objects that is not in a tree.
pub(crate) fn open_objects(source: SharedSource, options: &Options) -> Result<Box<dyn Container>> {
    let tree = FrameStore::of_objects(source, options.clone());
    Ok(Box::new(table(Arc::new(tree), "", OBJECTS, options)?))
}

fn table(
    tree: Arc<FrameStore>,
    path: &str,
    layout: &'static str,
    options: &Options,
) -> Result<Table> {
    Ok(Table {
        table: tree.table(path)?,
        path: path.to_owned(),
        layout,
        warnings: Warnings::default(),
        tree,
        watch: options.watch.clone(),
    })
}

/// Verifies a part of a tree, and the table in it.
fn report(tree: &FrameStore, below: &str, table: Option<&StoreTable>) -> Report {
    let mut report = tree.verify(below);
    let damages = table.iter().flat_map(|table| table.verify());
    report.damages.extend(damages);
    report.into()
}
