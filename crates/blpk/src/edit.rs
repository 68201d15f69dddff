//! Files and datasets that are changed in place.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bloscpack::{
    Category, Decoder, Error, Options,
    edit::{Editor, EditorBuilder, RecordEditor},
    error::Side,
    storage::{Snapshot, SourceReader},
};
use bloscpack_open::{
    Family,
    datasets::{CTable, Dataset},
    internal::locate_store,
    probe,
};
use same_file::Handle;

use crate::dataset::no_columns;
use crate::failure::{About as _, Directory, Failure, RECOVER, Subject, io_error, is_busy};
use crate::frame;
use crate::input::{self, COMPLETED, INTERRUPTED, Input, Journaled, is_standard_input};
use crate::interrupt::{self, Deferred};
use crate::message;
use crate::output::{do_not_repeat, unchanged, whole};
use crate::remote;
use crate::session::{LOCK_TIMEOUT, Session};
use crate::status::Status;
use crate::text::{is_url, quoted};

/// A wait for a lock is reported after this time.
const SILENCE: Duration = Duration::from_secs(1);

/// The file or dataset to change. While this value exists, Ctrl-C only asks the change to stop.
#[derive(Debug)]
struct InPlace<'a> {
    path: &'a Path,
    _deferred: Deferred,
}

impl<'a> InPlace<'a> {
    fn begin(path: &'a Path) -> Self {
        Self {
            path,
            _deferred: Deferred::begin(),
        }
    }

    /// Its name in messages.
    fn name(&self) -> String {
        quoted(self.path)
    }

    /// The detail of a failure that left it unchanged.
    fn unchanged(&self) -> String {
        unchanged(&self.name())
    }

    /// Options for the change. Reports a long wait for a lock; a signal ends the wait.
    fn options(&self, session: &Session) -> Options {
        let (name, reported) = (self.name(), AtomicBool::new(session.quiet));
        session
            .array_options()
            .lock_timeout(LOCK_TIMEOUT)
            .while_waiting(move |waited| {
                if waited >= SILENCE && !reported.swap(true, Ordering::Relaxed) {
                    message::note(format_args!("waiting for others to finish with {name}"));
                }
                !interrupt::is_requested()
            })
    }

    /// Reports a signal that came too late to stop the change.
    fn report_late_signal(&self) {
        if interrupt::is_requested() {
            let name = self.name();
            message::note(format_args!(
                "{name}: the change could no longer be stopped, and is complete"
            ));
        }
    }
}

/// The file to change. While this value exists, Ctrl-C only asks the change to stop.
#[derive(Debug)]
pub struct FileEdit<'a>(InPlace<'a>);

