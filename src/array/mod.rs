//! What arrays of every kind stand on: boxes of elements, elements as values, work for several threads.

#![deny(clippy::indexing_slicing, clippy::string_slice)]

pub(crate) mod boxes;
pub(crate) mod crew;
pub(crate) mod element;
pub(crate) mod pool;
pub(crate) mod strided;
pub(crate) mod threads;

pub use element::{Element, WrongElement};
