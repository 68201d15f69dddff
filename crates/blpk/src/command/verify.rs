//! `blpk verify`: checks every chunk and reports damage.

use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use bloscpack::{Category, Error};
use bloscpack_open::{Container, Family, Kind, Report, probe};
use clap::Args;
use serde_core::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::json;

use super::damage;
use crate::container::Opened;
use crate::dataset::walk::{self, Found};
use crate::failure::{Failure, Subject, VERIFY};
use crate::input::{self, STANDARD, is_directory};
use crate::json_text;
use crate::message;
use crate::output;
use crate::session::Session;
use crate::spool::{Spool, WithLists};
use crate::status::Status;
use crate::strip::Strip;
use crate::text::{count, exact, quoted, shown};

const GOOD: Style = AnsiColor::Green.on_default();

/// Check every chunk and report damage
///
/// Prints one line for each sound file or dataset, and one for each damage in the others. The exit status is the highest of
/// all files. The chunks of a single file are drawn on a terminal.
///
/// If a directory is not a dataset, all datasets, Bloscpack files and frames below it are checked. Files are recognized by
/// their first bytes or by their ending; a note on standard error counts other files. Links are not followed.
///
/// Blosc2 frames have no checksums, so a chunk that can be decompressed counts as sound. The files in a ZIP archive are
/// compared with their checksums. Warnings name files that do not belong to a dataset, rows that were never flushed, and
/// chunks that a lazy expression or a proxy keeps elsewhere.
#[derive(Args, Debug)]
pub struct Verify {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Files, datasets and frames to check, or - for standard input
    #[arg(value_name = "PATH", default_value = STANDARD)]
    paths: Vec<PathBuf>,
}

/// The report on all inputs as JSON.
struct Files<'a> {
    files: Vec<WithLists<'a>>,
    /// The number of files of other kinds below directories.
    others: u64,
}

impl Serialize for Files<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("files", &self.files)?;
        map.serialize_entry("others", &self.others)?;
        map.end()
    }
}

/// The result for one input, with its damages.
struct Outcome {
    path: PathBuf,
    status: Status,
    report: Result<(Report, Spool), Failure>,
    /// The chunks to draw on a terminal.
    strip: Option<Strip>,
}

impl Verify {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let mut worst = Status::Done;
        let (mut files, mut others) = (Vec::new(), 0);
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
                    others += self.directory(path, session, &mut take)?;
                    continue;
                }
                Ok(false) => self.file(path, session),
                Err(failure) => Outcome::failed(path, failure),
            };
            take(report)?;
        }
        if self.json {
            let files: Vec<_> = files.iter().map(Outcome::json).collect();
            json_text::print(&Files { files, others })?;
        }
        Ok(worst)
    }

    fn file(&self, path: &Path, session: &Session) -> Outcome {
        match Opened::open_with(path, session, |options| options.cache(0)) {
            Ok(mut opened) => {
                let strip = self.strip(path, &opened, session);
                let name = &opened.origin.name;
                self.check(path, &mut *opened.container, strip, name)
            }
            Err(failure) => Outcome::failed(path, failure),
        }
    }

    /// Checks the dataset in a directory, or everything below it. Returns the number of files of other kinds.
    fn directory(
        &self,
        path: &Path,
        session: &Session,
        take: &mut impl FnMut(Outcome) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        let none = match Opened::directory(path, session) {
            Err(error) if error.category() == Category::Unsupported && error.path().is_none() => {
                error
            }
            opened => return take(self.dataset(path, opened, session)).map(|()| 0),
        };
        let below = match walk::below(path) {
            Ok(below) => below,
            Err(failure) => return take(Outcome::failed(path, failure)).map(|()| 0),
        };
        if !self.json {
            walk::note_others(below.others, path, session);
        }
        if below.found.is_empty() {
            let failure = Failure::from(none).named(quoted(path));
            let failure = failure.hint("there is nothing to verify below it either");
            return take(Outcome::failed(path, failure)).map(|()| below.others);
        }
        for found in below.found {
            take(match found {
                Found::File(path) => self.file(&path, session),
                Found::Hidden(path, error) => Outcome::failed(&path, path.explain(error.into())),
                Found::Directory(path) => {
                    let opened = Opened::directory(&path, session);
                    self.dataset(&path, opened, session)
                }
            })?;
        }
        Ok(below.others)
    }

    /// Checks a dataset or a sparse frame.
    fn dataset(
        &self,
        path: &Path,
        opened: bloscpack::Result<Opened>,
        session: &Session,
    ) -> Outcome {
        match opened {
            Ok(mut opened) => {
                let origin = &opened.origin;
                let outcome = self.check(path, &mut *opened.container, None, origin);
                opened.warn(session);
                outcome
            }
            Err(error) => Outcome::failed(path, not_opened(path, error)),
        }
    }

    /// The chunks of a Bloscpack file, if it is the only input and standard output is a terminal.
    fn strip(&self, path: &Path, opened: &Opened, session: &Session) -> Option<Strip> {
        let is_wanted = self.paths == [path] && !self.json && message::is_shown();
        match opened.container.source() {
            Some(source) if is_wanted && opened.is_bloscpack() => Some(Strip::of(source, session)),
            _ => None,
        }
    }

    fn check(
        &self,
        path: &Path,
        container: &mut dyn Container,
        mut strip: Option<Strip>,
        subject: &impl Subject,
    ) -> Outcome {
        let (mut status, mut spool) = (Status::Done, Spool::new());
        let name = shown(path);
        let is_located = matches!(container.kind(), Kind::Bloscpack | Kind::Records);
        let report = container.verify_with(&mut |damage| {
            status = status.max(damage.error.category().into());
            let chunk = damage.error.position().and_then(|position| position.chunk);
            if let (Some(strip), Some(chunk)) = (&mut strip, chunk) {
                strip.damage(chunk);
            }
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
                strip,
            },
            Err(error) => Outcome::failed(path, subject.explain(error.into())),
        }
    }
}

fn not_opened(path: &Path, error: Error) -> Failure {
    let is_damaged = matches!(error.category(), Category::Damaged | Category::CutShort);
    let is_advised = error.hint().is_some();
    let failure = path.explain(error.into());
    if !is_damaged || is_advised {
        return failure;
    }
    match probe(path).ok().and_then(|probed| probed.family) {
        Some(Family::Frame | Family::Store) => failure.if_damaged(VERIFY),
        _ => failure.hint("blpk dataset repair can fix some kinds of damage"),
    }
}

impl Outcome {
    fn json(&self) -> WithLists<'_> {
        let report = self.report.as_ref().ok();
        let lists = report.map(|(_, damages)| ("damages", damages));
        let report = report.map(|(report, _)| report);
        let object = json!({
            "path": exact(&self.path),
            "status": self.status.code(),
            "ok": self.status == Status::Done,
            "chunks": report.map(|report| report.chunks),
            "bytes": report.map(|report| report.bytes),
            "records": report.map(|report| report.records),
            "damages": [],
            "warnings": report.map_or(&[][..], |report| &report.warnings),
            "error": self.report.as_ref().err().and_then(Failure::title),
            "code": self.report.as_ref().err().and_then(Failure::code),
        });
        WithLists(object, lists.into_iter().collect())
    }

    fn failed(path: &Path, failure: Failure) -> Self {
        Self {
            path: path.to_owned(),
            status: failure.status(),
            report: Err(failure),
            strip: None,
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
        if let Some(strip) = self.strip.as_ref().filter(|strip| !strip.is_short()) {
            let (marks, key) = strip.drawn(message::width());
            text.line(marks)?;
            text.line(key)?;
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
