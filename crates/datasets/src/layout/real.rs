//! The common part of the layouts that bcolz, BLZ and carray 0.5 write.
//!
//! ```text
//! root/__attrs__                     root/__rootdirs__       a table
//! root/meta/{sizes,storage}          root/__attrs__
//! root/data/__0.blp, __1.blp, ...    root/COLUMN/...         each an array
//! ```

use super::{
    ArrayDescription, ColumnDescription, ColumnSource, LayoutFiles, TableDescription, default,
    make_folders,
};
use crate::array_storage::{ArraySpec, Naming};
use crate::dataset_layout::DatasetLayout;
use crate::files::{Files, below, join};
use crate::grid::BandedGrid;
use crate::new::NewArray;
use crate::superchunk::Container;
use crate::wire::{
    Attributes, ChunkOverhead, DtypeText, ParamsKey, RootDirs, Sizes, Storage, StorageStyle,
};
use blosc1::{ChunkSettings, Compressor};
use bloscpack_dtype::DType;
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::{EntryKind, Key};
use std::collections::HashSet;
use std::num::NonZeroU64;

/// One of these layouts.
pub(super) struct Real {
    pub layout: DatasetLayout,
    pub params_key: ParamsKey,
    pub style: StorageStyle,
    /// The overhead that `cbytes` of a new array counts for each chunk.
    pub chunk_overhead: ChunkOverhead,
    /// Refuses new arrays that the program of this layout cannot read.
    pub check_new: fn(&NewArray) -> Result<()>,
}

impl LayoutFiles for Real {
    /// Opens an array, as leniently as bcolz where that is safe.
    fn open_array(&self, files: &Files, at: &Key, lenient: bool) -> Result<ArrayDescription> {
        let (mut warnings, storage) = (Vec::new(), storage(files, at)?);
        let sizes_key = below(at, &["meta", "sizes"])?;
        let sizes = files.parse(&sizes_key, Sizes::parse)?;
        let attributes = attributes(files, at, &mut warnings)?;
        let storage_key = below(at, &["meta", "storage"])?;
        let dtype = dtype(&storage).map_err(|error| files.locate(&storage_key, error))?;
        // A superchunk contains one Python object, whatever `chunklen` is.
        let chunk_rows = if dtype.has_object() {
            1
        } else {
            storage.chunk_rows
        };
        let grid = BandedGrid::of_rows(sizes.shape.clone(), chunk_rows, dtype.itemsize())
            .map_err(|error| files.locate(&sizes_key, error))?;
        let settings = ChunkSettings::default()
            .compressor(compressor(&storage, &storage_key, &mut warnings))
            .level(storage.level)
            .filter(storage.filter);
        let row_shape = grid.row_shape();
        let text = &storage.default;
        let default = default::parse_or_warn(text, &dtype, row_shape, &storage_key, &mut warnings);
        let overhead = match storage.quantize {
            None => ChunkOverhead::Header,
            Some(_) => ChunkOverhead::None,
        };
        let spec = ArraySpec {
            dtype,
            folder: below(at, &["data"])?,
            naming: Naming::FromZero,
            container: Container::Single { lenient },
            chunks_per_file: NonZeroU64::MIN,
            settings,
            default,
            expected_rows: storage.expected_rows,
            // The count is informative, and saturates.
            cbytes: sizes.cbytes.saturating_sub(grid.chunk_bytes().into()),
            chunk_overhead: overhead.bytes(),
            grid,
        };
        Ok(ArrayDescription {
            spec,
            attributes,
            warnings,
        })
    }

