//! Where bytes live: the layer under files that are read at any place.
//!
//! [`ReadAt`] is what random access stands on. It takes no `&mut`, so that several threads can
//! share one source; a [`File`](std::fs::File) is read by position, bytes in memory are simply
//! there, and anything that seeks is shared behind a lock by [`Seekable`].

#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod cursor;
mod read_at;
mod seekable;

pub use cursor::Cursor;
pub(crate) use cursor::target;
pub use read_at::ReadAt;
pub use seekable::Seekable;
