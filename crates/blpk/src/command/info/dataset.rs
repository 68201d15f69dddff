//! `blpk info` of datasets.

use std::path::Path;

use bloscpack::dataset::{CArray, CTable, Dataset, Warning};
use serde_json::{Value, json};

use super::array::{SurveyedArray, default};
use super::distinct;
use super::json::{MEMBER, PLACEHOLDER, WHOLE, merge, with_texts};
use super::text::Lines;
use crate::dataset::{failure, kind, open};
use crate::failure::Failure;
use crate::input::INTERRUPTED;
use crate::json_text;
use crate::output;
use crate::session::Session;
use crate::size::pretty;
use crate::status::Status;
use crate::text::{count, plain, shape, shown};

/// Prints the report on the dataset at `path`.
pub fn run(path: &Path, as_json: bool, session: &Session) -> Result<Status, Failure> {
    let dataset = open(path, session)?;
    let summary = Summary::of(&dataset).map_err(|error| failure(path, &error))?;
    output::print(&match as_json {
        true => summary.json(&path.to_string_lossy()),
        false => summary.text(&shown(path)),
    })?;
    Ok(match summary.is_complete() {
        true => Status::Done,
        false => Status::CutShort,
    })
}

/// The note on a change that was interrupted.
pub fn interrupted() -> String {
    format!(
        "{INTERRUPTED}: it is read through its journal, and the next writer completes the change"
    )
}

/// A dataset with everything that is reported on it.
struct Summary<'a> {
    dataset: &'a Dataset,
    /// The array, or the columns with their names.
    arrays: Vec<(&'a str, SurveyedArray<'a>)>,
    rows: u64,
    notes: Vec<String>,
}

impl<'a> Summary<'a> {
    fn of(dataset: &'a Dataset) -> bloscpack::Result<Self> {
        let mut notes = Vec::new();
        if dataset.was_interrupted() {
            notes.push(interrupted());
        }
        let text = |warning: &Warning| format!("{}: {}", warning.path, warning.message);
        notes.extend(dataset.warnings().iter().map(text));
        let mut arrays = Vec::new();
        match dataset {
            Dataset::Array(array) => {
                let array = SurveyedArray::of(array)?;
                notes.extend(array.notes(""));
                arrays.push(("", array));
            }
            Dataset::Table(table) => {
                for (name, column) in columns(table)? {
                    notes.extend(column.warnings().iter().map(text));
                    let column = SurveyedArray::of(column)?;
                    notes.extend(column.notes(&format!("column {name}: ")));
                    arrays.push((name, column));
                }
            }
        }
        notes.extend(uneven(&arrays));
        Ok(Self {
            dataset,
            arrays,
            rows: dataset.rows()?,
            notes,
        })
    }

    fn is_complete(&self) -> bool {
        self.arrays
            .iter()
            .all(|(_, array)| array.survey.missing == 0)
    }

