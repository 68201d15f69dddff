//! [`Target`], an atomic output, and reports on standard output.

mod direct;
mod file;
mod folder;
#[cfg_attr(not(feature = "remote"), path = "output/no_object.rs")]
mod object;
mod syncing;
mod temporary;

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use bloscpack::{error::Side, storage::zip_folder};
use bloscpack_open::stores::EMBED_FILE;
use same_file::Handle;
use tempfile::TempDir;

use crate::failure::{About as _, Failure, Subject, io_error};
use crate::input::{Input, STANDARD, metadata_of};
use crate::interrupt::{self, Deferred};
use crate::session::Session;
use crate::status::Status;
use crate::text::{is_url, quoted};
use direct::DirectFile;
pub use file::Replaces;
use file::{Destination, NewFile, is_block_device};
pub use folder::FolderKind;
use folder::{file_permissions, refuse_within};
use object::NewObject;
pub use syncing::SyncingFile;
pub use temporary::parent;
use temporary::{make_folder, remove_left_over};

/// The name of standard output in messages.
const STANDARD_OUTPUT: &str = "standard output";
/// The name of the output while it is made in a temporary folder.
const MADE: &str = "made";
/// The name of the archive that a made folder is packed into.
const ARCHIVE: &str = "archive";

/// An output that was begun: a file or a folder that is new, replaces an existing one, or is put below a URL.
///
/// It appears under its name when it is [committed](Self::commit). If it is dropped before that, an existing file or folder
/// stays. Standard output, devices and FIFOs cannot be replaced, and are written directly.
pub struct Target {
    name: String,
    /// The path at which the library makes it, or its final path.
    path: PathBuf,
    /// Whether it replaces an existing file or folder.
    replaces: bool,
    form: Form,
    /// The temporary folder in which the library makes it, if the library needs a path.
    made: Option<TempDir>,
    /// While the library makes it, Ctrl-C only asks the work to stop.
    _deferred: Option<Deferred>,
}

enum Form {
    File(Box<NewFile>),
    Direct(DirectFile),
    Object(Box<NewObject>),
    /// A folder with this final path.
    Folder(PathBuf),
}

/// The input of an output. The output must be another file, and is never more readable.
#[derive(Clone, Copy)]
pub enum MadeFrom<'a> {
    Nothing,
    Input(&'a Input),
    Path(&'a Path),
}

impl<'a> From<Option<&'a Input>> for MadeFrom<'a> {
    fn from(input: Option<&'a Input>) -> Self {
        input.map_or(Self::Nothing, Self::Input)
    }
}

impl Target {
    /// Begins the file at `path`, or standard output for `-`. Refuses to write compressed data to a terminal.
    pub fn file(
        path: &Path,
        replaces: Replaces,
        origin: MadeFrom<'_>,
        session: &Session,
    ) -> Result<Self, Failure> {
        let (permissions, input) = match origin {
            MadeFrom::Nothing => (None, None),
            MadeFrom::Input(input) => (input.permissions(), Some(input)),
            MadeFrom::Path(input) => {
                refuse_within(path, input)?;
                (file_permissions(input), None)
            }
        };
        if is_standard_output(path) {
            return Self::standard(input, session)?.spare_terminal(replaces, session);
        }
        if is_url(path) {
            let (object, replaces) = NewObject::begin(path, replaces, session)?;
            return Ok(Self::new(path, replaces, Form::Object(object.into())));
        }
        let name = quoted(path);
        match Destination::of(path).about(&name)? {
            Destination::New(real) => {
                remove_left_over(parent(&real), session);
                let file = NewFile::begin(real, permissions).about(&name)?;
                Ok(Self::new(path, false, Form::File(file.into())))
            }
            Destination::Regular(real, old) => {
                refuse_same_file(&name, Handle::from_path(&real).ok(), input)?;
                if let Some(refusal) = replaces.refusal(&real, &name, session).about(&name)? {
                    return Err(refusal);
                }
                if !session.force {
                    return Err(exists(&name));
                }
                remove_left_over(parent(&real), session);
                let file = NewFile::replace(real, old).about(&name)?;
                Ok(Self::new(path, true, Form::File(file.into())))
            }
            Destination::Special(old) if old.is_dir() => {
                let title = format!("output {name} is a directory");
                Err(Failure::usage(title).hint("name the file to write in it"))
            }
            Destination::Special(old) => {
                if is_block_device(&old) {
                    refuse_same_file(&name, Handle::from_path(path).ok(), input)?;
                    if !session.force {
                        return Err(exists(&name));
                    }
                }
                let file = OpenOptions::new().write(true).open(path).about(&name)?;
                let form = Form::Direct(DirectFile::new(file, session));
                Self::new(path, false, form).spare_terminal(replaces, session)
            }
        }
    }

