//! `blpk recover`: the sound chunks of a damaged file, in a new one.

use std::fmt::Write as _;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use bloscpack::recover::{Lost, RecoverOptions, Recovery};
use clap::Args;
use serde_json::{Value, json};

use super::damage::{self, range_json};
use crate::failure::Failure;
use crate::frame;
use crate::input::{Bytes, Input};
use crate::message;
use crate::output::{self, Output, SyncingFile, is_standard_output};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::text::{count, shown};

/// Save the sound chunks of a damaged file into a new one
///
/// Sound chunks are found by their headers and digests, whatever else is damaged: the header, metadata, offsets, other
/// chunks, or the end of the file. OUT gets their content, in order, with the settings of the old file as far as these
/// are readable.
///
/// Records keep their numbers: a lost record is replaced by an empty one, as long as it is known how many are lost.
///
/// The exit status is 0 if all content was saved, and 3 if something is lost or may be. If nothing can be saved, OUT is not
/// written, and the status says why: 3, 4 or 5.
#[derive(Args, Debug)]
pub struct Recover {
    /// Write zeros in place of lost content, so that the rest keeps its position (as records do anyway)
    #[arg(long)]
    fill: bool,

    /// Print the report as one JSON object
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
        match outcome {
            // Wrong usage is reported to the author of the script, not to its parser.
            Err(failure) if self.json && failure.status() != Status::Usage => {
                let Some(title) = failure.title() else {
                    return Err(failure);
                };
                let object = json!({
                    "path": self.input.to_string_lossy(),
                    "output": Value::Null,
                    "complete": false,
                    "error": title,
                });
                output::print(&format!("{object:#}\n"))?;
                Ok(failure.status())
            }
            outcome => outcome,
        }
    }

    fn recover(&self, session: &Session) -> Result<Status, Failure> {
        if self.json && is_standard_output(&self.output) {
            let title = "the report and the data cannot both go to standard output";
            return Err(Failure::usage(title).hint("name an output file"));
        }
        frame::refuse(
            &self.input,
            "blpk verify lists damaged chunks, and blpk cat --chunk N prints a sound one",
        )?;
        let input = Input::open_damaged(&self.input, session)?;
        let Some(file) = input.by_position() else {
            let title = format!("{} cannot be read at any position", input.name());
            return Err(Failure::usage(title).hint("copy it into a regular file first"));
        };
        let mut output = Output::create(&self.output, &[&input], session)?;
        let report = self.recover_into(&mut output, &input, session)?;
        let output_name = output.name().to_owned();
        output.commit()?;
        let is_changing = report.is_changing
            || matches!(file, Bytes::Snapshot(snapshot) if snapshot.is_interrupted());
        self.print(&report, &output_name, is_changing)?;
        Ok(match report.is_complete() {
            true => Status::Done,
            false => Status::Damaged,
        })
    }

    fn recover_into(
        &self,
        output: &mut Output,
        input: &Input,
        session: &Session,
    ) -> Result<Recovery, Failure> {
        let options = RecoverOptions::default()
            .fill(self.fill)
            .threads(session.threads)
            .limits(session.limits);
        // It is read twice: to find the chunks, and to decode them.
        let length = input.length().map(|length| length.saturating_mul(2));
        let progress = Progress::new(session, length);
        let source = input.counted(&progress);
        let failed = |error, output: &Output| output.failed_from(&input.name(), &error);
        if let Some(target) = output.seekable() {
            let report = bloscpack::recover::recover(&source, target, &options);
            progress.finish();
            return report.map_err(|error| failed(error, output));
        }
        // The table of offsets is filled in at the end, so a pipe gets the file once it is complete.
        let file = tempfile::tempfile().map_err(|error| output.failed(&error))?;
        let target = SyncingFile::temporary(file);
        let report = bloscpack::recover::recover(&source, &target, &options);
        progress.finish();
        let report = report.map_err(|error| failed(error, output))?;
        let mut file = target.get_ref();
        let copied = file.rewind().and_then(|()| io::copy(&mut file, output));
        copied.map_err(|error| output.failed(&error))?;
        Ok(report)
    }

    fn print(&self, report: &Recovery, output: &str, is_changing: bool) -> Result<(), Failure> {
        if self.json {
            let mut object = json(&self.input, &self.output, report);
            object["interrupted_change"] = json!(is_changing);
            return output::print(&format!("{object:#}\n"));
        }
        let text = lines(&shown(&self.input), output, report, self.fill);
        if is_standard_output(&self.output) {
            text.lines().for_each(message::note);
            return Ok(());
        }
        output::print(&text)
    }
}

/// The report for people: a line for each damage and each loss, and a summary.
fn lines(name: &str, output: &str, report: &Recovery, fill: bool) -> String {
    let mut text = String::new();
    let has_records = has_records(report);
    for damage in &report.damages {
        let _ = writeln!(text, "{name}: {}", damage::line(damage));
    }
    for lost in &report.lost {
        let lost = match has_records {
            true => lost_records(lost),
            false => lost_content(lost),
        };
        let _ = writeln!(text, "{name}: lost: {lost}");
    }
    if report.unchecked {
        let _ = writeln!(
            text,
            "{name}: the file has no checksums, so recovered data may be wrong"
        );
    }
    if report.metadata_lost {
        let why = match (report.array_lost, fill) {
            (false, _) => "",
            (true, true) => ", because the NumPy array that it describes is incomplete",
            (true, false) => {
                ", because the NumPy array that it describes is incomplete; --fill may keep its length"
            }
        };
        let _ = writeln!(text, "{name}: lost: the metadata{why}");
    }
    let (saved, lost, noun) = match has_records {
        true => (
            count(report.records, "record"),
            report.records_lost,
            "record",
        ),
        false => (count(report.bytes, "byte"), report.chunks_lost, "chunk"),
    };
    let chunks = count(report.chunks, "chunk");
    let _ = write!(
        text,
        "{name}: recovered {saved} from {chunks} into {output}"
    );
    match lost {
        Some(0) if report.is_complete() => text.push_str(", nothing lost"),
        Some(0) if report.lost.is_empty() => {}
        Some(lost) => {
            let _ = write!(text, ", {} lost", count(lost, noun));
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
        Some(records) => format!("{}, now empty", damage::numbers(records)),
        None => format!(
            "an unknown number of records may be missing before record {}; later records may be renumbered",
            lost.at
        ),
    }
}

fn lost_content(lost: &Lost) -> String {
    let filled = if lost.filled { ", now zeros" } else { "" };
    let at = format!("at byte {} of the recovered content", lost.at);
    match (&lost.content, lost.len) {
        (Some(content), _) => format!("content {}..{}{filled}", content.start, content.end),
        (None, Some(len)) => format!("{}{filled}, {at}", count(len, "byte")),
        (None, None) => format!("an unknown number of bytes may be missing {at}"),
    }
}

/// The report for scripts.
fn json(input: &Path, output: &Path, report: &Recovery) -> Value {
    let lost = |lost: &Lost| {
        json!({
            "at": lost.at,
            "len": lost.len,
            "content": lost.content.as_ref().map(range_json),
            "records": lost.records.as_ref().map(range_json),
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
        "damages": report.damages.iter().map(damage::json).collect::<Value>(),
        "header_lost": report.header_lost,
        "metadata_lost": report.metadata_lost,
        "array_lost": report.array_lost,
        "offsets_lost": report.offsets_lost,
        "unchecked": report.unchecked,
        "error": Value::Null,
    })
}
