//! [`Key`]: a path below the root of a store.

use crate::windows_name;
use std::ffi::OsStr;
use std::fmt;
use std::io;

/// A path below the root of a [`Store`](crate::Store): names joined by `/`. The empty key is the root.
///
/// No name is empty, `.` or `..`, contains `/`, `\` or NUL, or is longer than 255 bytes, so a key never points
/// outside its store. On Windows, names with a special meaning are refused, too: `CON`, `a:b`, or a name that
/// ends with a dot.
///
/// Keys are case-sensitive and ordered by their bytes. Making a key does not access the store.
///
/// ```
/// use bloscpack_storage::Key;
/// let key = Key::parse("meta")?.join("sizes")?;
/// assert_eq!(key.as_str(), "meta/sizes");
/// assert_eq!(key.split(), Some((Key::parse("meta")?, "sizes")));
/// assert!(Key::parse("meta/../..").is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Key(String);

/// Maximum length of a file name in bytes, on all common file systems.
const MAX_NAME_LEN: usize = 255;

impl Key {
    /// The root: the empty key.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The key of `name` in this folder.
    ///
    /// # Errors
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) for an invalid name.
    pub fn join(&self, name: &str) -> io::Result<Self> {
        if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\', '\0']) {
            let what = format!("{name:?} is not a valid file name");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        if cfg!(windows) {
            windows_name::check(name)?;
        }
        if name.len() > MAX_NAME_LEN {
            let len = name.len();
            let what = format!("file name of {len} bytes, over the limit of {MAX_NAME_LEN}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(match self.0.as_str() {
            "" => Self(name.to_owned()),
            folder => Self(format!("{folder}/{name}")),
        })
    }

    /// The key of names joined by `/`; the root for an empty text.
    ///
    /// # Errors
    /// Returns the errors of [`join`](Self::join).
    pub fn parse(text: &str) -> io::Result<Self> {
        match text {
            "" => Ok(Self::root()),
            _ => text
                .split('/')
                .try_fold(Self::root(), |key, name| key.join(name)),
        }
    }

    /// The names from the root down; none for the root.
    ///
    /// ```
    /// use bloscpack_storage::Key;
    /// assert!(Key::parse("data/__0.blp")?.names().eq(["data", "__0.blp"]));
    /// assert_eq!(Key::root().names().count(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    /// The folder and the name of this key; `None` for the root.
    #[must_use]
    pub fn split(&self) -> Option<(Self, &str)> {
        match self.0.rsplit_once('/') {
            Some((folder, name)) => Some((Self(folder.to_owned()), name)),
            None if self.0.is_empty() => None,
            None => Some((Self::root(), &self.0)),
        }
    }

    /// The names joined by `/`; empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<OsStr> for Key {
    fn as_ref(&self) -> &OsStr {
        self.0.as_ref()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
