//! `blpk verify`: checks every chunk and reports damage.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use bloscpack::{Category, Error, frame::FrameError, open::Report, verify::Damage};
use clap::Args;
use serde_core::ser::{Serialize, SerializeMap, Serializer};

use super::damage;
use crate::container::Opened;
use crate::dataset::walk::datasets;
use crate::failure::{Failure, VERIFY};
use crate::input::{self, STANDARD, is_directory};
use crate::json_text;
use crate::output;
use crate::session::Session;
use crate::status::Status;
use crate::text::{count, quoted, shown};

const GOOD: Style = AnsiColor::Green.on_default();

/// Check every chunk and report damage
///
/// Prints one line for each sound file or dataset, and one for each damage found in the others. Blosc2 frames have no
/// checksums, so a chunk that can be decompressed counts as sound. If a directory is not a dataset, all datasets below it
/// are checked. Files that do not belong to a dataset, and rows that were never flushed, are warnings. The exit status
/// is the highest of all files.
#[derive(Args, Debug)]
pub struct Verify {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Files, datasets and frames to check, or - for standard input
    #[arg(value_name = "PATH", default_value = STANDARD)]
    paths: Vec<PathBuf>,
}

/// The result for one input.
struct Outcome {
    path: PathBuf,
    status: Status,
    report: Result<Report, Failure>,
}

impl Verify {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let mut worst = Status::Done;
        let mut files = Vec::new();
        let mut take = |outcome: Outcome| {
            worst = worst.max(outcome.status);
            if self.json {
                files.push(outcome);
                return Ok(());
            }
            outcome.print(session)
        };
        for path in &self.paths {
            let report = match is_directory(path) {
                Ok(true) => {
                    directory(path, session, &mut take)?;
                    continue;
                }
                Ok(false) => file(path, session),
                Err(failure) => Err(failure),
            };
            take(Outcome::new(path.clone(), report))?;
        }
        if self.json {
            json_text::print(&BTreeMap::from([("files", files)]))?;
        }
        Ok(worst)
    }
}

fn file(path: &Path, session: &Session) -> Result<Report, Failure> {
    let mut opened = Opened::open_with(path, session, |options| options.cache(0))?;
    let report = opened.container.verify();
    report.map_err(|error| Failure::library(&opened.origin.name, &error))
}

/// Checks what is in a directory, or all datasets below it.
fn directory(
    path: &Path,
    session: &Session,
    take: &mut impl FnMut(Outcome) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut examine = |path: &Path, opened: bloscpack::Result<Opened>| {
        let report = match opened {
            Ok(mut opened) => {
                let report = opened.container.verify();
                opened.warn(session);
                report.map_err(|error| opened.origin.failure(&error))
            }
            Err(error) => Err(failed_to_open(path, &error)),
        };
        take(Outcome::new(path.to_owned(), report))
    };
    let none = match Opened::directory(path, session) {
        Err(error) if error.category() == Category::Unsupported && error.path().is_none() => error,
        opened => return examine(path, opened),
    };
    let mut is_empty = true;
    match datasets(path, session) {
        Ok(found) => {
            for (path, opened) in found {
                is_empty = false;
                examine(&path, opened)?;
            }
        }
        Err(failure) => return take(Outcome::new(path.to_owned(), Err(failure))),
    }
    if is_empty {
        let failure = Failure::library(quoted(path), &none);
        let failure = failure.hint("there is no dataset below it, either");
        return take(Outcome::new(path.to_owned(), Err(failure)));
    }
    Ok(())
}

fn failed_to_open(path: &Path, error: &Error) -> Failure {
    let failure = Failure::library(quoted(path), error);
    match error.category() {
        _ if error.detail::<FrameError>().is_some() => failure.if_damaged(VERIFY),
        Category::Damaged | Category::CutShort => {
            failure.hint("blpk dataset repair can fix some kinds of damage")
        }
        _ => failure,
    }
}

impl Outcome {
    fn new(path: PathBuf, report: Result<Report, Failure>) -> Self {
        let status = match &report {
            Ok(report) => {
                let errors = report.damages.iter().map(|damage| &damage.error);
                let statuses = errors.map(|error| error.category().into());
                statuses.max().unwrap_or(Status::Done)
            }
            Err(failure) => failure.status(),
        };
        Self {
            path,
            status,
            report,
        }
    }

    fn print(&self, session: &Session) -> Result<(), Failure> {
        let name = shown(&self.path);
        let report = match &self.report {
            Ok(report) => report,
            Err(failure) => {
                failure.report();
                return Ok(());
            }
        };
        session.warnings(&input::name(&self.path), &report.warnings);
        let mut text = output::Printer::new();
        for damage in &report.damages {
            text.line(format_args!("{name}: {}", damage::line(damage)))?;
        }
        if report.is_sound() {
            text.line(format_args!("{name}: {GOOD}ok{GOOD:#}, {}", amount(report)))?;
        }
        text.finish()
    }
}

/// `3 chunks, 1000 bytes`.
fn amount(report: &Report) -> String {
    let amount = match report.records {
        0 => count(report.bytes, "byte"),
        records => count(records, "record"),
    };
    format!("{}, {amount}", count(report.chunks, "chunk"))
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = self.report.as_ref().ok();
        let warnings = report.map_or(&[][..], |report| &report.warnings);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("path", &self.path.to_string_lossy())?;
        map.serialize_entry("status", &self.status.code())?;
        map.serialize_entry("ok", &(self.status == Status::Done))?;
        map.serialize_entry("chunks", &report.map(|report| report.chunks))?;
        map.serialize_entry("bytes", &report.map(|report| report.bytes))?;
        map.serialize_entry("records", &report.map(|report| report.records))?;
        map.serialize_entry("damages", &Damages(report))?;
        map.serialize_entry("warnings", warnings)?;
        let error = self.report.as_ref().err().and_then(Failure::title);
        map.serialize_entry("error", &error)?;
        map.end()
    }
}

/// The damages of a report, one after another.
struct Damages<'a>(Option<&'a Report>);

impl Serialize for Damages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let damages = self.0.into_iter().flat_map(|report| {
            let json = match report.is_located {
                true => damage::json,
                false => |damage: &Damage| damage::error_json(&damage.error),
            };
            report.damages.iter().map(json)
        });
        serializer.collect_seq(damages)
    }
}
