//! A file that is changed in its place: what `append`, `patch` and `reindex` share.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bloscpack::{
    Category, Editor, EditorBuilder, Error, ErrorKind, RecordEditor,
    storage::{Cursor, Snapshot},
};
use same_file::Handle;

use crate::input::{self, Awaited, Input, is_standard_input};
use crate::interrupt::{self, Orderly};
use crate::message::{self, Failure, quoted};
use crate::session::Session;

/// How long a change waits for those who are reading the file.
pub const PATIENCE: Duration = Duration::from_secs(600);
/// How long it waits before it says so.
pub const SILENCE: Duration = Duration::from_secs(1);

/// The file that is to be changed. While this lives, Ctrl-C lets the change end in order.
#[derive(Debug)]
pub struct Target<'a> {
    path: &'a Path,
    _orderly: Orderly,
}

impl<'a> Target<'a> {
    /// The file at `path`, if it is one that can be changed, and none of what is read.
    pub fn find(path: &'a Path, input: Option<&Input>) -> Result<Self, Failure> {
        if is_standard_input(path) {
            return Err(Failure::usage("a file is changed in its place: name it"));
        }
        let name = quoted(path);
        let metadata = fs::metadata(path).map_err(|error| missing(path, &error))?;
        if metadata.is_dir() {
            let failure = Failure::usage(format!("{name} is a directory"));
            return Err(failure.hint(input::DIRECTORIES));
        }
        if !metadata.is_file() {
            let title = format!("{name} is no regular file, and cannot be changed in its place");
            return Err(Failure::usage(title));
        }
        if let Some(input) = input {
            let file = Handle::from_path(path).ok();
            let source = input.file().try_clone().and_then(Handle::from_file).ok();
            if file.is_some() && file == source {
                let title = format!("input {} and {name} are the same file", input.name());
                return Err(
                    Failure::usage(title).hint("to repeat its content, decompress it first")
                );
            }
        }
        Ok(Self {
            path,
            _orderly: Orderly::begin(),
        })
    }

    /// How messages call it.
    pub fn name(&self) -> String {
        quoted(self.path)
    }

    /// Opens it, and completes a change that was interrupted.
    pub fn edit(&self, builder: EditorBuilder, session: &Session) -> Result<Editor, Failure> {
        self.open(builder, session, |builder| builder.open(self.path))
    }

    /// The same for a file of records.
    pub fn edit_records(
        &self,
        builder: EditorBuilder,
        session: &Session,
    ) -> Result<RecordEditor, Failure> {
        self.open(builder, session, |builder| builder.open_records(self.path))
    }

    fn open<T>(
        &self,
        builder: EditorBuilder,
        session: &Session,
        open: impl FnOnce(EditorBuilder) -> bloscpack::Result<T>,
    ) -> Result<T, Failure> {
        let (name, told) = (self.name(), AtomicBool::new(session.quiet));
        let builder = builder
            .threads(session.threads)
            .limits(session.limits)
            .patience(PATIENCE)
            .while_waiting(move |waited| {
                if waited >= SILENCE && !told.swap(true, Ordering::Relaxed) {
                    message::note(format_args!("waiting for others to finish reading {name}"));
                }
                !interrupt::is_asked()
            });
        let marked = File::open(self.path).is_ok_and(|file| input::is_marked(&file));
        // A writer that is at work ends meanwhile.
        let pending =
            marked && Snapshot::open(self.path).is_ok_and(|snapshot| snapshot.is_interrupted());
        let editor = open(builder);
        let editor = editor.map_err(|error| self.blame_opening(&error, marked))?;
        if pending {
            session.warning(format_args!(
                "{}: a change was interrupted here; it is complete now",
                self.name()
            ));
        }
        Ok(editor)
    }

    /// Whether its chunks hold records; nothing if they cannot tell.
    pub fn has_records(&self, session: &Session) -> Option<bool> {
        let file = Snapshot::open(self.path).ok()?;
        let (_, form) = input::look(&mut Cursor::new(file), &session.limits).ok()?;
        form.map(|form| form.has_records())
    }

    /// Tells why it could not be opened. That writes to the file only to complete a change.
    fn blame_opening(&self, error: &Error, marked: bool) -> Failure {
        let failure = self.blame(error, None);
        let told = failed_with(error).is_none_or(|_| input::is_busy(error));
        if told || marked || is_unknown(error) {
            return failure;
        }
        failure.detail(self.untouched())
    }

