//! The layout that the BLZ document describes. No version of BLZ wrote it.
//!
//! ```text
//! root/meta/{sizes,storage,attributes}       JSON
//! root/data/__1__.bin, __2__.bin, ...        an array: several chunks per superchunk, of `chunklen` rows each
//! root/data/COLUMN/[COLUMN/].../__1__.bin    a table, whose columns are described together
//! ```
//!
//! The document does not say where the number of chunks per superchunk is stored. All superchunks except the last have as many
//! chunks as the first one. While the first one is not full, the number comes from `meta/superchunksize`, a file that only this
//! library writes.

use super::documents::{
    check_options, chunk_count, described, first_superchunk, framing, make_column_folders,
    new_column_folder,
};
use super::{
    ArrayDescription, ColumnDescription, ColumnSource, LayoutFiles, SUPERCHUNK_SIZE,
    TableDescription, default, make_folders, nested, real,
};
use crate::array_storage::{ArraySpec, Naming};
use crate::files::{Files, below};
use crate::grid::BandedGrid;
use crate::new::NewArray;
use crate::superchunk::{Container, SuperchunkOptions};
use crate::wire::{Attributes, DtypeText, ParamsKey, Sizes, Storage, StorageStyle};
use blosc1::ChunkSettings;
use bloscpack_dtype::DType;
use bloscpack_error::{Error, Result};
use bloscpack_storage::Key;
use std::num::NonZeroU64;

/// The layout.
pub(super) struct BlzDocument;

/// The description of an array, or of all columns of a table.
struct Description {
    sizes: Sizes,
    storage: Storage,
    attributes: Attributes,
    chunks_per_file: Option<NonZeroU64>,
    warnings: Vec<String>,
    /// The key of `meta/storage`.
    storage_key: Key,
}

pub(super) fn is_table(files: &Files, at: &Key) -> Result<bool> {
    let storage = files.parse(&below(at, &["meta", "storage"])?, Storage::parse)?;
    Ok(matches!(storage.dtype, DtypeText::Nested(_)))
}

impl Description {
    fn read(files: &Files, at: &Key) -> Result<Self> {
        let storage_key = below(at, &["meta", "storage"])?;
        let attributes_key = below(at, &["meta", "attributes"])?;
        let attributes = files.parse_if_present(&attributes_key, Attributes::parse);
        // A file with other content is not from this library; then the first superchunk decides.
        let noted = files.get(&below(at, &["meta", SUPERCHUNK_SIZE])?)?;
        let noted = noted.and_then(|text| String::from_utf8(text).ok());
        Ok(Self {
            sizes: files.parse(&below(at, &["meta", "sizes"])?, Sizes::parse)?,
            storage: files.parse(&storage_key, Storage::parse)?,
            attributes: attributes?.unwrap_or_default(),
            chunks_per_file: noted.and_then(|text| text.trim().parse().ok()),
            warnings: Vec::new(),
            storage_key,
        })
    }

    /// The array, or one of the columns. Reads the index of its first superchunk.
    fn spec(
        &mut self,
        files: &Files,
        folder: Key,
        dtype: DType,
        shape: Vec<u64>,
    ) -> Result<ArraySpec> {
        let grid = BandedGrid::of_rows(shape, self.storage.chunk_rows, dtype.itemsize())?;
        let parse = match self.storage.dtype {
            DtypeText::Text(_) => default::parse_or_warn,
            DtypeText::Nested(_) => default::parse_shared,
        };
        let (text, row) = (&self.storage.default, grid.row_shape());
        let default = parse(text, &dtype, row, &self.storage_key, &mut self.warnings);
        let framing = framing(SuperchunkOptions::default(), &dtype, grid.chunk_bytes());
        let mut spec = ArraySpec {
            grid,
            folder,
            naming: Naming::FromOne,
            container: Container::Bloscpack(framing),
            chunks_per_file: self.chunks_per_file.unwrap_or(NonZeroU64::MIN),
            settings: ChunkSettings::default()
                .compressor(self.storage.compressor()?)
                .level(self.storage.level)
                .filter(self.storage.filter),
            default,
            dtype,
            expected_rows: self.storage.expected_rows,
            cbytes: 0,
            chunk_overhead: 0,
        };
        if let Some((index, options)) = first_superchunk(files, &spec)? {
            let count = chunk_count(&index);
            // The first superchunk may have fewer chunks than others only if there is no other.
            let is_only = count.get() >= spec.grid.chunks();
            let noted = self
                .chunks_per_file
                .filter(|noted| is_only && *noted >= count);
            spec.chunks_per_file = noted.unwrap_or(count);
            spec.container = Container::Bloscpack(super::documents::framing(
                options,
                &spec.dtype,
                spec.grid.chunk_bytes(),
            ));
        }
        Ok(spec)
    }
}

impl LayoutFiles for BlzDocument {
    fn open_array(&self, files: &Files, at: &Key, _lenient: bool) -> Result<ArrayDescription> {
        let mut description = Description::read(files, at)?;
        let dtype = match &description.storage.dtype {
            DtypeText::Text(text) => DType::parse(text)?,
            DtypeText::Nested(_) => return Err(Error::usage("this is a table, not an array")),
        };
        let shape = description.sizes.shape.clone();
        let mut spec = description.spec(files, below(at, &["data"])?, dtype, shape)?;
        spec.cbytes = description.sizes.cbytes;
        Ok(ArrayDescription {
            spec,
            attributes: description.attributes,
            warnings: description.warnings,
        })
    }

