//! `blpk verify`: reads every chunk and reports each damage.

mod dataset;
mod frame;

use std::fmt::Write as _;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use bloscpack::{
    Category, Damage, Error, Report, dataset::DatasetReport, frame::FrameReport, storage::ReadAt,
};
use clap::Args;
use serde_json::{Value, json};

use crate::input::{self, Bytes, Input, STANDARD};
use crate::message::{Failure, shown};
use crate::output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::what::What;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Read files, datasets and frames through and report each damage
///
/// One line for each sound file or dataset, and one for each damage of the others. Blosc2 frames have
/// no checksums: what can be decompressed is taken for sound. Of a directory that
/// is no dataset, all datasets below it are read. Files that do not belong to a dataset, and rows that
/// were never flushed, are warnings. The exit status is the highest that any of them gives.
#[derive(Args, Debug)]
pub struct Verify {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Files, datasets and frames to verify, or - for standard input
    #[arg(value_name = "PATH", default_value = STANDARD)]
    paths: Vec<PathBuf>,
}

/// What came of one file or dataset.
struct Outcome {
    path: PathBuf,
    status: Status,
    report: Result<Told, Failure>,
}

/// What was found.
enum Told {
    File(Report),
    Dataset(DatasetReport),
    Frame(FrameReport),
}

/// A file whose bytes show as progress when they are read.
pub struct Counting<'a> {
    pub file: &'a Bytes,
    pub progress: &'a Progress,
}

impl ReadAt for Counting<'_> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.file.read_at(at, buf)?;
        self.progress.advance(u64::try_from(len).unwrap_or(0));
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

impl Verify {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let mut worst = Status::Done;
        let mut files = Vec::new();
        let mut tell = |outcome: Outcome| {
            worst = worst.max(outcome.status);
            if self.json {
                files.push(outcome.json());
                return Ok(());
            }
            outcome.print(session)
        };
        for path in &self.paths {
            let of = |report| Outcome::new(path.clone(), report);
            match What::of(path) {
                Err(failure) => tell(of(Err(failure)))?,
                Ok(What::Directory) => dataset::examine(path, session, &mut |(path, report)| {
                    tell(Outcome::new(path, report.map(Told::Dataset)))
                })?,
                Ok(What::Frame) => tell(of(frame::examine(path, session).map(Told::Frame)))?,
                Ok(What::File) => tell(of(examine(path, session).map(Told::File)))?,
            }
        }
        if self.json {
            output::print(&format!("{:#}\n", json!({ "files": files })))?;
        }
        Ok(worst)
    }
}

fn examine(path: &Path, session: &Session) -> Result<Report, Failure> {
    let input = Input::open_binary(path, session)?;
    let progress = Progress::new(session, input.length());
    let (limits, threads) = (session.limits, session.threads);
    let report = match input.at_positions() {
        Some(file) => {
            let counting = Counting {
                file,
                progress: &progress,
            };
            bloscpack::verify_at(&counting, limits, threads)
        }
        None => bloscpack::verify(input.source(&progress), limits, threads),
    };
    report.map_err(|error| Failure::library(input.name(), &error))
}

impl Outcome {
    fn new(path: PathBuf, report: Result<Told, Failure>) -> Self {
        let status = match &report {
            Ok(told) => {
                let errors = told.errors().into_iter();
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
        let told = match &self.report {
            Ok(told) => told,
            Err(failure) => {
                failure.report();
                return Ok(());
            }
        };
        let mut text = String::new();
        for line in told.lines() {
            let _ = writeln!(text, "{name}: {line}");
        }
        if text.is_empty() {
            let _ = writeln!(text, "{name}: {GOOD}ok{GOOD:#}, {}", told.amount());
        }
        for warning in told.warnings() {
            session.warning(format_args!("{}: {warning}", input::name(&self.path)));
        }
        output::print(&text)
    }

    fn json(&self) -> Value {
        let mut object = json!({
            "path": self.path.to_string_lossy(),
            "status": self.status.code(),
            "ok": self.status == Status::Done,
        });
        match &self.report {
            Ok(told) => {
                let (chunks, bytes, records) = told.counts();
                object["chunks"] = json!(chunks);
                object["bytes"] = json!(bytes);
                object["records"] = json!(records);
                object["damages"] = told.damages();
                object["warnings"] = told.warnings().into();
                object["error"] = Value::Null;
            }
            Err(failure) => {
                object["chunks"] = Value::Null;
                object["bytes"] = Value::Null;
                object["records"] = Value::Null;
                object["damages"] = json!([]);
                object["warnings"] = json!([]);
                object["error"] = json!(failure.title());
            }
        }
        object
    }
}

impl Told {
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
            Self::File(report) => report.damages.iter().map(line).collect(),
            Self::Dataset(report) => report.damages.iter().map(labelled).collect(),
            Self::Frame(report) => report.damages.iter().map(labelled).collect(),
        }
    }

    fn damages(&self) -> Value {
        match self {
            Self::File(report) => report.damages.iter().map(damage).collect(),
            Self::Dataset(report) => report.damages.iter().map(described).collect(),
            Self::Frame(report) => report.damages.iter().map(described).collect(),
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

/// One damage, for people.
pub fn line(damage: &Damage) -> String {
    let mut text = labelled(&damage.error);
    if let Some(records) = &damage.records {
        let _ = write!(text, "; {}", numbers(records));
    } else if let Some(content) = &damage.content {
        let _ = write!(text, "; content {}..{}", content.start, content.end);
    }
    text
}

/// The numbers of some records, for people: `record 7`, `records 7..12`.
pub fn numbers(records: &Range<u64>) -> String {
    let (from, to) = (records.start, records.end);
    match to.saturating_sub(from) {
        1 => format!("record {from}"),
        _ => format!("records {from}..{to}"),
    }
}

pub fn range(range: &Range<u64>) -> Value {
    json!({ "start": range.start, "end": range.end })
}

/// One damage, for scripts.
pub fn damage(damage: &Damage) -> Value {
    let mut object = described(&damage.error);
    object["bytes"] = json!(damage.bytes.as_ref().map(range));
    object["content"] = json!(damage.content.as_ref().map(range));
    object["records"] = json!(damage.records.as_ref().map(range));
    object
}

/// What an error tells, for scripts.
fn described(error: &Error) -> Value {
    let position = error.position();
    json!({
        "message": error.to_string(),
        "status": Status::from(error.category()).code(),
        "file": error.path(),
        "chunk": position.and_then(|position| position.chunk),
        "byte": position.map(|position| position.byte),
        "member": position.map(|position| position.member),
    })
}

/// An error behind a word to look for.
fn labelled(error: &Error) -> String {
    format!("{BAD}{}{BAD:#}: {error}", label(error))
}

fn label(error: &Error) -> &'static str {
    match error.category() {
        Category::Failed => "failed",
        Category::Damaged => "damaged",
        Category::CutShort => "incomplete",
        Category::Usage | Category::Unsupported | Category::OverLimit => "refused",
    }
}

/// `1 chunk`, `2 chunks`.
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
