//! Anything with an array or a table into Zarr.

use std::collections::BTreeMap;
use std::sync::Arc;

use bloscpack::{
    error::IoSide as _,
    storage::{DiskStore, Key},
    wire::internal::to_u64,
};
use bloscpack_open::{
    Region, Selection,
    array::{Array as _, Column, DIMENSIONS, Grid, refuse_missing},
    datasets::Attributes,
    exchange::{OneArray, Source as _},
    zarr::{
        ArrayFiles, ArrayWriter, ChunkCounts, Conversion, Format, NewArray, RowWriter, create_group,
    },
};
use serde_json::json;

use super::Convert;
use crate::container::Opened;
use crate::dataset::{BATCH, source::ProgressSource};
use crate::failure::{About as _, Failure};
use crate::interrupt;
use crate::json_text;
use crate::layout::ZarrVersion;
use crate::output::{FolderKind, Target};
use crate::session::Session;
use crate::store::warn_about_zones;
use crate::text::count;

/// The name of the axis that the columns of a table share.
const ROW: &str = "row";

/// Bytes of a chunk of rows, about.
const CHUNK: u64 = 1 << 20;

/// A conversion that is under way.
pub(super) struct Work<'a> {
    pub opened: &'a Opened,
    pub store: Arc<DiskStore>,
    pub format: Format,
    pub session: &'a Session,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        new: &Target,
        opened: &'a Opened,
        version: ZarrVersion,
        session: &'a Session,
    ) -> Result<Self, Failure> {
        Ok(Self {
            opened,
            store: Arc::new(DiskStore::open(new.path()).writing().about(new)?),
            format: format_of(version),
            session,
        })
    }

    /// Warns about numbers among attributes that only Python's JSON has.
    pub(super) fn warn_about_numbers(&self, attributes: &str) {
        let is_strict = serde_json::from_str::<serde_core::de::IgnoredAny>(attributes).is_ok();
        if self.format == Format::V3 && !is_strict {
            self.session.warning(format_args!(
                "{}: NaN and infinity among its attributes become strings in Zarr 3",
                self.opened.origin.name
            ));
        }
    }
}

impl Convert {
    /// Makes a Zarr array or group, and returns its name.
    pub(super) fn zarr(
        &self,
        opened: &mut Opened,
        version: ZarrVersion,
        session: &Session,
    ) -> Result<String, Failure> {
        self.check_dtype(opened)?;
        let new = Target::folder(self.output(), FolderKind::Zarr, self.path(), session)?;
        let work = Work::new(&new, opened, version, session)?;
        let is_table = {
            let columns = opened.container.columns(&Selection::default());
            let schema = columns.about(&opened.origin)?.schema().clone();
            (schema.is_table || self.table) && self.column.is_none()
        };
        let made = || -> Result<ChunkCounts, Failure> {
            if !is_table {
                return self.zarr_array(&work, "").map(|(_, counts)| counts);
            }
            let (files, counts) = self.zarr_table(&work, "")?;
            let attributes = self.attributes(work.opened, work.session)?;
            work.warn_about_numbers(attributes.text());
            create_group(
                &*work.store,
                work.format,
                attributes.text(),
                &files,
                &BTreeMap::new(),
            )?;
            Ok(counts)
        };
        let counts = made().about(&new.made_from(&opened.origin))?;
        opened.progress.finish();
        let name = new.commit(session)?.name;
        self.report_chunks(&name, version, counts, session)?;
        Ok(name)
    }

    /// Reports how the chunks were made.
    pub(super) fn report_chunks(
        &self,
        name: &str,
        version: ZarrVersion,
        counts: ChunkCounts,
        session: &Session,
    ) -> Result<(), Failure> {
        if self.json {
            return json_text::print(&json!({
                "path": self.output().to_string_lossy(),
                "layout": format_of(version).name(),
                "chunks": counts.taken + counts.compressed,
                "chunks_taken": counts.taken,
                "chunks_compressed": counts.compressed,
            }));
        }
        let how = if counts.taken == 1 {
            "as it is"
        } else {
            "as they are"
        };
        let (taken, compressed) = (count(counts.taken, "chunk"), counts.compressed);
        session.note(format_args!(
            "{name}: {taken} taken {how}, {compressed} compressed anew"
        ));
        Ok(())
    }

