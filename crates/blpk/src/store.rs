//! Stores of python-blosc2: tables and trees of arrays in a directory or a ZIP archive.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use bloscpack::{
    Compressor,
    storage::{DiskStore, ZipStore},
};
use bloscpack_open::{
    exchange::{Schema, UserAttributes, store_columns},
    frames::NdArrayBuilder,
    stores::{EMBED_FILE, TableWriter, unpack_store},
};

use crate::args::with_given;
use crate::dataset::storage_args::StorageArgs;
use crate::failure::{About as _, Failure};
use crate::interrupt;
use crate::layout::StoreForm;
use crate::output::{FolderKind, Target};
use crate::session::{LOCK_TIMEOUT, Session};
use crate::status::Status;
use crate::text::quoted;

/// How long to wait before another attempt to lock a store.
const PAUSE: Duration = Duration::from_millis(50);

/// Why an attribute does not become a metalayer.
pub const NO_LAYER: &str =
    "metalayers have names of at most 31 bytes, and integers of at most 64 bits";

/// Warns about metadata that a target does not store.
pub fn warn_about_lost(names: &[String], why: &str, name: &str, session: &Session) {
    if !names.is_empty() {
        let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        let names = names.join(", ");
        session.warning(format_args!(
            "{name}: its metadata {names} is dropped: {why}"
        ));
    }
}

/// Warns about time zones, which only tables of python-blosc2, Arrow and Parquet store.
pub fn warn_about_zones(schema: &Schema, name: &str, session: &Session) {
    for column in &schema.columns {
        if let Some(zone) = &column.zone {
            session.warning(format_args!(
                "{name}: the time zone {zone} of column {} is dropped; its times are in UTC",
                column.name
            ));
        }
    }
}

/// How the arrays of a store are compressed.
fn settings(
    storage: &StorageArgs,
    session: &Session,
) -> impl Fn(NdArrayBuilder) -> NdArrayBuilder + Send + Sync + 'static {
    let compressor = storage.codec.codec.unwrap_or(Compressor::Zstd);
    let level = storage.codec.level();
    let level = level.unwrap_or_else(|| compressor.default_level());
    let filter = storage.filter.filter();
    let options = session.array_options();
    move |array| {
        let array = array.compressor(compressor).level(level);
        with_given!(array, filters: filter).options(options.clone())
    }
}

/// Begins a store at `path`, made from what is at `input`. The target has an empty folder for it.
pub fn new_target(
    path: &Path,
    input: &Path,
    form: StoreForm,
    session: &Session,
) -> Result<Target, Failure> {
    match form {
        StoreForm::Folder => Target::folder(path, FolderKind::Store, input, session),
        StoreForm::Archive => with_folder(Target::file_at_path(path, input, session)?),
    }
}

/// The same target with an empty folder, which is to become an archive.
fn with_folder(target: Target) -> Result<Target, Failure> {
    fs::create_dir(target.path()).about(target.name())?;
    Ok(target)
}

/// Begins a table for these columns. Text has any length, unless its length is to stay.
pub fn new_table(
    new: &Target,
    schema: &Schema,
    keeps_length: impl Fn(&str) -> bool,
    storage: &StorageArgs,
    session: &Session,
) -> Result<TableWriter, Failure> {
    let columns = store_columns(schema, keeps_length).about(new)?;
    let rows = storage.chunklen.map(|rows| u32::try_from(rows.get()));
    let rows = rows
        .transpose()
        .map_err(|_| Failure::usage("--chunklen: so many rows do not fit in a chunk"))?;
    let settings = settings(storage, session);
    let (attributes, lost) = UserAttributes::values(&schema.attributes);
    warn_about_lost(&lost, NO_LAYER, new.name(), session);
    let table = TableWriter::create(new.path(), &columns, rows, settings);
    table.map(|table| table.attributes(attributes)).about(new)
}

/// A store that is replaced by a changed copy, locked against other changes by this command.
pub struct HeldStore<'a> {
    path: &'a Path,
    form: StoreForm,
    /// The archive, or the file at the root of the directory. It is locked until this is dropped.
    file: File,
}

impl<'a> HeldStore<'a> {
    /// Waits until no one else changes the store.
    pub fn begin(path: &'a Path) -> Result<Self, Failure> {
        let form = if path.is_dir() {
            StoreForm::Folder
        } else {
            StoreForm::Archive
        };
        let begun = Instant::now();
        loop {
            if let Some(file) = locked(&root(path, form)).about(path)? {
                return Ok(Self { path, form, file });
            }
            if interrupt::is_requested() {
                return Err(Failure::interrupted());
            }
            if begun.elapsed() > LOCK_TIMEOUT {
                let title = format!("{} is being changed by another process", quoted(path));
                return Err(Failure::new(Status::Failed, title));
            }
            sleep(PAUSE);
        }
    }

    /// Copies it into a new store, which is to replace it.
    pub fn copy(&self) -> Result<Target, Failure> {
        let target = Target::replacing(self.path)?;
        let target = match self.form {
            StoreForm::Folder => target,
            StoreForm::Archive => with_folder(target)?,
        };
        let copy = || -> bloscpack::Result<()> {
            match self.form {
                StoreForm::Folder => unpack_store(&DiskStore::open(self.path)?, target.path()),
                StoreForm::Archive => {
                    unpack_store(&ZipStore::open(self.file.try_clone()?)?, target.path())
                }
            }
        };
        copy().about(&target.made_from(&self.path))?;
        Ok(target)
    }

    /// Puts the new store in its place, unless another program has changed the old one meanwhile.
    pub fn replace(self, new: Target, session: &Session) -> Result<(), Failure> {
        let state = |metadata: Metadata| Ok((metadata.len(), metadata.modified()?));
        let before = self.file.metadata().and_then(state).about(self.path);
        let now = root(self.path, self.form).metadata().and_then(state);
        if before.about(&new)? != now.about(self.path).about(&new)? {
            let title = format!("{} was changed by another program", quoted(self.path));
            return Err(Failure::new(Status::Failed, title)).about(&new);
        }
        // Windows does not replace what is open.
        let _locked = Some(self.file).filter(|_| cfg!(not(windows)));
        new.commit(session).map(|_| ())
    }
}

/// The file that is locked for a store.
fn root(path: &Path, form: StoreForm) -> PathBuf {
    match form {
        StoreForm::Archive => path.to_owned(),
        StoreForm::Folder => path.join(EMBED_FILE),
    }
}

/// The file, as one that others may only read: a lock would keep away this process, too. `None` if another process
/// has it.
#[cfg(windows)]
fn locked(path: &Path) -> io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt;
    const SHARE_READ: u32 = 1;
    const SHARING_VIOLATION: i32 = 32;
    let mut options = File::options();
    options.read(true).write(true).share_mode(SHARE_READ);
    match options.open(path) {
        Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Ok(None),
        opened => opened.map(Some),
    }
}

/// The file, locked; `None` if another process has it, or has replaced it.
#[cfg(not(windows))]
fn locked(path: &Path) -> io::Result<Option<File>> {
    use same_file::Handle;
    use std::fs::TryLockError;
    let file = File::open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        // Where there are no locks, others are not known either.
        Err(TryLockError::Error(_)) => return Ok(Some(file)),
    }
    let is_same = Handle::from_file(file.try_clone()?)? == Handle::from_path(path)?;
    Ok(is_same.then_some(file))
}
