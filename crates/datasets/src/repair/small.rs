//! The small files around the superchunks, and what does not belong there.

use super::{Finding, Remedy, note};
use crate::CArray;
use crate::layout::{get_if_there, put};
use crate::wire::{DtypeText, Sizes, Storage};
use bloscpack_dtype::DType;
use bloscpack_error::Result;
use bloscpack_storage::{EntryKind, JournaledStore, Key};
use std::collections::BTreeSet;

/// Brings back the files of an array or a table without which it cannot be opened, where that can be done.
pub(super) fn restore(
    root: &JournaledStore,
    at: &Key,
    keep: bool,
    found: &mut Vec<Finding>,
) -> Result<()> {
    let is_table = root.kind(&at.join("__rootdirs__")?)? == Some(EntryKind::File);
    if is_table {
        return attributes(root, at, found);
    }
    let is = |[folder, name]: [&str; 2]| -> Result<bool> {
        Ok(root.kind(&at.join(folder)?.join(name)?)?.is_some())
    };
    // Those of the documents are written as a whole.
    if is(["meta", "attributes"])? || is(["meta", "shape"])? || is(["data", "__1__.bin"])? {
        return Ok(());
    }
    let storage_key = at.join("meta")?.join("storage")?;
    let Some(storage) =
        get_if_there(root, &storage_key)?.and_then(|text| Storage::parse(&text).ok())
    else {
        return Ok(());
    };
    attributes(root, at, found)?;
    sizes(root, at, &storage, keep, found)?;
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
fn attributes(root: &JournaledStore, at: &Key, found: &mut Vec<Finding>) -> Result<()> {
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

/// Where the counts cannot be read, the array has no rows until all are counted, which has to be asked for; with rows of several
/// elements nobody knows their shape.
fn sizes(
    root: &JournaledStore,
    at: &Key,
    storage: &Storage,
    keep: bool,
    found: &mut Vec<Finding>,
) -> Result<()> {
    let key = at.join("meta")?.join("sizes")?;
    if get_if_there(root, &key)?.is_some_and(|text| Sizes::parse(&text).is_ok()) {
        return Ok(());
    }
    let DtypeText::Text(dtype) = &storage.dtype else {
        return Ok(());
    };
    let dtype = DType::parse(dtype)?;
    let chunk = dtype.itemsize().checked_mul(storage.chunk_rows);
    let nbytes = super::count::nbytes_of(root, &at.join("data")?.join("__0.blp")?);
    let is_listed = storage.default.trim_start().starts_with('[') && dtype.fields().is_none();
    let advice = match nbytes {
        _ if is_listed => {
            "its rows have several elements, and nothing else tells their shape: write the file by hand"
        }
        Some(nbytes) if chunk.is_none_or(|chunk| u64::from(nbytes) > chunk) => {
            "its rows have several elements, and nothing else tells their shape: write the file by hand"
        }
        _ if !keep => "if its rows are single elements, say to keep all that are there",
        _ => {
            note(
                found,
                &key,
                "the counts are missing or damaged",
                Remedy::Done("counted rows of single elements".to_owned()),
            );
            return put(
                root,
                &key,
                &Sizes {
                    shape: vec![0],
                    nbytes: 0,
                    cbytes: 0,
                }
                .encode(),
            );
        }
    };
    note(
        found,
        &key,
        "the counts are missing or damaged",
        Remedy::Left(advice.to_owned()),
    );
    Ok(())
}

/// The folders that a dataset with these arrays has files in.
pub(super) fn folders<'a>(
    at: &Key,
    arrays: impl IntoIterator<Item = &'a CArray>,
) -> Result<BTreeSet<Key>> {
    let mut all = BTreeSet::from([at.clone(), at.join("meta")?]);
    for array in arrays {
        let own = &array.home().at;
        all.extend([own.clone(), own.join("meta")?]);
        let mut folder = array.leaf().spec().folder.clone();
        // Columns within columns lie in folders of their own.
        while folder != *own
            && let Some(outer) = folder.split().map(|(outer, _)| outer)
        {
            all.insert(folder);
            folder = outer;
        }
    }
    Ok(all)
}

/// Litter of other systems, beside the files of the dataset and its columns. What lies in other folders is somebody else's.
pub(super) fn sweep(
    root: &JournaledStore,
    folders: &BTreeSet<Key>,
    found: &mut Vec<Finding>,
) -> Result<()> {
    for folder in folders {
        let Ok(entries) = root.list(folder) else {
            continue;
        };
        for entry in entries {
            let Some(name) = entry.name.to_str() else {
                continue;
            };
            let Ok(key) = folder.join(name) else { continue };
            if entry.kind == EntryKind::File && name.starts_with("._") {
                note(
                    found,
                    &key,
                    "litter of another system",
                    Remedy::Done("removed it".to_owned()),
                );
                root.remove(&key)?;
            }
        }
    }
    Ok(())
}
