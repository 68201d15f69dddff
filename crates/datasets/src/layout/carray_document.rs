//! What the carray proposal describes, and no carray ever wrote.
//!
//! ```text
//! root/meta/shape                        (300, 200)
//! root/meta/{storage,attributes}         YAML
//! root/data/__1__.bin, ...               an array: chunks of any shape in C order, `superchunksize` a superchunk
//! root/data/COLUMN/[COLUMN/]__1__.bin    a table: columns of the same shape, described together
//! ```

use super::blz_document::framing;
use super::{
    ArrayParts, ColumnParts, ColumnPlace, TableParts, default, get, get_if_there, nested, put,
};
use crate::grid::Grid;
use crate::leaf::{Naming, Press, Spec};
use crate::new::NewArray;
use crate::superchunk::Container;
use crate::wire::Attributes;
use crate::wire::proposal::{
    Compression, Elements, ProposalFilter, Storage, encode_attributes, encode_shape,
    parse_attributes, parse_shape,
};
use blosc1::{Fault, Filter};
use bloscpack_dtype::{ByteOrder, DType};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{JournaledStore, Key};
use bloscpack_wire::Checksum;
use serde_json::Value;
use std::num::NonZeroU64;

fn meta(at: &Key, name: &str) -> Result<Key> {
    Ok(at.join("meta")?.join(name)?)
}

fn storage(root: &JournaledStore, at: &Key) -> Result<Storage> {
    let key = meta(at, "storage")?;
    Storage::parse(&get(root, &key)?).map_err(|error| Error::from(error).in_file(&key))
}

fn shape(root: &JournaledStore, at: &Key) -> Result<Vec<u64>> {
    let key = meta(at, "shape")?;
    parse_shape(&get(root, &key)?).map_err(|error| Error::from(error).in_file(&key))
}

pub(super) fn is_table(root: &JournaledStore, at: &Key) -> Result<bool> {
    Ok(matches!(storage(root, at)?.elements, Elements::Columns(_)))
}

/// The dtype of a name, in the byte order that all share unless the name has one of its own.
fn dtype(name: &str, order: ByteOrder) -> Result<DType> {
    let dtype = DType::parse(name)?;
    match name.starts_with(['<', '>', '=', '[', '{']) {
        true => Ok(dtype),
        false => Ok(dtype.with_order(order)),
    }
}

/// One of its leaves, all but for the default.
fn spec(
    root: &JournaledStore,
    folder: Key,
    dtype: DType,
    shape: &[u64],
    storage: &Storage,
) -> Result<Spec> {
    let grid = Grid::padded(
        shape.to_vec(),
        storage.chunk_shape.clone(),
        dtype.itemsize(),
    )?;
    let mut framing = framing(Checksum::default(), true, 0, &dtype, grid.chunk_bytes());
    let mut spec = Spec {
        default: None,
        folder,
        naming: Naming::FromOne,
        container: Container::Proposal(framing),
        per_file: storage
            .superchunk_chunks
            .and_then(NonZeroU64::new)
            .unwrap_or(NonZeroU64::MIN),
        press: Press {
            compressor: storage.compression.compressor()?,
            level: storage.compression.level,
            filter: storage.compression.filter(),
        },
        expected_rows: grid.rows(),
        dtype,
        grid,
        cbytes: 0,
        chunk_overhead: 0,
    };
    if spec.grid.chunks() > 0 {
        let key = spec.folder.join(&spec.naming.name(0))?;
        let file = root.read(&key).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                crate::error::dataset(Fault::Damaged, "this superchunk is missing").in_file(&key)
            }
            _ => Error::from(error).in_file(&key),
        })?;
        let contents = spec
            .container
            .read(file.as_ref())
            .map_err(|error| error.in_file(&key))?;
        framing.checksum = contents.checksum;
        framing.offsets = contents.spare;
        framing.spare = contents.usual_spare(file.as_ref());
        spec.container = Container::Proposal(framing);
        if storage.superchunk_chunks.is_none() {
            let count = u64::try_from(contents.places.len()).unwrap_or(0);
            spec.per_file = NonZeroU64::new(count).unwrap_or(NonZeroU64::MIN);
        }
    }
    Ok(spec)
}

fn attributes(root: &JournaledStore, at: &Key) -> Result<Attributes> {
    let key = meta(at, "attributes")?;
    // To YAML nothing is a document, and without attributes a writer has nothing to say.
    let text = get_if_there(root, &key)?.filter(|text| !text.trim_ascii().is_empty());
    let Some(text) = text else {
        return Ok(Attributes::default());
    };
    parse_attributes(&text)
        .and_then(Attributes::of_map)
        .map_err(|error| Error::from(error).in_file(&key))
}

pub(super) fn open_array(root: &JournaledStore, at: &Key) -> Result<ArrayParts> {
    let (storage, shape) = (storage(root, at)?, shape(root, at)?);
    let Elements::Of(name) = &storage.elements else {
        return Err(Error::usage("a table, not an array"));
    };
    let mut spec = spec(
        root,
        at.join("data")?,
        dtype(name, storage.order)?,
        &shape,
        &storage,
    )?;
    let mut notes = Vec::new();
    if let Some(text) = storage.default.as_ref().map(Value::to_string) {
        let key = meta(at, "storage")?;
        spec.default = default::parse_or_note(&text, &spec.dtype, &[], &key, &mut notes);
    }
    Ok(ArrayParts {
        spec,
        attributes: attributes(root, at)?,
        notes,
    })
}

