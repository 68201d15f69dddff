//! Where bytes go: files that appear under their name only when complete, devices and pipes, standard output.

mod atomic;
#[cfg_attr(not(target_os = "linux"), path = "output/open.rs")]
mod closed;
mod destination;
mod direct;
mod folder;
mod left_over;
#[cfg_attr(not(feature = "remote"), path = "output/no_object.rs")]
mod object;
mod replaces;
mod syncing;
mod work_dir;

use std::fmt::Display;
use std::fs::{OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use same_file::Handle;

use crate::failure::Failure;
use crate::handle;
use crate::input::{Input, STANDARD};
use crate::interrupt;
use crate::session::Session;
use crate::status::Status;
use crate::text::quoted;
use crate::url;
use atomic::AtomicFile;
pub use destination::check_name;
use destination::{Destination, is_block_device};
use direct::DirectFile;
pub use folder::{parent, sync_folder, temporary, without_path};
use object::ObjectFile;
pub use replaces::Replaces;
pub use syncing::SyncingFile;
pub use work_dir::WorkDir;

/// The name of standard output in messages.
const STANDARD_OUTPUT: &str = "standard output";

/// An output that was begun.
#[derive(Debug)]
pub struct Output {
    name: String,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Atomic(Box<AtomicFile>),
    Direct(DirectFile),
    Object(Box<ObjectFile>),
}

impl Output {
    /// Begins the output at `path`, or standard output for `-`.
    ///
    /// It must not be the same file as one of `inputs`. A new file is readable only for users who can read the first
    /// of them.
    pub fn create(
        replaces: Replaces,
        path: &Path,
        inputs: &[&Input],
        session: &Session,
    ) -> Result<Self, Failure> {
        let permissions = inputs.first().and_then(|input| input.permissions());
        Self::create_with(permissions, replaces, path, inputs, session)
    }

    /// Begins a compressed output: as [`create`](Self::create), but it is refused on a terminal.
    pub fn create_binary(
        path: &Path,
        inputs: &[&Input],
        session: &Session,
    ) -> Result<Self, Failure> {
        Self::create(Replaces::Compressed, path, inputs, session)?.spare_terminal(session)
    }

    /// Begins the output at `path`, or standard output for `-`. A new file gets at most these permissions.
    pub fn create_with(
        permissions: Option<Permissions>,
        replaces: Replaces,
        path: &Path,
        inputs: &[&Input],
        session: &Session,
    ) -> Result<Self, Failure> {
        if is_standard_output(path) {
            return Self::standard(inputs, session);
        }
        if url::is_url(path) {
            let sink = Sink::Object(ObjectFile::begin(path, replaces, session)?.into());
            let name = url::name(path);
            return Ok(Self { name, sink });
        }
        let name = quoted(path);
        let failed = |error: io::Error| Failure::io(&name, &error);
        let sink = match Destination::of(path).map_err(failed)? {
            Destination::New(path) => {
                left_over::remove(parent(&path), session);
                Sink::Atomic(AtomicFile::begin(path, permissions).map_err(failed)?.into())
            }
            Destination::Regular(path, old) => {
                refuse_same_file(&name, Handle::from_path(&path).ok(), inputs)?;
                if let Some(refusal) = replaces.refusal(&path, &name).map_err(failed)? {
                    return Err(refusal.failure(session.force));
                }
                if !session.force {
                    return Err(exists(&name));
                }
                left_over::remove(parent(&path), session);
                Sink::Atomic(AtomicFile::replace(path, old).map_err(failed)?.into())
            }
            Destination::Special(old) if old.is_dir() => {
                let title = format!("output {name} is a directory");
                return Err(Failure::usage(title).hint("name the file to write in it"));
            }
            Destination::Special(old) => {
                if is_block_device(&old) {
                    refuse_same_file(&name, Handle::from_path(path).ok(), inputs)?;
                    if !session.force {
                        return Err(exists(&name));
                    }
                }
                let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
                Sink::Direct(DirectFile::new(file, session))
            }
        };
        Ok(Self { name, sink })
    }

    /// Begins an output that replaces the file at `path`, which it is made from.
    pub fn replacing(path: &Path) -> Result<Self, Failure> {
        let name = quoted(path);
        let failed = |error: io::Error| Failure::io(&name, &error);
        match Destination::of(path).map_err(failed)? {
            Destination::Regular(path, old) => {
                let file = AtomicFile::replace(path, old).map_err(failed)?;
                let sink = Sink::Atomic(file.into());
                Ok(Self { name, sink })
            }
            _ => Err(Failure::usage(format!("{name} is not a regular file"))),
        }
    }

    /// Standard output.
    fn standard(inputs: &[&Input], session: &Session) -> Result<Self, Failure> {
        let name = STANDARD_OUTPUT.to_owned();
        let failed = |error: io::Error| Failure::io(STANDARD_OUTPUT, &error);
        closed::check().map_err(failed)?;
        let file = direct::stdout().map_err(failed)?;
        let metadata = handle::metadata(&file).map_err(failed)?;
        if metadata.is_some_and(|metadata| metadata.is_file()) {
            refuse_same_file(&name, Handle::stdout().ok(), inputs)?;
        }
        let file = DirectFile::standard(file, session).map_err(failed)?;
        let sink = Sink::Direct(file);
        Ok(Self { name, sink })
    }

    /// The same, unless it is a terminal, which binary data would upset.
    pub fn spare_terminal(self, session: &Session) -> Result<Self, Failure> {
        match &self.sink {
            Sink::Direct(file) if file.terminal && !session.force => {
                Err(refuse_terminal("compressed data"))
            }
            _ => Ok(self),
        }
    }

    /// Gives the file the time of the input, if that is a named file: its content is as old.
    pub fn keep_time(&mut self, input: &Input) {
        if let Sink::Atomic(file) = &mut self.sink {
            file.modified = input.modified();
        }
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether both would end up in the same file.
    pub fn is_same_file(&self, other: &Self) -> bool {
        let path = self.real_path();
        path.is_some() && path == other.real_path()
    }

    /// One path for all spellings of it.
    fn real_path(&self) -> Option<PathBuf> {
        match &self.sink {
            Sink::Atomic(file) => file.real_path(),
            Sink::Object(file) => file.real_path(),
            Sink::Direct(_) if self.name == STANDARD_OUTPUT => Some(STANDARD.into()),
            Sink::Direct(_) => None,
        }
    }

    /// The file, if it can be read back and written at any position.
    pub fn seekable(&self) -> Option<&SyncingFile> {
        match &self.sink {
            Sink::Atomic(file) => Some(&file.file),
            Sink::Direct(file) => file.whole.as_ref(),
            Sink::Object(file) => file.seekable(),
        }
    }

    /// Adds to a failure what has become of the output. It replaces the failure if the reader of a pipe has gone, or if
    /// binary data was about to reach a terminal.
    pub fn unfinished(&self, failure: Failure) -> Failure {
        if let Sink::Direct(file) = &self.sink {
            // The next bytes of other processes go after it.
            let _ = file.settle();
        }
        match &self.sink {
            Sink::Direct(file) if file.broken => Failure::broken_pipe(),
            Sink::Direct(file) if file.refused => refuse_terminal("binary data"),
            Sink::Direct(_) => failure,
            Sink::Atomic(file) if file.replaced.is_some() => failure.detail(unchanged(self.name())),
            Sink::Object(file) if file.replaces => failure.detail(unchanged(self.name())),
            Sink::Atomic(_) | Sink::Object(_) => failure.detail(not_written(self.name())),
        }
    }

    /// The failure to write.
    pub fn failed(&self, error: &io::Error) -> Failure {
        self.unfinished(Failure::io(self.name(), error))
    }

    /// The failure of a transfer from `source` to this output, by the side of the error.
    pub fn failed_from(&self, source: &str, error: &bloscpack::Error) -> Failure {
        self.unfinished(Failure::between(error, source, self.name()))
    }

    /// Whether nobody will ever read it: the other end of a pipe has gone.
    pub fn is_abandoned(&self) -> bool {
        matches!(&self.sink, Sink::Direct(file) if file.is_abandoned())
    }

    /// Gives the output its name, since it is complete, and returns its length.
    pub fn commit(self) -> Result<u64, Failure> {
        match self.sink {
            Sink::Direct(file) => file
                .settle()
                .map_err(|error| Failure::io(&self.name, &error)),
            Sink::Object(file) => file.commit().map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => exists(&self.name),
                _ if interrupt::is_cause_of(&error) => Failure::interrupted(),
                _ => Failure::io(&self.name, &error),
            }),
            Sink::Atomic(file) => file.commit().map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => exists(&self.name),
                _ => Failure::io(&self.name, &error),
            }),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Atomic(file) => (&mut &file.file).write(bytes),
            Sink::Direct(file) => file.write(bytes),
            Sink::Object(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // Neither kind has a buffer.
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

    /// Adds text.
    pub fn text(&mut self, text: impl Display) -> Result<(), Failure> {
        write!(self.0, "{text}").map_err(|error| not_printed(&error))
    }

    /// Adds a line.
    pub fn line(&mut self, line: impl Display) -> Result<(), Failure> {
        self.text(format_args!("{line}\n"))
    }

    /// Where it writes to.
    pub fn writer(&mut self) -> impl Write {
        &mut self.0
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Result<(), Failure> {
        let done = closed::check().and_then(|()| self.0.flush());
        // After an error, the buffer is not written again.
        drop(self.0.into_parts());
        done.map_err(|error| not_printed(&error))
    }
}

/// The failure to print.
pub fn not_printed(error: &io::Error) -> Failure {
    if handle::is_broken_pipe(error) {
        Failure::broken_pipe()
    } else {
        Failure::io(STANDARD_OUTPUT, error)
    }
}

/// Whether the argument means standard output.
pub fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// The detail of a failure that left a file as it was.
pub fn unchanged(name: &str) -> String {
    format!("{name} is unchanged")
}

/// The detail of a failure to make a file.
pub fn not_written(name: &str) -> String {
    format!("{name} was not written")
}

fn refuse_terminal(what: &str) -> Failure {
    Failure::usage(format!("{what} is not written to a terminal"))
        .hint("name an output file, redirect standard output, or use -f")
}

fn exists(name: &str) -> Failure {
    Failure::new(Status::Failed, format!("output file {name} already exists"))
        .hint("use -f to overwrite it")
}

/// Only used for outputs that lose their content: a terminal or /dev/null may well be both.
fn refuse_same_file(name: &str, output: Option<Handle>, inputs: &[&Input]) -> Result<(), Failure> {
    for input in inputs {
        let handle = input.handle();
        if handle.is_some() && handle == output {
            let title = format!("input {} and output {name} are the same file", input.name());
            return Err(Failure::usage(title).hint("write to another file, then rename it"));
        }
    }
    Ok(())
}
