//! Checks the names of columns, which are also names of folders.

use crate::dataset_layout::DatasetLayout;
use bloscpack_error::{Error, Result};
use bloscpack_storage::Key;
use std::collections::{HashMap, HashSet};

/// File names with another meaning in the directory of a table.
const RESERVED: [&str; 3] = ["__attrs__", "__rootdirs__", ".blpk"];

/// Refuses a name for a new column that is invalid, exists, or conflicts with the nesting of others.
pub(super) fn check_new<'a>(
    layout: DatasetLayout,
    name: &str,
    mut others: impl Iterator<Item = &'a str>,
) -> Result<()> {
    check_usable(layout, name)?;
    let is_around = |one: &str, other: &str| {
        let rest = other.strip_prefix(one);
        !layout.columns_are_datasets() && rest.is_some_and(|rest| rest.starts_with('.'))
    };
    match others.find(|other| *other == name || is_around(other, name) || is_around(name, other)) {
        None => Ok(()),
        Some(other) if other == name => Err(exists(name)),
        Some(other) => Err(contains(name, other)),
    }
}

/// Refuses names for the columns of a new table that are invalid, occur twice, or conflict in their nesting.
pub(super) fn check_all<'a>(
    layout: DatasetLayout,
    names: impl Iterator<Item = &'a str>,
) -> Result<()> {
    let nests = !layout.columns_are_datasets();
    // The names so far, and for each outer name one of the columns inside it.
    let (mut known, mut around) = (HashSet::new(), HashMap::new());
    for name in names {
        check_usable(layout, name)?;
        let outer: Vec<&str> = if nests {
            outer_names(name).collect()
        } else {
            Vec::new()
        };
        let other = outer.iter().find(|outer| known.contains(**outer)).copied();
        if let Some(other) = other.or_else(|| around.get(name).copied()) {
            return Err(contains(name, other));
        }
        if !known.insert(name) {
            return Err(exists(name));
        }
        for outer in outer {
            around.entry(outer).or_insert(name);
        }
    }
    Ok(())
}

/// The outer names of a nested column, from the outermost inwards: `a` and `a.b` of `a.b.c`.
fn outer_names(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('.').map(|(end, _)| name.split_at(end).0)
}

fn exists(name: &str) -> Error {
    Error::usage(format!("a column {name:?} exists already"))
}

fn contains(name: &str, other: &str) -> Error {
    Error::usage(format!(
        "there cannot be a column {name:?} next to {other:?}: one would contain the other"
    ))
}

/// Refuses a name that no column can have.
fn check_usable(layout: DatasetLayout, name: &str) -> Result<()> {
    let usable = |name: &str| Key::root().join(name).is_ok() && !name.starts_with("._");
    let sound = if layout.columns_are_datasets() {
        usable(name) && !RESERVED.contains(&name)
    } else {
        name.split('.')
            .all(|part| usable(part) && !part.starts_with("__"))
    };
    if sound {
        return Ok(());
    }
    let reason = Key::root().join(name).err();
    let reason = reason.map(|reason| format!(": {reason}"));
    Err(Error::usage(format!(
        "{name:?} cannot be the name of a column, which is also that of a folder{}",
        reason.unwrap_or_default()
    )))
}

/// A sort key for each name that puts nested columns next to their siblings: for each level of the name, the position of the
/// first column that the level contains.
pub(super) fn grouped(names: &[String]) -> Vec<Vec<Option<usize>>> {
    let first_of = |outer: &str| {
        let is_within = |name: &String| {
            let rest = name.strip_prefix(outer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        names.iter().position(is_within)
    };
    let positions = names.iter().map(|name| {
        let levels = outer_names(name).chain([name.as_str()]);
        levels.map(first_of).collect()
    });
    positions.collect()
}
