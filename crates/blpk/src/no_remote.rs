//! The stand-in for `remote.rs` in a build without URLs: every attempt is an error.

use std::path::Path;

use bloscpack::{Options, storage::SharedSource};
use bloscpack_open::{Container, datasets::Dataset};

use crate::failure::Failure;
use crate::session::Session;

/// The target of a URL.
#[expect(dead_code, reason = "never found")]
pub enum Found {
    Object(SharedSource),
    Folder(Box<dyn Container>),
}

pub fn find(path: &Path, _: &Options, _: &Session) -> Result<Found, Failure> {
    Err(not_built(path))
}

pub fn object(path: &Path, _: &Session) -> Result<Option<SharedSource>, Failure> {
    Err(not_built(path))
}

pub fn has_objects(path: &Path, _: &Session) -> Result<bool, Failure> {
    Err(not_built(path))
}

pub fn upload(_: &Path, path: &Path, _: &Session) -> Result<(), Failure> {
    Err(not_built(path))
}

pub fn edit(path: &Path, _: &Options, _: &Session) -> Result<Dataset, Failure> {
    Err(not_built(path))
}

/// The failure to open a URL in a build that cannot.
pub fn not_built(path: &Path) -> Failure {
    // The part after ? may be a signature.
    let shown = crate::text::shown(path);
    let shown = shown.split('?').next().unwrap_or_default();
    let title = format!("'{shown}': this build of blpk does not support URLs");
    let install = "cargo install --locked --path crates/blpk --features remote";
    let failure = Failure::new(bloscpack::Category::Unsupported.into(), title);
    failure.hint(format!("in a clone of bloscpack: {install}"))
}