    fn state(&self) -> &'static str {
        match self.is_complete() {
            true => "complete",
            false => "unfinished",
        }
    }

    fn sum(&self, of: impl Fn(&SurveyedArray<'_>) -> u64) -> u64 {
        let all = self.arrays.iter().map(|(_, array)| of(array));
        // Columns may claim any size. The sum is only shown.
        all.fold(0, u64::saturating_add)
    }

    fn names(&self, of: impl Fn(&SurveyedArray<'_>) -> Vec<&'static str>) -> Vec<&'static str> {
        distinct(self.arrays.iter().flat_map(|(_, array)| of(array)))
    }

    /// One object; what an array has and a table has not is null.
    fn json(&self, path: &str) -> String {
        let mut object = json!({
            "path": path,
            "kind": kind(self.dataset),
            "layout": self.dataset.layout().name(),
            "format_version": null,
            "rows": self.rows,
        });
        match (self.dataset, self.arrays.as_slice()) {
            (Dataset::Array(_), [(_, array)]) => merge(&mut object, array.json()),
            _ => merge(&mut object, self.table_json()),
        }
        let rest = json!({
            "max_app_chunks": null,
            "metadata": null,
            "state": self.state(),
            "interrupted": self.dataset.was_interrupted(),
            "notes": self.notes,
        });
        merge(&mut object, rest);
        let of_columns = self.arrays.iter();
        let of_columns = of_columns.map(|(_, array)| (array.array.attributes().text(), MEMBER));
        let texts = [(self.dataset.attributes().text(), WHOLE)].into_iter();
        with_texts(
            &json_text::plain(&format!("{object:#}\n")),
            "attributes",
            texts.chain(of_columns),
        )
    }

    fn table_json(&self) -> Value {
        let column = |(name, array): &(&str, SurveyedArray<'_>)| {
            let mut column = json!({ "name": name });
            merge(&mut column, array.json());
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
            "nchunks": self.sum(|column| column.array.chunks()),
            "superchunks": self.sum(|column| column.array.superchunks()),
            "uncompressed_bytes": self.sum(|column| column.array.nbytes()),
            "compressed_bytes": self.sum(|column| column.survey.bytes),
            "codecs": self.names(|column| column.codecs()),
            "filters": self.names(|column| column.filters()),
            "attributes": PLACEHOLDER,
            "columns": self.arrays.iter().map(column).collect::<Value>(),
        })
    }

    /// The checksum of all columns, if it is the same.
    fn checksum(&self) -> Option<&'static str> {
        let mut all = self.arrays.iter().map(|(_, array)| array.array.checksum());
        let first = all.next()?;
        all.all(|one| one == first).then(|| first.name())
    }

    fn text(&self, path: &str) -> String {
        let mut lines = Lines::below(path);
        lines.line("kind", kind(self.dataset));
        lines.line("layout", self.dataset.layout());
        lines.line("state", self.state());
        match (self.dataset, self.arrays.as_slice()) {
            (Dataset::Array(_), [(_, array)]) => add_array(&mut lines, array),
            _ => lines.line("rows", self.rows),
        }
        lines.line("checksum", self.checksum().unwrap_or("differs"));
        lines.names("codecs", &self.names(|array| array.codecs()));
        lines.names("filters", &self.names(|array| array.filters()));
        lines.sizes(
            self.sum(|array| array.array.nbytes()),
            self.sum(|array| array.survey.bytes),
        );
        let attributes = self.dataset.attributes();
        if !attributes.is_empty() {
            lines.json("attributes", attributes.text());
        }
        if let Dataset::Table(_) = self.dataset {
            self.add_columns(&mut lines);
        }
        for note in &self.notes {
            lines.line("note", plain(note));
        }
        lines.into_text()
    }

    /// A line for each column: name, dtype, shape, rows of a chunk, sizes.
    fn add_columns(&self, lines: &mut Lines) {
        lines.line("columns", self.arrays.len());
        let names: Vec<_> = self.arrays.iter().map(|(name, _)| plain(name)).collect();
        let width = names.iter().map(|name| name.chars().count()).max();
        let width = width.unwrap_or(0);
        for (name, (_, column)) in names.iter().zip(&self.arrays) {
            let array = column.array;
            let rows = array.chunk_shape().first().copied().unwrap_or(1);
            lines.raw(format_args!(
                "    {name:width$}  {}  {}, chunks of {}, {} in {}",
                plain(&array.dtype().to_string()),
                shape(array.shape()),
                count(rows, "row"),
                pretty(array.nbytes()),
                pretty(column.survey.bytes),
            ));
        }
    }
}

fn columns(table: &CTable) -> bloscpack::Result<Vec<(&str, &CArray)>> {
    let names = table.names().iter();
    names
        .map(|name| Ok((name.as_str(), table.column(name)?)))
        .collect()
}

/// The note on columns of different lengths, which a crash of another program leaves.
fn uneven(columns: &[(&str, SurveyedArray<'_>)]) -> Option<String> {
    let rows = columns.iter().map(|(_, column)| column.array.rows());
    let (least, most) = (rows.clone().min()?, rows.max()?);
    (least < most).then(|| {
        format!(
            "the columns have {least} to {most} rows; blpk dataset repair shortens them to {least}"
        )
    })
}

fn add_array(lines: &mut Lines, array: &SurveyedArray<'_>) {
    let chunk_size = pretty(array.chunk_bytes());
    let array = array.array;
    lines.line("dtype", plain(&array.dtype().to_string()));
    lines.line("shape", shape(array.shape()));
    lines.line("chunk shape", shape(array.chunk_shape()));
    lines.line("chunk size", chunk_size);
    lines.line("chunks", array.chunks());
    lines.line(
        "superchunks",
        format_args!(
            "{}, of {}",
            array.superchunks(),
            count(array.superchunk(), "chunk")
        ),
    );
    lines.line("default", json_text::plain(&default(array).to_string()));
}
