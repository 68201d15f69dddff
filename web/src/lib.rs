//! The WebAssembly part of the page: a worker calls the library with requests in JSON.
//!
//! There are no threads and no files here. The worker provides the bytes of the dropped files, takes exported bytes, and
//! shows progress; see [`host`].

mod chunks;
mod files;
mod host;
mod number;
mod plot;
mod request;
mod session;

pub use files::HostFile;
pub use request::answer;
