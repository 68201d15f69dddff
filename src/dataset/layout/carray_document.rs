//! What the carray proposal describes.

use super::{ArrayParts, TableParts};
use crate::dataset::leaf::Spec;
use crate::dataset::new::NewArray;
use crate::error::{Error, Result};
use crate::storage::{Key, Root};
use crate::wire::dataset::Attributes;

fn todo<T>() -> Result<T> {
    Err(Error::usage("not yet"))
}
pub(super) fn is_table(_: &Root, _: &Key) -> Result<bool> {
    todo()
}
pub(super) fn open_array(_: &Root, _: &Key) -> Result<ArrayParts> {
    todo()
}
pub(super) fn open_table(_: &Root, _: &Key) -> Result<TableParts> {
    todo()
}
pub(super) fn new_spec(_: &Key, _: &NewArray) -> Result<Spec> {
    todo()
}
pub(super) fn put_storage(_: &Root, _: &Key, _: &[(&str, &Spec)]) -> Result<()> {
    todo()
}
pub(super) fn put_sizes(_: &Root, _: &Key, _: &[&Spec]) -> Result<()> {
    todo()
}
pub(super) fn put_attributes(_: &Root, _: &Key, _: &Attributes) -> Result<()> {
    todo()
}
