//! Requests and answers in JSON.

use crate::files::{Files, HostFile};
use crate::host::Sink;
use crate::plot;
use crate::session::{Open, of_error};
use bloscpack::{Error, Result};
use bloscpack_open::exchange::Format;
use bloscpack_open::{Bounds, Part, Selection, Slice};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::Write;

thread_local! {
    /// The open input; the page shows one at a time.
    static OPEN: RefCell<Option<Open>> = const { RefCell::new(None) };
}

/// Answers a request with an object that contains the result, or `error` and sometimes `hint`.
///
/// | `do` | parameters | result |
/// |---|---|---|
/// | `open` | `files`: path and size of each; `member`: a path inside the tree | as `info`; or `error` with `opened`: true if the input can still be verified |
/// | `info` | | the report, as lines and as JSON |
/// | `verify` | | counts and damages |
/// | `chunks` | | the chunks to draw |
/// | `rows` | selection | `rows`; writes JSON lines |
/// | `export` | selection, `format` | `rows`; writes the file |
/// | `bytes` | selection | `bytes`; writes them |
/// | `record` | `number` | `bytes`; writes the record |
/// | `plot` | selection, `bins` | the extremes of each bin |
/// | `grid` | selection, `width`, `most` | the means of each cell |
///
/// A selection consists of optional `columns`, and one of `rows`, `slice`, `range` or `chunk`.
#[must_use]
pub fn answer(request: &[u8]) -> Vec<u8> {
    let request = serde_json::from_slice(request).unwrap_or(Value::Null);
    let done = OPEN.with_borrow_mut(|open| act(&request, open));
    let answer = done.unwrap_or_else(|error| of_error(&error));
    serde_json::to_vec(&answer).unwrap_or_default()
}

/// The object with one more field.
pub fn with(mut object: Value, name: &str, fact: impl Into<Value>) -> Value {
    if let Value::Object(facts) = &mut object {
        facts.insert(name.to_owned(), fact.into());
    }
    object
}

fn act(request: &Value, slot: &mut Option<Open>) -> Result<Value> {
    let what = request["do"].as_str().unwrap_or_default();
    if what == "open" {
        *slot = None;
        let whole = opened(&request["files"])?;
        let open = slot.insert(match request["member"].as_str() {
            Some(path) => whole.member(path)?,
            None => whole,
        });
        let refused = |error| with(of_error(&error), "opened", true);
        return Ok(open.info().unwrap_or_else(refused));
    }
    let open = slot
        .as_mut()
        .ok_or_else(|| Error::usage("nothing is open"))?;
    let selection = selection(request)?;
    match what {
        "info" => open.info(),
        "verify" => open.verify(),
        "chunks" => Ok(open.chunks()),
        "rows" => export(open, &selection, Format::JsonLines),
        "export" => export(open, &selection, format(request)?),
        "bytes" => Ok(json!({"bytes": open.bytes(&selection, &mut Sink)?})),
        "record" => {
            let record = open.record(number(request, "number")?)?;
            Sink.write_all(&record)?;
            Ok(json!({"bytes": record.len()}))
        }
        "plot" => {
            let bins = usize::try_from(number(request, "bins")?).unwrap_or(usize::MAX);
            plot::extremes(&mut *open.columns(&selection)?, bins)
        }
        "grid" => {
            let (width, most) = (
                number(request, "width")?,
                number(request, "most")?.min(2048),
            );
            plot::grid(&mut *open.columns(&selection)?, width, most)
        }
        _ => Err(Error::usage(format!("no request {what:?}"))),
    }
}

fn export(open: &mut Open, selection: &Selection, format: Format) -> Result<Value> {
    Ok(json!({"rows": open.export(selection, format, &mut Sink)?}))
}

/// Opens a single file, or several as a folder.
fn opened(files: &Value) -> Result<Open> {
    let files = files.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut all = Files::default();
    for (number, file) in (0..).zip(files) {
        let size = file["size"].as_u64().unwrap_or_default();
        let one = HostFile { number, size };
        match file["path"].as_str() {
            Some(path) => all.add(path, one)?,
            None => return Open::file(one, file["name"].as_str().unwrap_or_default()),
        }
    }
    Open::folder(all)
}

fn selection(request: &Value) -> Result<Selection> {
    let part = if let Some(rows) = bounds(&request["rows"]) {
        Part::Rows(rows)
    } else if let Some(bytes) = bounds(&request["range"]) {
        Part::Bytes(bytes)
    } else if let Some(slice) = request["slice"].as_str() {
        let slice = slice.parse::<Slice>();
        Part::Slice(slice.map_err(|error| Error::usage(error.to_string()))?)
    } else if let Some(chunk) = request["chunk"].as_u64() {
        Part::Chunk(chunk)
    } else {
        Part::All
    };
    let columns = request["columns"].as_array().into_iter().flatten();
    Ok(Selection::of(part).columns(columns.filter_map(Value::as_str)))
}

/// A range, possibly without an end.
fn bounds(value: &Value) -> Option<Bounds> {
    let start = value.get(0)?.as_u64()?;
    Some(match value.get(1).and_then(Value::as_u64) {
        Some(end) => (start..end).into(),
        None => (start..).into(),
    })
}

fn format(request: &Value) -> Result<Format> {
    let name = request["format"].as_str().unwrap_or_default();
    Format::of_path(format!("x.{name}")).ok_or_else(|| Error::usage(format!("no format {name:?}")))
}

fn number(request: &Value, name: &str) -> Result<u64> {
    let found = request[name].as_u64();
    found.ok_or_else(|| Error::usage(format!("{name} is missing")))
}
