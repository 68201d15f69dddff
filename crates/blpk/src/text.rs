//! Human-readable text: names in quotes, URLs without secrets, counts with their nouns, shapes.

use std::path::Path;

pub use bloscpack_open::internal::{count, or_unknown, plain, shape};

/// The path in quotes for messages; a URL without parts that may be secret.
pub fn quoted(path: &Path) -> String {
    if is_url(path) {
        format!("'{}'", public(path))
    } else {
        format!("'{}'", shown(path))
    }
}

/// The path for JSON: as given, or a URL without parts that may be secret.
pub fn exact(path: &Path) -> String {
    if is_url(path) {
        public(path)
    } else {
        path.to_string_lossy().into_owned()
    }
}

/// The path, without characters that a terminal would interpret.
pub fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy())
}

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

/// A URL without parts that may be secret: the query, the fragment, and a name with a password.
fn public(path: &Path) -> String {
    let shown = plain(&path.to_string_lossy());
    let shown = shown.split(['?', '#']).next().unwrap_or_default();
    match shown.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, below) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            // Name and password may precede the host. In Azure's URLs the container does.
            let host = match authority.rsplit_once('@') {
                Some((user, host)) if user.contains(':') || scheme.starts_with("http") => host,
                _ => authority,
            };
            format!("{scheme}://{host}{below}")
        }
        None => shown.to_owned(),
    }
}

/// Splits an option at its first `=`.
#[cfg(feature = "remote")]
pub fn store_option(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        // Do not print the text: it may be a secret.
        _ => Err("expected KEY=VALUE, such as region=eu-central-1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::is_url;
    use super::quoted;

    #[test]
    fn urls_are_told_from_paths() {
        for url in ["s3://b/k", "https://h/f.blp", "memory://x/y", "gs://b/k"] {
            assert!(is_url(url.as_ref()), "{url}");
        }
        for path in ["a/b", "-", "C:/x", "./s3:/b", "a:b", ""] {
            assert!(!is_url(path.as_ref()), "{path}");
        }
        assert_eq!(
            quoted("https://me:pw@host/a?sig=1".as_ref()),
            "'https://host/a'"
        );
        assert_eq!(quoted("abfs://c@a.host/x".as_ref()), "'abfs://c@a.host/x'");
    }
}
