//! The stand-in for `object.rs` in a build without URLs: every attempt is an error.

use std::io;
use std::path::Path;

use super::{Replaces, SyncingFile};
use crate::failure::Failure;
use crate::remote;
use crate::session::Session;

/// An object, which cannot exist.
pub enum NewObject {}

impl NewObject {
    pub fn begin(path: &Path, _: Replaces, _: &Session) -> Result<(Self, bool), Failure> {
        Err(remote::not_built(path))
    }

    pub fn url(&self) -> &Path {
        match *self {}
    }

    pub fn seekable(&self) -> Option<&SyncingFile> {
        match *self {}
    }

    pub fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    pub fn adopt(&mut self, _: &Path) -> io::Result<()> {
        match *self {}
    }

    pub fn commit(self) -> io::Result<u64> {
        match self {}
    }
}
