//! [`Key`]: a path below the root of a store.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A path below the root of a [`Store`](super::Store): names joined by `/`, none of them empty, `.` or `..`,
/// none with a separator or NUL in it. The empty key is the root itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Key(String);

/// No name of a file system is longer, in bytes.
const LONGEST_NAME: usize = 255;

impl Key {
    /// The root.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// What lies under this name in the folder of this key.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for what cannot be a name, or would lead elsewhere.
    pub fn join(&self, name: &str) -> io::Result<Self> {
        let is_odd = |c: char| matches!(c, '/' | '\\' | '\0') || (cfg!(windows) && c == ':');
        if name.is_empty() || name == "." || name == ".." || name.contains(is_odd) {
            let what = format!("{name:?} cannot be the name of a file");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        if name.len() > LONGEST_NAME {
            let what = format!(
                "a name of {} bytes: at most {LONGEST_NAME} can be",
                name.len()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(match self.0.as_str() {
            "" => Self(name.to_owned()),
            folder => Self(format!("{folder}/{name}")),
        })
    }

    /// The key of names joined by `/`.
    ///
    /// # Errors
    /// As [`join`](Self::join).
    pub fn parse(text: &str) -> io::Result<Self> {
        match text {
            "" => Ok(Self::root()),
            _ => text
                .split('/')
                .try_fold(Self::root(), |key, name| key.join(name)),
        }
    }

    /// The names, from the root on.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    /// The folder that it lies in, and its name there; nothing for the root.
    #[must_use]
    pub fn split(&self) -> Option<(Self, &str)> {
        match self.0.rsplit_once('/') {
            Some((folder, name)) => Some((Self(folder.to_owned()), name)),
            None if self.0.is_empty() => None,
            None => Some((Self::root(), &self.0)),
        }
    }

    /// Names joined by `/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&Key> for PathBuf {
    fn from(key: &Key) -> Self {
        Self::from(key.to_string())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
