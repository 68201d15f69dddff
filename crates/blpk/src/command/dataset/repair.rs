//! `blpk dataset repair`: repairs datasets that other programs have left inconsistent.

use std::fmt::Write as _;
use std::path::PathBuf;

use bloscpack_open::datasets::{Finding, Remedy, RepairOptions, Uncounted};
use clap::Args;
use serde_json::{Value, json};

use crate::edit::DatasetEdit;
use crate::failure::Failure;
use crate::output;
use crate::session::Session;
use crate::status::Status;
use crate::text::{exact, shown};

/// Repair a dataset that another program has left inconsistent
///
/// Completes an interrupted change, includes rows that were never flushed in the row count, removes stale and leftover files,
/// and corrects wrong counts. Only safe repairs are made; --keep-rows, --drop-rows and --truncate decide the other cases.
/// Damaged chunks are not repaired.
///
/// Prints one line per finding. The exit status is 3 if a decision is needed, or if something cannot be repaired.
#[derive(Args, Debug)]
pub struct Repair {
    /// Only report the repairs, without making them
    #[arg(long)]
    dry_run: bool,

    /// Keep rows that are in the files but not counted, even if they may have been removed
    #[arg(long, conflicts_with = "drop_rows")]
    keep_rows: bool,

    /// Remove rows that are in the files but not counted, even if they may never have been flushed
    #[arg(long)]
    drop_rows: bool,

    /// Remove rows at the end whose files are missing or damaged
    #[arg(long, alias = "cut")]
    truncate: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Dataset to repair
    #[arg(value_name = "DIR")]
    path: PathBuf,
}

impl Repair {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let edit = DatasetEdit::find(&self.path)?;
        let uncounted = match (self.keep_rows, self.drop_rows) {
            (true, _) => Uncounted::Keep,
            (false, true) => Uncounted::Drop,
            (false, false) => Uncounted::Report,
        };
        let repair = RepairOptions::new()
            .dry_run(self.dry_run)
            .uncounted(uncounted)
            .cut(self.truncate)
            .options(session.array_options());
        let found = edit.confirm(repair.repair(&self.path), None)?;
        let text = if self.json {
            format!("{:#}\n", self.report(&found))
        } else {
            self.lines(&found)
        };
        output::print(&text)?;
        let mut remedies = found.iter().map(|finding| &finding.remedy);
        Ok(
            if remedies.any(|remedy| matches!(remedy, Remedy::Left(_))) {
                Status::Damaged
            } else {
                Status::Done
            },
        )
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
                Remedy::Done(done) if self.dry_run => ("would be done", done),
                Remedy::Done(done) => ("done", done),
                Remedy::Left(why) => ("not repaired", why),
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
            "path": exact(&self.path),
            "dry_run": self.dry_run,
            "findings": found.iter().map(finding).collect::<Value>(),
        })
    }
}
