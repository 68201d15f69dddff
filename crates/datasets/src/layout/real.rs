//! What bcolz, BLZ and carray 0.5 have in common: they really write this.
//!
//! ```text
//! root/__attrs__                     root/__rootdirs__       a table
//! root/meta/{sizes,storage}          root/__attrs__
//! root/data/__0.blp, __1.blp, ...    root/COLUMN/...         each an array
//! ```

use super::{
    ArrayParts, ColumnParts, ColumnPlace, DatasetLayout, Note, TableParts, default, get,
    get_if_there, put,
};
use crate::grid::Grid;
use crate::leaf::{Naming, Press, Spec};
use crate::superchunk::Container;
use crate::wire::{Attributes, DtypeText, ParamsKey, RootDirs, Sizes, Storage};
use blosc1::{Compressor, Fault};
use bloscpack_dtype::DType;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{JournaledStore, Key};
use std::collections::HashSet;
use std::num::NonZeroU64;

/// What carray 0.5, BLZ and bcolz until 1.0 add to the compressed length of each chunk.
pub(super) const OLD_OVERHEAD: i64 = 128;

fn storage(root: &JournaledStore, at: &Key) -> Result<Storage> {
    let key = at.join("meta")?.join("storage")?;
    Storage::parse(&get(root, &key)?).map_err(|error| Error::from(error).in_file(&key))
}

pub(super) fn layout_of_array(root: &JournaledStore, at: &Key) -> Result<DatasetLayout> {
    Ok(match storage(root, at)?.params_key {
        ParamsKey::Cparams => DatasetLayout::Bcolz,
        ParamsKey::Bparams => DatasetLayout::Blz,
    })
}

/// A table is of the layout of its columns.
pub(super) fn layout_of_table(root: &JournaledStore, at: &Key) -> Result<DatasetLayout> {
    let dirs = rootdirs(root, at)?;
    match dirs.names.first() {
        Some(name) => layout_of_array(root, &column_at(root, at, &dirs.folder_of(name), name)?),
        // Only BLZ lists where no columns are.
        None if dirs.dirs.is_some() => Ok(DatasetLayout::Blz),
        None => Ok(DatasetLayout::Bcolz),
    }
}

fn rootdirs(root: &JournaledStore, at: &Key) -> Result<RootDirs> {
    let key = at.join("__rootdirs__")?;
    RootDirs::parse(&get(root, &key)?).map_err(|error| Error::from(error).in_file(&key))
}

/// Where a column lies: old tables name its path on the machine that wrote it, of which the last name counts.
fn column_at(root: &JournaledStore, at: &Key, folder: &str, name: &str) -> Result<Key> {
    let unusable = |error: std::io::Error| {
        crate::error::dataset(Fault::Damaged, format!("column {name:?}: {error}"))
            .in_file("__rootdirs__")
    };
    let named = at.join(folder).map_err(unusable)?;
    if root.kind(&named)? == Some(bloscpack_storage::EntryKind::Folder) {
        return Ok(named);
    }
    at.join(name).map_err(unusable)
}

/// Opens an array, as lenient as bcolz where that is safe.
pub(super) fn open_array(root: &JournaledStore, at: &Key, lenient: bool) -> Result<ArrayParts> {
    let (mut notes, storage) = (Vec::new(), storage(root, at)?);
    let sizes_key = at.join("meta")?.join("sizes")?;
    let sizes = Sizes::parse(&get(root, &sizes_key)?)
        .map_err(|error| Error::from(error).in_file(&sizes_key))?;
    let attributes = attributes(root, at, &mut notes)?;
    let storage_key = at.join("meta")?.join("storage")?;
    let dtype = dtype(&storage).map_err(|error| error.in_file(&storage_key))?;
    // Python objects lie one in a superchunk, whatever the length of chunks says.
    let chunk_rows = if dtype.has_object() {
        1
    } else {
        storage.chunk_rows
    };
    let grid = Grid::of_rows(sizes.shape.clone(), chunk_rows, dtype.itemsize())
        .map_err(|error| error.in_file(&sizes_key))?;
    let press = Press {
        compressor: compressor(&storage, &storage_key, &mut notes),
        level: storage.level,
        filter: storage.filter,
    };
    let row_shape = grid.shape().get(1..).unwrap_or_default();
    let text = &storage.default;
    let default = default::parse_or_note(text, &dtype, row_shape, &storage_key, &mut notes);
    let is_old = storage.quantize.is_none();
    let last = i64::try_from(grid.chunk_bytes()).unwrap_or(i64::MAX);
    let spec = Spec {
        dtype,
        grid,
        folder: at.join("data")?,
        naming: Naming::FromZero,
        container: Container::Single { lenient },
        per_file: NonZeroU64::MIN,
        press,
        default,
        expected_rows: storage.expected_rows,
        cbytes: sizes.cbytes.saturating_sub(last),
        chunk_overhead: if is_old { OLD_OVERHEAD } else { 0 },
    };
    Ok(ArrayParts {
        spec,
        attributes,
        notes,
    })
}

