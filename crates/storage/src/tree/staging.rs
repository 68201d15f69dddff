//! [`Own`]: where in a store lies what belongs to its changes.

use super::Key;
use crate::journal::Salt;
use std::ffi::OsStr;
use std::io;

/// The folder at the root with all that is not the dataset's.
const FOLDER: &str = ".blpk";
const JOURNAL: &str = "journal";
/// Hexadecimal digits of a salt.
const SALT_LEN: usize = 32;

/// The keys of what one writer stages.
///
/// ```text
/// .blpk/journal        a change that is made, but not yet everywhere
/// .blpk/SALT-NUMBER    a file to be, under a name that no other journal knows
/// ```
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub folder: Key,
    pub journal: Key,
    pub salt: Salt,
}

impl Own {
    pub(super) fn new(salt: Salt) -> io::Result<Self> {
        let folder = Key::root().join(FOLDER)?;
        let journal = folder.join(JOURNAL)?;
        Ok(Self {
            folder,
            journal,
            salt,
        })
    }

    /// Where the file of this number is staged.
    pub(super) fn staged(&self, number: u64) -> io::Result<Key> {
        self.folder.join(&format!("{}-{number}", self.salt.text()))
    }

    /// The number of a staged file of this salt.
    pub(super) fn number_of(&self, name: &OsStr) -> Option<u64> {
        let (salt, number) = parts(name)?;
        let number = number.parse().ok()?;
        (salt == self.salt.text()).then_some(number)
    }
}

/// Whether a file of this name is what some writer has staged.
pub(super) fn is_staged(name: &OsStr) -> bool {
    parts(name).is_some_and(|(salt, number)| {
        let hex = salt.bytes().all(|c| c.is_ascii_hexdigit());
        hex && salt.len() == SALT_LEN && number.parse::<u64>().is_ok()
    })
}

fn parts(name: &OsStr) -> Option<(&str, &str)> {
    name.to_str()?.split_once('-')
}

/// Whether a name at the root is that of our folder, in a file system that does not tell cases apart, too.
pub(super) fn is_own_folder(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(FOLDER)
}

/// Refuses keys in our folder, which no journal and no caller may change.
pub(super) fn check(key: &Key) -> io::Result<()> {
    match key.names().next() {
        None => Err(invalid(key, "the root is always there")),
        Some(name) if is_own_folder(OsStr::new(name)) => Err(invalid(
            key,
            "it is where changes are kept that are under way",
        )),
        Some(_) => Ok(()),
    }
}

pub(super) fn invalid(key: &Key, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{key}: {what}"))
}
