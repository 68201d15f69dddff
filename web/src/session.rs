//! What is open.

use crate::files::{Files, HostFile};
use crate::npy::NpySource;
use crate::{chunks, host};
use bloscpack::Code;
use bloscpack::records::IndexedRecordReader;
use bloscpack::storage::ReadAt;
use bloscpack::verify::Damage;
use bloscpack::{Category, Error, Result};
use bloscpack_open::exchange::{BoxedSource, Format, NpyFile, export};
use bloscpack_open::{
    Container, Inner, Kind, Line, Options, Part, Selection, Summary, open_source, open_store,
};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Damages that are listed at most; the rest is counted.
const MOST_DAMAGES: usize = 1000;
/// Members of a store, or of a file, that are listed at most.
const MOST_MEMBERS: usize = 1000;
const NPY_MAGIC: &[u8; 6] = b"\x93NUMPY";

type Records = IndexedRecordReader<Arc<dyn ReadAt + Send + Sync>>;

/// An input.
pub enum Open {
    /// Anything that the library opens.
    Container {
        container: Box<dyn Container>,
        /// Its records, once they are asked for.
        records: Option<Box<Records>>,
    },
    /// A file of NumPy.
    Npy(NpyFile<HostFile>),
}

fn options() -> Options {
    Options::new().threads(1).watch(|bytes, total| {
        host::progress(bytes, total);
        Ok(())
    })
}

impl Open {
    /// Opens a single file.
    pub fn file(file: HostFile) -> Result<Self> {
        let mut start = [0; NPY_MAGIC.len()];
        let found = file.read_at(0, &mut start)?;
        if found == start.len() && start == *NPY_MAGIC {
            return Ok(Self::Npy(NpyFile::open_at(file)?));
        }
        Ok(Self::of(open_source(file, &options())?))
    }

    /// Opens a folder.
    pub fn folder(files: Files) -> Result<Self> {
        Ok(Self::of(open_store(files, &options())?))
    }

    /// Opens a member of the tree that is open.
    pub fn member(self, path: &str) -> Result<Self> {
        let member = match self {
            Self::Container { container, .. } => container.member(path)?,
            Self::Npy(_) => None,
        };
        let member = member.ok_or_else(|| Error::usage("not a tree: it has no members"))?;
        Ok(Self::of(member))
    }

    fn of(container: Box<dyn Container>) -> Self {
        Self::Container {
            container,
            records: None,
        }
    }

    /// A report, and how it can be looked at.
    pub fn info(&mut self) -> Result<Value> {
        match self {
            Self::Npy(file) => Ok(json!({
                "kind": "npy", "complete": true, "warnings": [], "dtype": file.dtype().to_string(), "shape": file.shape(),
                "lines": [["kind", "npy"], ["dtype", file.dtype().to_string()], ["shape", bloscpack_open::internal::shape(file.shape())]],
            })),
            Self::Container { container, records } => {
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
                let count = match (container.kind(), container.inner()) {
                    (Kind::Records, Inner::Bloscpack(Some(source))) if summary.is_complete() => {
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
                    "rows": rows(&mut **container), "array": array(&mut **container),
                }))
            }
        }
    }

    /// Checks every chunk.
    pub fn verify(&mut self) -> Result<Value> {
        let Self::Container { container, .. } = self else {
            return Ok(
                json!({"chunks": 0, "damage_count": 0, "damages": [], "note": "a .npy file has no checksums"}),
            );
        };
        let mut damages = Vec::new();
        let report = container.verify_with(&mut |damage| {
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
    pub fn columns(&mut self, selection: &Selection) -> Result<BoxedSource<'_>> {
        match self {
            Self::Container { container, .. } => container.columns(selection),
            Self::Npy(file) => {
                let (region, _) = selection.part.resolve(file.shape(), &[], 1)?;
                Ok(Box::new(NpySource::new(file, region)))
            }
        }
    }

    /// Writes the selection in another format.
    pub fn export(
        &mut self,
        selection: &Selection,
        format: Format,
        to: &mut (dyn Write + Send),
    ) -> Result<u64> {
        if let Self::Container { container, .. } = self {
            return container.export(selection, format, to);
        }
        let mut source = self.columns(selection)?;
        if matches!(format, Format::Csv | Format::Tsv) {
            source = source.rows_as_columns()?;
        }
        export(&mut *source, format, to, &mut |_| ())?;
        Ok(source.rows())
    }

    /// Writes the bytes of the selection.
    pub fn bytes(&mut self, selection: &Selection, to: &mut dyn Write) -> Result<u64> {
        match self {
            Self::Container { container, .. } => container.copy(selection, to),
            Self::Npy(_) => Err(Error::usage("a .npy file is an array: export it")),
        }
    }

    /// The bytes of a record.
    pub fn record(&mut self, number: u64) -> Result<bloscpack::bytes::Bytes> {
        match self {
            Self::Container {
                records: Some(records),
                ..
            } => records.get(number),
            _ => Err(Error::usage("not a file of records")),
        }
    }

    /// The chunks, as far as they can be drawn.
    pub fn chunks(&self) -> Value {
        match self {
            Self::Container { container, .. } => chunks::map(&**container),
            Self::Npy(_) => json!({"strips": []}),
        }
    }
}

/// The number of rows, if it has rows.
fn rows(container: &mut dyn Container) -> Option<u64> {
    let part = Part::Rows((0..0).into());
    let none = container.columns(&Selection::of(part)).ok()?;
    drop(none);
    let all = container.columns(&Selection::default()).ok()?;
    Some(all.rows())
}

/// The dtype and the shape of the array in a file whose metadata describes one.
fn array(container: &mut dyn Container) -> Option<Value> {
    let source = container.columns(&Selection::default()).ok()?;
    let [column] = source.schema().columns.as_slice() else {
        return None;
    };
    let shape = source.schema().shape(source.rows()).ok()?;
    Some(
        json!({"dtype": column.dtype.to_string(), "shape": shape, "varying": column.varying.is_some()}),
    )
}

/// The lines of a report for people.
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

/// The word of the command for this kind of error.
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
