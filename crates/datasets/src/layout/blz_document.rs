//! What the BLZ document describes, and no BLZ ever wrote.
//!
//! ```text
//! root/meta/{sizes,storage,attributes}       JSON
//! root/data/__1__.bin, __2__.bin, ...        an array: several chunks a superchunk, of `chunklen` rows each
//! root/data/COLUMN/[COLUMN/].../__1__.bin    a table, whose columns are described together
//! ```
//!
//! How many chunks a superchunk has is written nowhere, so that the first tells for all but the last. What the first is to have
//! once it is full we note in a file of our own, `meta/superchunksize`: the document allows for as many files as are necessary.

use super::{
    ArrayParts, ColumnParts, ColumnPlace, Note, TableParts, default, get, get_if_there, nested, put,
};
use crate::grid::Grid;
use crate::leaf::{Naming, Press, Spec};
use crate::new::NewArray;
use crate::superchunk::{Container, Framing};
use crate::wire::{Attributes, DtypeText, ParamsKey, Sizes, Storage, StorageStyle};
use blosc1::Fault;
use bloscpack_dtype::DType;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{JournaledStore, Key};
use bloscpack_wire::Checksum;
use std::num::NonZeroU64;

/// Where we note how many chunks a superchunk is to have.
pub(super) const NOTED: &str = "superchunksize";

/// What is known of all columns of a dataset, or of the only array.
struct Described {
    sizes: Sizes,
    storage: Storage,
    attributes: Attributes,
    per_file: Option<NonZeroU64>,
    notes: Vec<Note>,
    /// Of `meta/storage`.
    key: Key,
}

fn describe(root: &JournaledStore, at: &Key) -> Result<Described> {
    let meta = at.join("meta")?;
    let (sizes_key, storage_key, attributes_key) = (
        meta.join("sizes")?,
        meta.join("storage")?,
        meta.join("attributes")?,
    );
    let sizes = Sizes::parse(&get(root, &sizes_key)?)
        .map_err(|error| Error::from(error).in_file(&sizes_key))?;
    let text = get(root, &storage_key)?;
    let storage =
        Storage::parse(&text).map_err(|error| Error::from(error).in_file(&storage_key))?;
    let attributes = get_if_there(root, &attributes_key)?
        .map(|text| Attributes::parse(&text))
        .transpose();
    let attributes = attributes.map_err(|error| Error::from(error).in_file(&attributes_key))?;
    let noted =
        get_if_there(root, &meta.join(NOTED)?)?.and_then(|text| String::from_utf8(text).ok());
    let per_file = noted.and_then(|text| text.trim().parse().ok());
    Ok(Described {
        sizes,
        storage,
        attributes: attributes.unwrap_or_default(),
        per_file,
        notes: Vec::new(),
        key: storage_key,
    })
}

pub(super) fn is_table(root: &JournaledStore, at: &Key) -> Result<bool> {
    let key = at.join("meta")?.join("storage")?;
    let storage =
        Storage::parse(&get(root, &key)?).map_err(|error| Error::from(error).in_file(&key))?;
    Ok(matches!(storage.dtype, DtypeText::Nested(_)))
}

impl Described {
    /// One of its leaves.
    fn spec(
        &mut self,
        root: &JournaledStore,
        folder: Key,
        dtype: DType,
        shape: Vec<u64>,
    ) -> Result<Spec> {
        let grid = Grid::of_rows(shape, self.storage.chunk_rows, dtype.itemsize())?;
        let row_shape = grid.shape().get(1..).unwrap_or_default();
        let parse = match self.storage.dtype {
            DtypeText::Text(_) => default::parse_or_note,
            DtypeText::Nested(_) => default::parse_shared,
        };
        let text = &self.storage.default;
        let default = parse(text, &dtype, row_shape, &self.key, &mut self.notes);
        let compressor = self.storage.compressor()?;
        let mut spec = Spec {
            grid,
            folder,
            naming: Naming::FromOne,
            container: Container::Bloscpack(framing(Checksum::default(), true, 0, &dtype, 0)),
            per_file: self.per_file.unwrap_or(NonZeroU64::MIN),
            press: Press {
                compressor,
                level: self.storage.level,
                filter: self.storage.filter,
            },
            default,
            dtype,
            expected_rows: self.storage.expected_rows,
            cbytes: 0,
            chunk_overhead: 0,
        };
        self.learn(root, &mut spec)?;
        Ok(spec)
    }

    /// What the first superchunk tells of all.
    fn learn(&mut self, root: &JournaledStore, spec: &mut Spec) -> Result<()> {
        let chunk_bytes = spec.grid.chunk_bytes();
        let mut framing = framing(Checksum::default(), true, 0, &spec.dtype, chunk_bytes);
        if spec.grid.chunks() > 0 {
            let key = spec.folder.join(&spec.naming.name(0))?;
            let file = root.read(&key).map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => {
                    crate::error::dataset(Fault::Damaged, "this superchunk is missing")
                        .in_file(&key)
                }
                _ => Error::from(error).in_file(&key),
            })?;
            let contents = spec
                .container
                .read(file.as_ref())
                .map_err(|error| error.in_file(&key))?;
            let count = u64::try_from(contents.places.len()).unwrap_or(0);
            // Only where nothing stands behind the first may it have fewer than it could.
            let is_only = count >= spec.grid.chunks();
            let noted = self
                .per_file
                .filter(|per_file| is_only && per_file.get() >= count);
            spec.per_file = noted.or(NonZeroU64::new(count)).unwrap_or(NonZeroU64::MIN);
            framing.checksum = contents.checksum;
            framing.offsets = contents.spare;
            framing.spare = contents.usual_spare(file.as_ref());
        }
        spec.container = Container::Bloscpack(framing);
        Ok(())
    }
}

