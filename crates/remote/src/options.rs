//! [`RemoteOptions`]: access, retries and memory.

use std::fmt;
use std::time::Duration;

/// How object stores are accessed, and how much memory their objects may take.
///
/// Options of stores are those of the crate `object_store`, such as `region`, `endpoint`, `access_key_id` or
/// `allow_http`. They take precedence over the environment. [`Debug`](fmt::Debug) shows only the values of
/// options that are not secret.
///
/// ```
/// use bloscpack_remote::RemoteOptions;
/// let options = RemoteOptions::new()
///     .set("endpoint", "http://127.0.0.1:9000")
///     .set("secret_access_key", "open sesame")
///     .cache(128 << 20);
/// assert!(!format!("{options:?}").contains("sesame"));
/// ```
#[derive(Clone)]
pub struct RemoteOptions {
    pub(crate) store: Vec<(String, String)>,
    pub(crate) uses_environment: bool,
    pub(crate) retries: usize,
    pub(crate) retry_timeout: Duration,
    pub(crate) cache: u64,
    pub(crate) window: u64,
    pub(crate) requests: usize,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self {
            store: Vec::new(),
            uses_environment: true,
            retries: 8,
            retry_timeout: Duration::from_secs(60),
            cache: 64 << 20,
            window: 32 << 20,
            requests: 32,
        }
    }
}

impl RemoteOptions {
    /// The defaults: options from the environment, 8 retries within a minute, a cache of 64 MiB of which half
    /// may be fetched ahead, and 32 requests at once.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an option of the store. A later value for the same key replaces an earlier one. An unknown key is
    /// an error when a URL is opened.
    #[must_use]
    pub fn set(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.store.push((key.into(), value.into()));
        self
    }

    /// Whether credentials and other options may come from environment variables such as `AWS_ACCESS_KEY_ID`:
    /// true by default.
    #[must_use]
    pub fn environment(mut self, uses: bool) -> Self {
        self.uses_environment = uses;
        self
    }

    /// How often a request is repeated after a temporary failure (429, 5xx, a lost connection, a cut or late
    /// answer), and for how long in all: 8 times within a minute by default, with growing pauses. After the
    /// last failure, everything that was opened with the same call fails with the same error, without a
    /// request, for `within` once more.
    #[must_use]
    pub fn retries(mut self, most: usize, within: Duration) -> Self {
        (self.retries, self.retry_timeout) = (most, within);
        self
    }

    /// Bytes of objects kept in memory: 64 MiB by default, at least 4 MiB. Half of them may be fetched ahead.
    #[must_use]
    pub fn cache(mut self, bytes: u64) -> Self {
        self.cache = bytes.max(4 << 20);
        self.window = self.cache / 2;
        self
    }

    /// How many requests are made at once: 32 by default, at least one.
    #[must_use]
    pub fn requests(mut self, most: usize) -> Self {
        self.requests = most.max(1);
        self
    }
}

/// Keys whose values are not secret.
const PUBLIC: [&str; 8] = [
    "allow_http",
    "bucket",
    "endpoint",
    "region",
    "skip_signature",
    "timeout",
    "virtual_hosted_style_request",
    "account_name",
];

/// Whether the value of an option may be shown.
pub(crate) fn is_public(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    PUBLIC
        .iter()
        .any(|public| key == *public || key.ends_with(&format!("_{public}")))
}

impl fmt::Debug for RemoteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(key, value): &(String, String)| {
            if is_public(key) {
                format!("{key}={value}")
            } else {
                format!("{key}=***")
            }
        };
        f.debug_struct("RemoteOptions")
            .field("store", &self.store.iter().map(shown).collect::<Vec<_>>())
            .field("uses_environment", &self.uses_environment)
            .field("retries", &self.retries)
            .field("retry_timeout", &self.retry_timeout)
            .field("cache", &self.cache)
            .field("requests", &self.requests)
            .finish_non_exhaustive()
    }
}