impl<'a> FileEdit<'a> {
    /// The file at `path`, if it can be changed and is not the input.
    pub fn find(path: &'a Path, input: Option<&Input>) -> Result<Self, Failure> {
        if is_standard_input(path) {
            let title = "standard input cannot be changed in place";
            return Err(Failure::usage(title).hint("name a file"));
        }
        if is_url(path) {
            let title = format!(
                "{}: objects are only written whole, and cannot be changed in place",
                quoted(path)
            );
            let hint =
                "make a new object with blpk compress or blpk records pack, and -f to replace it";
            return Err(Failure::usage(title).hint(hint));
        }
        let name = quoted(path);
        let metadata = fs::metadata(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                Failure::from(error).hint("'blpk compress' makes a new file")
            }
            _ => error.into(),
        });
        let metadata = metadata.about(path)?;
        if metadata.is_dir() {
            let failure = Failure::usage(format!("{name} is a directory"));
            return Err(failure.hint("blpk dataset changes arrays and tables in directories"));
        }
        if !metadata.is_file() {
            let title = format!("{name} is not a regular file, and cannot be changed in place");
            return Err(Failure::usage(title));
        }
        if let Some(input) = input {
            let file = Handle::from_path(path).ok();
            if file.is_some() && file == input.handle() {
                let title = format!("input {} and {name} are the same file", input.name());
                return Err(
                    Failure::usage(title).hint("to repeat its content, decompress it first")
                );
            }
        }
        Ok(Self(InPlace::begin(path)))
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// Opens it, and completes an interrupted change.
    pub fn open(&self, builder: EditorBuilder, session: &Session) -> Result<Editor, Failure> {
        self.open_with(builder, session, |builder| builder.open(self.0.path))
    }

    /// The same for a file of records.
    pub fn open_records(
        &self,
        builder: EditorBuilder,
        session: &Session,
    ) -> Result<RecordEditor, Failure> {
        self.open_with(builder, session, |builder| {
            builder.open_records(self.0.path)
        })
    }

    fn open_with<T>(
        &self,
        builder: EditorBuilder,
        session: &Session,
        open: impl FnOnce(EditorBuilder) -> bloscpack::Result<T>,
    ) -> Result<T, Failure> {
        let path = self.0.path;
        let builder = builder.options(self.0.options(session));
        let marked = probe(path).is_ok_and(|probe| probe.is_marked);
        // If a writer is at work, the snapshot waits until it has removed its mark.
        let pending = marked && Snapshot::open(path).is_ok_and(|file| file.is_interrupted());
        let editor = open(builder).map_err(|error| self.not_opened(error.into(), marked))?;
        if pending {
            session.warning(format_args!("{}: {INTERRUPTED}; {COMPLETED}", self.name()));
        }
        Ok(editor)
    }

    /// Whether its chunks contain records; `None` if that is unknown.
    pub fn has_records(&self, session: &Session) -> Option<bool> {
        let file = Snapshot::open(self.0.path).ok()?;
        let options = session.options();
        let mut decoder = Decoder::with_options(SourceReader::new(file), options);
        Some(decoder.read_header().ok()?.varlen)
    }

    /// Pairs the file with the source of the new data: a failure is about one of the two.
    pub fn changed_from<'s>(&'s self, source: &'s dyn Subject) -> FileChange<'s> {
        FileChange { edit: self, source }
    }

    /// The failure to open it. Opening changes the file only to complete an interrupted change.
    fn not_opened(&self, failure: Failure, marked: bool) -> Failure {
        let error = failure.error().filter(|error| !is_busy(error));
        let kind = error.and_then(io_error).map(io::Error::kind);
        let failure = self.explained(failure);
        // The library itself may not know the state of the file.
        match kind {
            None | Some(io::ErrorKind::Other) => failure,
            Some(_) if marked => failure,
            Some(_) => failure.detail(self.0.unchanged()),
        }
    }

    /// Adds the state of the file to a failure, unless the file may have been changed in spite of the error.
    fn explained(&self, failure: Failure) -> Failure {
        let (denied, unknown) = failure.error().map_or((false, false), |error| {
            (is_denied(error), is_unknown(error))
        });
        let failure = Journaled(self.0.path).explain(failure).if_damaged(RECOVER);
        if failure.status() == Status::Committed {
            failure.hint(do_not_repeat(&self.name()))
        } else if denied {
            failure.hint(self.permissions())
        } else if unknown {
            failure
        } else {
            failure.detail(self.0.unchanged())
        }
    }

    /// The permissions that a change needs.
    fn permissions(&self) -> String {
        let journal = quoted(&input::journal(self.0.path));
        let needed = format!("the file, its folder and its journal {journal} must be writable");
        if is_in_sticky_folder(self.0.path) {
            format!(
                "{needed}; in a sticky folder such as this one, only the owner of a file can replace it"
            )
        } else {
            needed
        }
    }

    /// Reports a signal that came too late to stop the change.
    pub fn report_late_signal(&self) {
        self.0.report_late_signal();
    }
}

impl Subject for FileEdit<'_> {
    fn explain(&self, failure: Failure) -> Failure {
        if failure.is_settled() {
            return failure;
        }
        // After a failed write, only the next reader can tell what the file contains.
        let error = failure.error().filter(|error| is_unknown(error));
        let full = error.map(is_full);
        let failure = self.explained(failure).settled();
        match full {
            None => failure,
            Some(true) => failure.detail(self.0.unchanged()),
            Some(false) => failure.detail(whole(&self.name())),
        }
    }
}

/// A change with data from a source.
pub struct FileChange<'a> {
    edit: &'a FileEdit<'a>,
    source: &'a dyn Subject,
}