    fn open_table(&self, files: &Files, at: &Key) -> Result<TableDescription> {
        let (dirs, mut warnings) = (rootdirs(files, at)?, Vec::new());
        let attributes = attributes(files, at, &mut warnings)?;
        let (mut columns, mut taken) = (Vec::new(), HashSet::new());
        for (name, folder) in dirs.names.iter().zip(dirs.folders()) {
            let key = column_key(files, at, &folder, name)?;
            // With a shared folder, writing one column would overwrite the other.
            if !taken.insert(key.clone()) {
                let message = format!("the column {name:?} has the same folder as another one");
                let rootdirs = below(at, &["__rootdirs__"])?;
                return Err(files.locate(&rootdirs, Error::new(Code::InvalidName, message)));
            }
            columns.push(ColumnDescription {
                name: name.clone(),
                source: ColumnSource::Own(key),
            });
        }
        Ok(TableDescription {
            columns,
            attributes,
            warnings,
        })
    }

    fn new_array(&self, folder: Key, new: &NewArray) -> Result<ArraySpec> {
        (self.check_new)(new)?;
        Ok(ArraySpec {
            chunk_overhead: self.chunk_overhead.bytes(),
            ..whole_rows(folder, new)?
        })
    }

    fn new_column(&self, at: &Key, name: &str, _new: &NewArray) -> Result<ArraySpec> {
        let found = format!("column {name:?} of {at} described with its table");
        Err(Error::bug(found))
    }

    fn put_array(&self, files: &Files, at: &Key, spec: &ArraySpec) -> Result<()> {
        make_folders(files, at)?;
        let storage = storage_of(spec, self.params_key).encode(self.style)?;
        files.put_meta(&below(at, &["meta", "storage"])?, &storage)
    }

    fn put_table(
        &self,
        files: &Files,
        at: &Key,
        columns: &[(&str, Option<&ArraySpec>)],
    ) -> Result<()> {
        let names = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let dirs = RootDirs::new(names)?;
        let dirs = match self.layout {
            DatasetLayout::Blz => dirs.with_dirs(),
            _ => dirs,
        };
        let (key, text) = (below(at, &["__rootdirs__"])?, dirs.encode());
        // Do not write a file that could not be read back.
        RootDirs::parse(&text).map_err(|error| files.locate(&key, error))?;
        files.put_meta(&key, &text)
    }

    /// As in bcolz, the last chunk is always counted as full and uncompressed.
    fn put_sizes(&self, files: &Files, at: &Key, specs: &[&ArraySpec]) -> Result<()> {
        for spec in specs {
            let sizes = Sizes {
                shape: spec.grid.shape().to_vec(),
                nbytes: signed(spec.grid.nbytes())?,
                // The count is informative, and saturates.
                cbytes: spec.cbytes.saturating_add(spec.grid.chunk_bytes().into()),
            };
            files.put_meta(&below(at, &["meta", "sizes"])?, &sizes.encode())?;
        }
        Ok(())
    }

    fn put_attributes(&self, files: &Files, at: &Key, attributes: &Attributes) -> Result<()> {
        files.put_meta(&below(at, &["__attrs__"])?, &attributes.encode())
    }
}

/// The bytes of an array as an `i64`. A grid has less than 2^63.
pub(super) fn signed(nbytes: u64) -> Result<i64> {
    i64::try_from(nbytes).map_err(|_| Error::bug(format!("an array of {nbytes} bytes")))
}

/// Reads only the number of rows of an array.
pub(crate) fn rows(files: &Files, at: &Key) -> Result<u64> {
    let sizes = files.parse(&below(at, &["meta", "sizes"])?, Sizes::parse)?;
    Ok(sizes.rows())
}

fn storage(files: &Files, at: &Key) -> Result<Storage> {
    files.parse(&below(at, &["meta", "storage"])?, Storage::parse)
}

pub(super) fn layout_of_array(files: &Files, at: &Key) -> Result<DatasetLayout> {
    Ok(match storage(files, at)?.params_key {
        ParamsKey::Cparams => DatasetLayout::Bcolz,
        ParamsKey::Bparams => DatasetLayout::Blz,
    })
}

