//! Datasets, Bloscpack files and frames below a URL.

use std::path::Path;

use super::walk::Below;
use crate::failure::Failure;
use crate::session::Session;
#[cfg(feature = "remote")]
use crate::{
    dataset::walk::Found,
    failure::{About as _, Directory},
    input::has_known_ending,
};
#[cfg(feature = "remote")]
use bloscpack_open::frames::wire::METADATA_FILE;

/// Datasets, and files whose names are those of ours, below a URL.
#[cfg(feature = "remote")]
pub fn below(path: &Path, session: &Session) -> Result<Below, Failure> {
    let base = path.to_string_lossy();
    let base = base.trim_end_matches('/');
    let store = session.remote()?.store(base);
    let store = store.about(&Directory(path))?;
    let url = |below: &Path| {
        if below.as_os_str().is_empty() {
            base.into()
        } else {
            format!("{base}/{}", below.to_string_lossy()).into()
        }
    };
    let mut found = Vec::new();
    let mut damaged = Vec::new();
    let walked = bloscpack_open::datasets::walk_in(store.clone(), |below, error| {
        damaged.push(Found::Directory(url(below), Some(error)));
    });
    let walked = walked.about(&Directory(path))?;
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
        .filter(|file| file.ends_with(METADATA_FILE));
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
pub fn below(path: &Path, _: &Session) -> Result<Below, Failure> {
    Err(crate::remote::not_built(path))
}
