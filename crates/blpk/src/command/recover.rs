//! `blpk recover`: every sound chunk of a damaged file, into a new one.

use std::fmt::Write as _;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use bloscpack::{Lost, RecoverOptions, Recovery};
use clap::Args;
use serde_json::{Value, json};

use super::verify::{self, Counting};
use crate::frame;
use crate::input::{Bytes, Input};
use crate::message::{Failure, shown};
use crate::output::{self, Growing, Output, is_standard_output};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

/// Save what is sound of a damaged file into a new one
///
/// Finds the sound chunks by their headers and digests, whatever else is damaged: header, metadata,
/// offsets, other chunks, or the end of the file. OUT gets their content, in order, with the
/// settings of the old file as far as those can be read.
///
/// Of a file of records, each keeps its number: in the place of a lost one stands an empty one, as
/// long as it is known how many are lost.
///
/// The exit status is 0 if all content was saved, and 3 if something is lost or may be. If nothing
/// at all can be saved, there is no OUT, and the status says why: 3, 4 or 5.
#[derive(Args, Debug)]
pub struct Recover {
    /// Write zeros where content is lost, so that the rest keeps its place (records do so anyway)
    #[arg(long)]
    fill: bool,

    /// Report as one JSON object
    #[arg(long)]
    json: bool,

    /// Damaged file
    #[arg(value_name = "FILE")]
    input: PathBuf,

    /// File to write
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

impl Recover {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let outcome = self.recover(session);
        let Err(failure) = &outcome else {
            return outcome;
        };
        // Wrong usage is for the one who wrote the script.
        match failure
            .title()
            .filter(|_| failure.status() != Status::Usage)
        {
            Some(title) if self.json => {
                let object = json!({
                    "path": self.input.to_string_lossy(),
                    "output": Value::Null,
                    "complete": false,
                    "error": title,
                });
                output::print(&format!("{object:#}\n"))?;
                Ok(failure.status())
            }
            _ => outcome,
        }
    }

    fn recover(&self, session: &Session) -> Result<Status, Failure> {
        if self.json && is_standard_output(&self.output) {
            let title = "the report and the data cannot both go to standard output";
            return Err(Failure::usage(title).hint("name an output file"));
        }
        frame::refuse(
            &self.input,
            "blpk verify tells which chunks are damaged, and blpk cat --chunk N prints a sound one",
        )?;
        let input = Input::open_damaged(&self.input, session)?;
        let Some(file) = input.at_positions() else {
            let title = format!("{} cannot be read at any place", input.name());
            return Err(Failure::usage(title).hint("copy it into a regular file first"));
        };
        let mut output = Output::create(&self.output, &[&input], session)?;
        let options = RecoverOptions::default()
            .fill(self.fill)
            .threads(session.threads)
            .limits(session.limits);
        // Once to find the chunks, once to decode them.
        let length = input.length().map(|length| length.saturating_mul(2));
        let progress = Progress::new(session, length);
        let source = Counting {
            file,
            progress: &progress,
        };
        // The table of offsets is filled in at the end: a pipe gets the file when it is whole.
        let own = match output.seekable() {
            Some(_) => None,
            None => Some(Growing::passing(
                tempfile::tempfile().map_err(|error| Failure::io(output.name(), &error))?,
            )),
        };
        let target = output.seekable().or(own.as_ref());
        let Some(target) = target else {
            return Err(Failure::usage("no output"));
        };
        let report = bloscpack::recover(&source, target, &options);
        progress.finish();
        let report =
            report.map_err(|error| output.explain(Failure::library(input.name(), &error)))?;
        if let Some(file) = own {
            let mut file = file.get_ref();
            let done = file
                .rewind()
                .and_then(|()| io::copy(&mut file, &mut output));
            done.map_err(|error| output.explain(Failure::io(output.name(), &error)))?;
        }
        let place = output.name().to_owned();
        let is_standard = is_standard_output(&self.output);
        output.commit()?;
        let is_changing = report.is_changing
            || matches!(file, Bytes::Snapshot(snapshot) if snapshot.is_interrupted());
        self.tell(&report, &place, is_standard, is_changing)?;
        Ok(if report.is_complete() {
            Status::Done
        } else {
            Status::Damaged
        })
    }