/// The layout of a table: the layout of its first column.
pub(super) fn layout_of_table(files: &Files, at: &Key) -> Result<DatasetLayout> {
    let dirs = rootdirs(files, at)?;
    match dirs.names.first() {
        Some(name) => {
            let column = column_key(files, at, &dirs.folder_of(name), name)?;
            layout_of_array(files, &column)
        }
        // Only BLZ writes `dirs` in a table without columns.
        None if dirs.dirs.is_some() => Ok(DatasetLayout::Blz),
        None => Ok(DatasetLayout::Bcolz),
    }
}

fn rootdirs(files: &Files, at: &Key) -> Result<RootDirs> {
    files.parse(&below(at, &["__rootdirs__"])?, RootDirs::parse)
}

/// The folder of a column: `folder`, the end of the path in an old table, if it exists, otherwise the column's name.
fn column_key(files: &Files, at: &Key, folder: &str, name: &str) -> Result<Key> {
    let rootdirs = below(at, &["__rootdirs__"])?;
    let named = join(at, folder).map_err(|error| files.locate(&rootdirs, error))?;
    if files.kind(&named)? == Some(EntryKind::Folder) {
        return Ok(named);
    }
    join(at, name).map_err(|error| files.locate(&rootdirs, error))
}

fn dtype(storage: &Storage) -> Result<DType> {
    match &storage.dtype {
        DtypeText::Text(text) => Ok(DType::parse(text)?),
        DtypeText::Nested(list) => Ok(DType::from_json(list)?),
    }
}

/// The compressor of new chunks; blosclz, with a warning, if it is unknown. Existing chunks name theirs in their headers.
fn compressor(storage: &Storage, key: &Key, warnings: &mut Vec<String>) -> Compressor {
    storage.compressor().unwrap_or_else(|error| {
        let fallback = Compressor::Blosclz;
        let message = format!(
            "{error}: new chunks are compressed with {}",
            fallback.name()
        );
        warnings.push(format!("{key}: {message}"));
        fallback
    })
}

fn attributes(files: &Files, at: &Key, warnings: &mut Vec<String>) -> Result<Attributes> {
    let key = below(at, &["__attrs__"])?;
    let attributes = files.parse_if_present(&key, Attributes::parse)?;
    Ok(attributes.unwrap_or_else(|| {
        let message = "file is missing; bcolz does not open the dataset without it";
        warnings.push(format!("{key}: {message}"));
        Attributes::default()
    }))
}

/// A new array in chunks of whole rows, one per superchunk.
pub(super) fn whole_rows(folder: Key, new: &NewArray) -> Result<ArraySpec> {
    let chunk_rows = match new.chunk_shape.split_first() {
        Some((rows, shape)) if *shape == *new.row_shape => *rows,
        _ => {
            return Err(Error::usage(
                "in this layout chunks have whole rows: set the rows of a chunk, not its shape",
            ));
        }
    };
    let shape = std::iter::once(0)
        .chain(new.row_shape.iter().copied())
        .collect();
    Ok(ArraySpec {
        dtype: new.dtype.clone(),
        grid: BandedGrid::of_rows(shape, chunk_rows, new.dtype.itemsize())
            .map_err(|error| Error::usage(error.to_string()))?,
        folder,
        naming: Naming::FromZero,
        container: Container::Single { lenient: false },
        chunks_per_file: NonZeroU64::MIN,
        settings: new.settings,
        default: new.default.clone(),
        expected_rows: new.expected_rows,
        cbytes: 0,
        chunk_overhead: 0,
    })
}

/// The content of `meta/storage` for an array.
pub(super) fn storage_of(spec: &ArraySpec, params_key: ParamsKey) -> Storage {
    let listed = params_key == ParamsKey::Bparams;
    let default = spec.default.as_deref();
    Storage {
        dtype: DtypeText::Text(spec.dtype.to_string()),
        params_key,
        level: spec.settings.level,
        filter: spec.settings.filter,
        compressor_name: spec.settings.compressor.name().to_owned(),
        quantize: Some(0),
        chunk_rows: spec.grid.band_rows(),
        expected_rows: spec.expected_rows,
        default: default::text(&spec.dtype, default, spec.grid.row_shape(), listed),
    }
}