pub(super) fn open_table(root: &JournaledStore, at: &Key) -> Result<TableParts> {
    let (storage, shape) = (storage(root, at)?, shape(root, at)?);
    let (mut columns, mut notes) = (Vec::new(), Vec::new());
    let default = storage.default.as_ref().map(Value::to_string);
    let key = meta(at, "storage")?;
    let leaves = storage.elements.leaves();
    let parse = match leaves.len() {
        1 => default::parse_or_note,
        _ => default::parse_shared,
    };
    for (names, name) in leaves {
        nested::check_names(&names).map_err(|error| error.in_file(&key))?;
        let folder =
            nested::folder(at, names.iter().copied()).map_err(|error| error.in_file(&key))?;
        let mut spec = spec(root, folder, dtype(name, storage.order)?, &shape, &storage)?;
        if let Some(text) = &default {
            spec.default = parse(text, &spec.dtype, &[], &key, &mut notes);
        }
        columns.push(ColumnParts {
            name: names.join("."),
            place: ColumnPlace::Shared(Box::new(spec)),
        });
    }
    Ok(TableParts {
        columns,
        attributes: attributes(root, at)?,
        notes,
    })
}

pub(super) fn new_spec(folder: &Key, new: &NewArray) -> Result<Spec> {
    let framing = new.framing;
    if framing.spare > 0 && !framing.offsets {
        return Err(Error::usage(
            "spare space needs a table of offsets, without which nobody finds the next chunk",
        ));
    }
    let default_len = new.default.as_ref().map(|bytes| u64::try_from(bytes.len()));
    if default_len.is_some_and(|len| len != Ok(new.dtype.itemsize())) {
        return Err(Error::usage("the default of this layout is one element"));
    }
    let shape = std::iter::once(0)
        .chain(new.row_shape.iter().copied())
        .collect();
    let grid = Grid::padded(shape, new.chunk_shape.clone(), new.dtype.itemsize())
        .map_err(|error| Error::usage(error.to_string()))?;
    let container = Container::Proposal(self::framing(
        framing.checksum,
        framing.offsets,
        framing.spare,
        &new.dtype,
        grid.chunk_bytes(),
    ));
    Ok(Spec {
        dtype: new.dtype.clone(),
        grid,
        folder: folder.clone(),
        naming: Naming::FromOne,
        container,
        per_file: framing.per_file,
        press: new.press,
        default: new.default.clone(),
        expected_rows: new.expected_rows,
        cbytes: 0,
        chunk_overhead: 0,
    })
}

/// The name of a dtype where `endianness` says the byte order.
fn name_of(dtype: &DType, order: ByteOrder) -> String {
    let own = dtype.to_string();
    let shared = dtype.clone().with_order(ByteOrder::Little).to_string();
    let is_said = dtype.order() == order || dtype.itemsize() == 1;
    match is_said && !shared.starts_with(['<', '>', '[', '{']) {
        true => shared,
        false if own.starts_with(['<', '>', '|', '[', '{']) => own,
        false => dtype.code(),
    }
}

/// All columns, or the only array with no name, share what is said but the dtype.
pub(super) fn put_storage(
    root: &JournaledStore,
    at: &Key,
    columns: &[(&str, &Spec)],
) -> Result<()> {
    let Some((_, first)) = columns.first() else {
        return Err(Error::usage(
            "a table of this layout has at least one column",
        ));
    };
    let same = |spec: &Spec| {
        spec.grid.chunk_shape() == first.grid.chunk_shape()
            && spec.grid.shape().get(1..) == first.grid.shape().get(1..)
    };
    if !columns.iter().all(|(_, spec)| same(spec)) {
        return Err(Error::usage(
            "in this layout all columns have rows and chunks of the same shape",
        ));
    }
    // Single bytes have none.
    let ordered = columns
        .iter()
        .find(|(_, spec)| spec.dtype.itemsize() > 1)
        .map_or(first, |(_, spec)| spec);
    let order = ordered.dtype.order();
    let elements = match columns {
        [("", only)] => Elements::Of(name_of(&only.dtype, order)),
        _ => nested::elements(
            columns
                .iter()
                .map(|(name, spec)| (*name, name_of(&spec.dtype, order))),
        )?,
    };
    let filters = match first.press.filter {
        Filter::None => Vec::new(),
        Filter::Byte => vec![ProposalFilter::Shuffle],
        Filter::Bit => vec![ProposalFilter::Bitshuffle],
    };
    let default = first.default.as_ref().filter(|_| columns.len() == 1);
    let storage = Storage {
        elements,
        chunk_shape: first.grid.chunk_shape().to_vec(),
        superchunk_chunks: Some(first.per_file.get()),
        order,
        compression: Compression {
            library: first.press.compressor.name().to_owned(),
            level: first.press.level,
            filters,
        },
        default: default.map(|bytes| default::value(&first.dtype, bytes)),
    };
    put(root, &meta(at, "storage")?, &storage.encode()?)
}

/// Rows of the first column stand for all.
pub(super) fn put_sizes(root: &JournaledStore, at: &Key, specs: &[&Spec]) -> Result<()> {
    let shape = specs
        .first()
        .map_or_else(Vec::new, |spec| spec.grid.shape().to_vec());
    put(root, &meta(at, "shape")?, &encode_shape(&shape))
}

pub(super) fn put_attributes(
    root: &JournaledStore,
    at: &Key,
    attributes: &Attributes,
) -> Result<()> {
    match attributes.to_value() {
        Value::Object(map) => put(root, &meta(at, "attributes")?, &encode_attributes(&map)?),
        _ => Ok(()),
    }
}