    /// Begins a compressed file at `path`, made from `input`, which the library writes at [another path](Self::path).
    pub fn file_at_path(path: &Path, input: &Path, session: &Session) -> Result<Self, Failure> {
        let origin = MadeFrom::Path(input);
        Self::file(path, Replaces::Compressed, origin, session)?.at_path()
    }

    /// Begins a folder of this kind at `path`, which the library makes from `input`. It is as private as the input.
    pub fn folder(
        path: &Path,
        kind: FolderKind,
        input: &Path,
        session: &Session,
    ) -> Result<Self, Failure> {
        let deferred = Deferred::begin();
        let (made, replaces) = folder::begin(path, kind, input, session)?;
        let form = Form::Folder(path.to_owned());
        Ok(Self::new(path, replaces, form).made_in(made, deferred))
    }

    /// Begins a changed copy that replaces the store at `path`, an archive or a folder.
    pub fn replacing(path: &Path) -> Result<Self, Failure> {
        if path.is_dir() {
            let deferred = Deferred::begin();
            let (made, form) = (folder::beside(path, path)?, Form::Folder(path.to_owned()));
            return Ok(Self::new(path, true, form).made_in(Some(made), deferred));
        }
        match Destination::of(path).about(path)? {
            Destination::Regular(real, old) => {
                let file = NewFile::replace(real, old).about(path)?;
                Self::new(path, true, Form::File(file.into())).at_path()
            }
            _ => {
                let title = format!("{} is not a regular file", quoted(path));
                Err(Failure::usage(title))
            }
        }
    }

    fn new(path: &Path, replaces: bool, form: Form) -> Self {
        Self {
            name: quoted(path),
            path: path.to_owned(),
            replaces,
            form,
            made: None,
            _deferred: None,
        }
    }

    /// Begins standard output.
    fn standard(input: Option<&Input>, session: &Session) -> Result<Self, Failure> {
        direct::check_closed().about(STANDARD_OUTPUT)?;
        let file = direct::stdout().about(STANDARD_OUTPUT)?;
        let metadata = metadata_of(&file).about(STANDARD_OUTPUT)?;
        if metadata.is_some_and(|metadata| metadata.is_file()) {
            refuse_same_file(STANDARD_OUTPUT, Handle::stdout().ok(), input)?;
        }
        let file = DirectFile::standard(file, session).about(STANDARD_OUTPUT)?;
        Ok(Self {
            name: STANDARD_OUTPUT.to_owned(),
            ..Self::new(Path::new(STANDARD), false, Form::Direct(file))
        })
    }

    /// Refuses a terminal for compressed data.
    fn spare_terminal(self, replaces: Replaces, session: &Session) -> Result<Self, Failure> {
        match &self.form {
            Form::Direct(file)
                if file.terminal && replaces == Replaces::Compressed && !session.force =>
            {
                Err(refuse_terminal("compressed data"))
            }
            _ => Ok(self),
        }
    }

    /// Sets the temporary folder; `None` if the library itself replaces the dataset at the path.
    fn made_in(self, made: Option<TempDir>, deferred: Deferred) -> Self {
        let path = made.as_ref().map(|made| match self.form {
            Form::Folder(_) => made.path().to_owned(),
            _ => made.path().join(MADE),
        });
        Self {
            path: path.unwrap_or(self.path),
            made,
            _deferred: Some(deferred),
            ..self
        }
    }

    /// Makes a temporary folder beside the file, in which the library writes it.
    fn at_path(self) -> Result<Self, Failure> {
        let deferred = Deferred::begin();
        let made = match &self.form {
            Form::File(file) => make_folder(Some(file.folder()), None),
            _ => make_folder(None, None),
        };
        let made = made.about(&self.name)?;
        Ok(self.made_in(Some(made), deferred))
    }

