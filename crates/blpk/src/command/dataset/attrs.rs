//! `blpk dataset attrs`: what users have said about a dataset.

use std::path::{Path, PathBuf};

use bloscpack::dataset::{Attributes, CTable, Dataset};
use clap::Args;
use serde_json::Value;

use crate::command::info::pretty;
use crate::dataset::edit::Target;
use crate::dataset::{failure, no_columns, open};
use crate::frame;
use crate::message::{Failure, quoted};
use crate::output;
use crate::session::Session;
use crate::status::Status;

/// Print the attributes of a dataset, or set one
///
/// Without KEY all of them are printed, as one JSON object; with KEY its value; with JSON it is set. For
/// example:
///   blpk dataset attrs prices unit '"EUR"'
///   blpk dataset attrs prices unit
///   blpk dataset attrs prices --remove unit
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Attrs {
    /// The attributes of this column, in the layouts whose columns have some
    #[arg(long, value_name = "NAME")]
    column: Option<String>,

    /// Remove this attribute
    #[arg(long, value_name = "KEY", conflicts_with = "key")]
    remove: Option<String>,

    /// Dataset to look at or change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// Attribute to print or set
    #[arg(value_name = "KEY")]
    key: Option<String>,

    /// Its new value
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    value: Option<String>,
}

impl Attrs {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        match (&self.key, &self.value, &self.remove) {
            (Some(key), Some(value), _) => self.set(key, value, session),
            (_, _, Some(key)) => self.remove(key, session),
            (key, _, None) => self.print(key.as_deref(), session),
        }
    }

    fn print(&self, key: Option<&str>, session: &Session) -> Result<Status, Failure> {
        frame::refuse(
            &self.path,
            "blpk info tells its metadata, which the library reads and sets",
        )?;
        let dataset = open(&self.path, session)?;
        let attributes = self.attributes(&dataset)?;
        let text = match key {
            None => attributes.text(),
            Some(key) => attributes
                .get_text(key)
                .ok_or_else(|| missing(&self.path, key, attributes))?,
        };
        output::print(&format!("{}\n", pretty(text)))?;
        Ok(Status::Done)
    }

    fn attributes<'a>(&self, dataset: &'a Dataset) -> Result<&'a Attributes, Failure> {
        let Some(name) = &self.column else {
            return Ok(dataset.attributes());
        };
        let column = self.table(dataset)?.column(name);
        Ok(column
            .map_err(|error| failure(&self.path, &error))?
            .attributes())
    }

    fn table<'a>(&self, dataset: &'a Dataset) -> Result<&'a CTable, Failure> {
        match dataset {
            Dataset::Table(table) => Ok(table),
            Dataset::Array(_) => Err(no_columns(&self.path)),
        }
    }

    fn set(&self, key: &str, value: &str, session: &Session) -> Result<Status, Failure> {
        let value: Value = serde_json::from_str(value).map_err(|error| {
            Failure::usage(format!("'{value}' is no JSON: {error}"))
                .hint("text stands in double quotes within single ones: '\"text\"'")
        })?;
        let target = Target::find(&self.path)?;
        let mut dataset = target.edit(session)?;
        let done = match (&mut dataset, &self.column) {
            (Dataset::Array(array), None) => array.set_attribute(key, &value),
            (Dataset::Table(table), None) => table.set_attribute(key, &value),
            (Dataset::Table(table), Some(name)) => table.set_column_attribute(name, key, &value),
            (dataset @ Dataset::Array(_), Some(_)) => self.table(dataset).map(|_| Ok(()))?,
        };
        done.map_err(|error| target.blame(&error))?;
        target.flush(&mut dataset)?;
        Ok(Status::Done)
    }

    fn remove(&self, key: &str, session: &Session) -> Result<Status, Failure> {
        let target = Target::find(&self.path)?;
        let mut dataset = target.edit(session)?;
        let done = match (&mut dataset, &self.column) {
            (Dataset::Array(array), None) => array.remove_attribute(key),
            (Dataset::Table(table), None) => table.remove_attribute(key),
            (Dataset::Table(table), Some(name)) => table.remove_column_attribute(name, key),
            (dataset @ Dataset::Array(_), Some(_)) => self.table(dataset).map(|_| Ok(false))?,
        };
        if !done.map_err(|error| target.blame(&error))? {
            return Err(missing(&self.path, key, self.attributes(&dataset)?));
        }
        target.flush(&mut dataset)?;
        Ok(Status::Done)
    }
}

fn missing(path: &Path, key: &str, attributes: &Attributes) -> Failure {
    let failure = Failure::usage(format!("{} has no attribute '{key}'", quoted(path)));
    match attributes.is_empty() {
        true => failure.detail("it has none at all"),
        false => failure.detail(format!("attributes: {}", attributes.keys().join(", "))),
    }
}
