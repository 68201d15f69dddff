//! The layout that the carray proposal describes. No version of carray wrote it.
//!
//! ```text
//! root/meta/shape                        (300, 200)
//! root/meta/{storage,attributes}         YAML
//! root/data/__1__.bin, ...               an array: chunks of any shape in C order, `superchunksize` per superchunk
//! root/data/COLUMN/[COLUMN/]__1__.bin    a table: columns of the same shape, described together
//! ```

use super::documents::{
    check_options, chunk_count, described, first_superchunk, framing, make_column_folders,
    new_column_folder,
};
use super::{
    ArrayDescription, ColumnDescription, ColumnSource, LayoutFiles, TableDescription, default,
    make_folders, nested,
};
use crate::array_storage::{ArraySpec, Naming};
use crate::files::{Files, below};
use crate::grid::BandedGrid;
use crate::new::NewArray;
use crate::superchunk::{Container, SuperchunkOptions};
use crate::wire::Attributes;
use crate::wire::proposal::{
    Compression, Elements, ProposalFilter, Storage, encode_attributes, encode_shape,
    parse_attributes, parse_shape,
};
use blosc1::{ChunkSettings, Filter};
use bloscpack_dtype::{ByteOrder, DType};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use bloscpack_storage::Key;
use serde_json::{Map, Value};
use std::num::NonZeroU64;

/// The layout.
pub(super) struct CarrayDocument;

fn storage(files: &Files, at: &Key) -> Result<Storage> {
    files.parse(&below(at, &["meta", "storage"])?, Storage::parse)
}

fn shape(files: &Files, at: &Key) -> Result<Vec<u64>> {
    files.parse(&below(at, &["meta", "shape"])?, parse_shape)
}

pub(super) fn is_table(files: &Files, at: &Key) -> Result<bool> {
    Ok(matches!(storage(files, at)?.elements, Elements::Columns(_)))
}

/// The dtype of a name. Without a byte order in the name, it has the order that all columns share.
fn dtype(name: &str, order: ByteOrder) -> Result<DType> {
    let dtype = DType::parse(name)?;
    if name.starts_with(['<', '>', '=', '[', '{']) {
        Ok(dtype)
    } else {
        Ok(dtype.with_order(order))
    }
}

/// The array, or one of the columns, without its default. Reads the index of its first superchunk.
fn spec(
    files: &Files,
    folder: Key,
    dtype: DType,
    shape: &[u64],
    storage: &Storage,
) -> Result<ArraySpec> {
    let chunk_shape = storage.chunk_shape.clone();
    let grid = BandedGrid::padded(shape.to_vec(), chunk_shape, dtype.itemsize())?;
    let framing = framing(SuperchunkOptions::default(), &dtype, grid.chunk_bytes());
    let per_file = storage.superchunk_chunks.and_then(NonZeroU64::new);
    let mut spec = ArraySpec {
        default: None,
        folder,
        naming: Naming::FromOne,
        container: Container::Proposal(framing),
        chunks_per_file: per_file.unwrap_or(NonZeroU64::MIN),
        settings: ChunkSettings::default()
            .compressor(storage.compression.compressor()?)
            .level(storage.compression.level)
            .filter(storage.compression.filter()),
        expected_rows: grid.rows(),
        dtype,
        grid,
        cbytes: 0,
        chunk_overhead: 0,
    };
    if let Some((index, options)) = first_superchunk(files, &spec)? {
        spec.chunks_per_file = per_file.unwrap_or(chunk_count(&index));
        spec.container = Container::Proposal(super::documents::framing(
            options,
            &spec.dtype,
            spec.grid.chunk_bytes(),
        ));
    }
    Ok(spec)
}

fn attributes(files: &Files, at: &Key) -> Result<Attributes> {
    let parse = |text: &[u8]| match text.trim_ascii().is_empty() {
        // An empty file is valid YAML, and another writer may write it if there are no attributes.
        true => Ok(Attributes::default()),
        false => parse_attributes(text).and_then(Attributes::of_map),
    };
    let attributes = files.parse_if_present(&below(at, &["meta", "attributes"])?, parse)?;
    Ok(attributes.unwrap_or_default())
}

impl LayoutFiles for CarrayDocument {
    fn open_array(&self, files: &Files, at: &Key, _lenient: bool) -> Result<ArrayDescription> {
        let (storage, shape) = (storage(files, at)?, shape(files, at)?);
        let Elements::Of(name) = &storage.elements else {
            return Err(Error::usage("this is a table, not an array"));
        };
        let (folder, dtype) = (below(at, &["data"])?, dtype(name, storage.order)?);
        let mut spec = spec(files, folder, dtype, &shape, &storage)?;
        let mut warnings = Vec::new();
        if let Some(text) = storage.default.as_ref().map(Value::to_string) {
            let key = below(at, &["meta", "storage"])?;
            spec.default = default::parse_or_warn(&text, &spec.dtype, &[], &key, &mut warnings);
        }
        Ok(ArrayDescription {
            spec,
            attributes: attributes(files, at)?,
            warnings,
        })
    }

    fn open_table(&self, files: &Files, at: &Key) -> Result<TableDescription> {
        let (storage, shape) = (storage(files, at)?, shape(files, at)?);
        let (mut columns, mut warnings) = (Vec::new(), Vec::new());
        let default = storage.default.as_ref().map(Value::to_string);
        let key = below(at, &["meta", "storage"])?;
        let leaves = storage.elements.leaves();
        let parse = match leaves.len() {
            1 => default::parse_or_warn,
            _ => default::parse_shared,
        };
        for (names, name) in leaves {
            let folder = nested::check_names(&names)
                .and_then(|()| nested::folder(at, names.iter().copied()))
                .map_err(|error| files.locate(&key, error))?;
            let dtype = dtype(name, storage.order)?;
            let mut spec = spec(files, folder, dtype, &shape, &storage)?;
            if let Some(text) = &default {
                spec.default = parse(text, &spec.dtype, &[], &key, &mut warnings);
            }
            columns.push(ColumnDescription {
                name: names.join("."),
                source: ColumnSource::Shared(Box::new(spec)),
            });
        }
        Ok(TableDescription {
            columns,
            attributes: attributes(files, at)?,
            warnings,
        })
    }

