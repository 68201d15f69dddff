//! The common part of the layouts `blz-doc` and `carray-doc`, which two documents describe: superchunks with several chunks,
//! and nested columns.

use crate::array_storage::{ArraySpec, typesize};
use crate::error::missing_superchunk;
use crate::files::{Files, below, join};
use crate::new::NewArray;
use crate::superchunk::{Framing, SuperchunkIndex, SuperchunkOptions};
use bloscpack_dtype::DType;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use bloscpack_storage::Key;
use std::num::NonZeroU64;

/// The framing of the superchunks of an array.
pub(super) fn framing(options: SuperchunkOptions, dtype: &DType, chunk_bytes: u32) -> Framing {
    Framing {
        options,
        chunk_bytes,
        typesize: typesize(dtype),
    }
}

/// Refuses superchunk options that contradict each other.
pub(super) fn check_options(options: &SuperchunkOptions) -> Result<()> {
    if options.spare > 0 && !options.offsets {
        Err(Error::usage(
            "spare space requires a table of offsets, without which readers do not find the next chunk",
        ))
    } else {
        Ok(())
    }
}

/// Reads the index of the first superchunk of an array, and infers the options of its writer; `None` for an array without
/// chunks.
pub(super) fn first_superchunk(
    files: &Files,
    spec: &ArraySpec,
) -> Result<Option<(SuperchunkIndex, SuperchunkOptions)>> {
    let chunks = spec.grid.chunks();
    if chunks == 0 {
        return Ok(None);
    }
    let key = join(&spec.folder, &spec.naming.name(0))?;
    let file = files.read(&key)?;
    let file = file.ok_or_else(|| files.locate(&key, missing_superchunk(0, chunks)))?;
    let index = spec.container.read(file.as_ref());
    let index = index.map_err(|error| files.locate(&key, error))?;
    let options = SuperchunkOptions {
        checksum: index.checksum,
        offsets: index.spare,
        spare: index.usual_spare(file.as_ref()),
    };
    Ok(Some((index, options)))
}

/// The number of chunks in a superchunk; at least 1.
pub(super) fn chunk_count(index: &SuperchunkIndex) -> NonZeroU64 {
    let count = to_u64(index.slots.len());
    NonZeroU64::new(count).unwrap_or(NonZeroU64::MIN)
}

/// The folder of a new column. A dot in its name separates levels.
pub(super) fn new_column_folder(at: &Key, name: &str, new: &NewArray) -> Result<Key> {
    if new.dtype.fields().is_some() {
        return Err(Error::usage(format!(
            "column {name:?} has fields, which are columns in this layout: add them one by one, as COLUMN.FIELD"
        )));
    }
    name.split('.')
        .try_fold(below(at, &["data"])?, |key, name| join(&key, name))
}

/// Unwraps the descriptions of all columns. Returns them with the first one; an error for a table without columns.
pub(super) fn described<'a>(
    columns: &[(&'a str, Option<&'a ArraySpec>)],
) -> Result<(Vec<(&'a str, &'a ArraySpec)>, &'a ArraySpec)> {
    let columns = columns.iter().map(|(name, spec)| match spec {
        Some(spec) => Ok((*name, *spec)),
        None => Err(Error::bug(format!("column {name:?} without a description"))),
    });
    let columns: Vec<_> = columns.collect::<Result<_>>()?;
    match columns.first().copied() {
        Some((_, first)) => Ok((columns, first)),
        None => Err(Error::usage(
            "a table of this layout has at least one column",
        )),
    }
}

/// Creates the folders of the columns of a table.
pub(super) fn make_column_folders(files: &Files, columns: &[(&str, &ArraySpec)]) -> Result<()> {
    columns
        .iter()
        .try_for_each(|(_, spec)| files.make_folders(&spec.folder))
}
