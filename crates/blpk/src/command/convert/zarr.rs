//! Anything with an array or a table into Zarr.

use std::sync::Arc;

use bloscpack::{
    error::IoSide as _,
    indexed::IndexedReader,
    storage::{DiskStore, Key},
    wire::internal::to_u64,
};
use bloscpack_open::{
    Inner, Region,
    array::Retyped,
    datasets::{Attributes, CTable},
    exchange::NumpyFile,
    zarr::{ArrayFiles, ChunkCounts, Conversion, Format, create_group},
};
use serde_json::json;

use super::{Convert, no_dtype};
use crate::container::Opened;
use crate::failure::{About as _, Failure};
use crate::interrupt;
use crate::json_text;
use crate::layout::ZarrVersion;
use crate::output::{FolderKind, Target};
use crate::session::Session;
use crate::text::count;

/// The name of the axis that the columns of a table share.
const ROW: &str = "row";
/// The attribute of the names of the axes.
const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// A conversion that is under way.
struct Work<'a> {
    opened: &'a Opened,
    store: Arc<DiskStore>,
    format: Format,
    session: &'a Session,
}

impl Work<'_> {
    /// Warns about numbers among attributes that only Python's JSON has.
    fn warn_about_numbers(&self, attributes: &str) {
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
        let format = match version {
            ZarrVersion::V2 => Format::V2,
            ZarrVersion::V3 => Format::V3,
        };
        let attributes = match opened.container.inner() {
            Inner::NdArray(_) | Inner::Bloscpack(_) => Some(self.attributes(opened, session)?),
            _ => None,
        };
        let new = Target::folder(self.output(), FolderKind::Zarr, self.path(), session)?;
        let store = Arc::new(DiskStore::open(new.path()).writing().about(&new)?);
        let work = Work {
            opened,
            store,
            format,
            session,
        };
        let counts = match (opened.container.inner(), &self.column) {
            (Inner::Table(table), None) => self.zarr_table(&work, table),
            _ => self.zarr_array(&work, attributes),
        };
        let counts = counts.about(&new.made_from(&opened.origin))?;
        opened.progress.finish();
        let name = new.commit(session)?.name;
        self.report(&name, format, counts, session)?;
        Ok(name)
    }

    /// Reports how the chunks were made.
    fn report(
        &self,
        name: &str,
        format: Format,
        counts: ChunkCounts,
        session: &Session,
    ) -> Result<(), Failure> {
        if self.json {
            return json_text::print(&json!({
                "path": self.output().to_string_lossy(),
                "layout": format.name(),
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

    /// The columns of a table as a group of arrays.
    fn zarr_table(&self, work: &Work<'_>, table: &CTable) -> Result<ChunkCounts, Failure> {
        let (mut counts, mut files) = (ChunkCounts::default(), Vec::new());
        for name in table.names() {
            let column = table.column(name)?;
            let mut conversion = Conversion::of(column, work.format)?;
            let axes = to_u64(column.shape().len());
            let others = (1..axes).map(|axis| format!("{name}_{axis}"));
            let names = std::iter::once(ROW.to_owned()).chain(others);
            conversion.new.dimension_names = Some(names.collect());
            let (array, made) = self.written(work, conversion, name)?;
            counts += made;
            files.push(array);
        }
        let attributes = table.attributes().text();
        work.warn_about_numbers(attributes);
        create_group(&*work.store, work.format, attributes, &files)?;
        Ok(counts)
    }

    /// The array of any other input.
    fn zarr_array(
        &self,
        work: &Work<'_>,
        attributes: Option<Attributes>,
    ) -> Result<ChunkCounts, Failure> {
        let opened = work.opened;
        let mut conversion = match opened.container.inner() {
            Inner::NdArray(array) => {
                let name = &opened.origin.name;
                let dtype = self.dtype_of(array, name)?;
                let dtype = dtype.ok_or_else(|| no_dtype(name))?;
                Conversion::of(Retyped::new(array, dtype)?, work.format)?
            }
            Inner::ZarrArray(array) => Conversion::of(array, work.format)?,
            Inner::Bloscpack(Some(source)) => {
                let reader = IndexedReader::with_options(source, work.session.options())?;
                Conversion::of(NumpyFile::new(reader)?, work.format)?
            }
            _ => match self.array(opened)? {
                Some(array) => Conversion::of(array, work.format)?,
                None => {
                    let title = format!("{} has no array that becomes Zarr", opened.origin.name);
                    return Err(Failure::usage(title));
                }
            },
        };
        if let Some(attributes) = attributes {
            attach(&mut conversion, attributes);
        }
        self.written(work, conversion, "").map(|(_, counts)| counts)
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
        let folder = match folder {
            "" => Key::root(),
            name => Key::root().join(name).writing()?,
        };
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

/// Gives an array attributes. The names of its axes, which xarray keeps among them, become those of the array.
fn attach(conversion: &mut Conversion<'_>, mut attributes: Attributes) {
    let new = &mut conversion.new;
    let names = attributes.get(DIMENSIONS);
    let names = names.and_then(|names| serde_json::from_value::<Vec<String>>(names).ok());
    if let Some(names) = names.filter(|names| names.len() == new.shape.len()) {
        attributes.remove(DIMENSIONS);
        new.dimension_names = Some(names);
    }
    attributes.text().clone_into(&mut new.attributes);
}
