//! Code shared by the commands that read and write Bloscpack files.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bloscpack::{EncoderBuilder, Error, blosc::Tuned, error::IoSide as _};
use clap::Args;

use crate::failure::Failure;
use crate::frame::{self, READ};
use crate::input::{Input, Rest, STANDARD, is_standard_input};
use crate::output::Target;
use crate::session::Session;
use crate::status::Status;
use crate::text::{quoted, shown};

/// The extension of Bloscpack files.
const EXTENSION: &str = ".blp";

/// Opens a Bloscpack file or stream. Refuses a Blosc2 frame.
pub fn open(path: &Path, session: &Session) -> Result<Input, Failure> {
    frame::refuse(path, READ)?;
    let input = Input::open_binary(path, session)?;
    frame::refuse_object(&input, READ)?;
    Ok(input)
}

/// The refusal to read records as content.
pub fn has_records(name: &str) -> Failure {
    let title = format!("{name} contains records, whose boundaries would be lost");
    Failure::new(Status::Unsupported, title)
}

/// Whether the path ends with `.blp`.
pub fn has_extension(path: &Path) -> bool {
    without_extension(path).is_some()
}

/// The path without `.blp`; `None` if the name does not end with `.blp`, or consists only of it.
pub fn without_extension(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str();
    match name {
        Some(name) => {
            let stem = name
                .strip_suffix(EXTENSION)
                .filter(|stem| !stem.is_empty())?;
            Some(path.with_file_name(stem))
        }
        // Not Unicode: the standard library can only split it at the last dot.
        None if path.extension() == Some("blp".as_ref()) => Some(path.with_extension("")),
        None => None,
    }
}

/// Bytes at the beginning of an input that show its format.
pub const LOOK: u64 = 10;
/// The format of a single array, in messages.
pub const NPY: &str = "a .npy file";

/// The format of a file that begins with these bytes, if they are not plain elements of an array.
pub fn known_format(start: &[u8]) -> Option<&'static str> {
    let formats: [(usize, &[u8], &str); 7] = [
        (0, b"\x93NUMPY", NPY),
        (0, b"blpk", "a Bloscpack file"),
        (2, b"b2frame\0", "a Blosc2 frame"),
        (0, b"PK\x03\x04", "a ZIP archive"),
        (0, b"PAR1", "a Parquet file"),
        (0, b"ARROW1", "an Arrow file"),
        (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    ];
    let begins = |at: usize, magic: &[u8]| {
        start
            .get(at..)
            .is_some_and(|start| start.starts_with(magic))
    };
    let found = formats.iter().find(|(at, magic, _)| begins(*at, magic));
    found.map(|(_, _, name)| *name)
}

/// The source of the content.
pub enum Content<'a> {
    /// Read in order.
    Reader(&'a mut dyn Read),
    /// A regular file or an object of this length, which all threads read concurrently.
    File(Arc<Rest>, u64),
}

/// The length of the content, and the settings that the encoder chose, if any.
pub type Encoded = (u64, Option<Tuned>);

macro_rules! encode_with {
    ($encoder:expr, $content:expr) => {{
        // An encoder that is dropped before it is finished leaves a file that readers report as incomplete.
        let mut encoder = $encoder;
        let len = match $content {
            Content::Reader(reader) => encoder.read_from(reader)?,
            Content::File(file, len) => {
                let read = encoder.read_at(Arc::clone(&file), 0..len)?;
                refuse_more(&file, len)?;
                read
            }
        };
        let tuned = encoder.tune()?.cloned();
        encoder.finish()?;
        Ok((len, tuned))
    }};
}

/// Compresses all of the content.
pub fn encode(
    builder: EncoderBuilder,
    content: Content<'_>,
    output: &mut Target,
) -> bloscpack::Result<Encoded> {
    match output.seekable() {
        Some(file) => encode_with!(builder.write_to_file(file)?, content),
        None => encode_with!(builder.write_to(output)?, content),
    }
}

/// Refuses a file that has grown while it was read.
fn refuse_more(file: &Rest, promised: u64) -> bloscpack::Result<()> {
    if file.reaches_past(promised).reading()? {
        let given = promised + 1;
        Err(Error::wrong_size(promised, given))
    } else {
        Ok(())
    }
}

const NAMES: &str = "Names";

/// The names given to a command.
#[derive(Args, Debug)]
pub struct Operands {
    /// Write to standard output; same as - for OUT
    #[arg(long, conflicts_with_all = ["named", "multiple"], help_heading = NAMES)]
    stdout: bool,

    /// Write to FILE; same as FILE for OUT
    #[arg(short = 'O', long = "output", value_name = "FILE", conflicts_with = "multiple", help_heading = NAMES)]
    named: Option<PathBuf>,