impl Subject for FileChange<'_> {
    fn explain(&self, failure: Failure) -> Failure {
        let side = failure.error().and_then(Error::side);
        self.edit.explain(if side == Some(Side::Source) {
            self.source.explain(failure)
        } else {
            failure
        })
    }
}

/// Whether the change may have been made in spite of the error.
fn is_unknown(error: &Error) -> bool {
    error.category() == Category::Failed && !is_busy(error) && !is_denied(error)
}

/// Whether there was no space for an uncommitted change.
pub(super) fn is_full(error: &Error) -> bool {
    let full = [
        io::ErrorKind::FileTooLarge,
        io::ErrorKind::QuotaExceeded,
        io::ErrorKind::StorageFull,
    ];
    io_error(error).is_some_and(|error| full.contains(&error.kind()))
}

fn is_denied(error: &Error) -> bool {
    let denied = [
        io::ErrorKind::PermissionDenied,
        io::ErrorKind::ReadOnlyFilesystem,
    ];
    io_error(error).is_some_and(|error| denied.contains(&error.kind()))
}

/// Whether the folder is sticky: only the owner of a file can rename or remove it.
#[cfg(unix)]
fn is_in_sticky_folder(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let path = fs::canonicalize(path).ok();
    let folder = path.as_deref().and_then(Path::parent);
    folder
        .and_then(|folder| fs::metadata(folder).ok())
        .is_some_and(|metadata| metadata.mode() & 0o1000 != 0)
}

#[cfg(not(unix))]
fn is_in_sticky_folder(_: &Path) -> bool {
    false
}

/// The dataset to change. While this value exists, Ctrl-C only asks the change to stop.
#[derive(Debug)]
pub struct DatasetEdit<'a>(InPlace<'a>);

impl<'a> DatasetEdit<'a> {
    /// The directory at `path`.
    pub fn find(path: &'a Path) -> Result<Self, Failure> {
        if is_standard_input(path) {
            let title = "standard input cannot be a dataset";
            return Err(Failure::usage(title).hint("name a directory"));
        }
        frame::refuse(
            path,
            "blpk convert makes another frame or a dataset; the library changes arrays in frames (NdArray)",
        )?;
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir()) {
            let title = format!(
                "{} is not a directory, so it is not a dataset",
                quoted(path)
            );
            let family = probe(path).ok().and_then(|probed| probed.family);
            return Err(Failure::usage(title).hint(match family {
                Some(Family::Archive) if locate_store(path).is_some() => {
                    "blpk append adds rows to a table in a store"
                }
                Some(Family::Archive) => {
                    "an archive is read-only; blpk convert makes a directory from it"
                }
                _ => "blpk append and blpk patch change files",
            }));
        }
        Ok(Self(InPlace::begin(path)))
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// Opens it, and completes an interrupted change.
    pub fn open(&self, session: &Session) -> Result<Dataset, Failure> {
        let options = self.0.options(session);
        if is_url(self.0.path) {
            return remote::edit(self.0.path, &options, session);
        }
        let dataset = Dataset::edit_with(self.0.path, &options).about(self)?;
        if dataset.was_interrupted() {
            session.warning(format_args!("{}: {INTERRUPTED}; {COMPLETED}", self.name()));
        }
        Ok(dataset)
    }

    /// The table in it.
    pub fn table<'d>(&self, dataset: &'d mut Dataset) -> Result<&'d mut CTable, Failure> {
        match dataset {
            Dataset::Table(table) => Ok(table),
            Dataset::Array(_) => Err(no_columns(self.0.path)),
        }
    }

    /// Opens the dataset at `path`, prepares a change with `stage`, and makes it.
    pub fn change<T>(
        path: &'a Path,
        session: &Session,
        stage: impl FnOnce(&Self, &mut Dataset) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let edit = Self::find(path)?;
        let mut dataset = edit.open(session)?;
        let staged = stage(&edit, &mut dataset).about(&edit)?;
        edit.flush(&mut dataset)?;
        Ok(staged)
    }

    /// Makes the change.
    pub fn flush(&self, dataset: &mut Dataset) -> Result<(), Failure> {
        let done = match dataset {
            Dataset::Array(array) => array.flush(),
            Dataset::Table(table) => table.flush(),
        };
        self.confirm(done, None)
    }

    /// Turns the result of a flushed change into a failure about the dataset, or about the source of its data, if any.
    pub fn confirm<T>(
        &self,
        done: bloscpack::Result<T>,
        source: Option<&dyn Subject>,
    ) -> Result<T, Failure> {
        let done = done.about(&Flushed { edit: self, source })?;
        self.0.report_late_signal();
        Ok(done)
    }
}

