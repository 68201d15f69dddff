//! The containers of Zarr arrays and groups.

mod array;
mod group;

use crate::{Container, Kind, Options};
use bloscpack_error::Result;
use bloscpack_storage::{Below, Key};
use bloscpack_zarr::{ZarrGroup, ZarrNode};
use std::sync::Arc;

/// Opens the array or group in a folder of a store.
pub(crate) fn open_folder(folder: Below, options: &Options) -> Result<Box<dyn Container>> {
    container(
        ZarrNode::open(Arc::new(folder), &Key::root(), options)?,
        options,
    )
}

fn container(node: ZarrNode, options: &Options) -> Result<Box<dyn Container>> {
    Ok(match node {
        ZarrNode::Array(array) => Box::new(array::Array::new(*array, options)),
        ZarrNode::Group(group) => Box::new(group::Group::new(group, options)?),
    })
}

/// The columns, if a group is a table: all members are arrays with at least one axis and equally many rows. It is an error if
/// only a member that cannot be opened prevents this.
fn columns(group: &ZarrGroup) -> Result<Option<Vec<(String, bloscpack_zarr::ZarrArray)>>> {
    let mut columns = Vec::new();
    let (mut rows, mut damage) = (None, None);
    for (name, node) in group.members()? {
        let array = match node {
            Ok(ZarrNode::Array(array)) => array,
            Ok(ZarrNode::Group(_)) => return Ok(None),
            Err(error) => {
                damage.get_or_insert(error);
                continue;
            }
        };
        let Some(len) = array.shape().first().copied() else {
            return Ok(None);
        };
        if *rows.get_or_insert(len) != len {
            return Ok(None);
        }
        columns.push((name, *array));
    }
    if let Some(error) = damage {
        return Err(error);
    }
    Ok(Some(columns).filter(|columns| !columns.is_empty()))
}

/// The kind of an array, and of a group that is not a table.
const KIND: Kind = Kind::Zarr;
