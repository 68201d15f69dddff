//! `blpk decompress`: decompresses a Bloscpack file or stream into plain bytes.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use bloscpack::Decoder;
use clap::Args;

use super::bloscpack_file::{self, Operands, without_extension};
use crate::failure::{About as _, Failure};
use crate::frame::{self, READ};
use crate::input::{Input, STANDARD, is_standard_input};
use crate::output::{MadeFrom, Replaces, Target};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::text::{is_url, quoted};
use bloscpack_open::exchange::Ending;
use bloscpack_open::internal::size;

const EXAMPLES: &str = "\
Examples:
  blpk decompress data.bin.blp       write data.bin
  blpk d -e download data.bin        a file with another name
  curl -s URL | blpk d | consumer    from a pipe to a pipe
  blpk d --allow-unterminated a.blp  the complete chunks of a cut stream
  blpk export array.blp array.npy    a NumPy array, with its shape";

/// Decompress a Bloscpack file or standard input
///
/// The input is always kept. Use blpk records unpack for a file of records, and blpk cat for a part of the content.
#[derive(Args, Debug)]
#[command(
    after_help = EXAMPLES,
    override_usage = "blpk decompress [OPTIONS] [IN] [OUT]\n       blpk decompress [OPTIONS] --multiple IN...",
    mut_arg("names", |arg| arg.help("IN: file to decompress, or - for standard input (the default); OUT: file to write, or - for standard \
        output [default: IN without .blp, or - if IN is -]")),
)]
pub struct Decompress {
    /// Accept any name for IN; OUT is then required
    #[arg(short = 'e', long)]
    no_check_extension: bool,

    /// Write the metadata of IN to FILE, as JSON
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
                let title = "--multiple cannot be used with --no-check-extension or --metadata-out";
                return Err(Failure::usage(title));
            }
            let output = |input: &Path| output_of(input).map(Some);
            let file = |input: &Path, output: &Path| self.file(input, output, session);
            return self.operands.each(session, output, file);
        }
        // Before the name of the output is derived from the input.
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
        let mut output = Target::file(output, replaces, MadeFrom::Input(&input), session)?;
        output.keep_time(&input);
        let mut metadata_output = self.metadata_output(&output, &input, session)?;
        let progress = Progress::new(session, input.length());
        let mut work = Work {
            input: &input,
            output: &mut output,
            metadata_output: &mut metadata_output,
            progress: &progress,
            session,
        };
        let options = session
            .options()
            .threads(session.threads)
            .allow_unterminated(self.allow_unterminated);
        let located = input.located(&progress);
        let is_located = located.is_some();
        let done = match located {
            Some((file, _)) => Decoder::from_source(file, 0, options)
                .map_err(Failure::from)
                .and_then(|decoder| work.decode(decoder)),
            None => work.decode(Decoder::with_options(input.reader(&progress), options)),
        };
        let (read, written) = done.about(&output.made_from(&input))?;
        let made = output.commit(session)?;
        if let Some(metadata_output) = metadata_output {
            metadata_output.commit(session)?;
        }
        session.done(format_args!(
            "{}, {}, decompressed to {}, {},",
            input.name(),
            size::pretty(read),
            made.name,
            size::pretty(written),
        ));
        if is_located {
            input.seek_to_end().about(&input.name())?;
        }
        Ok(Status::Done)
    }

    /// OUT, or its default, which requires that IN ends with `.blp`.
    fn output(&self) -> Result<PathBuf, Failure> {
        let (input, output) = (self.operands.input(), self.operands.output());
        if is_standard_input(input) {
            return Ok(output.unwrap_or(Path::new(STANDARD)).to_owned());
        }
        if is_url(input) {
            let output = output.map(Path::to_owned);
            return output.ok_or_else(|| {
                Failure::usage(format!("{}: a URL needs OUT", quoted(input)))
                    .hint("name OUT, or - for standard output")
            });
        }
        match output {
            Some(output) => Ok(output.to_owned()),
            None if self.no_check_extension => {
                Err(Failure::usage("--no-check-extension requires OUT")
                    .hint("name OUT, or - for standard output"))
            }
            None => output_of(input),
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
        let metadata_output = Target::file(path, Replaces::Plain, MadeFrom::Input(input), session)?;
        if metadata_output.is_same_file(output) {
            let title = "data and metadata cannot go to the same output";
            return Err(Failure::usage(title));
        }
        Ok(Some(metadata_output))
    }
}

/// The output for an input that ends with `.blp`.
fn output_of(input: &Path) -> Result<PathBuf, Failure> {
    without_extension(input).ok_or_else(|| {
        let name = quoted(input);
        let failure = Failure::usage(format!("input file {name} does not end with '.blp'"));
        match Ending::of_path(input) {
            Some(Ending::Foreign(what)) => failure.hint(format!(
                "by its ending it is {what}; use another program to read it"
            )),
            _ => failure.hint("to decompress it anyway, name OUT (- for standard output)"),
        }
    })
}

/// The decompression of one file.
struct Work<'a> {
    input: &'a Input,
    output: &'a mut Target,
    metadata_output: &'a mut Option<Target>,
    progress: &'a Progress,
    session: &'a Session,
}

impl Work<'_> {
    /// Writes the content and the metadata. Returns the bytes read and written.
    fn decode<R: Read>(&mut self, mut decoder: Decoder<R>) -> Result<(u64, u64), Failure> {
        let (name, session) = (self.input.name(), self.session);
        if decoder.read_header()?.varlen {
            return Err(bloscpack_file::has_records(&name)
                .hint("use blpk records unpack, or blpk cat for all records without separators"));
        }
        let metadata = decoder.read_metadata()?;
        if let Some(metadata) = metadata {
            session.verbose(format_args!("metadata: {}", metadata.text()));
        }
        match (&mut *self.metadata_output, metadata) {
            (Some(output), Some(metadata)) => {
                let done = output.write_all(metadata.text().as_bytes());
                done.about(&*output)?;
            }
            // Without metadata, the file is not created.
            (Some(_), None) => {
                session.warning(format_args!("{name}: no metadata"));
                *self.metadata_output = None;
            }
            (None, _) => {}
        }
        let done = decoder.copy_to(&mut *self.output);
        self.progress.finish();
        session.warnings(&name, decoder.warnings());
        done?;
        Ok((decoder.total_in(), decoder.total_out()))
    }
}
