//! `blpk dataset index`: writes, checks and removes the statistics of each superchunk.

use std::fmt::Write as _;
use std::path::PathBuf;

use bloscpack_open::datasets::{CArray, Dataset, IndexCheck, IndexUpdate};
use clap::Args;
use serde_json::{Value, json};

use crate::dataset::{no_columns, open};
use crate::edit::DatasetEdit;
use crate::failure::{About as _, Directory, Failure};
use crate::frame;
use crate::interrupt;
use crate::json_text;
use crate::output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::text::{count, exact, plain, quoted, shown};

/// Write an index, so that selections by value skip data
///
/// The index contains the minimum, maximum and nulls of each superchunk, a file in the data folder of an array or a column.
/// Readers that select rows by value skip superchunks without matching rows. The index is the file meta/index of the array or
/// column, which bcolz ignores.
///
/// Superchunks are compared with an existing index first, and only changed ones are decompressed. All commands of blpk dataset
/// keep the index up to date. After a change by another program, readers ignore the index for the superchunks that it changed.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Index {
    /// Column to index; may be repeated [default: all columns that can be indexed]
    #[arg(long, value_name = "NAME")]
    column: Vec<String>,

    /// Remove the indexes
    #[arg(long, conflicts_with = "check")]
    drop: bool,

    /// Only report whether the indexes are up to date, and exit with status 3 if one is not
    #[arg(long)]
    check: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Dataset to index
    #[arg(value_name = "DIR")]
    path: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  blpk dataset index prices
  blpk dataset index prices --column day --column volume
  blpk dataset index prices --check";

/// The result for each column, with its name; `None` for an array.
type Results<T> = Vec<(Option<String>, T)>;

