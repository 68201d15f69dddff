//! `blpk info` of datasets.

use std::fmt::Write as _;
use std::path::Path;

use bloscpack::dataset::{CArray, CTable, Dataset, Warning};
use serde_json::{Value, json};

use super::array::{Found, default};
use super::distinct;
use super::json::{MEMBER, PLACE, WHOLE, merge, with_texts};
use super::json_text;
use super::people::{BOLD, LABEL, line, list, sizes};
use crate::command::verify::count;
use crate::dataset::{INTERRUPTED, failure, open, shape_text};
use crate::message::{Failure, plain, shown};
use crate::output;
use crate::session::Session;
use crate::size::pretty;
use crate::status::Status;

/// Tells what the dataset at `path` is.
pub fn run(path: &Path, as_json: bool, session: &Session) -> Result<Status, Failure> {
    let dataset = open(path, session)?;
    let about = About::look(&dataset).map_err(|error| failure(path, &error))?;
    let text = match as_json {
        true => about.json(&path.to_string_lossy()),
        false => about.text(&shown(path)),
    };
    output::print(&text)?;
    Ok(match about.is_whole() {
        true => Status::Done,
        false => Status::CutShort,
    })
}

/// A dataset with all that is told of it.
struct About<'a> {
    dataset: &'a Dataset,
    /// The array, or the columns with their names.
    arrays: Vec<(&'a str, Found<'a>)>,
    rows: u64,
    notes: Vec<String>,
}

impl<'a> About<'a> {
    fn look(dataset: &'a Dataset) -> bloscpack::Result<Self> {
        let arrays: Vec<(&str, &CArray)> = match dataset {
            Dataset::Array(array) => vec![("", array)],
            Dataset::Table(table) => columns(table)?,
        };
        let mut notes = Vec::new();
        if dataset.was_interrupted() {
            notes.push(format!(
                "{INTERRUPTED}: it is read through its journal, and the next who writes to it completes the change"
            ));
        }
        let text = |warning: &Warning| format!("{}: {}", warning.path, warning.message);
        notes.extend(dataset.warnings().iter().map(text));
        let mut found = Vec::new();
        for (name, array) in arrays {
            let of = match name {
                "" => String::new(),
                _ => format!("column {name}: "),
            };
            if !of.is_empty() {
                notes.extend(array.warnings().iter().map(text));
            }
            let one = Found::look(array)?;
            notes.extend(one.notes(&of));
            found.push((name, one));
        }
        if let Some(note) = uneven(&found) {
            notes.push(note);
        }
        Ok(Self {
            dataset,
            arrays: found,
            rows: dataset.rows()?,
            notes,
        })
    }

    fn is_whole(&self) -> bool {
        self.arrays
            .iter()
            .all(|(_, found)| found.survey.missing == 0)
    }

