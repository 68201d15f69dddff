//! URLs in the place of paths: what is in object stores and on web servers.

use std::path::Path;

use bloscpack::open::{Container, OpenOptions};

use crate::failure::Failure;
use crate::session::Session;
#[cfg(feature = "remote")]
use crate::url::name;

/// Opens what a URL leads to.
#[cfg(feature = "remote")]
pub fn open(
    path: &Path,
    options: &OpenOptions,
    session: &Session,
) -> Result<Box<dyn Container>, Failure> {
    let opened = session.remote()?.open(&path.to_string_lossy(), options);
    opened.map_err(|error| failure(path, &error))
}

/// Opens what a URL leads to, in a build that cannot.
#[cfg(not(feature = "remote"))]
pub fn open(path: &Path, _: &OpenOptions, _: &Session) -> Result<Box<dyn Container>, Failure> {
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
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failure(path, &error.into())),
    }
}

/// Puts a directory below a URL.
#[cfg(feature = "remote")]
pub fn upload(made: &Path, path: &Path, session: &Session) -> Result<(), Failure> {
    let done = session.remote()?.upload(made, &path.to_string_lossy());
    done.map(drop).map_err(|error| failure(path, &error.into()))
}

/// Opens a dataset behind a URL to change it.
#[cfg(feature = "remote")]
pub fn edit(
    path: &Path,
    options: &bloscpack::dataset::DatasetOptions,
    session: &Session,
) -> Result<bloscpack::dataset::Dataset, Failure> {
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
    _: &bloscpack::dataset::DatasetOptions,
    _: &Session,
) -> Result<bloscpack::dataset::Dataset, Failure> {
    Err(not_built(path))
}

/// The failure to open a URL in a build that cannot.
#[cfg(not(feature = "remote"))]
pub fn not_built(path: &Path) -> Failure {
    // What comes after ? may be a signature.
    let shown = crate::text::shown(path);
    let shown = shown.split('?').next().unwrap_or_default();
    let title = format!("'{shown}': this build of blpk has no URLs");
    let install = "cargo install --locked --path crates/blpk --features remote";
    let failure = Failure::new(bloscpack::Category::Unsupported.into(), title);
    failure.hint(format!("in a clone of bloscpack: {install}"))
}

/// The failure to open a URL.
#[cfg(feature = "remote")]
fn failure(path: &Path, error: &bloscpack::Error) -> Failure {
    Failure::library(name(path), error).if_damaged(crate::failure::VERIFY)
}

/// The file of a sparse frame that contains everything but the chunks.
#[cfg(feature = "remote")]
const METADATA: &str = "chunks.b2frame";

/// Datasets, and files whose names are those of ours, below a URL.
#[cfg(feature = "remote")]
pub fn below(path: &Path, session: &Session) -> Result<crate::dataset::walk::Below, Failure> {
    use crate::dataset::walk::{Below, Found};
    use crate::input::has_known_ending;
    let base = path.to_string_lossy();
    let base = base.trim_end_matches('/');
    let store = session.remote()?.store(base);
    let store = store.map_err(|error| failure(path, &error.into()))?;
    let url = |below: &Path| match below.as_os_str().is_empty() {
        true => base.into(),
        false => format!("{base}/{}", below.to_string_lossy()).into(),
    };
    let mut found = Vec::new();
    let mut damaged = Vec::new();
    let walked = bloscpack::dataset::walk_in(store.clone(), |below, error| {
        damaged.push(Found::Directory(url(below), Some(error)));
    });
    let walked = walked.map_err(|error| failure(path, &error))?;
    found.extend(
        walked
            .iter()
            .map(|one| Found::Directory(url(&one.path), None)),
    );
    found.extend(damaged);
    // The directories of sparse frames are known by one of their files.
    let sparse = store
        .paths()
        .map(Path::new)
        .filter(|file| file.ends_with(METADATA));
    let sparse = sparse.filter_map(Path::parent).map(url);
    found.extend(sparse.map(|folder| Found::Directory(folder, None)));
    let folders: Vec<String> = found
        .iter()
        .map(|one| format!("{}/", one.path().to_string_lossy()))
        .collect();
    let mut others = 0;
    for file in store.paths() {
        let file = Path::new(file);
        let full = url(file);
        let is_inside = folders
            .iter()
            .any(|folder| full.to_string_lossy().starts_with(folder));
        match has_known_ending(file) {
            _ if is_inside => {}
            true => found.push(Found::File(full)),
            false => others += 1,
        }
    }
    found.sort_by(|one, other| one.path().cmp(other.path()));
    Ok(Below { found, others })
}

/// Datasets and files below a URL, in a build that cannot read it.
#[cfg(not(feature = "remote"))]
pub fn below(path: &Path, _: &Session) -> Result<crate::dataset::walk::Below, Failure> {
    Err(not_built(path))
}

/// The part of an option before and after the first `=`.
#[cfg(feature = "remote")]
pub fn option(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        // The value may be a secret, and so is what stands in its place.
        _ => Err("expected KEY=VALUE, such as region=eu-central-1".to_owned()),
    }
}