fn dtype(storage: &Storage) -> Result<DType> {
    match &storage.dtype {
        DtypeText::Text(text) => Ok(DType::parse(text)?),
        DtypeText::Nested(list) => Ok(DType::from_json(list)?),
    }
}

/// What new chunks are compressed with; those that are there tell themselves.
fn compressor(storage: &Storage, key: &Key, notes: &mut Vec<Note>) -> Compressor {
    storage.compressor().unwrap_or_else(|error| {
        let what = format!(
            "{error}: new chunks are compressed with {}",
            Compressor::Blosclz.name()
        );
        notes.push(Note {
            path: key.to_string(),
            what,
        });
        Compressor::Blosclz
    })
}

fn attributes(root: &JournaledStore, at: &Key, notes: &mut Vec<Note>) -> Result<Attributes> {
    let key = at.join("__attrs__")?;
    match get_if_there(root, &key)? {
        Some(text) => Attributes::parse(&text).map_err(|error| Error::from(error).in_file(&key)),
        None => {
            let what =
                "this file is missing, without which bcolz does not open the dataset".to_owned();
            notes.push(Note {
                path: key.to_string(),
                what,
            });
            Ok(Attributes::default())
        }
    }
}

pub(super) fn open_table(root: &JournaledStore, at: &Key) -> Result<TableParts> {
    let dirs = rootdirs(root, at)?;
    let mut notes = Vec::new();
    let attributes = attributes(root, at, &mut notes)?;
    let mut taken = HashSet::new();
    let columns = dirs.names.iter().zip(dirs.folders()).map(|(name, folder)| {
        let key = column_at(root, at, &folder, name)?;
        // Both would be written there, and one be lost.
        if !taken.insert(key.clone()) {
            let what = format!("the column {name:?} lies in {key}, where another one does");
            return Err(
                crate::error::dataset(Fault::Damaged, what).in_file(&at.join("__rootdirs__")?)
            );
        }
        Ok(ColumnParts {
            name: name.clone(),
            place: ColumnPlace::Own(key),
        })
    });
    Ok(TableParts {
        columns: columns.collect::<Result<_>>()?,
        attributes,
        notes,
    })
}

/// A new array of whole rows, a chunk a superchunk.
pub(super) fn new_spec(folder: &Key, new: &crate::new::NewArray) -> Result<Spec> {
    let rows = new.chunk_shape.first().copied().unwrap_or(0);
    if new.chunk_shape.get(1..) != Some(new.row_shape.as_slice()) {
        return Err(Error::usage(
            "in this layout chunks have whole rows: give the rows of a chunk, not its shape",
        ));
    }
    let shape = std::iter::once(0)
        .chain(new.row_shape.iter().copied())
        .collect();
    Ok(Spec {
        dtype: new.dtype.clone(),
        grid: Grid::of_rows(shape, rows, new.dtype.itemsize())
            .map_err(|error| Error::usage(error.to_string()))?,
        folder: folder.clone(),
        naming: Naming::FromZero,
        container: Container::Single { lenient: false },
        per_file: NonZeroU64::MIN,
        press: new.press,
        default: new.default.clone(),
        expected_rows: new.expected_rows,
        cbytes: 0,
        chunk_overhead: 0,
    })
}

/// What describes an array in the style of one of these.
pub(super) fn storage_of(spec: &Spec, params_key: ParamsKey) -> Storage {
    let row_shape = spec.grid.shape().get(1..).unwrap_or_default();
    let listed = params_key == ParamsKey::Bparams;
    Storage {
        dtype: DtypeText::Text(spec.dtype.to_string()),
        params_key,
        level: spec.press.level,
        filter: spec.press.filter,
        compressor_name: spec.press.compressor.name().to_owned(),
        quantize: Some(0),
        chunk_rows: spec.grid.band_rows(),
        expected_rows: spec.expected_rows,
        default: default::text(&spec.dtype, spec.default.as_deref(), row_shape, listed),
    }
}

/// The counts of an array. One last chunk is always counted as if it were full and not compressed, as bcolz does.
pub(super) fn put_sizes(root: &JournaledStore, at: &Key, spec: &Spec) -> Result<()> {
    let last = i64::try_from(spec.grid.chunk_bytes()).unwrap_or(i64::MAX);
    let sizes = Sizes {
        shape: spec.grid.shape().to_vec(),
        nbytes: i64::try_from(spec.grid.nbytes()).unwrap_or(i64::MAX),
        cbytes: spec.cbytes.saturating_add(last),
    };
    put(root, &at.join("meta")?.join("sizes")?, &sizes.encode())
}

pub(super) fn put_rootdirs(
    layout: DatasetLayout,
    root: &JournaledStore,
    at: &Key,
    names: Vec<String>,
) -> Result<()> {
    let dirs = RootDirs::new(names)?;
    let dirs = if layout == DatasetLayout::Blz {
        dirs.with_dirs()
    } else {
        dirs
    };
    let (key, text) = (at.join("__rootdirs__")?, dirs.encode());
    // What nobody reads again is not written.
    RootDirs::parse(&text).map_err(|error| Error::from(error).in_file(&key))?;
    put(root, &key, &text)
}
