//! [`Failure`]: an error of an object store, with advice and without secrets.
//!
//! ```text
//!  object_store::Error ─► Failure: URL, description, detail (advice) ─► io::Error
//!                           kind       ErrorKind
//!                           conflict   ChangedByAnotherWriter as the inner error
//!                           fault      request, forbidden, server, internal: decides what else is tried
//! ```

use crate::conflict::ChangedByAnotherWriter;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::sync::Arc;

/// An error that several readers may receive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    kind: ErrorKind,
    text: Arc<str>,
    is_conflict: bool,
    fault: Fault,
}

/// Where a request has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// In the request itself: the same answer would come again.
    Request,
    /// The server forbids it. Many servers answer so if the object does not exist.
    Forbidden,
    /// The server did not answer, or was busy, in all attempts.
    Server,
    /// The server reported an internal error in all attempts.
    Internal,
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        if failure.is_conflict {
            Self::new(failure.kind, ChangedByAnotherWriter(failure.text))
        } else {
            Self::new(failure.kind, &*failure.text)
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self {
            is_conflict: ChangedByAnotherWriter::is_cause_of(&error),
            ..Self::new(error.kind(), error.to_string())
        }
    }
}

/// Values that must not appear in any message.
#[derive(Default, Clone)]
pub(crate) struct Secrets(Arc<[String]>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

impl Secrets {
    /// Ignores short values, such as `true`, because they occur anywhere.
    pub fn new(secrets: impl Iterator<Item = String>) -> Self {
        Self(secrets.filter(|secret| secret.len() > 4).collect())
    }

    /// The text without secrets and without the queries of URLs, which contain signatures.
    fn redact(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in &*self.0 {
            clean = clean.replace(secret.as_str(), "***");
        }
        let words = clean.split(' ').map(|word| match word.split_once('?') {
            Some((url, _)) if url.contains("://") => format!("{url}?***"),
            _ => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// A mistake recognised by a part of the message, its description and the advice.
type Known = (&'static str, ErrorKind, &'static str, &'static str);

/// The message for a URL that the client refuses, such as one without encryption.
const BAD_SCHEME: &str = "URL scheme is not allowed";

/// The message for a server that answers with the whole object.
const NO_RANGES: &str = "Range request not supported";

const KNOWN: &[Known] = &[
    (
        "ExpiredToken",
        ErrorKind::PermissionDenied,
        "the credentials have expired",
        "get new ones, and set AWS_SESSION_TOKEN with the two keys",
    ),
    (
        "InvalidAccessKeyId",
        ErrorKind::PermissionDenied,
        "the access key is unknown",
        "check AWS_ACCESS_KEY_ID and the endpoint",
    ),
    (
        "NotSignedUp",
        ErrorKind::PermissionDenied,
        "the access key is unknown",
        "check AWS_ACCESS_KEY_ID and the endpoint",
    ),
    (
        "SignatureDoesNotMatch",
        ErrorKind::PermissionDenied,
        "the secret key does not belong to the access key",
        "check AWS_SECRET_ACCESS_KEY",
    ),
    (
        "NoSuchBucket",
        ErrorKind::NotFound,
        "there is no such bucket",
        "check its name, and the region and endpoint",
    ),
    (
        "without LOCATION",
        ErrorKind::Other,
        "the bucket is in another region",
        "set region=... or AWS_REGION",
    ),
    (
        "plain HTTP request",
        ErrorKind::InvalidInput,
        "the server expects https",
        "write https:// instead of http://",
    ),
    (
        "InvalidContentType",
        ErrorKind::InvalidInput,
        "the server does not speak https",
        "write http:// instead of https://, or for a bucket an endpoint with http:// and allow_http=true",
    ),
    (
        BAD_SCHEME,
        ErrorKind::InvalidInput,
        "the endpoint has no encryption",
        "set allow_http=true if that is meant",
    ),
    (
        "certificate",
        ErrorKind::InvalidData,
        "the certificate of the server is not trusted",
        "check the name of the host",
    ),
    (
        NO_RANGES,
        ErrorKind::Unsupported,
        "the server does not answer with ranges of bytes",
        "download the file first",
    ),
    (
        "Connection refused",
        ErrorKind::ConnectionRefused,
        "no server answers there",
        "check host and port",
    ),
    (
        "dns error",
        ErrorKind::HostUnreachable,
        "there is no such host",
        "check its name, and the endpoint and region of a bucket",
    ),
    (
        "failed to lookup address",
        ErrorKind::HostUnreachable,
        "there is no such host",
        "check its name, and the endpoint and region of a bucket",
    ),
];

impl Failure {
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into().into(),
            is_conflict: false,
            fault: Fault::Request,
        }
    }

    /// Another writer was first.
    pub fn conflict(name: &str) -> Self {
        let text =
            format!("{name}: changed by another writer (open it again, and repeat the change)");
        Self {
            is_conflict: true,
            ..Self::new(ErrorKind::ResourceBusy, text)
        }
    }

    /// There is an object where a new one was wanted.
    pub fn exists(name: &str) -> Self {
        let text = format!("{name}: an object exists there (choose another name, or replace it)");
        Self::new(ErrorKind::AlreadyExists, text)
    }

    /// The store has kept another number of bytes than were sent.
    pub fn stored(name: &str, found: u64, expected: u64) -> Self {
        let text = format!(
            "{name}: the store has {found} bytes, not the {expected} that were sent (try again)"
        );
        Self::new(ErrorKind::Other, text)
    }

    /// The error of a store for a change at this URL.
    pub fn of_change(error: &object_store::Error, name: &str, secrets: &Secrets) -> Self {
        use object_store::Error as E;
        match error {
            E::Precondition { .. } => Self::conflict(name),
            E::AlreadyExists { .. } => Self::exists(name),
            E::NotImplemented { .. } | E::NotSupported { .. } => Self::new(
                ErrorKind::Unsupported,
                format!(
                    "{name}: this store cannot do that: {}",
                    secrets.redact(&error.to_string())
                ),
            ),
            E::PermissionDenied { .. } => Self::new(
                ErrorKind::PermissionDenied,
                format!(
                    "{name}: writing is denied (the credentials need the permission to put objects)"
                ),
            ),
            _ => Self::of(error, name, secrets),
        }
    }

    /// Whether the object does not exist.
    pub fn is_missing(&self) -> bool {
        self.kind == ErrorKind::NotFound
    }

    /// Whether the server does not support the operation.
    pub fn is_unsupported(&self) -> bool {
        self.kind == ErrorKind::Unsupported
    }

    /// Whether the server failed or did not answer in all attempts, so that other requests would fail as well.
    pub fn is_of_server(&self) -> bool {
        matches!(self.fault, Fault::Server | Fault::Internal)
    }

    /// Whether the server may answer for another object: it reported an internal error, not that it is busy.
    pub fn may_be_of_object(&self) -> bool {
        self.fault != Fault::Server
    }

    /// Whether the server forbids the request, as it may if the object does not exist.
    pub fn is_forbidden(&self) -> bool {
        self.fault == Fault::Forbidden
    }

    /// Whether the credentials are missing or insufficient.
    pub fn is_denied(&self) -> bool {
        self.kind == ErrorKind::PermissionDenied
    }

    /// The work ended before there was a result.
    pub fn ended() -> Self {
        let text = "the request was given up: the runtime of the object store has ended";
        Self::new(ErrorKind::Other, text)
    }

    /// The object is not the version of the first answer.
    pub fn changed(name: &str) -> Self {
        let text = format!("{name}: the object has changed while it was read (open it again)");
        Self {
            is_conflict: true,
            ..Self::new(ErrorKind::Other, text)
        }
    }

    /// An answer of another length than requested.
    pub fn wrong_length(name: &str, found: u64, expected: u64) -> Self {
        let text = format!("{name}: an answer of {found} bytes, not of {expected} (try again)");
        Self::new(ErrorKind::UnexpectedEof, text)
    }

    /// The error of a store for this URL.
    pub fn of(error: &object_store::Error, name: &str, secrets: &Secrets) -> Self {
        use object_store::Error as E;
        if let Some(hint) = no_credentials(error, name) {
            let what = format!("{name}: there are no credentials ({hint})");
            return Self::new(ErrorKind::PermissionDenied, what);
        }
        let (kind, what, hint) = match error {
            E::Precondition { .. } => return Self::changed(name),
            E::NotFound { .. } if !deepest(error).contains("NoSuchBucket") => (
                ErrorKind::NotFound,
                "there is no such object",
                "check the path",
            ),
            E::PermissionDenied { .. } => (
                ErrorKind::PermissionDenied,
                "access is denied",
                "the credentials need the permission to get and to list objects",
            ),
            E::Unauthenticated { .. } => (
                ErrorKind::PermissionDenied,
                "the server does not accept the credentials",
                "check them in the environment and in the options",
            ),
            E::InvalidPath { .. } => (
                ErrorKind::InvalidInput,
                "no object can have this path",
                "remove empty and dotted parts",
            ),
            E::UnknownConfigurationKey { .. } => (
                ErrorKind::InvalidInput,
                "there is no such option",
                "check its spelling",
            ),
            _ => (ErrorKind::Other, "the request failed", "try again"),
        };
        let fault = fault_of(error);
        let detail = secrets.redact(&told(&deepest(error)));
        let (kind, what, hint) = match words_for(error, name, &detail) {
            Some(words) => words,
            None if !matches!(fault, Fault::Server | Fault::Internal)
                && status_of(&detail).is_some() =>
            {
                (kind, what, "check the URL")
            }
            None => (kind, what, hint),
        };
        // "Not found" needs no details; the answer is often an HTML page.
        let detail = if kind == ErrorKind::NotFound {
            String::new()
        } else {
            format!(": {detail}")
        };
        Self {
            fault,
            ..Self::new(kind, format!("{name}: {what}{detail} ({hint})"))
        }
    }
}

/// The description and the advice for a mistake that is recognised by its message or its origin.
fn words_for(
    error: &object_store::Error,
    name: &str,
    detail: &str,
) -> Option<(ErrorKind, &'static str, &'static str)> {
    let mut texts = causes(error).map(ToString::to_string);
    // A web server is requested with the scheme of its URL.
    let is_redirect = texts.any(|text| text.contains("following redirect"))
        || (detail.contains(BAD_SCHEME) && name.starts_with("http"))
        || status_of(detail).is_some_and(|status| status.starts_with('3'));
    if is_redirect {
        let what = "the server leads to where nothing can be read";
        return Some((ErrorKind::Other, what, "check the URL"));
    }
    if detail.starts_with("Requested ") && detail.contains(", got ") {
        let what = "the server answers with another range";
        return Some((ErrorKind::Other, what, "download the file first"));
    }
    let known = KNOWN.iter().find(|(part, ..)| detail.contains(part))?;
    Some((known.1, known.2, known.3))
}

/// The status of an answer that is an error.
fn status_of(text: &str) -> Option<&str> {
    let (_, status) = text.split_once("non-2xx status code: ")?;
    status.get(..3)
}

/// Where a request has failed, after all attempts.
fn fault_of(error: &object_store::Error) -> Fault {
    if matches!(error, object_store::Error::PermissionDenied { .. }) {
        return Fault::Forbidden;
    }
    #[cfg(feature = "client")]
    {
        use object_store::client::{HttpError, HttpErrorKind as Kind};
        if let Some(error) = causes(error).find_map(|error| error.downcast_ref::<HttpError>()) {
            return match error.kind() {
                Kind::Decode | Kind::Unknown => Fault::Request,
                _ => Fault::Server,
            };
        }
    }
    let text = deepest(error);
    match status_of(&text) {
        Some("500") => Fault::Internal,
        Some("408" | "429") => Fault::Server,
        Some(status) if status.starts_with('5') => Fault::Server,
        // S3's other answer when it is busy.
        None if text.starts_with("Server returned error response") => Fault::Server,
        _ => Fault::Request,
    }
}

/// Whether the requested range is outside the object.
pub(crate) fn is_out_of_range(error: &object_store::Error) -> bool {
    let text = deepest(error);
    text.contains("status code: 416") || text.contains("but object was only")
}

/// Whether the server answers every range request with the whole object.
pub(crate) fn has_no_ranges(error: &object_store::Error) -> bool {
    deepest(error).contains(NO_RANGES)
}

/// Advice if the machine was asked for credentials of its own, as machines in clouds have them, and has none.
fn no_credentials(error: &object_store::Error, name: &str) -> Option<&'static str> {
    let is_asked =
        |text: String| text.contains("169.254.169.254") || text.contains("no credentials");
    causes(error).map(ToString::to_string).any(is_asked).then(|| match name.split(':').next() {
        Some("gs" | "gcs") => {
            "set GOOGLE_APPLICATION_CREDENTIALS to a file of keys, or skip_signature=true for a public bucket"
        }
        Some("s3" | "s3a") => {
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or skip_signature=true for a public bucket"
        }
        _ => {
            "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or skip_signature=true for a public container"
        }
    })
}

/// An error and all its sources.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}

/// The message of the innermost error.
fn deepest(error: &(dyn Error + 'static)) -> String {
    causes(error)
        .last()
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// Maximum number of characters of a message.
const MOST: usize = 240;

/// The message of a server in one line: code and message of an XML document, or else the beginning of the text.
fn told(text: &str) -> String {
    let of = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        rest.split_once(&format!("</{tag}>"))
            .map(|(inner, _)| inner)
    };
    let text = match (of("Code"), of("Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code.to_owned(),
        _ => text.to_owned(),
    };
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let line = words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", line.split_at(end).0),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(text: &str) -> object_store::Error {
        object_store::Error::Generic {
            store: "S3",
            source: text.into(),
        }
    }

    #[test]
    fn no_secret_is_in_a_message() {
        let secrets = Secrets::new(["hunter2secret".to_owned(), "true".to_owned()].into_iter());
        let text = "GET http://host/a?X-Amz-Signature=abc with hunter2secret: it is true";
        let text = Failure::of(&generic(text), "s3://b/k", &secrets).text;
        assert_eq!(
            &*text,
            "s3://b/k: the request failed: GET http://host/a?*** with ***: it is true (try again)"
        );
        assert!(!format!("{secrets:?}").contains("hunter2"));
    }

    #[test]
    fn answers_are_read_for_their_code() {
        let xml = "<?xml version=\"1.0\"?>\n<Error><Code>ExpiredToken</Code><Message>The token\nhas expired</Message>\
                   <Token>sesame</Token></Error>";
        let failure = Failure::of(&generic(xml), "s3://b/k", &Secrets::default());
        assert_eq!(failure.kind, ErrorKind::PermissionDenied);
        assert!(
            failure
                .text
                .contains("have expired: ExpiredToken: The token has expired (get new")
        );
        assert!(!failure.text.contains("sesame"));
        let long = "x".repeat(100_000);
        assert!(
            Failure::of(&generic(&long), "n", &Secrets::default())
                .text
                .len()
                < 400
        );
    }
}
