//! The implementations of [`Container`](crate::Container), one for each kind.

pub(crate) mod array;
pub(crate) mod dataset;
pub(crate) mod exchange;
pub(crate) mod file;
pub(crate) mod folder;
pub(crate) mod frame;
mod frame_summary;
mod members;
mod records;
pub(crate) mod store;
pub(crate) mod table;
pub(crate) mod zarr;