pub(super) fn framing(
    checksum: Checksum,
    offsets: bool,
    spare: u32,
    dtype: &DType,
    chunk_bytes: u64,
) -> Framing {
    Framing {
        checksum,
        offsets,
        spare,
        chunk_bytes: u32::try_from(chunk_bytes).unwrap_or(u32::MAX),
        typesize: crate::leaf::typesize(dtype),
    }
}

pub(super) fn open_array(root: &JournaledStore, at: &Key) -> Result<ArrayParts> {
    let mut described = describe(root, at)?;
    let dtype = match &described.storage.dtype {
        DtypeText::Text(text) => DType::parse(text)?,
        DtypeText::Nested(_) => return Err(Error::usage("a table, not an array")),
    };
    let shape = described.sizes.shape.clone();
    let mut spec = described.spec(root, at.join("data")?, dtype, shape)?;
    spec.cbytes = described.sizes.cbytes;
    Ok(ArrayParts {
        spec,
        attributes: described.attributes,
        notes: described.notes,
    })
}

pub(super) fn open_table(root: &JournaledStore, at: &Key) -> Result<TableParts> {
    let mut described = describe(root, at)?;
    let DtypeText::Nested(list) = described.storage.dtype.clone() else {
        return Err(Error::usage("an array, not a table"));
    };
    let (mut columns, rows) = (Vec::new(), described.sizes.rows());
    let key = described.key.clone();
    let leaves = nested::leaves(&DType::from_json(&list)?);
    for leaf in leaves.map_err(|error| error.in_file(&key))? {
        let names = leaf.names.iter().map(String::as_str);
        let folder = nested::folder(at, names).map_err(|error| error.in_file(&key))?;
        let shape = std::iter::once(rows).chain(leaf.shape).collect();
        let spec = described.spec(root, folder, leaf.dtype, shape)?;
        columns.push(ColumnParts {
            name: leaf.names.join("."),
            place: ColumnPlace::Shared(Box::new(spec)),
        });
    }
    // The count is of all columns together.
    if let Some(ColumnPlace::Shared(first)) = columns.first_mut().map(|column| &mut column.place) {
        first.cbytes = described.sizes.cbytes;
    }
    Ok(TableParts {
        columns,
        attributes: described.attributes,
        notes: described.notes,
    })
}

pub(super) fn new_spec(folder: &Key, new: &NewArray) -> Result<Spec> {
    let spec = super::real::new_spec(folder, new)?;
    let framing = new.framing;
    if framing.spare > 0 && !framing.offsets {
        return Err(Error::usage(
            "spare space needs a table of offsets, without which nobody finds the next chunk",
        ));
    }
    let container = Container::Bloscpack(self::framing(
        framing.checksum,
        framing.offsets,
        framing.spare,
        &spec.dtype,
        spec.grid.chunk_bytes(),
    ));
    Ok(Spec {
        container,
        naming: Naming::FromOne,
        per_file: framing.per_file,
        ..spec
    })
}

/// `meta/storage`, and beside it how many chunks a superchunk is to have.
fn put_storage_of(
    root: &JournaledStore,
    at: &Key,
    storage: &Storage,
    per_file: NonZeroU64,
) -> Result<()> {
    let meta = at.join("meta")?;
    put(
        root,
        &meta.join("storage")?,
        &storage.encode(StorageStyle::Document)?,
    )?;
    put(root, &meta.join(NOTED)?, format!("{per_file}\n").as_bytes())
}

pub(super) fn put_storage(root: &JournaledStore, at: &Key, spec: &Spec) -> Result<()> {
    put_storage_of(
        root,
        at,
        &super::real::storage_of(spec, ParamsKey::Cparams),
        spec.per_file,
    )
}

/// All columns share what is said but the dtype.
pub(super) fn put_table(root: &JournaledStore, at: &Key, columns: &[(&str, &Spec)]) -> Result<()> {
    let Some((_, first)) = columns.first() else {
        return Err(Error::usage(
            "a table of this layout has at least one column",
        ));
    };
    if columns
        .iter()
        .any(|(_, spec)| spec.grid.band_rows() != first.grid.band_rows())
    {
        return Err(Error::usage(
            "in this layout all columns have chunks of the same number of rows",
        ));
    }
    let mut storage = super::real::storage_of(first, ParamsKey::Cparams);
    let dtype = nested::join(columns.iter().map(|(name, spec)| (*name, *spec)))?;
    storage.dtype = DtypeText::Nested(dtype.to_json());
    storage.default = "0".to_owned();
    put_storage_of(root, at, &storage, first.per_file)
}

/// Rows of the first column stand for all.
pub(super) fn put_sizes(root: &JournaledStore, at: &Key, specs: &[&Spec]) -> Result<()> {
    let total = |of: fn(&Spec) -> i64| {
        specs
            .iter()
            .fold(0i64, |sum, spec| sum.saturating_add(of(spec)))
    };
    let data = at.join("data")?;
    let shape = match specs {
        // A table of one column is a table, whatever the shape of its rows.
        [only] if only.folder == data => only.grid.shape().to_vec(),
        specs => specs
            .first()
            .map_or_else(Vec::new, |spec| vec![spec.grid.rows()]),
    };
    let sizes = Sizes {
        shape,
        nbytes: total(|spec| i64::try_from(spec.grid.nbytes()).unwrap_or(i64::MAX)),
        // The count of all columns is kept with the first, which may be gone.
        cbytes: total(|spec| spec.cbytes).max(0),
    };
    put(root, &at.join("meta")?.join("sizes")?, &sizes.encode())
}
