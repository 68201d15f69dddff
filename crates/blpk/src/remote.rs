//! URLs in the place of paths: what is in object stores and on web servers.

#[cfg(feature = "remote")]
use std::io::{self, Read, Write};
use std::path::Path;
#[cfg(feature = "remote")]
use std::sync::Arc;

use bloscpack::storage::SharedSource;
#[cfg(feature = "remote")]
use bloscpack::wire::internal::to_u64;
use bloscpack_open::{Container, OpenOptions};

use crate::failure::Failure;
use crate::session::Session;
#[cfg(feature = "remote")]
use crate::{interrupt, progress::Progress, url::name};

/// Bytes that are copied at once.
#[cfg(feature = "remote")]
const PIECE: usize = 1 << 20;

/// The target of a URL.
#[cfg_attr(not(feature = "remote"), expect(dead_code))]
pub enum Found {
    /// A file.
    Object(SharedSource),
    /// A dataset, a sparse frame or a store.
    Folder(Box<dyn Container>),
}

/// Finds out what a URL leads to, and opens a folder.
#[cfg(feature = "remote")]
pub fn find(path: &Path, options: &OpenOptions, session: &Session) -> Result<Found, Failure> {
    let found = session.remote()?.find(&path.to_string_lossy());
    let found = found
        .map_err(bloscpack::Error::from)
        .and_then(|found| match found {
            bloscpack_remote::Found::Object(object) => Ok(Found::Object(Arc::new(object))),
            bloscpack_remote::Found::Folder(store) => {
                bloscpack_open::open_store(store, options).map(Found::Folder)
            }
        });
    found.map_err(|error| failure(path, &error))
}

/// The object at a URL; `None` for a folder.
#[cfg(feature = "remote")]
pub fn object(path: &Path, session: &Session) -> Result<Option<SharedSource>, Failure> {
    let (remote, url) = (session.remote()?, path.to_string_lossy());
    match remote.object(&url) {
        Ok(object) => Ok(Some(Arc::new(object))),
        // Some servers have folders, and fail in their own ways where one is asked for as an object.
        Err(error) => {
            let may_be_folder =
                matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::Other);
            if may_be_folder && remote.store(&url).is_ok() {
                return Ok(None);
            }
            Err(failure(path, &error.into()))
        }
    }
}

/// Copies all bytes, shown as progress. Fails once the work is asked to stop.
#[cfg(feature = "remote")]
pub fn copy(from: &mut impl Read, to: &mut impl Write, progress: &Progress) -> io::Result<u64> {
    let (mut piece, mut copied) = (vec![0; PIECE], 0);
    loop {
        interrupt::check()?;
        let (read, _) = match from.read(&mut piece)? {
            0 => return Ok(copied),
            count => piece.split_at(count),
        };
        to.write_all(read)?;
        progress.advance(to_u64(read.len()));
        copied += to_u64(read.len());
    }
}

/// Finds out what a URL leads to, in a build that cannot.
#[cfg(not(feature = "remote"))]
pub fn find(path: &Path, _: &OpenOptions, _: &Session) -> Result<Found, Failure> {
    Err(not_built(path))
}

/// The same in a build that has no URLs.
#[cfg(not(feature = "remote"))]
pub fn object(path: &Path, _: &Session) -> Result<Option<SharedSource>, Failure> {
    Err(not_built(path))
}

/// Whether there is anything below a URL.
#[cfg(feature = "remote")]
pub fn has_objects(path: &Path, session: &Session) -> Result<bool, Failure> {
    let url = path.to_string_lossy();
    let file = format!("{}/file", url.trim_end_matches('/'));
    let options = bloscpack_remote::WriteOptions::new();
    let writable = session.remote()?.create(&file, &options);
    drop(writable.map_err(|error| failure(path, &error.into()))?);
    match session.remote()?.store(&url) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failure(path, &error.into())),
    }
}

/// Puts a directory below a URL.
#[cfg(feature = "remote")]
pub fn upload(made: &Path, path: &Path, session: &Session) -> Result<(), Failure> {
    let progress = Progress::new(session, None);
    let shown = progress.clone();
    let watch = move |bytes, total| {
        shown.set_total(Some(total));
        shown.advance(bytes);
        interrupt::check()
    };
    let remote = session.remote()?;
    let done = remote.upload_watched(made, &path.to_string_lossy(), watch);
    progress.finish();
    match done {
        Err(_) if interrupt::is_requested() => Err(Failure::interrupted()),
        done => done.map(drop).map_err(|error| failure(path, &error.into())),
    }
}

/// Opens a dataset at a URL to change it.
#[cfg(feature = "remote")]
pub fn edit(
    path: &Path,
    options: &bloscpack_open::datasets::DatasetOptions,
    session: &Session,
) -> Result<bloscpack_open::datasets::Dataset, Failure> {
    let editor = session.remote()?.edit(&path.to_string_lossy());
    let opened = editor.map_err(bloscpack::Error::from);
    let opened = opened.and_then(|editor| options.edit_in(editor));
    opened.map_err(|error| failure(path, &error))
}

/// The same in a build that has no URLs.
#[cfg(not(feature = "remote"))]
pub fn has_objects(path: &Path, _: &Session) -> Result<bool, Failure> {
    Err(not_built(path))
}

/// The same in a build that has no URLs.
#[cfg(not(feature = "remote"))]
pub fn upload(_: &Path, path: &Path, _: &Session) -> Result<(), Failure> {
    Err(not_built(path))
}

/// The same in a build that has no URLs.
#[cfg(not(feature = "remote"))]
pub fn edit(
    path: &Path,
    _: &bloscpack_open::datasets::DatasetOptions,
    _: &Session,
) -> Result<bloscpack_open::datasets::Dataset, Failure> {
    Err(not_built(path))
}

/// The failure to open a URL in a build that cannot.
#[cfg(not(feature = "remote"))]
pub fn not_built(path: &Path) -> Failure {
    // The part after ? may be a signature.
    let shown = crate::text::shown(path);
    let shown = shown.split('?').next().unwrap_or_default();
    let title = format!("'{shown}': this build of blpk has no URLs");
    let install = "cargo install --locked --path crates/blpk --features remote";
    let failure = Failure::new(bloscpack::Category::Unsupported.into(), title);
    failure.hint(format!("in a clone of bloscpack: {install}"))
}

/// The failure to open a URL.
#[cfg(feature = "remote")]
pub fn failure(path: &Path, error: &bloscpack::Error) -> Failure {
    Failure::library(name(path), error).if_damaged(crate::failure::VERIFY)
}
