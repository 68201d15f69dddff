//! Anything with an array or a table into Zarr.

use std::sync::Arc;

use bloscpack::{
    error::IoSide as _,
    storage::{DiskStore, Key},
    wire::internal::to_u64,
};
use bloscpack_open::{
    Inner, Region,
    datasets::Attributes,
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
        let new = Target::folder(self.output(), FolderKind::Zarr, self.path(), session)?;
        let store = Arc::new(DiskStore::open(new.path()).writing().about(&new)?);
        let work = Work {
            opened,
            store,
            format,
            session,
        };
        let columns = opened.container.outline().about(&opened.origin)?.columns;
        let counts = match (columns, &self.column) {
            (Some(columns), None) => self.zarr_table(&work, &columns),
            _ => self.zarr_array(&work),
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
    fn zarr_table(&self, work: &Work<'_>, columns: &[String]) -> Result<ChunkCounts, Failure> {
        let (mut counts, mut files) = (ChunkCounts::default(), Vec::new());
        let container = &work.opened.container;
        for name in columns {
            let column = container.array(Some(name))?.ok_or_else(|| no_array(work))?;
            let axes = to_u64(column.grid().shape().len());
            let mut conversion = Conversion::of(column, work.format)?;
            let others = (1..axes).map(|axis| format!("{name}_{axis}"));
            let names = std::iter::once(ROW.to_owned()).chain(others);
            conversion.new.dimension_names.get_or_insert(names.collect());
            let (array, made) = self.written(work, conversion, name)?;
            counts += made;
            files.push(array);
        }
        let attributes = self.attributes(work.opened, work.session)?;
        work.warn_about_numbers(attributes.text());
        create_group(&*work.store, work.format, attributes.text(), &files)?;
        Ok(counts)
    }

    /// The array of any other input.
    fn zarr_array(&self, work: &Work<'_>) -> Result<ChunkCounts, Failure> {
        let opened = work.opened;
        if let Inner::NdArray(array) = opened.container.inner()
            && self.dtype_of(array, &opened.origin.name)?.is_none()
        {
            return Err(no_dtype(&opened.origin.name));
        }
        let array = opened.container.array(self.column.as_deref())?;
        let array = array.ok_or_else(|| no_array(work))?;
        let mut conversion = Conversion::of(array, work.format)?;
        attach(&mut conversion, self.attributes(opened, work.session)?);
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

fn no_array(work: &Work<'_>) -> Failure {
    let name = &work.opened.origin.name;
    Failure::usage(format!("{name} has no array that becomes Zarr"))
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