impl Subject for DatasetEdit<'_> {
    /// Explains a failure before the flush.
    fn explain(&self, failure: Failure) -> Failure {
        if failure.is_settled() {
            return failure;
        }
        let kind = failure.error().and_then(io_error).map(io::Error::kind);
        let failure = Directory(self.0.path).explain(failure);
        let failure = failure.detail(self.0.unchanged()).settled();
        match kind {
            Some(io::ErrorKind::PermissionDenied) => {
                failure.hint("the directory and all directories in it must be writable")
            }
            _ => failure,
        }
    }
}

/// A flushed change. After a failed write, the state of the dataset is unknown until it is opened again.
struct Flushed<'a> {
    edit: &'a DatasetEdit<'a>,
    source: Option<&'a dyn Subject>,
}

impl Subject for Flushed<'_> {
    fn explain(&self, failure: Failure) -> Failure {
        let edit = self.edit;
        let Some(error) = failure.error() else {
            return edit.explain(failure);
        };
        // An error without a side is about the source, unless it names a file of the dataset.
        let is_data = error.io_error().is_none() && error.path().is_none();
        if let Some(source) = self.source
            && (error.side() == Some(Side::Source) || is_data)
        {
            return edit.explain(source.explain(failure));
        }
        let is_unknown = error.category() == Category::Failed && !is_busy(error) && !is_full(error);
        let directory = Directory(edit.0.path);
        if failure.status() == Status::Committed {
            let hint = do_not_repeat(&edit.name());
            directory.explain(failure).hint(hint).settled()
        } else if is_unknown {
            directory
                .explain(failure)
                .detail(whole(&edit.name()))
                .settled()
        } else {
            edit.explain(failure)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};
    use std::path::Path;

    use super::{Failure, FileEdit, InPlace, Subject as _};

    fn edit(path: &Path) -> FileEdit<'_> {
        FileEdit(InPlace::begin(path))
    }

    #[test]
    fn only_what_is_known_is_said_of_the_file() {
        let edit = edit(Path::new("none.blp"));
        let told = |kind: ErrorKind, marked| {
            let error = || Failure::from(Error::from(kind));
            let opening = format!("{:?}", edit.not_opened(error(), marked));
            let later = format!("{:?}", edit.explain(error()));
            [opening, later].map(|told| told.matches("is unchanged").count())
        };
        for (kind, marked, expected) in [
            (ErrorKind::StorageFull, false, [1, 1]),
            (ErrorKind::StorageFull, true, [0, 1]),
            (ErrorKind::PermissionDenied, false, [1, 0]),
            (ErrorKind::Other, false, [0, 0]),
            (ErrorKind::ResourceBusy, false, [1, 1]),
        ] {
            assert_eq!(told(kind, marked), expected, "{kind:?}");
        }
    }

    #[test]
    fn a_committed_change_is_not_to_be_repeated() {
        let full = Error::from(ErrorKind::StorageFull);
        let committed = bloscpack::Error::from(full).committed();
        let failure = edit(Path::new("none.blp")).explain(committed.into());
        assert_eq!(failure.status().code(), 6);
        let told = format!("{failure:?}");
        assert!(told.contains("do not repeat it"), "{told}");
        assert!(!told.contains("is unchanged"), "{told}");
    }

    #[cfg(unix)]
    #[test]
    fn a_sticky_folder_is_named_where_there_is_one() {
        use std::fs::{Permissions, set_permissions, write};
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.blp");
        write(&path, "").unwrap();
        let denied = || Failure::from(Error::from(ErrorKind::PermissionDenied));
        for (mode, sticky) in [(0o700, false), (0o1777, true)] {
            set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
            let told = format!("{:?}", edit(&path).explain(denied()));
            assert!(told.contains("a.blp.blpk-journal"), "{told}");
            assert_eq!(told.contains("sticky"), sticky, "{told}");
        }
    }
}
