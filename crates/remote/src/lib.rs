//! Bloscpack files, records, datasets and Blosc2 frames, in object stores, and read over HTTP.
//!
//! [`Remote`] opens URLs. What it returns is what [`bloscpack_open::open`] returns for paths, and reads the same; [`RemoteObject`]
//! and [`RemoteStore`] also go wherever a [`ReadAt`](bloscpack::storage::ReadAt) or a
//! [`Store`](bloscpack::storage::Store) goes.
//!
//! | to | use |
//! |---|---|
//! | open anything | [`Remote::open`] |
//! | read bytes of an object at any position | [`Remote::object`] |
//! | open a dataset, or find those below a prefix | [`Remote::store`] |
//! | write an object | [`Remote::create`] |
//! | change a dataset, or make a new one | [`Remote::edit`], [`Remote::upload`] |
//! | call asynchronous code from a thread | [`Bridge`] |
//!
//! `docs/remote.md` in the repository has a table of how many requests each kind of work takes.
//!
//! # Features
//!
//! `aws`, `gcp`, `azure`, `http` and `fs` are the kinds of URLs, all on by default.

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
