//! `blpk decompress`: a Bloscpack file or stream into plain bytes.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use bloscpack::{Decoder, Error, Metadata};
use clap::Args;

use crate::frame::{self, READ};
use crate::input::{Input, STANDARD, is_standard_input};
use crate::message::{Failure, quoted};
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::size;
use crate::status::Status;

const EXTENSION: &str = ".blp";

/// Decompress a file or standard input
#[derive(Args, Debug)]
pub struct Decompress {
    /// Take IN whatever its name; OUT must then be given
    #[arg(short = 'e', long)]
    no_check_extension: bool,

    /// Write the metadata of the file, which is JSON, to FILE
    #[arg(long, value_name = "FILE")]
    metadata_out: Option<PathBuf>,

    /// Take what there is of unterminated or unfinished data
    #[arg(long)]
    allow_unterminated: bool,

    /// File to decompress, or - for standard input
    #[arg(value_name = "IN", default_value = STANDARD)]
    input: PathBuf,

    /// File to write, or - for standard output [default: IN without .blp, or - if IN is -]
    #[arg(value_name = "OUT")]
    output: Option<PathBuf>,
}

impl Decompress {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        frame::refuse(&self.input, READ)?;
        let target = self.target()?;
        let input = Input::open_binary(&self.input, session)?;
        let output = Output::create(&target, &[&input], session)?;
        let progress = Progress::new(session, input.length());
        let builder = Decoder::builder()
            .threads(session.threads)
            .limits(session.limits)
            .allow_unterminated(self.allow_unterminated);
        match input.places(&progress) {
            Some((places, bytes)) => {
                let decoder = builder.read_at(places, bytes.start);
                let decoder = decoder.map_err(|error| blame(&error, &input, &output))?;
                self.decode(decoder, &input, output, &progress, session)?;
                input
                    .pass_all()
                    .map_err(|error| Failure::io(input.name(), &error))?;
            }
            None => {
                let decoder = builder.read_from(input.source(&progress));
                self.decode(decoder, &input, output, &progress, session)?;
            }
        }
        Ok(Status::Done)
    }

    /// Writes what the decoder gives.
    fn decode<R: Read>(
        &self,
        mut decoder: Decoder<R>,
        input: &Input,
        mut output: Output,
        progress: &Progress,
        session: &Session,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        let mut metadata_output = self.metadata_output(&output, input, session)?;
        let header = decoder.read_header();
        let header = header.map_err(|error| blame(&error, input, &output))?;
        if header.varlen {
            let title = format!(
                "{}: it holds records, whose ends would be lost",
                input.name()
            );
            let failure = Failure::new(Status::Unsupported, title);
            return Err(
                failure.hint("use blpk records unpack, or blpk cat for one behind the other")
            );
        }
        let metadata = decoder.read_metadata();
        let metadata = metadata.map_err(|error| blame(&error, input, &output))?;
        if let Some(metadata) = metadata {
            session.verbose(format_args!("metadata: {}", metadata.text()));
        }
        save(metadata, &mut metadata_output, input, session)?;
        let done = decoder.copy_to(&mut output);
        progress.finish();
        for warning in decoder.warnings() {
            session.warning(format_args!("{}: {warning}", input.name()));
        }
        if let Err(error) = done {
            return Err(blame(&error, input, &output));
        }

        let name = output.name().to_owned();
        output.commit()?;
        metadata_output.map(Output::commit).transpose()?;
        session.verbose(format_args!(
            "{}, {}, decompressed into {name}, {}, in {:.2?}",
            input.name(),
            size::pretty(decoder.total_in()),
            size::pretty(decoder.total_out()),
            begun.elapsed(),
        ));
        Ok(())
    }

    /// OUT, or what follows from IN. As in the Python tool, a file must have the extension unless
    /// `-e` says otherwise, even where OUT is given.
    fn target(&self) -> Result<PathBuf, Failure> {
        if is_standard_input(&self.input) {
            return Ok(self.output.clone().unwrap_or_else(|| STANDARD.into()));
        }
        let stem = without_extension(&self.input);
        match (&self.output, stem) {
            (Some(output), stem) if self.no_check_extension || stem.is_some() => Ok(output.clone()),
            (None, _) if self.no_check_extension => {
                Err(Failure::usage("--no-check-extension requires use of OUT")
                    .hint("give OUT, or - for standard output"))
            }
            (_, Some(stem)) => Ok(stem),
            (_, None) => {
                let name = quoted(&self.input);
                let title = format!("input file {name} does not end with '{EXTENSION}'");
                Err(Failure::usage(title)
                    .hint("to take it all the same, give -e and OUT (- for standard output)"))
            }
        }
    }

    fn metadata_output(
        &self,
        output: &Output,
        input: &Input,
        session: &Session,
    ) -> Result<Option<Output>, Failure> {
        let Some(path) = &self.metadata_out else {
            return Ok(None);
        };
        let metadata_output = Output::create(path, &[input], session)?;
        if metadata_output.is_same_place(output) {
            return Err(Failure::usage(
                "the data and the metadata cannot go to the same output",
            ));
        }
        Ok(Some(metadata_output))
    }
}

/// Finds out whose fault it is, and tells.
pub fn blame(error: &Error, input: &Input, output: &Output) -> Failure {
    if output.has_failed() {
        return output.explain(Failure::library(output.name(), error));
    }
    let failure = Failure::library(input.name(), error);
    output.explain(match input.at_positions() {
        Some(_) => failure.or_recover(),
        None => failure,
    })
}

/// Writes the metadata, if it is wanted. Without any, no file comes to be.
fn save(
    metadata: Option<&Metadata>,
    output: &mut Option<Output>,
    input: &Input,
    session: &Session,
) -> Result<(), Failure> {
    let Some(wanted) = output else { return Ok(()) };
    if let Some(metadata) = metadata {
        let done = wanted.write_all(metadata.text().as_bytes());
        return done.map_err(|error| wanted.explain(Failure::io(wanted.name(), &error)));
    }
    session.warning(format_args!("{}: there is no metadata", input.name()));
    *output = None;
    Ok(())
}

/// Whether the path ends as those of Bloscpack files do.
pub fn has_extension(path: &Path) -> bool {
    without_extension(path).is_some()
}

/// IN without `.blp`, if it is a name with something before it.
fn without_extension(path: &Path) -> Option<PathBuf> {
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
