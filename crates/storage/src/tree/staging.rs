//! [`Staging`]: the folder `.blpk` of a store.

use super::Key;
use super::errors::invalid;
use crate::journal::Salt;
use std::ffi::OsStr;
use std::io;

/// The folder below the root with the journal and the staged files.
const FOLDER: &str = ".blpk";
const JOURNAL: &str = "journal";
const HISTORY: &str = "history";
/// Hexadecimal digits of a salt.
const SALT_LEN: usize = 32;

/// The keys that one writer uses for its changes.
///
/// ```text
/// .blpk/journal        a change that is committed, but not complete
/// .blpk/history        what commits have overwritten, for readers
/// .blpk/SALT-NUMBER    a staged file, under a name that no other journal refers to
/// ```
#[derive(Debug, Clone)]
pub(super) struct Staging {
    pub folder: Key,
    pub journal: Key,
    pub history: Key,
    pub salt: Salt,
}

impl Staging {
    pub(super) fn new(salt: Salt) -> io::Result<Self> {
        let folder = Key::root().join(FOLDER)?;
        let journal = folder.join(JOURNAL)?;
        let history = folder.join(HISTORY)?;
        Ok(Self {
            folder,
            journal,
            history,
            salt,
        })
    }

    /// The key of the staged file with this number.
    pub(super) fn key(&self, number: u64) -> io::Result<Key> {
        self.folder.join(&format!("{}-{number}", self.salt.text()))
    }

    /// The number of a staged file with this salt; `None` for other names.
    pub(super) fn number_of(&self, name: &OsStr) -> Option<u64> {
        let (salt, number) = parts(name)?;
        let number = number.parse().ok()?;
        (salt == self.salt.text()).then_some(number)
    }
}

/// Whether this is the name of any writer's staged file.
pub(super) fn is_staged(name: &OsStr) -> bool {
    parts(name).is_some_and(|(salt, number)| {
        let hex = salt.bytes().all(|c| c.is_ascii_hexdigit());
        hex && salt.len() == SALT_LEN && number.parse::<u64>().is_ok()
    })
}

fn parts(name: &OsStr) -> Option<(&str, &str)> {
    name.to_str()?.split_once('-')
}

/// Whether a name below the root is that of the staging folder, also on file systems that ignore case.
pub(super) fn is_staging_folder(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(FOLDER)
}

/// Refuses the root and all keys in the staging folder, which neither a journal nor a caller may change.
pub(super) fn check_changeable(key: &Key) -> io::Result<()> {
    match key.names().next() {
        None => Err(invalid(key, "the root always exists")),
        Some(name) if is_staging_folder(OsStr::new(name)) => {
            Err(invalid(key, "this name is reserved for the journal"))
        }
        Some(_) => Ok(()),
    }
}