    /// The columns of a table as arrays in a folder of the store.
    pub(super) fn zarr_table(
        &self,
        work: &Work<'_>,
        folder: &str,
    ) -> Result<(Vec<ArrayFiles>, ChunkCounts), Failure> {
        let (container, mut files) = (&work.opened.container, Vec::new());
        let mut counts = ChunkCounts::default();
        let names = container.outline()?.columns.unwrap_or_default();
        let names: Vec<&String> = match self.columns.as_slice() {
            [] => names.iter().collect(),
            chosen => chosen.iter().collect(),
        };
        let mut arrays = Vec::new();
        // Rows of which a part is wanted, or of which columns are no arrays, are read in order.
        if self.rows.is_none() && !self.table && !self.nan_as_null {
            for name in &names {
                arrays.extend(container.array(Some(name))?);
            }
        }
        if names.is_empty() || arrays.len() < names.len() {
            return self.zarr_rows(work, folder);
        }
        for (name, column) in names.into_iter().zip(arrays) {
            let axes = to_u64(column.grid().shape().len());
            let mut conversion = Conversion::of(column, work.format)?;
            let names = names_of_axes(name, axes);
            conversion.new.dimension_names.get_or_insert(names);
            let (array, made) = self.written(work, conversion, &below(folder, name))?;
            counts += made;
            files.push(array);
        }
        Ok((files, counts))
    }

    /// The rows of any table as arrays in a folder of the store, each a column.
    fn zarr_rows(
        &self,
        work: &Work<'_>,
        folder: &str,
    ) -> Result<(Vec<ArrayFiles>, ChunkCounts), Failure> {
        let (opened, session) = (work.opened, work.session);
        let mut source = self.fixed(&*opened.container)?;
        let (rows, schema) = (source.known_rows()?, source.schema().clone());
        warn_about_zones(&schema, &opened.origin.name, session);
        let (mut writers, mut compressed) = (Vec::new(), 0);
        for column in &schema.columns {
            let shape = [&[rows], column.row_shape.as_slice()].concat();
            let mut new = self.new_of_rows(work, column, &shape)?;
            new.dimension_names = Some(names_of_axes(&column.name, to_u64(shape.len())));
            compressed += Grid::new(shape, new.chunk_shape.clone())
                .count()
                .unwrap_or(0);
            let key = Key::parse(&below(folder, &column.name)).writing()?;
            writers.push(RowWriter::new(ArrayWriter::create(
                work.store.clone(),
                key,
                new,
            )?)?);
        }
        let mut rows = ProgressSource::new(&mut *source, session);
        while let Some(batch) = rows.next_batch(BATCH)? {
            batch.check(&schema)?;
            refuse_missing(&schema, &batch)?;
            for (writer, bytes) in writers.iter_mut().zip(&batch.columns) {
                writer.push(bytes)?;
            }
        }
        rows.warn_of_missing(&opened.origin.name, session);
        let files = writers.into_iter().map(RowWriter::finish);
        let mut counts = ChunkCounts::default();
        counts.compressed = compressed;
        Ok((files.collect::<bloscpack::Result<_>>()?, counts))
    }

    /// A new array of such rows, in chunks of about as many bytes as fit a cache.
    fn new_of_rows(
        &self,
        work: &Work<'_>,
        column: &Column,
        shape: &[u64],
    ) -> Result<NewArray, Failure> {
        let rows = (CHUNK / column.row_bytes().max(1)).max(1);
        let chunk = std::iter::once(rows.min(shape.first().copied().unwrap_or(1).max(1)));
        let chunk: Vec<u64> = chunk
            .chain(column.row_shape.iter().map(|len| (*len).max(1)))
            .collect();
        let mut new = NewArray::new(work.format, column.dtype.clone(), shape, &chunk);
        self.storage.zarr(&mut new)?;
        if let Some((own, _)) = new.chunk_shape.split_first_mut() {
            *own = (*own).max(1);
        }
        Ok(new)
    }

