//! The geometry of arrays in chunks.

#![forbid(unsafe_code)]

pub mod boxes;
mod region;
mod shapes;
pub mod strided;

pub use region::{BATCH, Region};
pub use shapes::{Caches, default_shapes};
