//! [`OpenedBy`]: how an input was opened, so that it can be opened again.

use crate::version::Version;
use bloscpack::error::IoSide as _;
use bloscpack::{Error, Result};
use bloscpack_open::{Container, Options};
#[cfg(feature = "remote")]
use bloscpack_remote::{Found, Remote, RemoteOptions};
use std::fmt;
use std::path::Path;
#[cfg(feature = "remote")]
use std::sync::{Arc, OnceLock};

/// Options for opening tables.
#[derive(Debug, Clone, Default)]
pub struct TableOptions {
    /// Made for the first URL. All tables share its connections and its cache.
    #[cfg(feature = "remote")]
    remote: Arc<OnceLock<Remote>>,
    pub(crate) is_shared: bool,
    pub(crate) nan_as_null: bool,
}

impl TableOptions {
    /// The default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens URLs with this `Remote` instead of one with default options.
    #[cfg(feature = "remote")]
    #[must_use]
    pub fn remote(mut self, remote: Remote) -> Self {
        self.remote = Arc::new(OnceLock::from(remote));
        self
    }

    /// Opens tables that other processes read as well, by a [`plan`](crate::plan) that is sent to them. All processes read
    /// the current version of the data, and return an error after it has changed. Text columns are `Utf8` instead of
    /// `Utf8View`, because batches with views cannot be sent in parts.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.is_shared = true;
        self
    }

    /// Reads NaN as null in data that does not itself mark NaN as a missing value.
    #[must_use]
    pub fn nan_as_null(mut self) -> Self {
        self.nan_as_null = true;
        self
    }

    #[cfg(feature = "remote")]
    fn shared_remote(&self) -> Result<&Remote> {
        if self.remote.get().is_none() {
            // If several threads arrive at once, the first one's is kept.
            let _ = self.remote.set(Remote::new(RemoteOptions::new())?);
        }
        let remote = self.remote.get();
        remote.ok_or_else(|| Error::bug("no thread for requests"))
    }
}

/// The path or URL of an input, and the options to open it.
#[derive(Debug, Clone)]
pub(crate) struct OpenedBy {
    location: String,
    options: TableOptions,
    /// The version that was opened, if other processes read it as well.
    version: Option<Version>,
}

impl OpenedBy {
    /// Opens an input. Each partition is read by a thread of its own, so each chunk is decompressed on one thread.
    pub(crate) fn open(
        location: &str,
        options: &TableOptions,
    ) -> Result<(Self, Box<dyn Container>)> {
        let mut opened_by = Self {
            location: location.to_owned(),
            options: options.clone(),
            version: None,
        };
        if options.is_shared
            && let Some(path) = opened_by.path()
        {
            let path = std::path::absolute(path).reading()?;
            let text = path.to_str().map(str::to_owned);
            opened_by.location = text.ok_or_else(|| {
                Error::usage(format!("'{}' is not text in UTF-8", path.display()))
            })?;
        }
        let (container, version) = opened_by.open_now()?;
        opened_by.version = version;
        Ok((opened_by, container))
    }

    /// An input that another process has opened.
    ///
    /// # Errors
    /// Returns an error for a relative path.
    pub(crate) fn planned(
        location: String,
        version: Version,
        nan_as_null: bool,
        options: &TableOptions,
    ) -> Result<Self> {
        let mut options = options.clone().shared();
        options.nan_as_null = nan_as_null;
        let opened_by = Self {
            location,
            options,
            version: Some(version),
        };
        if opened_by.path().is_some_and(|path| !path.is_absolute()) {
            Err(Error::usage(format!("'{opened_by}' is a relative path")))
        } else {
            Ok(opened_by)
        }
    }

    /// Opens the same input again.
    ///
    /// # Errors
    /// Returns the errors of opening, and an error if the input now has another version.
    pub(crate) fn reopen(&self) -> Result<Box<dyn Container>> {
        let (container, version) = self.open_now()?;
        if version == self.version {
            Ok(container)
        } else {
            Err(self.has_changed())
        }
    }

    /// Checks that the data read so far has the version that was opened.
    ///
    /// # Errors
    /// Returns an error if it may have another version.
    pub(crate) fn check(&self) -> Result<()> {
        // Requests to stores are conditional, so they need no check.
        match (self.path(), self.version) {
            (Some(path), Some(version)) if Version::of_path(path)? != version => {
                Err(self.has_changed())
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    pub(crate) fn version(&self) -> Option<Version> {
        self.version
    }

    /// Whether NaN is read as null.
    pub(crate) fn is_nan_null(&self) -> bool {
        self.options.nan_as_null
    }

    fn has_changed(&self) -> Error {
        let what = "the data has changed since the query was planned (run it again)";
        Error::from(std::io::Error::other(what))
    }

    /// The path, if this is not a URL.
    fn path(&self) -> Option<&Path> {
        #[cfg(feature = "remote")]
        if bloscpack_remote::is_url(&self.location) {
            return None;
        }
        let path = self.location.strip_prefix("file://");
        Some(Path::new(path.unwrap_or(&self.location)))
    }

    fn open_now(&self) -> Result<(Box<dyn Container>, Option<Version>)> {
        let options = Options::new().threads(1);
        if let Some(path) = self.path() {
            // `check` finds a change after this point.
            let version = self.options.is_shared.then(|| Version::of_path(path));
            let version = version.transpose()?;
            return Ok((bloscpack_open::open(path, &options)?, version));
        }
        #[cfg(feature = "remote")]
        return self.open_url(&options);
        #[cfg(not(feature = "remote"))]
        Err(Error::bug("a URL"))
    }

    #[cfg(feature = "remote")]
    fn open_url(&self, options: &Options) -> Result<(Box<dyn Container>, Option<Version>)> {
        use bloscpack_open::{open_source, open_store, open_within};
        let remote = self.options.shared_remote()?;
        Ok(match remote.find(&self.location).reading()? {
            Found::Object(object) => {
                let version = Version::of([object.version().reading()?]);
                (open_source(object, options)?, Some(version))
            }
            Found::Within(object, path) => {
                let version = Version::of([object.version().reading()?]);
                (open_within(object, &path, options)?, Some(version))
            }
            Found::Folder(store) => {
                let version = store.versions().map(Version::of);
                if self.options.is_shared && version.is_none() {
                    return Err(Error::usage(
                        "a folder on a plain HTTP server has no listing that shows whether it has changed \
                         (a cluster reads single files there, such as ZIP archives, and folders of object stores)",
                    ));
                }
                (open_store(store, options)?, version)
            }
        })
    }
}

impl fmt::Display for OpenedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The part after ? may contain a signature.
        f.write_str(self.location.split('?').next().unwrap_or_default())
    }
}