    fn state(&self) -> &'static str {
        match self.is_whole() {
            true => "complete",
            false => "unfinished",
        }
    }

    fn kind(&self) -> &'static str {
        match self.dataset {
            Dataset::Array(_) => "carray",
            Dataset::Table(_) => "ctable",
        }
    }

    fn sum(&self, of: impl Fn(&Found<'_>) -> u64) -> u64 {
        let all = self.arrays.iter().map(|(_, found)| of(found));
        all.fold(0, u64::saturating_add)
    }

    fn names(&self, of: impl Fn(&Found<'_>) -> Vec<&'static str>) -> Vec<&'static str> {
        distinct(self.arrays.iter().flat_map(|(_, found)| of(found)))
    }

    /// One object; what an array has and a table has not is null.
    fn json(&self, path: &str) -> String {
        let mut object = json!({
            "path": path,
            "kind": self.kind(),
            "layout": self.dataset.layout().name(),
            "format_version": null,
            "rows": self.rows,
        });
        match (self.dataset, self.arrays.as_slice()) {
            (Dataset::Array(_), [(_, found)]) => merge(&mut object, found.json()),
            _ => merge(&mut object, self.table_json()),
        }
        merge(
            &mut object,
            json!({
                "max_app_chunks": null,
                "metadata": null,
                "state": self.state(),
                "interrupted": self.dataset.was_interrupted(),
                "notes": self.notes,
            }),
        );
        let texts = [(self.dataset.attributes().text(), WHOLE)].into_iter();
        let of_columns = self.arrays.iter();
        let of_columns = of_columns.map(|(_, found)| (found.array.attributes().text(), MEMBER));
        with_texts(
            &json_text::plain(&format!("{object:#}\n")),
            "attributes",
            texts.chain(of_columns),
        )
    }

    fn table_json(&self) -> Value {
        let column = |(name, found): &(&str, Found<'_>)| {
            let mut column = json!({ "name": name });
            merge(&mut column, found.json());
            column
        };
        json!({
            "dtype": null,
            "shape": [self.rows],
            "chunkshape": null,
            "blockshape": null,
            "checksum": self.checksum(),
            "typesize": null,
            "chunk_size": null,
            "last_chunk": null,
            "nchunks": self.sum(|found| found.array.chunks()),
            "superchunks": self.sum(|found| found.array.superchunks()),
            "uncompressed_bytes": self.sum(|found| found.array.nbytes()),
            "compressed_bytes": self.sum(|found| found.survey.bytes),
            "codecs": self.names(|found| found.codecs()),
            "filters": self.names(|found| found.filters()),
            "attributes": PLACE,
            "columns": self.arrays.iter().map(column).collect::<Value>(),
        })
    }

    /// The checksum that all columns share.
    fn checksum(&self) -> Option<&'static str> {
        let mut all = self.arrays.iter().map(|(_, found)| found.array.checksum());
        let first = all.next()?;
        all.all(|one| one == first).then(|| first.name())
    }

    fn text(&self, path: &str) -> String {
        let mut text = format!("{BOLD}{path}{BOLD:#}\n");
        line(&mut text, "kind", self.kind());
        line(&mut text, "layout", self.dataset.layout());
        line(&mut text, "state", self.state());
        match (self.dataset, self.arrays.as_slice()) {
            (Dataset::Array(_), [(_, found)]) => about_array(&mut text, found),
            _ => line(&mut text, "rows", self.rows),
        }
        line(&mut text, "checksum", self.checksum().unwrap_or("differs"));
        line(
            &mut text,
            "codecs",
            list(&self.names(|found| found.codecs())),
        );
        line(
            &mut text,
            "filters",
            list(&self.names(|found| found.filters())),
        );
        sizes(
            &mut text,
            self.sum(|found| found.array.nbytes()),
            self.sum(|found| found.survey.bytes),
        );
        let attributes = self.dataset.attributes();
        if !attributes.is_empty() {
            let json = json_text::pretty(attributes.text(), 0);
            line(
                &mut text,
                "attributes",
                json.replace('\n', &format!("\n  {:LABEL$}  ", "")),
            );
        }
        if let Dataset::Table(_) = self.dataset {
            self.about_columns(&mut text);
        }
        for note in &self.notes {
            line(&mut text, "note", plain(note));
        }
        text
    }

    /// A line for each column: name, dtype, shape of a row, rows of a chunk, bytes.
    fn about_columns(&self, text: &mut String) {
        line(text, "columns", self.arrays.len());
        let names: Vec<_> = self.arrays.iter().map(|(name, _)| plain(name)).collect();
        let width = names.iter().map(|name| name.chars().count()).max();
        let width = width.unwrap_or(0);
        for (name, (_, found)) in names.iter().zip(&self.arrays) {
            let array = found.array;
            let _ = writeln!(
                text,
                "    {name:width$}  {}  {}, chunks of {} rows, {} in {}",
                plain(&array.dtype().to_string()),
                shape_text(array.shape()),
                array.chunk_shape().first().copied().unwrap_or(1),
                pretty(array.nbytes()),
                pretty(found.survey.bytes),
            );
        }
    }
}

fn columns(table: &CTable) -> bloscpack::Result<Vec<(&str, &CArray)>> {
    let names = table.names().iter();
    names
        .map(|name| Ok((name.as_str(), table.column(name)?)))
        .collect()
}

/// Columns of different lengths, which a crash of another program leaves.
fn uneven(columns: &[(&str, Found<'_>)]) -> Option<String> {
    let rows = columns.iter().map(|(_, found)| found.array.rows());
    let (least, most) = (rows.clone().min()?, rows.max()?);
    (least < most).then(|| {
        format!("the columns have {least} to {most} rows: blpk dataset repair cuts them to {least}")
    })
}

fn about_array(text: &mut String, found: &Found<'_>) {
    let array = found.array;
    line(text, "dtype", plain(&array.dtype().to_string()));
    line(text, "shape", shape_text(array.shape()));
    line(text, "chunk shape", shape_text(array.chunk_shape()));
    line(text, "chunk size", pretty(found.chunk_bytes()));
    line(text, "chunks", array.chunks());
    line(
        text,
        "superchunks",
        format!(
            "{}, of {}",
            array.superchunks(),
            count(array.superchunk(), "chunk")
        ),
    );
    line(
        text,
        "default",
        json_text::plain(&default(array).to_string()),
    );
}
