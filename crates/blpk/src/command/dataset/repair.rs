//! `blpk dataset repair`: what other programs have left in disorder.

use std::fmt::Write as _;
use std::path::PathBuf;

use bloscpack::dataset::{Finding, Remedy, RepairOptions, Uncounted};
use clap::Args;
use serde_json::{Value, json};

use crate::dataset::edit::Target;
use crate::dataset::options;
use crate::message::{Failure, shown};
use crate::output;
use crate::session::Session;
use crate::status::Status;

/// Put a dataset into order that another program has left in disorder
///
/// Completes a change that was interrupted, counts rows that were never flushed, takes stale files and
/// litter away, and puts wrong counts right. Only what is sure is done: --keep-rows, --drop-rows and
/// --cut decide the rest. What is damaged within a chunk stays as it is. A line tells of each finding;
/// the exit status is 3 if something is left to be decided or cannot be repaired.
#[derive(Args, Debug)]
pub struct Repair {
    /// Only tell what would be done
    #[arg(long)]
    dry_run: bool,

    /// Count rows that are in the files but not counted, also where they may have been cut off
    #[arg(long, conflicts_with = "drop_rows")]
    keep_rows: bool,

    /// Remove rows that are in the files but not counted, also where they may never have been flushed
    #[arg(long)]
    drop_rows: bool,

    /// Cut off the rows at the end whose files are missing or damaged
    #[arg(long)]
    cut: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Dataset to repair
    #[arg(value_name = "DIR")]
    path: PathBuf,
}

impl Repair {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let target = Target::find(&self.path)?;
        let uncounted = match (self.keep_rows, self.drop_rows) {
            (true, _) => Uncounted::Keep,
            (false, true) => Uncounted::Drop,
            (false, false) => Uncounted::Report,
        };
        let repair = RepairOptions::new()
            .dry_run(self.dry_run)
            .uncounted(uncounted)
            .cut(self.cut)
            .options(options(session));
        let mut found = Vec::new();
        target.confirm(repair.repair(&self.path).map(|findings| found = findings))?;
        let text = match self.json {
            true => format!("{:#}\n", self.report(&found)),
            false => self.lines(&found),
        };
        output::print(&text)?;
        let is_left = found
            .iter()
            .any(|finding| matches!(finding.remedy, Remedy::Left(_)));
        Ok(match is_left {
            true => Status::Damaged,
            false => Status::Done,
        })
    }

    fn lines(&self, found: &[Finding]) -> String {
        let name = shown(&self.path);
        if found.is_empty() {
            return format!("{name}: nothing to repair\n");
        }
        let mut text = String::new();
        for Finding {
            path,
            message,
            remedy,
        } in found
        {
            let (label, remedy) = match remedy {
                Remedy::Done(done) if self.dry_run => ("would be", done),
                Remedy::Done(done) => ("done", done),
                Remedy::Left(why) => ("left", why),
            };
            let _ = writeln!(text, "{name}: {path}: {message}; {label}: {remedy}");
        }
        text
    }

    fn report(&self, found: &[Finding]) -> Value {
        let finding = |finding: &Finding| {
            let (state, remedy) = match &finding.remedy {
                Remedy::Done(done) if self.dry_run => ("planned", done),
                Remedy::Done(done) => ("done", done),
                Remedy::Left(why) => ("left", why),
            };
            json!({ "file": finding.path, "what": finding.message, "state": state, "remedy": remedy })
        };
        json!({
            "path": self.path.to_string_lossy(),
            "dry_run": self.dry_run,
            "findings": found.iter().map(finding).collect::<Value>(),
        })
    }
}
