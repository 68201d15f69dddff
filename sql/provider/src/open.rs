//! [`OpenedBy`]: how an input was opened, so that another process can open it, too.

use bloscpack::Result;
use bloscpack::open::{Container, OpenOptions};
#[cfg(feature = "remote")]
use bloscpack_remote::{Remote, RemoteOptions};
use std::fmt;
use std::path::Path;
#[cfg(feature = "remote")]
use std::sync::{Arc, OnceLock};

/// How tables are opened.
#[derive(Debug, Clone, Default)]
pub struct TableOptions {
    /// All tables share its connections and its cache. It is made for the first URL.
    #[cfg(feature = "remote")]
    remote: Arc<OnceLock<Remote>>,
}

impl TableOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens URLs with this one, instead of one with the default options.
    #[cfg(feature = "remote")]
    #[must_use]
    pub fn remote(mut self, remote: Remote) -> Self {
        self.remote = Arc::new(OnceLock::from(remote));
        self
    }

    #[cfg(feature = "remote")]
    fn shared_remote(&self) -> Result<&Remote> {
        if self.remote.get().is_none() {
            // If several threads come here at once, the one of the first is kept.
            let _ = self.remote.set(Remote::new(RemoteOptions::new())?);
        }
        let remote = self.remote.get();
        remote.ok_or_else(|| bloscpack::Error::bug("no thread for requests"))
    }
}

/// The path or URL of an input, with what it takes to open it.
#[derive(Debug, Clone)]
pub(crate) struct OpenedBy {
    location: String,
    options: TableOptions,
}

impl OpenedBy {
    pub(crate) fn new(location: &str, options: &TableOptions) -> Self {
        Self {
            location: location.to_owned(),
            options: options.clone(),
        }
    }

    /// Opens the input. Partitions are read by threads of their own, so that each chunk is decompressed by one.
    pub(crate) fn open(&self) -> Result<Box<dyn Container>> {
        let options = OpenOptions::new().threads(1);
        #[cfg(feature = "remote")]
        if bloscpack_remote::is_url(&self.location) {
            let remote = self.options.shared_remote()?;
            return remote.open(&self.location, &options);
        }
        let path = self
            .location
            .strip_prefix("file://")
            .unwrap_or(&self.location);
        bloscpack::open::open(Path::new(path), &options)
    }
}

impl fmt::Display for OpenedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The part after ? may be a signature.
        f.write_str(self.location.split('?').next().unwrap_or_default())
    }
}
