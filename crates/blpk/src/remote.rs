//! URLs in the place of paths: what is in object stores and on web servers.

use std::path::Path;

use bloscpack::open::{Container, OpenOptions};

use crate::failure::Failure;
use crate::session::Session;

/// Whether a path is a URL, and no file has that name.
pub fn is_url(path: &Path) -> bool {
    let is_url = |text: &str| {
        #[cfg(feature = "remote")]
        return bloscpack_remote::is_url(text);
        #[cfg(not(feature = "remote"))]
        text.split_once("://").is_some_and(|(scheme, _)| {
            scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric())
        })
    };
    path.to_str().is_some_and(is_url) && !path.exists()
}

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
    match session.remote()?.store(&path.to_string_lossy()) {
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

/// The failure to change an object in place.
pub fn not_changed(path: &Path, hint: &str) -> Failure {
    let title = format!(
        "{}: objects are only written whole, and cannot be changed in place",
        name(path)
    );
    Failure::usage(title).hint(hint)
}

/// The failure to read a URL where a file is needed.
pub fn not_read(path: &Path) -> Failure {
    let title = format!("{}: this command reads files, not URLs", name(path));
    let hint = "blpk cat, info, ls, verify, export, convert, decompress and records get read URLs";
    Failure::usage(title).hint(hint)
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

/// The name of a URL in messages, without what may be secret.
pub fn name(path: &Path) -> String {
    let shown = crate::text::shown(path);
    let shown = shown.split(['?', '#']).next().unwrap_or_default();
    let shown = match shown.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, below) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            // A name and a password before the host. Azure has a container there.
            let host = match authority.rsplit_once('@') {
                Some((user, host)) if user.contains(':') || scheme.starts_with("http") => host,
                _ => authority,
            };
            format!("{scheme}://{host}{below}")
        }
        None => shown.to_owned(),
    };
    format!("'{shown}'")
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

#[cfg(test)]
mod tests {
    use super::{is_url, name};

    #[test]
    fn urls_are_told_from_paths() {
        for url in ["s3://b/k", "https://h/f.blp", "memory://x/y", "gs://b/k"] {
            assert!(is_url(url.as_ref()), "{url}");
        }
        for path in ["a/b", "-", "C:/x", "./s3:/b", "a:b", ""] {
            assert!(!is_url(path.as_ref()), "{path}");
        }
        assert_eq!(
            name("https://me:pw@host/a?sig=1".as_ref()),
            "'https://host/a'"
        );
        assert_eq!(name("abfs://c@a.host/x".as_ref()), "'abfs://c@a.host/x'");
    }
}