    fn new_array(&self, folder: Key, new: &NewArray) -> Result<ArraySpec> {
        check_options(&new.superchunk_options)?;
        let default_len = new.default.as_ref().map(|bytes| to_u64(bytes.len()));
        if default_len.is_some_and(|len| len != new.dtype.itemsize()) {
            return Err(Error::usage("in this layout the default is one element"));
        }
        let shape = std::iter::once(0)
            .chain(new.row_shape.iter().copied())
            .collect();
        let grid = BandedGrid::padded(shape, new.chunk_shape.clone(), new.dtype.itemsize())
            .map_err(|error| Error::usage(error.to_string()))?;
        let framing = framing(new.superchunk_options, &new.dtype, grid.chunk_bytes());
        Ok(ArraySpec {
            dtype: new.dtype.clone(),
            grid,
            folder,
            naming: Naming::FromOne,
            container: Container::Proposal(framing),
            chunks_per_file: new.chunks_per_file,
            settings: new.settings,
            default: new.default.clone(),
            expected_rows: new.expected_rows,
            cbytes: 0,
            chunk_overhead: 0,
        })
    }

    fn new_column(&self, at: &Key, name: &str, new: &NewArray) -> Result<ArraySpec> {
        self.new_array(new_column_folder(at, name, new)?, new)
    }

    fn put_array(&self, files: &Files, at: &Key, spec: &ArraySpec) -> Result<()> {
        make_folders(files, at)?;
        let order = spec.dtype.order();
        let elements = Elements::Of(name_of(&spec.dtype, order));
        let default = spec.default.as_ref();
        let default = default.map(|bytes| default::value(&spec.dtype, bytes));
        put_storage(files, at, spec, elements, order, default.transpose()?)
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
        if !columns.iter().all(|(_, spec)| has_shape_of(first, spec)) {
            return Err(different_shapes());
        }
        // Single bytes have no byte order, so they do not decide.
        let ordered = columns.iter().find(|(_, spec)| spec.dtype.itemsize() > 1);
        let order = ordered.map_or(first, |(_, spec)| spec).dtype.order();
        let names = columns
            .iter()
            .map(|(name, spec)| (*name, name_of(&spec.dtype, order)));
        let elements = nested::elements(names)?;
        let default = first.default.as_ref().filter(|_| columns.len() == 1);
        let default = default.map(|bytes| default::value(&first.dtype, bytes));
        put_storage(files, at, first, elements, order, default.transpose()?)
    }

    /// All columns have the shape of the first.
    fn put_sizes(&self, files: &Files, at: &Key, specs: &[&ArraySpec]) -> Result<()> {
        let shape = specs.first().map_or(&[][..], |spec| spec.grid.shape());
        files.put_meta(&below(at, &["meta", "shape"])?, &encode_shape(shape))
    }

    fn put_attributes(&self, files: &Files, at: &Key, attributes: &Attributes) -> Result<()> {
        let map: Map<String, Value> = match attributes.to_value() {
            Value::Object(map) => map,
            other => return Err(Error::bug(format!("attributes that are {other}"))),
        };
        let key = below(at, &["meta", "attributes"])?;
        files.put_meta(&key, &encode_attributes(&map)?)
    }

    fn check_beside(&self, other: &ArraySpec, new: &NewArray) -> Result<()> {
        if new.row_shape == other.grid.row_shape() && new.chunk_shape == other.grid.chunk_shape() {
            Ok(())
        } else {
            Err(different_shapes())
        }
    }
}

fn has_shape_of(one: &ArraySpec, other: &ArraySpec) -> bool {
    one.grid.chunk_shape() == other.grid.chunk_shape()
        && one.grid.row_shape() == other.grid.row_shape()
}

fn different_shapes() -> Error {
    Error::usage("in this layout all columns have rows and chunks of the same shape")
}

/// The name of a dtype in a file with this `endianness`: without a byte order if it is the same.
fn name_of(dtype: &DType, order: ByteOrder) -> String {
    let own = dtype.to_string();
    let shared = dtype.clone().with_order(ByteOrder::Little).to_string();
    let is_implied = dtype.order() == order || dtype.itemsize() == 1;
    match is_implied && !shared.starts_with(['<', '>', '[', '{']) {
        true => shared,
        false if own.starts_with(['<', '>', '|', '[', '{']) => own,
        false => dtype.code(),
    }
}

/// Writes `meta/storage`: the elements, and the properties of the array or of the first column.
fn put_storage(
    files: &Files,
    at: &Key,
    spec: &ArraySpec,
    elements: Elements,
    order: ByteOrder,
    default: Option<Value>,
) -> Result<()> {
    let filters = match spec.settings.filter {
        Filter::None => Vec::new(),
        Filter::Byte => vec![ProposalFilter::Shuffle],
        Filter::Bit => vec![ProposalFilter::Bitshuffle],
    };
    let storage = Storage {
        elements,
        chunk_shape: spec.grid.chunk_shape().to_vec(),
        superchunk_chunks: Some(spec.chunks_per_file.get()),
        order,
        compression: Compression {
            library: spec.settings.compressor.name().to_owned(),
            level: spec.settings.level,
            filters,
        },
        default,
    };
    files.put_meta(&below(at, &["meta", "storage"])?, &storage.encode()?)
}
