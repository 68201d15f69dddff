//! Directory datasets.
#![deny(clippy::indexing_slicing, clippy::string_slice)]
#![allow(dead_code)]

mod boxes;
mod grid;
mod leaf;
mod superchunk;
