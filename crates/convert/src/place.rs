//! [`Conversion::run`]: outputs that appear complete or not at all.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use bloscpack_error::{Error, IoSide as _, Result, Side};
use bloscpack_open::{Container, stores::EMBED_FILE};
use bloscpack_storage::{Disk, Folder as _, internal::sync_file, zip_folder};

use crate::{Conversion, Goal, Made, Output, StoreForm, Warn};

impl Conversion {
    /// Makes the output at a path. It appears there when it is complete and synced; until then it is in a temporary folder
    /// beside the path, which is removed after an error.
    ///
    /// With [`replace`](Self::replace), an existing file, or a dataset where a dataset is made, is replaced in one step.
    /// Nothing else is ever replaced.
    ///
    /// # Errors
    /// Returns the errors of [`make`](Self::make) and [`write`](Self::write), and an I/O error of the kind
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) for a path that exists.
    pub fn run(&self, source: &dyn Container, path: &Path, warn: &Warn<'_>) -> Result<Made> {
        self.check(source)?;
        let is_file = self.goal.is_written()
            || matches!(self.goal, Goal::Store(StoreForm::Archive))
            || (matches!(self.goal, Goal::Frame(_)) && !self.storage.sparse);
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).writing(),
            Ok(found) if self.replace && is_file && found.is_file() => {}
            Ok(found) if self.replace && found.is_dir() && self.is_dataset(source) => {
                return self.make(source, path, warn);
            }
            Ok(found) => {
                let error = Error::from(io::Error::from(io::ErrorKind::AlreadyExists));
                let can_be_replaced = !self.replace
                    && if is_file {
                        found.is_file()
                    } else {
                        self.is_dataset(source)
                    };
                let hint = if can_be_replaced {
                    "set `replace` to replace it"
                } else {
                    "choose another name, or remove it"
                };
                return Err(error.on(Side::Target).in_file(path).with_hint(hint));
            }
        }
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let temporary = tempfile::Builder::new()
            .prefix(".bloscpack-")
            .tempdir_in(folder)
            .writing()?;
        let mut new = temporary.path().join("made");
        let made = if self.goal.is_written() {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .open(&new);
            self.write(source, Output::File(&mut file.writing()?), warn)?
        } else {
            if !matches!(self.goal, Goal::Frame(_)) || self.storage.sparse {
                fs::create_dir(&new).writing()?;
            }
            self.make(source, &new, warn)?
        };
        if matches!(self.goal, Goal::Store(StoreForm::Archive)) {
            let archive = temporary.path().join("archive");
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create_new(true);
            zip_folder(&new, EMBED_FILE, &file.open(&archive).writing()?).writing()?;
            new = archive;
        }
        if is_file {
            sync_file(&fs::File::open(&new).writing()?).writing()?;
        }
        fs::rename(&new, path).writing()?;
        Disk::new(folder).sync().writing()?;
        Ok(made)
    }

    /// Whether a single dataset is made, and not a folder of datasets.
    fn is_dataset(&self, source: &dyn Container) -> bool {
        matches!(self.goal, Goal::Dataset(_)) && !self.is_tree(source)
    }
}
