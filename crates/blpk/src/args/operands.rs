//! IN and OUT of `compress` and `decompress`, or several INs.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::Failure;
use crate::input::{STANDARD, is_standard_input};
use crate::session::Session;
use crate::status::Status;
use crate::text::{quoted, shown};

const NAMES: &str = "Names";

/// The names that a command was given.
#[derive(Args, Debug)]
pub struct Operands {
    /// Write to standard output; same as - for OUT
    #[arg(long, conflicts_with_all = ["named", "multiple"], help_heading = NAMES)]
    stdout: bool,

    /// Write to FILE; same as FILE for OUT
    #[arg(short = 'O', long = "output", value_name = "FILE", conflicts_with = "multiple", help_heading = NAMES)]
    named: Option<PathBuf>,

    /// Take each name as an IN with an OUT of its own; the exit status is the highest of all
    #[arg(long, help_heading = NAMES)]
    multiple: bool,

    /// An option that gzip and zstd need, and that changes nothing here: the input is always kept.
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

    /// Advice if two names were taken for IN and OUT, and perhaps should not have been.
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

    /// Refuses names and options that mean something in other programs, and nothing here.
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

    /// Works on each of several INs, with the OUT that follows from its name, and goes on after a failure.
    ///
    /// An IN without an OUT is left out. Before anything is written, an OUT that is also an IN is refused.
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
                    session.warning(format_args!("{name} already ends with '.blp': left out"));
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
