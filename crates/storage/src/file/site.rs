//! [`FileSite`]: a file and the history beside it.

use crate::history::{Site, status_of};
use crate::{Access, FileStatus, Folder};
use std::ffi::{OsStr, OsString};
use std::io;

/// A file in its folder.
pub(super) struct FileSite<'a, D: Folder> {
    pub folder: &'a D,
    pub name: &'a OsStr,
    pub file: &'a D::File,
}

impl<D: Folder> Site for FileSite<'_, D> {
    type File = D::File;

    fn handle(&self) -> &D::File {
        self.file
    }

    fn status(&self) -> io::Result<FileStatus> {
        status_of(self.file)
    }

    fn open_history(&self, access: Access) -> io::Result<D::File> {
        self.folder.open(&history_name(self.name), access)
    }

    fn create_history(&self) -> io::Result<D::File> {
        let name = history_name(self.name);
        let created = self.folder.create(&name, Some(self.file));
        created.map_err(|error| {
            let what = format!("{}, for readers of the file: {error}", name.display());
            io::Error::new(error.kind(), what)
        })
    }

    fn remove_history(&self) -> io::Result<()> {
        self.folder.remove(&history_name(self.name))
    }
}

/// The name of the history of a file.
pub(super) fn history_name(name: &OsStr) -> OsString {
    let mut name = name.to_owned();
    name.push(".blpk-history");
    name
}
