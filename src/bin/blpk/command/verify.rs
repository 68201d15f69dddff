//! `blpk verify`: reads every chunk and reports each damage.

use std::fmt::Write as _;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use bloscpack::storage::ReadAt;
use bloscpack::{Category, Damage, Report};
use clap::Args;
use serde_json::{Value, json};

use crate::input::{self, Bytes, Input, STANDARD};
use crate::message::{Failure, shown};
use crate::output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Read files through and report each damage
///
/// One line for each sound file, and one for each damage of the others. The exit status is the
/// highest that any of the files gives.
#[derive(Args, Debug)]
pub struct Verify {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Files to verify, or - for standard input
    #[arg(value_name = "PATH", default_value = STANDARD)]
    paths: Vec<PathBuf>,
}

/// What came of one file.
struct Outcome<'a> {
    path: &'a Path,
    status: Status,
    report: Result<Report, Failure>,
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
        for path in &self.paths {
            let outcome = examine(path, session);
            worst = worst.max(outcome.status);
            if self.json {
                files.push(outcome.json());
            } else {
                outcome.print(session)?;
            }
        }
        if self.json {
            output::print(&format!("{:#}\n", json!({ "files": files })))?;
        }
        Ok(worst)
    }
}

fn examine<'a>(path: &'a Path, session: &Session) -> Outcome<'a> {
    let report = Input::open_binary(path, session).and_then(|input| {
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
    });
    let status = match &report {
        Ok(report) => report
            .damages
            .iter()
            .map(|damage| damage.error.category().into())
            .max()
            .unwrap_or(Status::Done),
        Err(failure) => failure.status(),
    };
    Outcome {
        path,
        status,
        report,
    }
}

impl Outcome<'_> {
    fn print(&self, session: &Session) -> Result<(), Failure> {
        let name = shown(self.path);
        let report = match &self.report {
            Ok(report) => report,
            Err(failure) => {
                failure.report();
                return Ok(());
            }
        };
        let mut text = String::new();
        for damage in &report.damages {
            let _ = writeln!(text, "{name}: {}", line(damage));
        }
        if report.damages.is_empty() {
            let (chunks, bytes) = (report.chunks, report.bytes);
            let _ = writeln!(
                text,
                "{name}: {GOOD}ok{GOOD:#}, {}, {}",
                count(chunks, "chunk"),
                match report.records {
                    0 => count(bytes, "byte"),
                    records => count(records, "record"),
                }
            );
        }
        for warning in &report.warnings {
            session.warning(format_args!("{}: {warning}", input::name(self.path)));
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
            Ok(report) => {
                object["chunks"] = json!(report.chunks);
                object["bytes"] = json!(report.bytes);
                object["records"] = json!(report.records);
                object["damages"] = report.damages.iter().map(damage).collect();
                object["warnings"] = report.warnings.iter().map(ToString::to_string).collect();
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

/// One damage, for people.
pub fn line(damage: &Damage) -> String {
    let mut text = format!("{BAD}{}{BAD:#}: {}", label(damage), damage.error);
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
    let position = damage.error.position();
    json!({
        "message": damage.error.to_string(),
        "status": Status::from(damage.error.category()).code(),
        "chunk": position.and_then(|position| position.chunk),
        "byte": position.map(|position| position.byte),
        "member": position.map(|position| position.member),
        "bytes": damage.bytes.as_ref().map(range),
        "content": damage.content.as_ref().map(range),
        "records": damage.records.as_ref().map(range),
    })
}

/// A word to look for, before the error itself.
fn label(damage: &Damage) -> &'static str {
    match damage.error.category() {
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
