//! Reads Bloscpack files, records, datasets and Blosc2 frames from object stores and over HTTP, and writes them
//! to object stores.
//!
//! # From a URL to requests
//!
//! ```text
//!  "s3://bucket/prices"
//!       │  Location: scheme, bucket and path; names in messages without secrets
//!       ▼
//!  Remote::find ─┬─ looks like a file ─► first request: 64 KiB, size, version ─► RemoteObject
//!                ├─ otherwise ─────────► listing of the prefix ────────────────► RemoteStore
//!                └─ neither ───────────► a path in an archive, "a.zip/inside"
//!       │  read_at, read_ranges, will_read
//!       ▼
//!  Plan     ranges that readers announced; fetched while at most half the cache waits unused
//!       ▼
//!  Cache    bytes by URL, version, range: 64 MiB in memory, the least recently used go first
//!       │  missing ranges: 64 KiB to 2 MiB a request, up to 32 at once, with If-Match: ETag
//!       ▼
//!  Bridge   a background thread with an async runtime ─► object_store ─► network
//! ```
//!
//! Numbers are the defaults of [`RemoteOptions`]. `docs/remote.md` in the repository lists the URLs, the
//! credentials, and how many requests each kind of work takes.
//!
//! | to | use |
//! |---|---|
//! | open any URL as [`bloscpack_open::open`] opens a path | [`Remote::open`] |
//! | read bytes of an object at any position | [`Remote::object`], a [`ReadAt`](bloscpack::storage::ReadAt) |
//! | read the files below a prefix | [`Remote::store`], a [`Store`](bloscpack::storage::Store) |
//! | write an object | [`Remote::create`], a [`Write`](std::io::Write) |
//! | upload a folder | [`Remote::upload`] |
//! | change a dataset, or make a new one | [`Remote::edit`], a [`Store`](bloscpack::storage::Store) |
//! | call asynchronous code from a thread | [`Bridge`] |
//!
//! ```
//! use bloscpack_open::datasets::CArray;
//! use bloscpack_remote::{Remote, RemoteOptions};
//!
//! let remote = Remote::new(RemoteOptions::new())?;
//! let mut array = CArray::of::<i32>().create_in(remote.edit("memory://bucket/array")?)?;
//! array.append_values(&[1, 2, 3])?;
//! array.flush()?;
//! let array = CArray::open_in(remote.store("memory://bucket/array")?)?;
//! assert_eq!(array.to_vec::<i32>(1..3)?, [2, 3]);
//! # Ok::<(), bloscpack::Error>(())
//! ```
//!
//! # Reading
//!
//! All bytes come from one version of an object; an object that changes while it is read is an error. Slices
//! and scans request all their ranges at once. Calls block and work from any thread, inside and outside an
//! async runtime.
//!
//! # Writing
//!
//! An object appears whole or not at all. A dataset is created, and rows are appended to an array, so that
//! readers see the old or the new one. If two writers have opened the same version, the first wins and the
//! other gets [`ChangedByAnotherWriter`].
//!
//! # Errors
//!
//! Errors are [`std::io::Error`] or [`bloscpack::Error`]. Messages name the URL and what to do, and contain no
//! credentials and no query of a URL. Temporary failures are retried up to 8 times within a minute; then
//! everything that was opened with the same call fails with the same error for a minute, without requests.
//!
//! # Features
//!
//! `aws`, `gcp`, `azure`, `http` and `fs` add the kinds of URLs; all are on by default. `memory:` needs none.
//! `client` is set by the first four.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::string_slice)]

mod append;
mod bridge;
mod cache;
mod conflict;
mod connect;
mod editor;
mod error;
mod location;
mod object;
mod options;
mod overlay;
mod plan;
mod publish;
mod remote;
mod send;
mod source;
mod store;
mod trouble;
mod upload;
mod writer;

pub use bridge::Bridge;
pub use conflict::ChangedByAnotherWriter;
pub use editor::RemoteEditor;
pub use location::is_url;
pub use object::RemoteObject;
pub use options::RemoteOptions;
pub use remote::{Found, Remote};
pub use store::RemoteStore;
pub use writer::{RemoteWriter, WriteOptions};

/// The crate whose stores can be [registered](Remote::register).
pub use object_store;
