//! Stream, store and share compressed binary data in the Bloscpack family of formats.
#![deny(missing_docs)]

pub mod blosc;