    /// Gives the file the modification time of the input, if that is a named file.
    pub fn keep_time(&mut self, input: &Input) {
        if let Form::File(file) = &mut self.form {
            file.modified = input.modified();
        }
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path at which the library makes it: an empty folder, or a file or folder that does not exist.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the library itself replaces a dataset, in a single change.
    pub fn is_replaced_in_place(&self) -> bool {
        matches!(self.form, Form::Folder(_)) && self.made.is_none()
    }

    /// Whether both outputs are the same file.
    pub fn is_same_file(&self, other: &Self) -> bool {
        let path = self.real_path();
        path.is_some() && path == other.real_path()
    }

    /// The same path for all its spellings.
    fn real_path(&self) -> Option<PathBuf> {
        match &self.form {
            Form::File(file) => file.real_path(),
            Form::Object(object) => Some(object.url().to_owned()),
            Form::Direct(_) if self.name == STANDARD_OUTPUT => Some(STANDARD.into()),
            Form::Direct(_) | Form::Folder(_) => None,
        }
    }

    /// The file, if it can be read back and written at any position.
    pub fn seekable(&self) -> Option<&SyncingFile> {
        match &self.form {
            Form::File(file) => Some(&file.file),
            Form::Direct(file) => file.whole.as_ref(),
            Form::Object(object) => object.seekable(),
            Form::Folder(_) => None,
        }
    }

    /// Whether the reader of a pipe has closed it.
    pub fn is_abandoned(&self) -> bool {
        matches!(&self.form, Form::Direct(file) if file.is_abandoned())
    }

    /// Pairs the output with the source of its data: a failure is about one of the two.
    pub fn made_from<'a>(&'a self, source: &'a dyn Subject) -> Transfer<'a> {
        Transfer {
            source,
            target: self,
        }
    }

    /// Adds the state of the output to a failure. Replaces the failure if the reader of a pipe has closed it, or if binary data
    /// was about to be written to a terminal.
    fn unfinished(&self, failure: Failure) -> Failure {
        match &self.form {
            Form::Direct(file) => {
                // Other processes that share standard output continue after the written bytes.
                let _ = file.settle();
                if file.broken {
                    Failure::broken_pipe()
                } else if file.refused {
                    refuse_terminal("binary data")
                } else {
                    failure
                }
            }
            _ if self.replaces => failure.detail(unchanged(&self.name)),
            _ => failure.detail(not_written(&self.name)),
        }
    }

    /// Gives the complete output its name.
    pub fn commit(mut self, session: &Session) -> Result<Made, Failure> {
        self.adopt().map_err(|failure| self.explain(failure))?;
        let (name, replaces) = (self.name, self.replaces);
        let length = match self.form {
            Form::Direct(file) => file.settle(),
            Form::File(file) => file.commit(),
            Form::Object(object) => object.commit(),
            Form::Folder(path) => {
                if let Some(made) = self.made {
                    folder::put(made, &path, (&name, replaces), session)?;
                }
                return Ok(Made { name, length: 0 });
            }
        };
        match length {
            Ok(length) => Ok(Made { name, length }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(exists(&name)),
            Err(error) => Err(error).about(&name),
        }
    }

    /// Takes over the file that the library has made, as the content of the output.
    fn adopt(&mut self) -> Result<(), Failure> {
        let Some(folder) = &self.made else {
            return Ok(());
        };
        interrupt::check()?;
        match &mut self.form {
            Form::Folder(_) => return Ok(()),
            Form::File(file) => file.adopt(&packed(folder.path())?)?,
            Form::Object(object) => object.adopt(&packed(folder.path())?)?,
            Form::Direct(direct) => {
                io::copy(&mut File::open(packed(folder.path())?)?, direct)?;
            }
        }
        Ok(interrupt::check()?)
    }
}

impl Subject for Target {
    fn explain(&self, failure: Failure) -> Failure {
        self.made_from(&self.name).explain(failure)
    }
}

/// A target and the source of its data.
pub struct Transfer<'a> {
    source: &'a dyn Subject,
    target: &'a Target,
}

impl Subject for Transfer<'_> {
    fn explain(&self, failure: Failure) -> Failure {
        let (target, name) = (self.target, &self.target.name);
        if failure.is_settled() {
            return failure;
        }
        if let Some(error) = failure.error().filter(|_| target.is_replaced_in_place())
            && error.side() != Some(Side::Source)
        {
            let is_unknown =
                io_error(error).is_some_and(|error| error.kind() == io::ErrorKind::Other);
            if failure.status() == Status::Committed {
                return failure.named(name).hint(do_not_repeat(name)).settled();
            }
            // The library cannot tell whether it has replaced the dataset.
            if is_unknown {
                return failure.named(name).detail(whole(name)).settled();
            }
        }
        let failure = failure.uncommitted();
        let failure = if failure.side() == Some(Side::Target) {
            failure.named(name)
        } else {
            self.source.explain(failure)
        };
        target.unfinished(failure).settled()
    }
}

