//! Zarr arrays and groups.

mod array;
mod group;

use crate::{Container, Kind, Options};
use bloscpack_error::{IoSide as _, Result};
use bloscpack_storage::{DiskStore, Key, Store};
use bloscpack_zarr::{ZarrGroup, ZarrNode};
use std::path::Path;
use std::sync::Arc;

/// The files that make a directory an array or a group.
const FILES: [&str; 3] = ["zarr.json", ".zarray", ".zgroup"];

/// Whether a directory contains an array or a group.
pub(crate) fn is_in(path: &Path) -> bool {
    FILES.iter().any(|name| path.join(name).is_file())
}

/// Opens a directory.
pub(crate) fn open_path(path: &Path, options: &Options) -> Result<Box<dyn Container>> {
    let open = || {
        let store = DiskStore::open(path).reading()?;
        open_folder(Arc::new(store), &Key::root(), options)
    };
    open().map_err(|error| error.in_file(path))
}

/// Opens a folder of a store; `None` if there is no Zarr.
pub(crate) fn in_store(
    store: Arc<dyn Store>,
    folder: &Key,
    options: &Options,
) -> Result<Option<Box<dyn Container>>> {
    let mut names = FILES.iter().map(|name| folder.join(name));
    let is_there = names.any(|key| key.is_ok_and(|key| matches!(store.kind(&key), Ok(Some(_)))));
    is_there
        .then(|| open_folder(store, folder, options))
        .transpose()
}

fn open_folder(
    store: Arc<dyn Store>,
    folder: &Key,
    options: &Options,
) -> Result<Box<dyn Container>> {
    container(ZarrNode::open(store, folder, options)?, options)
}

fn container(node: ZarrNode, options: &Options) -> Result<Box<dyn Container>> {
    Ok(match node {
        ZarrNode::Array(array) => Box::new(array::Array::new(*array, options)),
        ZarrNode::Group(group) => Box::new(group::Group::new(group, options)?),
    })
}

/// Opens what is in a ZIP archive: at its root, or in its only folder. `None` if there is no Zarr.
pub(crate) fn in_archive(
    source: bloscpack_storage::SharedSource,
    options: &Options,
) -> Result<Option<Box<dyn Container>>> {
    let store = Arc::new(bloscpack_storage::ZipStore::open(source).reading()?);
    let folder = store.only_folder();
    in_store(store, &folder, options)
}

/// Opens what a path leads to in a ZIP archive; `None` if there is no Zarr, or if this build reads no archives.
pub(crate) fn in_archive_at(path: &Path, options: &Options) -> Result<Option<Box<dyn Container>>> {
    let Some(file) = path.ancestors().find(|path| path.is_file()) else {
        return Ok(None);
    };
    let inside = path.strip_prefix(file).ok().and_then(Path::to_str);
    let opened = std::fs::File::open(file).and_then(bloscpack_storage::ZipStore::open);
    // The opener of datasets reports what is wrong with an archive.
    let (Ok(store), Some(inside)) = (opened, inside) else {
        return Ok(None);
    };
    let folder = match inside {
        "" => store.only_folder(),
        inside => Key::parse(&inside.replace('\\', "/")).reading()?,
    };
    in_store(Arc::new(store), &folder, options)
}

/// The arrays of a group that are the columns of a table: all its members, each of one axis at least, and of as many rows. A group
/// that would be a table, but for a member that cannot be opened, is an error.
fn columns(group: &ZarrGroup) -> Result<Option<Vec<(String, bloscpack_zarr::ZarrArray)>>> {
    let mut columns = Vec::new();
    let (mut rows, mut damage) = (None, None);
    for (name, node) in group.members()? {
        let array = match node {
            Ok(ZarrNode::Array(array)) => array,
            Ok(ZarrNode::Group(_)) => return Ok(None),
            Err(error) => {
                damage.get_or_insert(error);
                continue;
            }
        };
        let Some(len) = array.shape().first().copied() else {
            return Ok(None);
        };
        if *rows.get_or_insert(len) != len {
            return Ok(None);
        }
        columns.push((name, *array));
    }
    if let Some(error) = damage {
        return Err(error);
    }
    Ok(Some(columns).filter(|columns| !columns.is_empty()))
}

/// The kind of an array, and of a group that is not a table.
const KIND: Kind = Kind::Zarr;
