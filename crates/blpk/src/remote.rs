//! URLs instead of paths, for object stores and web servers.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use bloscpack::{Options, storage::SharedSource, wire::internal::to_u64};
use bloscpack_open::{Container, datasets::Dataset};

use crate::failure::{About as _, Directory, Failure};
use crate::interrupt;
use crate::progress::Progress;
use crate::session::Session;

/// Bytes of one copy.
const PIECE: usize = 1 << 20;

/// The target of a URL.
pub enum Found {
    /// A file.
    Object(SharedSource),
    /// A dataset, a sparse frame or a store.
    Folder(Box<dyn Container>),
}

/// Looks up a URL, and opens it if it is a folder.
pub fn find(path: &Path, options: &Options, session: &Session) -> Result<Found, Failure> {
    let found = session.remote()?.find(&path.to_string_lossy());
    let found = found
        .map_err(bloscpack::Error::from)
        .and_then(|found| match found {
            bloscpack_remote::Found::Object(object) => Ok(Found::Object(Arc::new(object))),
            bloscpack_remote::Found::Within(object, path) => {
                bloscpack_open::open_within(object, &path, options).map(Found::Folder)
            }
            bloscpack_remote::Found::Folder(store) => {
                bloscpack_open::open_store(store, options).map(Found::Folder)
            }
        });
    found.about(&Directory(path))
}

/// The object at a URL; `None` for a folder.
pub fn object(path: &Path, session: &Session) -> Result<Option<SharedSource>, Failure> {
    let (remote, url) = (session.remote()?, path.to_string_lossy());
    match remote.object(&url) {
        Ok(object) => Ok(Some(Arc::new(object))),
        // Some servers have folders, and return various errors for a folder that is requested as an object.
        Err(error) => {
            let may_be_folder =
                matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::Other);
            if may_be_folder && remote.store(&url).is_ok() {
                return Ok(None);
            }
            Err(error).about(&Directory(path))
        }
    }
}

/// Copies all bytes. Reads count as progress, and fail after a request to stop.
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

/// Whether there are objects below a URL.
pub fn has_objects(path: &Path, session: &Session) -> Result<bool, Failure> {
    let url = path.to_string_lossy();
    let file = format!("{}/file", url.trim_end_matches('/'));
    let options = bloscpack_remote::WriteOptions::new();
    let writable = session.remote()?.create(&file, &options);
    drop(writable.about(&Directory(path))?);
    match session.remote()?.store(&url) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).about(&Directory(path)),
    }
}

/// Uploads a directory to a URL.
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
        done => done.map(drop).about(&Directory(path)),
    }
}

/// Opens a dataset at a URL to change it.
pub fn edit(path: &Path, options: &Options, session: &Session) -> Result<Dataset, Failure> {
    let editor = session.remote()?.edit(&path.to_string_lossy());
    let opened = editor.map_err(bloscpack::Error::from);
    let opened = opened.and_then(|editor| Dataset::edit_in(editor, options));
    opened.about(&Directory(path))
}
