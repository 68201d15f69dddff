//! The part of the page that is WebAssembly: the library, called with requests in JSON from a worker.
//!
//! There are no threads and no files here. The worker provides the bytes of the files that were dropped, takes the bytes that
//! are exported, and shows progress: see [`host`].

mod chunks;
mod files;
mod host;
mod number;
mod plot;
mod request;
mod session;

pub use files::HostFile;
pub use request::answer;
