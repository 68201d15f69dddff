//! The small files around the superchunks, and what does not belong there.

use super::{Finding, Remedy, note};
use crate::dataset::layout::{get_if_there, put};
use crate::error::Result;
use crate::storage::{EntryKind, Key, Root};
use crate::wire::DType;
use crate::wire::dataset::{DtypeText, Sizes, Storage};

/// Brings back the files of an array or a table without which it cannot be opened, where that can be done.
pub(super) fn restore(root: &Root, at: &Key, found: &mut Vec<Finding>) -> Result<()> {
    let storage_key = at.join("meta")?.join("storage")?;
    let is_table = root.kind(&at.join("__rootdirs__")?)? == Some(EntryKind::File);
    let Some(storage) =
        get_if_there(root, &storage_key)?.and_then(|text| Storage::parse(&text).ok())
    else {
        if is_table {
            attributes(root, at, found)?;
        }
        return Ok(());
    };
    let is_documented = root.kind(&at.join("meta")?.join("attributes")?)?.is_some();
    if is_documented {
        return Ok(());
    }
    attributes(root, at, found)?;
    sizes(root, at, &storage, found)?;
    let data = at.join("data")?;
    if root.kind(&data)?.is_none() {
        note(
            found,
            &data,
            "the folder of superchunks is missing",
            Remedy::Done("made it".to_owned()),
        );
        root.make_folder(&data)?;
    }
    Ok(())
}

/// bcolz opens nothing without attributes, and none are in an empty file.
fn attributes(root: &Root, at: &Key, found: &mut Vec<Finding>) -> Result<()> {
    let key = at.join("__attrs__")?;
    let text = get_if_there(root, &key)?;
    let what = match &text {
        None => "the attributes are missing",
        Some(text) if text.trim_ascii().is_empty() => "the file of attributes is empty",
        Some(_) => return Ok(()),
    };
    note(
        found,
        &key,
        what,
        Remedy::Done("wrote it with no attributes in it".to_owned()),
    );
    put(root, &key, b"{}\n")
}

/// Where the counts cannot be read, the array has no rows until they are counted; with rows of several elements nobody knows their
/// shape.
fn sizes(root: &Root, at: &Key, storage: &Storage, found: &mut Vec<Finding>) -> Result<()> {
    let key = at.join("meta")?.join("sizes")?;
    if get_if_there(root, &key)?.is_some_and(|text| Sizes::parse(&text).is_ok()) {
        return Ok(());
    }
    let DtypeText::Text(dtype) = &storage.dtype else {
        return Ok(());
    };
    let chunk = DType::parse(dtype)?
        .itemsize()
        .checked_mul(storage.chunk_rows);
    let first = at.join("data")?.join("__0.blp")?;
    let nbytes = super::count::nbytes_of(root, &first);
    if nbytes.is_some_and(|nbytes| chunk.is_none_or(|chunk| u64::from(nbytes) > chunk)) {
        let advice = "its rows have several elements, and nothing else tells their shape: write the file by hand";
        note(
            found,
            &key,
            "the counts are missing or damaged",
            Remedy::Left(advice.to_owned()),
        );
        return Ok(());
    }
    note(
        found,
        &key,
        "the counts are missing or damaged",
        Remedy::Done("counted anew".to_owned()),
    );
    put(
        root,
        &key,
        &Sizes {
            shape: vec![0],
            nbytes: 0,
            cbytes: 0,
        }
        .encode(),
    )
}

/// Litter of other systems, beside the files of the dataset and its columns.
pub(super) fn sweep(root: &Root, at: &Key, found: &mut Vec<Finding>) -> Result<()> {
    let mut open = vec![at.clone()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = root.list(&folder) else {
            continue;
        };
        for entry in entries {
            let Some(name) = entry.name.to_str() else {
                continue;
            };
            let Ok(key) = folder.join(name) else { continue };
            match entry.kind {
                EntryKind::Folder if key.names().count() < MAX_DEPTH => open.push(key),
                EntryKind::File if name.starts_with("._") => {
                    note(
                        found,
                        &key,
                        "litter of another system",
                        Remedy::Done("removed it".to_owned()),
                    );
                    root.remove(&key)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Folders within folders, deeper than any dataset.
const MAX_DEPTH: usize = 20;