    /// Treat each name as an IN with its own OUT; the exit status is the highest of all
    #[arg(long, help_heading = NAMES)]
    multiple: bool,

    /// An option of gzip and zstd without effect here: the input is always kept.
    #[arg(long, hide = true)]
    keep: bool,

    /// Removing the input is refused.
    #[arg(long, hide = true)]
    rm: bool,

    /// IN and OUT, or several INs.
    #[arg(value_name = "NAME")]
    names: Vec<PathBuf>,
}

impl Operands {
    /// IN, unless there are several.
    pub fn input(&self) -> &Path {
        self.names
            .first()
            .map_or(Path::new(STANDARD), PathBuf::as_path)
    }

    /// OUT, if it was given.
    pub fn output(&self) -> Option<&Path> {
        if self.stdout {
            Some(Path::new(STANDARD))
        } else {
            self.named.as_deref().or(self.second())
        }
    }

    fn second(&self) -> Option<&Path> {
        self.names.get(1).map(PathBuf::as_path)
    }

    /// Whether there may be several INs.
    pub fn is_multiple(&self) -> bool {
        self.multiple
    }

    /// Adds advice if two names were read as IN and OUT, but were perhaps meant as two INs.
    pub fn advise(&self, command: &str, failure: Failure) -> Failure {
        let is_doubtful = failure.status() == Status::Usage || failure.is_taken();
        match self.second().filter(|_| is_doubtful) {
            Some(output) if !output.is_dir() => failure.detail(format!(
                "blpk {command} takes one IN and one OUT; for several files: blpk {command} --multiple {} {}",
                shown(self.input()),
                shown(output),
            )),
            _ => failure,
        }
    }

    /// Refuses names and options that only other programs understand.
    pub fn check(&self, command: &str) -> Result<(), Failure> {
        if self.rm {
            return Err(Failure::usage("blpk never removes its input").hint(format!(
                "remove it after a success: blpk {command} IN && rm IN"
            )));
        }
        let most = if self.stdout || self.named.is_some() {
            1
        } else {
            2
        };
        if self.multiple || self.names.len() <= most {
            return Ok(());
        }
        let names: Vec<_> = self.names.iter().map(|name| shown(name)).collect();
        let names = names.join(" ");
        let title = format!("{command} takes one IN and one OUT, but there are more names");
        Err(Failure::usage(title)
            .detail(format!(
                "for several files: blpk {command} --multiple {names}"
            ))
            .detail(format!(
                "or: for f in {names}; do blpk {command} \"$f\"; done"
            )))
    }

    /// Processes each IN, with the OUT derived from its name, and continues after a failure.
    ///
    /// An IN without an OUT is skipped. An OUT that is also an IN is refused before anything is written.
    pub fn each(
        &self,
        session: &Session,
        output: impl Fn(&Path) -> Result<Option<PathBuf>, Failure>,
        work: impl Fn(&Path, &Path) -> Result<Status, Failure>,
    ) -> Result<Status, Failure> {
        let mut worst = Status::Done;
        let mut pairs = Vec::new();
        for input in &self.names {
            if is_standard_input(input) {
                return Err(
                    Failure::usage("standard input cannot be one of several inputs")
                        .hint("name the files after --multiple"),
                );
            }
            pairs.push((input, output(input)));
        }
        refuse_inputs(&pairs)?;
        for (input, output) in pairs {
            let done = output.and_then(|output| match output {
                Some(output) => work(input, &output),
                None => {
                    let name = quoted(input);
                    session.warning(format_args!("{name} already ends with '.blp': skipped"));
                    Ok(Status::Done)
                }
            });
            match done {
                Ok(status) => worst = worst.max(status),
                Err(failure) if failure.status() == Status::Interrupted => return Err(failure),
                Err(failure) => {
                    worst = worst.max(failure.status());
                    failure.report();
                }
            }
        }
        Ok(worst)
    }
}

/// Refuses an output that is one of the inputs.
fn refuse_inputs(pairs: &[(&PathBuf, Result<Option<PathBuf>, Failure>)]) -> Result<(), Failure> {
    let inputs: HashSet<_> = pairs
        .iter()
        .filter_map(|(input, _)| input.canonicalize().ok())
        .collect();
    for (input, output) in pairs {
        let Ok(Some(output)) = output else { continue };
        if output
            .canonicalize()
            .is_ok_and(|path| inputs.contains(&path))
        {
            let title = format!(
                "{} would be written to {}, which is one of the inputs",
                quoted(input),
                quoted(output)
            );
            return Err(Failure::usage(title).hint("leave one of them out"));
        }
    }
    Ok(())
}
