//! `blpk dataset attrs`: prints, sets and removes user attributes.

use std::path::{Path, PathBuf};

use bloscpack_open::datasets::{Attributes, Dataset};
use clap::Args;
use serde_json::Value;

use crate::dataset::{no_columns, open};
use crate::edit::DatasetEdit;
use crate::failure::{About as _, Directory, Failure};
use crate::frame;
use crate::json_text;
use crate::output;
use crate::session::Session;
use crate::status::Status;
use crate::text::{plain, quoted};

/// Print, set or remove attributes of a dataset
///
/// Without KEY, prints all attributes as one JSON object; with KEY, prints its value; with JSON, sets it.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Attrs {
    /// Use the attributes of this column; only in layouts whose columns have attributes
    #[arg(long, value_name = "NAME")]
    column: Option<String>,

    /// Remove this attribute
    #[arg(long, value_name = "KEY", conflicts_with = "key")]
    remove: Option<String>,

    /// Dataset to read or change
    #[arg(value_name = "DIR")]
    path: PathBuf,

    /// Attribute to print or set
    #[arg(value_name = "KEY")]
    key: Option<String>,

    /// New value of the attribute
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    value: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  blpk dataset attrs prices unit '\"EUR\"'
  blpk dataset attrs prices unit
  blpk dataset attrs prices --remove unit";

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
            "blpk info shows its metadata, which the library reads and changes",
        )?;
        let dataset = open(&self.path, session)?;
        let attributes = self.attributes(&dataset)?;
        let text = match key {
            None => attributes.text(),
            Some(key) => attributes
                .get_text(key)
                .ok_or_else(|| missing(&self.path, key, attributes))?,
        };
        output::print(&format!("{}\n", json_text::pretty(text, 0)))?;
        Ok(Status::Done)
    }

    fn attributes<'a>(&self, dataset: &'a Dataset) -> Result<&'a Attributes, Failure> {
        match (dataset, &self.column) {
            (dataset, None) => Ok(dataset.attributes()),
            (Dataset::Array(_), Some(_)) => Err(no_columns(&self.path)),
            (Dataset::Table(table), Some(name)) => {
                let column = table.column(name).about(&Directory(&self.path))?;
                Ok(column.attributes())
            }
        }
    }

    fn set(&self, key: &str, value: &str, session: &Session) -> Result<Status, Failure> {
        let value: Value = serde_json::from_str(value).map_err(|error| {
            Failure::usage(format!("'{value}' is not JSON: {error}"))
                .hint("put text into double quotes within single quotes: '\"text\"'")
        })?;
        DatasetEdit::change(&self.path, session, |_, dataset| {
            match (dataset, &self.column) {
                (Dataset::Array(array), None) => array.set_attribute(key, &value)?,
                (Dataset::Table(table), None) => table.set_attribute(key, &value)?,
                (Dataset::Table(table), Some(name)) => {
                    table.set_column_attribute(name, key, &value)?;
                }
                (Dataset::Array(_), Some(_)) => return Err(no_columns(&self.path)),
            }
            Ok(Status::Done)
        })
    }

    fn remove(&self, key: &str, session: &Session) -> Result<Status, Failure> {
        DatasetEdit::change(&self.path, session, |_, dataset| {
            let was_there = match (&mut *dataset, &self.column) {
                (Dataset::Array(array), None) => array.remove_attribute(key)?,
                (Dataset::Table(table), None) => table.remove_attribute(key)?,
                (Dataset::Table(table), Some(name)) => table.remove_column_attribute(name, key)?,
                (Dataset::Array(_), Some(_)) => return Err(no_columns(&self.path)),
            };
            if was_there {
                Ok(Status::Done)
            } else {
                Err(missing(&self.path, key, self.attributes(dataset)?))
            }
        })
    }
}

fn missing(path: &Path, key: &str, attributes: &Attributes) -> Failure {
    let failure = Failure::usage(format!("{} has no attribute '{key}'", quoted(path)));
    if attributes.is_empty() {
        failure.detail("it has no attributes")
    } else {
        failure.detail(format!(
            "attributes: {}",
            plain(&attributes.keys().join(", "))
        ))
    }
}
