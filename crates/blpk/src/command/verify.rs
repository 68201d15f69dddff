//! `blpk verify`: checks every chunk and reports damage.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anstyle::{AnsiColor, Style};
use bloscpack::{
    Category, Error,
    dataset::{Dataset, DatasetReport, Warning},
    frame::FrameReport,
    verify::Report,
};
use clap::Args;
use serde_json::{Value, json};

use super::damage;
use crate::dataset::walk::datasets;
use crate::dataset::{nbytes, options};
use crate::failure::Failure;
use crate::frame;
use crate::input::{self, FROM_JOURNAL, INTERRUPTED, Input, InputKind, STANDARD};
use crate::output;
use crate::progress::Progress;
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

/// The result for one file or dataset.
struct Outcome {
    path: PathBuf,
    status: Status,
    report: Result<Findings, Failure>,
}

/// The findings.
enum Findings {
    File(Report),
    Dataset(DatasetReport),
    Frame(FrameReport),
}

impl Verify {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let mut worst = Status::Done;
        let mut files = Vec::new();
        let mut take = |outcome: Outcome| {
            worst = worst.max(outcome.status);
            if self.json {
                files.push(outcome.json());
                return Ok(());
            }
            outcome.print(session)
        };
        for path in &self.paths {
            let report = match InputKind::of(path) {
                Ok(InputKind::Directory) => {
                    verify_directory(path, session, &mut take)?;
                    continue;
                }
                Ok(InputKind::Frame) => verify_frame(path, session).map(Findings::Frame),
                Ok(InputKind::File) => verify_file(path, session).map(Findings::File),
                Err(failure) => Err(failure),
            };
            take(Outcome::new(path.clone(), report))?;
        }
        if self.json {
            output::print(&format!("{:#}\n", json!({ "files": files })))?;
        }
        Ok(worst)
    }
}

fn verify_file(path: &Path, session: &Session) -> Result<Report, Failure> {
    let input = Input::open_binary(path, session)?;
    let progress = Progress::new(session, input.length());
    let (limits, threads) = (session.limits, session.threads);
    let report = match input.by_position() {
        Some(_) => bloscpack::verify::verify_at(&input.counted(&progress), limits, threads),
        None => bloscpack::verify::verify(input.reader(&progress), limits, threads),
    };
    report.map_err(|error| Failure::library(input.name(), &error))
}

fn verify_frame(path: &Path, session: &Session) -> Result<FrameReport, Failure> {
    let frame = frame::open(path, session)?;
    Ok(frame.verify(advance(session, frame.content_len())))
}

/// Checks the dataset at `path`, or all those below it.
fn verify_directory(
    path: &Path,
    session: &Session,
    take: &mut impl FnMut(Outcome) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut examine = |path: &Path, opened: bloscpack::Result<Dataset>| {
        let report = match opened {
            Ok(dataset) => Ok(Findings::Dataset(verify_dataset(&dataset, session))),
            Err(error) => Err(failed_to_open(path, &error)),
        };
        take(Outcome::new(path.to_owned(), report))
    };
    let none = match options(session).cache(0).open(path) {
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
        Category::Damaged | Category::CutShort => {
            failure.hint("blpk dataset repair can fix some kinds of damage")
        }
        _ => failure,
    }
}

fn verify_dataset(dataset: &Dataset, session: &Session) -> DatasetReport {
    let mut report = dataset.verify(advance(session, nbytes(dataset)));
    if dataset.was_interrupted() {
        report.warnings.push(Warning {
            path: ".blpk".to_owned(),
            message: format!("{INTERRUPTED}; {FROM_JOURNAL}"),
        });
    }
    report
}

/// Shows progress from several threads.
fn advance(session: &Session, total: u64) -> impl Fn(u64) + Send + Sync {
    let progress = Mutex::new(Progress::new(session, Some(total)));
    move |bytes| {
        let progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.advance(bytes);
    }
}

impl Outcome {
    fn new(path: PathBuf, report: Result<Findings, Failure>) -> Self {
        let status = match &report {
            Ok(findings) => {
                let errors = findings.errors().into_iter();
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
        let findings = match &self.report {
            Ok(findings) => findings,
            Err(failure) => {
                failure.report();
                return Ok(());
            }
        };
        let mut text = String::new();
        for line in findings.lines() {
            let _ = writeln!(text, "{name}: {line}");
        }
        if text.is_empty() {
            let _ = writeln!(text, "{name}: {GOOD}ok{GOOD:#}, {}", findings.amount());
        }
        session.warnings(&input::name(&self.path), &findings.warnings());
        output::print(&text)
    }

    fn json(&self) -> Value {
        let findings = self.report.as_ref().ok();
        let counts = findings.map(Findings::counts);
        json!({
            "path": self.path.to_string_lossy(),
            "status": self.status.code(),
            "ok": self.status == Status::Done,
            "chunks": counts.map(|(chunks, ..)| chunks),
            "bytes": counts.map(|(_, bytes, _)| bytes),
            "records": counts.map(|(.., records)| records),
            "damages": findings.map_or_else(|| json!([]), Findings::damages),
            "warnings": findings.map(Findings::warnings).unwrap_or_default(),
            "error": self.report.as_ref().err().and_then(Failure::title),
        })
    }
}

impl Findings {
    fn errors(&self) -> Vec<&Error> {
        match self {
            Self::File(report) => report.damages.iter().map(|damage| &damage.error).collect(),
            Self::Dataset(report) => report.damages.iter().collect(),
            Self::Frame(report) => report.damages.iter().collect(),
        }
    }

    /// A line for each damage.
    fn lines(&self) -> Vec<String> {
        match self {
            Self::File(report) => report.damages.iter().map(damage::line).collect(),
            _ => self.errors().into_iter().map(damage::labelled).collect(),
        }
    }

    fn damages(&self) -> Value {
        match self {
            Self::File(report) => report.damages.iter().map(damage::json).collect(),
            _ => self.errors().into_iter().map(damage::error_json).collect(),
        }
    }

    fn warnings(&self) -> Vec<String> {
        match self {
            Self::File(report) => report.warnings.iter().map(ToString::to_string).collect(),
            Self::Dataset(report) => {
                let warnings = report.warnings.iter();
                warnings
                    .map(|warning| format!("{}: {}", warning.path, warning.message))
                    .collect()
            }
            Self::Frame(report) => report.warnings.clone(),
        }
    }

    /// Chunks, bytes and records.
    fn counts(&self) -> (u64, u64, u64) {
        match self {
            Self::File(report) => (report.chunks, report.bytes, report.records),
            Self::Dataset(report) => (report.chunks, report.bytes, 0),
            Self::Frame(report) => (report.chunks, report.bytes, 0),
        }
    }

    /// `3 chunks, 1000 bytes`.
    fn amount(&self) -> String {
        let (chunks, bytes, records) = self.counts();
        let amount = match records {
            0 => count(bytes, "byte"),
            records => count(records, "record"),
        };
        format!("{}, {amount}", count(chunks, "chunk"))
    }
}
