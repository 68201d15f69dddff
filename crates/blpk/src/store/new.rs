//! A new store, which appears under its name only when it is complete.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use bloscpack::Error;
use bloscpack::storage::zip_folder;
use bloscpack_open::stores::EMBED_FILE;

use crate::dataset::new::{NewDataset, file_permissions, refuse_within};
use crate::failure::Failure;
use crate::interrupt;
use crate::layout::StoreForm;
use crate::output::{Output, Replaces, WorkDir};
use crate::session::Session;

/// The names of a directory that becomes an archive, and of the archive, while they are made.
const FOLDER: &str = "store";
const ARCHIVE: &str = "archive";

/// A store that is being made in a directory.
pub enum NewStore<'a> {
    /// It becomes an archive.
    Archive(Box<Output>, WorkDir),
    /// It is the directory.
    Folder(NewDataset<'a>),
}

impl<'a> NewStore<'a> {
    /// Begins a store at `path`, made from what is at `input`. If that is private, so is the store.
    pub fn begin(
        path: &'a Path,
        input: &Path,
        form: StoreForm,
        session: &Session,
    ) -> Result<Self, Failure> {
        if form == StoreForm::Folder {
            return NewDataset::begin_store(path, input, session).map(Self::Folder);
        }
        refuse_within(path, input)?;
        let permissions = file_permissions(input);
        let replaces = Replaces::Compressed;
        let output = Output::create_with(permissions, replaces, path, &[], session)?;
        Self::archive(output.spare_terminal(session)?)
    }

    /// Begins a store that replaces the one at `path`, which it is made from.
    pub fn replace(path: &'a Path, form: StoreForm) -> Result<Self, Failure> {
        match form {
            StoreForm::Folder => NewDataset::replace_store(path).map(Self::Folder),
            StoreForm::Archive => Self::archive(Output::replacing(path)?),
        }
    }

    fn archive(output: Output) -> Result<Self, Failure> {
        let made = output.work_dir().and_then(|dir| {
            std::fs::create_dir(dir.path().join(FOLDER))?;
            Ok(dir)
        });
        let dir = made.map_err(|error| Failure::io(output.name(), &error))?;
        Ok(Self::Archive(Box::new(output), dir))
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Archive(output, _) => output.name().to_owned(),
            Self::Folder(new) => new.name(),
        }
    }

    /// The directory in which it is made.
    pub fn folder(&self) -> PathBuf {
        match self {
            Self::Archive(_, dir) => dir.path().join(FOLDER),
            Self::Folder(new) => new.folder().to_owned(),
        }
    }

    /// The failure to make it.
    pub fn failed(&self, error: &Error) -> Failure {
        let name = self.name();
        self.failed_from(&name, error)
    }

    /// The failure to make it from `source`, by the side of the error.
    pub fn failed_from(&self, source: &str, error: &Error) -> Failure {
        self.unfinished(Failure::between(error, source, &self.name()))
    }

    /// Adds to a failure what has become of the store.
    pub fn unfinished(&self, failure: Failure) -> Failure {
        match self {
            Self::Archive(output, _) => output.unfinished(failure),
            Self::Folder(new) => new.unfinished(failure),
        }
    }

    /// Gives it its name, since it is complete.
    pub fn commit(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Folder(new) => new.commit(session),
            Self::Archive(mut output, dir) => {
                let packed = pack(dir.path());
                let adopted = packed.and_then(|archive| output.adopt(&archive));
                if let Err(error) = adopted {
                    return Err(output.failed(&error));
                }
                if interrupt::is_requested() {
                    return Err(output.unfinished(Failure::interrupted()));
                }
                output.commit().map(|_| ())
            }
        }
    }
}

/// Packs the directory into an archive beside it.
fn pack(dir: &Path) -> io::Result<PathBuf> {
    let path = dir.join(ARCHIVE);
    let mut options = File::options();
    let archive = options
        .create_new(true)
        .read(true)
        .write(true)
        .open(&path)?;
    zip_folder(&dir.join(FOLDER), EMBED_FILE, &archive)?;
    Ok(path)
}
