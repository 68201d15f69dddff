//! Repairs the small files around the superchunks, and removes files of other operating systems.

use super::{Finding, Remedy, note};
use crate::carray::CArray;
use crate::files::{Files, below, join};
use crate::wire::{DtypeText, Sizes, Storage};
use blosc1::ChunkHeader;
use bloscpack_dtype::DType;
use bloscpack_error::Result;
use bloscpack_storage::{EntryKind, Key};
use std::collections::BTreeSet;

/// Restores files without which an array or a table cannot be opened, if possible.
pub(super) fn restore(
    files: &Files,
    at: &Key,
    keep: bool,
    findings: &mut Vec<Finding>,
) -> Result<()> {
    if files.is_file(&below(at, &["__rootdirs__"])?)? {
        return restore_attributes(files, at, findings);
    }
    // In the layouts of the documents nothing needs restoring: only this library writes them, atomically.
    for names in [
        ["meta", "attributes"],
        ["meta", "shape"],
        ["data", "__1__.bin"],
    ] {
        if files.kind(&below(at, &names)?)?.is_some() {
            return Ok(());
        }
    }
    let storage = files.get(&below(at, &["meta", "storage"])?)?;
    let Some(storage) = storage.and_then(|text| Storage::parse(&text).ok()) else {
        return Ok(());
    };
    restore_attributes(files, at, findings)?;
    restore_sizes(files, at, &storage, keep, findings)?;
    let data = below(at, &["data"])?;
    if files.kind(&data)?.is_none() {
        let message = "the folder of superchunks is missing";
        note(findings, &data, message, Remedy::Done("made it".to_owned()));
        files.make_folders(&data)?;
    }
    Ok(())
}

/// Writes `__attrs__` if it is missing or empty: bcolz does not open such a dataset.
fn restore_attributes(files: &Files, at: &Key, findings: &mut Vec<Finding>) -> Result<()> {
    let key = below(at, &["__attrs__"])?;
    let message = match files.get(&key)? {
        None => "the attributes are missing",
        Some(text) if text.trim_ascii().is_empty() => "the file of attributes is empty",
        Some(_) => return Ok(()),
    };
    let remedy = Remedy::Done("wrote it without attributes".to_owned());
    note(findings, &key, message, remedy);
    files.put_meta(&key, b"{}\n")
}

/// Writes `meta/sizes` with no rows if it cannot be read and the user asked to keep uncounted rows, which are then counted. The
/// shape of rows of several elements is lost; such an array is reported instead.
fn restore_sizes(
    files: &Files,
    at: &Key,
    storage: &Storage,
    keep: bool,
    findings: &mut Vec<Finding>,
) -> Result<()> {
    let key = below(at, &["meta", "sizes"])?;
    if files
        .get(&key)?
        .is_some_and(|text| Sizes::parse(&text).is_ok())
    {
        return Ok(());
    }
    let DtypeText::Text(dtype) = &storage.dtype else {
        return Ok(());
    };
    let dtype = DType::parse(dtype)?;
    let chunk = dtype.itemsize().checked_mul(storage.chunk_rows);
    let nbytes = nbytes_of(files, &below(at, &["data", "__0.blp"])?);
    let is_longer =
        nbytes.is_some_and(|nbytes| chunk.is_none_or(|chunk| u64::from(nbytes) > chunk));
    let is_listed = storage.default.trim_start().starts_with('[') && dtype.fields().is_none();
    let message = "the counts are missing or damaged";
    let advice = if is_listed || is_longer {
        "its rows have several elements, and only this file contains their shape: write it by hand"
    } else if !keep {
        "if its rows are single elements, choose to keep all that are present"
    } else {
        let remedy = Remedy::Done("counted rows of single elements".to_owned());
        note(findings, &key, message, remedy);
        let sizes = Sizes {
            shape: vec![0],
            nbytes: 0,
            cbytes: 0,
        };
        return files.put_meta(&key, &sizes.encode());
    };
    note(findings, &key, message, Remedy::Left(advice.to_owned()));
    Ok(())
}

/// The uncompressed length of a superchunk's only chunk, from the chunk's header.
fn nbytes_of(files: &Files, key: &Key) -> Option<u32> {
    let mut head = [0; 32];
    let object = files.read(key).ok()??;
    object.read_exact_at(0, &mut head).ok()?;
    let (_, chunk) = head.split_last_chunk::<16>()?;
    Some(ChunkHeader::parse(chunk).ok()?.nbytes)
}

/// All folders of a dataset with these arrays.
pub(super) fn folders<'a>(
    at: &Key,
    arrays: impl IntoIterator<Item = &'a CArray>,
) -> Result<BTreeSet<Key>> {
    let mut all = BTreeSet::from([at.clone(), below(at, &["meta"])?]);
    for array in arrays {
        let own = &array.handle().at;
        all.extend([own.clone(), below(own, &["meta"])?]);
        let mut folder = array.storage().spec().folder.clone();
        // Nested columns are folders inside other columns.
        while folder != *own
            && let Some(outer) = folder.split().map(|(outer, _)| outer)
        {
            all.insert(folder);
            folder = outer;
        }
    }
    Ok(all)
}

/// Removes `._*` files, which other operating systems leave, from these folders. Other folders are not touched.
pub(super) fn sweep(
    files: &Files,
    folders: &BTreeSet<Key>,
    findings: &mut Vec<Finding>,
) -> Result<()> {
    for folder in folders {
        // Folders that cannot be listed and names that are not keys do not belong to this library.
        for entry in files.list(folder).unwrap_or_default() {
            let name = entry.name.to_str().filter(|name| name.starts_with("._"));
            let Some(key) = name.and_then(|name| join(folder, name).ok()) else {
                continue;
            };
            if entry.kind == EntryKind::File {
                let remedy = Remedy::Done("removed it".to_owned());
                note(findings, &key, "file of another operating system", remedy);
                files.remove(&key)?;
            }
        }
    }
    Ok(())
}