/// An output that was committed.
pub struct Made {
    /// Its name in messages.
    pub name: String,
    /// The length of a file.
    pub length: u64,
}

/// The file that was made in this folder. A made folder is packed into an archive first.
fn packed(folder: &Path) -> io::Result<PathBuf> {
    let made = folder.join(MADE);
    if !made.is_dir() {
        return Ok(made);
    }
    let path = folder.join(ARCHIVE);
    let mut options = File::options();
    let archive = options
        .create_new(true)
        .read(true)
        .write(true)
        .open(&path)?;
    zip_folder(&made, EMBED_FILE, &archive)?;
    Ok(path)
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.form {
            Form::File(file) => (&mut &file.file).write(bytes),
            Form::Direct(file) => file.write(bytes),
            Form::Object(object) => object.write(bytes),
            Form::Folder(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // No form has a buffer.
        Ok(())
    }
}

/// Prints a report on standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut printer = Printer::new();
    printer.text(text)?;
    printer.finish()
}

/// A report on standard output, piece by piece.
pub struct Printer(BufWriter<anstream::AutoStream<io::Stdout>>);

impl Printer {
    pub fn new() -> Self {
        Self(BufWriter::new(anstream::stdout()))
    }

    pub fn text(&mut self, text: impl Display) -> Result<(), Failure> {
        write!(self.0, "{text}").map_err(not_printed)
    }

    pub fn line(&mut self, line: impl Display) -> Result<(), Failure> {
        self.text(format_args!("{line}\n"))
    }

    pub fn writer(&mut self) -> impl Write {
        &mut self.0
    }

    /// Writes the buffer.
    pub fn finish(mut self) -> Result<(), Failure> {
        let done = direct::check_closed().and_then(|()| self.0.flush());
        // Without this, the buffer would be written again after an error.
        drop(self.0.into_parts());
        done.map_err(not_printed)
    }
}

/// The failure to print.
pub fn not_printed(error: io::Error) -> Failure {
    if direct::is_broken_pipe(&error) {
        Failure::broken_pipe()
    } else {
        Failure::from(error).named(STANDARD_OUTPUT)
    }
}

/// Whether the argument means standard output.
pub fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// The detail of a failure that left a file unchanged.
pub fn unchanged(name: &str) -> String {
    format!("{name} is unchanged")
}

/// The detail of a failure to make a file.
fn not_written(name: &str) -> String {
    format!("{name} was not written")
}

/// The advice after a change that is committed but not completed.
pub fn do_not_repeat(name: &str) -> String {
    format!("do not repeat it: readers see the change, and the next change to {name} completes it")
}

/// The detail of a failure after which only the next reader knows whether a change was made.
pub fn whole(name: &str) -> String {
    format!("{name} has all of its old content, or all of the new")
}

fn refuse_terminal(what: &str) -> Failure {
    Failure::usage(format!("{what} is not written to a terminal"))
        .hint("name an output file, redirect standard output, or use -f")
}

fn exists(name: &str) -> Failure {
    Failure::new(Status::Failed, format!("output file {name} already exists"))
        .hint("use -f to overwrite it")
}

/// Refuses an output that is also the input. Only for outputs that lose their content: a terminal or `/dev/null` may be both.
fn refuse_same_file(
    name: &str,
    output: Option<Handle>,
    input: Option<&Input>,
) -> Result<(), Failure> {
    match input {
        Some(input) if output.is_some() && input.handle() == output => {
            let title = format!("input {} and output {name} are the same file", input.name());
            Err(Failure::usage(title).hint("write to another file, then rename it"))
        }
        _ => Ok(()),
    }
}
