//! `blpk verify`: checks every chunk and reports damage.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use bloscpack::{
    Category, Error,
    frame::FrameError,
    open::{Container, Kind, Report},
};
use clap::Args;
use serde_json::json;

use super::damage;
use crate::container::Opened;
use crate::dataset::walk::datasets;
use crate::failure::{Failure, VERIFY};
use crate::input::{self, STANDARD, is_directory};
use crate::json_text;
use crate::output;
use crate::session::Session;
use crate::spool::{Spool, WithLists};
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

/// The result for one input, with its damages.
struct Outcome {
    path: PathBuf,
    status: Status,
    report: Result<(Report, Spool), Failure>,
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
                    self.directory(path, session, &mut take)?;
                    continue;
                }
                Ok(false) => self.file(path, session),
                Err(failure) => Outcome::failed(path, failure),
            };
            take(report)?;
        }
        if self.json {
            let files: Vec<_> = files.iter().map(Outcome::json).collect();
            json_text::print(&BTreeMap::from([("files", files)]))?;
        }
        Ok(worst)
    }

    fn file(&self, path: &Path, session: &Session) -> Outcome {
        match Opened::open_with(path, session, |options| options.cache(0)) {
            Ok(mut opened) => self.check(path, &mut *opened.container, |error| {
                Failure::library(&opened.origin.name, error)
            }),
            Err(failure) => Outcome::failed(path, failure),
        }
    }

    /// Checks what is in a directory, or all datasets below it.
    fn directory(
        &self,
        path: &Path,
        session: &Session,
        take: &mut impl FnMut(Outcome) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut examine = |path: &Path, opened: bloscpack::Result<Opened>| {
            take(match opened {
                Ok(mut opened) => {
                    let origin = &opened.origin;
                    let failed = |error: &Error| origin.failure(error);
                    let outcome = self.check(path, &mut *opened.container, failed);
                    opened.warn(session);
                    outcome
                }
                Err(error) => Outcome::failed(path, failed_to_open(path, &error)),
            })
        };
        let none = match Opened::directory(path, session) {
            Err(error) if error.category() == Category::Unsupported && error.path().is_none() => {
                error
            }
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
            Err(failure) => return take(Outcome::failed(path, failure)),
        }
        if is_empty {
            let failure = Failure::library(quoted(path), &none);
            let failure = failure.hint("there is no dataset below it, either");
            return take(Outcome::failed(path, failure));
        }
        Ok(())
    }

    fn check(
        &self,
        path: &Path,
        container: &mut dyn Container,
        failed: impl FnOnce(&Error) -> Failure,
    ) -> Outcome {
        let (mut status, mut spool) = (Status::Done, Spool::new());
        let name = shown(path);
        let is_located = matches!(container.kind(), Kind::Bloscpack | Kind::Records);
        let report = container.verify_with(&mut |damage| {
            status = status.max(damage.error.category().into());
            match (self.json, is_located) {
                (false, _) => spool.text(format_args!("{name}: {}\n", damage::line(&damage))),
                (true, true) => spool.json(&damage::json(&damage)),
                (true, false) => spool.json(&damage::error_json(&damage.error)),
            }
        });
        match report {
            Ok(report) => Outcome {
                path: path.to_owned(),
                status,
                report: Ok((report, spool)),
            },
            Err(error) => Outcome::failed(path, failed(&error)),
        }
    }
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
    fn json(&self) -> WithLists<'_> {
        let report = self.report.as_ref().ok();
        let lists = report.map(|(_, damages)| ("damages", damages));
        let report = report.map(|(report, _)| report);
        let object = json!({
            "path": self.path.to_string_lossy(),
            "status": self.status.code(),
            "ok": self.status == Status::Done,
            "chunks": report.map(|report| report.chunks),
            "bytes": report.map(|report| report.bytes),
            "records": report.map(|report| report.records),
            "damages": [],
            "warnings": report.map_or(&[][..], |report| &report.warnings),
            "error": self.report.as_ref().err().and_then(Failure::title),
        });
        WithLists(object, lists.into_iter().collect())
    }

    fn failed(path: &Path, failure: Failure) -> Self {
        Self {
            path: path.to_owned(),
            status: failure.status(),
            report: Err(failure),
        }
    }

    fn print(&self, session: &Session) -> Result<(), Failure> {
        let (report, damages) = match &self.report {
            Ok(report) => report,
            Err(failure) => {
                failure.report();
                return Ok(());
            }
        };
        session.warnings(&input::name(&self.path), &report.warnings);
        let mut text = output::Printer::new();
        damages.print(&mut text)?;
        if report.is_sound() {
            let name = shown(&self.path);
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