    /// An array in a folder of the store.
    pub(super) fn zarr_array(
        &self,
        work: &Work<'_>,
        folder: &str,
    ) -> Result<(ArrayFiles, ChunkCounts), Failure> {
        let attributes = self.attributes(work.opened, work.session)?;
        let Some(array) = self.array(work.opened)? else {
            return self.zarr_column(work, folder, attributes);
        };
        let mut conversion = Conversion::of(array, work.format)?;
        attach(&mut conversion.new, attributes);
        self.written(work, conversion, folder)
    }

    /// A column that is only to be had as rows.
    fn zarr_column(
        &self,
        work: &Work<'_>,
        folder: &str,
        attributes: Attributes,
    ) -> Result<(ArrayFiles, ChunkCounts), Failure> {
        let mut source = self.fixed(&*work.opened.container)?;
        let mut elements = OneArray::new(&mut *source)?;
        let (column, shape) = (elements.column().clone(), elements.shape().to_vec());
        let mut new = self.new_of_rows(work, &column, &shape)?;
        attach(&mut new, attributes);
        work.warn_about_numbers(&new.attributes);
        let mut counts = ChunkCounts::default();
        counts.compressed = Grid::new(shape, new.chunk_shape.clone())
            .count()
            .unwrap_or(0);
        let key = Key::parse(folder).writing()?;
        let mut writer = RowWriter::new(ArrayWriter::create(work.store.clone(), key, new)?)?;
        while let Some(bytes) = elements.next_elements(BATCH)? {
            interrupt::check()?;
            writer.push(&bytes)?;
        }
        Ok((writer.finish()?, counts))
    }

    /// Writes an array into a folder of the store.
    fn written(
        &self,
        work: &Work<'_>,
        mut conversion: Conversion<'_>,
        folder: &str,
    ) -> Result<(ArrayFiles, ChunkCounts), Failure> {
        self.storage.zarr(&mut conversion.new)?;
        work.warn_about_numbers(&conversion.new.attributes);
        let bytes = Region::all(&conversion.new.shape).bytes(conversion.new.dtype.itemsize());
        let progress = &work.opened.progress;
        progress.set_total(Some(bytes));
        let folder = Key::parse(folder).writing()?;
        Ok(conversion.write(
            work.store.clone(),
            folder,
            work.session.threads,
            &mut |bytes| {
                interrupt::check()?;
                progress.advance(bytes);
                Ok(())
            },
        )?)
    }
}

/// The path of a name below a folder.
fn below(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// The names of the axes of a column: the first is that of the rows of all columns.
fn names_of_axes(column: &str, axes: u64) -> Vec<String> {
    let others = (1..axes).map(|axis| format!("{column}_{axis}"));
    std::iter::once(ROW.to_owned()).chain(others).collect()
}

/// The version as the library has it.
pub(super) fn format_of(version: ZarrVersion) -> Format {
    match version {
        ZarrVersion::V2 => Format::V2,
        ZarrVersion::V3 => Format::V3,
    }
}

/// Gives an array attributes. The names of its axes, which xarray keeps among them, become those of the array.
fn attach(new: &mut NewArray, mut attributes: Attributes) {
    let names = attributes.get(DIMENSIONS);
    let names = names.and_then(|names| serde_json::from_value::<Vec<String>>(names).ok());
    if let Some(names) = names.filter(|names| names.len() == new.shape.len()) {
        attributes.remove(DIMENSIONS);
        new.dimension_names = Some(names);
    }
    attributes.text().clone_into(&mut new.attributes);
}
