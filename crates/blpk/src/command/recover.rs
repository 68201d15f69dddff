//! `blpk recover`: saves the sound chunks of a damaged file in a new file.

use std::fmt::Write as _;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use bloscpack::{
    error::IoSide as _,
    recover::{Finding, Lost, Recovery, recover},
};
use clap::Args;
use serde_json::{Value, json};

use super::damage::{self, range_json};
use crate::failure::{About as _, Failure};
use crate::frame;
use crate::input::{Input, Rest};
use crate::json_text;
use crate::message;
use crate::output::{self, MadeFrom, Printer, Replaces, SyncingFile, Target, is_standard_output};
use crate::progress::Progress;
use crate::session::Session;
use crate::spool::{Spool, WithLists};
use crate::status::Status;
use crate::text::{count, exact, shown};

/// Save the sound chunks of a damaged file
///
/// Sound chunks are found by their own headers and digests, even if the file header, the metadata, the offset table, other
/// chunks or the end of the file are damaged. OUT gets their content in order, with the settings of the old file that are
/// readable.
///
/// Records keep their numbers: an empty record replaces each lost one, if the number of lost records is known.
///
/// The exit status is 0 if all content was saved, and 3 if something is lost or may be. If nothing can be saved, OUT is not
/// written, and the status is 3, 4 or 5, depending on the reason.
#[derive(Args, Debug)]
pub struct Recover {
    /// Write zeros in place of lost content, to keep the position of the rest; not needed for records
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
            // Wrong usage is reported as text, for the author of the script.
            Err(failure) if self.json && failure.status() != Status::Usage => {
                let Some(title) = failure.title() else {
                    return Err(failure);
                };
                let object = json!({
                    "path": exact(&self.input),
                    "output": Value::Null,
                    "complete": false,
                    "error": title,
                    "code": failure.code(),
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
        let instead = "blpk verify lists damaged chunks, and blpk cat --chunk N prints a sound one";
        frame::refuse(&self.input, instead)?;
        let input = Input::open_damaged(&self.input, session)?;
        frame::refuse_object(&input, instead)?;
        let input = input.readable_twice(session)?;
        let progress = Progress::new(session, input.length().map(|len| len.saturating_mul(2)));
        let source = input.source(Some(&progress));
        let Some(source) = source.filter(|_| input.by_position().is_some()) else {
            let title = format!("{} cannot be read at any position", input.name());
            return Err(Failure::usage(title).hint("copy it into a regular file first"));
        };
        let mut output = Target::file(
            &self.output,
            Replaces::Compressed,
            MadeFrom::Input(&input),
            session,
        )?;
        let mut found = Found::new(&self.input, self.json);
        let recovered = self.recover_into(&mut output, &source, session, &mut found);
        progress.finish();
        let report = recovered.about(&output.made_from(&input.name()))?;
        let made = output.commit(session)?;
        let is_changing = report.is_changing || input.is_interrupted();
        self.print(&report, &found, &made.name, is_changing)?;
        Ok(if report.is_complete() {
            Status::Done
        } else {
            Status::Damaged
        })
    }

    fn recover_into(
        &self,
        output: &mut Target,
        source: &Rest,
        session: &Session,
        found: &mut Found,
    ) -> bloscpack::Result<Recovery> {
        let options = session.options().threads(session.threads).fill(self.fill);
        if let Some(target) = output.seekable() {
            return recover(source, target, &options, |one| found.add(one));
        }
        // The offset table is filled in at the end, so a pipe gets the file when it is complete.
        let target = SyncingFile::temporary(tempfile::tempfile().writing()?);
        let report = recover(source, &target, &options, |one| found.add(one))?;
        let mut file = target.get_ref();
        let copied = file.rewind().and_then(|()| io::copy(&mut file, output));
        copied.writing().map(|_| report)
    }

    fn print(
        &self,
        report: &Recovery,
        found: &Found,
        output: &str,
        is_changing: bool,
    ) -> Result<(), Failure> {
        if self.json {
            let object = json(&self.input, &self.output, report, is_changing);
            let lists = vec![("lost", &found.lost), ("damages", &found.damages)];
            return json_text::print(&WithLists(object, lists));
        }
        let last = lines(&shown(&self.input), output, report, self.fill);
        if is_standard_output(&self.output) {
            found.each_line(has_records(report), |line| {
                message::note(line.trim_end_matches('\n'));
                Ok(())
            })?;
            last.lines().for_each(message::note);
            return Ok(());
        }
        let mut printer = Printer::new();
        found.each_line(has_records(report), |line| printer.text(line))?;
        printer.text(last)?;
        printer.finish()
    }
}

/// The last lines of the report, after the damages and losses.
fn lines(name: &str, output: &str, report: &Recovery, fill: bool) -> String {
    let mut text = String::new();
    let has_records = has_records(report);
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
    let (saved, lost, noun) = if has_records {
        (
            count(report.records, "record"),
            report.records_lost,
            "record",
        )
    } else {
        (count(report.bytes, "byte"), report.chunks_lost, "chunk")
    };
    let chunks = count(report.chunks, "chunk");
    let _ = write!(
        text,
        "{name}: recovered {saved} from {chunks} into {output}"
    );
    match lost {
        Some(0) if report.is_complete() => text.push_str(", nothing lost"),
        Some(0) if report.lost_count == 0 => {}
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

/// The damages and losses found so far.
struct Found {
    name: String,
    is_json: bool,
    damages: Spool,
    /// Losses: as JSON, or in the text report as lost content.
    lost: Spool,
    /// The same losses as lost records. Only the totals at the end show which of the two texts applies.
    lost_records: Spool,
}

impl Found {
    fn new(path: &Path, is_json: bool) -> Self {
        Self {
            name: shown(path),
            is_json,
            damages: Spool::new(),
            lost: Spool::new(),
            lost_records: Spool::new(),
        }
    }

    fn add(&mut self, found: Finding) -> bloscpack::Result<()> {
        let name = &self.name;
        match found {
            Finding::Damage(damage) if self.is_json => self.damages.json(&damage::json(&damage)),
            Finding::Damage(damage) => {
                let line = damage::line(&damage);
                self.damages.text(format_args!("{name}: {line}\n"))
            }
            Finding::Lost(lost) if self.is_json => self.lost.json(&lost_json(&lost)),
            Finding::Lost(lost) => {
                let (content, records) = (lost_content(&lost), lost_records(&lost));
                self.lost.text(format_args!("{name}: lost: {content}\n"))?;
                let records = format_args!("{name}: lost: {records}\n");
                self.lost_records.text(records)
            }
            _ => Ok(()),
        }
    }

    /// Passes on a line for each damage and each loss.
    fn each_line(
        &self,
        has_records: bool,
        mut take: impl FnMut(&str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.damages.each(&mut take)?;
        if has_records {
            self.lost_records.each(take)
        } else {
            self.lost.each(take)
        }
    }
}

/// The report as JSON. The lists of losses and damages are filled in later.
fn json(input: &Path, output: &Path, report: &Recovery, is_changing: bool) -> Value {
    json!({
        "path": exact(input),
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
        "lost": [],
        "damages": [],
        "header_lost": report.header_lost,
        "metadata_lost": report.metadata_lost,
        "array_lost": report.array_lost,
        "offsets_lost": report.offsets_lost,
        "unchecked": report.unchecked,
        "error": Value::Null,
        "code": Value::Null,
        "interrupted_change": is_changing,
    })
}

/// A loss as JSON.
fn lost_json(lost: &Lost) -> Value {
    json!({
        "at": lost.at,
        "len": lost.len,
        "content": lost.content.as_ref().map(range_json),
        "records": lost.records.as_ref().map(range_json),
        "filled": lost.filled,
    })
}
