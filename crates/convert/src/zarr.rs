//! Writes Zarr arrays and groups.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bloscpack_error::{Code, Error, IoSide as _, Result};
use bloscpack_open::{
    Part, Region,
    array::{Array as _, BATCH, Column, DIMENSIONS, Grid, refuse_missing},
    datasets::Attributes,
    exchange::{OneArray, Source as _},
    zarr::{
        ArrayFiles, ArrayWriter, ChunkCounts, Conversion, Format, NewArray, References, RowWriter,
        create_group,
    },
};
use bloscpack_storage::{DiskStore, Key, Memory, Store};
use bloscpack_wire::internal::to_u64;

use crate::{Counted, Work, names_of_table};

/// The name of the axis that the columns of a table share.
const ROW: &str = "row";

/// The approximate number of bytes in a chunk of rows.
const CHUNK: u64 = 1 << 20;

/// The arrays and groups that are being made in a store.
struct Group {
    store: Arc<dyn Store>,
    format: Format,
    /// The chunks that stay in the source; `None` if all are written.
    references: Option<References>,
    /// The path of the member that is being converted; empty unless the source is a tree.
    member: String,
    arrays: Vec<ArrayFiles>,
    /// The attributes of the groups below the root, by path.
    groups: BTreeMap<String, String>,
    counts: ChunkCounts,
}

impl Group {
    /// Refuses what is read as rows, if chunks are to stay in the source.
    fn check_rows(&self) -> Result<()> {
        if self.references.is_some() {
            let message = "it is not stored in chunks of arrays";
            return Err(Error::new(Code::CannotStore, message));
        }
        Ok(())
    }
}

