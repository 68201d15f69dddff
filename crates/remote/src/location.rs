//! [`Location`]: a parsed URL.
//!
//! ```text
//!  https://user:password@host/dir/file.blp?signature
//!  scheme       Http
//!  path         dir/file.blp
//!  store name   https://user:password@host?signature    one connection for all URLs with the same
//!  name         https://host/dir/file.blp                for messages
//!  secrets      password, signature
//! ```

use crate::error::{Failure, Secrets};
use object_store::path::Path;
use std::io::ErrorKind;
use url::Url;

/// The known schemes, and the kind of store each uses.
const SCHEMES: [(&str, Scheme); 14] = [
    ("s3", Scheme::S3),
    ("s3a", Scheme::S3),
    ("gs", Scheme::Gcs),
    ("gcs", Scheme::Gcs),
    ("az", Scheme::Azure),
    ("azure", Scheme::Azure),
    ("adl", Scheme::Azure),
    ("abfs", Scheme::Azure),
    ("abfss", Scheme::Azure),
    ("http", Scheme::Http),
    ("https", Scheme::Http),
    ("file", Scheme::File),
    ("memory", Scheme::Memory),
    ("mem", Scheme::Memory),
];

/// The kind of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    S3,
    Gcs,
    Azure,
    Http,
    File,
    Memory,
}

/// A URL: its store, and the path there.
#[derive(Clone)]
pub(crate) struct Location {
    pub scheme: Scheme,
    pub url: Url,
    pub path: Path,
    /// The URL without secrets.
    pub name: String,
    /// Whether the path is empty or ends with a slash, and so names a folder.
    pub is_folder: bool,
}

/// Whether the text is a URL, or probably meant to be one, rather than a file path. Also true for an unknown
/// scheme.
///
/// ```
/// use bloscpack_remote::is_url;
/// assert!(is_url("s3://bucket/key") && is_url("https://host/file.blp") && is_url("s4://typo/key"));
/// assert!(!is_url("dir/file.blp") && !is_url("C:/file") && !is_url("a: b"));
/// ```
#[must_use]
pub fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_word = scheme.len() > 1
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let is_known = SCHEMES
        .iter()
        .any(|(known, _)| known.eq_ignore_ascii_case(scheme));
    is_word && (rest.starts_with("//") || (is_known && rest.starts_with('/')))
}

impl Location {
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let refused = |what: String| Failure::new(ErrorKind::InvalidInput, what);
        let (scheme_text, rest) = text.split_once(':').unwrap_or((text, ""));
        let shown = without_secrets(text);
        let found = SCHEMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(scheme_text));
        let Some((_, scheme)) = found else {
            let near = SCHEMES
                .iter()
                .find(|(known, _)| is_near(known, scheme_text));
            let hint = near.map_or("s3, gs, az, http, https or file".to_owned(), |(near, _)| {
                format!("{near}://")
            });
            return Err(refused(format!(
                "{shown}: there is no scheme {scheme_text:?} (is {hint} meant?)"
            )));
        };
        if !rest.starts_with("//") {
            return Err(refused(format!(
                "{shown}: a slash is missing (write {scheme_text}://...)"
            )));
        }
        let url = Url::parse(text).map_err(|error| refused(format!("{shown}: {error}")))?;
        let needs_host = !matches!(scheme, Scheme::File | Scheme::Memory);
        if needs_host && url.host_str().is_none_or(str::is_empty) {
            let what = match scheme {
                Scheme::Http => "host",
                _ => "bucket",
            };
            return Err(refused(format!("{shown}: the {what} is missing")));
        }
        if *scheme != Scheme::Http && (url.query().is_some() || url.fragment().is_some()) {
            let hint = "write %3F for ? and %23 for # in a path, and options as KEY=VALUE";
            return Err(refused(format!("{shown}: this URL has a query ({hint})")));
        }
        let path = Path::from_url_path(url.path());
        let path = path.map_err(|error| refused(format!("{shown}: {error}")))?;
        Ok(Self {
            scheme: *scheme,
            is_folder: url.path().ends_with('/') || path.as_ref().is_empty(),
            path,
            name: shown,
            url,
        })
    }

    /// The query and the password, which must not appear in any message.
    pub fn secrets(&self) -> impl Iterator<Item = String> {
        let query = self.url.query().map(str::to_owned);
        let password = self.url.password().map(str::to_owned);
        query.into_iter().chain(password)
    }

    /// The part that all URLs of one store share.
    pub fn store_name(&self) -> String {
        let authority = self.url.authority();
        let query = self.url.query().unwrap_or_default();
        format!("{}://{authority}?{query}", self.url.scheme())
    }

    /// Whether the last part of the path has a known file extension.
    pub fn has_extension(&self) -> bool {
        let name = self.path.filename().unwrap_or_default();
        const FILES: [&str; 9] = [
            "blp", "bp", "bpk", "b2nd", "b2frame", "b2f", "cat", "bin", "rec",
        ];
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        extension.is_some_and(|extension| {
            FILES
                .iter()
                .any(|file| extension.eq_ignore_ascii_case(file))
        })
    }
}

/// All secret values of the options and the URL.
pub(crate) fn secrets_of(options: &[(String, String)], location: &Location) -> Secrets {
    let hidden = options
        .iter()
        .filter(|(key, _)| !crate::options::is_public(key));
    Secrets::new(
        hidden
            .map(|(_, value)| value.clone())
            .chain(location.secrets()),
    )
}

/// A URL without password and query.
fn without_secrets(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    // Azure writes the container before the `@`.
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) if user.contains(':') || scheme.starts_with("http") => host,
        _ => authority,
    };
    format!("{scheme}://{authority}{path}")
}

/// Whether the texts differ by at most one letter.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_ascii_lowercase(), other.to_ascii_lowercase());
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let end = one
        .iter()
        .rev()
        .zip(other.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    one.len().abs_diff(other.len()) <= 1 && same + end + 1 >= one.len().max(other.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_secrets() {
        for (url, name) in [
            ("https://me:pass@host/a/b?X-Sig=1#x", "https://host/a/b"),
            ("s3://bucket/a b", "s3://bucket/a b"),
            (
                "abfss://container@account.dfs.core.windows.net/a",
                "abfss://container@account.dfs.core.windows.net/a",
            ),
        ] {
            assert_eq!(
                Location::parse(url).map(|found| found.name).ok().as_deref(),
                Some(name)
            );
        }
    }

    #[test]
    fn mistakes_in_urls_are_explained() {
        for (url, part) in [
            ("s4://bucket/key", "is s3:// meant?"),
            ("htps://host/key", "is https:// meant?"),
            ("ftp://host/key", "s3, gs, az"),
            ("s3:/bucket/key", "write s3://..."),
            ("s3:///key", "the bucket is missing"),
            ("s3://bucket/key?a", "write %3F"),
        ] {
            let error = std::io::Error::from(Location::parse(url).map(|_| ()).unwrap_err());
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
