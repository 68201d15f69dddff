//! Where bytes live: the layer under files that are read at any place.
//!
//! [`ReadAt`] is what random access stands on. It takes no `&mut`, so that several threads can
//! share one source; a [`File`](std::fs::File) is read by position, bytes in memory are simply
//! there, and anything that seeks is shared behind a lock by [`Seekable`]. With the cargo feature `mmap`
//! a file can also be mapped into memory, as `Map`, whose documentation says when not to.

#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod cursor;
#[cfg(feature = "mmap")]
mod map;
mod read_at;
mod seekable;

pub use cursor::Cursor;
pub(crate) use cursor::target;
#[cfg(feature = "mmap")]
pub use map::Map;
pub use read_at::ReadAt;
pub use seekable::Seekable;
