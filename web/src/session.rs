//! The open input.

use crate::files::{Files, HostFile};
use crate::{chunks, host};
use bloscpack::Code;
use bloscpack::records::IndexedRecordReader;
use bloscpack::storage::SharedSource;
use bloscpack::verify::Damage;
use bloscpack::{Category, Error, Result};
use bloscpack_open::exchange::{BoxedSource, Format, ImportOptions};
use bloscpack_open::{
    Container, Kind, Line, Options, Part, Selection, Summary, open_file, open_source, open_store,
    probe_source,
};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// The maximum number of damages to list; further ones are counted.
const MOST_DAMAGES: usize = 1000;
/// The maximum number of members to list of a store, or of a file.
const MOST_MEMBERS: usize = 1000;
type Records = IndexedRecordReader<SharedSource>;

/// An input.
pub struct Open {
    container: Box<dyn Container>,
    /// Its records, opened on the first request for one.
    records: Option<Box<Records>>,
}

fn options() -> Options {
    Options::new().threads(1).watch(|bytes, total| {
        host::progress(bytes, total);
        Ok(())
    })
}

impl Open {
    /// Opens a single file.
    pub fn file(file: HostFile, name: &str) -> Result<Self> {
        let format = Format::of_path(name).filter(|format| format.is_read());
        let is_unknown = probe_source(&file)?.family.is_none();
        match format.filter(|_| is_unknown) {
            // Text formats such as CSV have no magic bytes, so the name decides.
            Some(format) => open_file(Arc::new(file), format, &ImportOptions::new(), &options()),
            None => open_source(file, &options()),
        }
        .map(Self::of)
    }

    /// Opens a folder.
    pub fn folder(files: Files) -> Result<Self> {
        Ok(Self::of(open_store(files, &options())?))
    }

    /// Opens a member of the open tree.
    pub fn member(self, path: &str) -> Result<Self> {
        let member = self.container.member(path)?;
        let member = member.ok_or_else(|| Error::usage("not a tree: it has no members"))?;
        Ok(Self::of(member))
    }

    fn of(container: Box<dyn Container>) -> Self {
        Self {
            container,
            records: None,
        }
    }

    /// A report, and the views that the input supports.
    pub fn info(&mut self) -> Result<Value> {
        let Self { container, records } = self;
        let outline = container.outline()?;
        let summary = container.summary()?;
        let mut members = Vec::new();
        container.members(&mut |path, member| {
            if members.len() < MOST_MEMBERS {
                members.push(match member {
                    Ok(member) => json!([path, member.kind.name(), member.shape]),
                    Err(error) => json!([path, error.to_string()]),
                });
            }
            Ok(())
        })?;
        let count = match (container.kind(), container.source()) {
            (Kind::Records, Some(source)) if summary.is_complete() => {
                let opened = IndexedRecordReader::open(Arc::clone(source))?;
                Some(records.insert(Box::new(opened)).len())
            }
            _ => None,
        };
        Ok(json!({
            "kind": container.kind().name(), "complete": summary.is_complete(), "lines": lines(&summary), "json": summary,
            "layout": outline.layout, "dtype": outline.dtype, "shape": outline.shape, "columns": outline.columns,
            "bytes": outline.bytes, "trouble": outline.trouble.map(|error| error.to_string()),
            "members": members, "records": count, "warnings": container.take_warnings(),
            "rows": rows(&**container), "array": array(&**container),
        }))
    }

    /// Checks every chunk.
    pub fn verify(&mut self) -> Result<Value> {
        let mut damages = Vec::new();
        let report = self.container.verify_with(&mut |damage| {
            if damages.len() < MOST_DAMAGES {
                damages.push(of_damage(&damage));
            }
            Ok(())
        })?;
        Ok(json!({
            "chunks": report.chunks, "bytes": report.bytes, "records": report.records, "damage_count": report.damage_count,
            "damages": damages, "warnings": report.warnings,
        }))
    }

    /// The selected rows or slice as columns.
    pub fn columns(&self, selection: &Selection) -> Result<BoxedSource<'_>> {
        self.container.columns(selection)
    }

    /// Writes the selection in another format.
    pub fn export(
        &self,
        selection: &Selection,
        format: Format,
        to: &mut (dyn Write + Send),
    ) -> Result<u64> {
        self.container.export(selection, format, to)
    }

    /// Writes the bytes of the selection.
    pub fn bytes(&self, selection: &Selection, to: &mut dyn Write) -> Result<u64> {
        self.container.copy(selection, to)
    }

    /// The bytes of a record.
    pub fn record(&mut self, number: u64) -> Result<bloscpack::bytes::Bytes> {
        match &self.records {
            Some(records) => records.get(number),
            None => Err(Error::usage("not a file of records")),
        }
    }

    /// The chunks, if they can be drawn.
    pub fn chunks(&self) -> Value {
        chunks::map(&*self.container)
    }
}

/// The number of rows, if it has rows.
fn rows(container: &dyn Container) -> Option<u64> {
    let part = Part::Rows((0..0).into());
    let none = container.columns(&Selection::of(part)).ok()?;
    drop(none);
    let all = container.columns(&Selection::default()).ok()?;
    all.rows()
}

/// The dtype and the shape of the array in a file whose metadata describes an array.
fn array(container: &dyn Container) -> Option<Value> {
    if container.kind() == Kind::Records {
        return None;
    }
    let source = container.columns(&Selection::default()).ok()?;
    let [column] = source.schema().columns.as_slice() else {
        return None;
    };
    let shape = source.schema().shape(source.rows()?).ok()?;
    Some(
        json!({"dtype": column.dtype.to_string(), "shape": shape, "varying": column.varying.is_some()}),
    )
}

/// The lines of a report, for display.
fn lines(summary: &Summary) -> Vec<Value> {
    let lines = summary.lines().iter().map(|line| match line {
        Line::Fact(label, value) => json!([label, value]),
        Line::Json(label, value) => json!([label, value, "json"]),
        Line::More(text) => json!(["", text]),
        _ => json!([]),
    });
    lines.collect()
}

fn of_damage(damage: &Damage) -> Value {
    let position = damage.error.position();
    json!({
        "message": damage.error.to_string(), "label": label(&damage.error), "path": damage.error.path().and_then(Path::to_str),
        "chunk": position.and_then(|position| position.chunk),
        "content": damage.content.as_ref().map(|range| [range.start, range.end]),
        "records": damage.records.as_ref().map(|range| [range.start, range.end]),
    })
}

/// The command's word for this kind of error.
fn label(error: &Error) -> &'static str {
    match error.category() {
        Category::Failed => "failed",
        Category::Damaged => "damaged",
        Category::CutShort => "incomplete",
        _ => "refused",
    }
}

/// The error as the command reports it.
pub fn of_error(error: &Error) -> Value {
    let is_io = error.code() == Code::Io;
    json!({"error": error.to_string(), "code": error.code().as_str(), "label": label(error), "hint": error.hint(), "io": is_io})
}