    /// Finds out whose fault it is, and tells.
    pub fn blame(&self, error: &Error, source: Option<(&Input, &Awaited<'_>)>) -> Failure {
        let source = source.filter(|(_, source)| source.has_failed());
        let ended = source.is_some()
            || input::is_busy(error)
            || failed_with(error).is_some_and(interrupt::is_cause_of);
        if ended && interrupt::is_asked() {
            return Failure::interrupted().detail(self.untouched());
        }
        if let Some((input, _)) = source {
            return Failure::library(input.name(), error).detail(self.untouched());
        }
        let failure = input::failure(self.path, error).or_recover();
        if is_denied(error) {
            return failure.hint(self.permissions());
        }
        // Whether it arrived, nobody knows: the journal does, when the file is next opened.
        if error.category() == Category::Failed && !input::is_busy(error) {
            return failure;
        }
        failure.detail(self.untouched())
    }

    /// That nothing was changed.
    pub fn untouched(&self) -> String {
        format!("{} is left as it was", self.name())
    }

    /// What a change of the file needs.
    fn permissions(&self) -> String {
        let journal = quoted(&input::journal(self.path));
        let mut needed = format!("the file, its folder and its journal {journal} must be writable");
        if is_in_sticky_folder(self.path) {
            needed.push_str(
                "; in a sticky folder such as this one, only its owner can replace a file",
            );
        }
        needed
    }

    /// Says that a signal came too late.
    pub fn confirm(&self) {
        if interrupt::is_asked() {
            message::note(format_args!(
                "{}: the change was being made already, and is complete",
                self.name()
            ));
        }
    }
}

/// What the system said, if it is about that.
fn failed_with(error: &Error) -> Option<&io::Error> {
    match error.kind() {
        ErrorKind::Io(error) => Some(error),
        _ => None,
    }
}

/// Whether the library itself does not know what has become of the file.
fn is_unknown(error: &Error) -> bool {
    failed_with(error).is_some_and(|error| error.kind() == io::ErrorKind::Other)
}

fn is_denied(error: &Error) -> bool {
    let denied = [
        io::ErrorKind::PermissionDenied,
        io::ErrorKind::ReadOnlyFilesystem,
    ];
    failed_with(error).is_some_and(|error| denied.contains(&error.kind()))
}

/// Whether only the owner of a file can rename or remove it there.
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

/// Why there is no such file.
fn missing(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::io(quoted(path), error);
    match error.kind() {
        io::ErrorKind::NotFound => failure.hint("'blpk compress' makes a new file"),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};
    use std::path::Path;

    use super::{Orderly, Target};

    fn target(path: &Path) -> Target<'_> {
        let _orderly = Orderly::begin();
        Target { path, _orderly }
    }

    #[test]
    fn only_what_is_known_is_said_of_the_file() {
        let target = target(Path::new("none.blp"));
        let told = |kind: ErrorKind, marked| {
            let error = bloscpack::Error::from(Error::from(kind));
            let opening = format!("{:?}", target.blame_opening(&error, marked));
            let later = format!("{:?}", target.blame(&error, None));
            [opening, later].map(|told| told.matches("left as it was").count())
        };
        for (kind, marked, expected) in [
            (ErrorKind::StorageFull, false, [1, 0]),
            (ErrorKind::StorageFull, true, [0, 0]),
            (ErrorKind::PermissionDenied, false, [1, 0]),
            (ErrorKind::Other, false, [0, 0]),
            (ErrorKind::ResourceBusy, false, [1, 1]),
        ] {
            assert_eq!(told(kind, marked), expected, "{kind:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_sticky_folder_is_named_where_there_is_one() {
        use std::fs::{Permissions, set_permissions, write};
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.blp");
        write(&path, "").unwrap();
        let denied = bloscpack::Error::from(Error::from(ErrorKind::PermissionDenied));
        for (mode, sticky) in [(0o700, false), (0o1777, true)] {
            set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
            let told = format!("{:?}", target(&path).blame(&denied, None));
            assert!(told.contains("a.blp.blpk-journal"), "{told}");
            assert_eq!(told.contains("sticky"), sticky, "{told}");
        }
    }
}