impl Work<'_> {
    /// Makes a Zarr array or group in an empty folder.
    pub(crate) fn zarr(&self, format: Format, path: &Path) -> Result<ChunkCounts> {
        let store = Arc::new(DiskStore::open(path).writing()?);
        Ok(self.zarr_in(store, format, None)?.counts)
    }

    /// Makes a Zarr group whose chunks stay in the source.
    pub(crate) fn references(&self) -> Result<References> {
        let store = Arc::new(Memory::new());
        let group = self.zarr_in(store.clone(), Format::V2, Some(References::default()))?;
        let mut references = group.references.unwrap_or_default();
        for key in store.keys() {
            let bytes = store.bytes(key.as_str()).unwrap_or_default();
            references.insert(key.as_str(), bytes);
        }
        Ok(references)
    }

    /// Makes a Zarr array or group in an empty store. With `references`, it is always a group.
    fn zarr_in(
        &self,
        store: Arc<dyn Store>,
        format: Format,
        references: Option<References>,
    ) -> Result<Group> {
        let by_reference = references.is_some();
        let mut group = Group {
            store,
            format,
            references,
            member: String::new(),
            arrays: Vec::new(),
            groups: BTreeMap::new(),
            counts: ChunkCounts::default(),
        };
        if self.settings.is_tree(self.source) {
            self.each_member(&mut |work, member| {
                group.member.clone_from(&member.path);
                if !member.is_table {
                    return work.zarr_array(&mut group, &member.path);
                }
                work.zarr_table(&mut group, &member.path)?;
                let attributes = work.attributes()?.text().to_owned();
                group.groups.insert(member.path.clone(), attributes);
                Ok(())
            })?;
            let attributes = self.source.attributes(None).unwrap_or_default().attributes;
            return self.seal(group, &attributes);
        }
        let is_table = self.settings.table || names_of_table(self.source)?.is_some();
        if !is_table || self.settings.column.is_some() {
            if by_reference {
                let column = self.settings.column.as_ref();
                self.zarr_array(&mut group, column.unwrap_or(&self.settings.name))?;
                return self.seal(group, &Attributes::default());
            }
            self.zarr_array(&mut group, "")?;
            return Ok(group);
        }
        self.zarr_table(&mut group, "")?;
        self.seal(group, &self.attributes()?)
    }

    /// Completes a group with its metadata.
    fn seal(&self, group: Group, attributes: &Attributes) -> Result<Group> {
        self.warn_about_numbers(&group, attributes.text());
        create_group(
            &*group.store,
            group.format,
            attributes.text(),
            &group.arrays,
            &group.groups,
        )?;
        Ok(group)
    }

    /// Warns about NaN and infinity among attributes, which JSON does not have.
    fn warn_about_numbers(&self, group: &Group, attributes: &str) {
        let is_strict = serde_json::from_str::<serde_core::de::IgnoredAny>(attributes).is_ok();
        if group.format == Format::V3 && !is_strict {
            (self.warn)("NaN and infinity among its attributes become strings in Zarr 3");
        }
    }

    /// Writes the columns of a table as arrays into a folder of the store.
    fn zarr_table(&self, group: &mut Group, folder: &str) -> Result<()> {
        let settings = self.settings;
        let names = self.source.outline()?.columns.unwrap_or_default();
        let names: Vec<&String> = match settings.columns.as_slice() {
            [] => names.iter().collect(),
            chosen => chosen.iter().collect(),
        };
        let mut arrays = Vec::new();
        // Selected rows, and columns that are not arrays, are read in order.
        let is_all = matches!(settings.part, Part::All);
        if is_all && !settings.table && !settings.nan_as_null {
            for name in &names {
                arrays.extend(self.source.array(Some(name))?);
            }
        }
        if names.is_empty() || arrays.len() < names.len() {
            return self.zarr_rows(group, folder);
        }
        for (name, column) in names.into_iter().zip(arrays) {
            let axes = to_u64(column.grid().shape().len());
            let mut conversion = Conversion::of(column, group.format)?;
            let names = names_of_axes(name, axes);
            conversion.new.dimension_names.get_or_insert(names);
            self.fill(group, conversion, &below(folder, name))?;
        }
        Ok(())
    }

    /// Writes the rows of a table as arrays into a folder of the store, one for each column.
    fn zarr_rows(&self, group: &mut Group, folder: &str) -> Result<()> {
        group.check_rows()?;
        let rows = self.fixed()?;
        let (count, schema) = (rows.known_rows()?, rows.schema().clone());
        self.warn_about_zones(&schema);
        let mut writers = Vec::new();
        for column in &schema.columns {
            let shape = [&[count], column.row_shape.as_slice()].concat();
            let mut new = self.new_of_rows(group, column, &shape)?;
            new.dimension_names = Some(names_of_axes(&column.name, to_u64(shape.len())));
            writers.push(row_writer(group, new, &below(folder, &column.name))?);
        }
        let mut rows = Counted::new(rows);
        while let Some(batch) = rows.next_batch(BATCH)? {
            batch.check(&schema)?;
            refuse_missing(&schema, &batch)?;
            for (writer, bytes) in writers.iter_mut().zip(&batch.columns) {
                writer.push(bytes)?;
            }
        }
        rows.warnings().iter().for_each(|text| (self.warn)(text));
        for writer in writers {
            group.arrays.push(writer.finish()?);
        }
        Ok(())
    }

    /// The description of a new array for these rows, with chunks of about [`CHUNK`] bytes.
    fn new_of_rows(&self, group: &Group, column: &Column, shape: &[u64]) -> Result<NewArray> {
        let rows = (CHUNK / column.row_bytes().max(1)).max(1);
        let chunk = std::iter::once(rows.min(shape.first().copied().unwrap_or(1).max(1)));
        let chunk: Vec<u64> = chunk
            .chain(column.row_shape.iter().map(|len| (*len).max(1)))
            .collect();
        let mut new = NewArray::new(group.format, column.dtype.clone(), shape, &chunk);
        self.settings.storage.zarr(&mut new)?;
        if let Some((own, _)) = new.chunk_shape.split_first_mut() {
            *own = (*own).max(1);
        }
        Ok(new)
    }

    /// Writes an array into a folder of the store.
    fn zarr_array(&self, group: &mut Group, folder: &str) -> Result<()> {
        let attributes = self.attributes()?;
        let Some(array) = self.array()? else {
            return self.zarr_column(group, folder, attributes);
        };
        let mut conversion = Conversion::of(array, group.format)?;
        attach(&mut conversion.new, attributes);
        if group.references.is_some() {
            // xarray reads no array of version 2 without names of its axes.
            let name = folder.rsplit('/').next().unwrap_or_default();
            let axes = 0..conversion.new.shape.len();
            let names = || axes.map(|axis| format!("{name}_{axis}")).collect();
            conversion.new.dimension_names.get_or_insert_with(names);
        }
        self.fill(group, conversion, folder)
    }

    /// Writes a column that can only be read as rows.
    fn zarr_column(&self, group: &mut Group, folder: &str, attributes: Attributes) -> Result<()> {
        group.check_rows()?;
        let mut source = self.fixed()?;
        let mut elements = OneArray::new(&mut *source)?;
        let (column, shape) = (elements.column().clone(), elements.shape().to_vec());
        let mut new = self.new_of_rows(group, &column, &shape)?;
        attach(&mut new, attributes);
        self.warn_about_numbers(group, &new.attributes);
        let mut writer = row_writer(group, new, folder)?;
        while let Some(bytes) = elements.next_elements(BATCH)? {
            writer.push(&bytes)?;
        }
        group.arrays.push(writer.finish()?);
        Ok(())
    }

    /// Writes an array into a folder of the store, and takes over its chunks where possible.
    fn fill(&self, group: &mut Group, mut conversion: Conversion<'_>, folder: &str) -> Result<()> {
        self.settings.storage.zarr(&mut conversion.new)?;
        self.warn_about_numbers(group, &conversion.new.attributes);
        conversion.by_reference = group.references.is_some();
        conversion.new.without_fill = group.references.is_some();
        let total = Region::all(&conversion.new.shape).bytes(conversion.new.dtype.itemsize());
        let (array, counts) = conversion.write(
            group.store.clone(),
            Key::parse(folder).writing()?,
            self.settings.options.workers(),
            &mut |bytes| self.advance(bytes, total),
        )?;
        if let Some(references) = &mut group.references {
            for (key, place) in array.places() {
                let mut place = place.clone();
                place.file = below(&group.member, &place.file);
                references.refer(key, place);
            }
        }
        group.arrays.push(array);
        group.counts += counts;
        Ok(())
    }
}