    fn tell(
        &self,
        report: &Recovery,
        place: &str,
        is_standard: bool,
        is_changing: bool,
    ) -> Result<(), Failure> {
        if self.json {
            let mut object = describe(&self.input, &self.output, report);
            object["interrupted_change"] = json!(is_changing);
            return output::print(&format!("{object:#}\n"));
        }
        let text = lines(&shown(&self.input), place, report, self.fill);
        if is_standard {
            text.lines().for_each(crate::message::note);
            return Ok(());
        }
        output::print(&text)
    }
}

/// The report for people: a line for each damage and each loss, and one for all.
fn lines(name: &str, place: &str, report: &Recovery, fill: bool) -> String {
    let mut text = String::new();
    let has_records = has_records(report);
    for damage in &report.damages {
        let _ = writeln!(text, "{name}: {}", verify::line(damage));
    }
    for lost in &report.lost {
        let lost = if has_records {
            lost_records(lost)
        } else {
            loss(lost)
        };
        let _ = writeln!(text, "{name}: lost: {lost}");
    }
    if report.unchecked {
        let _ = writeln!(
            text,
            "{name}: without checksums, what was recovered may be wrong"
        );
    }
    if report.metadata_lost {
        let why = match (report.array_lost, fill) {
            (false, _) => "",
            (true, true) => ", since the NumPy array that it describes is not whole",
            (true, false) => {
                ", since the NumPy array that it describes is not whole; --fill may keep its length"
            }
        };
        let _ = writeln!(text, "{name}: lost: the metadata{why}");
    }
    let (saved, lost, noun) = if has_records {
        let saved = verify::count(report.records, "record");
        (saved, report.records_lost, "record")
    } else {
        let saved = verify::count(report.bytes, "byte");
        (saved, report.chunks_lost, "chunk")
    };
    let chunks = verify::count(report.chunks, "chunk");
    let _ = write!(text, "{name}: {saved} of {chunks} recovered into {place}");
    match lost {
        Some(0) if report.is_complete() => text.push_str(", nothing lost"),
        Some(0) if report.lost.is_empty() => {}
        Some(lost) => {
            let _ = write!(text, ", {} lost", verify::count(lost, noun));
        }
        None => {
            let _ = write!(text, ", an unknown number of {noun}s lost");
        }
    }
    text.push('\n');
    text
}

fn has_records(report: &Recovery) -> bool {
    report.records > 0 || report.records_lost != Some(0)
}

fn lost_records(lost: &Lost) -> String {
    match &lost.records {
        Some(records) => format!("{}, now empty", verify::numbers(records)),
        None => format!(
            "perhaps some, in unknown number, before record {} of what was recovered: those from there on may have had higher numbers",
            lost.at
        ),
    }
}

fn loss(lost: &Lost) -> String {
    let filled = if lost.filled { ", now zeros" } else { "" };
    match (&lost.content, lost.len) {
        (Some(content), _) => format!("content {}..{}{filled}", content.start, content.end),
        (None, Some(len)) => format!(
            "{}{filled}, at byte {} of what was recovered",
            verify::count(len, "byte"),
            lost.at
        ),
        (None, None) => format!(
            "perhaps something, of unknown length, at byte {} of what was recovered",
            lost.at
        ),
    }
}

fn describe(input: &Path, output: &Path, report: &Recovery) -> Value {
    let lost = |lost: &Lost| {
        json!({
            "at": lost.at,
            "len": lost.len,
            "content": lost.content.as_ref().map(verify::range),
            "records": lost.records.as_ref().map(verify::range),
            "filled": lost.filled,
        })
    };
    json!({
        "path": input.to_string_lossy(),
        "output": output.to_string_lossy(),
        "complete": report.is_complete(),
        "members": report.members,
        "chunks": report.chunks,
        "chunks_lost": report.chunks_lost,
        "bytes": report.bytes,
        "records": report.records,
        "records_lost": report.records_lost,
        "filled": report.filled,
        "content_bytes": report.content_len(),
        "lost": report.lost.iter().map(lost).collect::<Value>(),
        "damages": report.damages.iter().map(verify::damage).collect::<Value>(),
        "header_lost": report.header_lost,
        "metadata_lost": report.metadata_lost,
        "array_lost": report.array_lost,
        "offsets_lost": report.offsets_lost,
        "unchecked": report.unchecked,
        "error": Value::Null,
    })
}