impl Index {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        if self.check {
            return self.check(session);
        }
        if self.drop {
            return self.drop_all(session);
        }
        let (updates, progress) = DatasetEdit::change(&self.path, session, |_, dataset| {
            let names = self.names(dataset, session)?;
            let progress = self.progress(dataset, &names, session);
            let mut watch = |bytes| {
                progress.advance(bytes);
                Ok(interrupt::check()?)
            };
            let mut updates: Results<IndexUpdate> = Vec::new();
            for name in names {
                let update = match (&mut *dataset, &name) {
                    (Dataset::Array(array), _) => array.update_index(&mut watch)?,
                    (Dataset::Table(table), Some(name)) => table.update_index(name, &mut watch)?,
                    (Dataset::Table(_), None) => continue,
                };
                updates.push((name, update));
            }
            Ok((updates, progress))
        })?;
        progress.finish();
        if self.json {
            self.print(&updates, |update| {
                json!({ "kept": update.kept, "computed": update.computed, "skipped": update.skipped })
            })?;
        }
        let sum = |of: fn(&IndexUpdate) -> u64| updates.iter().map(|(_, update)| of(update)).sum();
        session.done(format_args!(
            "{}: {} read, {} unchanged,",
            quoted(&self.path),
            count(sum(|update| update.computed), "superchunk"),
            count(sum(|update| update.kept), "superchunk"),
        ));
        Ok(Status::Done)
    }

    /// The given columns, or all columns that can have an index; `None` for an array.
    fn names(&self, dataset: &Dataset, session: &Session) -> Result<Vec<Option<String>>, Failure> {
        let table = match dataset {
            Dataset::Array(_) if self.column.is_empty() => return Ok(vec![None]),
            Dataset::Array(_) => return Err(no_columns(&self.path)),
            Dataset::Table(table) => table,
        };
        let is_given = !self.column.is_empty();
        let (mut names, mut refused) = (Vec::new(), None);
        for name in if is_given {
            &self.column
        } else {
            table.names()
        } {
            let column = table.column(name).about(&Directory(&self.path))?;
            match column.check_indexable() {
                Err(error) if !is_given => {
                    session.verbose(format_args!("column {}: {error}", plain(name)));
                    refused = Some(error);
                }
                // If a given column cannot have an index, the library refuses it.
                _ => names.push(Some(name.clone())),
            }
        }
        match refused {
            Some(error) if names.is_empty() => Err(error).about(&Directory(&self.path)),
            _ => Ok(names),
        }
    }

    fn drop_all(&self, session: &Session) -> Result<Status, Failure> {
        let removed = DatasetEdit::change(&self.path, session, |_, dataset| {
            let mut removed: Results<bool> = Vec::new();
            for name in self.names(dataset, session)? {
                let was_there = match (&mut *dataset, &name) {
                    (Dataset::Array(array), _) => array.remove_index()?,
                    (Dataset::Table(table), Some(name)) => table.remove_index(name)?,
                    (Dataset::Table(_), None) => continue,
                };
                removed.push((name, was_there));
            }
            Ok(removed)
        })?;
        if self.json {
            self.print(&removed, |was_there| json!({ "removed": was_there }))?;
        }
        Ok(Status::Done)
    }

    fn check(&self, session: &Session) -> Result<Status, Failure> {
        frame::refuse(&self.path, "frames have no index")?;
        let dataset = open(&self.path, session)?;
        let names = self.names(&dataset, session)?;
        let progress = self.progress(&dataset, &names, session);
        let mut checks: Results<IndexCheck> = Vec::new();
        for name in names {
            let checked = of(&dataset, name.as_deref()).and_then(|array| {
                array.check_indexable()?;
                array.check_index(|bytes| {
                    progress.advance(bytes);
                    Ok(())
                })
            });
            checks.push((name, checked.about(&Directory(&self.path))?));
        }
        progress.finish();
        if self.json {
            self.print(&checks, json_of)?
        } else {
            output::print(&self.lines(&checks))?
        }
        if checks.iter().all(|(_, check)| check.is_current()) {
            Ok(Status::Done)
        } else {
            Ok(Status::Damaged)
        }
    }

    fn progress(&self, dataset: &Dataset, names: &[Option<String>], session: &Session) -> Progress {
        let arrays = names
            .iter()
            .filter_map(|name| of(dataset, name.as_deref()).ok());
        // Saturates: columns may claim any size, and the sum is only shown.
        let total = arrays.map(CArray::nbytes).fold(0, u64::saturating_add);
        Progress::new(session, Some(total))
    }

    fn lines(&self, checks: &Results<IndexCheck>) -> String {
        let (dataset, mut text) = (shown(&self.path), String::new());
        for (name, check) in checks {
            let column = name.as_ref().map(|name| format!("{}: ", plain(name)));
            let column = column.unwrap_or_default();
            let _ = writeln!(text, "{dataset}: {column}{}", state(check));
        }
        text
    }

    fn print<T>(&self, results: &Results<T>, report: impl Fn(&T) -> Value) -> Result<(), Failure> {
        let results = results.iter().map(|(name, result)| {
            let mut object = report(result);
            object["column"] = json!(name);
            object
        });
        json_text::print(&json!({
            "path": exact(&self.path),
            "indexes": results.collect::<Value>(),
        }))
    }
}

/// The array, or the column of this name.
fn of<'a>(dataset: &'a Dataset, name: Option<&str>) -> bloscpack::Result<&'a CArray> {
    match (dataset, name) {
        (Dataset::Array(array), _) => Ok(array),
        (Dataset::Table(table), name) => table.column(name.unwrap_or_default()),
    }
}

/// `up to date, 3 superchunks`.
fn state(check: &IndexCheck) -> String {
    let all = count(check.superchunks, "superchunk");
    match &check.problem {
        Some(error) => format!("the index is not used: {error}"),
        None if !check.is_present => "no index".to_owned(),
        None if check.is_current() => format!("up to date, {all}"),
        None => format!("out of date, holds for {} of {all}", check.holding),
    }
}

fn json_of(check: &IndexCheck) -> Value {
    json!({
        "present": check.is_present,
        "current": check.is_current(),
        "superchunks": check.superchunks,
        "holding": check.holding,
        "stale": check.stale,
        "problem": check.problem.as_ref().map(ToString::to_string),
    })
}