    fn open_table(&self, files: &Files, at: &Key) -> Result<TableDescription> {
        let mut description = Description::read(files, at)?;
        let DtypeText::Nested(list) = description.storage.dtype.clone() else {
            return Err(Error::usage("this is an array, not a table"));
        };
        let (mut columns, rows) = (Vec::new(), description.sizes.rows());
        let key = description.storage_key.clone();
        // The file counts all columns together. The first column keeps the count.
        let mut cbytes = description.sizes.cbytes;
        let leaves = nested::leaves(&DType::from_json(&list)?);
        for leaf in leaves.map_err(|error| files.locate(&key, error))? {
            let names = leaf.names.iter().map(String::as_str);
            let folder = nested::folder(at, names).map_err(|error| files.locate(&key, error))?;
            let shape = std::iter::once(rows).chain(leaf.shape).collect();
            let spec = description.spec(files, folder, leaf.dtype, shape)?;
            let spec = ArraySpec {
                cbytes: std::mem::take(&mut cbytes),
                ..spec
            };
            columns.push(ColumnDescription {
                name: leaf.names.join("."),
                source: ColumnSource::Shared(Box::new(spec)),
            });
        }
        Ok(TableDescription {
            columns,
            attributes: description.attributes,
            warnings: description.warnings,
        })
    }

    fn new_array(&self, folder: Key, new: &NewArray) -> Result<ArraySpec> {
        let spec = real::whole_rows(folder, new)?;
        check_options(&new.superchunk_options)?;
        let framing = framing(new.superchunk_options, &spec.dtype, spec.grid.chunk_bytes());
        Ok(ArraySpec {
            container: Container::Bloscpack(framing),
            naming: Naming::FromOne,
            chunks_per_file: new.chunks_per_file,
            ..spec
        })
    }

    fn new_column(&self, at: &Key, name: &str, new: &NewArray) -> Result<ArraySpec> {
        self.new_array(new_column_folder(at, name, new)?, new)
    }

    fn put_array(&self, files: &Files, at: &Key, spec: &ArraySpec) -> Result<()> {
        make_folders(files, at)?;
        let storage = real::storage_of(spec, ParamsKey::Cparams);
        put_storage(files, at, &storage, spec.chunks_per_file)
    }

    /// All columns share everything except the dtype.
    fn put_table(
        &self,
        files: &Files,
        at: &Key,
        columns: &[(&str, Option<&ArraySpec>)],
    ) -> Result<()> {
        let (columns, first) = described(columns)?;
        make_folders(files, at)?;
        make_column_folders(files, &columns)?;
        let rows = |spec: &ArraySpec| spec.grid.band_rows();
        if columns.iter().any(|(_, spec)| rows(spec) != rows(first)) {
            return Err(Error::usage(
                "in this layout all columns have chunks of the same number of rows",
            ));
        }
        let mut storage = real::storage_of(first, ParamsKey::Cparams);
        let dtype = nested::join_columns(columns.iter().copied())?;
        storage.dtype = DtypeText::Nested(dtype.to_json());
        storage.default = "0".to_owned();
        put_storage(files, at, &storage, first.chunks_per_file)
    }

    /// All columns have as many rows as the first.
    fn put_sizes(&self, files: &Files, at: &Key, specs: &[&ArraySpec]) -> Result<()> {
        let data = below(at, &["data"])?;
        let shape = match specs {
            // An array is in `data` itself. A table of one column is not, and stores only the number of rows.
            [only] if only.folder == data => only.grid.shape().to_vec(),
            [first, ..] => vec![first.grid.rows()],
            [] => Vec::new(),
        };
        let (mut nbytes, mut cbytes) = (0i64, 0i64);
        for spec in specs {
            // Both are informative, and saturate.
            nbytes = nbytes.saturating_add(real::signed(spec.grid.nbytes())?);
            cbytes = cbytes.saturating_add(spec.cbytes);
        }
        let sizes = Sizes {
            shape,
            nbytes,
            // If the first column, which keeps the count of all columns, was removed, the sum may be negative.
            cbytes: cbytes.max(0),
        };
        files.put_meta(&below(at, &["meta", "sizes"])?, &sizes.encode())
    }

    fn put_attributes(&self, files: &Files, at: &Key, attributes: &Attributes) -> Result<()> {
        files.put_meta(&below(at, &["meta", "attributes"])?, &attributes.encode())
    }
}

/// Writes `meta/storage`, and the number of chunks per superchunk.
fn put_storage(files: &Files, at: &Key, storage: &Storage, per_file: NonZeroU64) -> Result<()> {
    let storage = storage.encode(StorageStyle::Document)?;
    files.put_meta(&below(at, &["meta", "storage"])?, &storage)?;
    let noted = format!("{per_file}\n");
    files.put_meta(&below(at, &["meta", SUPERCHUNK_SIZE])?, noted.as_bytes())
}
