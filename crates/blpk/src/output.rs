//! Where bytes go: whole files that appear under their name only when complete, devices and pipes,
//! standard output.

mod growing;
mod stream;
mod target;
mod whole;
mod workplace;

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::Path;

use same_file::Handle;

use crate::input::{Input, STANDARD};
use crate::message::{Failure, quoted};
use crate::session::Session;
use crate::status::Status;
pub use growing::Growing;
use stream::Stream;
use target::{Target, is_block_device};
use whole::Whole;
pub use workplace::Workplace;

/// How messages call it.
const STANDARD_OUTPUT: &str = "standard output";

/// An output that was begun.
#[derive(Debug)]
pub struct Output {
    name: String,
    sink: Sink,
    failed: bool,
}

#[derive(Debug)]
enum Sink {
    Whole(Box<Whole>),
    Stream(Stream),
}

impl Output {
    /// Begins the output at `path`, or standard output for `-`.
    ///
    /// `inputs` are those that it may not be the same file as. A new file may be read by no one
    /// who may not read the first of them.
    pub fn create(path: &Path, inputs: &[&Input], session: &Session) -> Result<Self, Failure> {
        let like = inputs.first().and_then(|input| input.permissions());
        Self::create_like(path, inputs, like, session)
    }

    /// The same; a new file has at most these permissions.
    pub fn create_like(
        path: &Path,
        inputs: &[&Input],
        like: Option<Permissions>,
        session: &Session,
    ) -> Result<Self, Failure> {
        if is_standard_output(path) {
            return Self::standard(inputs, session);
        }
        let name = quoted(path);
        let failed = |error: io::Error| Failure::io(&name, &error);
        let sink = match Target::find(path).map_err(failed)? {
            Target::New(place) => Sink::Whole(Whole::begin(place, like).map_err(failed)?.into()),
            Target::Regular(place, old) => {
                refuse_same_file(&name, Handle::from_path(&place).ok(), inputs)?;
                if !session.force {
                    return Err(exists(&name));
                }
                Sink::Whole(Whole::replace(place, old).map_err(failed)?.into())
            }
            Target::Special(old) if old.is_dir() => {
                return Err(Failure::usage(format!("output {name} is a directory")));
            }
            Target::Special(old) => {
                if is_block_device(&old) {
                    refuse_same_file(&name, Handle::from_path(path).ok(), inputs)?;
                    if !session.force {
                        return Err(exists(&name));
                    }
                }
                let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
                Sink::Stream(Stream::new(file, session))
            }
        };
        Ok(Self {
            name,
            sink,
            failed: false,
        })
    }

    /// Standard output.
    fn standard(inputs: &[&Input], session: &Session) -> Result<Self, Failure> {
        let name = STANDARD_OUTPUT.to_owned();
        let failed = |error: io::Error| Failure::io(STANDARD_OUTPUT, &error);
        let file = stream::stdout().map_err(failed)?;
        if file.metadata().map_err(failed)?.is_file() {
            refuse_same_file(&name, Handle::stdout().ok(), inputs)?;
        }
        let sink = Sink::Stream(Stream::new(file, session));
        Ok(Self {
            name,
            sink,
            failed: false,
        })
    }

    /// How messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether both would end up in the same file.
    pub fn is_same_place(&self, other: &Self) -> bool {
        let place = |output: &Self| match &output.sink {
            Sink::Whole(whole) => whole.place(),
            Sink::Stream(_) if output.name == STANDARD_OUTPUT => Some(STANDARD.into()),
            Sink::Stream(_) => None,
        };
        let here = place(self);
        here.is_some() && here == place(other)
    }

    /// The file, where it can be read back and written at any place.
    pub fn seekable(&self) -> Option<&Growing> {
        match &self.sink {
            Sink::Whole(whole) => Some(&whole.file),
            Sink::Stream(_) => None,
        }
    }

    /// Whether what is written shows on a terminal.
    pub fn is_terminal(&self) -> bool {
        matches!(&self.sink, Sink::Stream(stream) if stream.terminal)
    }

    /// Whether writing failed. An error of the library does not tell.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Says why nothing whole was written: `failure`, unless the reader of a pipe has gone or a
    /// terminal was to be spared.
    pub fn explain(&self, failure: Failure) -> Failure {
        match &self.sink {
            Sink::Stream(stream) if stream.broken => Failure::broken_pipe(),
            Sink::Stream(stream) if stream.refused => spare_terminal("binary data"),
            Sink::Stream(_) => failure,
            Sink::Whole(whole) if whole.replaced.is_some() => {
                failure.detail(format!("{} is left as it was", self.name))
            }
            Sink::Whole(_) => failure.detail(format!("{} is not written", self.name)),
        }
    }

    /// Gives the output its name, since all of it is there, and tells its length.
    pub fn commit(self) -> Result<u64, Failure> {
        match self.sink {
            Sink::Stream(stream) => Ok(stream.written),
            Sink::Whole(whole) => whole.commit().map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => exists(&self.name),
                _ => Failure::io(&self.name, &error),
            }),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = match &mut self.sink {
            Sink::Whole(whole) => (&mut &whole.file).write(bytes),
            Sink::Stream(stream) => stream.write(bytes),
        };
        let interrupted = |error: &io::Error| error.kind() == io::ErrorKind::Interrupted;
        self.failed |= done.as_ref().is_err_and(|error| !interrupted(error));
        done
    }

    fn flush(&mut self) -> io::Result<()> {
        // Neither kind holds bytes back.
        Ok(())
    }
}

/// A report, on standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = anstream::stdout();
    let done = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    done.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::broken_pipe(),
        _ => Failure::io(STANDARD_OUTPUT, &error),
    })
}

/// Whether the argument means standard output.
pub fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1"]
        .iter()
        .any(|name| path == Path::new(name))
}

/// Refuses to upset a terminal.
pub fn spare_terminal(what: &str) -> Failure {
    Failure::usage(format!("{what} is not written to a terminal"))
        .hint("name an output file, redirect standard output, or insist with -f")
}

fn exists(name: &str) -> Failure {
    Failure::new(Status::Failed, format!("output file {name} exists")).hint("overwrite it with -f")
}

/// Only asked for outputs that lose what they hold: a terminal or /dev/null may well be both.
fn refuse_same_file(name: &str, output: Option<Handle>, inputs: &[&Input]) -> Result<(), Failure> {
    for input in inputs {
        let handle = input.file().try_clone().and_then(Handle::from_file).ok();
        if handle.is_some() && handle == output {
            let title = format!("input {} and output {name} are the same file", input.name());
            return Err(Failure::usage(title).hint("write to another file, then rename it"));
        }
    }
    Ok(())
}
