//! The stand-in for `object.rs` in a build without URLs: every attempt is an error.

use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};

use super::{Replaces, SyncingFile};
use crate::failure::Failure;
use crate::remote;
use crate::session::Session;

/// No object.
#[derive(Debug)]
pub struct ObjectFile {
    pub replaces: bool,
    none: Infallible,
}

impl ObjectFile {
    pub fn begin(path: &Path, _: Replaces, _: &Session) -> Result<Self, Failure> {
        Err(remote::not_built(path))
    }

    pub fn real_path(&self) -> Option<PathBuf> {
        match self.none {}
    }

    pub fn seekable(&self) -> Option<&SyncingFile> {
        match self.none {}
    }

    pub fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.none {}
    }

    pub fn adopt(&mut self, _: &Path) -> io::Result<()> {
        match self.none {}
    }

    pub fn commit(self) -> io::Result<u64> {
        match self.none {}
    }
}
