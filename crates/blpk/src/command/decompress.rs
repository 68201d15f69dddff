//! `blpk decompress`: a Bloscpack file or stream into plain bytes.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use bloscpack::{Decoder, Metadata};
use clap::Args;

use super::bloscpack_file::{self, failed_to_read, without_extension};
use crate::args::Operands;
use crate::failure::Failure;
use crate::frame::{self, READ};
use crate::input::{Input, STANDARD, is_standard_input};
use crate::output::{MadeFrom, Replaces, Target};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::text::quoted;
use crate::url;
use bloscpack_open::internal::size;

const EXAMPLES: &str = "\
Examples:
  blpk decompress data.bin.blp       write data.bin
  blpk d -e download data.bin        a file with another name
  curl -s URL | blpk d | consumer    from a pipe to a pipe
  blpk d --allow-unterminated a.blp  what is there of a file that was cut
  blpk export array.blp array.npy    a NumPy array, with its shape";

/// Decompress a file or standard input
#[derive(Args, Debug)]
#[command(
    after_help = EXAMPLES,
    override_usage = "blpk decompress [OPTIONS] [IN] [OUT]\n       blpk decompress [OPTIONS] --multiple IN...",
    mut_arg("names", |arg| arg.help("IN, the file to decompress, or - for standard input (the default), and OUT, the file to write, or - \
        for standard output [default: IN without .blp, or - if IN is -]")),
)]
pub struct Decompress {
    /// Accept any name for IN; OUT is then required
    #[arg(short = 'e', long)]
    no_check_extension: bool,

    /// Write the metadata of the file to FILE, as JSON
    #[arg(long, value_name = "FILE")]
    metadata_out: Option<PathBuf>,

    /// Extract the complete chunks of unterminated or unfinished data
    #[arg(long)]
    allow_unterminated: bool,

    #[command(flatten)]
    operands: Operands,
}

impl Decompress {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        self.operands.check("decompress")?;
        if self.operands.is_multiple() {
            if self.no_check_extension || self.metadata_out.is_some() {
                let title = "--multiple goes with neither --no-check-extension nor --metadata-out";
                return Err(Failure::usage(title));
            }
            let output = |input: &Path| output_of(input).map(Some);
            let file = |input: &Path, output: &Path| self.file(input, output, session);
            return self.operands.each(session, output, file);
        }
        // Before its name is looked at.
        frame::refuse(self.operands.input(), READ)?;
        let done = self.file(self.operands.input(), &self.output()?, session);
        done.map_err(|failure| self.operands.advise("decompress", failure))
    }

    /// Decompresses one file.
    fn file(&self, input: &Path, output: &Path, session: &Session) -> Result<Status, Failure> {
        let replaces = match without_extension(input) {
            Some(stem) if stem == output => Replaces::Any,
            _ => Replaces::Plain,
        };
        let input = bloscpack_file::open(input, session)?;
        let mut output = Target::file(output, replaces, MadeFrom::Inputs(&[&input]), session)?;
        output.keep_time(&input);
        let progress = Progress::new(session, input.length());
        let builder = Decoder::builder()
            .threads(session.threads)
            .limits(session.limits)
            .allow_unterminated(self.allow_unterminated);
        match input.located(&progress) {
            Some((file, _)) => {
                let decoder = builder.read_at(file, 0);
                let decoder = decoder.map_err(|error| failed_to_read(&error, &input, &output))?;
                self.decode(decoder, &input, output, &progress, session)?;
                let end = input.seek_to_end();
                end.map_err(|error| Failure::io(input.name(), &error))?;
            }
            None => {
                let decoder = builder.read_from(input.reader(&progress));
                self.decode(decoder, &input, output, &progress, session)?;
            }
        }
        Ok(Status::Done)
    }

    /// Writes the content that the decoder reads.
    fn decode<R: Read>(
        &self,
        mut decoder: Decoder<R>,
        input: &Input,
        mut output: Target,
        progress: &Progress,
        session: &Session,
    ) -> Result<(), Failure> {
        let mut metadata_output = self.metadata_output(&output, input, session)?;
        let header = decoder.read_header();
        let header = header.map_err(|error| failed_to_read(&error, input, &output))?;
        if header.varlen {
            return Err(bloscpack_file::has_records(&input.name())
                .hint("use blpk records unpack, or blpk cat for all records without separators"));
        }
        let metadata = decoder.read_metadata();
        let metadata = metadata.map_err(|error| failed_to_read(&error, input, &output))?;
        if let Some(metadata) = metadata {
            session.verbose(format_args!("metadata: {}", metadata.text()));
        }
        save(metadata, &mut metadata_output, input, session)?;
        let done = decoder.copy_to(&mut output);
        progress.finish();
        session.warnings(&input.name(), decoder.warnings());
        done.map_err(|error| failed_to_read(&error, input, &output))?;

        let name = output.name().to_owned();
        output.commit(session)?;
        if let Some(metadata_output) = metadata_output {
            metadata_output.commit(session)?;
        }
        session.done(format_args!(
            "{}, {}, decompressed to {name}, {},",
            input.name(),
            size::pretty(decoder.total_in()),
            size::pretty(decoder.total_out()),
        ));
        Ok(())
    }

    /// OUT, or its default. As in the Python tool, IN must have the extension unless `-e` is given, even with OUT.
    fn output(&self) -> Result<PathBuf, Failure> {
        let (input, output) = (self.operands.input(), self.operands.output());
        if is_standard_input(input) {
            return Ok(output.unwrap_or(Path::new(STANDARD)).to_owned());
        }
        if url::is_url(input) {
            let output = output.map(Path::to_owned);
            return output.ok_or_else(|| {
                Failure::usage(format!("{}: a URL needs OUT", url::name(input)))
                    .hint("name OUT, or - for standard output")
            });
        }
        match (output, without_extension(input)) {
            (Some(output), stem) if self.no_check_extension || stem.is_some() => {
                Ok(output.to_owned())
            }
            (None, _) if self.no_check_extension => {
                Err(Failure::usage("--no-check-extension requires OUT")
                    .hint("name OUT, or - for standard output"))
            }
            _ => output_of(input),
        }
    }

    fn metadata_output(
        &self,
        output: &Target,
        input: &Input,
        session: &Session,
    ) -> Result<Option<Target>, Failure> {
        let Some(path) = &self.metadata_out else {
            return Ok(None);
        };
        let metadata_output =
            Target::file(path, Replaces::Plain, MadeFrom::Inputs(&[input]), session)?;
        if metadata_output.is_same_file(output) {
            let title = "data and metadata cannot go to the same output";
            return Err(Failure::usage(title));
        }
        Ok(Some(metadata_output))
    }
}

/// The output for an input with the extension.
fn output_of(input: &Path) -> Result<PathBuf, Failure> {
    without_extension(input).ok_or_else(|| {
        let name = quoted(input);
        Failure::usage(format!("input file {name} does not end with '.blp'"))
            .hint("to decompress it anyway, use -e and name OUT (- for standard output)")
    })
}

/// Writes the metadata, if it is wanted. Without metadata, the file is not created.
fn save(
    metadata: Option<&Metadata>,
    output: &mut Option<Target>,
    input: &Input,
    session: &Session,
) -> Result<(), Failure> {
    let Some(wanted) = output else { return Ok(()) };
    if let Some(metadata) = metadata {
        let done = wanted.write_all(metadata.text().as_bytes());
        return done.map_err(|error| wanted.failed(&error.into()));
    }
    session.warning(format_args!("{}: no metadata", input.name()));
    *output = None;
    Ok(())
}