/// A writer of rows into a new array. It compresses every chunk.
fn row_writer(group: &mut Group, new: NewArray, folder: &str) -> Result<RowWriter> {
    let grid = Grid::new(new.shape.clone(), new.chunk_shape.clone());
    group.counts.compressed += grid.count().unwrap_or(0);
    let key = Key::parse(folder).writing()?;
    RowWriter::new(ArrayWriter::create(group.store.clone(), key, new)?)
}

/// The path of a name in a folder.
fn below(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder if name.is_empty() => folder.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// The names of the axes of a column. The first is the same for all columns.
fn names_of_axes(column: &str, axes: u64) -> Vec<String> {
    let others = (1..axes).map(|axis| format!("{column}_{axis}"));
    std::iter::once(ROW.to_owned()).chain(others).collect()
}

/// Sets the attributes of an array. The axis names, which xarray keeps among them, become the array's.
fn attach(new: &mut NewArray, mut attributes: Attributes) {
    let names = attributes.get(DIMENSIONS);
    let names = names.and_then(|names| serde_json::from_value::<Vec<String>>(names).ok());
    if let Some(names) = names.filter(|names| names.len() == new.shape.len()) {
        attributes.remove(DIMENSIONS);
        new.dimension_names = Some(names);
    }
    attributes.text().clone_into(&mut new.attributes);
}
